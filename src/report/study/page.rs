//! The page: seven answers in order, each with a picture, its numbers, and what it does not show.

use super::tables::p_of;
use super::words::{accepted, meaning, percent, plain, recommendation, sentence, share, shown, with_interval};
use super::{Numbers, Picture};
use crate::fair::study::{Number, PROGRAM, SideBySide, Study, Verdict};
use crate::report::escape;

const STYLE: &str = concat!(include_str!("../style.css"), include_str!("study.css"));

/// Title, what is said, and what it does not show.
struct Answer {
    number: char,
    title: &'static str,
    said: Vec<String>,
    not_shown: &'static str,
}

/// The page of a study.
pub(super) fn html(study: &Study, command: &str, pictures: &[Picture], tables: &[Numbers]) -> String {
    let answers = [data(study), believe(study), side_by_side(study), treated(study), sensitivity(study), done(study)];
    let links: String = answers
        .iter()
        .map(|answer| format!("<a href=\"#s{}\">{}. {}</a>\n", answer.number, answer.number, answer.title))
        .collect();
    let sections: String = answers.iter().map(|answer| section(answer, pictures, tables)).collect();
    // The file's name alone: a page is passed on, and the path says more about its author than about the study.
    let file = std::path::Path::new(&study.data.file).file_name().map(|name| name.to_string_lossy().into_owned());
    let name = escape(&shown(file.as_deref().unwrap_or(&study.data.file)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>counterfair study: {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<p class=\"file\">Study of {name}</p>\n\
         {}<nav>\n{links}</nav>\n</header>\n<main>\n{sections}\
         <section><h2>Run it again</h2>\n<p class=\"command\"><code>{}</code></p></section>\n</main>\n</body>\n</html>\n",
        verdict(study, pictures),
        escape(&shown(command))
    )
}

fn verdict(study: &Study, pictures: &[Picture]) -> String {
    let class = match study.verdict {
        Verdict::Better { .. } => "better",
        Verdict::NoDifference { .. } => "same",
        _ => "no",
    };
    let said = match &study.verdict {
        Verdict::CannotSupport { because } | Verdict::NotBelievable { because } if because.len() > 1 => {
            let opening = match study.verdict {
                Verdict::CannotSupport { .. } => "These data cannot support a policy, because",
                _ => "Counterfactuals are not to be believed here, because",
            };
            let items: String = because.iter().map(|reason| format!("<li>{}</li>\n", escape(&shown(reason)))).collect();
            format!("<h1>{}{opening}</h1>\n<ul class=\"because\">\n{items}</ul>\n", escape(&shown(&accepted(study))))
        }
        _ => format!("<h1>{}</h1>\n", escape(&shown(&sentence(study)))),
    };
    let cautions: String = study.cautions.iter().map(|text| format!("<li>{}</li>\n", escape(&shown(text)))).collect();
    let cautions = if cautions.is_empty() {
        String::new()
    } else {
        format!("<h3>Before using the numbers</h3>\n<ul>\n{cautions}</ul>\n")
    };
    format!(
        "<div class=\"verdict {class}\" id=\"s1\">\n{said}<p>{}</p>\n</div>\n<div class=\"words\"><div><p>{}</p>\n{cautions}\
         <p class=\"not\">Not shown: whether the attribute's effect should be removed, and anything about people unlike those in the file.</p></div>\n\
         <div>{}</div></div>\n",
        escape(recommendation(study)),
        escape(&shown(&meaning(study))),
        figures('1', pictures)
    )
}

fn figures(number: char, pictures: &[Picture]) -> String {
    pictures
        .iter()
        .filter(|picture| picture.name.starts_with(number))
        .map(|Picture { name, svg, caption }| {
            let caption = escape(caption);
            let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{caption}\" "), 1);
            format!("<figure>\n{svg}\n<figcaption>{caption} <a href=\"{name}.svg\">SVG</a></figcaption>\n</figure>\n")
        })
        .collect()
}

fn section(answer: &Answer, pictures: &[Picture], tables: &[Numbers]) -> String {
    let Answer { number, title, said, not_shown } = answer;
    let said: String = said.iter().map(|text| format!("<p>{}</p>\n", escape(&shown(text)))).collect();
    let tables: String = tables
        .iter()
        .filter(|table| table.name.starts_with(*number))
        .map(|Numbers { name, table, folded }| {
            let shown = format!("{}<p class=\"links\"><a href=\"{name}.csv\">CSV</a></p>\n", table.html());
            match folded {
                false => shown,
                true => {
                    let what = table.caption.split(['.', ':']).next().unwrap_or_default();
                    format!("<details><summary>{}</summary>\n{shown}</details>\n", escape(what))
                }
            }
        })
        .collect();
    format!(
        "<section id=\"s{number}\">\n<h2>{number}. {title}</h2>\n{said}<div class=\"figures\">\n{}</div>\n{tables}\
         <p class=\"not\">Not shown: {}</p>\n</section>\n",
        figures(*number, pictures),
        escape(not_shown)
    )
}

fn data(study: &Study) -> Answer {
    let data = &study.data;
    let levels: Vec<String> = data.levels.iter().map(|level| format!("{} ({})", level.name, level.people)).collect();
    let mut said = vec![format!(
        "{} people with {} decisions, at most {} each; {}: {}; actions: {}.",
        data.people,
        data.decisions,
        data.horizon,
        study.done.columns[2],
        levels.join(", "),
        data.actions.join(", ")
    )];
    let repairs = &data.repairs;
    said.push(if repairs.is_none() {
        "No row was dropped.".into()
    } else {
        format!(
            "Because of missing cells {} rows were dropped: {} people truncated, {} removed.",
            repairs.rows_dropped, repairs.people_cut, repairs.people_dropped
        )
    });
    said.extend(
        data.sample.as_ref().map(|sample| {
            format!("They are 1 in {} people of the file, chosen by a hash of their ids.", sample.one_in)
        }),
    );
    said.extend(study.notes.iter().map(|note| format!("Note: {note}")));
    for (level, action) in &data.never {
        said.push(format!("Nobody in {level} ever received {action}: its effect there is extrapolated."));
    }
    if let Some(staying) = &data.staying {
        said.push(format!(
            "{} of people left before decision {}. That nothing recorded predicts who leaves: p {}.",
            percent(staying.share_of_people),
            staying.horizon,
            p_of(staying.p_value)
        ));
    }
    if let Some(found) = data.propensity.as_ref().filter(|found| found.separated) {
        said.push(format!(
            "Who received which action is predicted almost without error (log-odds up to {:.1}): there is little overlap.",
            found.largest_log_odds
        ));
    }
    Answer {
        number: '2',
        title: "The data",
        said,
        not_shown: "who is not in the file, and why people received what they did.",
    }
}

fn believe(study: &Study) -> Answer {
    let said = match &study.believe {
        None => vec!["Nothing could be fitted.".into()],
        Some(believe) => {
            let mut said: Vec<String> = believe.doubts.iter().map(|doubt| format!("Doubtful: {doubt}.")).collect();
            said.extend(study.accepted.iter().map(|what| format!("No finding: {what}.")));
            if said.is_empty() {
                said.push(format!(
                    "No reason to doubt the counterfactuals was found in {} tests: after the noise model no residual spread (ratio {} or more) \
                     and no residual shape (distance {} or more) differs between levels.",
                    believe.tests,
                    crate::fair::study::SD_RATIO,
                    crate::fair::study::SHAPE_DISTANCE
                ));
            }
            if believe.gain > 1.0 {
                said.push(format!(
                    "An error of a counterfactual state may grow from step to step: one step multiplies it by up to {}.",
                    plain(believe.gain, 2)
                ));
            }
            said
        }
    };
    Answer {
        number: '3',
        title: "May one believe the counterfactuals?",
        said,
        not_shown: "that a person's noise would have been the same in another world; no data can show it (see section 6).",
    }
}

fn side_by_side(study: &Study) -> Answer {
    let mut said = Vec::new();
    if let Some(policies) = &study.policies {
        said.push(
            "Ours is fair: it decides from the states a person has in all worlds. Full reads state and level, Unaware the state alone. Each was \
             learned without the people it is judged on."
                .into(),
        );
        said.extend(policies.row("Ours").map(|ours| in_units(&ours.minus_received, policies)));
        let metric = |name: &str| policies.row(name).and_then(|row| row.cf_metric);
        if let (Some(ours), Some(full)) = (metric("Ours"), metric("Full")) {
            said.push(format!(
                "Ours would decide differently in another world in {} of decisions (at most {}), Full in {}.",
                percent(ours.number.mean),
                percent(ours.upper),
                percent(full.number.mean)
            ));
        }
        said.extend(
            super::tables::pairs_in_words(study)
                .filter(|_| policies.pairs.len() > 1)
                .map(|t| format!("The pair of groups that differs most under Ours is {t}.")),
        );
        said.extend(policies.no_metric.iter().map(|why| format!("There is no CF metric: {why}.")));
        said.extend(policies.withheld.iter().map(|(name, why)| format!("There is no CF metric of {name}: {why}.")));
        let gained = |name: &str| policies.row(name).and_then(|row| row.gained_by_unfairness);
        if let (Some(ours), Some(full)) = (gained("Ours"), gained("Full")) {
            said.push(format!(
                "Of the value of Full {} is gained by treating groups differently, of that of Ours {}.",
                with_interval(&full),
                with_interval(&ours)
            ));
        }
        said.extend(policies.no_fair_value.iter().map(|why| format!("There is no fair value: {why}.")));
        if policies.row(PROGRAM).is_some() {
            said.push(
                "Program is a policy from elsewhere. It was judged on everybody in the file: that is fair to the others only if it was not trained on \
                 these people."
                    .into(),
            );
        }
    } else {
        said.push("No policy could be learned or followed.".into());
    }
    Answer {
        number: '4',
        title: "Policies side by side",
        said,
        not_shown: "what happens beyond the recorded decisions, and what unrecorded reasons for actions would change (section 6). The intervals are about \
                    the policies as learned on four fifths of the people; the one fitted to everybody is expected to be at least as good.",
    }
}

/// A difference of values as one of a decision, and in standard deviations of what people received.
fn in_units(difference: &Number, policies: &SideBySide) -> String {
    let in_sd = policies.received_sd.filter(|sd| *sd > 0.0).map_or(String::new(), |sd| {
        format!(", or {} standard deviations of what people received", with_interval(&difference.over(sd)))
    });
    let per_decision = difference.over(policies.discounted_decisions);
    format!("Ours minus what people received is {} per decision{in_sd}.", with_interval(&per_decision))
}

fn treated(study: &Study) -> Answer {
    let mut said = Vec::new();
    if let Some(treated) = &study.treated {
        said.extend(treated.people_affected.map(|share| {
            format!(
                "{} of people would see at least one decision in ten change under Ours in another world.",
                percent(share)
            )
        }));
        if treated.people_affected.is_some() && treated.people.is_empty() {
            said.push("Ids are not shown; --show-ids N lists the N people for whom it matters most.".into());
        }
        for (name, folds) in study.policies.iter().flat_map(|policies| &policies.constant_by_fold) {
            let folds: Vec<String> = folds.iter().map(|(action, n)| format!("{action} in {n}")).collect();
            said.push(format!(
                "{name} gives everybody in a fold the same action, but not the same one in all folds ({}): differences between groups in its rows \
                 come from who is in which fold, by chance.",
                folds.join(", ")
            ));
        }
        if let Some(policies) = &study.policies {
            let gap = policies.received_parity_gap;
            let received = format!(
                "At the first decision what groups received differs by {} ({} to {}), the largest difference between two of them",
                share(gap.estimate),
                share(gap.interval.0),
                share(gap.interval.1)
            );
            said.push(if gap.interval.0 > 0.0 {
                format!(
                    "{received}; whatever the noise, at least {} differs in another world if nothing else causes both attribute and state.",
                    share(gap.interval.0)
                )
            } else {
                format!("{received}: chance alone may make as much.")
            });
        }
    }
    Answer {
        number: '5',
        title: "Who is treated",
        said,
        not_shown: "which of these definitions of fairness is right for this decision. Equal shares may be unfair where needs differ.",
    }
}

fn sensitivity(study: &Study) -> Answer {
    let said = match &study.sensitivity {
        None => vec!["Not computed.".into()],
        Some(_) => vec![
            "Two things about counterfactuals cannot be tested: that a person's noise is the same in all worlds, and that the whole difference between \
             levels is an effect of the attribute. One thing about actions cannot: that nothing unrecorded led to them. Each is weakened here until \
             the conclusion changes."
                .into(),
        ],
    };
    Answer {
        number: '6',
        title: "How much must be wrong before the conclusion changes?",
        said,
        not_shown: "how wrong it is. The curves are for the policy fitted to everybody; the bounds under confounding have no sampling error added.",
    }
}

fn done(study: &Study) -> Answer {
    Answer {
        number: '7',
        title: "What was done",
        said: vec![format!(
            "People were split into {} folds by a hash of seed and id. For each fold the mechanism and three policies were learned from the others and \
             followed along those held out: every decision that is judged is about a person whom its policy was not learned from. The regressions behind \
             values are fitted to everybody. Intervals resample people and refit what was fitted.",
            study.done.folds
        )],
        not_shown: "choices made before the file existed: who was asked, what was measured, what was left out.",
    }
}
