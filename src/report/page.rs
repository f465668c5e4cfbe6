//! One HTML file that holds everything, readable on a phone and on paper, by day and by night.

use super::{Manifest, Table, escape};
use crate::kernel::data::{WriteError, atomically};
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
    /// Charts.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// The command that makes it.
    pub command: String,
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
        Ok(folder.join("index.html"))
    }

    /// Every table but those in sentences, for a terminal.
    pub fn terminal(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            text += &format!("\n{} · {}\n", section.label, section.title);
            if !section.warning.is_empty() {
                text += &format!("{}\n", section.warning);
            }
            for table in section.tables.iter().filter(|table| !table.sentences) {
                text += &format!("\n{}", table.terminal());
            }
            for line in &section.seen {
                text += &format!("  {line}\n");
            }
        }
        text
    }

    /// The page.
    pub fn html(&self) -> String {
        let links: String = self
            .sections
            .iter()
            .map(|s| format!("<a href=\"#{}\">{}</a>", anchor(&s.label), escape(&s.title)))
            .collect::<Vec<_>>()
            .join("\n");
        let entries: String = self
            .manifest
            .entries()
            .iter()
            .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(value)))
            .collect();
        let sections: String = self.sections.iter().map(section_html).collect();
        let what = if self.manifest.cells > 0 { "The figures and tables" } else { "The theory" };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>counterfair: the paper, reproduced</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n\
             <h1>Counterfactually fair reinforcement learning, reproduced</h1>\n\
             <p>{what} of Wang, Shi, Piette, Loftus, Zeng and Wu, <cite>Counterfactually Fair Reinforcement \
             Learning via Sequential Data Preprocessing</cite>, computed anew. Bands, bars and ± are 95&#8239;% intervals over seeds.</p>\n\
             <nav>\n{links}\n</nav>\n</header>\n<main>\n{sections}\
             <section id=\"manifest\"><h2>How this report was made</h2>\n<dl>\n{entries}</dl>\n</section>\n</main>\n</body>\n</html>\n"
        )
    }
}

fn section_html(section: &Section) -> String {
    let list = |title: &str, lines: &[String]| {
        if lines.is_empty() {
            return String::new();
        }
        let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        format!("<div><h3>{title}</h3>\n<ul>\n{items}</ul></div>\n")
    };
    let warning = if section.warning.is_empty() {
        String::new()
    } else {
        format!("<p class=\"warning\" role=\"note\">{}</p>\n", escape(&section.warning))
    };
    let figures: String = section
        .figures
        .iter()
        .map(|f| {
            format!(
                "<figure>\n{}\n<figcaption>{} <a href=\"{name}.csv\">CSV</a> · <a href=\"{name}.svg\">SVG</a></figcaption>\n</figure>\n",
                labelled(&f.svg, &f.caption),
                escape(&f.caption),
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
