//! Rows of studies pooled: shares with exact binomial limits.

use super::studies::Row;
use statrs::distribution::{Beta, ContinuousCDF};
use std::fmt;

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub some: usize,
    pub all: usize,
}

impl Share {
    fn of(answers: impl IntoIterator<Item = bool>) -> Self {
        answers
            .into_iter()
            .fold(Self::default(), |sum, yes| Self { some: sum.some + usize::from(yes), all: sum.all + 1 })
    }

    /// The 95 % limits of Clopper and Pearson.
    pub fn limits(self) -> (f64, f64) {
        let (some, none) = (self.some as f64, (self.all - self.some) as f64);
        let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).expect("positive counts").inverse_cdf(p);
        let low = if self.some == 0 { 0.0 } else { quantile(some, none + 1.0, 0.025) };
        let high = if self.some == self.all { 1.0 } else { quantile(some + 1.0, none, 0.975) };
        (low, high)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.limits();
        match self.all {
            0 => write!(f, "–"),
            all => write!(f, "{}/{all} = {:.3} [{low:.3}, {high:.3}]", self.some, self.some as f64 / all as f64),
        }
    }
}

impl Row {
    /// Whether the cell's name has this word, as `trait` in `integer-trait-none`.
    pub fn is(&self, word: &str) -> bool {
        self.cell.split('-').any(|part| part == word)
    }

    /// Whether the reader is told that something is better, or worse, than what is done.
    fn claims(&self) -> bool {
        !self.recommended.is_empty() || self.says_worse
    }

    /// Whether Ours' interval holds the truth; `None` where there is no interval.
    fn ours_covers(&self) -> Option<bool> {
        holds(self.ours_low, self.ours_high, self.ours_truth)
    }

    fn single_covers(&self) -> Option<bool> {
        holds(self.single_low, self.single_high, self.single_truth)
    }

    /// Whether the interval of what is recommended misses the truth, and no doubt stands in the first lines.
    fn misleads(&self) -> bool {
        let covers = if self.recommended == "Ours" { self.ours_covers() } else { self.single_covers() };
        !self.recommended.is_empty() && !self.doubted && covers == Some(false)
    }
}

fn holds(low: Option<f64>, high: Option<f64>, truth: Option<f64>) -> Option<bool> {
    let (low, high, truth) = (low?, high?, truth?);
    // Where nothing is estimated the interval is a point, and the truth a sum of rounded numbers.
    let slack = 1e-9;
    Some(low - slack <= truth && truth <= high + slack)
}

/// What is asked of the rows, line by line.
pub fn lines(rows: &[Row]) -> Vec<(&'static str, Share)> {
    let share = |of: &dyn Fn(&Row) -> Option<bool>| Share::of(rows.iter().filter_map(of));
    let where_there_is_an_effect = |row: &Row| (!row.is("none")).then_some(());
    let bound = |row: &Row, bound: Option<f64>, metric: Option<f64>| (!row.is("latent")).then_some(metric? <= bound?);
    vec![
        ("false claims where no call has an effect", share(&|row| row.is("none").then_some(row.claims()))),
        (
            "something is recommended where there is an effect",
            share(&|row| where_there_is_an_effect(row).map(|()| !row.recommended.is_empty())),
        ),
        ("what is recommended does harm", share(&|row| (!row.recommended.is_empty()).then_some(row.realised < -1e-9))),
        ("Ours minus received covers", share(&Row::ours_covers)),
        ("Ours minus received covers, or a doubt is told", share(&|row| Some(row.ours_covers()? || row.doubted))),
        ("best action minus received covers", share(&Row::single_covers)),
        ("bound of Ours holds (latent apart)", share(&|row| bound(row, row.ours_bound, row.ours_metric))),
        (
            "… of Ours, of the policy learned from everybody",
            share(&|row| bound(row, row.ours_bound, row.ours_metric_everybody)),
        ),
        ("bound of Full holds (latent apart)", share(&|row| bound(row, row.full_bound, row.full_metric))),
        ("bound of Unaware holds (latent apart)", share(&|row| bound(row, row.unaware_bound, row.unaware_metric))),
        (
            "bound of Ours holds where states are latent",
            share(&|row| row.is("latent").then_some(row.ours_metric? <= row.ours_bound?)),
        ),
        (
            "with a trait: recommended on a value that misses, undoubted",
            share(&|row| row.is("trait").then_some(row.misleads())),
        ),
    ]
}

/// The gain of doing as told, as a share of the gain there is.
pub fn realised(rows: &[Row]) -> f64 {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    sum(|row| row.realised) / sum(|row| row.available)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_tables() {
        // R 4.3: binom.test(3, 20)$conf.int, binom.test(0, 45)$conf.int.
        let (low, high) = Share { some: 3, all: 20 }.limits();
        assert!((low - 0.032_070_94).abs() < 1e-6 && (high - 0.378_926_8).abs() < 1e-6, "{low} {high}");
        let (low, high) = Share { some: 0, all: 45 }.limits();
        assert!(low == 0.0 && (high - (1.0 - 0.025f64.powf(1.0 / 45.0))).abs() < 1e-9, "{high}");
        let (low, high) = Share { some: 45, all: 45 }.limits();
        assert!(high == 1.0 && (low - 0.025f64.powf(1.0 / 45.0)).abs() < 1e-9, "{low}");
    }

    fn row(cell: &str, recommended: &str, (low, high): (f64, f64), truth: f64) -> Row {
        Row {
            cell: cell.into(),
            recommended: recommended.into(),
            ours_low: Some(low),
            ours_high: Some(high),
            ours_truth: Some(truth),
            realised: if recommended.is_empty() { 0.0 } else { truth },
            available: truth.max(0.0),
            ..Row::default()
        }
    }

    fn found(rows: &[Row], line: &str) -> (usize, usize) {
        let found = lines(rows).into_iter().find(|(name, _)| name.starts_with(line)).expect("a line of this name").1;
        (found.some, found.all)
    }

    #[test]
    fn each_line_counts_what_it_says() {
        let rows = [
            row("integer-none", "Ours", (0.1, 0.3), 0.0),
            row("half-none", "", (-0.1, 0.3), 0.0),
            Row { says_worse: true, ..row("exact-none", "", (-0.3, -0.1), 0.0) },
            row("integer-some", "Ours", (0.1, 0.3), 0.2),
            row("integer-trait-some", "Ours", (0.1, 0.3), 0.4),
            Row { doubted: true, ..row("integer-trait-some", "Ours", (0.1, 0.3), 0.4) },
            row("integer-trait-some", "", (0.1, 0.3), 0.4),
            Row { ours_bound: Some(0.1), ours_metric: Some(0.2), ..row("integer-latent-some", "", (0.0, 0.0), 0.0) },
            Row { ours_bound: Some(0.2), ours_metric: Some(0.2), ..row("linear", "Ours", (-0.3, 0.0), -0.1) },
        ];
        assert_eq!(found(&rows, "false claims"), (2, 3));
        assert_eq!(found(&rows, "something is recommended"), (4, 6));
        assert_eq!(found(&rows, "what is recommended does harm"), (1, 5));
        assert_eq!(found(&rows, "Ours minus received covers"), (4, 9));
        assert_eq!(found(&rows, "Ours minus received covers, or"), (5, 9));
        assert_eq!(found(&rows, "bound of Ours holds (latent apart)"), (1, 1));
        assert_eq!(found(&rows, "bound of Ours holds where states are latent"), (0, 1));
        assert_eq!(found(&rows, "with a trait"), (1, 3));
        assert!((realised(&rows) - (0.2 + 0.8 - 0.1) / (0.2 + 1.2)).abs() < 1e-12);
    }
}
