//! Worlds with what records of real people have: habits, people who leave, scores that are rounded, actions that are withheld.

use super::place::{Place, Population};
use counterfair::kernel::model::Exogenous;
use counterfair::kernel::model::noise::{Step, first_state};
use counterfair::kernel::model::worlds::{Linear, World, by_name, draw_action};
use counterfair::kernel::numeric::{Stream, fill_uniform};
use counterfair::kernel::people::Labels;
use counterfair::theory::FiniteWorld;
use counterfair::theory::finite_world::Tables;

/// A world and how people in it are treated and recorded.
pub struct Bed {
    /// Its name in tables.
    pub name: String,
    /// Means, noise and the behaviour policy.
    pub world: Box<dyn World>,
    /// Log-odds that are added to the previous action: 0 for behaviour that forgets.
    pub habit: f64,
    /// How people leave; `None` when all stay.
    pub leaving: Option<Leaving>,
    /// An action that is never taken at a level.
    pub withheld: Option<(usize, u32)>,
    /// What is added to the reward of action 1 at each further decision: 0 in a world that stays as it is.
    pub drift: f64,
    /// States are rounded to multiples of this as soon as they arise.
    pub rounded_to: Option<f64>,
}

/// logit P(leave after a decision) = constant + state · s′₁ + level · z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaving {
    pub constant: f64,
    pub state: f64,
    pub level: f64,
}

impl Bed {
    /// The bed of this name: one of those below, or a world that the command line knows, at δ = 1 (0.7 with three levels).
    pub fn named(name: &str) -> Option<Self> {
        let strength = if name == "three-levels" { 0.7 } else { 1.0 };
        Some(match name {
            "dropout" => Self::dropout(),
            "finite" => Self::finite(),
            "linear-rounded" => Self { rounded_to: Some(0.5), ..Self::plain(name, Box::new(Linear::new(strength))) },
            "control: withheld" => Self::withheld(),
            "control: drifting" => Self::drifting(),
            _ => Self::plain(name, by_name(name, strength)?),
        })
    }

    fn plain(name: &str, world: Box<dyn World>) -> Self {
        let name = name.to_string();
        Self { name, world, habit: 0.0, leaving: None, withheld: None, drift: 0.0, rounded_to: None }
    }

    /// The linear world, where about four in ten people leave within eight decisions, who depends on state and level.
    fn dropout() -> Self {
        let leaving = Some(Leaving { constant: -3.0, state: -0.7, level: 0.5 });
        Self { leaving, ..Self::plain("dropout", Box::new(Linear::new(1.0))) }
    }

    /// Four states, two unequal levels, behaviour that tends to repeat itself.
    fn finite() -> Self {
        let tables = Tables {
            points: 4,
            actions: 2,
            levels: vec![3, 2],
            noise: vec![5, 3],
            reward_noise: vec![(-0.5, 1), (0.5, 1)],
            initial: vec![0, 1],
            // By level, state and action.
            next: vec![0, 1, 0, 2, 1, 2, 1, 2, 0, 2, 1, 1, 1, 2, 2, 2],
            reward: vec![0.2, -0.3, 0.4, 0.1, 0.5, 0.9, 0.3, 1.2, -0.1, 0.3, 0.6, -0.2, 0.4, 0.8, 0.9, 0.2],
            behaviour: vec![7, 3, 6, 4, 5, 5, 4, 6, 5, 5, 4, 6, 6, 4, 3, 7],
        };
        let world = FiniteWorld::new(tables).expect("tables that fit");
        Self { habit: 1.2, ..Self::plain("finite", Box::new(world)) }
    }

    /// Control: action 1 is never taken at level 0, so nothing is known of it there.
    fn withheld() -> Self {
        Self { withheld: Some((0, 1)), ..Self::plain("control: withheld", Box::new(Linear::new(1.0))) }
    }

    /// Control: action 1 pays more at each further decision, so that decisions are not alike at all times.
    fn drifting() -> Self {
        Self { drift: 0.4, ..Self::plain("control: drifting", Box::new(Linear::new(1.0))) }
    }

    fn round(&self, state: &mut [f64]) {
        if let Some(step) = self.rounded_to {
            state.iter_mut().for_each(|s| *s = (*s / step).round_ties_even() * step);
        }
    }
}

impl Place for Bed {
    fn levels(&self) -> Labels {
        Labels::numbered(self.world.levels())
    }

    fn actions(&self) -> Labels {
        Labels::numbered(self.world.actions())
    }

    fn state_dim(&self) -> usize {
        self.world.state_dim()
    }

    fn shares(&self) -> Vec<f64> {
        self.world.level_probabilities().to_vec()
    }

    fn draw(&self, people: usize, horizon: usize, stream: Stream) -> Box<dyn Population + '_> {
        let exogenous = Exogenous::draw(&*self.world, people, horizon, stream);
        let mut staying = vec![0.0; people * horizon];
        fill_uniform(&mut stream.named("staying").rng(), &mut staying);
        Box::new(Drawn { bed: self, exogenous, staying })
    }
}

struct Drawn<'a> {
    bed: &'a Bed,
    exogenous: Exogenous,
    /// The uniform draws behind leaving, by person and decision.
    staying: Vec<f64>,
}

impl Drawn<'_> {
    fn noise(&self, i: usize, t: usize) -> &[f64] {
        let p = self.bed.world.state_dim();
        &self.exogenous.states(t)[i * p..(i + 1) * p]
    }
}

impl Population for Drawn<'_> {
    fn levels(&self) -> &[u32] {
        self.exogenous.levels()
    }

    fn horizon(&self) -> usize {
        self.exogenous.horizon()
    }

    fn coins(&self) -> &[f64] {
        self.exogenous.coins()
    }

    fn uniforms(&self, t: usize) -> &[f64] {
        self.exogenous.uniforms(t)
    }

    fn first(&self, i: usize, level: usize, state: &mut [f64]) {
        state.copy_from_slice(self.noise(i, 0));
        first_state(&*self.bed.world, level, state);
        self.bed.round(state);
    }

    fn step(&self, i: usize, level: usize, t: usize, action: u32, state: &mut [f64]) -> f64 {
        let (world, mut step, mut reward) = (&*self.bed.world, Step::default(), [self.exogenous.rewards(t)[i]]);
        step.prepare(world, level, state, &[action]);
        step.rewards(world, level, &mut reward);
        state.copy_from_slice(self.noise(i, t + 1));
        step.states(world, level, state);
        self.bed.round(state);
        reward[0] + if action == 1 { self.bed.drift * t as f64 } else { 0.0 }
    }

    fn received(&self, i: usize, t: usize, state: &[f64], before: Option<u32>) -> u32 {
        let (world, level) = (&*self.bed.world, self.exogenous.levels()[i] as usize);
        let mut odds = vec![0.0; world.actions()];
        world.behaviour(level, state, &mut odds);
        if let Some(before) = before {
            odds[before as usize] *= self.bed.habit.exp();
        }
        if let Some((_, action)) = self.bed.withheld.filter(|(at, _)| *at == level) {
            odds[action as usize] = 0.0;
        }
        let sum: f64 = odds.iter().sum();
        odds.iter_mut().for_each(|p| *p /= sum);
        draw_action(&odds, self.exogenous.uniforms(t)[i])
    }

    fn leaves(&self, i: usize, t: usize, state: &[f64]) -> bool {
        self.bed.leaving.is_some_and(|leave| {
            let level = f64::from(self.exogenous.levels()[i]);
            let score = leave.constant + leave.state * state[0] + leave.level * level;
            self.staying[i * self.exogenous.horizon() + t] < 1.0 / (1.0 + (-score).exp())
        })
    }
}
