//! A study as JSON.

use crate::audit::sensitivity::Curve;
use crate::fair::study::{Bounded, Study};
use serde_json::{Value, json as value};

/// Everything on the page.
///
/// `"format": "counterfair study"`, `"version": 2`. Every estimate has `mean`, `standard_error` and `interval` (95 %; `null` where unknown);
/// CF metrics also have `upper`.
///
/// Version 2 has four kinds of verdict where version 1 had six, `doubts` apart from `cautions`, which are objects and no longer strings, and values
/// fold by fold.
///
/// | field | holds |
/// |---|---|
/// | `verdict` | `kind`: `not_possible` with `because`; `one_for_all` with `action` and `difference`; `tells_apart` with `difference`, `best_single` (an action, and Ours minus it), `unfairness` (at most; `null` where not known) and `recommended`; `no_difference` with `difference` |
/// | `doubts` | doubts about what the verdict says: `about` (`value`, `counterfactuals`, `stability`, `people`), `says`, `size` (`unit` and `amount`, or `null`), `withdraws` |
/// | `accepted` | what is accepted by assumption, where a state is kept: the file's first line |
/// | `sentence`, `cautions` | the first lines of the page; what else should be known before the numbers are used, as `doubts` |
/// | `data` | people, decisions, levels, actions by level (`taken[level][action]`) and time, repairs, who left, how people were treated |
/// | `believe` | noise models, tests before and after them with sizes and corrected p-values, support, gain, doubts |
/// | `notes` | what was said with `--note` |
/// | `policies` | `received`, and `rows`: value, difference to what people received, fair value and what is gained by unfairness, CF metric of each policy; `ours_minus_best`, `ours_minus_full`; `with_history`: differences to what people received when a person's past is read as well |
/// | `rule` | what Ours does at first decisions: for each state and group the actions with their cut points |
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
