//! Whether a study's noise is additive, as far as that can be tested: one row an attribute and output.

use super::{NotLearned, Study};
use crate::model::fitted::{FitSettings, fit};
use crate::preprocess::diagnostics::diagnose;
use crate::preprocess::{Sequential, batch};

/// The test that the spread of residuals does not depend on the level, for one output of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Additivity {
    /// The sensitive attribute.
    pub attribute: String,
    /// A state coordinate by name, or `reward`.
    pub output: String,
    /// Wald statistic, χ² with K − 1 degrees of freedom under additivity.
    pub statistic: f64,
    /// Its p-value.
    pub p_value: f64,
}

/// Fits the default mechanism to everybody, attribute by attribute, and looks at its residuals. Outputs without noise are left out.
///
/// # Errors
/// [`NotLearned`] when a mechanism cannot be fitted or counterfactual states leave the finite numbers.
pub fn additivity(study: &Study) -> Result<Vec<Additivity>, NotLearned> {
    let mut rows = Vec::new();
    for attribute in study.attributes() {
        let panel = study.panel(attribute).expect("an attribute of the study");
        let mechanism = fit(&panel, &FitSettings::default())?;
        let experience = batch(&Sequential::new(mechanism.clone(), panel.level_shares()), &panel)?;
        for found in diagnose(&mechanism, &panel, &experience).dependence {
            rows.push(Additivity {
                attribute: attribute.into(),
                output: study.state_names().get(found.output).cloned().unwrap_or_else(|| "reward".into()),
                statistic: found.statistic,
                p_value: found.p_value,
            });
        }
    }
    Ok(rows)
}
