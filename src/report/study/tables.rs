//! The tables of a study.

use super::words::{amount, p, percent, plain, share, shown, with_bound, with_interval};
use super::{Numbers, Table};
use crate::fair::study::{NoiseTests, Number, Study};

/// All tables, in the order of the page.
pub(super) fn all(study: &Study) -> Vec<Numbers> {
    let found = [
        Some(("2-levels", levels(study), false)),
        Some(("2-overlap", overlap(study), false)),
        staying(study).map(|table| ("2-leaving", table, true)),
        noise(study).map(|table| ("3-noise", table, false)),
        models(study).map(|table| ("3-models", table, true)),
        support(study).map(|table| ("3-support", table, true)),
        values(study).map(|table| ("4-values", table, false)),
        fair_values(study).map(|table| ("4-fair-value", table, false)),
        unfairness(study).map(|table| ("4-unfairness", table, false)),
        carried(study).map(|table| ("4-support", table, true)),
        changes(study).map(|table| ("5-changes", table, false)),
        who_changes(study).map(|table| ("5-who-changes", table, false)),
        measures(study).map(|table| ("5-groups", table, false)),
        by_level(study).map(|table| ("5-value-by-level", table, false)),
        people(study).map(|table| ("5-people", table, false)),
        tipping(study).map(|table| ("6-tipping", table, false)),
        Some(("7-settings", settings(study), false)),
        Some(("7-tripod-ai", super::guideline::table(study), true)),
    ];
    found.into_iter().flatten().map(|(name, table, folded)| Numbers { name: name.into(), table, folded }).collect()
}

fn levels(study: &Study) -> Table {
    let data = &study.data;
    let mut table = Table::new(
        "People by group. Still there: the share of a group's people with a decision at the last recorded time.",
        1,
        ["group", "people", "share", "decisions", "mean reward", "still there at the end"],
    );
    for (level, remaining) in data.levels.iter().zip(&data.remaining) {
        table.push([
            shown(&level.name),
            level.people.to_string(),
            percent(level.people as f64 / data.people.max(1) as f64),
            level.decisions.to_string(),
            level.mean_reward.map_or("–".into(), |r| amount(r, 3)),
            remaining.last().map_or("–".into(), |x| percent(*x)),
        ]);
    }
    table
}

fn overlap(study: &Study) -> Table {
    let data = &study.data;
    let mut columns = vec!["group".to_string()];
    columns.extend(data.actions.iter().map(|a| shown(a)));
    let caption = if data.never.is_empty() {
        "Who received what: decisions with each action, and their share in the group. Every action was taken in every group."
    } else {
        "Who received what: decisions with each action, and their share in the group. Where an action was never taken its effect is unknown."
    };
    let mut table = Table::new(caption, 1, columns);
    for (level, taken) in data.levels.iter().zip(&data.taken) {
        let cell = |n: &usize| match n {
            0 => "never".to_string(),
            n => format!("{n} ({})", percent(*n as f64 / level.decisions.max(1) as f64)),
        };
        table.push(std::iter::once(shown(&level.name)).chain(taken.iter().map(cell)));
    }
    table
}

fn staying(study: &Study) -> Option<Table> {
    let model = study.data.staying.as_ref()?;
    let mut table = Table::new(
        &format!(
            "Who stays: log-odds of another decision per standard deviation (per unit for groups). {} of {} people left before decision {}; that \
             nothing recorded predicts it: p {}.",
            percent(model.share_of_people),
            study.data.people,
            model.horizon,
            p_of(model.p_value)
        ),
        1,
        ["what", "log-odds of staying"],
    );
    for (name, weight) in &model.log_odds {
        table.push([shown(name), plain(*weight, 3)]);
    }
    Some(table)
}

/// `= 0.04` or `< 0.001`.
pub(super) fn p_of(value: f64) -> String {
    let text = p(value);
    if text.starts_with('<') { text } else { format!("= {text}") }
}

fn noise(study: &Study) -> Option<Table> {
    let believe = study.believe.as_ref()?;
    let mut table = Table::new(
        &format!(
            "Is noise alike at all levels? Ratio of standard deviations (1: equal spread) and Kolmogorov distance of standardised residuals (0: equal \
             shape), for residuals as they are and after the noise model. p-values are corrected for {} tests (Holm).",
            believe.tests
        ),
        1,
        ["", "ratio before", "ratio after", "p", "distance before", "distance after", "p"],
    );
    for output in &believe.outputs {
        let NoiseTests { sd_ratio, variance_holm, shape_distance, shape_holm, .. } = output.after;
        let note = if output.is_carried { "" } else { " (nothing to carry over)" };
        table.push([
            format!("{}{note}", shown(&output.name)),
            plain(output.before.sd_ratio, 2),
            plain(sd_ratio, 2),
            p(variance_holm),
            plain(output.before.shape_distance, 2),
            plain(shape_distance, 2),
            p(shape_holm),
        ]);
    }
    Some(table)
}

fn models(study: &Study) -> Option<Table> {
    let believe = study.believe.as_ref()?;
    let mut table = Table::new(
        "Which noise model was chosen, by a score on people who were left out.",
        2,
        ["output", "model and why"],
    )
    .in_sentences();
    let later = believe.outputs.iter().filter(|output| !output.name.starts_with("first "));
    for output in later {
        if let Some(model) = &output.model {
            let why = model.split_once(": ").map_or(model.as_str(), |(_, why)| why);
            table.push([shown(&output.name), shown(why)]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn support(study: &Study) -> Option<Table> {
    let believe = study.believe.as_ref()?;
    let mut table = Table::new(
        &format!(
            "Counterfactual states of a level that lie where nobody of that level was seen. An error of a counterfactual state is multiplied by {} \
             in one step (gain): {}.",
            plain(believe.gain, 2),
            if believe.gain > 1.0 { "errors may grow over time" } else { "errors fade over time" }
        ),
        1,
        ["group", "counterfactual states", "outside", "share"],
    );
    for level in &believe.support {
        table.push([
            shown(&level.level),
            level.states.to_string(),
            level.outside.to_string(),
            percent(level.outside as f64 / level.states.max(1) as f64),
        ]);
    }
    Some(table)
}

fn or_dash(number: Option<&Number>) -> String {
    number.map_or("–".into(), with_interval)
}

fn values(study: &Study) -> Option<Table> {
    let policies = study.policies.as_ref()?;
    let (low, high) = policies.allowed;
    let mut table = Table::new(
        &format!(
            "Value over the recorded horizon and its difference to what people received, paired over people, with 95 % intervals; p corrected for \
             the number of policies (Holm). Rewards allow values from {} to {}.",
            amount(low, 2),
            amount(high, 2)
        ),
        1,
        ["policy", "value", "minus received", "p"],
    );
    let received = with_interval(&policies.received);
    let dash = || "–".to_string();
    table.push(["what people received".to_string(), received, "0".into(), dash()]);
    for row in &policies.rows {
        table.push([shown(&row.name), with_interval(&row.value), with_interval(&row.minus_received), p(row.p_holm)]);
    }
    Some(table)
}

fn fair_values(study: &Study) -> Option<Table> {
    let policies = study.policies.as_ref()?;
    // Of rules that look at nobody the fair value is the value, which needs no table: section 4 says why there is no other.
    policies.row("Ours").and_then(|row| row.fair_value)?;
    let mut table = Table::new(
        "Fair value: what a policy is worth when each of its decisions is credited with the rewards it would bring at all levels, by their shares, and not \
         only at the person's own. The rest of its value is gained by treating levels differently, and may be negative. Both are from following people \
         under the policy with the fitted mechanism and their own noise, so that they do not add up exactly to the value above. 95 % intervals, which held the \
         truth in 0.91 to 0.96 of simulated studies (tests/coverage).",
        1,
        ["policy", "fair value", "gained by unfairness"],
    );
    for row in policies.rows.iter().filter(|row| row.fair_value.is_some()) {
        let gained = match row.gained_by_unfairness {
            // Of a rule that does not look at people nothing is estimated.
            Some(gained) if gained == Number::exact(0.0) => "0, exactly".to_string(),
            gained => or_dash(gained.as_ref()),
        };
        table.push([shown(&row.name), or_dash(row.fair_value.as_ref()), gained]);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn unfairness(study: &Study) -> Option<Table> {
    let policies = study.policies.as_ref()?;
    let mut table = Table::new(
        "CF metric: share of decisions that would differ had the attribute been different (largest pair of levels), if noise is as modelled. Parity gap: \
         difference between levels at the first decision, which bounds the CF metric there from below whatever the noise.",
        1,
        ["policy", "CF metric", "95 % interval", "at most", "parity gap", "95 % interval"],
    );
    let ends = |(low, high): (f64, f64)| {
        // Of a rule that does not look at people nothing is estimated.
        if (low, high) == (0.0, 0.0) { "exactly".to_string() } else { format!("{} to {}", share(low), share(high)) }
    };
    let gap = policies.received_parity_gap;
    table.push([
        "what people received".to_string(),
        "–".into(),
        "–".into(),
        "–".into(),
        share(gap.estimate),
        ends(gap.interval),
    ]);
    for row in &policies.rows {
        let metric = row.cf_metric;
        let interval = metric.and_then(|m| m.number.interval).map_or("–".into(), ends);
        table.push([
            shown(&row.name),
            metric.map_or("–".into(), |m| share(m.number.mean)),
            interval,
            metric.map_or("–".into(), |m| share(m.upper)),
            row.parity_gap.map_or("–".into(), |g| share(g.estimate)),
            row.parity_gap.map_or("–".into(), |g| ends(g.interval)),
        ]);
    }
    Some(table)
}

fn carried(study: &Study) -> Option<Table> {
    let policies = study.policies.as_ref()?;
    let mut table = Table::new(
        "How far the record carries each policy. Without support: decisions that people like that hardly ever received. Effective people: what importance \
         weights leave at the last decision. Held: action values that had to be kept within what rewards allow. Doubly robust: the value by an estimator \
         that weights people, where weights leave enough of them.",
        2,
        ["policy", "what it does", "without support", "effective people", "held", "doubly robust value"],
    );
    for row in policies.rows.iter().filter(|row| row.unsupported.is_some()) {
        table.push([
            shown(&row.name),
            row.meaning.clone(),
            row.unsupported.map_or("–".into(), percent),
            row.effective_people.map_or("–".into(), |n| plain(n, 0)),
            row.held.map_or("–".into(), percent),
            or_dash(row.doubly_robust.as_ref()),
        ]);
    }
    Some(table)
}

fn changes(study: &Study) -> Option<Table> {
    let changes = study.treated.as_ref()?.changes.as_ref()?;
    let actions = study.data.actions.iter().map(|action| shown(action));
    let mut table = Table::new(
        "What was received, and what Ours would do in its place along the same histories: decisions, and their share of those with the action \
         received.",
        1,
        std::iter::once("received".to_string()).chain(actions.clone().map(|action| format!("Ours: {action}"))),
    );
    for (received, ours) in actions.zip(&changes.decisions) {
        let all: f64 = ours.iter().sum();
        let cell = |n: &f64| if all > 0.0 { format!("{} ({})", plain(*n, 0), percent(n / all)) } else { "–".into() };
        table.push(std::iter::once(received).chain(ours.iter().map(cell)));
    }
    Some(table)
}

fn who_changes(study: &Study) -> Option<Table> {
    let changes = study.treated.as_ref()?.changes.as_ref()?;
    let mut table = Table::new(
        "Who would receive something else under Ours: people with at least one other decision, and decisions, by level.",
        1,
        ["level", "people", "with a change", "share", "decisions", "changed", "share"],
    );
    for level in &changes.by_level {
        let share = |changed: f64, all: usize| percent(changed / all.max(1) as f64);
        table.push([
            shown(&level.level),
            level.people.to_string(),
            plain(level.people_changed, 0),
            share(level.people_changed, level.people),
            level.decisions.to_string(),
            plain(level.decisions_changed, 0),
            share(level.decisions_changed, level.decisions),
        ]);
    }
    Some(table)
}

fn measures(study: &Study) -> Option<Table> {
    let treated = study.treated.as_ref()?;
    let mut columns = vec!["rule".to_string(), "action".to_string()];
    columns.extend(study.data.levels.iter().map(|level| shown(&level.name)));
    columns.extend(["difference".to_string(), "ratio".to_string()]);
    let mut table = Table::new(
        &format!(
            "Share of decisions with each action by level; difference (largest minus smallest, demographic parity) and ratio (smallest over largest). \
             95 % intervals from {} resamples of people.",
            treated.replicates
        ),
        2,
        columns,
    );
    for measure in &treated.measures {
        let mut row = vec![shown(&measure.rule), shown(&measure.action)];
        row.extend(measure.by_level.iter().map(|n| or_dash(n.as_ref())));
        row.extend([with_interval(&measure.difference), with_interval(&measure.ratio)]);
        table.push(row);
    }
    Some(table)
}

fn by_level(study: &Study) -> Option<Table> {
    let policies = study.policies.as_ref()?;
    let first = shown(&study.data.levels.first()?.name);
    let mut columns = vec!["rule".to_string()];
    columns.extend(study.data.levels.iter().map(|level| shown(&level.name)));
    columns.extend(study.data.levels.iter().skip(1).map(|level| format!("{} minus {first}", shown(&level.name))));
    let mut table = Table::new(
        "Value over the recorded horizon by group, and differences between groups, with 95 % intervals.",
        1,
        columns,
    );
    let mut push = |name: &str, by_level: &[Option<Number>]| {
        let gaps = policies.level_gaps.iter().find(|(rule, _)| rule == name).map_or(&[][..], |(_, gaps)| gaps);
        if by_level.len() == study.data.levels.len() && gaps.len() + 1 == by_level.len() {
            let cells = by_level.iter().chain(gaps).map(|n| or_dash(n.as_ref()));
            table.push(std::iter::once(name.to_string()).chain(cells));
        }
    };
    push("received", &policies.received_by_level);
    for row in &policies.rows {
        push(&row.name, &row.by_level);
    }
    Some(table)
}

fn people(study: &Study) -> Option<Table> {
    let people = &study.treated.as_ref()?.people;
    let mut table = Table::new(
        "People for whom it matters most, as asked for with --show-ids: the share of their decisions that Ours would take otherwise in another world, on \
         average over refits.",
        2,
        ["id", "group", "share of decisions"],
    );
    people.iter().for_each(|who| table.push([shown(&who.id), shown(&who.level), share(who.differ)]));
    (!people.is_empty()).then_some(table)
}

fn tipping(study: &Study) -> Option<Table> {
    let found = study.sensitivity.as_ref()?;
    let mut table =
        Table::new("What would have to be wrong before a conclusion changes.", 2, ["conclusion", "changes"])
            .in_sentences();
    let fair = |curve: &crate::audit::sensitivity::Curve| curve.means().iter().all(|mean| *mean == 0.0);
    for (name, at) in &found.crossings {
        let other = found.others.iter().find(|(other, _)| other == name);
        let text = match at {
            // Rules that look at nobody are fair whatever the noise.
            _ if fair(&found.correlation) && other.is_some_and(|(_, curve)| fair(curve)) => {
                "both give everybody the same action, and are fair whatever the noise".to_string()
            }
            Some(at) if *at >= 1.0 => "it is not fairer even if noise is exactly as modelled".to_string(),
            Some(at) => format!(
                "below a correlation of {} between a person's noise in two worlds (1 is assumed)",
                plain(*at, 2)
            ),
            None => "at no correlation between a person's noise in two worlds".into(),
        };
        table.push([format!("Ours is fairer than {name}"), text]);
    }
    let text = match (found.confounding.is_empty(), found.tipping) {
        (true, _) => "not known: importance weights leave too few people".to_string(),
        (false, Some(gamma)) if gamma <= 1.0 => "not determined by weighting even without confounding".into(),
        (false, Some(gamma)) => {
            format!("if something unrecorded changes the odds of an action by a factor of {}", plain(gamma, 2))
        }
        (false, None) => "not even if something unrecorded changes the odds of an action by a factor of 3".into(),
    };
    table.push(["Sign of Ours minus what people received (by weighting)".to_string(), text]);
    Some(table)
}

fn settings(study: &Study) -> Table {
    let done = &study.done;
    let [id, time, attribute, action, reward] = done.columns.clone().map(|name| shown(&name));
    let mut table = Table::new("Settings.", 2, ["setting", "value"]);
    let states = done.states.iter().map(|s| shown(s)).collect::<Vec<_>>().join(", ");
    let [values, metric, groups] = done.replicates;
    let mut push = |name: &str, value: String| table.push([name.to_string(), value]);
    push("program", done.program.clone());
    push("file", shown(&study.data.file));
    push(
        "columns",
        format!(
            "{id} (person), {time} (time), {attribute} (attribute), {action} (action), {reward} (reward), {states} (state)"
        ),
    );
    push("rows", format!("{:?}", done.rows).to_lowercase());
    push("seed, discount", format!("{}, {}", done.seed, done.discount));
    push(
        "folds of people",
        format!("{} ({})", done.folds, done.fold_sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    );
    push("resamples", format!("{values} for values, {metric} for the CF metric, {groups} for groups"));
    let dropout = match done.dropout {
        crate::audit::recorded::Dropout::AsRecorded => "each person valued over their own recorded decisions",
        crate::audit::recorded::Dropout::Weighted { .. } => "those who stayed are weighted for those who left",
    };
    push("people who leave", dropout.into());
    push("learning from everybody", done.outcome.clone().unwrap_or("not reached".into()));
    if let (Some(changed), Some(stake)) = (done.changed, done.at_stake) {
        push(
            "stability",
            format!(
                "learned from half of the people, {} of decisions change, with {} of value at stake in each",
                percent(changed),
                amount(stake, 3)
            ),
        );
    }
    push("formats", format!("study {}, policy {}", study.version, done.policy_version));
    table
}

/// The pair of levels with the largest CF metric of Ours, in words.
pub(super) fn pairs_in_words(study: &Study) -> Option<String> {
    let policies = study.policies.as_ref()?;
    let of_ours = |laws: &[crate::fair::study::Bounded]| laws.first().map_or(0.0, |ours| ours.number.mean);
    let (a, b, laws) = policies.pairs.iter().max_by(|a, b| of_ours(&a.2).total_cmp(&of_ours(&b.2)))?;
    laws.first().filter(|ours| ours.number.mean > 0.0)?;
    Some(format!("{} against {}: {}", shown(a), shown(b), with_bound(laws.first()?)))
}
