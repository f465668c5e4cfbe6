//! HTML files that hold everything, readable on a phone and on paper, by day and by night: the figures with a summary before them, and the
//! claims on a page of their own.

use super::{Finding, Manifest, Table, escape};
use crate::files::{WriteError, atomically};
use std::fs;
use std::path::{Path, PathBuf};

/// A chart with its words and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its file name, without ending.
    pub name: String,
    /// The drawing.
    pub svg: String,
    /// What it shows.
    pub caption: String,
    /// Its numbers, comma-separated, with every digit.
    pub csv: String,
}

impl Figure {
    /// What it shows, for readers without eyes for it.
    pub fn text(&self) -> String {
        format!("{}\n", self.caption)
    }
}

/// What belongs to one label of the paper.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The label.
    pub label: String,
    /// Its title.
    pub title: String,
    /// A warning that must not be missed; empty for none.
    pub warning: String,
    /// What the paper says.
    pub paper: Vec<String>,
    /// What we see.
    pub seen: Vec<String>,
    /// The one or two numbers that matter, beside the paper's own.
    pub findings: Vec<Finding>,
    /// Charts.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// The command that makes it.
    pub command: String,
}

impl Section {
    /// The chart with this letter, as figures of the paper are told apart.
    ///
    /// # Panics
    /// If there is none.
    pub fn panel(&self, letter: char) -> &Figure {
        let found = self.figures.iter().find(|figure| figure.name.ends_with(&format!("_{letter}")));
        found.unwrap_or_else(|| panic!("{} has no panel {letter}", self.label))
    }

    /// The table whose caption begins with these words.
    ///
    /// # Panics
    /// If there is none.
    pub fn table(&self, words: &str) -> &Table {
        let found = self.tables.iter().find(|table| table.caption.starts_with(words));
        found.unwrap_or_else(|| panic!("{} has no table that begins with {words}", self.label))
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How it came to be.
    pub manifest: Manifest,
    /// Its sections.
    pub sections: Vec<Section>,
}

const STYLE: &str = include_str!("style.css");

/// The label of the section that has a page of its own beside figures.
pub(super) const CLAIMS: &str = "claims";

/// Words that readers of the figures need.
const GLOSSARY: [(&str, &str); 8] = [
    (
        "CF metric",
        "the share of decisions that would have been different, had the person been of another group, with the same noise and the \
      same past actions; the largest over pairs of groups. 0 is counterfactually fair.",
    ),
    ("Value", "the expected discounted sum of rewards, γ = 0.9, over the horizon named."),
    ("Full", "learns from state and group."),
    ("Unaware", "learns from the state alone and is not told the group."),
    (
        "Ours",
        "the paper's method: learns from counterfactual states, those that the person would have had in every group, reconstructed from fitted means.",
    ),
    ("Oracle", "the same with the true means, which only a simulation knows."),
    ("Behaviour, Random", "the policy that collected the data; drawing lots."),
    (
        "δ, N, T",
        "how strongly the group acts on states and rewards (0: not at all); people in the data; decisions for each.",
    ),
];

impl Report {
    /// Writes `index.html` and, beside it, every chart as SVG, every chart's and table's numbers as CSV, and `manifest.json`.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn write(&self, folder: &Path) -> Result<PathBuf, WriteError> {
        let write = |name: &str, text: &str| atomically(&folder.join(name), |out| out.write_all(text.as_bytes()));
        fs::create_dir_all(folder).map_err(|source| WriteError { path: folder.into(), source })?;
        for section in &self.sections {
            for figure in &section.figures {
                write(&format!("{}.svg", figure.name), &figure.svg)?;
                write(&format!("{}.csv", figure.name), &figure.csv)?;
            }
            for (i, table) in section.tables.iter().enumerate() {
                write(&table_name(section, i), &table.csv())?;
            }
        }
        let manifest = serde_json::to_string_pretty(&self.manifest).expect("a manifest is plain");
        write("manifest.json", &manifest)?;
        write("index.html", &self.html())?;
        if self.has_two_pages() {
            write("claims.html", &self.claims_html())?;
        }
        Ok(folder.join("index.html"))
    }

    /// Whether claims have a page of their own: where there is anything else.
    fn has_two_pages(&self) -> bool {
        self.sections.iter().any(|s| s.label == CLAIMS) && self.sections.iter().any(|s| s.label != CLAIMS)
    }

    /// The first page.
    pub fn html(&self) -> String {
        let here: Vec<&Section> = self.sections.iter().filter(|s| !self.has_two_pages() || s.label != CLAIMS).collect();
        let figures = self.manifest.cells > 0;
        let what = if figures { "The figures and tables" } else { "The theory" };
        let opening = format!(
            "<p>{what} of Wang, Shi, Piette, Loftus, Zeng and Wu, <cite>Counterfactually Fair Reinforcement Learning via Sequential Data \
             Preprocessing</cite>, computed anew.</p>\n{}",
            if figures { self.summary() } else { String::new() }
        );
        self.page("Counterfactually fair reinforcement learning, reproduced", &here, &opening)
    }

    /// The page of claims.
    fn claims_html(&self) -> String {
        let here: Vec<&Section> = self.sections.iter().filter(|s| s.label == CLAIMS).collect();
        let opening = "<p>Every checked statement of the paper, as printed and as corrected, with what became of it. \
                       <a href=\"index.html\">Figures and tables</a> are on the first page.</p>\n";
        self.page("Theorems and errata", &here, opening)
    }

    /// What was asked and found, one figure, and the words that figures use.
    fn summary(&self) -> String {
        let others = || self.sections.iter().filter(|s| s.label != CLAIMS);
        let claims = self.sections.iter().find(|s| s.label == CLAIMS);
        let mut found: Vec<(&Section, Finding)> =
            others().flat_map(|s| Finding::of(s).into_iter().map(move |finding| (s, finding))).collect();
        // Stable: findings that agree equally well stay in the order of the paper.
        found.sort_by_key(|(_, finding)| finding.agreement);
        let mut lines: Vec<String> = found
            .iter()
            .map(|(s, finding)| {
                // A section without numbers of its own is asked about by its title.
                let asked = if finding.asked.is_empty() { &s.title } else { &finding.asked };
                format!(
                    "<li><a href=\"#{}\">{}</a>: {}</li>\n",
                    anchor(&s.label),
                    escape(&capitalised(asked)),
                    inline(&finding.answer())
                )
            })
            .collect();
        lines.extend(
            claims
                .and_then(|s| s.seen.first())
                .map(|line| format!("<li><a href=\"claims.html\">Theorems and errata</a>: {}</li>\n", inline(line))),
        );
        let figure = others().flat_map(|s| &s.figures).next().map_or(String::new(), |f| {
            format!(
                "<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
                labelled(&f.svg, &f.caption),
                inline(&f.caption)
            )
        });
        let words: String =
            GLOSSARY.iter().map(|(word, meaning)| format!("<dt>{word}</dt><dd>{meaning}</dd>\n")).collect();
        format!(
            "<div class=\"summary\">\n<div>\n<h2>In short</h2>\n<p>What was asked and what we see, the most surprising first.</p>\n<ul>\n{}</ul>\n\
             <p>± and brackets are 95&#8239;% intervals.</p>\n</div>\n\
             <div>\n{figure}</div>\n</div>\n<details open>\n<summary>Words used in the figures</summary>\n<dl>\n{words}</dl>\n</details>\n",
            lines.concat()
        )
    }

    fn page(&self, title: &str, sections: &[&Section], opening: &str) -> String {
        let mut links: Vec<String> =
            sections.iter().map(|s| format!("<a href=\"#{}\">{}</a>", anchor(&s.label), escape(&s.title))).collect();
        if self.has_two_pages() && !sections.iter().any(|s| s.label == CLAIMS) {
            links.push("<a href=\"claims.html\">Theorems and errata</a>".into());
        }
        let links = links.join("\n");
        let entries: String = self
            .manifest
            .entries()
            .iter()
            .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(value)))
            .collect();
        let sections: String = sections.iter().map(|s| section_html(s)).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>counterfair: the paper, reproduced</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <h1>{title}</h1>\n{opening}<nav>\n{links}\n</nav>\n</header>\n<main>\n{sections}\
             <section id=\"manifest\"><h2>How this report was made</h2>\n<dl>\n{entries}</dl>\n</section>\n</main>\n</body>\n</html>\n"
        )
    }
}

/// Text that begins with a capital letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Escaped text in which what stands between backticks is code.
fn inline(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    // A backtick without a partner is no code.
    if pieces.len().is_multiple_of(2) {
        return escape(text);
    }
    let piece = |(i, piece): (usize, &&str)| {
        if i % 2 == 1 { format!("<code>{}</code>", escape(piece)) } else { escape(piece) }
    };
    pieces.iter().enumerate().map(piece).collect()
}

fn section_html(section: &Section) -> String {
    let list = |title: &str, lines: &[String]| {
        if lines.is_empty() {
            return String::new();
        }
        let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", inline(line))).collect();
        format!("<div><h3>{title}</h3>\n<ul>\n{items}</ul></div>\n")
    };
    let warning = if section.warning.is_empty() {
        String::new()
    } else {
        format!("<p class=\"warning\" role=\"note\">{}</p>\n", inline(&section.warning))
    };
    let figures: String = section
        .figures
        .iter()
        .map(|f| {
            format!(
                "<figure>\n{}\n<figcaption>{} <a href=\"{name}.csv\">CSV</a> · <a href=\"{name}.svg\">SVG</a></figcaption>\n</figure>\n",
                labelled(&f.svg, &f.caption),
                inline(&f.caption),
                name = f.name
            )
        })
        .collect();
    let tables: String = section
        .tables
        .iter()
        .enumerate()
        .map(|(i, table)| {
            format!("{}<p class=\"links\"><a href=\"{}\">CSV</a></p>\n", table.html(), table_name(section, i))
        })
        .collect();
    format!(
        "<section id=\"{}\">\n<h2>{} <small>{}</small></h2>\n{warning}<div class=\"words\">\n{}{}</div>\n\
         <div class=\"figures\">\n{figures}</div>\n{tables}<p class=\"command\"><code>{}</code></p>\n</section>\n",
        anchor(&section.label),
        escape(&section.title),
        escape(&section.label),
        list("The paper says", &section.paper),
        list("We see", &section.seen),
        escape(&section.command)
    )
}

/// The drawing with its caption as the name that a screen reader reads.
fn labelled(svg: &str, caption: &str) -> String {
    svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{}\" ", escape(caption)), 1)
}

fn anchor(label: &str) -> String {
    label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn table_name(section: &Section, index: usize) -> String {
    format!("{}-table-{}.csv", anchor(&section.label), index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::Agreement;
    use super::*;

    fn section(label: &str, seen: &[&str]) -> Section {
        let seen = seen.iter().map(|line| line.to_string()).collect();
        Section { label: label.into(), title: format!("Title of {label}"), seen, ..Section::default() }
    }

    fn report(cells: usize, sections: Vec<Section>) -> Report {
        let manifest = Manifest { cells, ..Manifest::of_command("0", "command".into(), 1) };
        Report { manifest, sections }
    }

    #[test]
    fn every_section_is_in_the_summary_the_most_surprising_first_and_claims_have_a_page_of_their_own() {
        let finding = |asked: &str, agreement| Finding {
            asked: asked.into(),
            found: "0.1".into(),
            paper: "0.2".into(),
            agreement,
        };
        let mut first = section("fig:a", &["seen in a"]);
        first.findings = vec![finding("expected", Agreement::AsInThePaper), finding("odd", Agreement::NotAsInThePaper)];
        let mut second = section("fig:b", &[]);
        second.findings = vec![finding("new", Agreement::NotInThePaper)];
        let report =
            report(7, vec![first, second, section("fig:c", &["only words"]), section("claims", &["49 of 50"])]);
        let page = report.html();
        let summary = page.split("</details>").next().unwrap();
        let at = |text: &str| summary.find(text).unwrap_or_else(|| panic!("{text}: {summary}"));
        assert!(at("Odd") < at("New") && at("New") < at("Expected") && at("Expected") < at("49 of 50"));
        assert!(summary.contains("only words") && summary.contains("CF metric") && !summary.contains("seen in a"));
        assert!(!page.contains("id=\"claims\"") && page.contains("href=\"claims.html\""));
        assert!(report.claims_html().contains("id=\"claims\"") && !report.claims_html().contains("id=\"fig-a\""));
    }

    #[test]
    fn claims_alone_are_the_first_page() {
        let report = report(0, vec![section("claims", &["49 of 50"])]);
        assert!(
            !report.has_two_pages()
                && report.html().contains("id=\"claims\"")
                && !report.html().contains("claims.html")
        );
    }

    #[test]
    fn backticks_become_code_and_one_alone_stays() {
        assert_eq!(inline("see `a < b` now"), "see <code>a &lt; b</code> now");
        assert_eq!(inline("a ` b"), "a ` b");
    }
}
