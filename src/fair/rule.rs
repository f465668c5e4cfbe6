//! What a policy does, in cut points: which action at which value of a state, group by group.

use super::{Deployment, Policy, Request};
use crate::estimate::ranks::order_statistics;
use crate::kernel::people::{BlocksError, People, try_each};
use serde::{Deserialize, Serialize};

/// Where a policy changes its mind at a person's first decision, one state at a time, the others at their median.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// One entry per state and group.
    pub lines: Vec<Line>,
}

/// The actions of a group along one state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The state.
    pub state: String,
    /// The group.
    pub group: String,
    /// Pieces from the lowest value on.
    pub pieces: Vec<Piece>,
}

/// An action and where it is taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Piece {
    /// The action.
    pub action: String,
    /// From here, `None` from below.
    pub from: Option<f64>,
    /// To there, `None` without end.
    pub to: Option<f64>,
}

/// What the recorded states were, coordinate by coordinate: the range in which a policy is described.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Typical {
    /// The smallest.
    pub low: Vec<f64>,
    /// The median.
    pub median: Vec<f64>,
    /// The largest.
    pub high: Vec<f64>,
}

/// Values of a state that are tried before cut points are narrowed down between them.
const GRID: usize = 200;

impl Typical {
    /// Of the states of people, wherever they are.
    pub(super) fn of(people: &dyn People) -> Result<Self, BlocksError> {
        let width = people.shape().state_dim;
        let ranks = |_, n: usize| if n == 0 { vec![] } else { vec![0, (n - 1) / 2, n - 1] };
        let columns = order_statistics(&vec![people.state_rows(); width], ranks, people.room(), |see| {
            try_each(people, |block| {
                block.states().iter().enumerate().for_each(|(at, x)| see(at % width, *x));
                Ok::<(), BlocksError>(())
            })
        })?;
        let at = |place: usize| columns.iter().filter_map(|column| column.get(place).copied()).collect();
        Ok(Self { low: at(0), median: at(1), high: at(2) })
    }

    /// The first thing that is wrong with what came from a file, for states of `width` numbers.
    pub(super) fn problem(&self, width: usize) -> Option<String> {
        let Self { low, median, high } = self;
        if [low, median, high].iter().any(|part| part.len() != width) {
            return Some(format!("typical states have not {width} coordinates each"));
        }
        let ordered = (0..width).all(|j| low[j] <= median[j] && median[j] <= high[j]);
        let finite = low.iter().chain(high).all(|x| x.is_finite());
        (!ordered || !finite).then(|| "typical states are not finite numbers in order".into())
    }
}

impl Rule {
    /// Of a policy that knows what states were typical; a program is asked nothing.
    pub fn of(policy: &Policy) -> Option<Self> {
        let typical = policy.typical.as_ref().filter(|_| policy.program().is_none())?;
        let mut asked = Asked { deployed: policy.clone().deploy(), people: 0 };
        let name = |j: usize| policy.columns.states.get(j).cloned().unwrap_or_else(|| format!("state{}", j + 1));
        let mut lines = Vec::new();
        for j in 0..policy.state_dim {
            for group in policy.levels.names() {
                let pieces = asked.pieces(group, typical, j)?;
                lines.push(Line { state: name(j), group: group.clone(), pieces });
            }
        }
        Some(Self { lines })
    }
}

/// A policy that is asked about people nobody has met.
struct Asked {
    deployed: Deployment,
    people: usize,
}

impl Asked {
    fn action(&mut self, group: &str, typical: &Typical, j: usize, x: f64) -> Option<String> {
        let mut state = typical.median.clone();
        state[j] = x;
        self.people += 1;
        let id = format!("typical {}", self.people);
        let found = self.deployed.decide(&Request::first(id.as_str(), group, state)).ok()?.action;
        self.deployed.forget(&id).ok()?;
        Some(found)
    }

    fn pieces(&mut self, group: &str, typical: &Typical, j: usize) -> Option<Vec<Piece>> {
        let (low, high) = (typical.low[j], typical.high[j]);
        let at = |k: usize| low + (high - low) * k as f64 / GRID as f64;
        let mut pieces = vec![Piece { action: self.action(group, typical, j, low)?, from: None, to: None }];
        for k in 1..=GRID {
            let found = self.action(group, typical, j, at(k))?;
            let last = pieces.last_mut()?;
            if found == last.action {
                continue;
            }
            // Halved until no number lies between.
            let (mut below, mut above) = (at(k - 1), at(k));
            loop {
                let middle = below + (above - below) / 2.0;
                if middle <= below || middle >= above {
                    break;
                }
                if self.action(group, typical, j, middle)? == last.action { below = middle } else { above = middle }
            }
            last.to = Some(above);
            pieces.push(Piece { action: self.action(group, typical, j, above)?, from: Some(above), to: None });
        }
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::{Learner, Method, People};
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::numeric::Stream;

    #[test]
    fn on_each_side_of_a_cut_point_the_policy_takes_the_action_that_is_said() {
        let world = Linear::new(1.0);
        let people = People::from(simulate(&world, &Exogenous::draw(&world, 300, 5, Stream::new(4))));
        let learner = Learner { replicates: 0, splits: 0, ..Learner::new(Method::Ours) };
        let policy = learner.learn(&people).unwrap();
        let rule = Rule::of(&policy).unwrap();
        assert_eq!(rule.lines.len(), 2);
        let mut deployed = policy.deploy();
        let mut cuts = 0;
        for (k, line) in rule.lines.iter().enumerate() {
            for (i, pair) in line.pieces.windows(2).enumerate() {
                let cut = pair[0].to.unwrap();
                assert_eq!(pair[1].from, Some(cut));
                for (x, piece) in [(cut - 1e-9, &pair[0]), (cut + 1e-9, &pair[1])] {
                    let id = format!("{k} {i} {x}");
                    let found = deployed.decide(&Request::first(id, line.group.as_str(), [x])).unwrap();
                    assert_eq!(found.action, piece.action, "{line:?} at {x}");
                }
                cuts += 1;
            }
        }
        assert!(cuts >= 2, "{rule:?}");
    }
}
