//! A measured rate as a picture and as a sentence: the same in notebooks and in the paper.

use super::number::{tick, with_bounds};
use super::plot::{Axis, Chart, Ink, Series, Span};
use crate::kernel::numeric::Estimate;
use crate::theory::theorems::{Found, Limit, Slope, judge};

/// A slope beside what a theorem promises, what the law of a margin says, and the slope of a control.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// What was measured.
    pub found: Slope,
    /// What a theorem promises.
    pub promise: Option<Limit>,
    /// What a law says.
    pub law: Option<Limit>,
    /// The same measurement with one thing changed, and what was changed.
    pub control: Option<(String, Slope)>,
}

impl Rate {
    /// Measured means with their intervals, theory's slopes through their middle, and the control.
    pub fn chart(&self) -> Chart {
        let Self { found, promise, law, control } = self;
        let y = Axis::log(&format!("mean over {} runs", found.seeds));
        let mut chart = Chart::new(&found.quantity, Axis::log(&found.axis), y);
        let [promise, law] = [promise, law].map(|limit| limit.and_then(Limit::slope));
        let line = |slope: f64| {
            let middle = |values: &[f64]| values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64;
            let height = middle(&found.means) - slope * middle(&found.sizes);
            ascending(found.sizes.iter().map(move |size| (*size, (height + slope * size.ln()).exp())))
        };
        if let Some(slope) = promise {
            chart = chart.with(Series::new(&format!("promised: {}", tick(slope)), Ink::THEORY, line(slope)));
        }
        if let Some(slope) = law.filter(|_| law != promise) {
            let ink = Ink { dashed: false, ..Ink::THEORY };
            chart = chart.with(Series::new(&format!("law: {}", tick(slope)), ink, line(slope)));
        }
        chart = chart.with(measured("measured", found, Ink::MEASURED));
        match control {
            Some((_, slope)) => chart.with(measured("control", slope, Ink::CONTROL)),
            None => chart,
        }
    }

    /// The slope, and what became of promise, law and control.
    pub fn verdict(&self) -> String {
        let Self { found, promise, law, control } = self;
        let mut text = format!(
            "{} goes like {} to the power {} ({} runs at each of {} sizes; last three sizes {}).",
            found.quantity,
            found.axis,
            with_bounds(found.slope, found.interval, 2),
            found.seeds,
            found.sizes.len(),
            super::number::plain(found.last_three, 2),
        );
        for (limit, what) in [(promise, "Promised"), (law, "Law")] {
            if let Some(limit) = limit {
                text += &format!(" {what}: {}, {}.", asked(*limit), word(*limit, found));
            }
        }
        if let Some((what, slope)) = control {
            let limit = promise.or(*law);
            let word = limit.map_or(String::new(), |limit| format!(", {}", word(limit, slope)));
            text += &format!(" Control, {what}: {}{word}.", with_bounds(slope.slope, slope.interval, 2));
        }
        text
    }
}

/// What became of a limit.
fn word(limit: Limit, slope: &Slope) -> &'static str {
    judge(limit, &Found::Slope(Box::new(slope.clone()))).word()
}

/// A limit on a slope in words.
pub(super) fn asked(limit: Limit) -> String {
    match limit {
        Limit::SlopeAtMost { slope } => format!("at most {}", tick(slope)),
        Limit::SlopeAtLeast { slope } => format!("at least {}", tick(slope)),
        Limit::Law { slope } => tick(slope),
        Limit::AtMost | Limit::Equal => "no slope".into(),
    }
}

/// Points from left to right, as a series goes; errors are listed from the largest to the smallest.
fn ascending<X: Into<Span>, Y>(points: impl Iterator<Item = (X, Y)>) -> Vec<(Span, Y)> {
    let mut points: Vec<(Span, Y)> = points.map(|(x, y)| (x.into(), y)).collect();
    points.sort_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
    points
}

/// Means with 95 % intervals; the slope stands at the end of the line.
fn measured(name: &str, slope: &Slope, ink: Ink) -> Series {
    let each = slope.sizes.iter().zip(&slope.means).zip(&slope.standard_errors);
    let points = each.map(|((&size, &mean), &standard_error)| {
        (Span::exact(size), Span::of(Estimate { mean, standard_error, count: slope.seeds }))
    });
    let points = ascending(points);
    Series { name: format!("{name}: {}", super::number::plain(slope.slope, 2)), ink, points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Stream;

    fn slope(power: f64) -> Slope {
        let sizes: Vec<f64> = (0..6).map(|k| 100.0 * 2f64.powi(k)).collect();
        let samples: Vec<Vec<f64>> = sizes.iter().map(|n| vec![2.0 * n.powf(power); 4]).collect();
        match Slope::measured("J*CF − Ṽ", "N", &sizes, &samples, Stream::new(1)) {
            Found::Slope(slope) => *slope,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn promise_law_and_control_are_judged_apart() {
        let rate = Rate {
            found: slope(-0.7),
            promise: Some(Limit::SlopeAtMost { slope: -0.5 }),
            law: Some(Limit::Law { slope: -1.0 }),
            control: Some(("FLAP".into(), slope(0.0))),
        };
        let text = rate.verdict();
        assert!(text.starts_with("J*CF − Ṽ goes like N to the power −0.70 [−0.70, −0.70] (4 runs at each of 6 sizes"));
        for part in
            ["Promised: at most −0.5, not refuted.", "Law: −1, refuted.", "Control, FLAP: 0.00 [0.00, 0.00], refuted."]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        let names: Vec<String> = rate.chart().series.into_iter().map(|series| series.name).collect();
        assert_eq!(names, ["promised: −0.5", "law: −1", "measured: −0.70", "control: 0.00"]);
    }
}
