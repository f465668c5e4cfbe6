//! Numbers as they are shown, read back: cells of tables, and places in pictures.

use serde_json::Value;

/// A number as the pages print it, with half a unit of its last digit: `−0.52`, `1.7 × 10⁻³`.
fn printed(text: &str) -> Option<(f64, f64)> {
    let text = text.trim().replace('−', "-");
    let number: f64 = text.parse().ok()?;
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    Some((number, 0.5000001 * 10f64.powi(-(decimals as i32))))
}

#[track_caller]
pub fn assert_printed(cell: &str, number: f64, place: &str) {
    let (found, half) = printed(cell).unwrap_or_else(|| panic!("{place}: {cell:?} is no number"));
    assert!((found - number).abs() <= half, "{place}: {cell} is shown for {number}");
}

/// `0.52 (0.31 to 0.73)` of an estimate as the file has it; a dash where there is none, the number alone where it is exact.
#[track_caller]
pub fn assert_estimate(cell: &str, estimate: &Value, place: &str) {
    let Some(mean) = estimate["mean"].as_f64() else {
        assert_eq!(cell, "–", "{place}");
        return;
    };
    let Some((number, interval)) = cell.split_once(" (") else {
        let exact = estimate["interval"].is_null() || estimate["interval"][0] == estimate["interval"][1];
        assert!(exact, "{place}: {cell} has no interval, {estimate}");
        return assert_printed(cell, mean, place);
    };
    let (low, high) = interval.trim_end_matches(')').split_once(" to ").unwrap_or_else(|| panic!("{place}: {cell}"));
    assert_printed(number, mean, place);
    assert_printed(low, estimate["interval"][0].as_f64().unwrap(), place);
    assert_printed(high, estimate["interval"][1].as_f64().unwrap(), place);
}

/// Rows of a file of comma-separated cells, the header among them.
pub fn rows(csv: &str) -> Vec<Vec<String>> {
    let line = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    csv.lines().map(line).collect()
}

/// What a picture shows: its words with their places, its lines, and its colours.
pub struct Picture {
    words: Vec<(String, f64, f64)>,
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// The colour of axes and what hangs on them.
const GRID: &str = "#E3E5E8";

impl Picture {
    pub fn of(svg: &str) -> Self {
        let attribute = |tag: &str, name: &str| -> Option<String> {
            Some(tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.to_string())
        };
        let (mut words, mut lines) = (vec![], vec![]);
        for tag in svg.split('<').skip(1) {
            let number = |name: &str| attribute(tag, name).and_then(|text| text.parse::<f64>().ok());
            if tag.starts_with("text ") {
                let word = tag.split('>').nth(1).unwrap_or_default().trim().replace("&amp;", "&");
                words.push((word, number("x").unwrap(), number("y").unwrap()));
            } else if tag.starts_with("polyline ") {
                let points = attribute(tag, "points").unwrap();
                let pairs = points.split_whitespace().map(|pair| {
                    let (x, y) = pair.split_once(',').unwrap();
                    (x.parse().unwrap(), y.parse().unwrap())
                });
                lines.push((attribute(tag, "stroke").unwrap(), pairs.collect()));
            }
        }
        Self { words, lines }
    }

    pub fn title(&self) -> &str {
        &self.words[0].0
    }

    /// Where a number stands, by the two ticks that are farthest apart: across, or down.
    fn scale(&self, across: bool) -> impl Fn(f64) -> f64 + use<> {
        let on_grid = |x: f64, y: f64| {
            self.lines.iter().any(|(colour, points)| {
                let (first, last) = (points[0], points[points.len() - 1]);
                colour == GRID && if across { first.0 == x && last.0 == x } else { first.1 == y && last.1 == y }
            })
        };
        let ticks: Vec<(f64, f64)> = self
            .words
            .iter()
            .filter(|(_, x, y)| on_grid(*x, *y))
            .filter_map(|(word, x, y)| Some((printed(word)?.0, if across { *x } else { *y })))
            .collect();
        let end = |more: fn(&f64, &f64) -> std::cmp::Ordering| *ticks.iter().max_by(|a, b| more(&a.0, &b.0)).unwrap();
        let (low, high) = (end(|a, b| b.total_cmp(a)), end(f64::total_cmp));
        assert!(low.0 < high.0, "an axis of one tick: {ticks:?}");
        move |x| low.1 + (x - low.0) / (high.0 - low.0) * (high.1 - low.1)
    }

    /// Makes sure that an estimate stands beside its name, from one end of its interval to the other.
    #[track_caller]
    pub fn assert_row(&self, name: &str, estimate: &Value) {
        let (_, _, y) = self.words.iter().find(|(word, ..)| word == name).unwrap_or_else(|| panic!("no row {name}"));
        let own =
            self.lines.iter().filter(|(colour, points)| colour != GRID && points.iter().all(|point| point.1 == *y));
        let xs: Vec<f64> = own.flat_map(|(_, points)| points.iter().map(|point| point.0)).collect();
        let (first, last) = xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        let at = self.scale(true);
        let end = |i: usize| estimate["interval"][i].as_f64().or(estimate["mean"].as_f64()).unwrap();
        // Dashes may end before the line does.
        for (found, expected) in [(first, at(end(0))), (last, at(end(1)))] {
            assert!((found - expected).abs() <= 18.0, "{name}: drawn at {found}, not {expected}");
        }
    }

    /// Makes sure that one line of the picture goes through these shares, one at each decision.
    #[track_caller]
    pub fn assert_line(&self, shares: &[Option<f64>], place: &str) {
        let at = self.scale(false);
        let expected: Vec<f64> = shares.iter().flatten().map(|share| at(*share)).collect();
        let goes = |points: &Vec<(f64, f64)>| {
            points.len() == expected.len() && points.iter().zip(&expected).all(|(point, y)| (point.1 - y).abs() <= 1.5)
        };
        assert!(self.lines.iter().any(|(_, points)| goes(points)), "{place}: no line through {expected:?}");
    }
}
