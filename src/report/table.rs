//! One table, four ways to show it: terminal, Markdown, HTML, comma-separated.

use super::{comma_separated, escape};
use std::fmt;

/// A table of text; the first column names the row, the others are numbers and are set flush right.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Table {
    /// What it shows, in a sentence.
    pub caption: String,
    /// Column titles.
    pub columns: Vec<String>,
    /// Rows, as long as the titles.
    pub rows: Vec<Vec<String>>,
    /// How many leading columns are words.
    pub words: usize,
    /// Whether cells hold sentences: they are wrapped on a page, and a terminal is spared them.
    pub sentences: bool,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(caption: &str, words: usize, columns: impl IntoIterator<Item = S>) -> Self {
        Self {
            caption: caption.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: vec![],
            words,
            sentences: false,
        }
    }

    /// The same table, whose cells hold sentences.
    pub fn in_sentences(self) -> Self {
        Self { sentences: true, ..self }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it is not as long as the titles.
    pub fn push<S: Into<String>>(&mut self, row: impl IntoIterator<Item = S>) {
        let row: Vec<String> = row.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.columns.len(), "one cell a column");
        self.rows.push(row);
    }

    /// The same table with some of its rows.
    pub fn only(mut self, keep: impl Fn(&[String]) -> bool) -> Self {
        self.rows.retain(|row| keep(row));
        self
    }

    /// For a terminal: the caption, where there is one, and the rows.
    pub fn terminal(&self) -> String {
        let caption = if self.caption.is_empty() { String::new() } else { format!("{}\n", wrapped(&self.caption)) };
        format!("{caption}{self}\n")
    }

    /// GitHub's Markdown, columns padded so that the source can be read too.
    pub fn markdown(&self) -> String {
        let width = |j: usize| {
            let cells = self.rows.iter().map(|row| &row[j]).chain([&self.columns[j]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let pad = |(j, cell): (usize, &String)| {
                if j < self.words { format!("{cell:<0$}", widths[j]) } else { format!("{cell:>0$}", widths[j]) }
            };
            format!("| {} |\n", cells.iter().enumerate().map(pad).collect::<Vec<_>>().join(" | "))
        };
        let rule = |(j, w): (usize, &usize)| {
            if j < self.words { "-".repeat(*w) } else { format!("{}:", "-".repeat(w - 1)) }
        };
        let rules: Vec<String> = widths.iter().enumerate().map(rule).collect();
        let body: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}\n\n{}{}{body}", self.caption, line(&self.columns), line(&rules))
    }

    /// An HTML table in a frame that scrolls by itself on a narrow screen.
    pub fn html(&self) -> String {
        let cell = |tag: &str, j: usize, text: &str| {
            let class = if j < self.words { "" } else { " class=\"n\"" };
            // On a narrow screen a row of sentences becomes a card, and each cell says what it is.
            let label =
                if self.sentences { format!(" data-label=\"{}\"", escape(&self.columns[j])) } else { String::new() };
            format!("<{tag}{class}{label}>{}</{tag}>", escape(text))
        };
        let line = |tag: &str, cells: &[String]| {
            let cells: String = cells
                .iter()
                .enumerate()
                .map(|(j, text)| if tag == "td" && j == 0 { cell("th", j, text) } else { cell(tag, j, text) })
                .collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = self.rows.iter().map(|row| line("td", row)).collect();
        format!(
            "<div class=\"scroll\"><table{}><caption><span>{}</span></caption>\n<thead>{}</thead>\n<tbody>{body}</tbody></table></div>\n",
            if self.sentences { " class=\"sentences\"" } else { "" },
            escape(&self.caption),
            line("th", &self.columns)
        )
    }

    /// Comma-separated values.
    pub fn csv(&self) -> String {
        std::iter::once(&self.columns).chain(&self.rows).map(comma_separated::line).collect()
    }

    /// An HTML table that carries its own style: a notebook has none of ours. The caption stands above it, or it would be as narrow as the table.
    pub fn notebook_html(&self) -> String {
        let cell = |tag: &str, j: usize, text: &str| {
            let side = if j < self.words { "left" } else { "right" };
            format!("<{tag} style=\"text-align:{side}\">{}</{tag}>", escape(text))
        };
        let line = |tag: &str, cells: &[String]| {
            let cells: String = cells.iter().enumerate().map(|(j, text)| cell(tag, j, text)).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = self.rows.iter().map(|row| line("td", row)).collect();
        format!(
            "<p>{}</p>\n<table>\n<thead>{}</thead>\n<tbody>{body}</tbody>\n</table>",
            escape(&self.caption),
            line("th", &self.columns)
        )
    }
}

/// The rows under their titles, as a terminal shows them; sentences are wrapped to its width.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_header(&self.columns);
        for row in &self.rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut().skip(self.words) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
        if table.lines().any(|line| line.chars().count() > TERMINAL) {
            table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic).set_width(TERMINAL as u16);
        }
        table.fmt(f)
    }
}

/// Columns of a terminal that a table may use.
pub(super) const TERMINAL: usize = 100;

/// Words in lines that fit in a terminal.
fn wrapped(text: &str) -> String {
    let (mut out, mut room) = (String::new(), TERMINAL);
    for word in text.split(' ') {
        let letters = word.chars().count();
        if !out.is_empty() {
            let fits = letters < room;
            out.push(if fits { ' ' } else { '\n' });
            room = if fits { room - 1 } else { TERMINAL };
        }
        out.push_str(word);
        room = room.saturating_sub(letters);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("Two rows.", 1, ["method", "CF metric, < 1"]);
        table.push(["Full", "0.545"]);
        table.push(["a \"b\", c", "0"]);
        table
    }

    #[test]
    fn markdown_lines_up() {
        let expected = "Two rows.\n\n\
                        | method   | CF metric, < 1 |\n\
                        | -------- | -------------: |\n\
                        | Full     |          0.545 |\n\
                        | a \"b\", c |              0 |\n";
        assert_eq!(table().markdown(), expected);
    }

    #[test]
    fn a_terminal_shows_the_caption_only_where_there_is_one() {
        let named = table();
        let bare = Table { caption: String::new(), ..named.clone() };
        assert_eq!(named.terminal(), format!("Two rows.\n{}", bare.terminal()));
        assert_eq!(bare.terminal(), format!("{bare}\n"));
        let lines: Vec<String> = bare.terminal().lines().map(|line| line.trim_end().to_string()).collect();
        assert_eq!(lines, [" method    CF metric, < 1", " Full               0.545", " a \"b\", c               0"]);
    }

    #[test]
    fn a_terminal_is_never_too_narrow_and_nothing_is_lost() {
        let mut table = Table::new(&"a caption of many words ".repeat(9), 2, ["label", "claim", "seen", "control"]);
        table.push([
            "D1",
            &"every word of this claim ".repeat(7),
            "0.123 [0.1, 0.2]",
            &"and of its control ".repeat(5),
        ]);
        let text = table.terminal();
        assert!(text.lines().all(|line| line.chars().count() <= TERMINAL), "{text}");
        assert_eq!((text.matches("claim").count(), text.matches("control").count()), (8, 6), "{text}");
        assert_eq!(text.matches("caption").count(), 9);
    }

    #[test]
    fn what_means_something_to_html_or_csv_is_escaped() {
        assert!(table().html().contains("CF metric, &lt; 1"));
        assert_eq!(table().csv(), "method,\"CF metric, < 1\"\nFull,0.545\n\"a \"\"b\"\", c\",0\n");
    }
}
