//! The parity gap at the first decision: a lower bound of unfairness that assumes no mechanism.

use crate::kernel::learn::Agent;
use crate::kernel::people::Panel;
use statrs::distribution::{ContinuousCDF, Normal};

/// How far groups' rates of actions are apart at the first decision.
///
/// # Equation
/// ```text
/// G = max_{z, z′} ½ Σₐ |P(A₁ = a | Z = z) − P(A₁ = a | Z = z′)|  ≤  max_{z, z′} P(A₁^z ≠ A₁^{z′})
/// ```
/// # Assumptions
/// Nobody's level has a cause in common with their first state (Z is a root). Nothing is assumed about noise: whatever joint law the
/// worlds of a person have, decisions differ at least this often (a coupling cannot do better), and some law attains it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ParityGap {
    /// G of the people judged.
    pub estimate: f64,
    /// Where G of the population is, with the confidence asked for.
    pub interval: (f64, f64),
    /// The levels that attain the estimate.
    pub pair: (usize, usize),
}

/// The gap of an agent on the people of a panel.
///
/// # Precision
/// Newcombe's interval for a difference of two proportions, by Bonferroni over pairs of levels and actions; with two levels and two
/// actions there is one difference and nothing to correct. Action probabilities of random policies vary less than proportions do, so
/// the interval is conservative for them. Only people with a decision count. `coins` are one draw a person.
pub fn parity_gap(panel: &Panel, agent: &dyn Agent, coins: &[f64], confidence: f64) -> ParityGap {
    let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), agent.actions());
    let people: Vec<usize> = (0..panel.people()).filter(|&i| !panel.decisions_of(i).is_empty()).collect();
    let own: Vec<u32> = people.iter().map(|&i| panel.level_codes()[i]).collect();
    let states: Vec<f64> = people.iter().flat_map(|&i| panel.person(i).states[..p].to_vec()).collect();
    let coins: Vec<f64> = people.iter().map(|&i| coins[i]).collect();
    let mut probabilities = vec![0.0; people.len() * actions];
    if !people.is_empty() {
        agent.probabilities(&mut agent.begin(&own, &states, &coins), &mut probabilities);
    }
    parity_gap_of(&own, levels, &probabilities, actions, confidence)
}

/// The gap of action probabilities that are known: those of each person in turn, |A| numbers each, beside the person's level.
pub fn parity_gap_of(own: &[u32], levels: usize, probabilities: &[f64], actions: usize, confidence: f64) -> ParityGap {
    let (mut sums, mut counts) = (vec![0.0; levels * actions], vec![0.0; levels]);
    for (row, &z) in probabilities.chunks_exact(actions).zip(own) {
        counts[z as usize] += 1.0;
        sums[z as usize * actions..].iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
    }
    gap(&sums, &counts, actions, confidence)
}

/// The gap from sums of action probabilities by level and numbers of people.
fn gap(sums: &[f64], counts: &[f64], actions: usize, confidence: f64) -> ParityGap {
    let levels = counts.len();
    let pairs: Vec<(usize, usize)> = (0..levels)
        .flat_map(|a| (a + 1..levels).map(move |b| (a, b)))
        .filter(|&(a, b)| counts[a] > 0.0 && counts[b] > 0.0)
        .collect();
    let differences = pairs.len() * if actions == 2 { 1 } else { actions };
    let share = 1.0 - (1.0 - confidence) / (2.0 * differences.max(1) as f64);
    let z = Normal::standard().inverse_cdf(share);
    let rate = |level: usize, action: usize| sums[level * actions + action] / counts[level];
    let mut found = ParityGap { estimate: 0.0, interval: (0.0, 0.0), pair: *pairs.first().unwrap_or(&(0, 0)) };
    if pairs.is_empty() {
        found.interval.1 = if levels > 1 { 1.0 } else { 0.0 };
    }
    for (a, b) in pairs {
        let (mut distance, mut high) = (0.0, 0.0);
        for action in 0..actions {
            let difference = rate(a, action) - rate(b, action);
            let (low, up) = newcombe(rate(a, action), counts[a], rate(b, action), counts[b], z);
            distance += 0.5 * difference.abs();
            high += 0.5 * low.abs().max(up.abs());
            // The distance is at least any single difference.
            found.interval.0 = found.interval.0.max(low.max(-up));
        }
        found.interval.1 = f64::max(found.interval.1, high).min(1.0);
        if distance > found.estimate {
            (found.estimate, found.pair) = (distance, (a, b));
        }
    }
    found
}

/// Newcombe's interval for p − q from Wilson's intervals of each.
fn newcombe(p: f64, n: f64, q: f64, m: f64, z: f64) -> (f64, f64) {
    let (low_p, high_p) = wilson(p, n, z);
    let (low_q, high_q) = wilson(q, m, z);
    (p - q - (p - low_p).hypot(high_q - q), p - q + (high_p - p).hypot(q - low_q))
}

/// Wilson's interval for a proportion.
pub(crate) fn wilson(p: f64, n: f64, z: f64) -> (f64, f64) {
    let scale = 1.0 + z * z / n;
    let middle = (p + z * z / (2.0 * n)) / scale;
    let half = z / scale * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    (middle - half, middle + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcombes_interval_is_that_of_his_worked_example() {
        // Newcombe (1998), table II, method 10: 56/70 against 48/80 has 0.0524 to 0.3339.
        let (low, high) = newcombe(56.0 / 70.0, 70.0, 48.0 / 80.0, 80.0, 1.959_963_984_540_054);
        assert!((low - 0.0524).abs() < 5e-5 && (high - 0.3339).abs() < 5e-5, "{low}, {high}");
        // And 0/10 against 10/10, which no standard error sees: table II (f), −1 to −0.6075 with the signs turned.
        let (low, high) = newcombe(1.0, 10.0, 0.0, 10.0, 1.959_963_984_540_054);
        assert!((low - 0.6075).abs() < 5e-5 && high <= 1.0 + 1e-12, "{low}, {high}");
    }

    #[test]
    fn the_gap_of_two_actions_is_one_difference() {
        let found = gap(&[14.0, 56.0, 32.0, 48.0], &[70.0, 80.0], 2, 0.95);
        assert!((found.estimate - 0.2).abs() < 1e-12);
        assert!((found.interval.0 - 0.0524).abs() < 5e-5 && (found.interval.1 - 0.3339).abs() < 5e-5, "{found:?}");
        // The order of levels does not matter.
        let turned = gap(&[32.0, 48.0, 14.0, 56.0], &[80.0, 70.0], 2, 0.95);
        assert!((turned.interval.0 - found.interval.0).abs() < 1e-12, "{turned:?}");
    }

    #[test]
    fn the_gap_of_three_actions_is_the_distance_of_their_rates() {
        // Rates (½, ¼, ¼), (¼, ¼, ½) and (½, ½, 0): distances ¼, ¼ and ½.
        let sums = [200.0, 100.0, 100.0, 50.0, 50.0, 100.0, 400.0, 400.0, 0.0];
        let found = gap(&sums, &[400.0, 200.0, 800.0], 3, 0.9);
        assert!((found.estimate - 0.5).abs() < 1e-12 && found.pair == (1, 2), "{found:?}");
        assert!(0.3 < found.interval.0 && found.interval.0 < 0.5 && 0.5 < found.interval.1, "{found:?}");
    }

    #[test]
    fn equal_rates_leave_zero_in_the_interval_and_an_empty_level_says_nothing() {
        let found = gap(&[20.0, 10.0, 40.0, 20.0], &[30.0, 60.0], 2, 0.95);
        assert!(found.estimate < 1e-12 && found.interval.0 == 0.0 && found.interval.1 > 0.1, "{found:?}");
        assert_eq!(gap(&[20.0, 10.0, 0.0, 0.0], &[30.0, 0.0], 2, 0.95).interval, (0.0, 1.0));
        assert_eq!(gap(&[20.0, 10.0], &[30.0], 2, 0.95).interval, (0.0, 0.0));
    }
}
