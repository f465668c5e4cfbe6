//! The sentences of a study.

use crate::audit::recorded::Dropout;
use crate::fair::study::{Bounded, Number, Study, Verdict};

/// Text from a file as a page may show it: control characters become �.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

/// `0.52 (0.31 to 0.73)`, with as many digits as the interval carries.
pub(super) fn with_interval(number: &Number) -> String {
    let Some((low, high)) = number.interval else { return amount(number.mean, 3) };
    if low == high {
        return amount(number.mean, 3);
    }
    let scale = Scale::of(number.mean, (low, high));
    let [mean, low, high] = [number.mean, low, high].map(|x| scale.mantissa(x));
    format!("{mean} ({low} to {high}){}", scale.power())
}

/// How numbers with one uncertainty are written: decimals, and a power of ten where plain digits would be many zeros.
struct Scale {
    exponent: i32,
    digits: usize,
}

impl Scale {
    fn of(mean: f64, (low, high): (f64, f64)) -> Self {
        let exponent = exponent(mean.abs().max(low.abs()).max(high.abs()));
        Self { exponent, digits: digits((high - low) / 2.0 / 10f64.powi(exponent)) }
    }

    fn mantissa(&self, x: f64) -> String {
        plain(x / 10f64.powi(self.exponent), self.digits)
    }

    /// ` × 10⁶`, or nothing.
    fn power(&self) -> String {
        if self.exponent == 0 { String::new() } else { format!(" × 10{}", superscript(self.exponent)) }
    }

    fn write(&self, x: f64) -> String {
        self.mantissa(x) + &self.power()
    }
}

/// The power of ten that a number is written with: 0 for what is read easily without.
fn exponent(largest: f64) -> i32 {
    let readable = largest == 0.0 || !largest.is_finite() || (1e-3..1e6).contains(&largest);
    if readable { 0 } else { largest.log10().floor() as i32 }
}

fn superscript(number: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        c => c.to_digit(10).map_or(c, |d| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][d as usize]),
    };
    number.to_string().chars().map(digit).collect()
}

/// An amount in units of the reward that has no interval.
pub(super) fn amount(x: f64, digits: usize) -> String {
    let exponent = exponent(x.abs());
    Scale { exponent, digits: if exponent == 0 { digits } else { 2 } }.write(x)
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

/// The first line: what is accepted by assumption, if anything is, then the verdict, then what can be said for one action for everybody where no
/// policy that tells people apart is recommended.
pub fn sentence(study: &Study) -> String {
    accepted(study) + &verdict(&study.verdict) + &one_for_all(study)
}

fn one_for_all(study: &Study) -> String {
    match study.one_for_all() {
        Some((action, row)) if !study.verdict.recommends() => format!(
            " The same action for everybody can be supported: {action}, worth {} compared with what people received, and exactly fair whatever the noise.",
            with_interval(&row.minus_received)
        ),
        _ => String::new(),
    }
}

/// What is accepted by assumption, as a sentence before all others; nothing where nothing is.
pub(super) fn accepted(study: &Study) -> String {
    let sentence = |text: &String| {
        let mut letters = text.chars();
        letters.next().map_or(String::new(), |first| format!("{}{}. ", first.to_uppercase(), letters.as_str()))
    };
    study.accepted.as_ref().map_or(String::new(), sentence)
}

/// The verdict as a sentence.
fn verdict(verdict: &Verdict) -> String {
    let ends = |number: &Number| {
        let (low, high) = number.interval.unwrap_or((number.mean, number.mean));
        (low, high, Scale::of(number.mean, (low, high)))
    };
    match verdict {
        Verdict::CannotSupport { because } => {
            format!("These data cannot support a policy, because {}.", because.join("; and because "))
        }
        Verdict::NotBelievable { because } => {
            format!("Counterfactuals are not to be believed here, because {}.", because.join("; and because "))
        }
        Verdict::NotMeasured { difference } => format!(
            "A policy that accepts it would be worth {} compared with what people received; how unfair it is, is not known.",
            with_interval(difference)
        ),
        Verdict::NoDifference { difference, unfairness } => format!(
            "No difference can be seen between a fair policy and what people received: {}; unfairness at most {}.",
            with_interval(difference),
            share(*unfairness)
        ),
        Verdict::Better { difference, unfairness } => {
            let (low, high, scale) = ends(difference);
            format!(
                "A fair policy would be worth {} more than what people received, interval {} to {}; unfairness at most {}.",
                scale.write(difference.mean),
                scale.write(low),
                scale.write(high),
                share(*unfairness)
            )
        }
        Verdict::Worse { difference, unfairness } => {
            let (low, high, scale) = ends(difference);
            format!(
                "A fair policy would be worth {} less than what people received, interval {} to {}; unfairness at most {}.",
                scale.write(-difference.mean),
                scale.write(-high),
                scale.write(-low),
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
    let stayed = match study.done.dropout {
        Dropout::AsRecorded => "",
        Dropout::Weighted { .. } => ", as if nobody had left before the last of them",
    };
    let metric = study.policies.as_ref().and_then(|policies| policies.row("Ours")?.cf_metric);
    let bound =
        if metric.is_some() { "; “at most” holds with 95 % confidence, if noise is as modelled" } else { "" };
    format!(
        "Worth: the discounted sum of {reward} per person over up to {} recorded decisions (discount {}){stayed}, as estimated for people from whom the \
         policy was not learned. Unfairness (CF metric): the share of decisions that would be different had a person's {attribute} been \
         different{bound}.",
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
    fn no_unit_of_the_reward_makes_numbers_vanish_or_run_off_the_page() {
        let of = |mean, low, high| with_interval(&Number { mean, standard_error: None, interval: Some((low, high)) });
        assert_eq!(of(3.13e-7, 1.47e-7, 4.78e-7), "3.1 (1.5 to 4.8) × 10⁻⁷");
        assert_eq!(of(17_298_874.0, 17_021_190.0, 17_576_559.0), "1.730 (1.702 to 1.758) × 10⁷");
        assert_eq!(of(-0.000_03, -0.000_33, 0.000_28), "−0.3 (−3.3 to 2.8) × 10⁻⁴");
        assert_eq!(of(2.0, 1.0, 999_999.0), "2 (1 to 999999)");
        assert_eq!(
            (amount(2_600_478.0, 3), amount(0.0, 2), amount(-1.5, 3)),
            ("2.60 × 10⁶".into(), "0.00".into(), "−1.500".into())
        );
        let difference = Number { mean: -5e-7, standard_error: Some(1e-7), interval: Some((-7e-7, -3e-7)) };
        let found = verdict(&Verdict::Worse { difference, unfairness: 0.04 });
        assert!(
            found.contains("worth 5.0 × 10⁻⁷ less") && found.contains("interval 3.0 × 10⁻⁷ to 7.0 × 10⁻⁷"),
            "{found}"
        );
    }

    #[test]
    fn less_is_said_with_the_ends_of_the_interval_turned() {
        let difference = Number { mean: -0.5, standard_error: Some(0.1), interval: Some((-0.7, -0.3)) };
        let found = verdict(&Verdict::Worse { difference, unfairness: 0.04 });
        assert!(found.contains("worth 0.50 less") && found.contains("interval 0.30 to 0.70"), "{found}");
    }
}
