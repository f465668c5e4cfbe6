//! Policies that do not know the people they decide for: learned fold by fold, followed along those who were held out.

use super::program::Judged;
use crate::audit::recorded::PolicyAlong;
use crate::audit::{
    CrossFitted, HeldOut, PanelDraws, ParityGap, Refitted, SimulatedValue, Simulation, cross_fitted_unfairness,
    parity_gap_of, probabilities_along, simulated_values,
};
use crate::estimate::Refitter;
use crate::fair::{Error, Learner, Method, People, Policy};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Sequential, batch};
use rand::Rng;
use rayon::prelude::*;

/// The methods that are learned, by the name they have in tables.
pub(super) const LEARNED: [(&str, Method); 3] =
    [("Ours", Method::Ours), ("Full", Method::Full), ("Unaware", Method::Unaware)];

/// People who are judged together, and what was learned from the others.
pub(super) struct Fold {
    /// Their places in the panel.
    pub people: Vec<usize>,
    /// They themselves.
    pub held_out: Panel,
    /// In the order of [`LEARNED`]; the first has the certificate that all are judged by.
    pub policies: Vec<Policy>,
    draws: PanelDraws,
    /// The people who were learned from, and their mechanism; `None` where it cannot be refitted.
    others: Panel,
    refitter: Option<Refitter>,
}

/// A policy along the whole record.
pub(super) struct Along {
    pub name: String,
    pub probabilities: Vec<f64>,
    pub worlds: Option<Vec<f64>>,
}

/// All folds, and the policies along everybody.
pub(super) struct Crossed {
    pub folds: Vec<Fold>,
    pub along: Vec<Along>,
    /// A policy from elsewhere, which knows none of the folds.
    pub program: Option<Judged>,
}

impl Crossed {
    /// Learns from the others of each fold and follows those who were held out.
    ///
    /// # Errors
    /// The first that a fold meets.
    pub fn learn(people: &People, learner: &Learner, folds: usize, program: Option<Judged>) -> Result<Self, Error> {
        let panel = people.panel();
        let of = fold_of(panel, folds, learner.seed);
        let folds: Vec<Fold> = (0..folds)
            .filter(|fold| of.contains(fold))
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|fold| {
                let (held, others): (Vec<usize>, Vec<usize>) = (0..panel.people()).partition(|&i| of[i] == fold);
                let others = People::from(panel.select(&others));
                let held_out = panel.select(&held);
                let mut policies = LEARNED
                    .into_par_iter()
                    .map(|(_, method)| Learner { method, splits: 0, replicates: 0, ..learner.clone() }.learn(&others))
                    .collect::<Result<Vec<Policy>, Error>>()?;
                let others = others.panel().clone();
                let refitter = if learner.replicates > 0 { learner.refitter(&others).ok() } else { None };
                // One certificate serves all: it is about the people, not about the policy.
                policies[0].certificate =
                    refitter.as_ref().and_then(|refitter| learner.certificate_by(refitter, &others).ok());
                let draws = PanelDraws::draw(&held_out, Stream::new(learner.seed).named("study").index(fold as u64));
                Ok(Fold { people: held, held_out, policies, draws, others, refitter })
            })
            .collect::<Result<_, Error>>()?;
        let mut crossed = Self { folds, along: vec![], program };
        crossed.along = LEARNED
            .iter()
            .enumerate()
            .map(|(which, (name, method))| crossed.follow(panel, which, name, *method))
            .collect::<Result<_, Error>>()?;
        if let Some(program) = &crossed.program {
            crossed.along.push(program.along(panel)?);
        }
        let (rows, actions) = (panel.state_rows(), panel.action_names().len());
        crossed.along.push(Along {
            name: "Random".into(),
            probabilities: vec![1.0 / actions as f64; rows * actions],
            worlds: None,
        });
        for action in 0..actions {
            let one = |at: usize| if at % actions == action { 1.0 } else { 0.0 };
            crossed.along.push(Along {
                name: always(panel.action_names().name(action)),
                probabilities: (0..rows * actions).map(one).collect(),
                worlds: None,
            });
        }
        crossed.share_classes();
        Ok(crossed)
    }

    /// One policy under two names is worth the same: one that decides as another does along the whole record is valued as that one is, with no
    /// more than the state to explain rewards by. (The states of all worlds give another estimate of the same value.)
    fn share_classes(&mut self) {
        for at in 0..self.along.len() {
            let own = &self.along[at];
            let same = |other: &Along| other.worlds.is_none() && other.probabilities == own.probabilities;
            if own.worlds.is_some() && self.along.iter().any(same) {
                self.along[at].worlds = None;
            }
        }
    }

    /// Where a policy gives one action to all of each fold, but not the same one in every fold: in how many folds which action.
    pub fn constant_by_fold(&self, panel: &Panel, name: &str) -> Option<Vec<(String, usize)>> {
        let (along, actions) = (self.probabilities(name)?, panel.action_names().len());
        let of_fold = |fold: &Fold| {
            let mut rows = fold.people.iter().flat_map(|&i| {
                let first = panel.states_of(i).start;
                (first..first + panel.decisions_of(i).len()).map(|row| &along[row * actions..(row + 1) * actions])
            });
            let first = rows.next()?;
            let only = first.iter().position(|p| *p == 1.0)?;
            rows.all(|row| row == first).then_some(only)
        };
        let taken: Vec<usize> = self.folds.iter().map(of_fold).collect::<Option<_>>()?;
        let count = |action: usize| taken.iter().filter(|&&a| a == action).count();
        let found: Vec<(String, usize)> =
            (0..actions).filter(|&a| count(a) > 0).map(|a| (panel.action_names().name(a).into(), count(a))).collect();
        (found.len() > 1).then_some(found)
    }

    /// The parity gap of a policy at the first decision, within folds.
    ///
    /// Each fold has a policy of its own. Who is in which fold has nothing to do with levels, but in a small study a level may by chance have
    /// more people in one fold than another has, and policies that look at nobody would seem to tell levels apart. So people are compared
    /// with the others of their fold.
    pub fn parity_gap(&self, panel: &Panel, name: &str, confidence: f64) -> Option<ParityGap> {
        let (along, actions, levels) = (self.probabilities(name)?, panel.action_names().len(), panel.levels().len());
        let first = |i: usize| {
            let row = panel.states_of(i).start;
            (!panel.decisions_of(i).is_empty())
                .then(|| (panel.level_codes()[i], &along[row * actions..(row + 1) * actions]))
        };
        let everybody: Vec<_> = (0..panel.people()).filter_map(first).collect();
        let mean = |rows: &[(u32, &[f64])], a: usize| rows.iter().map(|(_, p)| p[a]).sum::<f64>() / rows.len() as f64;
        let overall: Vec<f64> = (0..actions).map(|a| mean(&everybody, a)).collect();
        let mut rates = vec![0.0; levels * actions];
        let mut counts = vec![0usize; levels];
        for fold in &self.folds {
            let rows: Vec<_> = fold.people.iter().filter_map(|&i| first(i)).collect();
            let own: Vec<f64> = (0..actions).map(|a| mean(&rows, a)).collect();
            for (z, p) in rows {
                counts[z as usize] += 1;
                let rate = &mut rates[z as usize * actions..][..actions];
                rate.iter_mut().enumerate().for_each(|(a, sum)| *sum += p[a] - own[a]);
            }
        }
        for (z, rate) in rates.chunks_exact_mut(actions).enumerate() {
            let n = counts[z].max(1) as f64;
            rate.iter_mut().zip(&overall).for_each(|(r, all)| *r = (*r / n + all).clamp(0.0, 1.0));
        }
        let own: Vec<u32> = everybody.iter().map(|(z, _)| *z).collect();
        let rows: Vec<f64> =
            own.iter().flat_map(|&z| rates[z as usize * actions..][..actions].iter().copied()).collect();
        Some(parity_gap_of(&own, levels, &rows, actions, confidence))
    }

    /// A learned policy along everybody: at each person that of their fold.
    fn follow(&self, panel: &Panel, which: usize, name: &str, method: Method) -> Result<Along, Error> {
        let (actions, width) = (panel.action_names().len(), panel.state_dim() * panel.levels().len());
        let mut probabilities = vec![0.0; panel.state_rows() * actions];
        let mut worlds = (method == Method::Ours).then(|| vec![0.0; panel.state_rows() * width]);
        for fold in &self.folds {
            let policy = &fold.policies[which];
            let along = probabilities_along(&fold.held_out, &*policy.agent(), &fold.draws.coins)?;
            scatter(panel, fold, &along, actions, &mut probabilities);
            if let (Some(worlds), Some(mechanism)) = (&mut worlds, &policy.mechanism) {
                let sequential = Sequential::new(mechanism, policy.level_weights.clone());
                scatter(panel, fold, batch(&sequential, &fold.held_out)?.views(), width, worlds);
            }
        }
        Ok(Along { name: name.into(), probabilities, worlds })
    }

    /// The law of a learned policy's CF metric, by its place in [`LEARNED`].
    pub fn unfairness(&self, which: usize, confidence: f64) -> Result<CrossFitted, String> {
        let agents: Vec<_> = self.folds.iter().map(|fold| fold.policies[which].agent()).collect();
        let held = self.folds.iter().zip(&agents).map(|(fold, agent)| {
            let certificate = fold.policies[0].certificate.as_ref().ok_or("no refits of the mechanism were kept")?;
            Ok(HeldOut { agent: &**agent, panel: &fold.held_out, certificate, draws: &fold.draws })
        });
        let held: Vec<HeldOut<'_>> = held.collect::<Result<_, &str>>()?;
        cross_fitted_unfairness(&held, confidence).map_err(|error| error.to_string())
    }

    /// J and Ṽ of the learned policies, in the order of [`LEARNED`].
    pub fn simulated(&self, settings: &Simulation) -> Result<Vec<SimulatedValue>, String> {
        let agents: Vec<Vec<_>> =
            self.folds.iter().map(|fold| fold.policies.iter().map(Policy::agent).collect()).collect();
        let folds = self.folds.iter().zip(&agents).map(|(fold, agents)| {
            let refitter = fold.refitter.as_ref().ok_or("the mechanism cannot be refitted")?;
            let agents = agents.iter().map(|agent| &**agent).collect();
            Ok(Refitted { agents, panel: &fold.held_out, draws: &fold.draws, refitter, fitted: &fold.others })
        });
        let folds: Vec<Refitted<'_>> = folds.collect::<Result<_, &str>>()?;
        simulated_values(&folds, settings).map_err(|error| error.to_string())
    }

    /// Numbers of people, fold by fold, in the order of the panel.
    pub fn in_panel_order(&self, panel: &Panel, by_fold: &[Vec<f64>]) -> Vec<f64> {
        let mut found = vec![0.0; panel.people()];
        for (fold, numbers) in self.folds.iter().zip(by_fold) {
            fold.people.iter().zip(numbers).for_each(|(&i, x)| found[i] = *x);
        }
        found
    }

    /// The policies as estimators of values take them.
    pub fn borrowed(&self) -> Vec<PolicyAlong<'_>> {
        self.along
            .iter()
            .map(|along| PolicyAlong {
                name: &along.name,
                probabilities: &along.probabilities,
                worlds: along.worlds.as_deref(),
            })
            .collect()
    }

    /// Action probabilities along everybody, by name.
    pub fn probabilities(&self, name: &str) -> Option<&[f64]> {
        self.along.iter().find(|along| along.name == name).map(|along| along.probabilities.as_slice())
    }

    /// People in each fold.
    pub fn fold_sizes(&self) -> Vec<usize> {
        self.folds.iter().map(|fold| fold.people.len()).collect()
    }
}

/// The name of one action for everybody.
pub(super) fn always(action: &str) -> String {
    format!("{action} for everybody")
}

/// `width` numbers for each state row of the held-out people, written where these people are in the panel.
fn scatter(panel: &Panel, fold: &Fold, from: &[f64], width: usize, to: &mut [f64]) {
    for (place, &i) in fold.people.iter().enumerate() {
        let (source, target) = (fold.held_out.states_of(place), panel.states_of(i));
        to[target.start * width..target.end * width].copy_from_slice(&from[source.start * width..source.end * width]);
    }
}

/// The fold of each person: a hash of (seed, id), whatever the order of people and whoever else is there.
fn fold_of(panel: &Panel, folds: usize, seed: u64) -> Vec<usize> {
    let stream = Stream::new(seed).named("study fold");
    let fold = |id: &String| ((u128::from(stream.named(id).rng().next_u64()) * folds as u128) >> 64) as usize;
    panel.ids().iter().map(fold).collect()
}
