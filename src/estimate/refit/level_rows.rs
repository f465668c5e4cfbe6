//! The rows of a group as refits need them: level by level, because most columns of a pooled regression are about one level.

use crate::estimate::bends::Bends;
use crate::estimate::groups::Group;
use crate::estimate::regression::Share;
use crate::estimate::rows::RegressionRows;
use crate::kernel::numeric::{Gram, WeightedSums, products_of_rows};
use crate::kernel::people::Panel;

/// A group's rows in the coordinates of its bends.
pub(super) struct GroupRows {
    /// Columns that all levels share, straight ones first.
    pub shared: Vec<usize>,
    pub levels: Vec<LevelRows>,
    /// X₁X₁ᵀ over all rows, where rows are so few that their own products are the smaller system. There is one level of rows then, with all columns.
    pub products: Option<Vec<f64>>,
}

/// The rows of one level's people.
pub(super) struct LevelRows {
    /// Columns that are 0 at all other levels, straight ones first.
    pub own: Vec<usize>,
    /// Own columns, shared columns, p + 1 targets: row after row.
    numbers: Vec<f64>,
    width: usize,
    outputs: usize,
    people: Vec<PersonRows>,
}

/// Where a person's rows are: first those whose next state is known.
struct PersonRows {
    person: usize,
    first_row: usize,
    first_decision: usize,
    known: usize,
    all: usize,
}

/// The weight of a person's decision: places in the panel.
pub(super) type RowWeight<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

impl GroupRows {
    /// From the rows of a panel's people in columns of the design.
    pub fn new(group: &Group, bends: &Bends, panel: &Panel, rows: &RegressionRows) -> Self {
        let (shared, owned) = columns(group, bends, panel);
        let are_few = products_cost(rows.decisions.len(), bends.free()) < columns_cost(&owned, shared.len());
        Self::with(group, bends, panel, rows, are_few && bends.penalised() > 0)
    }

    /// The same, as products of rows or as sums by level.
    pub fn with(group: &Group, bends: &Bends, panel: &Panel, rows: &RegressionRows, are_few: bool) -> Self {
        let (columns, free) = (bends.free() + bends.penalised(), bends.free());
        let (shared, owned) = match are_few {
            true => ((0..columns).collect(), vec![vec![]]),
            false => self::columns(group, bends, panel),
        };
        let outputs = group.design.state_dim + 1;
        let level = |own: Vec<usize>| {
            let width = own.len() + shared.len() + outputs;
            LevelRows { own, numbers: vec![], width, outputs, people: vec![] }
        };
        let mut levels: Vec<LevelRows> = owned.into_iter().map(level).collect();
        let mut turned = Vec::with_capacity(columns);
        for (decision, row, targets) in rows.each(columns) {
            turned.clear();
            bends.push(row, &mut turned);
            let at = if levels.len() == 1 { 0 } else { panel.level_codes()[decision.person] as usize };
            let level = &mut levels[at];
            if level.people.last().is_none_or(|last| last.person != decision.person) {
                let first_row = level.numbers.len() / level.width;
                let (person, first_decision) = (decision.person, decision.at);
                level.people.push(PersonRows { person, first_row, first_decision, known: 0, all: 0 });
            }
            level.numbers.extend(level.own.iter().chain(&shared).map(|&column| turned[column]));
            level.numbers.extend_from_slice(targets);
            let person = level.people.last_mut().expect("just pushed");
            person.all += 1;
            person.known += usize::from(decision.has_next);
        }
        let products = are_few.then(|| {
            let bent: Vec<f64> =
                levels[0].numbers.chunks_exact(levels[0].width).flat_map(|row| &row[free..columns]).copied().collect();
            products_of_rows(&bent, &bent, columns - free)
        });
        Self { shared, levels, products }
    }

    /// Numbers that the sums of a share take for each weighting.
    pub fn size(&self, share: &Share) -> usize {
        let size = |level: &LevelRows| 1 + packed(level.columns() + share.outputs.len());
        if self.products.is_some() { 0 } else { self.levels.iter().map(size).sum() }
    }
}

/// Columns that all levels share, and those of each level; a group of one level has none of the latter.
fn columns(group: &Group, bends: &Bends, panel: &Panel) -> (Vec<usize>, Vec<Vec<usize>>) {
    let of = |owner| (0..bends.owners().len()).filter(|&column| bends.owners()[column] == owner).collect();
    let owned = match group.design.only {
        Some(_) => vec![vec![]],
        None => (0..panel.levels().len()).map(|level| of(Some(level))).collect(),
    };
    (of(None), owned)
}

/// Multiplications of a Cholesky factor of rows' products, with the straight columns as right-hand sides.
fn products_cost(rows: usize, free: usize) -> f64 {
    let (n, f) = (rows as f64, free as f64);
    n.powi(3) / 6.0 + n * n * f / 2.0
}

/// The same where own columns of each level are eliminated first, then the shared ones.
fn columns_cost(owned: &[Vec<usize>], shared: usize) -> f64 {
    let s = shared as f64;
    let level = |own: &Vec<usize>| {
        let o = own.len() as f64;
        o.powi(3) / 6.0 + o * o * s / 2.0 + o * s * s / 2.0
    };
    owned.iter().map(level).sum::<f64>() + s.powi(3) / 6.0
}

/// Entries of a lower half.
fn packed(side: usize) -> usize {
    side * (side + 1) / 2
}

impl PersonRows {
    fn count(&self, share: &Share) -> usize {
        if share.takes_all { self.all } else { self.known }
    }
}

impl LevelRows {
    fn columns(&self) -> usize {
        self.width - self.outputs
    }

    /// The rows of a share, with the places of person and decision.
    pub fn each<'a>(&'a self, share: &'a Share) -> impl Iterator<Item = (usize, usize, &'a [f64])> {
        self.people.iter().flat_map(move |person| {
            let row = |k: usize| &self.numbers[(person.first_row + k) * self.width..][..self.width];
            (0..person.count(share)).map(move |k| (person.person, person.first_decision + k, row(k)))
        })
    }

    /// The places of a share's rows.
    pub fn places(&self, share: &Share) -> Vec<usize> {
        self.people.iter().flat_map(|person| (person.first_row..).take(person.count(share))).collect()
    }

    /// Number of rows of all shares.
    pub fn rows(&self) -> usize {
        self.numbers.len() / self.width
    }

    fn push(&self, share: &Share, row: &[f64], out: &mut Vec<f64>) {
        let (columns, targets) = row.split_at(self.columns());
        out.extend_from_slice(columns);
        out.extend_from_slice(&targets[share.outputs.clone()]);
    }

    /// Σ w and the lower half of the Gram matrix of [own, shared, outputs], row after row, under each weighting of people.
    pub fn sums(&self, share: &Share, weights: &[Vec<f64>]) -> Vec<f64> {
        let mut sums = WeightedSums::new(weights.len(), 1 + packed(self.columns() + share.outputs.len()));
        let mut rows = vec![];
        for person in &self.people {
            rows.clear();
            for k in 0..person.count(share) {
                self.push(share, &self.numbers[(person.first_row + k) * self.width..][..self.width], &mut rows);
            }
            sums.add(weights.iter().map(|weights| weights[person.person]), |numbers| {
                numbers[0] += person.count(share) as f64;
                for row in rows.chunks_exact(self.columns() + share.outputs.len()) {
                    add_products(row, &mut numbers[1..]);
                }
            });
        }
        sums.finish()
    }

    /// The same with a weight for each decision.
    pub fn weighed(&self, share: &Share, weight: RowWeight) -> Vec<f64> {
        const ROWS: usize = 512;
        let width = self.columns() + share.outputs.len();
        let (mut gram, mut rows, mut total) = (Gram::new(width), vec![], 0.0);
        for (person, decision, row) in self.each(share) {
            let (w, start) = (weight(person, decision), rows.len());
            total += w;
            self.push(share, row, &mut rows);
            rows[start..].iter_mut().for_each(|x| *x *= w.sqrt());
            if rows.len() >= ROWS * width {
                gram.add_rows(&rows);
                rows.clear();
            }
        }
        gram.add_rows(&rows);
        let lower = gram.matrix().chunks_exact(width).enumerate().flat_map(|(i, row)| &row[..=i]).copied();
        std::iter::once(total).chain(lower).collect()
    }
}

/// Adds xxᵀ to a lower half, row after row.
fn add_products(x: &[f64], lower: &mut [f64]) {
    let mut start = 0;
    for (i, xi) in x.iter().enumerate() {
        // Most columns are about an action that was not taken.
        if *xi != 0.0 {
            lower[start..=start + i].iter_mut().zip(x).for_each(|(sum, xj)| *sum += xi * xj);
        }
        start += i + 1;
    }
}
