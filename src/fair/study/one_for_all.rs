//! One action for everybody, as a policy that can be saved and served.

use crate::fair::policy::Parts;
use crate::fair::{Features, Learner, Manifest, Method, People, Policy, StoredQ};
use crate::kernel::learn::Outcome;
use crate::kernel::learn::features::{Polynomial, PolynomialError};

/// The policy that gives everybody this action: an action value that is 1 for it and 0 for the others, whatever the state.
///
/// # Errors
/// [`PolynomialError`], where there are no features of so many states.
pub(super) fn policy(people: &People, learner: &Learner, action: &str) -> Result<Policy, PolynomialError> {
    let panel = people.panel();
    let features = Features::Polynomial(Polynomial::new(panel.state_dim(), 0)?);
    let weights = panel.action_names().names().iter().map(|name| f64::from(u8::from(name == action))).collect();
    Ok(Policy::new(Parts {
        method: Method::Unaware,
        levels: panel.levels().clone(),
        actions: panel.action_names().clone(),
        state_dim: panel.state_dim(),
        columns: people.columns(),
        rows: people.rows(),
        level_weights: panel.level_shares(),
        mechanism: None,
        q: StoredQ::Linear { features, weights },
        seen: None,
        manifest: Manifest {
            program: format!("counterfair {}", env!("CARGO_PKG_VERSION")),
            command: String::new(),
            seed: learner.seed,
            discount: learner.discount,
            transitions: panel.transitions(),
            outcome: "the same action for everybody".into(),
            ended: Some(Outcome::Converged { iterations: 0 }),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::Request;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn everybody_is_given_the_action_and_the_file_is_as_sound_as_any_other() {
        let mut builder = PanelBuilder::new(Labels::new(["f", "m"]), Labels::new(["call", "go", "stay"]), 2).unwrap();
        for (id, level) in [("a", 0), ("b", 1)] {
            let states = [0.5, -0.3, 1.5, 0.1];
            builder.push(Person { id, level, states: &states, actions: &[level], rewards: &[0.5] }).unwrap();
        }
        let people = People::from(builder.finish());
        for action in ["call", "go", "stay"] {
            let policy = policy(&people, &Learner::new(Method::Ours), action).unwrap();
            assert_eq!(policy.fitness(), Ok(()));
            let text = serde_json::to_vec(&policy).unwrap();
            let mut deployed = Policy::from_json(&text, "policy.json").unwrap().deploy();
            for (id, level, state) in [("x", "f", [9.0, -2.0]), ("y", "m", [-3.0, 0.0])] {
                let decision = deployed.decide(&Request::first(id, level, state)).unwrap();
                assert_eq!(decision.action, action);
            }
        }
    }
}
