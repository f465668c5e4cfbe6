//! A whole panel at once: the same steps as at deployment, folded over time for blocks of people.

use super::{Preprocessor, View};
use crate::people::Panel;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Experience tuples (s̃ₜ, aₜ, r̃ₜ, s̃ₜ₊₁) ready for a learner, stored as trajectories so that one array of views serves both s̃ₜ and s̃ₜ₊₁.
#[derive(Debug, Clone, PartialEq)]
pub struct Experience<V> {
    width: usize,
    actions_count: usize,
    view_start: Vec<usize>,
    decision_start: Vec<usize>,
    views: Vec<f64>,
    actions: Vec<u32>,
    rewards: Vec<f64>,
    kind: PhantomData<V>,
}

/// A view that left the finite numbers: the mechanism was iterated beyond where it can be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "at time {t} of a person the preprocessed state is {value}, not a finite number; the fitted mechanism grows when it is iterated (try `spline` or `linear`)"
)]
pub struct StateOverflow {
    /// The person, who is not named in the message: it may end on a page.
    pub id: String,
    /// Time, counted from 1.
    pub t: usize,
    /// The first value that is not finite.
    pub value: f64,
}

/// People a block: enough to keep the mechanism's loops long, few enough to stay in cache.
const BLOCK: usize = 1024;

/// Preprocesses a panel.
///
/// # Errors
/// [`StateOverflow`] when a view or a reward is not a finite number.
pub fn batch<P: Preprocessor>(preprocessor: &P, panel: &Panel) -> Result<Experience<P::View>, StateOverflow> {
    let width = preprocessor.width();
    let mut views = vec![0.0; panel.state_rows() * width];
    let mut rewards = panel.rewards().to_vec();

    let mut jobs = Vec::new();
    let (mut views_left, mut rewards_left) = (views.as_mut_slice(), rewards.as_mut_slice());
    for first in (0..panel.people()).step_by(BLOCK) {
        let people = first..(first + BLOCK).min(panel.people());
        let rows = panel.states_of(people.end - 1).end - panel.states_of(first).start;
        let decisions = panel.decisions_of(people.end - 1).end - panel.decisions_of(first).start;
        let (block_views, rest) = views_left.split_at_mut(rows * width);
        let (block_rewards, rest_rewards) = rewards_left.split_at_mut(decisions);
        (views_left, rewards_left) = (rest, rest_rewards);
        jobs.push((people, block_views, block_rewards));
    }
    jobs.into_par_iter().try_for_each(|(people, views, rewards)| fold(preprocessor, panel, people, views, rewards))?;

    let starts = |range: &dyn Fn(usize) -> Range<usize>| -> Vec<usize> {
        std::iter::once(0).chain((0..panel.people()).map(|i| range(i).end)).collect()
    };
    Ok(Experience {
        width,
        actions_count: panel.action_names().len(),
        view_start: starts(&|i| panel.states_of(i)),
        decision_start: starts(&|i| panel.decisions_of(i)),
        views,
        actions: panel.actions().to_vec(),
        rewards,
        kind: PhantomData,
    })
}

/// The fold of steps over one block of people, written over its share of the output.
fn fold<P: Preprocessor>(
    preprocessor: &P,
    panel: &Panel,
    people: Range<usize>,
    views: &mut [f64],
    rewards: &mut [f64],
) -> Result<(), StateOverflow> {
    let (p, width) = (panel.state_dim(), preprocessor.width());
    let (first_row, first_decision) = (panel.states_of(people.start).start, panel.decisions_of(people.start).start);
    // Longest first, and of two equally many states the one with a last decision: whoever is still there is a prefix.
    let mut order: Vec<usize> = people.collect();
    order.sort_by_key(|&i| std::cmp::Reverse((panel.states_of(i).len(), panel.decisions_of(i).len())));
    let still = |order: &[usize], present: &dyn Fn(usize) -> bool| order.partition_point(|&i| present(i));

    let gather_states = |order: &[usize], t: usize, out: &mut Vec<f64>| {
        out.clear();
        for &i in order {
            let row = panel.states_of(i).start + t;
            out.extend_from_slice(&panel.states()[row * p..(row + 1) * p]);
        }
    };
    let mut scatter_views = |order: &[usize], t: usize, view: &[f64]| -> Result<(), StateOverflow> {
        for (&i, row) in order.iter().zip(view.chunks_exact(width)) {
            if let Some(&value) = row.iter().find(|x| !x.is_finite()) {
                return Err(StateOverflow { id: panel.ids()[i].clone(), t: t + 1, value });
            }
            let at = panel.states_of(i).start + t - first_row;
            views[at * width..(at + 1) * width].copy_from_slice(row);
        }
        Ok(())
    };

    let levels: Vec<u32> = order.iter().map(|&i| panel.level_codes()[i]).collect();
    let (mut states, mut actions, mut step_rewards) = (Vec::new(), Vec::new(), Vec::new());
    gather_states(&order, 0, &mut states);
    let mut memory = preprocessor.begin(&levels, &states);
    scatter_views(&order, 0, &memory.view)?;

    for t in 0.. {
        let deciding = still(&order, &|i| panel.decisions_of(i).len() > t);
        if deciding == 0 {
            return Ok(());
        }
        let moving = still(&order, &|i| panel.states_of(i).len() > t + 1);
        order.truncate(deciding);
        memory.truncate(deciding);
        actions.clear();
        step_rewards.clear();
        for &i in &order {
            actions.push(panel.actions()[panel.decisions_of(i).start + t]);
            step_rewards.push(panel.rewards()[panel.decisions_of(i).start + t]);
        }
        gather_states(&order[..moving], t + 1, &mut states);
        if moving == deciding {
            preprocessor.step(&mut memory, &actions, &mut step_rewards, &states);
        } else {
            preprocessor.reward(&mut memory, &actions, &mut step_rewards);
            memory.truncate(moving);
            preprocessor.advance(&mut memory, &actions[..moving], &states);
        }
        for (&i, &reward) in order.iter().zip(&step_rewards) {
            if !reward.is_finite() {
                return Err(StateOverflow { id: panel.ids()[i].clone(), t: t + 1, value: reward });
            }
            rewards[panel.decisions_of(i).start + t - first_decision] = reward;
        }
        scatter_views(&order[..moving], t + 1, &memory.view)?;
    }
    Ok(())
}

impl<V: View> Experience<V> {
    /// Experiences of different people, one after another.
    ///
    /// # Panics
    /// If there are none, or if they differ in width or number of actions.
    pub fn concatenate(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("something to concatenate");
        for part in parts {
            assert_eq!((all.width, all.actions_count), (part.width, part.actions_count), "experiences of one kind");
            let (rows, decisions) = (all.views.len() / all.width, all.actions.len());
            all.view_start.extend(part.view_start[1..].iter().map(|start| rows + start));
            all.decision_start.extend(part.decision_start[1..].iter().map(|start| decisions + start));
            all.views.extend(part.views);
            all.actions.extend(part.actions);
            all.rewards.extend(part.rewards);
        }
        all
    }

    /// The same views, each followed by the code of the person's level, with the rewards as observed: what evaluation regresses on.
    ///
    /// The observed reward depends on (s, z). A view alone need not determine that pair, so a value function of the view alone
    /// would be biased; with z beside it an augmented view holds s = ŝᶻ, and (view, z) moves as a Markov chain.
    ///
    /// # Panics
    /// If the experience was not made from this panel.
    pub fn with_level(&self, panel: &Panel) -> Self {
        assert_eq!(self.people(), panel.people(), "the panel this experience was made from");
        assert_eq!(self.views.len(), panel.state_rows() * self.width, "the panel this experience was made from");
        assert_eq!(self.actions, panel.actions(), "the panel this experience was made from");
        let mut views = Vec::with_capacity(self.views.len() + panel.state_rows());
        for (i, &level) in panel.level_codes().iter().enumerate() {
            for view in self.views[panel.states_of(i).start * self.width..panel.states_of(i).end * self.width]
                .chunks_exact(self.width)
            {
                views.extend_from_slice(view);
                views.push(f64::from(level));
            }
        }
        Self {
            width: self.width + 1,
            actions_count: self.actions_count,
            view_start: self.view_start.clone(),
            decision_start: self.decision_start.clone(),
            views,
            actions: self.actions.clone(),
            rewards: panel.rewards().to_vec(),
            kind: PhantomData,
        }
    }

    /// How many numbers a view has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// |A|.
    pub fn actions_count(&self) -> usize {
        self.actions_count
    }

    /// N.
    pub fn people(&self) -> usize {
        self.view_start.len() - 1
    }

    /// The number of tuples whose next state is known.
    pub fn transitions(&self) -> usize {
        self.views.len() / self.width - self.people()
    }

    /// All views, row-major, person after person.
    pub fn views(&self) -> &[f64] {
        &self.views
    }

    /// All actions, person after person.
    pub fn actions(&self) -> &[u32] {
        &self.actions
    }

    /// All rewards a learner should see, person after person.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// The view rows of person i.
    pub fn views_of(&self, i: usize) -> Range<usize> {
        self.view_start[i]..self.view_start[i + 1]
    }

    /// The decisions of person i.
    pub fn decisions_of(&self, i: usize) -> Range<usize> {
        self.decision_start[i]..self.decision_start[i + 1]
    }
}
