//! How good and how fair a policy is on people it was not learned from.

use super::{Error, Method, People, Policy, Preprocessing, warnings};
use crate::kernel::data::Panel;
use crate::kernel::evaluate::{
    EvaluationSettings, FittedEvaluation, OffPolicy, PanelAudit, PanelDraws, audit, fitted_q_evaluation,
    probabilities_along,
};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{ActionValue, Policy as _, fit_propensity};
use crate::kernel::model::fitted::fit;
use crate::kernel::numeric::{Estimate, Stream};
use crate::kernel::preprocess::diagnostics::diagnose;
use crate::kernel::preprocess::{Experience, Full, Sequential, View, batch};

/// How a policy is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditSettings {
    /// The evaluator's own mechanism, fitted to the people it judges on and not the policy's.
    pub preprocessing: Preprocessing,
    /// Total degree of the polynomial that the value is fitted with.
    pub degree: usize,
    /// Where random policies get their draws from.
    pub stream: Stream,
}

impl Default for AuditSettings {
    fn default() -> Self {
        let stream = Stream::new(1).named("evaluate");
        Self { preprocessing: Preprocessing::default(), degree: 2, stream }
    }
}

/// What an audit shows.
#[derive(Debug, Clone)]
pub struct Audit {
    /// CF metric, action rates and actions along the recorded histories.
    pub along: PanelAudit,
    /// Each estimator of the value by name, and its estimate or why there is none.
    pub values: Vec<(&'static str, Result<Estimate, String>)>,
    /// The effective number of people that importance weights leave at the last decision.
    pub effective_people: Option<f64>,
    /// What should be known before the numbers are used, one line each.
    pub warnings: Vec<String>,
}

/// A policy judged by its own mistakes: every fair policy passes, however wrong its means are.
const OWN_MEANS: &str = "the evaluator's mechanism is the policy's own (same people, same model), so the CF metric is 0 whatever the \
     policy's errors; evaluate on other people, or with another --model";

impl Policy {
    /// Judges the policy on people with their recorded histories; `watch` hears the name of each stage when it begins.
    ///
    /// # Errors
    /// [`Error`].
    pub fn audit(
        &self,
        people: &People,
        settings: &AuditSettings,
        watch: &mut dyn FnMut(&str),
    ) -> Result<Audit, Error> {
        let panel = people.panel();
        let agent = self.agent();
        let draws = PanelDraws::draw(panel, settings.stream);
        watch("fitting the evaluator's mechanism");
        let mechanism = fit(panel, &settings.preprocessing.mechanism)?;
        watch("asking the policy in every world");
        let along = audit(panel, &mechanism, &*agent, &draws)?;
        let probabilities = probabilities_along(panel, &*agent, &draws.coins)?;
        watch("estimating the value");
        let (values, effective_people) = self.values(panel, &probabilities, settings.degree)?;
        let worlds = Sequential::new(&mechanism, settings.preprocessing.weights_for(panel)?);
        let diagnostics = diagnose(&mechanism, panel, &batch(&worlds, panel)?);
        let mut warnings = warnings::of_mechanism(&mechanism, panel, &diagnostics);
        if self.mechanism.as_ref() == Some(&mechanism) {
            warnings.insert(0, OWN_MEANS.into());
        }
        Ok(Audit { along, values, effective_people, warnings })
    }

    /// The value by fitted Q evaluation and by weighting, and the effective number of people at the last decision.
    #[allow(clippy::type_complexity)]
    fn values(
        &self,
        panel: &Panel,
        along: &[f64],
        degree: usize,
    ) -> Result<(Vec<(&'static str, Result<Estimate, String>)>, Option<f64>), Error> {
        let (p, levels, γ) = (panel.state_dim(), panel.levels().len(), self.manifest.discount);
        let observed = batch(&Full { state_dim: p }, panel)?;
        let (fitted, action_values) = match (self.method, &self.mechanism) {
            (Method::Ours, Some(mechanism)) => {
                let sequential = Sequential::new(mechanism, self.level_weights.clone());
                let views = batch(&sequential, panel)?.with_level(panel);
                by_regression(&views, along, (levels * p, levels, degree), γ)?
            }
            _ => by_regression(&observed, along, (p, levels, degree), γ)?,
        };
        let mut rows = vec![("fitted Q evaluation, endless horizon", fitted)];
        let features = Polynomial::for_rows(observed.views(), p, levels.max(2), 1)?;
        let mut behaviour = vec![0.0; along.len()];
        fit_propensity(&observed, &features)?.policy.probabilities(observed.views(), p + 1, &mut behaviour);
        let mut effective = None;
        match OffPolicy::new(panel, along, &behaviour, γ) {
            Ok(weighting) => {
                let weighted = weighting.weighted().map_err(|e| e.to_string());
                rows.push(("weighted importance sampling, recorded horizon", weighted));
                let robust = weighting.doubly_robust(&action_values).map_err(|e| e.to_string());
                rows.push(("doubly robust, recorded horizon", robust));
                effective = weighting.overlap().effective_people.last().copied();
            }
            Err(problem) => rows.push(("importance sampling, recorded horizon", Err(problem.to_string()))),
        }
        rows.push(("what people received, recorded horizon", Ok(recorded(panel, γ))));
        Ok((rows, effective))
    }
}

/// Fitted Q evaluation, and Q along the data for the doubly robust estimator; the shape is (coordinates, levels, degree).
fn by_regression<V: View>(
    views: &Experience<V>,
    along: &[f64],
    (coordinates, levels, degree): (usize, usize, usize),
    discount: f64,
) -> Result<(Result<Estimate, String>, Vec<f64>), Error> {
    let features = Polynomial::for_rows(views.views(), coordinates, levels.max(2), degree)?;
    let settings = EvaluationSettings { discount, ..EvaluationSettings::default() };
    let FittedEvaluation { value, outcome, q, .. } = fitted_q_evaluation(views, along, &features, settings)?;
    let rows = views.views().len() / views.width();
    let mut by_action = vec![0.0; rows * q.actions()];
    q.values(views.views(), &mut by_action);
    let by_row =
        (0..rows).flat_map(|i| (0..q.actions()).map(move |a| (i, a))).map(|(i, a)| by_action[a * rows + i]).collect();
    Ok((value.ok_or_else(|| outcome.to_string()), by_row))
}

/// The mean discounted reward that people did receive.
fn recorded(panel: &Panel, discount: f64) -> Estimate {
    let returns: Vec<f64> = panel
        .iter()
        .map(|person| person.rewards.iter().rev().fold(0.0, |later, reward| reward + discount * later))
        .collect();
    Estimate::of(&returns)
}
