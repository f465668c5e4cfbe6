//! The strict CF metric (`def:cf_policy_strict`): how often a policy would act otherwise had level *and past actions* been others.

use crate::kernel::evaluate::BLOCK;
use crate::kernel::evaluate::OneWorld;
use crate::kernel::learn::Agent;
use crate::kernel::model::{Exogenous, World};
use crate::kernel::numeric::{Estimate, Stream, uniform_index};

/// Which alternative pasts ā′ are tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alternatives {
    /// All |A|^{T−1} of them.
    Every,
    /// This many, drawn uniformly: the metric is then a lower bound of the maximum.
    Sampled(usize, Stream),
}

/// The strict CF metric and where it is attained.
#[derive(Debug, Clone, PartialEq)]
pub struct StrictUnfairness {
    /// max over z, z′ and ā′ of the mean of 1{Aₜ^{z′, ā′} ≠ Aₜ^{z, ā}}, actions sharing their uniform draw.
    pub metric: Estimate,
    /// (z, z′).
    pub levels: (usize, usize),
    /// ā′, the same for everybody; `None` when it is each person's own ā, as in `eq:cf_metric`.
    pub past: Option<Vec<u32>>,
    /// How many alternative pasts were tried, everybody's own among them.
    pub tried: usize,
}

/// More alternative pasts than can be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{actions} actions over {decisions} past decisions are more than {limit} alternative pasts; sample them")]
pub struct TooManyPasts {
    /// |A|.
    pub actions: usize,
    /// T − 1.
    pub decisions: usize,
    /// The most that are tried.
    pub limit: usize,
}

/// The most alternative pasts that [`Alternatives::Every`] tries.
pub const PASTS_LIMIT: usize = 1 << 16;

/// The strict CF metric of an agent in a known world, on given exogenous draws.
///
/// The agent is followed in the factual world, which fixes each person's own past ā. For every alternative past ā′ and level
/// z′ the world is run again on the same noise with the actions ā′, and the agent is asked there at every time. ā′ = ā is among
/// the alternatives, so the strict metric is never below the CF metric.
///
/// # Equation
/// ```text
/// max_{z, z′, ā′} (NT)⁻¹ Σᵢ Σₜ 1{ Aₜ^{Z←z′, Āₜ₋₁←ā′ₜ₋₁}(Ūᵢₜ) ≠ Aₜ^{Z←z, Āₜ₋₁←āᵢₜ₋₁}(Ūᵢₜ) }
/// ```
///
/// # Precision
/// The standard error is that of the mean at the maximiser; the maximum of noisy means leans upwards.
///
/// # Errors
/// [`TooManyPasts`] when every past was asked for and there are more than `PASTS_LIMIT`.
pub fn strict_unfairness(
    world: &dyn World,
    agent: &dyn Agent,
    exogenous: &Exogenous,
    alternatives: Alternatives,
) -> Result<StrictUnfairness, TooManyPasts> {
    let (n, levels) = (exogenous.people(), world.levels());
    let pasts = pasts(agent.actions(), exogenous.horizon().saturating_sub(1), alternatives)?;
    let factual = Factual::follow(world, agent, exogenous);
    let mut best: Option<StrictUnfairness> = None;
    let mut differ = vec![0.0; levels * n];
    for past in std::iter::once(None).chain(pasts.iter().map(Some)) {
        for other in 0..levels {
            factual.compare(world, agent, exogenous, other, past.map(Vec::as_slice), &mut differ);
            for (level, differ) in differ.chunks_exact(n).enumerate() {
                let metric = Estimate::of(differ);
                if best.as_ref().is_none_or(|best| metric.mean > best.metric.mean) {
                    best = Some(StrictUnfairness { metric, levels: (level, other), past: past.cloned(), tried: 0 });
                }
            }
        }
    }
    let none = StrictUnfairness { metric: Estimate::of(&[]), levels: (0, 0), past: None, tried: 0 };
    Ok(StrictUnfairness { tried: pasts.len() + 1, ..best.unwrap_or(none) })
}

/// The alternative pasts, each of the given length.
fn pasts(actions: usize, length: usize, alternatives: Alternatives) -> Result<Vec<Vec<u32>>, TooManyPasts> {
    match alternatives {
        Alternatives::Sampled(count, stream) => {
            let mut rng = stream.named("past").rng();
            Ok((0..count).map(|_| (0..length).map(|_| uniform_index(&mut rng, actions) as u32).collect()).collect())
        }
        Alternatives::Every => {
            let count = u32::try_from(length).ok().and_then(|length| actions.checked_pow(length));
            match count {
                Some(count) if count <= PASTS_LIMIT => Ok((0..count)
                    .map(|code| (0..length).map(|t| (code / actions.pow(t as u32) % actions) as u32).collect())
                    .collect()),
                _ => Err(TooManyPasts { actions, decisions: length, limit: PASTS_LIMIT }),
            }
        }
    }
}

/// What happened: the actions taken, and those the agent would take at each level along them.
struct Factual {
    /// By time and person.
    taken: Vec<u32>,
    /// By level, time and person.
    chosen: Vec<u32>,
}

impl Factual {
    fn follow(world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous) -> Self {
        let (n, horizon, levels) = (exogenous.people(), exogenous.horizon(), world.levels());
        let (mut taken, mut chosen) = (vec![0; horizon * n], vec![0; levels * horizon * n]);
        for first in (0..n).step_by(BLOCK) {
            let people = first..(first + BLOCK).min(n);
            let mut sides: Vec<OneWorld> =
                (0..levels).map(|k| OneWorld::begin(world, agent, exogenous, people.clone(), k)).collect();
            for t in 0..horizon {
                let now = t * n + people.start..t * n + people.end;
                for (k, side) in sides.iter_mut().enumerate() {
                    let out = &mut chosen[k * horizon * n..][now.clone()];
                    agent.act(&mut side.memory, &exogenous.uniforms(t)[people.clone()], out);
                }
                for (i, &z) in people.clone().zip(&exogenous.levels()[people.clone()]) {
                    taken[t * n + i] = chosen[(z as usize * horizon + t) * n + i];
                }
                for side in &mut sides {
                    side.step(world, agent, exogenous, t, &taken[now.clone()]);
                }
            }
        }
        Self { taken, chosen }
    }

    /// For every level z and person, the share of times at which the agent acts otherwise under `other` and the given past.
    fn compare(
        &self,
        world: &dyn World,
        agent: &dyn Agent,
        exogenous: &Exogenous,
        other: usize,
        past: Option<&[u32]>,
        differ: &mut [f64],
    ) {
        let (n, horizon) = (exogenous.people(), exogenous.horizon());
        differ.fill(0.0);
        for first in (0..n).step_by(BLOCK) {
            let people = first..(first + BLOCK).min(n);
            let mut side = OneWorld::begin(world, agent, exogenous, people.clone(), other);
            let (mut asked, mut imposed) = (vec![0; people.len()], vec![0; people.len()]);
            for t in 0..horizon {
                agent.act(&mut side.memory, &exogenous.uniforms(t)[people.clone()], &mut asked);
                for (chosen, differ) in self.chosen.chunks_exact(horizon * n).zip(differ.chunks_exact_mut(n)) {
                    let chosen = &chosen[t * n + people.start..t * n + people.end];
                    for ((x, a), b) in differ[people.clone()].iter_mut().zip(chosen).zip(&asked) {
                        *x += f64::from(u8::from(a != b));
                    }
                }
                if t + 1 == horizon {
                    break;
                }
                match past {
                    Some(past) => imposed.fill(past[t]),
                    None => imposed.copy_from_slice(&self.taken[t * n + people.start..t * n + people.end]),
                }
                side.step(world, agent, exogenous, t, &imposed);
            }
        }
        differ.iter_mut().for_each(|count| *count /= horizon as f64);
    }
}
