//! The numbers of a figure or table that matter, beside the paper's own.

use super::Section;
use super::number::{plain, with_bounds};
use crate::kernel::numeric::{SlopeError, SlopeFit};

/// What was asked, what we find, and what the paper has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The question, as a phrase.
    pub asked: String,
    /// Our numbers.
    pub found: String,
    /// The paper's numbers, or its words where it prints none; empty where it says nothing.
    pub paper: String,
    /// Whether the two agree.
    pub agreement: Agreement,
}

/// Whether a finding is the paper's, the most surprising first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The paper says otherwise.
    NotAsInThePaper,
    /// The paper does not say.
    NotInThePaper,
    /// The paper says the same.
    AsInThePaper,
}

impl Agreement {
    /// Of a finding that the paper has as well if `same`.
    pub(super) fn if_true(same: bool) -> Self {
        if same { Self::AsInThePaper } else { Self::NotAsInThePaper }
    }
}

impl Finding {
    /// What was found, and how that compares with the paper: the rest of a sentence that begins with what was asked.
    pub(super) fn answer(&self) -> String {
        let Self { found, paper, agreement, .. } = self;
        let found = found.trim_end_matches('.');
        match (paper.is_empty(), agreement) {
            (true, _) => format!("{found}."),
            (false, Agreement::NotAsInThePaper) => format!("{found}. Not as in the paper: {paper}."),
            (false, Agreement::NotInThePaper) => format!("{found}; in the paper {paper}."),
            (false, Agreement::AsInThePaper) => format!("{found}; as in the paper: {paper}."),
        }
    }

    /// The findings of a section; one that has none gives its warning, or else the first line of what is seen.
    pub(super) fn of(section: &Section) -> Vec<Self> {
        if !section.findings.is_empty() {
            return section.findings.clone();
        }
        let line = if section.warning.is_empty() { section.seen.first() } else { Some(&section.warning) };
        let words = |found: &String| Self {
            asked: String::new(),
            found: found.clone(),
            paper: String::new(),
            agreement: Agreement::AsInThePaper,
        };
        line.map(words).into_iter().collect()
    }
}

/// A slope with its interval, or a dash where there is none.
pub(super) fn slope(fit: &Result<SlopeFit, SlopeError>) -> String {
    fit.as_ref().map_or("–".into(), |fit| with_bounds(fit.slope, fit.interval, 2))
}

/// `0.06 to 0.16`, from the least to the largest of some numbers; one number where they round to the same.
pub(super) fn range(numbers: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    let ends = numbers
        .into_iter()
        .fold(None, |ends: Option<(f64, f64)>, x| Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x)))));
    let Some((low, high)) = ends else { return "–".into() };
    let (low, high) = (plain(low, decimals), plain(high, decimals));
    if low == high { low } else { format!("{low} to {high}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_number_where_its_ends_look_alike() {
        assert_eq!(range([0.16, 0.061, 0.1], 2), "0.06 to 0.16");
        assert_eq!(range([0.101, 0.102], 2), "0.10");
        assert_eq!(range([], 2), "–");
    }

    #[test]
    fn a_section_without_numbers_of_its_own_gives_its_warning_or_its_first_line() {
        let seen = vec!["first".to_string(), "second".to_string()];
        let section = Section { seen, ..Section::default() };
        assert_eq!(Finding::of(&section)[0].answer(), "first.");
        let warned = Section { warning: "left out.".into(), ..section };
        assert_eq!(Finding::of(&warned)[0].answer(), "left out.");
        assert!(Finding::of(&Section::default()).is_empty());
    }

    #[test]
    fn an_answer_says_where_the_paper_is_otherwise() {
        let finding =
            |agreement| Finding { asked: "slope".into(), found: "−0.4".into(), paper: "−½".into(), agreement };
        assert_eq!(finding(Agreement::AsInThePaper).answer(), "−0.4; as in the paper: −½.");
        assert_eq!(finding(Agreement::NotAsInThePaper).answer(), "−0.4. Not as in the paper: −½.");
        assert_eq!(finding(Agreement::NotInThePaper).answer(), "−0.4; in the paper −½.");
    }
}
