//! Panels, studies, preprocessed histories and memories.

use super::{Content, Show};
use crate::kernel::model::{Mechanism, abduct, predict};
use crate::kernel::people::{Panel, Person};
use crate::kernel::preprocess::{Experience, Memory, View};
use crate::report::Table;
use crate::report::number::plain;
use crate::report::plot::{Axis, Chart, Ink, Series};
use crate::reproduction::Study;

/// Rows that are shown of something long.
const ROWS: usize = 6;
/// Decimals of states and rewards.
const DECIMALS: usize = 3;

impl Show for Panel {
    fn content(&self) -> Content {
        let caption = format!(
            "{} people, {} decisions, up to {} each; levels {}; actions {}. The first {} rows:",
            self.people(),
            self.decisions(),
            self.horizon(),
            self.levels().names().join(", "),
            self.action_names().names().join(", "),
            ROWS.min(self.state_rows())
        );
        let states = (1..=self.state_dim()).map(|j| format!("state{j}"));
        let columns = ["person", "z", "t"].map(String::from).into_iter().chain(states);
        let mut table = Table::new(&caption, 2, columns.chain(["action", "reward"].map(String::from)));
        let rows = self.iter().flat_map(|person| rows(self, person));
        rows.take(ROWS).for_each(|row| table.push(row));
        Content::table(&table)
    }
}

fn rows<'a>(panel: &'a Panel, person: Person<'a>) -> impl Iterator<Item = Vec<String>> + 'a {
    person.states.chunks_exact(panel.state_dim()).enumerate().map(move |(t, state)| {
        let mut row =
            vec![person.id.to_string(), panel.levels().name(person.level as usize).into(), (t + 1).to_string()];
        row.extend(state.iter().map(|s| plain(*s, DECIMALS)));
        row.push(person.actions.get(t).map_or("".into(), |a| panel.action_names().name(*a as usize).into()));
        row.push(person.rewards.get(t).map_or("".into(), |r| plain(*r, DECIMALS)));
        row
    })
}

impl Show for Study {
    fn content(&self) -> Content {
        let caption = format!(
            "{} {} people, {} decisions; state {}; actions {}.",
            self.description(),
            self.people(),
            self.decisions(),
            self.state_names().join(", "),
            self.action_names().names().join(", ")
        );
        let mut table = Table::new(&caption, 2, ["attribute", "level", "people", "share"]);
        for attribute in self.attributes().filter_map(|name| self.attribute(name)) {
            for (k, level) in attribute.levels.names().iter().enumerate() {
                let count = attribute.codes.iter().filter(|code| **code as usize == k).count();
                let share = count as f64 / self.people().max(1) as f64;
                table.push([attribute.name.clone(), level.clone(), count.to_string(), plain(share, 3)]);
            }
        }
        Content::table(&table)
    }
}

impl<V: View> Show for Experience<V> {
    fn content(&self) -> Content {
        let caption = format!(
            "{} people, {} tuples; a policy reads {} numbers. The first {} rows:",
            self.people(),
            self.transitions(),
            self.width(),
            ROWS.min(self.views().len() / self.width())
        );
        let read = (1..=self.width()).map(|j| format!("s̃{j}"));
        let columns = ["person", "t"].map(String::from).into_iter().chain(read);
        let mut table = Table::new(&caption, 1, columns.chain(["action", "reward"].map(String::from)));
        let people = (0..self.people()).flat_map(|i| self.views_of(i).enumerate().map(move |(t, row)| (i, t, row)));
        for (i, t, row) in people.take(ROWS) {
            let decision = Some(self.decisions_of(i).start + t).filter(|d| self.decisions_of(i).contains(d));
            let view = &self.views()[row * self.width()..(row + 1) * self.width()];
            let mut cells = vec![(i + 1).to_string(), (t + 1).to_string()];
            cells.extend(view.iter().map(|s| plain(*s, DECIMALS)));
            cells.push(decision.map_or("".into(), |d| self.actions()[d].to_string()));
            cells.push(decision.map_or("".into(), |d| plain(self.rewards()[d], DECIMALS)));
            table.push(cells);
        }
        Content::table(&table)
    }
}

impl Show for Memory {
    fn content(&self) -> Content {
        let caption = format!("What is remembered of {} people; the first {}:", self.people(), ROWS.min(self.people()));
        let mut table = Table::new(&caption, 1, ["person", "level", "last state", "what the policy reads"]);
        let list = |numbers: &[f64]| numbers.iter().map(|x| plain(*x, DECIMALS)).collect::<Vec<_>>().join("  ");
        let (p, width) = (self.states.len() / self.people().max(1), self.view.len() / self.people().max(1));
        for i in 0..self.people().min(ROWS) {
            let (state, view) = (&self.states[i * p..(i + 1) * p], &self.view[i * width..(i + 1) * width]);
            table.push([(i + 1).to_string(), self.levels[i].to_string(), list(state), list(view)]);
        }
        Content::table(&table)
    }
}

/// One person in the world of every level, with the same noise and the same actions; the dashed worlds are those that did not happen.
pub fn worlds(mechanism: &impl Mechanism, person: Person<'_>) -> Chart {
    let noise = abduct(mechanism, person);
    let p = mechanism.state_dim();
    (0..mechanism.levels()).fold(Chart::new("", Axis::linear("decision t"), Axis::linear("state")), |chart, z| {
        let states = predict(mechanism, &noise, person.actions, z).states;
        let factual = z == person.level as usize;
        let name = if factual { format!("as it was, Z = {z}") } else { format!("had Z been {z}") };
        let ink = Ink::level(z);
        let points = (1..).map(f64::from).zip(states.into_iter().step_by(p)).collect::<Vec<_>>();
        chart.with(Series::new(&name, if factual { ink } else { ink.dashed() }, points))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::numeric::Stream;

    #[test]
    fn a_panel_shows_its_first_rows_and_a_person_two_worlds() {
        let world = Linear::new(1.0);
        let panel = simulate(&world, &Exogenous::draw(&world, 3, 4, Stream::new(1)));
        let text = panel.content().to_string();
        assert!(text.contains("3 people, 12 decisions, up to 4 each; levels 0, 1; actions 0, 1."), "{text}");
        let chart = worlds(&world, panel.person(0));
        let own = &chart.series[panel.person(0).level as usize];
        assert!(own.points.iter().zip(panel.person(0).states).all(|((_, y), s)| (y.mean - s).abs() < 1e-12));
        assert!(!own.ink.dashed && chart.series.iter().filter(|s| s.ink.dashed).count() == 1);
    }
}
