//! The noise of each output fitted to residuals: its spread, then the law of what is left.

use super::residuals::{Residual, ResidualSource};
use super::shape::{Shape, quantile_places};
use super::spread::{Spread, SpreadForm, SpreadTask, fit_spreads};
use super::{NoisePlan, OutputNoise};
use crate::estimate::FitError;
use crate::estimate::ranks::order_statistics;
use crate::kernel::numeric::Place;

/// The noise of each output that there is a plan for and residuals determine; a plan of one spread and no shape is additive noise.
///
/// # Errors
/// Those of people on disk.
pub(super) fn fit_plans(
    source: &ResidualSource,
    plans: &[Option<NoisePlan>],
) -> Result<Vec<Option<OutputNoise>>, FitError> {
    let is_wanted = |plan: &&NoisePlan| plan.form != SpreadForm::Common || plan.knots.is_some();
    let wanted = |(output, plan): (usize, &Option<NoisePlan>)| Some((output, plan.filter(|plan| is_wanted(&plan))?));
    let open: Vec<(usize, NoisePlan)> = plans.iter().enumerate().filter_map(wanted).collect();
    let task = |&(output, plan): &(usize, NoisePlan)| SpreadTask { output, form: plan.form, without: None };
    let spreads = fit_spreads(source, &open.iter().map(task).collect::<Vec<_>>())?;
    let mut fitted: Vec<Option<OutputNoise>> = plans.iter().map(|_| None).collect();
    for ((output, plan), spread) in open.into_iter().zip(spreads) {
        let Some(spread) = spread else { continue };
        let Some(Laws { shape, first_shape }) = laws(source, output, &spread, plan)? else { continue };
        fitted[output] = Some(OutputNoise { kept: false, additive: false, spread, shape, first_shape });
    }
    Ok(fitted)
}

/// The laws of an output's standardised residuals.
#[derive(Default)]
struct Laws {
    shape: Option<Shape>,
    first_shape: Option<Shape>,
}

/// `None` where a law is planned that residuals do not determine.
fn laws(source: &ResidualSource, output: usize, spread: &Spread, plan: NoisePlan) -> Result<Option<Laws>, FitError> {
    let levels = source.levels();
    let Some(knots) = plan.knots else { return Ok(Some(Laws::default())) };
    // Columns of numbers: levels, then levels of first states where these have a law of their own.
    let columns = if plan.first_knots.is_some() { 2 * levels } else { levels };
    let column = |residual: &Residual| {
        let is_apart = plan.first_knots.is_some() && residual.decision.is_none();
        residual.level + if is_apart { levels } else { 0 }
    };
    let knots_of = |column: usize| if column < levels { knots } else { plan.first_knots.unwrap_or(knots) };
    let quantiles = if source.weights.is_some() {
        weighted_quantiles(source, output, spread, (columns, &column), &knots_of)?
    } else {
        plain_quantiles(source, output, spread, (columns, &column), &knots_of)?
    };
    let law = |columns: &[Option<LevelQuantiles>]| {
        let own: Vec<&LevelQuantiles> = columns.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let total: f64 = own.iter().map(|own| own.weight).sum();
        let shares: Vec<f64> = own.iter().map(|own| own.weight / total).collect();
        Shape::of_quantiles(own.into_iter().map(|own| own.knots.clone()).collect(), &shares)
    };
    let shape = law(&quantiles[..levels]);
    let first_shape = plan.first_knots.and_then(|_| law(&quantiles[levels..]));
    let is_fitted = shape.is_some() && first_shape.is_some() == plan.first_knots.is_some();
    Ok(is_fitted.then_some(Laws { shape, first_shape }))
}

/// Quantiles of a level's standardised residuals, and how much these weigh.
struct LevelQuantiles {
    knots: Vec<f64>,
    weight: f64,
}

/// The columns of an output's standardised residuals: how many there are, and that of each residual.
type Columns<'a> = (usize, &'a dyn Fn(&Residual) -> usize);

/// Of residuals that count once each; `None` for a column with fewer of them than knots.
fn plain_quantiles(
    source: &ResidualSource,
    output: usize,
    spread: &Spread,
    (columns, column): Columns,
    knots: &dyn Fn(usize) -> usize,
) -> Result<Vec<Option<LevelQuantiles>>, FitError> {
    let mut sizes = vec![0; columns];
    source.each(|block| {
        block.residuals.outputs[output].iter().for_each(|residual| sizes[column(residual)] += 1);
    })?;
    let places = |at: usize, n: usize| if n < knots(at) { vec![] } else { quantile_places(n, knots(at)) };
    let ranks = |at: usize, n: usize| places(at, n).into_iter().flat_map(Place::ranks).collect();
    let found = order_statistics(&sizes, ranks, source.people.room(), |see| {
        source.each(|block| {
            for residual in &block.residuals.outputs[output] {
                see(column(residual), spread.standardised(residual, block.residuals));
            }
        })
    })?;
    let quantiles = |(at, found): (usize, &Vec<f64>)| {
        let own = found.chunks_exact(2).zip(places(at, sizes[at])).map(|(at, place)| place.between(at[0], at[1]));
        (sizes[at] >= knots(at)).then(|| LevelQuantiles { knots: own.collect(), weight: sizes[at] as f64 })
    };
    Ok(found.iter().enumerate().map(quantiles).collect())
}

/// Of residuals with the weights of their people, which are held: refits are made of people in memory.
fn weighted_quantiles(
    source: &ResidualSource,
    output: usize,
    spread: &Spread,
    (columns, column): Columns,
    knots: &dyn Fn(usize) -> usize,
) -> Result<Vec<Option<LevelQuantiles>>, FitError> {
    let mut held: Vec<Vec<(f64, f64)>> = vec![vec![]; columns];
    source.each(|block| {
        for residual in &block.residuals.outputs[output] {
            let weight = block.weight(residual);
            if weight > 0.0 {
                held[column(residual)].push((spread.standardised(residual, block.residuals), weight));
            }
        }
    })?;
    let quantiles = |(at, mut values): (usize, Vec<(f64, f64)>)| {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let weight = values.iter().map(|(_, w)| w).sum();
        let own = || super::shape::weighted_quantiles(&values, knots(at));
        (values.len() >= knots(at)).then(|| LevelQuantiles { knots: own(), weight })
    };
    Ok(held.into_iter().enumerate().map(quantiles).collect())
}
