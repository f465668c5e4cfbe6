//! Words as a page, a terminal or a file system takes them.

use crate::files::is_treacherous;

/// Text with what means something to HTML, in an element or in an attribute, written out; what turns the direction of writing or is no
/// letter at all is shown as its number.
pub(super) fn escape(text: &str) -> String {
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

/// The most letters of a file's name: more would not fit beside an ending on every system.
const NAME_LENGTH: usize = 100;

/// A name that every system accepts for a file and every page for a link: ASCII letters, digits and `-`; `_` for all others.
pub(super) fn safe_name(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(NAME_LENGTH).map(letter).collect()
}

/// Lines of at most so many letters, broken between words; a word that is longer has a line of its own. The narrow space in a number such as
/// 2 000 does not end a word.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_ascii_whitespace() {
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

    #[test]
    fn words_are_kept_whole_and_in_order() {
        assert_eq!(wrapped("a counterfactual state of b", 10), ["a", "counterfactual", "state of b"]);
        assert_eq!(wrapped("", 10), [""]);
        assert_eq!(wrapped("N = 2\u{2009}000 people", 6), ["N =", "2\u{2009}000", "people"]);
    }
}
