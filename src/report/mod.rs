//! How results are shown: tables, charts, pages, and display in notebooks.

mod claims;
mod comma_separated;
mod finding;
mod learners;
mod manifest;
pub mod notebook;
pub mod number;
mod page;
pub mod paper;
pub mod plot;
mod rate;
mod real_data;
mod regret;
mod regret_panels;
mod screen;
mod semi;
mod sim_all;
mod sim_all_panels;
pub mod study;
mod table;

pub use claims::{errata_table, slopes_table, theorems, theorems_table};
pub use finding::{Agreement, Finding};
pub use learners::learners;
pub use manifest::Manifest;
pub use page::{Figure, Report, Section};
pub use rate::Rate;
pub use real_data::{additivity_table, paper_table, real_data};
pub use regret::regret;
pub use screen::wrapped;
pub use semi::semi;
pub use sim_all::sim_all;
pub use table::Table;

use crate::files::is_treacherous;

/// Text with what means something to HTML, in an element or in an attribute, written out; what turns the direction of writing or is no
/// letter at all is shown as its number.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push(c),
            c if is_treacherous(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Letters of a name that a file keeps: more would not fit beside an ending everywhere.
const NAME_LENGTH: usize = 100;

/// A name that any system takes for a file, and any page for a link: ASCII letters, digits and `-`; `_` for all others.
fn safe_name(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(NAME_LENGTH).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_left_that_means_something() {
        let hostile = "\"><img src=x onerror='a()'>&\u{1b}[2J\u{202e}\n";
        assert_eq!(escape(hostile), "&quot;&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;&amp;\\u{1b}[2J\\u{202e}\n");
        assert_eq!(safe_name("real_a \"../b\".c%é"), "real_a_____b__c__");
        assert_eq!(safe_name(&"x".repeat(300)).len(), NAME_LENGTH);
    }
}
