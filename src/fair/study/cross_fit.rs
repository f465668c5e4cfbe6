//! Policies that do not know the people they decide for: learned fold by fold, followed along those who were held out.
//!
//! What a policy is worth is told fold by fold too: each fold values the policy that was learned from the others by regressions of its own, which
//! know none of its teachers.

use super::program::Judged;
use crate::audit::recorded::PolicyAlong;
use crate::audit::{
    self, CrossFitted, PanelDraws, ParityGap, Refitted, SimulatedValue, Simulation, Yardstick, parity_gap_of,
    probabilities_along, simulated_values,
};
use crate::estimate::{Certificate, Refits, Refitter};
use crate::fair::{Error, Learner, Method, People, Policy, reservation};
use crate::kernel::model::Scale;
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, folds as fold_of_each};
use crate::kernel::preprocess::{Sequential, batch};
use rayon::prelude::*;
use std::collections::BTreeMap;

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
    /// Refits of the mechanism of the people who were learned from; `None` where it cannot be refitted.
    refits: Option<Refits>,
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
    /// The fold of each person of the panel.
    fold_of: Vec<u32>,
    /// A policy from elsewhere, which knows none of the folds.
    pub program: Option<Judged>,
    /// The names of states, and the scale on which each is recorded; empty where none is.
    names: Vec<String>,
    scales: Vec<Option<Scale>>,
}

impl Crossed {
    /// Learns from the others of each fold and follows those who were held out.
    ///
    /// # Errors
    /// The first that a fold meets.
    pub fn learn(people: &People, learner: &Learner, folds: usize, program: Option<Judged>) -> Result<Self, Error> {
        let panel = people.panel();
        let stream = Stream::new(learner.seed).named("study fold");
        let of = fold_of_each(panel.ids(), panel.level_codes(), stream, folds);
        let folds: Vec<Fold> = (0..folds)
            .filter(|fold| of.contains(fold))
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|fold| {
                let (held, others): (Vec<usize>, Vec<usize>) = (0..panel.people()).partition(|&i| of[i] == fold);
                let others = People::from(panel.select(&others));
                let held_out = panel.select(&held);
                // One fit serves Ours and the refits that all are judged by.
                let refitter = if learner.replicates > 0 { learner.refitter(others.panel()).ok() } else { None };
                let fitted = refitter.as_ref().map(Refitter::fitted);
                let learn = |(_, method)| {
                    let learner = Learner { method, splits: 0, replicates: 0, ..learner.clone() };
                    Ok(learner.learn_around(&others, fitted, &mut |_| {})?.policy)
                };
                let mut policies = LEARNED.into_par_iter().map(learn).collect::<Result<Vec<Policy>, Error>>()?;
                let refits = refitter.and_then(|refitter| refitter.refits(learner.replicates, learner.seed).ok());
                policies[0].certificate = refits.as_ref().map(|refits| Certificate::of(refits, others.panel()));
                let draws = PanelDraws::draw(&held_out, Stream::new(learner.seed).named("study").index(fold as u64));
                Ok(Fold { people: held, held_out, policies, draws, refits })
            })
            .collect::<Result<_, Error>>()?;
        let (fold_of, names) = (of.iter().map(|fold| *fold as u32).collect(), people.state_names());
        let mut crossed = Self { folds, along: vec![], fold_of, program, names, scales: vec![] };
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
        share_classes(&mut crossed.along, panel, &crossed.fold_of);
        Ok(crossed)
    }

    /// The same, with how states are recorded.
    pub fn on_scales(self, scales: Vec<Option<Scale>>) -> Self {
        Self { scales, ..self }
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
            scatter(panel, &fold.people, &fold.held_out, &along, actions, &mut probabilities);
            if let (Some(worlds), Some(mechanism)) = (&mut worlds, &policy.mechanism) {
                let sequential = Sequential::new(mechanism, policy.level_weights.clone());
                let views = batch(&sequential, &fold.held_out)?;
                scatter(panel, &fold.people, &fold.held_out, views.views(), width, worlds);
            }
        }
        Ok(Along { name: name.into(), probabilities, worlds })
    }

    /// The law of a learned policy's CF metric in deployment, by its place in [`LEARNED`].
    pub fn unfairness(&self, which: usize, confidence: f64) -> Result<CrossFitted, String> {
        let agents: Vec<_> = self.folds.iter().map(|fold| fold.policies[which].agent()).collect();
        let held = self.folds.iter().zip(&agents).map(|(fold, agent)| {
            let certificate = fold.policies[0].certificate.as_ref().ok_or("no refits of the mechanism were kept")?;
            let yardstick = Yardstick::Certificate(certificate);
            let (panel, draws, scales) = (&fold.held_out, &fold.draws, &self.scales[..]);
            Ok(audit::Judged { agent: &**agent, panel, draws, yardstick, scales })
        });
        let held: Vec<audit::Judged<'_>> = held.collect::<Result<_, &str>>()?;
        audit::unfairness(&held, confidence).map_err(|error| reservation::why_no_law(&error, &self.names))
    }

    /// J and Ṽ of the learned policies, in the order of [`LEARNED`].
    pub fn simulated(&self, settings: &Simulation) -> Result<Vec<SimulatedValue>, String> {
        let agents: Vec<Vec<_>> =
            self.folds.iter().map(|fold| fold.policies.iter().map(Policy::agent).collect()).collect();
        let folds = self.folds.iter().zip(&agents).map(|(fold, agents)| {
            let refits = fold.refits.as_ref().ok_or("the mechanism cannot be refitted")?;
            let agents = agents.iter().map(|agent| &**agent).collect();
            let (panel, draws, scales) = (&fold.held_out, &fold.draws, &self.scales[..]);
            Ok(Refitted { agents, panel, draws, refits, scales })
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
            .map(|along| {
                let Along { name, probabilities, worlds } = along;
                let is_learned = LEARNED.iter().any(|(learned, _)| learned == name);
                let parts = is_learned.then_some(self.fold_of.as_slice());
                PolicyAlong { name, probabilities, worlds: worlds.as_deref(), parts }
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

/// One policy under two names is worth the same: one that decides as another does along the whole record is valued as that one is, with no
/// more than the state to explain rewards by. (The states of all worlds give another estimate of the same value.)
fn share_classes(all: &mut [Along], panel: &Panel, parts: &[u32]) {
    for at in 0..all.len() {
        let own = &all[at];
        let same = |other: &Along| other.worlds.is_none() && other.probabilities == own.probabilities;
        if own.worlds.is_some() && (all.iter().any(same) || looks_at_nobody(own, panel, parts)) {
            all[at].worlds = None;
        }
    }
}

/// Whether one and the same distribution over actions stands on every row of a part.
fn looks_at_nobody(along: &Along, panel: &Panel, parts: &[u32]) -> bool {
    let actions = panel.action_names().len();
    let mut first: BTreeMap<u32, &[f64]> = BTreeMap::new();
    (0..panel.people()).all(|i| {
        let rows = &along.probabilities[panel.states_of(i).start * actions..panel.states_of(i).end * actions];
        rows.chunks(actions).all(|row| *first.entry(parts[i]).or_insert(row) == row)
    })
}

/// The name of one action for everybody.
pub(super) fn always(action: &str) -> String {
    format!("{action} for everybody")
}

/// `width` numbers for each state row of some people, written where these people are in the panel.
fn scatter(panel: &Panel, people: &[usize], own: &Panel, from: &[f64], width: usize, to: &mut [f64]) {
    for (place, &i) in people.iter().enumerate() {
        let (source, target) = (own.states_of(place), panel.states_of(i));
        to[target.start * width..target.end * width].copy_from_slice(&from[source.start * width..source.end * width]);
    }
}
