//! The charts of `fig:sim_all`.

use super::plot::{Axis, Chart, Ink, Reference, Series, Span};
use super::{Figure, comma_separated};
use crate::reproduction::summary::{Point, curve};
use crate::reproduction::{Cell, Method, PaperWorld, Record, Scale, Synthetic};

/// The cells of one world, all of one grid.
pub(super) struct Panels<'a> {
    pub records: &'a [Record],
    pub scale: &'a Scale,
    pub world: PaperWorld,
    /// Width and height of a chart, in pixels.
    pub size: (u32, u32),
}

impl Panels<'_> {
    fn cell<'c>(&self, cell: &'c Cell) -> Option<&'c Synthetic> {
        match cell {
            Cell::Synthetic(c) if c.world == self.world => Some(c),
            _ => None,
        }
    }

    /// N, at the figure's δ.
    pub fn by_size(&self) -> impl Fn(&Cell) -> Option<f64> {
        move |cell| self.cell(cell).filter(|c| c.strength == self.scale.strength).map(|c| c.people as f64)
    }

    /// δ, at the figure's N.
    pub fn by_strength(&self) -> impl Fn(&Cell) -> Option<f64> {
        move |cell| {
            let cell = self.cell(cell)?;
            (cell.people == self.scale.size).then_some(cell.strength)
        }
    }

    /// One method over N.
    pub fn over_size(&self, method: Method) -> Vec<Point> {
        curve(self.records, method, self.by_size())
    }

    /// One method over δ.
    pub fn over_strength(&self, method: Method) -> Vec<Point> {
        curve(self.records, method, self.by_strength())
    }

    /// One method at the figure's N and δ.
    pub fn at_center(&self, method: Method) -> Option<Point> {
        self.over_size(method).into_iter().find(|p| p.at == self.scale.size as f64)
    }

    /// Panels a and d.
    pub fn unfairness_over_size(&self, letter: char) -> Figure {
        let shown = [
            Method::Full,
            Method::Unaware,
            Method::Behaviour,
            Method::Ours,
            Method::KnownForm,
            Method::Oracle,
            Method::Random,
        ];
        let curves: Vec<_> = shown.into_iter().map(|m| (m, self.over_size(m))).collect();
        let chart = Chart {
            title: format!("{letter} · {} world, δ = {}", self.world, self.scale.strength),
            x: Axis::log("N, people in the data").with_ticks(self.scale.sizes.iter().map(|&n| n as f64)),
            y: Axis::log("CF metric"),
            series: curves.iter().map(|(m, points)| unfairness_series(*m, points)).collect(),
            references: vec![],
        };
        let caption = format!(
            "CF metric against N, both axes logarithmic; exact zeros on the strip below the break ({} world).",
            self.world
        );
        self.figure(&format!("sim_all_{letter}"), &chart, &caption, &curves, "N")
    }

    /// Panels b and e, with the mixtures of Full and Ours.
    pub fn value_over_unfairness(&self, letter: char) -> Figure {
        let curves: Vec<_> = Method::PAPER.into_iter().map(|m| (m, self.over_size(m))).collect();
        let mixture: Vec<_> = self.mixture();
        let mut series: Vec<Series> = curves
            .iter()
            .map(|(m, points)| Series {
                name: m.title(),
                ink: Ink::of(*m),
                points: points.iter().map(|p| (Span::share(p.unfairness), Span::of(p.value))).collect(),
            })
            .collect();
        let front = mixture.iter().map(|(_, p)| (Span::share(p.unfairness), Span::of(p.value))).collect();
        series.push(Series { name: String::new(), ink: Ink::of(Method::Mixture(0.5)), points: front });
        let chart = Chart {
            title: format!("{letter} · {} world, δ = {}", self.world, self.scale.strength),
            x: Axis::linear("CF metric").from_zero(),
            y: Axis::linear(&format!("value over {} decisions", self.scale.evaluation_horizon)),
            series,
            references: vec![],
        };
        let caption = format!(
            "Value against CF metric, one point an N; bars are intervals in both directions. Dashed: the episode mixtures of Full and Ours at \
             N = {}, w = {} ({} world).",
            self.scale.size,
            self.scale.weights.iter().map(|w| w.to_string()).collect::<Vec<_>>().join(", "),
            self.world
        );
        let all: Vec<_> =
            curves.into_iter().chain(mixture.into_iter().map(|(method, point)| (method, vec![point]))).collect();
        self.figure(&format!("sim_all_{letter}"), &chart, &caption, &all, "N")
    }

    /// Panels c and f.
    pub fn unfairness_over_strength(&self, letter: char) -> Figure {
        let curves: Vec<_> = Method::PAPER.into_iter().map(|m| (m, self.over_strength(m))).collect();
        let chart = Chart {
            title: format!("{letter} · {} world, N = {}", self.world, self.scale.size),
            x: Axis::linear("δ, strength of the attribute").with_ticks(self.scale.strengths.iter().copied()),
            y: Axis::linear("CF metric").from_zero(),
            series: curves.iter().map(|(m, points)| unfairness_series(*m, points)).collect(),
            references: vec![],
        };
        let caption = format!("CF metric against δ ({} world).", self.world);
        self.figure(&format!("sim_all_{letter}"), &chart, &caption, &curves, "delta")
    }

    /// Values over a horizon so long that J* can stand beside them.
    pub fn long_values(&self, letter: char, optimum: Option<(f64, f64)>) -> Figure {
        let curves: Vec<_> =
            [Method::Full, Method::Oracle, Method::TrueMeans, Method::Ours].map(|m| (m, self.over_size(m))).to_vec();
        let references = optimum.map_or(vec![], |(fair, full)| {
            vec![Reference { at: fair, name: "J*CF".into() }, Reference { at: full, name: "J*Full".into() }]
        });
        let chart = Chart {
            title: format!("{letter} · {} world, δ = {}", self.world, self.scale.strength),
            x: Axis::log("N, people in the data").with_ticks(self.scale.sizes.iter().map(|&n| n as f64)),
            y: Axis::linear(&format!("value over {} decisions", self.scale.long_horizon)),
            series: curves
                .iter()
                .map(|(m, points)| Series {
                    name: m.title(),
                    ink: Ink::of(*m),
                    points: points.iter().map(|p| (Span::exact(p.at), Span::of(p.long_value))).collect(),
                })
                .collect(),
            references,
        };
        let caption = format!(
            "Beyond the paper: the same policies followed for {} decisions, beside the best fair and the best unrestricted value. J may lie \
             above J*CF, by what unfairness gains ({} world).",
            self.scale.long_horizon, self.world
        );
        self.figure(&format!("sim_all_{letter}"), &chart, &caption, &curves, "N")
    }

    fn figure(&self, name: &str, chart: &Chart, caption: &str, curves: &[(Method, Vec<Point>)], axis: &str) -> Figure {
        let caption = format!(
            "{caption} Means over {} seeds, each with data and {} new people of its own; bands and bars are 95 % intervals over seeds.",
            self.scale.seeds, self.scale.evaluation_people
        );
        figure(name, chart.svg_at(self.size.0, self.size.1), &caption, curves, axis)
    }

    /// The mixtures at the figure's N and δ, from Full to Ours.
    fn mixture(&self) -> Vec<(Method, Point)> {
        let inner = self.scale.weights.iter().map(|&w| Method::Mixture(w));
        let methods = std::iter::once(Method::Full).chain(inner).chain([Method::Ours]);
        methods.filter_map(|m| Some((m, self.at_center(m)?))).collect()
    }
}

pub(super) fn unfairness_series(method: Method, points: &[Point]) -> Series {
    let points = points.iter().map(|p| (Span::exact(p.at), Span::share(p.unfairness))).collect();
    Series { name: method.title(), ink: Ink::of(method), points }
}

/// A chart with its numbers.
pub(super) fn figure(name: &str, svg: String, caption: &str, curves: &[(Method, Vec<Point>)], axis: &str) -> Figure {
    let quantities = ["cf_metric", "cf_metric_se", "value", "value_se", "long_value", "long_value_se"];
    let mut csv = comma_separated::line(["method", axis, "seeds", "not_learned"].into_iter().chain(quantities));
    for (method, points) in curves {
        for p in points {
            let counts = [p.unfairness.count.to_string(), p.missing.to_string()];
            let numbers = [p.unfairness, p.value, p.long_value].map(|e| [e.mean, e.standard_error]);
            let numbers = numbers.into_iter().flatten().map(|x| x.to_string());
            csv +=
                &comma_separated::line([method.to_string(), p.at.to_string()].into_iter().chain(counts).chain(numbers));
        }
    }
    Figure { name: name.into(), svg, caption: caption.into(), csv }
}
