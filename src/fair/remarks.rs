//! What a person should know about their file before anything is fitted to it.

use super::People;
use crate::files::visible;
use crate::kernel::numeric::quantile;
use crate::kernel::people::{Labels, Panel};
use std::collections::BTreeMap;

/// Fewer people than this at a level, and nothing that is fitted to the level alone is to be believed.
const FEW: usize = 10;

/// A state with this many values or fewer is a class, not a measurement.
const CLASSES: usize = 2;

/// So many times as far from the median as the middle half of a column reaches, and a cell is more likely a code or a slip than a person.
const FAR: f64 = 1e4;

/// Levels named in one line, and columns given a line of their own.
const NAMED: usize = 5;

/// Remarks about people, one line each; nothing where there is nothing to say. `names_people` says whether an id may be in them.
pub(super) fn about(people: &People, names_people: bool) -> Vec<String> {
    let panel = people.panel();
    let mut lines = Vec::new();
    of_names(&mut lines, "group", "groups", panel.levels());
    of_names(&mut lines, "action", "actions", panel.action_names());
    if let [only] = panel.levels().names() {
        lines.push(format!("everybody is in group {}: there is no other group to be fair towards", visible(only)));
    }
    if let [only] = panel.action_names().names() {
        lines.push(format!("everybody received action {}: there is nothing to choose between", visible(only)));
    }
    lines.extend(one_action_each(panel));
    of_level_sizes(&mut lines, panel);
    if panel.transitions() == 0 {
        lines.push(
            "no decision is followed by a state: there is no transition to learn from (with --rows outgoing the state after a decision is \
             on the person's next row)"
                .into(),
        );
    }
    let names = people.state_names();
    let mut columns = Columns::default();
    let whom = |owner: usize| match names_people {
        true => format!("person {}", visible(&panel.ids()[owner])),
        false => "one person".into(),
    };
    for (j, name) in names.iter().enumerate() {
        let column = Column { name, values: panel.states().iter().skip(j).step_by(names.len()).copied().collect() };
        let person = |row: usize| {
            let owner = panel.owner_of(row);
            (whom(owner), row - panel.states_of(owner).start + 1)
        };
        column.remarks(&mut columns, person, true);
    }
    let rewards = Column { name: &people.columns().reward, values: panel.rewards().to_vec() };
    let person = |d: usize| {
        let owner = (0..panel.people()).find(|&i| panel.decisions_of(i).contains(&d)).unwrap_or(0);
        (whom(owner), d - panel.decisions_of(owner).start + 1)
    };
    rewards.remarks(&mut columns, person, false);
    for kind in [columns.constant, columns.classes, columns.far] {
        let more = kind.len().saturating_sub(NAMED);
        lines.extend(kind.into_iter().take(NAMED));
        if more > 0 {
            lines.push(format!("the same holds for {more} more columns"));
        }
    }
    lines
}

/// Remarks about columns, by kind: of each kind a few are given, and the rest is counted.
#[derive(Default)]
struct Columns {
    constant: Vec<String>,
    classes: Vec<String>,
    far: Vec<String>,
}

/// Names that a person would take for one.
fn of_names(lines: &mut Vec<String>, one: &str, many: &str, labels: &Labels) {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in labels.names() {
        let folded: String =
            name.to_lowercase().chars().filter(|c| c.is_alphanumeric() || "<>=+-.×".contains(*c)).collect();
        alike.entry(folded).or_default().push(name);
    }
    for names in alike.values().filter(|names| names.len() > 1) {
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        lines.push(format!(
            "{many} {} differ only in case, spaces or punctuation: are they one {one}? They are taken for {}",
            quoted.join(" and "),
            names.len()
        ));
    }
}

/// A trial that assigns once: nobody's action ever changes, so that policies which change it are judged on people who do not exist.
fn one_action_each(panel: &Panel) -> Option<String> {
    let repeated = || panel.iter().filter(|person| person.actions.len() > 1);
    let changes = repeated().any(|person| person.actions.windows(2).any(|pair| pair[0] != pair[1]));
    let people = repeated().count();
    (panel.action_names().len() > 1 && people > 0 && !changes).then(|| {
        format!(
            "nobody's action ever changes ({people} people have more than one decision): what follows a change is not on record, and most of \
             what a policy does after the first decision is extrapolated"
        )
    })
}

fn of_level_sizes(lines: &mut Vec<String>, panel: &Panel) {
    let mut sizes = vec![0usize; panel.levels().len()];
    panel.level_codes().iter().for_each(|&k| sizes[k as usize] += 1);
    let small: Vec<usize> = (0..sizes.len()).filter(|&k| sizes[k] < FEW).collect();
    if small.is_empty() {
        return;
    }
    let named: Vec<String> =
        small.iter().take(NAMED).map(|&k| format!("{} ({})", visible(panel.levels().name(k)), sizes[k])).collect();
    let rest = if small.len() > NAMED { format!(" and {} more", small.len() - NAMED) } else { String::new() };
    lines.push(format!(
        "{} of {} groups have fewer than {FEW} people, of {} in all: {}{rest}. What is fitted to so few says little; join groups, or leave \
         them out",
        small.len(),
        sizes.len(),
        panel.people(),
        named.join(", ")
    ));
}

struct Column<'a> {
    name: &'a str,
    values: Vec<f64>,
}

impl Column<'_> {
    /// `person` gives who a value belongs to, and which of theirs it is.
    fn remarks(&self, remarks: &mut Columns, person: impl Fn(usize) -> (String, usize), is_state: bool) {
        let name = visible(self.name);
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let mut distinct = sorted.clone();
        distinct.dedup();
        match distinct[..] {
            [] => return,
            [only] => remarks.constant.push(format!("column {name} is {only} on every row")),
            [low, high] if is_state && distinct.len() <= CLASSES => remarks.classes.push(format!(
                "state {name} is {low} or {high}: noise is not added to a class, so that its counterfactual values are not to be believed"
            )),
            _ => {}
        }
        let (median, middle) = (quantile(&sorted, 0.5), quantile(&sorted, 0.75) - quantile(&sorted, 0.25));
        let farthest =
            self.values.iter().enumerate().max_by(|(_, a), (_, b)| (*a - median).abs().total_cmp(&(*b - median).abs()));
        if let Some((row, value)) =
            farthest.filter(|(_, value)| middle > 0.0 && (**value - median).abs() > FAR * middle)
        {
            let (whom, which) = person(row);
            remarks.far.push(format!(
                "column {name} is {value:e} for {whom} (number {which} of theirs), while half of all lie within {middle:.3} of {median}: is it \
                 a code for something missing, or a slip?"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{PanelBuilder, Person};

    /// Thirty people with three states and two decisions each, before a change of one person's record.
    fn people(levels: &[&str], actions: &[&str], state: impl Fn(usize, usize) -> f64) -> Vec<String> {
        let mut builder = PanelBuilder::new(Labels::new(levels.to_vec()), Labels::new(actions.to_vec()), 1).unwrap();
        for i in 0..30 {
            let states: Vec<f64> = (0..3).map(|t| state(i, t)).collect();
            let action = |t: usize| ((i + t) % actions.len()) as u32;
            let (level, rewards) = ((i % levels.len()) as u32, [i as f64, 0.5]);
            let id = format!("p{i}");
            builder
                .push(Person { id: &id, level, states: &states, actions: &[action(0), action(1)], rewards: &rewards })
                .unwrap();
        }
        about(&People::from(builder.finish()), true)
    }

    fn wander(i: usize, t: usize) -> f64 {
        ((i * 7 + t * 3) % 11) as f64
    }

    #[track_caller]
    fn one(lines: &[String], parts: &[&str]) {
        assert!(lines.len() == 1 && parts.iter().all(|part| lines[0].contains(part)), "{lines:?}");
    }

    #[test]
    fn an_ordinary_study_gives_no_remark() {
        assert_eq!(people(&["f", "m"], &["0", "1"], wander), Vec::<String>::new());
    }

    #[test]
    fn each_oddity_is_said_by_name() {
        one(&people(&["f"], &["0", "1"], wander), &["everybody is in group f"]);
        one(&people(&["f", "m"], &["0"], wander), &["everybody received action 0"]);
        one(&people(&["Female", "female"], &["0", "1"], wander), &["groups \"Female\" and \"female\"", "one group"]);
        one(
            &people(&["f", "m"], &["no dose", "No  Dose", "dose"], wander),
            &["actions", "\"No  Dose\" and \"no dose\""],
        );
        let sixty: Vec<String> = (0..30).map(|k| format!("level{k}")).collect();
        let names: Vec<&str> = sixty.iter().map(String::as_str).collect();
        one(
            &people(&names, &["0", "1"], wander),
            &["30 of 30 groups have fewer than 10 people, of 30", "(1)", "25 more"],
        );
        one(
            &people(&["f", "m"], &["0", "1"], |i, t| ((i + t) % 2) as f64),
            &["state state1 is 0 or 1", "not to be believed"],
        );
        one(&people(&["f", "m"], &["0", "1"], |_, _| 3.5), &["column state1 is 3.5 on every row"]);
        let slip = |i, t| if (i, t) == (4, 1) { 1e20 } else { wander(i, t) };
        one(&people(&["f", "m"], &["0", "1"], slip), &["column state1 is 1e20 for person p4 (number 2"]);
    }

    #[test]
    fn a_trial_that_assigns_once_is_told_that_nobody_ever_changes() {
        let lines = |change: usize| {
            let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
            for i in 0..30usize {
                let states: Vec<f64> = (0..3).map(|t| wander(i, t)).collect();
                let (id, first) = (format!("p{i}"), (i / 2 % 2) as u32);
                let second = if i == change { 1 - first } else { first };
                let (level, rewards) = (i as u32 % 2, [i as f64, 0.5]);
                builder
                    .push(Person { id: &id, level, states: &states, actions: &[first, second], rewards: &rewards })
                    .unwrap();
            }
            about(&People::from(builder.finish()), true)
        };
        one(&lines(usize::MAX), &["nobody's action ever changes", "30 people"]);
        assert_eq!(lines(17), Vec::<String>::new());
    }

    #[test]
    fn of_many_columns_a_few_are_named_and_the_rest_is_counted() {
        let width = 9;
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), width).unwrap();
        for i in 0..30 {
            let states: Vec<f64> = (0..2 * width).map(|k| ((i + k / width) % 2) as f64).collect();
            let (id, action) = (format!("p{i}"), [(i / 2 % 2) as u32]);
            let person =
                Person { id: &id, level: i as u32 % 2, states: &states, actions: &action, rewards: &[i as f64] };
            builder.push(person).unwrap();
        }
        let lines = about(&People::from(builder.finish()), true);
        assert_eq!(lines.len(), NAMED + 1, "{lines:?}");
        assert!(lines[0].contains("state1 is 0 or 1") && lines[NAMED].contains("4 more columns"), "{lines:?}");
    }

    #[test]
    fn signs_tell_names_apart_and_control_characters_are_written_out() {
        assert_eq!(people(&["<5", ">5"], &["-1", "1"], wander), Vec::<String>::new());
        one(&people(&["\u{1b}[2Jx"], &["0", "1"], wander), &["group \\u{1b}[2Jx"]);
    }
}
