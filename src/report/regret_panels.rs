//! The charts of `fig:regret`, and the numbers behind them.

use super::plot::{Axis, Chart, Ink, Marker, Series, Span};
use super::{Figure, comma_separated};
use crate::kernel::numeric::{Estimate, SlopeError, SlopeFit};
use crate::reproduction::summary::{rate_of, samples};
use crate::reproduction::{Cell, Learner, Measured, Method, PaperWorld, Record, RegretCell, Scale};

/// What is measured of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// J*CF − Ṽ.
    Regret,
    /// |J − Ṽ|.
    Gained,
    /// `eq:cf_metric`.
    Metric,
}

/// A name, its ink, and the panels' numbers at each place of the horizontal axis.
type Curve = (String, Ink, Vec<(f64, Vec<f64>)>);

impl Quantity {
    pub const EVERY: [Self; 3] = [Self::Regret, Self::Gained, Self::Metric];

    /// What tables and figures call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Regret => "J*CF − Ṽ",
            Self::Gained => "|J − Ṽ|",
            Self::Metric => "CF metric",
        }
    }

    /// In one word, for numbers that a text quotes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Gained => "gained",
            Self::Metric => "metric",
        }
    }

    /// The power of N, or of ε, by which the law of a margin says it goes: theorem 5 with α = 1 for regret, 3″ and 4′ for the others, with errors of
    /// means that fall like N^{−1/2}.
    pub fn law(self, in_error: bool) -> f64 {
        match (self, in_error) {
            (Self::Regret, false) => -1.0,
            (_, false) => -0.5,
            (Self::Regret, true) => 2.0,
            (_, true) => 1.0,
        }
    }

    /// Of one cell.
    pub fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Self::Regret => measured.regret.map(|e| e.mean),
            Self::Gained => measured.gained.map(|e| e.mean.abs()),
            Self::Metric => Some(measured.unfairness.mean),
        }
    }

    fn marker(self) -> Marker {
        match self {
            Self::Regret => Marker::Disc,
            Self::Gained => Marker::Square,
            Self::Metric => Marker::Ring,
        }
    }
}

/// The cells of one world.
#[derive(Clone, Copy)]
pub(super) struct RegretPanels<'a> {
    pub records: &'a [Record],
    pub scale: &'a Scale,
    pub world: PaperWorld,
    /// Width and height of a chart, in pixels.
    pub size: (u32, u32),
}

impl RegretPanels<'_> {
    fn cell<'c>(&self, cell: &'c Cell) -> Option<&'c RegretCell> {
        match cell {
            Cell::Regret(c) if c.world == self.world => Some(c),
            _ => None,
        }
    }

    /// One quantity over N by one learner, a value per panel; N of floors too if asked for.
    pub fn over_size(
        &self,
        learner: Learner,
        method: Method,
        floors: bool,
        quantity: impl Fn(&Measured) -> Option<f64>,
    ) -> Vec<(f64, Vec<f64>)> {
        let at = |cell: &Cell| {
            let c = self.cell(cell).filter(|c| c.learner == learner && c.error.is_none())?;
            (self.scale.regret.sizes.contains(&c.people) || floors).then_some(c.people as f64)
        };
        samples(self.records, method, at, quantity)
    }

    /// One quantity over ε of one sign.
    pub fn over_error(&self, method: Method, negative: bool, quantity: Quantity) -> Vec<(f64, Vec<f64>)> {
        self.over_error_of(method, negative, |m| quantity.of(m))
    }

    /// The same of whatever a cell has.
    pub fn over_error_of(
        &self,
        method: Method,
        negative: bool,
        quantity: impl Fn(&Measured) -> Option<f64>,
    ) -> Vec<(f64, Vec<f64>)> {
        let at = |cell: &Cell| {
            let error = self.cell(cell)?.error?;
            (error < 0.0).eq(&negative).then_some(error.abs())
        };
        samples(self.records, method, at, quantity)
    }

    /// The slope of a quantity in N.
    pub fn slope(&self, learner: Learner, method: Method, quantity: Quantity) -> Result<SlopeFit, SlopeError> {
        rate_of(&self.over_size(learner, method, false, |m| quantity.of(m)))
    }

    /// The slope of a quantity in ε.
    pub fn slope_in_error(&self, method: Method, quantity: Quantity) -> Result<SlopeFit, SlopeError> {
        rate_of(&self.over_error(method, false, quantity))
    }

    /// Every regret that the charts draw: its N or ε, method and estimate.
    pub fn drawn(&self) -> Vec<(Method, f64, Estimate)> {
        let plain = Learner::LeastSquares;
        let over_size =
            DRAWN.into_iter().flat_map(|m| named(m, self.over_size(plain, m, false, |x| Quantity::Regret.of(x))));
        let over_error = [Method::TrueMeans, Method::BestRule]
            .into_iter()
            .flat_map(|m| named(m, self.over_error(m, false, Quantity::Regret)));
        over_size.chain(over_error).collect()
    }

    /// Regret against N, by method.
    pub fn by_method(&self, letter: char) -> Figure {
        let curves: Vec<_> = DRAWN
            .into_iter()
            .map(|m| {
                (m.title(), Ink::of(m), self.over_size(Learner::LeastSquares, m, false, |x| Quantity::Regret.of(x)))
            })
            .collect();
        let title = format!("{letter} · {} world: regret", self.world);
        let caption = format!(
            "Regret J*CF − Ṽ against N, both axes logarithmic, {} world, δ = {}: mean over panels with 95 % interval, by the performance \
             difference. Oracle reads the true counterfactual states, Ours estimates them; Ours with the true means must be the Oracle. Best rule, \
             our means: the best fair policy itself, deployed on estimated states.",
            self.world, self.scale.strength
        );
        self.figure(&format!("regret_{letter}"), &title, "J*CF − Ṽ", false, &caption, &curves)
    }

    /// Three quantities of Ours against N.
    pub fn three_laws(&self, letter: char) -> Figure {
        let curves: Vec<_> = Quantity::EVERY
            .into_iter()
            .map(|q| {
                let ink = Ink { marker: q.marker(), dashed: q != Quantity::Regret, ..Ink::of(Method::Ours) };
                let values = self.over_size(Learner::LeastSquares, Method::Ours, false, |m| q.of(m));
                (self.with_slope(q, self.slope(Learner::LeastSquares, Method::Ours, q), false), ink, values)
            })
            .collect();
        let title = format!("{letter} · {} world: three laws of Ours", self.world);
        let caption = format!(
            "Ours against N, both axes logarithmic, {} world, δ = {}: regret J*CF − Ṽ, what is gained or lost by unfairness |J − Ṽ|, and the CF \
             metric; means over panels with 95 % intervals, and the slope of each line (in brackets, the law's).",
            self.world, self.scale.strength
        );
        self.figure(&format!("regret_{letter}"), &title, "mean over panels", false, &caption, &curves)
    }

    /// The same against an error in the means.
    pub fn in_error(&self, letter: char) -> Figure {
        let mut curves: Vec<_> = Quantity::EVERY
            .into_iter()
            .map(|q| {
                let ink = Ink { marker: q.marker(), dashed: q != Quantity::Regret, ..Ink::of(Method::BestRule) };
                let values = self.over_error(Method::BestRule, false, q);
                (self.with_slope(q, self.slope_in_error(Method::BestRule, q), true), ink, values)
            })
            .collect();
        let learned = self.over_error(Method::TrueMeans, false, Quantity::Regret);
        let ink = Ink { dashed: false, ..Ink::of(Method::TrueMeans) };
        curves.push(("J*CF − Ṽ, learned".into(), ink, learned));
        let title = format!("{letter} · {} world: error ε in the means", self.world);
        let caption = format!(
            "The same against an error ε in the means of one level, {} world, δ = {}. Grey: the best fair policy, which errs in nothing else. \
             Learned: fitted Q iteration on N = {} people, whose own error is what is left as ε goes to 0.",
            self.world, self.scale.strength, self.scale.regret.error_size
        );
        self.figure(&format!("regret_{letter}"), &title, "mean over panels", true, &caption, &curves)
    }

    /// `CF metric −0.49 (−1/2)`.
    fn with_slope(&self, quantity: Quantity, slope: Result<SlopeFit, SlopeError>, in_error: bool) -> String {
        let law = super::number::tick(quantity.law(in_error));
        let measured = slope.map_or("–".into(), |fit| super::number::plain(fit.slope, 2));
        format!("{} {measured} ({law})", quantity.title())
    }

    fn figure(&self, name: &str, title: &str, y: &str, in_error: bool, caption: &str, curves: &[Curve]) -> Figure {
        let axis = if in_error {
            Axis::log("ε, error in the means").with_ticks(self.scale.regret.errors.iter().copied().filter(|e| *e > 0.0))
        } else {
            Axis::log("N, people in the data").with_ticks(self.scale.regret.sizes.iter().map(|&n| n as f64))
        };
        let mut csv = comma_separated::line([
            "series",
            if in_error { "epsilon" } else { "N" },
            "panels",
            "mean",
            "standard_error",
        ]);
        let mut chart = Chart::new(title, axis, Axis::log(y));
        for (name, ink, values) in curves {
            let points: Vec<(f64, Estimate)> = values.iter().map(|(at, v)| (*at, Estimate::of(v))).collect();
            for (at, e) in &points {
                let numbers = [at.to_string(), e.count.to_string(), e.mean.to_string(), e.standard_error.to_string()];
                csv += &comma_separated::line(std::iter::once(name.clone()).chain(numbers));
            }
            let points = points.into_iter().map(|(at, e)| (Span::exact(at), Span::of(e))).collect();
            chart.series.push(Series { name: name.clone(), ink: *ink, points });
        }
        Figure { name: name.into(), svg: chart.svg_at(self.size.0, self.size.1), caption: caption.into(), csv }
    }
}

/// Methods whose regret is drawn over N.
pub(super) const DRAWN: [Method; 4] = [Method::Ours, Method::Oracle, Method::TrueMeans, Method::BestRule];

fn named(method: Method, samples: Vec<(f64, Vec<f64>)>) -> Vec<(Method, f64, Estimate)> {
    samples.into_iter().map(|(at, values)| (method, at, Estimate::of(&values))).collect()
}
