//! Policies by name, followed side by side in a known world.

use super::{Content, OrStop, Show, comparison};
use crate::fair::{Learner, Method};
use crate::kernel::evaluate::{Evaluation, evaluate};
use crate::kernel::learn::{ActionValue, Agent, Deployed, Greedy};
use crate::kernel::model::{Exogenous, World};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Preprocessor, View};
use crate::report::plot::{Axis, Dumbbell, Pair, Span};
use crate::reproduction::DISCOUNT;
use crate::theory::rules::{EpisodeMixture, StepMixture};
use std::sync::Arc;

/// A policy with a name.
#[derive(Clone)]
pub struct Rule {
    name: String,
    agent: Arc<dyn Agent>,
}

impl Rule {
    /// Whatever acts, by a name.
    pub fn new(name: &str, agent: impl Agent + 'static) -> Self {
        Self { name: name.into(), agent: Arc::new(agent) }
    }

    /// The greedy policy of `alg:cf:2` on quadratics, learned from what a preprocessor makes of a panel; the settings are the paper's.
    pub fn learned<P: Preprocessor + Clone + 'static>(name: &str, reader: &P, panel: &Panel) -> Self {
        // Every learner of the paper shares this step; the method only says which preprocessor it would choose by itself.
        let (q, _) = Learner::of_the_paper(Method::Ours).action_values(reader, panel).or_stop();
        Self::new(name, Deployed::new(reader.clone(), Greedy(q)))
    }

    /// One coin a person: with probability `weight` the second policy treats them throughout, else the first.
    pub fn episode_mixture(first: &Self, second: &Self, weight: f64) -> Self {
        let mixed = EpisodeMixture { first: first.agent.clone(), second: second.agent.clone(), weight };
        Self::new(&format!("{}, {} with probability {weight}", first.name, second.name), mixed)
    }

    /// One coin a decision.
    pub fn step_mixture(first: &Self, second: &Self, weight: f64) -> Self {
        let mixed = StepMixture { first: first.agent.clone(), second: second.agent.clone(), weight };
        Self::new(&format!("{}, {} at a share {weight} of decisions", first.name, second.name), mixed)
    }

    /// What acts.
    pub fn agent(&self) -> &dyn Agent {
        &*self.agent
    }
}

/// Policies followed on the same people in a known world.
#[derive(Debug, Clone)]
pub struct Followed {
    caption: String,
    found: Vec<(String, Evaluation)>,
}

/// Follows policies in a known world, all on the same people, and asks each in every world of each person.
pub fn follow<'a>(world: &dyn World, people: &Exogenous, rules: impl IntoIterator<Item = &'a Rule>) -> Followed {
    let caption = format!(
        "{} people, {} decision{} each. CF metric: share of decisions that differ between a person's worlds. Value: discounted sum of rewards, \
         γ = {DISCOUNT}. Mean ± half-width of the 95 % interval over people.",
        people.people(),
        people.horizon(),
        if people.horizon() == 1 { "" } else { "s" }
    );
    let found = |rule: &Rule| (rule.name.clone(), evaluate(world, rule.agent(), people, DISCOUNT));
    Followed { caption, found: rules.into_iter().map(found).collect() }
}

impl Followed {
    /// What was found for a policy.
    ///
    /// # Panics
    /// If no policy has that name.
    pub fn of(&self, name: &str) -> &Evaluation {
        let found = self.found.iter().find(|(n, _)| n == name);
        &found.unwrap_or_else(|| panic!("nobody is called {name}")).1
    }

    /// What was found, in the order of the policies.
    pub fn each(&self) -> impl Iterator<Item = &Evaluation> {
        self.found.iter().map(|(_, found)| found)
    }

    /// How often each of two groups receives an action.
    pub fn shares(&self, action: usize, axis: &str, groups: [&str; 2]) -> Dumbbell {
        let share = |found: &Evaluation, k: usize| found.rates.overall(k, action).map_or(Span::exact(0.0), Span::share);
        let row = |(name, found): &(String, Evaluation)| Pair {
            name: name.clone(),
            shares: [share(found, 0), share(found, 1)],
        };
        Dumbbell {
            title: String::new(),
            x: Axis::linear(axis),
            groups: groups.map(String::from),
            rows: self.found.iter().map(row).collect(),
        }
    }
}

impl Show for Followed {
    fn content(&self) -> Content {
        Content::table(&comparison(&self.caption, self.found.iter().map(|(name, found)| (name, found))))
    }
}

/// Q(s, 1) − Q(s, 0) over one-dimensional states; `level` is what the action value is told beside the state, where it reads levels.
pub fn advantage<V: View>(
    q: &impl ActionValue<V>,
    level: Option<f64>,
    states: impl IntoIterator<Item = f64>,
) -> Vec<(f64, f64)> {
    let at: Vec<f64> = states.into_iter().collect();
    let rows: Vec<f64> = at.iter().flat_map(|s| [Some(*s), level].into_iter().flatten()).collect();
    let mut values = vec![0.0; q.actions() * at.len()];
    q.values(&rows, &mut values);
    at.iter().zip(values.iter().zip(&values[at.len()..])).map(|(s, (q0, q1))| (*s, q1 - q0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::simulate;
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::numeric::Stream;
    use crate::kernel::preprocess::{Oracle, Unaware};

    #[test]
    fn rules_are_followed_on_the_same_people_and_found_by_name() {
        let world = Linear::new(1.0);
        let panel = simulate(&world, &Exogenous::draw(&world, 300, 6, Stream::new(1)));
        let test = Exogenous::draw(&world, 200, 4, Stream::new(2));
        let unaware = Rule::learned("Unaware", &Unaware { state_dim: 1 }, &panel);
        let oracle = Rule::learned("Oracle", &Oracle::new(world.clone(), vec![0.5, 0.5]), &panel);
        let found = follow(&world, &test, [&unaware, &oracle]);
        assert_eq!(found.of("Oracle").unfairness.metric.mean, 0.0);
        assert!(found.of("Unaware").unfairness.metric.mean > 0.1);
        assert_eq!(found.each().count(), 2);
        assert!(found.content().to_string().contains("200 people, 4 decisions each"));
        let half = follow(&world, &test, [&Rule::episode_mixture(&unaware, &oracle, 1.0)]);
        let values = [half.each().next().map(|e| e.value), Some(found.of("Oracle").value)];
        assert_eq!(values[0], values[1], "a mixture of weight 1 is its second policy");
    }
}
