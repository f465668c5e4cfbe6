//! What is left on a terminal after a reproduction: one screen.

use super::page::CLAIMS;
use super::{Finding, Report, Section};

/// The fewest columns that lines are made for.
const NARROWEST: usize = 40;

/// Spaces between columns.
const GAP: usize = 2;

/// Lines of at most so many letters, broken between words; a word that is longer has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

impl Report {
    /// For each figure or table the numbers that matter beside the paper's own, then the theory in one line; in lines of at most `width`
    /// letters.
    pub fn screen(&self, width: usize) -> String {
        let width = width.max(NARROWEST);
        let mut text = String::new();
        let (claims, figures): (Vec<&Section>, Vec<&Section>) = self.sections.iter().partition(|s| s.label == CLAIMS);
        if figures.iter().any(|section| !section.findings.is_empty()) {
            text += &row(["", "here", "in the paper"], width);
        }
        for section in figures {
            text += &format!("{}\n", section.label);
            for Finding { asked, found, paper, .. } in Finding::of(section) {
                if asked.is_empty() {
                    text += &indented(&found, width);
                } else {
                    text += &row([&asked, &found, &paper], width);
                }
            }
        }
        for finding in claims.into_iter().flat_map(Finding::of) {
            text += &format!("theory\n{}", indented(&finding.found, width));
        }
        text
    }
}

/// A paragraph set in by two spaces.
fn indented(text: &str, width: usize) -> String {
    wrapped(text, width - GAP).into_iter().map(|line| format!("  {line}\n")).collect()
}

/// Three cells side by side, set in by two spaces; each is wrapped in its own column.
fn row(cells: [&str; 3], width: usize) -> String {
    let room = width - 3 * GAP;
    let widths = [room * 2 / 5, room * 7 / 20, room - room * 2 / 5 - room * 7 / 20];
    let columns: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrapped(cell, width)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |k: usize| {
        let cell = |(column, width): (&Vec<String>, usize)| {
            let text = column.get(k).map_or("", String::as_str);
            format!("{}{text:<width$}", " ".repeat(GAP))
        };
        let line: String = columns.iter().zip(widths).map(cell).collect();
        format!("{}\n", line.trim_end())
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Agreement, Manifest};

    fn finding(asked: &str) -> Finding {
        Finding {
            asked: asked.into(),
            found: "0.04 to 0.16, 0.10 to 0.21, 0.39 to 0.61".into(),
            paper: "Ours is the fairest for all four attributes".into(),
            agreement: Agreement::AsInThePaper,
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_broken() {
        let sections = vec![
            Section {
                label: "fig:a".into(),
                findings: vec![finding("CF metric of Ours, Unaware, Full (non-linear world)")],
                ..Section::default()
            },
            Section { label: "claims".into(), seen: vec!["many words ".repeat(20)], ..Section::default() },
        ];
        let report = Report { manifest: Manifest::of_command("0", String::new(), 1), sections };
        for width in [50, 80, 120] {
            let text = report.screen(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            for word in ["non-linear", "Unaware,", "attributes", "0.61", "fairest"] {
                assert!(words.iter().any(|w| w.trim_end_matches(')').ends_with(word)), "{word}: {text}");
            }
            assert_eq!(text.matches("many").count(), 20);
        }
    }

    #[test]
    fn words_are_kept_whole_and_in_order() {
        assert_eq!(wrapped("a counterfactual state of b", 10), ["a", "counterfactual", "state of b"]);
        assert_eq!(wrapped("", 10), [""]);
    }
}
