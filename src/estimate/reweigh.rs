//! The regressions of a table once more, with a weight for each decision: where noise spreads, a mean is known less well.

use super::design::Design;
use super::groups::Group;
use super::regression::{Coefficients, MeanTable, penalised, resolve};
use super::terms::blocks;
use super::{FitError, LevelCode, Pooling};
use crate::kernel::numeric::least_squares;
use crate::kernel::people::Panel;

/// Fits the outputs that have weights (one a decision of the panel) again, on the same functions and as smoothly as before.
///
/// # Equation
/// ```text
/// min Σ w (y − f)² + λ n ∫ f″²,   weights scaled to mean 1 over the n rows of each regression
/// ```
pub(super) fn reweigh(
    panel: &Panel,
    groups: &[Group],
    (pooling, code, values): (Pooling, LevelCode, &[f64]),
    table: MeanTable,
    weights: &[Option<Vec<f64>>],
) -> Result<MeanTable, FitError> {
    let (levels, actions) = (panel.levels().len(), panel.action_names().len());
    let mut stored = Coefficients::from(table);
    for Group { only, basis, smoothing } in groups {
        let blocks = blocks(basis, pooling, code, actions, levels);
        let design = Design { panel, basis, blocks: &blocks, values, only: *only };
        for (output, weights) in weights.iter().enumerate() {
            let Some(weights) = weights else { continue };
            let penalty = smoothing.get(output).map_or(0.0, |s| s.penalty);
            let Some(solution) = solve(&design, output, weights, penalty)? else { continue };
            for level in design.levels() {
                for action in 0..actions {
                    let factor = |block: &super::terms::Block| block.factor(action, level, values[level]);
                    stored.replace(level, action, output, &resolve(&solution, &blocks, basis.count(), 1, factor));
                }
            }
        }
    }
    Ok(stored.into())
}

/// The coefficients of one output; `None` when nobody shows it.
fn solve(design: &Design, output: usize, weights: &[f64], penalty: f64) -> Result<Option<Vec<f64>>, FitError> {
    let (p, columns) = (design.panel.state_dim(), design.columns());
    let mut functions = vec![0.0; design.basis.count()];
    let (mut rows, mut targets, mut own_weights) = (Vec::new(), Vec::new(), Vec::new());
    for (i, person) in design.people() {
        let start = design.panel.decisions_of(i).start;
        for (t, &action) in person.actions.iter().enumerate() {
            let target = if output == p { Some(&person.rewards[t]) } else { person.states.get((t + 1) * p + output) };
            let Some(target) = target else { continue };
            let state = &person.states[t * p..(t + 1) * p];
            design.push_row(person.level as usize, state, action, &mut functions, &mut rows);
            targets.push(*target);
            own_weights.push(weights[start + t]);
        }
    }
    let n = targets.len();
    if n == 0 {
        return Ok(None);
    }
    let mean = own_weights.iter().sum::<f64>() / n as f64;
    for ((row, target), weight) in rows.chunks_exact_mut(columns).zip(&mut targets).zip(&own_weights) {
        let root = (weight / mean).sqrt();
        row.iter_mut().for_each(|x| *x *= root);
        *target *= root;
    }
    if penalty > 0.0 {
        let found = penalised(design, &rows, &targets, &[penalty])?;
        return Ok(found.into_iter().next().map(|(coefficients, _)| coefficients));
    }
    Ok(Some(least_squares(&rows, &targets, columns, 1)?.coefficients))
}

#[cfg(test)]
mod tests {
    use super::super::{Basis, FitSettings, fit};
    use super::*;
    use crate::kernel::model::Mechanism;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// One action; s′ is a line at even people and another at odd ones, so that weights decide between the two.
    fn panel() -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 1).unwrap();
        for i in 0..20usize {
            let s = (1.9 * i as f64).sin();
            let next = if i % 2 == 0 { 1.0 + 0.5 * s } else { -2.0 - 0.7 * s };
            let person =
                Person { id: &i.to_string(), level: 0, states: &[s, next], actions: &[0], rewards: &[3.0 * s] };
            builder.push(person).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn people_of_weight_zero_are_not_there_and_outputs_without_weights_stay() {
        let panel = panel();
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let values = [0.0];
        let (pooling, groups) =
            super::super::groups::groups(&panel, settings.basis, settings.pooling, settings.code, &values).unwrap();
        let (table, _) = super::super::regression::fit_table(&panel, &groups, pooling, settings.code, &values).unwrap();
        let weights: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 4.0 } else { 0.0 }).collect();
        let plan = (pooling, settings.code, &values[..]);
        let found = reweigh(&panel, &groups, plan, table.clone(), &[Some(weights), None]).unwrap();
        let at = |table: &MeanTable, s: f64| {
            let (mut next, mut reward) = ([0.0], [0.0]);
            table.mean(0, &[s], &[0], &mut next, &mut reward);
            (next[0], reward[0])
        };
        // Ten rows of size one.
        assert!((at(&found, 0.4).0 - 1.2).abs() < 1e-13 && (at(&found, 0.4).1 - 1.2).abs() < 1e-13);
        // Equal weights change nothing.
        let equal = reweigh(&panel, &groups, plan, table.clone(), &[Some(vec![7.0; 20]), None]).unwrap();
        assert!((at(&equal, 0.4).0 - at(&table, 0.4).0).abs() < 1e-13);
        let fitted = fit(&panel, &settings).unwrap();
        let (mut next, mut reward) = ([0.0], [0.0]);
        fitted.mean(0, &[0.4], &[0], &mut next, &mut reward);
        assert!((next[0] - 1.2).abs() > 0.5, "the two lines together are neither");
    }
}
