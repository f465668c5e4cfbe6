//! Time within a person: numbers or dates; sorted, without repeats, in equal steps.

use super::calendar::{civil, days_in_month, written};
use std::fmt;
use std::str::FromStr;

/// How far a step between times that are not whole numbers may be from the common one, as a share of it: decimal fractions
/// such as 0.1 are not exact, while no calendar has steps that differ by less than one in a million.
const STEP_TOLERANCE: f64 = 1e-6;

/// The time from one decision to the next, as somebody says it: `6`, `7d`, `2w`, `1mo`, `1y`, `12h`, `30min`, `10s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepLength {
    /// In the unit of a column of numbers.
    Number(f64),
    /// Calendar months.
    Months(u32),
    /// Seconds.
    Seconds(f64),
}

/// Text that is not a step length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no step: a number above 0, or with dates a number and one of s, min, h, d, w, mo, y, such as 7d or 1mo"
)]
pub struct StepError(pub String);

impl FromStr for StepLength {
    type Err = StepError;

    fn from_str(text: &str) -> Result<Self, StepError> {
        let wrong = || StepError(text.into());
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let length: f64 = number.trim().parse().map_err(|_| wrong())?;
        if !(length > 0.0 && length.is_finite()) {
            return Err(wrong());
        }
        let months = |k: f64| {
            let months = k * length;
            if months.fract() == 0.0 && months <= 12_000.0 { Ok(Self::Months(months as u32)) } else { Err(wrong()) }
        };
        let seconds = |k: f64| Ok(Self::Seconds(k * length));
        match unit {
            "" => Ok(Self::Number(length)),
            "s" => seconds(1.0),
            "min" => seconds(60.0),
            "h" => seconds(3600.0),
            "d" => seconds(86_400.0),
            "w" => seconds(7.0 * 86_400.0),
            "mo" => months(1.0),
            "y" => months(12.0),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for StepLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Months(months) if months.is_multiple_of(12) => plural(f, f64::from(months / 12), "year"),
            Self::Months(months) => plural(f, f64::from(months), "month"),
            Self::Seconds(x) => {
                let units = [(DAY, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second")];
                let readable = |unit: f64| x % unit == 0.0 && (unit == DAY || x / unit < 100.0);
                if let Some((unit, name)) = units.into_iter().find(|(unit, _)| readable(*unit)) {
                    return plural(f, x / unit, name);
                }
                // 406260 seconds are 4.7 days.
                let (unit, name) = units.into_iter().find(|(unit, _)| x >= 2.0 * unit).unwrap_or((1.0, "second"));
                write!(f, "about {:.1} {name}s", x / unit)
            }
        }
    }
}

/// Lengths that visits are planned at, as somebody would say them, in seconds.
const PLANNED: [(&str, f64); 14] = [
    ("1min", 60.0),
    ("1h", 3600.0),
    ("12h", 12.0 * 3600.0),
    ("1d", DAY),
    ("2d", 2.0 * DAY),
    ("3d", 3.0 * DAY),
    ("7d", 7.0 * DAY),
    ("14d", 14.0 * DAY),
    ("28d", 28.0 * DAY),
    ("1mo", 30.44 * DAY),
    ("2mo", 60.88 * DAY),
    ("3mo", 91.31 * DAY),
    ("6mo", 182.62 * DAY),
    ("1y", 365.25 * DAY),
];

/// Seconds.
const DAY: f64 = 86_400.0;

/// What to try for steps that are typically so long: with dates the planned length next to it, with numbers the number itself.
pub(super) fn proposal(usual: f64, times: Times) -> String {
    match times {
        Times::Numbers => format!("the typical one is {usual}: try --step {usual}"),
        Times::Dates => {
            let away = |length: f64| (length / usual).ln().abs();
            let nearest = PLANNED.into_iter().min_by(|a, b| away(a.1).total_cmp(&away(b.1)));
            let (text, _) = nearest.unwrap_or(PLANNED[0]);
            let words = text.parse::<StepLength>().map_or(String::new(), |step| step.to_string());
            format!("the typical one is about {words}: try --step {text}")
        }
    }
}

fn plural(f: &mut fmt::Formatter<'_>, count: f64, unit: &str) -> fmt::Result {
    write!(f, "{count} {unit}{}", if count == 1.0 { "" } else { "s" })
}

/// What the times of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    Numbers,
    /// Moments, in seconds since 1970.
    Dates,
}

impl Times {
    /// A time as the file might have written it.
    pub fn show(self, time: f64) -> String {
        match self {
            Self::Numbers => time.to_string(),
            Self::Dates => written(time),
        }
    }
}

/// Months since the year 0, when every moment of every person is on one day of the month at one time of day (the last day of a month
/// stands for a day that it does not have). Visits on the 15th of each month are equal steps, though months are not.
pub(super) fn in_months(people: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let months = |times: &Vec<f64>| -> Option<Vec<f64>> {
        let dates: Vec<_> = times.iter().map(|&time| civil(time)).collect();
        let (wanted, clock) = (dates.iter().map(|date| date.2).max()?, dates[0].3);
        let month = |&(year, month, day, second): &(i64, i64, i64, f64)| {
            let regular = second == clock && day == wanted.min(days_in_month(year, month));
            regular.then_some((12 * year + month - 1) as f64)
        };
        dates.iter().map(month).collect()
    };
    people.iter().map(months).collect()
}

/// A moment on a scale of calendar months, the part of a month that has passed as a fraction.
fn month_scale(time: f64) -> f64 {
    let (year, month, day, second) = civil(time);
    let passed = ((day - 1) as f64 + second / 86_400.0) / days_in_month(year, month) as f64;
    (12 * year + month - 1) as f64 + passed
}

/// The number of steps from a person's first time to each of `times`, rounded, and the largest share of a step that was rounded away.
pub(super) fn rounded(times: &[f64], step: StepLength) -> (Vec<f64>, f64) {
    let (scale, length): (fn(f64) -> f64, f64) = match step {
        StepLength::Number(length) | StepLength::Seconds(length) => (|time| time, length),
        StepLength::Months(months) => (month_scale, f64::from(months)),
    };
    let first = times.first().map_or(0.0, |&time| scale(time));
    let steps = times.iter().map(|&time| (scale(time) - first) / length);
    let away = steps.clone().map(|k| (k - k.round()).abs()).fold(0.0, f64::max);
    (steps.map(f64::round).collect(), away)
}

/// What the times of some people say about the steps of all: parts of a file add up to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// On the scale of the file.
    pub step: Step,
    /// In months, as long as everybody keeps to one day of the month.
    pub months: Option<Step>,
    /// The largest share of a step that was rounded away, where a step was asked for.
    pub away: f64,
}

impl Pace {
    /// Of people whose times are sorted, each apart.
    pub fn of(people: &[Vec<f64>], times: Times, asked: Option<StepLength>) -> Self {
        let common = |people: &[Vec<f64>]| Step::common(people.iter().map(Vec::as_slice));
        let months = match (times, asked) {
            (Times::Dates, None) => in_months(people).map(|months| common(&months)),
            _ => None,
        };
        let away = asked.map_or(0.0, |step| people.iter().map(|times| rounded(times, step).1).fold(0.0, f64::max));
        Self { step: common(people), months, away }
    }

    /// Of both groups of people together.
    pub fn and(self, other: Self) -> Self {
        let months = self.months.zip(other.months).map(|(a, b)| a.and(b));
        Self { step: self.step.and(other.step), months, away: self.away.max(other.away) }
    }
}

/// The step from each time to the next, common to all people of a file.
///
/// It is the smallest step any person takes (visits at 0, 6, 12, … months have a step of 6), and a gap is a step that differs from it,
/// beyond rounding where times are not whole numbers. People may start at different times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub length: f64,
    whole: bool,
}

impl Step {
    /// The common step of people whose times are sorted, each apart.
    pub fn common<'a>(people: impl Iterator<Item = &'a [f64]> + Clone) -> Self {
        let whole = people.clone().flatten().all(|t| t.fract() == 0.0);
        let steps = people.flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0]));
        let length = steps.filter(|&step| step > 0.0).fold(f64::INFINITY, f64::min);
        Self { length, whole }
    }

    /// Steps of one, between times that were rounded to whole numbers of them.
    pub fn one() -> Self {
        Self { length: 1.0, whole: true }
    }

    /// The common step of two groups of people.
    fn and(self, other: Self) -> Self {
        Self { length: self.length.min(other.length), whole: self.whole && other.whole }
    }

    /// Whether `next` is not one step after `previous`.
    pub fn is_gap(&self, previous: f64, next: f64) -> bool {
        let step = next - previous;
        if self.whole {
            return step != self.length;
        }
        // Each time carries half a unit in the last place, and so does the step it is compared with.
        let rounding = 2.0 * f64::EPSILON * previous.abs().max(next.abs());
        (step - self.length).abs() > STEP_TOLERANCE * self.length + rounding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(people: &[&[f64]]) -> Step {
        Step::common(people.iter().copied())
    }

    #[test]
    fn whole_times_go_up_by_one_from_any_start() {
        let step = step(&[&[0.0, 2.0], &[1990.0, 1991.0]]);
        assert_eq!(step.length, 1.0);
        assert!(step.is_gap(0.0, 2.0));
        assert!(!step.is_gap(1990.0, 1991.0));
        assert!(!step.is_gap(-1.0, 0.0));
    }

    #[test]
    fn visits_every_six_months_have_a_step_of_six() {
        let step = step(&[&[0.0, 6.0, 12.0], &[6.0, 18.0]]);
        assert_eq!(step.length, 6.0);
        assert!(!step.is_gap(6.0, 12.0) && step.is_gap(6.0, 18.0) && step.is_gap(6.0, 7.0));
    }

    #[test]
    fn other_times_go_up_by_the_smallest_step_of_anybody() {
        let step = step(&[&[0.0, 0.5, 1.0], &[7.25, 7.5]]);
        assert_eq!(step.length, 0.25);
        assert!(step.is_gap(0.0, 0.5));
        assert!(!step.is_gap(7.25, 7.5));
    }

    #[test]
    fn decimal_fractions_are_equal_steps_in_spite_of_rounding() {
        let tenths: Vec<f64> = (0..1000).map(|k| f64::from(k) * 0.1).collect();
        let step = step(&[&tenths]);
        assert!(tenths.windows(2).all(|pair| !step.is_gap(pair[0], pair[1])));
        assert!(step.is_gap(0.1, 0.3));
        assert!(step.is_gap(0.1, 0.2001));
    }
    #[test]
    fn seconds_since_an_epoch_round_coarsely_but_a_gap_is_seen() {
        let tenths: Vec<f64> = (0..1000).map(|k| 1e9 + f64::from(k) * 0.1).collect();
        let step = step(&[&tenths]);
        assert!(tenths.windows(2).all(|pair| !step.is_gap(pair[0], pair[1])));
        assert!(step.is_gap(1e9, 1e9 + 0.1001));
    }

    fn moments(dates: &[&str]) -> Vec<f64> {
        dates.iter().map(|date| super::super::calendar::moment(date).unwrap()).collect()
    }

    #[test]
    fn one_day_of_every_month_is_a_step_of_a_month() {
        let regular = [moments(&["2023-11-30", "2023-12-30", "2024-02-29", "2024-03-30"]), moments(&["2024-01-05"])];
        let months = in_months(&regular).unwrap();
        assert_eq!(months[0], [24286.0, 24287.0, 24289.0, 24290.0]);
        assert_eq!(in_months(&[moments(&["2024-01-05", "2024-02-06"])]), None);
        assert_eq!(in_months(&[moments(&["2024-01-05T08:00", "2024-02-05T09:00"])]), None);
        assert_eq!(in_months(&[moments(&["2024-01-05", "2024-02-05"]), moments(&["2024-01-05", "2024-01-12"])]), None);
    }

    #[test]
    fn visits_that_are_nearly_regular_are_rounded_and_the_most_is_said() {
        let (steps, away) = rounded(&[10.0, 16.5, 23.0, 36.0], StepLength::Number(6.0));
        assert_eq!(steps, [0.0, 1.0, 2.0, 4.0]);
        assert!((away - 1.0 / 3.0).abs() < 1e-12, "{away}");
        let visits = moments(&["2024-01-10", "2024-02-07", "2024-03-15", "2024-04-09"]);
        assert_eq!(rounded(&visits, "1mo".parse().unwrap()).0, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(rounded(&visits, "30d".parse().unwrap()).0, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(rounded(&visits, "2w".parse().unwrap()).0, [0.0, 2.0, 5.0, 6.0]);
    }

    #[test]
    fn a_typical_step_is_proposed_as_somebody_would_say_it() {
        assert_eq!(proposal(6.4 * DAY, Times::Dates), "the typical one is about 7 days: try --step 7d");
        assert_eq!(proposal(31.0 * DAY, Times::Dates), "the typical one is about 1 month: try --step 1mo");
        assert_eq!(proposal(6.0, Times::Numbers), "the typical one is 6: try --step 6");
    }

    #[test]
    fn steps_are_read_and_said_with_their_units() {
        let said = |text: &str| text.parse::<StepLength>().map(|step| step.to_string());
        let expected = [
            ("6", "6"),
            ("7d", "7 days"),
            ("1w", "7 days"),
            ("1mo", "1 month"),
            ("2y", "2 years"),
            ("36h", "36 hours"),
        ];
        for (text, words) in expected {
            assert_eq!(said(text).as_deref(), Ok(words));
        }
        assert_eq!(said("90min").as_deref(), Ok("90 minutes"));
        for text in ["406260s", "406260.5s", "6771min"] {
            assert_eq!(said(text).as_deref(), Ok("about 4.7 days"));
        }
        for text in ["", "0", "-1", "mo", "1.5mo", "7 fortnights", "inf", "nan", "1e400", "7D"] {
            assert_eq!(said(text), Err(StepError(text.into())));
        }
    }
}
