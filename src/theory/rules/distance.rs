//! How far two readings of the same people are apart.

use crate::kernel::numeric::Estimate;
use crate::kernel::preprocess::{Experience, View};

/// At each time, the mean over people of the largest difference between what two preprocessors made of the same panel.
///
/// # Equation
/// ```text
/// dₜ = mean over i of ‖s̃ᵢₜ − s̃′ᵢₜ‖∞
/// ```
/// Against the Oracle this is the error of counterfactual states, which `thm:regret` and `thm:cf_metric` call ε, on average instead of at
/// worst.
///
/// # Panics
/// If the two were not made from the same panel, or differ in width.
pub fn distance_by_time<V: View>(a: &Experience<V>, b: &Experience<V>) -> Vec<Estimate> {
    assert_eq!(
        (a.people(), a.width(), a.views().len()),
        (b.people(), b.width(), b.views().len()),
        "views of one panel"
    );
    let width = a.width();
    let mut by_time: Vec<Vec<f64>> = Vec::new();
    for i in 0..a.people() {
        for (t, row) in a.views_of(i).enumerate() {
            let rows = row * width..(row + 1) * width;
            let pairs = a.views()[rows.clone()].iter().zip(&b.views()[rows]);
            let largest = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            match by_time.get_mut(t) {
                Some(distances) => distances.push(largest),
                None => by_time.push(vec![largest]),
            }
        }
    }
    by_time.iter().map(|distances| Estimate::of(distances)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, World, simulate};
    use crate::kernel::numeric::Stream;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::Unaware;
    use crate::kernel::preprocess::{Oracle, Sequential, SingleStage, batch};

    #[test]
    fn true_means_are_at_distance_zero_from_the_oracle_and_single_stage_means_are_not() {
        let world = ThreeLevels::new(0.8);
        let panel = simulate(&world, &Exogenous::draw(&world, 50, 4, Stream::new(3)));
        let weights = world.level_probabilities().to_vec();
        let oracle = batch(&Oracle::new(world.clone(), weights.clone()), &panel).unwrap();
        let exact = distance_by_time(&batch(&Sequential::new(world.clone(), weights), &panel).unwrap(), &oracle);
        assert!(exact.len() == 5 && exact.iter().all(|d| d.mean < 1e-13 && d.count == 50), "{exact:?}");
        let single = batch(&SingleStage::fit(&panel).unwrap(), &panel).unwrap();
        assert!(distance_by_time(&single, &oracle).iter().all(|d| d.mean > 0.01));
    }

    #[test]
    fn the_largest_difference_of_each_person_is_averaged_at_each_time() {
        let made = |a: [f64; 6], b: [f64; 4]| {
            let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), 2).unwrap();
            builder.push(Person { id: "a", level: 0, states: &a, actions: &[0; 3], rewards: &[0.0; 3] }).unwrap();
            builder.push(Person { id: "b", level: 0, states: &b, actions: &[0; 2], rewards: &[0.0; 2] }).unwrap();
            batch(&Unaware { state_dim: 2 }, &builder.finish()).unwrap()
        };
        let one = made([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0]);
        let other = made([1.5, 2.25, 3.0, 2.0, 5.0, 6.125], [7.0, 9.0, 10.0, 10.5]);
        // ½ and 1, then 2 and 1, then an eighth of the first person alone.
        let found = distance_by_time(&one, &other);
        assert_eq!(found.iter().map(|d| (d.mean, d.count)).collect::<Vec<_>>(), [(0.75, 2), (1.5, 2), (0.125, 1)]);
    }
}
