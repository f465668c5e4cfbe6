//! A panel read across people: who is still there at each time, and what was recorded of them.

use crate::kernel::people::Panel;

/// The people of a panel by length of their record, longest first: whoever is still there at a time is a prefix.
pub(super) struct CrossSections<'a> {
    panel: &'a Panel,
    order: Vec<usize>,
}

impl<'a> CrossSections<'a> {
    /// Sorts people by `rows(person)`, ties in the order of the panel.
    pub fn new(panel: &'a Panel, rows: impl Fn(usize) -> usize) -> Self {
        let mut order: Vec<usize> = (0..panel.people()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(rows(i)));
        Self { panel, order }
    }

    /// Everybody, longest record first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The level codes of these people.
    pub fn levels(&self, people: &[usize]) -> Vec<u32> {
        people.iter().map(|&i| self.panel.level_codes()[i]).collect()
    }

    /// The states of these people at time t (from 0), written over `out`.
    pub fn states(&self, people: &[usize], t: usize, out: &mut Vec<f64>) {
        let p = self.panel.state_dim();
        out.clear();
        for &i in people {
            let row = self.panel.states_of(i).start + t;
            out.extend_from_slice(&self.panel.states()[row * p..(row + 1) * p]);
        }
    }

    /// The actions taken about these people at time t (from 0), written over `out`.
    pub fn actions(&self, people: &[usize], t: usize, out: &mut Vec<u32>) {
        out.clear();
        out.extend(people.iter().map(|&i| self.panel.actions()[self.panel.decisions_of(i).start + t]));
    }
}
