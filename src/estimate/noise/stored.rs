//! The noise of people on disk: what [`FittedNoise::choose`] and [`FittedNoise::refit`] do, by passes over blocks of them.
//!
//! # Precision
//! Quantiles are exact; sums are added up in another order than in memory.

use super::choice::{FOLDS, folds, is_better};
use super::density::Density;
use super::report::{Candidate, NoiseReport, OutputReport, Score};
use super::residuals::{Inputs, Residuals, Row, meet};
use super::shape::{Shape, knots, quantile_places};
use super::spread::{Scoring, Spread, SpreadForm, mean_squares};
use super::{FEW, FittedNoise, MANY, NOISELESS, Nature, NoiseChoice, OutputNoise, OutputSet, Plan};
use crate::estimate::ranks::order_statistics;
use crate::estimate::{FitError, Fitted};
use crate::kernel::model::Rung;
use crate::kernel::numeric::{Moments, Place, Stream};
use crate::kernel::people::{Panel, People, try_each};
use rayon::prelude::*;

/// People on disk, and the means that their noise is around.
pub(in crate::estimate) struct StoredNoise<'a> {
    pub panel: &'a dyn People,
    pub means: &'a Fitted,
    pub stream: Stream,
    /// How many numbers may be held at once.
    pub room: usize,
}

fn each(people: &dyn People, mut visit: impl FnMut(&Panel)) -> Result<(), FitError> {
    try_each(people, |block| {
        visit(block);
        Ok(())
    })
}

/// Nobody is left out.
const ALL: usize = FOLDS;

impl StoredNoise<'_> {
    /// Visits residuals block by block, with the fold of each person.
    fn pass(&self, inputs: &Inputs, mut visit: impl FnMut(&Panel, &Residuals, &[usize])) -> Result<(), FitError> {
        let sizes = self.panel.level_sizes();
        each(self.panel, |block| {
            let residuals = Residuals::among(self.means, self.means.reports(), inputs, block, &sizes);
            visit(block, &residuals, &folds(block.ids(), self.stream));
        })
    }

    fn levels(&self) -> usize {
        self.panel.shape().levels.len()
    }

    /// [`FittedNoise::choose`].
    pub fn choose(&self, choice: NoiseChoice, keep: OutputSet) -> Result<FittedNoise, FitError> {
        let (p, levels) = (self.panel.shape().state_dim, self.levels());
        let inputs = self.inputs()?;
        let natures = self.natures(&inputs, keep)?;
        let is_open = |nature: Nature| match nature {
            Nature::Continuous => choice != NoiseChoice::Additive,
            Nature::FewValues(_) => matches!(choice, NoiseChoice::Scale | NoiseChoice::Rank),
            Nature::Noiseless | Nature::Kept => false,
        };
        let open: Vec<usize> = (0..=p).filter(|&output| is_open(natures[output])).collect();
        let mut scores = vec![vec![]; p + 1];
        let plans = self.plans(&inputs, &open, choice, &mut scores)?;
        let mut fitted = self.fit(&inputs, &plans)?;
        let outputs = natures.iter().zip(&mut fitted).enumerate().map(|(output, (nature, fitted))| {
            let additive =
                || OutputNoise { kept: *nature == Nature::Kept, ..OutputNoise::additive(levels, output < p) };
            fitted.take().unwrap_or_else(additive)
        });
        let outputs: Vec<OutputNoise> = outputs.collect();
        let reports = outputs.iter().zip(scores).enumerate().map(|(output, (noise, scores))| OutputReport {
            output,
            is_reward: output == p,
            rung: if noise.kept { Rung::Additive } else { noise.rung() },
            spread: noise.spread.form,
            first_apart: noise.first_shape.is_some(),
            knots: noise.shape.as_ref().map_or(0, Shape::knots),
            nature: natures[output],
            scores,
        });
        let report = NoiseReport { outputs: reports.collect() };
        Ok(FittedNoise::new(inputs, outputs, levels, report))
    }

    /// [`FittedNoise::refit`] with a weight of 1 for everybody.
    pub fn refit(&self, law: &FittedNoise) -> Result<FittedNoise, FitError> {
        let plans: Vec<Option<Plan>> = law.outputs.iter().map(OutputNoise::plan).collect();
        let fitted = self.fit(&law.inputs, &plans)?;
        let outputs = fitted.into_iter().zip(&law.outputs).map(|(fitted, old)| fitted.unwrap_or_else(|| old.clone()));
        Ok(FittedNoise::new(law.inputs.clone(), outputs.collect(), self.levels(), law.report.clone()))
    }

    fn inputs(&self) -> Result<Inputs, FitError> {
        let p = self.panel.shape().state_dim;
        let n = self.panel.state_rows().max(1) as f64;
        let (mut centre, mut scale) = (vec![0.0; p], vec![0.0; p]);
        let each_state = |visit: &mut dyn FnMut(&[f64])| {
            each(self.panel, |block| block.states().chunks_exact(p).for_each(&mut *visit))
        };
        each_state(&mut |state| centre.iter_mut().zip(state).for_each(|(c, s)| *c += s / n))?;
        each_state(&mut |state| (0..p).for_each(|j| scale[j] += (state[j] - centre[j]).powi(2) / n))?;
        Ok(Inputs::new(centre, scale, self.panel.shape().actions.len()))
    }

    fn natures(&self, inputs: &Inputs, keep: OutputSet) -> Result<Vec<Nature>, FitError> {
        let p = self.panel.shape().state_dim;
        let (mut largest, mut size, mut rows) = (vec![0.0f64; p + 1], vec![0.0f64; p + 1], vec![0; p + 1]);
        let mut seen: Vec<Vec<f64>> = vec![vec![]; p + 1];
        self.pass(inputs, |block, residuals, _| {
            for output in 0..=p {
                let own = &residuals.outputs[output];
                rows[output] += own.len();
                largest[output] = own.iter().fold(largest[output], |most, row| most.max(row.residual.abs()));
                size[output] = size[output].max(residuals.size[output]);
            }
            (0..p).for_each(|j| meet(&mut seen[j], block.states().iter().skip(j).step_by(p)));
            meet(&mut seen[p], block.rewards().iter());
        })?;
        let nature = |output: usize| {
            if keep.contains(output) {
                return Nature::Kept;
            }
            if largest[output] <= NOISELESS * size[output] {
                return Nature::Noiseless;
            }
            let values = seen[output].len();
            let is_few = values <= FEW.min(MANY) && rows[output] >= 5 * values;
            if is_few { Nature::FewValues(values) } else { Nature::Continuous }
        };
        Ok((0..=p).map(nature).collect())
    }

    /// Spreads of some forms, each fitted without a fold or to [`ALL`]: (output, form, fold).
    fn spreads(&self, inputs: &Inputs, wanted: &[(usize, SpreadForm, usize)]) -> Result<Vec<Option<Spread>>, FitError> {
        let (p, levels, width) = (self.panel.shape().state_dim, self.levels(), inputs.width());
        // Σ r² and counts of first and later residuals, and Σ xxᵀ, by fold and level.
        let cell = || {
            (vec![0.0; FOLDS * levels * 2], vec![0.0; FOLDS * levels * 2], vec![0.0; FOLDS * levels * width * width])
        };
        let mut sums: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)> = (0..=p).map(|_| cell()).collect();
        self.pass(inputs, |_, residuals, folds| {
            sums.par_iter_mut().zip(&residuals.outputs).for_each(|((squares, counts, products), rows)| {
                for row in rows {
                    let cell = folds[row.person] * levels + row.level;
                    let at = 2 * cell + usize::from(row.decision.is_some());
                    squares[at] += row.residual * row.residual;
                    counts[at] += 1.0;
                    if let Some(decision) = row.decision {
                        let x = &residuals.inputs[decision * width..(decision + 1) * width];
                        let products = &mut products[cell * width * width..(cell + 1) * width * width];
                        for (i, row) in products.chunks_exact_mut(width).enumerate() {
                            row.iter_mut().zip(x).for_each(|(sum, y)| *sum += x[i] * y);
                        }
                    }
                }
            });
        })?;
        let without = |fold: usize, sums: &[f64], size: usize| -> Vec<f64> {
            let mut total = vec![0.0; size];
            for (_, part) in sums.chunks_exact(size).enumerate().filter(|(f, _)| *f != fold) {
                total.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
            total
        };
        let mut found = Vec::new();
        let mut scorings = Vec::new();
        for &(output, form, fold) in wanted {
            let (squares, counts, products) = &sums[output];
            let (squares, fold_counts) = (without(fold, squares, 2 * levels), without(fold, counts, 2 * levels));
            let has = |later: usize| counts.iter().skip(later).step_by(2).any(|n| *n > 0.0);
            let roots = |later: usize| {
                let part = |sums: &[f64]| sums.iter().skip(later).step_by(2).copied().collect::<Vec<f64>>();
                mean_squares(part(&squares), part(&fold_counts), form)
            };
            let first = if has(0) { roots(0) } else { Some(vec![]) };
            let constants = if has(1) { roots(1) } else { Some(vec![1.0; levels]) };
            let spread = first.zip(constants).map(|(first, constants)| {
                let log = constants.iter().map(|σ| vec![σ.ln()]).collect();
                Spread { form, first, log }
            });
            if let (SpreadForm::LogLinear, Some(spread)) = (form, &spread) {
                let products = without(fold, products, levels * width * width);
                for (level, matrix) in products.chunks_exact(width * width).enumerate() {
                    let scoring = Scoring::new(matrix.to_vec(), spread.log[level][0]);
                    scorings.push((found.len(), output, fold, level, scoring));
                }
            }
            found.push(spread);
        }
        while scorings.iter().any(|(.., scoring)| scoring.is_running()) {
            self.pass(inputs, |_, residuals, folds| {
                scorings.par_iter_mut().filter(|s| s.4.is_running()).for_each(|(_, output, fold, level, scoring)| {
                    let own = |row: &&Row| row.level == *level && folds[row.person] != *fold;
                    for row in residuals.outputs[*output].iter().filter(own) {
                        if let Some(at) = row.decision {
                            scoring.add(&residuals.inputs[at * width..(at + 1) * width], row.residual, 1.0);
                        }
                    }
                });
            })?;
            scorings.iter_mut().for_each(|(.., scoring)| scoring.step());
        }
        for (at, _, _, level, scoring) in scorings {
            match scoring.found() {
                Some(γ) => found[at].iter_mut().for_each(|spread| spread.log[level] = γ.clone()),
                None => found[at] = None,
            }
        }
        Ok(found)
    }

    /// What to fit for each output, by scores over people who were left out.
    fn plans(
        &self,
        inputs: &Inputs,
        open: &[usize],
        choice: NoiseChoice,
        scores: &mut [Vec<Score>],
    ) -> Result<Vec<Option<Plan>>, FitError> {
        let p = self.panel.shape().state_dim;
        let mut plans: Vec<Option<Plan>> = (0..=p).map(|_| None).collect();
        let least = if choice == NoiseChoice::Scale { SpreadForm::PerLevel } else { SpreadForm::Common };
        let forms = self.forms(inputs, open, least, scores)?;
        for (&output, &form) in open.iter().zip(&forms) {
            plans[output] = Some(Plan { form, knots: None, first_knots: None });
        }
        if choice == NoiseChoice::Scale || open.is_empty() {
            return Ok(plans);
        }
        let wanted: Vec<_> = open.iter().zip(&forms).map(|(&output, &form)| (output, form, ALL)).collect();
        let spreads = self.spreads(inputs, &wanted)?;
        for (&output, spread) in open.iter().zip(&spreads) {
            // What is not determined by everybody is not planned for.
            let Some(spread) = spread else {
                plans[output] = None;
                continue;
            };
            let (shape, first, later) = self.shapes(inputs, output, spread, &mut scores[output])?;
            let (is_apart, by_level) = shape;
            let levels = self.levels();
            if let Some(plan) = &mut plans[output]
                && (by_level || choice == NoiseChoice::Rank)
            {
                plan.knots = Some(knots(if is_apart { later } else { first + later }, levels));
                plan.first_knots = is_apart.then(|| knots(first, levels));
            }
        }
        Ok(plans)
    }

    /// The form of each open output's spread.
    fn forms(
        &self,
        inputs: &Inputs,
        open: &[usize],
        least: SpreadForm,
        scores: &mut [Vec<Score>],
    ) -> Result<Vec<SpreadForm>, FitError> {
        let width = inputs.width();
        let forms: Vec<SpreadForm> = [SpreadForm::Common, SpreadForm::PerLevel, SpreadForm::LogLinear]
            .into_iter()
            .filter(|f| *f >= least)
            .collect();
        let each =
            |&output: &usize| forms.iter().flat_map(move |&form| (0..FOLDS).map(move |fold| (output, form, fold)));
        let wanted: Vec<_> = open.iter().flat_map(each).collect();
        let spreads = self.spreads(inputs, &wanted)?;
        // For each output and form the spreads without each fold, if all are determined.
        let by_form: Vec<Option<Vec<&Spread>>> =
            spreads.chunks_exact(FOLDS).map(|folds| folds.iter().map(Option::as_ref).collect()).collect();
        let pairs = |a: usize, b: usize| a * forms.len() + b;
        let mut gains: Vec<Vec<Moments>> = vec![vec![Moments::default(); forms.len() * forms.len()]; open.len()];
        self.pass(inputs, |_, residuals, folds| {
            for ((&output, fitted), gains) in open.iter().zip(by_form.chunks_exact(forms.len())).zip(&mut gains) {
                each_person(&residuals.outputs[output], |rows| {
                    let score = |spreads: &Option<Vec<&Spread>>| {
                        let spread = spreads.as_ref()?[folds[rows[0].person]];
                        Some(rows.iter().fold(0.0, |score, row| {
                            let η = spread.log_at(row, &residuals.inputs, width);
                            score - (η + 0.5 * row.residual * row.residual * (-2.0 * η).exp())
                        }))
                    };
                    let found: Vec<Option<f64>> = fitted.iter().map(score).collect();
                    for (a, simple) in found.iter().enumerate() {
                        for (b, rich) in found.iter().enumerate().skip(a + 1) {
                            if let (Some(simple), Some(rich)) = (simple, rich) {
                                gains[pairs(a, b)].add(rich - simple);
                            }
                        }
                    }
                });
            }
        })?;
        let candidate = |form| match form {
            SpreadForm::Common => Candidate::OneSpread,
            SpreadForm::PerLevel => Candidate::SpreadByLevel,
            SpreadForm::LogLinear => Candidate::SpreadByState,
        };
        let mut choose = |output: usize, fitted: &[Option<Vec<&Spread>>], gains: &[Moments]| {
            if fitted[0].is_none() {
                return least;
            }
            let mut best = 0;
            for (at, &form) in forms.iter().enumerate().skip(1).filter(|(at, _)| fitted[*at].is_some()) {
                let gain = gains[pairs(best, at)].estimate();
                let is_chosen = is_better(&gain);
                scores[output].push(Score { model: candidate(form), over: candidate(forms[best]), gain, is_chosen });
                if is_chosen {
                    best = at;
                }
            }
            forms[best]
        };
        let each = open.iter().zip(by_form.chunks_exact(forms.len())).zip(&gains);
        Ok(each.map(|((&output, fitted), gains)| choose(output, fitted, gains)).collect())
    }

    /// Whether first states have a law of their own, and whether levels do; then how many first and later residuals there are.
    fn shapes(
        &self,
        inputs: &Inputs,
        output: usize,
        spread: &Spread,
        scores: &mut Vec<Score>,
    ) -> Result<((bool, bool), usize, usize), FitError> {
        let (levels, width) = (self.levels(), inputs.width());
        // All together, by time, by level, by level and time.
        let sizes = [1, 2, levels, 2 * levels];
        let starts = [0, 1, 3, 3 + levels];
        let groups = 3 + 3 * levels;
        let time = |row: &Row| usize::from(row.decision.is_some());
        let places = |row: &Row| [0, 1 + time(row), 3 + row.level, 3 + levels + 2 * row.level + time(row)];
        let standard = |row: &Row, inputs: &[f64]| row.residual * (-spread.log_at(row, inputs, width)).exp();

        let mut cells: Vec<Cell> = vec![Cell::default(); FOLDS * groups];
        let mut counts = [0, 0];
        self.pass(inputs, |_, residuals, folds| {
            for row in &residuals.outputs[output] {
                let e = standard(row, &residuals.inputs);
                counts[time(row)] += 1;
                places(row).iter().for_each(|place| cells[folds[row.person] * groups + place].add(e));
            }
        })?;
        // Quartiles of each group without each fold.
        let ranks = |_: usize, n: usize| match n {
            0 => vec![],
            _ => [0.25, 0.75].into_iter().flat_map(|share| Place::of_share(n, share).ranks()).collect(),
        };
        let others = |at: usize| {
            let own = |f: usize| if f == at / groups { 0 } else { cells[f * groups + at % groups].gain.count };
            (0..FOLDS).map(own).sum::<usize>()
        };
        let counted: Vec<usize> = (0..FOLDS * groups).map(others).collect();
        let quartiles = order_statistics(&counted, ranks, self.room, |see| {
            self.pass(inputs, |_, residuals, folds| {
                for row in &residuals.outputs[output] {
                    let e = standard(row, &residuals.inputs);
                    for fold in (0..FOLDS).filter(|fold| *fold != folds[row.person]) {
                        places(row).iter().for_each(|place| see(fold * groups + place, e));
                    }
                }
            })
        })?;
        let density = |at: usize| -> Option<Density> {
            let (fold, group) = (at / groups, at % groups);
            let others = (0..FOLDS).filter(|f| *f != fold).map(|f| &cells[f * groups + group]);
            let cell = others.fold(Cell::default(), |sum, other| sum.and(other));
            let n = cell.gain.count;
            let found = &quartiles[fold * groups + group];
            let between = |share: f64, k: usize| Place::of_share(n, share).between(found[k], found[k + 1]);
            (n > 0).then_some(())?;
            Density::of_sums(n as f64, cell.gain.sd(), between(0.75, 2) - between(0.25, 0), &cell.mass)
        };
        let densities: Vec<Option<Density>> = (0..FOLDS * groups).map(density).collect();
        let is_known = |grouping: usize| {
            let own = starts[grouping]..starts[grouping] + sizes[grouping];
            (0..FOLDS).all(|fold| own.clone().all(|group| densities[fold * groups + group].is_some()))
        };
        let known: Vec<bool> = (0..4).map(is_known).collect();
        // Time over all, level over all, level and time over time.
        let pairs = [(0, 1), (0, 2), (1, 3)];
        let mut gains = vec![Moments::default(); pairs.len()];
        self.pass(inputs, |_, residuals, folds| {
            each_person(&residuals.outputs[output], |rows| {
                let mut found = [0.0; 4];
                for row in rows {
                    let e = standard(row, &residuals.inputs);
                    for (sum, place) in found.iter_mut().zip(places(row)) {
                        let density = &densities[folds[row.person] * groups + place];
                        *sum += density.as_ref().map_or(0.0, |density| density.log(e));
                    }
                }
                pairs.iter().zip(&mut gains).for_each(|((a, b), gain)| gain.add(found[*b] - found[*a]));
            });
        })?;
        let counts = (counts[0], counts[1]);
        if !known[0] {
            return Ok(((false, false), counts.0, counts.1));
        }
        let mut judge = |pair: usize, model: Candidate| {
            let gain = gains[pair].estimate();
            let is_chosen = is_better(&gain);
            scores.push(Score { model, over: Candidate::OneShape, gain, is_chosen });
            is_chosen
        };
        let is_apart = known[1] && judge(0, Candidate::FirstApart);
        let (pair, grouping) = if is_apart { (2, 3) } else { (1, 2) };
        let by_level = known[grouping] && judge(pair, Candidate::ShapeByLevel);
        Ok(((is_apart, by_level), counts.0, counts.1))
    }

    /// The noise of each output that there is a plan for and residuals determine.
    fn fit(&self, inputs: &Inputs, plans: &[Option<Plan>]) -> Result<Vec<Option<OutputNoise>>, FitError> {
        let (levels, width) = (self.levels(), inputs.width());
        let is_wanted = |plan: &Plan| plan.form != SpreadForm::Common || plan.knots.is_some();
        let open: Vec<(usize, &Plan)> = plans
            .iter()
            .enumerate()
            .filter_map(|(j, plan)| Some((j, plan.as_ref().filter(|plan| is_wanted(plan))?)))
            .collect();
        let wanted: Vec<_> = open.iter().map(|(output, plan)| (*output, plan.form, ALL)).collect();
        let spreads = self.spreads(inputs, &wanted)?;
        let mut fitted: Vec<Option<OutputNoise>> = plans.iter().map(|_| None).collect();
        for ((output, plan), spread) in open.into_iter().zip(spreads) {
            let Some(spread) = spread else { continue };
            let (mut shape, mut first_shape) = (None, None);
            if let Some(count) = plan.knots {
                // Levels of the law, then levels of the first states' own where they have one.
                let apart = usize::from(plan.first_knots.is_some());
                let is_first = |column: usize| column >= levels;
                let count_of = |column: usize| if is_first(column) { plan.first_knots.unwrap_or(count) } else { count };
                let mut sizes = vec![0; levels * (1 + apart)];
                let column = |row: &Row| row.level + if apart == 1 && row.decision.is_none() { levels } else { 0 };
                self.pass(inputs, |_, residuals, _| {
                    residuals.outputs[output].iter().for_each(|row| sizes[column(row)] += 1);
                })?;
                let places = |column: usize, n: usize| match n < count_of(column) {
                    true => vec![],
                    false => quantile_places(n, count_of(column)).into_iter().flat_map(Place::ranks).collect(),
                };
                let found = order_statistics(&sizes, places, self.room, |see| {
                    self.pass(inputs, |_, residuals, _| {
                        for row in &residuals.outputs[output] {
                            see(column(row), row.residual * (-spread.log_at(row, &residuals.inputs, width)).exp());
                        }
                    })
                })?;
                let quantiles = |column: usize| -> Option<Vec<f64>> {
                    let places = quantile_places(sizes[column], count_of(column));
                    let pairs = found[column].chunks_exact(2).zip(places);
                    let own = pairs.map(|(at, place)| place.between(at[0], at[1])).collect::<Vec<f64>>();
                    (own.len() == count_of(column)).then_some(own)
                };
                let law = |columns: std::ops::Range<usize>| {
                    let own = columns.clone().map(&quantiles).collect::<Option<Vec<_>>>()?;
                    let total: usize = sizes[columns.clone()].iter().sum();
                    let shares: Vec<f64> = sizes[columns].iter().map(|n| *n as f64 / total as f64).collect();
                    Shape::of_quantiles(own, &shares)
                };
                shape = law(0..levels);
                first_shape = (apart == 1).then(|| law(levels..2 * levels)).flatten();
                if shape.is_none() || (apart == 1 && first_shape.is_none()) {
                    continue;
                }
            }
            fitted[output] = Some(OutputNoise { kept: false, additive: false, spread, shape, first_shape });
        }
        Ok(fitted)
    }
}

/// The rows of one person after another.
fn each_person(rows: &[Row], visit: impl FnMut(&[Row])) {
    rows.chunk_by(|a, b| a.person == b.person).for_each(visit);
}

/// Standardised residuals of a group: moments, and their mass on the grid of a density.
#[derive(Debug, Clone, Default)]
struct Cell {
    gain: Moments,
    mass: Vec<f64>,
}

impl Cell {
    fn add(&mut self, e: f64) {
        self.gain.add(e);
        Density::add_mass(&mut self.mass, e, 1.0);
    }

    fn and(self, other: &Self) -> Self {
        let mut mass = self.mass;
        mass.resize(mass.len().max(other.mass.len()), 0.0);
        mass.iter_mut().zip(&other.mass).for_each(|(sum, m)| *sum += m);
        Self { gain: self.gain.and(other.gain), mass }
    }
}
