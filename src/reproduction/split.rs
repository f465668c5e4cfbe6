//! A cell of `table:real_data`: learn on four fifths of the people, judge on the rest (supplement G).

use super::generative::Generative;
use super::policies::{Candidate, DEGREE, MethodLearner, NotLearned, Stages, timed};
use super::{DISCOUNT, Measured, MethodOutcome, MethodResult, Split};
use crate::audit::{
    AuditError, EvaluationError, EvaluationSettings, PanelDraws, audit, fitted_q_evaluation, probabilities_along,
};
use crate::kernel::learn::features::{Polynomial, PolynomialError};
use crate::kernel::numeric::{Estimate, Stream, uniform_index};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Experience, Full, StateAndLevel, StateOverflow, batch};

/// Share of the people that policies are learned from.
const TRAINING_SHARE: f64 = 0.8;

/// Why a policy could not be judged on data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum NotJudged {
    #[error(transparent)]
    NotLearned(#[from] NotLearned),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    #[error(transparent)]
    Features(#[from] PolynomialError),
    #[error(transparent)]
    Overflow(#[from] StateOverflow),
    #[error("fitted Q evaluation diverged")]
    Diverged,
}

impl Split {
    /// What becomes of each method; `judge` is the generative model that makes counterfactual histories, fitted to everybody.
    pub fn run(&self, panel: &Panel, judge: &Generative) -> (Vec<MethodResult>, Stages) {
        let stream = self.stream();
        let (train, validation) = split(panel, stream.named("people"));
        let mut learner = MethodLearner::new(&train, self.learner, DISCOUNT, stream.named("learner"));
        let draws = PanelDraws::draw(&validation, stream.named("audit"));
        let candidates: Vec<_> = self.methods.iter().map(|&m| (m, learner.learn(m))).collect();
        let mut stages = learner.stages;
        let results = timed(&mut stages.evaluate, || {
            let judged = |(method, candidate): (_, Result<Candidate, NotLearned>)| {
                let measured = candidate.map_err(Into::into).and_then(|c| measure(&c, &validation, judge, &draws));
                let outcome = match measured {
                    Ok(measured) => MethodOutcome::Evaluated(measured),
                    Err(reason) => MethodOutcome::NotLearned(reason.to_string()),
                };
                MethodResult { method, outcome }
            };
            candidates.into_iter().map(judged).collect()
        });
        (results, stages)
    }
}

/// A random four fifths of the people, and the others, each in the order of the panel.
fn split(panel: &Panel, stream: Stream) -> (Panel, Panel) {
    let mut people: Vec<usize> = (0..panel.people()).collect();
    let mut rng = stream.rng();
    for last in (1..people.len()).rev() {
        people.swap(last, uniform_index(&mut rng, last + 1));
    }
    let cut = (TRAINING_SHARE * people.len() as f64).round() as usize;
    let (train, validation) = people.split_at_mut(cut);
    train.sort_unstable();
    validation.sort_unstable();
    (panel.select(train), panel.select(validation))
}

fn measure(
    candidate: &Candidate,
    panel: &Panel,
    judge: &Generative,
    draws: &PanelDraws,
) -> Result<Measured, NotJudged> {
    let agent = &*candidate.agent;
    let found = audit(panel, judge, agent, draws)?;
    let probabilities = probabilities_along(panel, agent, &draws.coins)?;
    let (p, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let value = fitted_value(&batch(&Full { state_dim: p }, panel)?, &probabilities, p, levels)?;
    let share = |z: usize, a: usize| found.rates.overall(z, a).map_or(0.0, |estimate| estimate.mean);
    let shares = (0..levels).map(|z| (0..actions).map(|a| share(z, a)).collect()).collect();
    let (unfairness, learning) = (found.unfairness.metric, candidate.learning);
    Ok(Measured { unfairness, value, long_value: None, fair: None, gained: None, regret: None, shares, learning })
}

/// Fitted Q evaluation on quadratics in (s, z), the same class for every policy.
///
/// Ours reads counterfactual states beside (s, z), so its action value is projected on functions of (s, z). The full class, quadratics in the
/// augmented state, has twenty weights an action for the forty people who judge, nearly collinear: values of 10⁵ came out of it.
fn fitted_value(
    experience: &Experience<StateAndLevel>,
    probabilities: &[f64],
    coordinates: usize,
    levels: usize,
) -> Result<Estimate, NotJudged> {
    let features = Polynomial::for_rows(experience.views(), coordinates, levels, DEGREE)?;
    let settings = EvaluationSettings { discount: DISCOUNT, ..EvaluationSettings::default() };
    fitted_q_evaluation(experience, probabilities, &features, settings)?.value.ok_or(NotJudged::Diverged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::Study;

    #[test]
    fn a_split_puts_everybody_on_one_side() {
        let panel = Study::stand_in().panel("sex").expect("an attribute of the study");
        let (train, validation) = split(&panel, Stream::new(5));
        assert_eq!((train.people(), validation.people()), (166, 41));
        let mut ids: Vec<&String> = train.ids().iter().chain(validation.ids()).collect();
        ids.sort();
        assert!(ids.iter().copied().eq(panel.ids()));
        assert_ne!(split(&panel, Stream::new(6)).1.ids(), validation.ids());
    }
}
