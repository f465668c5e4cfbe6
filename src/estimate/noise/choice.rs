//! Which rung: by a proper score over people who were left out, the simpler one unless the other is better by a standard error.

use super::density::Density;
use super::report::{Candidate, Score};
use super::residuals::{Residual, ResidualSource, WeightedResiduals};
use super::shape::knots;
use super::spread::{Spread, SpreadForm, SpreadTask, fit_spreads};
use super::{NoiseChoice, NoisePlan};
use crate::estimate::FitError;
use crate::estimate::ranks::order_statistics;
use crate::kernel::numeric::{Estimate, Moments, Place, Stream, uniform_index};

/// Folds of people.
pub(super) const FOLDS: usize = 5;

/// The fold of each person: a hash of seed and id, so that the order of people does not matter.
pub(super) fn folds(ids: &[String], stream: Stream) -> Vec<usize> {
    let stream = stream.named("noise");
    ids.iter().map(|id| uniform_index(&mut stream.named(id).rng(), FOLDS)).collect()
}

/// What to fit for one output, and the scores that decided; no plan where residuals do not determine one.
pub(super) struct Choice {
    pub plan: Option<NoisePlan>,
    pub scores: Vec<Score>,
}

/// What to fit for each open output.
pub(super) fn plans(source: &ResidualSource, open: &[usize], choice: NoiseChoice) -> Result<Vec<Choice>, FitError> {
    let least = if choice == NoiseChoice::Scale { SpreadForm::PerLevel } else { SpreadForm::Common };
    let forms = forms(source, open, least)?;
    let plan = |form: SpreadForm| Some(NoisePlan { form, knots: None, first_knots: None });
    let mut plans: Vec<Choice> = forms.into_iter().map(|(form, scores)| Choice { plan: plan(form), scores }).collect();
    if choice == NoiseChoice::Scale || open.is_empty() {
        return Ok(plans);
    }
    let task = |(&output, choice): (&usize, &Choice)| {
        let form = choice.plan.map_or(least, |plan| plan.form);
        SpreadTask { output, form, without: None }
    };
    let tasks: Vec<SpreadTask> = open.iter().zip(&plans).map(task).collect();
    for ((&output, spread), Choice { plan, scores }) in open.iter().zip(fit_spreads(source, &tasks)?).zip(&mut plans) {
        let Some((own, spread)) = plan.as_mut().zip(spread) else {
            *plan = None;
            continue;
        };
        let shapes = Shapes { source, output, spread: &spread };
        let (by_time, by_level, counts) = shapes.choose(scores)?;
        if by_level || choice == NoiseChoice::Rank {
            let levels = source.levels();
            own.knots = Some(knots(if by_time { counts.later } else { counts.first + counts.later }, levels));
            own.first_knots = by_time.then(|| knots(counts.first, levels));
        }
    }
    Ok(plans)
}

/// The form of each open output's σ: one for all, by level, or by level, state and action.
///
/// # Equation
/// ```text
/// score of a person = −Σ (log σ̂₋f + r²/(2 σ̂₋f²))        (Dawid–Sebastiani; σ̂₋f fitted without the person's fold)
/// ```
fn forms(
    source: &ResidualSource,
    open: &[usize],
    least: SpreadForm,
) -> Result<Vec<(SpreadForm, Vec<Score>)>, FitError> {
    let forms = [SpreadForm::Common, SpreadForm::PerLevel, SpreadForm::LogLinear].into_iter();
    let forms: Vec<SpreadForm> = forms.filter(|form| *form >= least).collect();
    let each = |&output: &usize| {
        let of_form = move |form| (0..FOLDS).map(move |fold| SpreadTask { output, form, without: Some(fold) });
        forms.clone().into_iter().flat_map(of_form)
    };
    let spreads = fit_spreads(source, &open.iter().flat_map(each).collect::<Vec<_>>())?;
    // For each output and form the spreads without each fold, if all are determined.
    let by_form: Vec<Option<Vec<&Spread>>> =
        spreads.chunks_exact(FOLDS).map(|folds| folds.iter().map(Option::as_ref).collect()).collect();
    let mut gains: Vec<Gains> = open.iter().map(|_| Gains::new(forms.len())).collect();
    source.each(|block| {
        for ((&output, fitted), gains) in open.iter().zip(by_form.chunks_exact(forms.len())).zip(&mut gains) {
            each_person(block, output, |residuals| {
                let score = |spreads: &Option<Vec<&Spread>>| {
                    let spread = spreads.as_ref()?[block.residuals.folds[residuals[0].person]];
                    Some(residuals.iter().fold(0.0, |score, residual| {
                        let η = spread.log_at(residual, block.residuals);
                        score - (η + 0.5 * residual.value * residual.value * (-2.0 * η).exp())
                    }))
                };
                gains.add(&fitted.iter().map(score).collect::<Vec<_>>());
            });
        }
    })?;
    let candidate = |form| match form {
        SpreadForm::Common => Candidate::OneSpread,
        SpreadForm::PerLevel => Candidate::SpreadByLevel,
        SpreadForm::LogLinear => Candidate::SpreadByState,
    };
    let choose = |(fitted, gains): (&[Option<Vec<&Spread>>], &Gains)| {
        let (mut best, mut scores) = (0, vec![]);
        if fitted[0].is_none() {
            return (least, scores);
        }
        for (at, &form) in forms.iter().enumerate().skip(1).filter(|(at, _)| fitted[*at].is_some()) {
            let gain = gains.of(best, at);
            let is_chosen = is_better(&gain);
            scores.push(Score { model: candidate(form), over: candidate(forms[best]), gain, is_chosen });
            if is_chosen {
                best = at;
            }
        }
        (forms[best], scores)
    };
    Ok(by_form.chunks_exact(forms.len()).zip(&gains).map(choose).collect())
}

/// What a person gains in score by each model over each other.
struct Gains {
    models: usize,
    moments: Vec<Moments>,
}

impl Gains {
    fn new(models: usize) -> Self {
        Self { models, moments: vec![Moments::default(); models * models] }
    }

    /// Adds a person's score under each model.
    fn add(&mut self, scores: &[Option<f64>]) {
        for (a, simple) in scores.iter().enumerate() {
            for (b, rich) in scores.iter().enumerate() {
                if let (Some(simple), Some(rich)) = (simple, rich) {
                    self.moments[a * self.models + b].add(rich - simple);
                }
            }
        }
    }

    /// The mean gain by `rich` over `simple` of people who have residuals.
    fn of(&self, simple: usize, rich: usize) -> Estimate {
        self.moments[simple * self.models + rich].estimate()
    }
}

/// Better by more than one standard error.
fn is_better(gain: &Estimate) -> bool {
    gain.mean > gain.standard_error
}

/// The residuals of one person of a block after another.
fn each_person(block: &WeightedResiduals, output: usize, visit: impl FnMut(&[Residual])) {
    block.residuals.outputs[output].chunk_by(|a, b| a.person == b.person).for_each(visit);
}

/// How standardised residuals may be put together: each group has a law of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grouping {
    All,
    ByTime,
    ByLevel,
    ByLevelAndTime,
}

impl Grouping {
    const EACH: [Self; 4] = [Self::All, Self::ByTime, Self::ByLevel, Self::ByLevelAndTime];

    fn count(self, levels: usize) -> usize {
        match self {
            Self::All => 1,
            Self::ByTime => 2,
            Self::ByLevel => levels,
            Self::ByLevelAndTime => 2 * levels,
        }
    }

    /// The first of its groups among those of all groupings.
    fn start(self, levels: usize) -> usize {
        Self::EACH.into_iter().take_while(|other| *other != self).map(|other| other.count(levels)).sum()
    }

    /// The group of a residual among those of all groupings.
    fn group(self, residual: &Residual, levels: usize) -> usize {
        let time = usize::from(residual.decision.is_some());
        self.start(levels)
            + match self {
                Self::All => 0,
                Self::ByTime => time,
                Self::ByLevel => residual.level,
                Self::ByLevelAndTime => 2 * residual.level + time,
            }
    }
}

/// How many residuals of first and of later states there are.
#[derive(Default)]
struct TimeCounts {
    first: usize,
    later: usize,
}

/// The shapes of one output's standardised residuals.
struct Shapes<'a> {
    source: &'a ResidualSource<'a>,
    output: usize,
    spread: &'a Spread,
}

impl Shapes<'_> {
    /// Whether first states have a law of their own, and whether levels do; then how many residuals there are.
    ///
    /// # Equation
    /// ```text
    /// score of a person = Σ log f̂₋f(e)        (f̂₋f a kernel density without the person's fold)
    /// ```
    fn choose(&self, scores: &mut Vec<Score>) -> Result<(bool, bool, TimeCounts), FitError> {
        let levels = self.source.levels();
        let (cells, counts) = self.cells()?;
        let densities = self.densities(&cells)?;
        let is_known = |grouping: Grouping| {
            let own = grouping.start(levels)..grouping.start(levels) + grouping.count(levels);
            (0..FOLDS).all(|fold| own.clone().all(|group| densities[fold * cells.groups + group].is_some()))
        };
        let known = Grouping::EACH.map(is_known);
        let mut gains = Gains::new(known.len());
        self.source.each(|block| {
            each_person(block, self.output, |residuals| {
                let mut found = known.map(|is_known| is_known.then_some(0.0));
                let fold = block.residuals.folds[residuals[0].person];
                for residual in residuals {
                    let e = self.spread.standardised(residual, block.residuals);
                    for (sum, grouping) in found.iter_mut().zip(Grouping::EACH) {
                        let density = &densities[fold * cells.groups + grouping.group(residual, levels)];
                        *sum = sum.zip(density.as_ref()).map(|(sum, density)| sum + density.log(e));
                    }
                }
                gains.add(&found);
            });
        })?;
        let [all, by_time, by_level, by_level_and_time] = [0, 1, 2, 3];
        if !known[all] {
            return Ok((false, false, counts));
        }
        let mut is_chosen = |simple: usize, rich: usize, model: Candidate| {
            let gain = gains.of(simple, rich);
            let is_chosen = is_better(&gain);
            scores.push(Score { model, over: Candidate::OneShape, gain, is_chosen });
            is_chosen
        };
        let is_apart = known[by_time] && is_chosen(all, by_time, Candidate::FirstApart);
        let (simple, rich) = if is_apart { (by_time, by_level_and_time) } else { (all, by_level) };
        let has_levels = known[rich] && is_chosen(simple, rich, Candidate::ShapeByLevel);
        Ok((is_apart, has_levels, counts))
    }

    /// Standardised residuals by fold and group.
    fn cells(&self) -> Result<(Cells, TimeCounts), FitError> {
        let levels = self.source.levels();
        let groups = Grouping::EACH.into_iter().map(|grouping| grouping.count(levels)).sum();
        let mut cells = Cells { groups, each: vec![Cell::default(); FOLDS * groups] };
        let mut counts = TimeCounts::default();
        self.source.each(|block| {
            for residual in &block.residuals.outputs[self.output] {
                let e = self.spread.standardised(residual, block.residuals);
                *(if residual.decision.is_some() { &mut counts.later } else { &mut counts.first }) += 1;
                let fold = block.residuals.folds[residual.person];
                for grouping in Grouping::EACH {
                    cells.each[fold * groups + grouping.group(residual, levels)].add(e);
                }
            }
        })?;
        Ok((cells, counts))
    }

    /// The density of each group without each fold, where residuals determine it.
    fn densities(&self, cells: &Cells) -> Result<Vec<Option<Density>>, FitError> {
        let (groups, levels) = (cells.groups, self.source.levels());
        let others = |at: usize| cells.without(at / groups, at % groups);
        let sizes: Vec<usize> = (0..FOLDS * groups).map(|at| others(at).moments.count).collect();
        let quartiles = |n: usize| [0.25, 0.75].map(|share| Place::of_share(n, share));
        let ranks = |_: usize, n: usize| match n {
            0 => vec![],
            _ => quartiles(n).into_iter().flat_map(Place::ranks).collect(),
        };
        let found = order_statistics(&sizes, ranks, self.source.people.room(), |see| {
            self.source.each(|block| {
                for residual in &block.residuals.outputs[self.output] {
                    let e = self.spread.standardised(residual, block.residuals);
                    let own = block.residuals.folds[residual.person];
                    for fold in (0..FOLDS).filter(|fold| *fold != own) {
                        for grouping in Grouping::EACH {
                            see(fold * groups + grouping.group(residual, levels), e);
                        }
                    }
                }
            })
        })?;
        let density = |(at, found): (usize, &Vec<f64>)| {
            let Cell { moments, mass } = others(at);
            let [lower, upper] = (moments.count > 0).then(|| quartiles(moments.count))?;
            let between = upper.between(found[2], found[3]) - lower.between(found[0], found[1]);
            Density::of_sums(moments.count as f64, moments.sd(), between, &mass)
        };
        Ok(found.iter().enumerate().map(density).collect())
    }
}

/// Standardised residuals by fold and group.
struct Cells {
    groups: usize,
    each: Vec<Cell>,
}

impl Cells {
    /// A group without a fold.
    fn without(&self, fold: usize, group: usize) -> Cell {
        let others = (0..FOLDS).filter(|f| *f != fold).map(|f| &self.each[f * self.groups + group]);
        others.fold(Cell::default(), |sum, other| sum.and(other))
    }
}

/// Standardised residuals of a group: moments, and their mass on the grid of a density.
#[derive(Debug, Clone, Default)]
struct Cell {
    moments: Moments,
    mass: Vec<f64>,
}

impl Cell {
    fn add(&mut self, e: f64) {
        self.moments.add(e);
        Density::add_mass(&mut self.mass, e);
    }

    fn and(self, other: &Self) -> Self {
        let mut mass = self.mass;
        mass.resize(mass.len().max(other.mass.len()), 0.0);
        mass.iter_mut().zip(&other.mass).for_each(|(sum, m)| *sum += m);
        Self { moments: self.moments.and(other.moments), mass }
    }
}
