//! A study as JSON.

use crate::audit::sensitivity::Curve;
use crate::fair::study::{Bounded, Study};
use serde_json::{Value, json as value};

/// Everything on the page.
///
/// `"format": "counterfair study"`, `"version": 1`. Every estimate has `mean`, `standard_error` and `interval` (95 %; `null` where unknown);
/// CF metrics also have `upper`.
///
/// | field | holds |
/// |---|---|
/// | `verdict` | `kind` (`cannot_support`, `not_believable`, `not_measured`, `no_difference`, `better`, `worse`) with `because`, or `difference` and `unfairness` |
/// | `accepted` | what is accepted by assumption, where a state is kept: the file's first line |
/// | `sentence`, `cautions` | the first line of the page; what should be known before the numbers are used |
/// | `data` | people, decisions, levels, actions by level (`taken[level][action]`) and time, repairs, who left, how people were treated |
/// | `believe` | noise models, tests before and after them with sizes and corrected p-values, support, gain, doubts |
/// | `notes` | what was said with `--note` |
/// | `policies` | `received`, and `rows`: value, difference to what people received, fair value and what is gained by unfairness, CF metric of each policy |
/// | `treated` | group measures with differences and ratios, shares over time, what Ours would change (`changes.decisions[received][ours]`), people for whom it matters |
/// | `sensitivity` | CF metric against two violations, bounds of the difference under confounding, tipping points |
/// | `done` | settings, seed, versions; `command` to run it again |
/// | `files` | what was written beside it |
pub fn json(study: &Study, command: &str, files: &[String]) -> Value {
    let mut found = serde_json::to_value(study).unwrap_or_default();
    found["sentence"] = value!(super::sentence(study));
    found["command"] = value!(command);
    found["files"] = value!(files);
    let curve = |curve: &Curve| -> Value {
        let points = curve.at.iter().zip(&curve.metric);
        points.map(|(at, law)| value!({ "at": at, "cf_metric": Bounded::from(law) })).collect()
    };
    found["sensitivity"] = study.sensitivity.as_ref().map_or(Value::Null, |s| {
        value!({
            "cross_world_correlation": curve(&s.correlation),
            "causal_share": curve(&s.share),
            "others": s.others.iter().map(|(name, c)| value!({ "policy": name, "cross_world_correlation": curve(c) })).collect::<Vec<_>>(),
            "no_fairer_below": s.crossings.iter().map(|(name, at)| value!({ "policy": name, "correlation": at })).collect::<Vec<_>>(),
            "confounding": s.confounding.iter().map(|(gamma, b)| value!({ "gamma": gamma, "difference": b })).collect::<Vec<_>>(),
            "tipping_gamma": s.tipping,
        })
    });
    found
}
