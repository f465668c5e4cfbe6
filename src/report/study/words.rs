//! The sentences of a study.

use crate::fair::study::{Bounded, Number, Study, Verdict};
use crate::report::number::minus_sign;

/// Text from a file as a page may show it: control characters become �.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

/// `0.52 (0.31 to 0.73)`, with as many digits as the interval carries.
pub(super) fn with_interval(number: &Number) -> String {
    let Some((low, high)) = number.interval else { return plain(number.mean, 3) };
    if low == high {
        return plain(number.mean, 3);
    }
    let digits = digits((high - low) / 2.0);
    minus_sign(&format!("{:.digits$} ", number.mean)) + &format!("({} to {})", plain(low, digits), plain(high, digits))
}

/// `0.02 (0.01 to 0.05), at most 0.04`.
pub(super) fn with_bound(found: &Bounded) -> String {
    if found.number.interval.is_some_and(|(low, high)| low == high) {
        return plain(found.number.mean, 3);
    }
    format!("{}, at most {}", with_interval(&found.number), share(found.upper))
}

/// A share to three digits.
pub(super) fn share(x: f64) -> String {
    plain(x, 3)
}

/// A share in percent.
pub(super) fn percent(x: f64) -> String {
    // A sum of nothing is −0, which would be printed as such.
    if x > 0.0 && x < 0.001 { "below 0.1 %".into() } else { format!("{:.1} %", 100.0 * x + 0.0) }
}

/// A p-value.
pub(super) fn p(p: f64) -> String {
    match p {
        p if p.is_nan() => "–".into(),
        p if p < 0.001 => "< 0.001".into(),
        p => format!("{p:.3}"),
    }
}

/// A number with a true minus sign.
pub(super) fn plain(x: f64, digits: usize) -> String {
    if x.is_nan() { "–".into() } else { crate::report::number::plain(x, digits) }
}

/// Decimals that show two leading digits of a half-width.
pub(super) fn digits(half: f64) -> usize {
    if half > 0.0 && half.is_finite() { (1.0 - half.log10().floor()).clamp(0.0, 6.0) as usize } else { 3 }
}

/// The first line.
pub fn sentence(verdict: &Verdict) -> String {
    let ends = |number: &Number| {
        let (low, high) = number.interval.unwrap_or((number.mean, number.mean));
        (low, high, digits((high - low) / 2.0))
    };
    match verdict {
        Verdict::CannotSupport { because } => {
            format!("These data cannot support a policy, because {}.", because.join("; and because "))
        }
        Verdict::NotBelievable { because } => {
            format!("Counterfactuals are not to be believed here, because {}.", because.join("; and because "))
        }
        Verdict::NoDifference { difference, unfairness } => format!(
            "No difference can be seen between a fair policy and what people received: {}; unfairness at most {}.",
            with_interval(difference),
            share(*unfairness)
        ),
        Verdict::Better { difference, unfairness } => {
            let (low, high, digits) = ends(difference);
            format!(
                "A fair policy would be worth {} more than what people received, interval {} to {}; unfairness at most {}.",
                plain(difference.mean, digits),
                plain(low, digits),
                plain(high, digits),
                share(*unfairness)
            )
        }
        Verdict::Worse { difference, unfairness } => {
            let (low, high, digits) = ends(difference);
            format!(
                "A fair policy would be worth {} less than what people received, interval {} to {}; unfairness at most {}.",
                plain(-difference.mean, digits),
                plain(-high, digits),
                plain(-low, digits),
                share(*unfairness)
            )
        }
    }
}

/// Whether there is a policy to use.
pub fn recommendation(study: &Study) -> &'static str {
    match (&study.verdict, &study.policy) {
        (Verdict::Better { .. }, Some(_)) => {
            "The policy fitted to everybody is in policy.json; counterfair decide serves it."
        }
        (Verdict::NoDifference { .. } | Verdict::Worse { .. }, _) => {
            "No policy is recommended and none is saved; counterfair learn makes one for those who want it for its fairness."
        }
        _ => "No policy is recommended and none is saved.",
    }
}

/// What words on the page mean, in the terms of this study.
pub(super) fn meaning(study: &Study) -> String {
    let [_, _, attribute, _, reward] = &study.done.columns;
    format!(
        "Worth: the discounted sum of {reward} per person over up to {} recorded decisions (discount {}), as estimated for people from whom the \
         policy was not learned. Unfairness (CF metric): the share of decisions that would be different had a person's {attribute} been different; \
         “at most” holds with 95 % confidence, if noise is as modelled.",
        study.data.horizon, study.done.discount
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_their_intervals_carry() {
        let of = |mean, low, high| with_interval(&Number { mean, standard_error: None, interval: Some((low, high)) });
        assert_eq!(of(0.523, 0.311, 0.735), "0.52 (0.31 to 0.73)");
        assert_eq!(of(-1234.6, -1300.0, -1170.0), "−1235 (−1300 to −1170)");
        assert_eq!(of(0.0, 0.0, 0.0), "0.000");
        assert_eq!(
            (percent(-0.0), percent(0.0004), percent(0.256)),
            ("0.0 %".into(), "below 0.1 %".into(), "25.6 %".into())
        );
        assert_eq!((p(0.0004), p(0.04), p(f64::NAN)), ("< 0.001".into(), "0.040".into(), "–".into()));
        assert_eq!(shown("a\u{1b}[31mb"), "a\u{FFFD}[31mb");
    }

    #[test]
    fn less_is_said_with_the_ends_of_the_interval_turned() {
        let difference = Number { mean: -0.5, standard_error: Some(0.1), interval: Some((-0.7, -0.3)) };
        let found = sentence(&Verdict::Worse { difference, unfairness: 0.04 });
        assert!(found.contains("worth 0.50 less") && found.contains("interval 0.30 to 0.70"), "{found}");
    }
}
