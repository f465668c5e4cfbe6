//! How a program is started.

use std::str::FromStr;
use std::time::Duration;

/// A program with its arguments, started without a shell.
///
/// As text, words are separated by spaces; a word with spaces stands in single or double quotes. A backslash is a character like any other,
/// so that paths of every system can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The program, then its arguments.
    pub words: Vec<String>,
    /// How long it may take to be ready, and to answer one line.
    pub timeout: Duration,
}

impl ProgramCommand {
    /// The default of [`timeout`](Self::timeout): a library for nets may take many seconds to load on a busy machine.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// A program with its arguments, and the default time to answer.
    pub fn new<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        Self { words: words.into_iter().map(Into::into).collect(), timeout: Self::TIMEOUT }
    }

    /// The same with another time to answer.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

/// A quote that is opened and not closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}: the quote {quote} is opened and not closed")]
pub struct UnclosedQuote {
    /// The command.
    pub text: String,
    /// The quote.
    pub quote: char,
}

impl FromStr for ProgramCommand {
    type Err = UnclosedQuote;

    fn from_str(text: &str) -> Result<Self, UnclosedQuote> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for c in text.chars() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => word.get_or_insert_default().push(c),
                None if c == '\'' || c == '"' => {
                    word.get_or_insert_default();
                    quote = Some(c);
                }
                None if c.is_whitespace() => words.extend(word.take()),
                None => word.get_or_insert_default().push(c),
            }
        }
        if let Some(quote) = quote {
            return Err(UnclosedQuote { text: text.into(), quote });
        }
        words.extend(word);
        Ok(Self::new(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.parse::<ProgramCommand>().unwrap().words
    }

    #[test]
    fn words_end_at_spaces_outside_quotes() {
        assert_eq!(words("python  policy.py "), ["python", "policy.py"]);
        assert_eq!(words(r#"'my program' --name="a b" ''"#), ["my program", "--name=a b", ""]);
        assert_eq!(words(r"C:\tools\run.exe model\one"), [r"C:\tools\run.exe", r"model\one"]);
        assert_eq!(words(r#""it's""#), ["it's"]);
        assert!(words("  ").is_empty());
        let open = "python 'policy.py".parse::<ProgramCommand>().unwrap_err();
        assert_eq!(open.quote, '\'');
        assert!(open.to_string().contains("python 'policy.py"), "{open}");
    }
}
