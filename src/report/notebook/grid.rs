//! Runs of the paper's grids, in the few numbers that a reader wants.

use crate::report::Table;
use crate::report::number::{plain, with_bounds};
use crate::reproduction::summary::{curve, rate};
use crate::reproduction::{Cell, Method, PaperWorld, Record};

const WORLDS: [PaperWorld; 2] = [PaperWorld::Linear, PaperWorld::Nonlinear];

/// How fast the CF metric of Ours falls with N at a strength: the slope in log–log, with its interval over seeds.
pub fn rates_over_size(records: &[Record], strength: f64) -> Table {
    let caption =
        format!("CF metric of Ours ∝ N to the power of the slope, at δ = {strength}; 95 % interval over seeds.");
    let mut table = Table::new(&caption, 1, ["world", "slope [interval]"]);
    for world in WORLDS {
        let at = |cell: &Cell| match cell {
            Cell::Synthetic(c) if c.world == world && c.strength == strength => Some(c.people as f64),
            _ => None,
        };
        let slope = match rate(records, Method::Ours, at) {
            Ok(fit) => with_bounds(fit.slope, fit.interval, 2),
            Err(reason) => format!("none: {reason}"),
        };
        table.push([world.to_string(), slope]);
    }
    table
}

/// The CF metric of three policies at each strength, for a number of people in the data.
pub fn unfairness_by_strength(records: &[Record], people: usize) -> Table {
    let caption = format!("CF metric by δ at N = {people}, mean over seeds.");
    let mut table = Table::new(&caption, 2, ["world", "δ", "Ours", "Unaware", "Full"]);
    for world in WORLDS {
        let at = |cell: &Cell| match cell {
            Cell::Synthetic(c) if c.world == world && c.people == people => Some(c.strength),
            _ => None,
        };
        let curves = [Method::Ours, Method::Unaware, Method::Full].map(|method| curve(records, method, at));
        for (i, point) in curves[0].iter().enumerate() {
            let cells = curves.iter().map(|c| c.get(i).map_or("–".into(), |p| plain(p.unfairness.mean, 3)));
            table.push([world.to_string(), plain(point.at, 1)].into_iter().chain(cells));
        }
    }
    table
}
