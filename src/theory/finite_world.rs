//! Worlds with finitely many states and finite noise, whose every path can be listed: where exact answers come from.

use crate::kernel::model::worlds::World;
use crate::kernel::model::{Exogenous, Mechanism};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// The numbers that make a [`FiniteWorld`]. Laws are counts: a value with count c has probability c / Σ counts, so that
/// a finite population can have them exactly.
#[derive(Debug, Clone, PartialEq)]
pub struct Tables {
    /// States are 0, 1, …, points − 1.
    pub points: usize,
    /// |A|.
    pub actions: usize,
    /// The law of Z, one count a level.
    pub levels: Vec<u32>,
    /// The law of U ∈ {0, 1, …}, one count a value.
    pub noise: Vec<u32>,
    /// The law of Uᴿ: values and their counts.
    pub reward_noise: Vec<(f64, u32)>,
    /// m(z), one point a level.
    pub initial: Vec<u32>,
    /// μₛ(s, a, z), one point for each level, state and action, in this order: `[(z * points + s) * actions + a]`.
    pub next: Vec<u32>,
    /// μᵣ(s, a, z), laid out as `next`.
    pub reward: Vec<f64>,
    /// The behaviour policy as counts, laid out as `next`; every row has the same sum.
    pub behaviour: Vec<u32>,
}

/// Why tables do not make a world.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TablesError {
    /// A table has another number of entries than the sizes ask for.
    #[error("the table `{table}` has {found} entries where {needed} are needed")]
    Shape {
        /// The field of [`Tables`].
        table: &'static str,
        /// Entries needed.
        needed: usize,
        /// Entries given.
        found: usize,
    },
    /// The counts of a law add up to 0.
    #[error("the law `{0}` has no mass")]
    NoMass(&'static str),
    /// mean + u ≥ points for a noise value u.
    #[error("from mean {mean} the noise {noise} leads out of the {points} points")]
    OffTheLattice {
        /// m(z) or μₛ(s, a, z).
        mean: u32,
        /// The largest noise value.
        noise: usize,
        /// Points.
        points: usize,
    },
    /// A row of the behaviour policy sums to something else than the first row.
    #[error("row {row} of the behaviour policy sums to {sum} and not to {first}")]
    Behaviour {
        /// The row.
        row: usize,
        /// Its sum.
        sum: u32,
        /// The sum of row 0.
        first: u32,
    },
    /// A reward or its noise is infinite or not a number.
    #[error("{0} is not a finite reward")]
    NotFinite(f64),
}

/// A decision process on the points 0, 1, …, with additive noise on finitely many values (`asm:additive` holds exactly).
///
/// # Equation
/// ```text
/// S₁ = m(Z) + U₁,   Sₜ₊₁ = μₛ(Sₜ, Aₜ, Z) + Uₜ₊₁,   Rₜ = μᵣ(Sₜ, Aₜ, Z) + Uᴿₜ,   U ∈ {0, 1, …, u_max}
/// ```
/// Between points the means are interpolated linearly, beyond them they stay at the last: estimated states may fall there.
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteWorld {
    tables: Tables,
    initial: Vec<[f64; 1]>,
    level_probabilities: Vec<f64>,
    noise_sd: [f64; 1],
    reward_noise_sd: f64,
}

impl FiniteWorld {
    /// The most people a [`census`](Self::census) may have.
    pub const CENSUS_LIMIT: usize = 1 << 22;

    /// Checks the tables.
    ///
    /// # Errors
    /// [`TablesError`] when sizes do not fit, a law is empty, or a step can leave the lattice.
    pub fn new(tables: Tables) -> Result<Self, TablesError> {
        let cells = tables.levels.len() * tables.points * tables.actions;
        let shape = |table, needed, found| {
            if needed == found { Ok(()) } else { Err(TablesError::Shape { table, needed, found }) }
        };
        shape("initial", tables.levels.len(), tables.initial.len())?;
        shape("next", cells, tables.next.len())?;
        shape("reward", cells, tables.reward.len())?;
        shape("behaviour", cells, tables.behaviour.len())?;
        let reward_counts: Vec<u32> = tables.reward_noise.iter().map(|(_, count)| *count).collect();
        let mass =
            |law, counts: &[u32]| if counts.iter().sum::<u32>() > 0 { Ok(()) } else { Err(TablesError::NoMass(law)) };
        mass("levels", &tables.levels)?;
        mass("noise", &tables.noise)?;
        mass("reward_noise", &reward_counts)?;
        mass("behaviour", &tables.behaviour)?;
        let noise = tables.noise.iter().rposition(|count| *count > 0).unwrap_or(0);
        if let Some(&mean) =
            tables.initial.iter().chain(&tables.next).find(|mean| **mean as usize + noise >= tables.points)
        {
            return Err(TablesError::OffTheLattice { mean, noise, points: tables.points });
        }
        let sums = || tables.behaviour.chunks_exact(tables.actions).map(|row| row.iter().sum::<u32>());
        let first = sums().next().unwrap_or(0);
        if let Some((row, sum)) = sums().enumerate().find(|(_, sum)| *sum != first) {
            return Err(TablesError::Behaviour { row, sum, first });
        }
        let noises = tables.reward_noise.iter().map(|(value, _)| value);
        if let Some(&value) = tables.reward.iter().chain(noises).find(|r| !r.is_finite()) {
            return Err(TablesError::NotFinite(value));
        }
        let all: u32 = tables.levels.iter().sum();
        let states = tables.noise.iter().enumerate().map(|(u, &count)| (u as f64, count));
        Ok(Self {
            initial: tables.initial.iter().map(|&m| [f64::from(m)]).collect(),
            level_probabilities: tables.levels.iter().map(|&c| f64::from(c) / f64::from(all)).collect(),
            noise_sd: [deviation(states)],
            reward_noise_sd: deviation(tables.reward_noise.iter().copied()),
            tables,
        })
    }

    /// The tables it was made from.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// μₛ(s, a, z) as a point.
    pub fn next_point(&self, level: usize, point: usize, action: usize) -> usize {
        self.tables.next[self.cell(level, point, action)] as usize
    }

    /// μᵣ(s, a, z).
    pub fn mean_reward(&self, level: usize, point: usize, action: usize) -> f64 {
        self.tables.reward[self.cell(level, point, action)]
    }

    /// The values of U that occur, with their probabilities.
    pub fn noise_law(&self) -> impl Iterator<Item = (usize, f64)> + Clone {
        let all: u32 = self.tables.noise.iter().sum();
        let law = self.tables.noise.iter().enumerate().filter(|(_, count)| **count > 0);
        law.map(move |(u, &count)| (u, f64::from(count) / f64::from(all)))
    }

    fn cell(&self, level: usize, point: usize, action: usize) -> usize {
        (level * self.tables.points + point) * self.tables.actions + action
    }

    /// Everybody there could be: a population of finitely many people in which every law holds *exactly*.
    ///
    /// Each combination of level, state noise at T + 1 times, reward noise at T times, action draws at T times and coin appears as
    /// often as its probability says. Action draws are (j + ½)/`uniforms`, coins (j + ½)/`coins`: an action whose
    /// probability is a multiple of 1/`uniforms` is then taken that often. A mean over the census is an expectation, so an
    /// unbiased estimator gives its estimand on it to the last digits, and a biased one shows its bias.
    ///
    /// `None` when that would be more than [`CENSUS_LIMIT`](Self::CENSUS_LIMIT) people, or a count is 0.
    pub fn census(&self, horizon: usize, uniforms: usize, coins: usize) -> Option<Exogenous> {
        let noise = repeated(self.tables.noise.iter().enumerate().map(|(u, &count)| (u as f64, count)));
        let reward_noise = repeated(self.tables.reward_noise.iter().copied());
        let levels = repeated(self.tables.levels.iter().enumerate().map(|(z, &count)| (z as f64, count)));
        let midpoints = |n: usize| -> Vec<f64> { (0..n).map(|j| (j as f64 + 0.5) / n as f64).collect() };
        // One digit for each exogenous variable of a person; a person is a number in this mixed radix.
        let mut digits = vec![levels, midpoints(coins)];
        digits.extend(std::iter::repeat_n(noise, horizon + 1));
        digits.extend(std::iter::repeat_n(reward_noise, horizon));
        digits.extend(std::iter::repeat_n(midpoints(uniforms), horizon));
        let people = digits.iter().try_fold(1usize, |product, digit| product.checked_mul(digit.len()))?;
        if people == 0 || people > Self::CENSUS_LIMIT {
            return None;
        }
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(digits.len());
        let mut stride = 1;
        for digit in &digits {
            columns.push((0..people).map(|i| digit[i / stride % digit.len()]).collect());
            stride *= digit.len();
        }
        let mut columns = columns.into_iter();
        let mut take = |count: usize| columns.by_ref().take(count).flatten().collect::<Vec<f64>>();
        let levels = take(1).iter().map(|z| *z as u32).collect();
        let (coins, states, rewards, uniforms) = (take(1), take(horizon + 1), take(horizon), take(horizon));
        Some(Exogenous::given(levels, coins, states, rewards, uniforms, 1))
    }
}

/// Standard deviation of a law given by counts.
fn deviation(law: impl Iterator<Item = (f64, u32)> + Clone) -> f64 {
    let all: f64 = law.clone().map(|(_, count)| f64::from(count)).sum();
    let mean = law.clone().map(|(x, count)| x * f64::from(count)).sum::<f64>() / all;
    (law.map(|(x, count)| (x - mean) * (x - mean) * f64::from(count)).sum::<f64>() / all).sqrt()
}

/// Each value as often as its count says.
fn repeated(law: impl Iterator<Item = (f64, u32)>) -> Vec<f64> {
    law.flat_map(|(x, count)| std::iter::repeat_n(x, count as usize)).collect()
}

impl Mechanism for FiniteWorld {
    fn state_dim(&self) -> usize {
        1
    }

    fn levels(&self) -> usize {
        self.tables.levels.len()
    }

    fn actions(&self) -> usize {
        self.tables.actions
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let last = self.tables.points - 1;
        for (((&s, &a), s_next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let s = s.clamp(0.0, last as f64);
            let below = (s as usize).min(last);
            let (share, above) = (s - below as f64, (below + 1).min(last));
            let (low, high) = (self.cell(level, below, a as usize), self.cell(level, above, a as usize));
            let between = |low: f64, high: f64| low + share * (high - low);
            *s_next = between(f64::from(self.tables.next[low]), f64::from(self.tables.next[high]));
            *r = between(self.tables.reward[low], self.tables.reward[high]);
        }
    }
}

impl World for FiniteWorld {
    fn name(&self) -> &'static str {
        "finite"
    }

    fn level_probabilities(&self) -> &[f64] {
        &self.level_probabilities
    }

    fn behaviour(&self, level: usize, state: &[f64], probabilities: &mut [f64]) {
        let last = self.tables.points - 1;
        let point = (state[0].round().max(0.0) as usize).min(last);
        let counts = &self.tables.behaviour[self.cell(level, point, 0)..][..self.tables.actions];
        let all: u32 = counts.iter().sum();
        for (p, &count) in probabilities.iter_mut().zip(counts) {
            *p = f64::from(count) / f64::from(all);
        }
    }

    fn state_noise_sd(&self) -> &[f64] {
        &self.noise_sd
    }

    fn reward_noise_sd(&self) -> f64 {
        self.reward_noise_sd
    }

    fn draw_state_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        draw(&repeated(self.tables.noise.iter().enumerate().map(|(u, &count)| (u as f64, count))), rng, out);
    }

    fn draw_reward_noise(&self, rng: &mut Pcg64Mcg, out: &mut [f64]) {
        draw(&repeated(self.tables.reward_noise.iter().copied()), rng, out);
    }
}

fn draw(values: &[f64], rng: &mut impl Rng, out: &mut [f64]) {
    out.fill_with(|| values[crate::kernel::numeric::uniform_index(rng, values.len())]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Tables {
        Tables {
            points: 4,
            actions: 1,
            levels: vec![1],
            noise: vec![2, 0, 3],
            reward_noise: vec![(0.5, 1)],
            initial: vec![1],
            next: vec![0, 1, 0, 1],
            reward: vec![0.25, 0.5, -0.75, 2.0],
            behaviour: vec![1; 4],
        }
    }

    #[test]
    fn noise_that_never_occurs_is_not_in_the_law() {
        let world = FiniteWorld::new(tables()).unwrap();
        assert_eq!(world.noise_law().collect::<Vec<_>>(), [(0, 0.4), (2, 0.6)]);
    }

    #[test]
    fn a_census_beyond_its_limit_is_not_taken() {
        let world = FiniteWorld::new(Tables { noise: vec![1], ..tables() }).unwrap();
        // Everything else has one value, so there is a person for each coin and action draw.
        assert_eq!(world.census(1, 2, 3).map(|all| all.people()), Some(6));
        assert!(world.census(1, 1 << 11, 1 << 12).is_none(), "twice {}", FiniteWorld::CENSUS_LIMIT);
    }
}
