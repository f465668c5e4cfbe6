//! A person's past as further regressors.

use super::followed::Followed;

/// States with the running means of past states and rewards beside them, and an indicator of a first decision, which has no past.
///
/// # Equation
/// ```text
/// mₜ = (t − 1)⁻¹ Σ_{j < t} (sⱼ, rⱼ),   [sₜ, mₜ − m̄, 0]  for t > 1,   [s₁, 0, 1]
/// ```
/// where m̄ is the mean of mₜ over all rows with a past. An unobserved trait of the person shows in mₜ: it then predicts rewards and states that
/// sₜ does not.
pub(super) fn with_history(people: &Followed, states: &[f64], p: usize) -> Vec<f64> {
    let (width, own) = (2 * p + 2, p + 1);
    let mut out = vec![0.0; people.sources.len() * width];
    let (mut sums, mut all, mut rows) = (vec![0.0; own], vec![0.0; own], 0.0);
    for person in 0..people.people() {
        sums.fill(0.0);
        for (t, row) in people.rows_of(person).enumerate() {
            let (state, line) = (&states[row * p..(row + 1) * p], &mut out[row * width..(row + 1) * width]);
            line[..p].copy_from_slice(state);
            if t == 0 {
                line[width - 1] = 1.0;
            } else {
                line[p..p + own].iter_mut().zip(&sums).for_each(|(m, sum)| *m = sum / t as f64);
                all.iter_mut().zip(&line[p..]).for_each(|(all, m)| *all += m);
                rows += 1.0;
            }
            sums.iter_mut().zip(state.iter().chain([&people.rewards[row]])).for_each(|(sum, x)| *sum += x);
        }
    }
    if rows > 0.0 {
        for line in out.chunks_exact_mut(width).filter(|line| line[width - 1] == 0.0) {
            line[p..p + own].iter_mut().zip(&all).for_each(|(m, all)| *m -= all / rows);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn what_is_past_is_before_the_present_state_and_reward() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        let states = [1.0, 3.0, 8.0, 100.0];
        builder
            .push(Person { id: "a", level: 0, states: &states, actions: &[0, 1, 0], rewards: &[2.0, 5.0, 77.0] })
            .unwrap();
        builder.push(Person { id: "b", level: 1, states: &[4.0, 6.0], actions: &[1], rewards: &[9.0] }).unwrap();
        let panel = builder.finish();
        let people = Followed::new(&panel, None);
        let rows = with_history(&people, &people.gather(panel.states(), 1), 1);
        // Means of the past: (1, 2), (2, 3.5), (4, 28) of a, (4, 9) of b; on average (2.75, 10.625).
        let expected = [
            [1.0, 0.0, 0.0, 1.0],
            [3.0, -1.75, -8.625, 0.0],
            [8.0, -0.75, -7.125, 0.0],
            [100.0, 1.25, 17.375, 0.0],
            [4.0, 0.0, 0.0, 1.0],
            [6.0, 1.25, -1.625, 0.0],
        ];
        assert_eq!(rows, expected.concat());
    }
}
