//! Slopes of deployed policies in the paper's own worlds: what theorems promise, what the law of a margin says, and what was measured.

use super::Results;
use crate::report::number::{plain, with_bounds};
use crate::report::{Rate, Table};
use crate::theory::theorems::{Limit, Row, Slope};

/// One measured slope with the claims about it.
struct Measured<'a> {
    slope: &'a Slope,
    rows: Vec<&'a Row>,
}

impl<'a> Measured<'a> {
    /// Claims that a theorem promises this slope.
    fn promises(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied().filter(|row| !is_law(row))
    }

    /// Claims that it follows a law.
    fn laws(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied().filter(|row| is_law(row))
    }

    /// Which of the two worlds.
    fn world(&self) -> &'static str {
        if self.rows.iter().any(|row| mentions(row, "non-linear world")) { "nonlinear" } else { "linear" }
    }

    /// What is measured of what: means in a class that is named are said, splines go without saying.
    fn title(&self) -> String {
        let known = self.rows.iter().any(|row| mentions(row, "means of known form"));
        let form = if known { KNOWN_FORM } else { "" };
        format!("{}{form}", self.slope.quantity)
    }

    /// The slope beside its first promise and its first law.
    fn rate(&self) -> Rate {
        let control = self.rows[0].control.slope();
        Rate {
            found: Slope { quantity: format!("{}: {}", self.world(), self.title()), ..self.slope.clone() },
            promise: self.promises().next().map(|row| row.claim.limit),
            law: self.laws().next().map(|row| row.claim.limit),
            control: control.map(|slope| (self.rows[0].claim.control.into(), slope.clone())),
        }
    }
}

/// What a title says of means that are in a class which holds the truth.
const KNOWN_FORM: &str = ", means of known form";

fn is_law(row: &Row) -> bool {
    matches!(row.claim.limit, Limit::Law { .. })
}

/// Whether a claim says or assumes something.
fn mentions(row: &Row, words: &str) -> bool {
    row.claim.says.contains(words) || row.claim.assumes.iter().any(|text| text.contains(words))
}

/// Every slope in the paper's worlds, once, however many claims are about it.
fn measured(results: &Results) -> Vec<Measured<'_>> {
    let mut all: Vec<Measured<'_>> = Vec::new();
    for row in results.examined.theorems.iter().filter(|row| mentions(row, "linear world")) {
        let Some(slope) = row.slope() else { continue };
        match all.iter_mut().find(|known| known.slope == slope) {
            Some(known) => known.rows.push(row),
            None => all.push(Measured { slope, rows: vec![row] }),
        }
    }
    all.sort_by_key(|one| (one.world(), one.slope.axis != "N"));
    all
}

/// Slopes against N, which have pictures; those against ε are drawn with the best fair policy's regret.
fn drawn(results: &Results) -> Vec<Measured<'_>> {
    measured(results).into_iter().filter(|one| one.slope.axis == "N").collect()
}

/// A picture of each slope against N as `law_1.svg`, `law_2.svg`, …
pub(super) fn figures(results: &Results, (width, height): (u32, u32)) -> Vec<(String, String)> {
    let charts = drawn(results).into_iter().map(|one| one.rate().chart());
    charts.enumerate().map(|(k, chart)| (format!("law_{}.svg", k + 1), chart.svg_at(width, height))).collect()
}

/// Slopes beside what a theorem promises and what the law of a margin says; a further claim about the same slope has a line of its own.
pub(super) fn table(results: &Results) -> Table {
    let columns = ["world", "quantity", "in", "slope", "last three", "promised", "kept", "law", "kept", "control"];
    let mut table = Table::new("", 3, columns);
    for one in measured(results) {
        let (promises, laws): (Vec<&Row>, Vec<&Row>) = (one.promises().collect(), one.laws().collect());
        for line in 0..promises.len().max(laws.len()) {
            let [promised, promise_kept] = claimed(promises.get(line));
            let [law, law_kept] = claimed(laws.get(line));
            let row = promises.get(line).or(laws.get(line)).expect("one of the two");
            table.push([
                one.world().to_string(),
                one.title(),
                one.slope.axis.clone(),
                with_bounds(one.slope.slope, one.slope.interval, 2),
                plain(one.slope.last_three, 2),
                promised,
                promise_kept,
                law,
                law_kept,
                row.control.slope().map_or("–".into(), |control| plain(control.slope, 2)),
            ]);
        }
    }
    table
}

/// What is claimed, and whether it is kept.
fn claimed(row: Option<&&Row>) -> [String; 2] {
    row.map_or(["–".into(), "–".into()], |row| {
        let (sign, slope) = match row.claim.limit {
            Limit::SlopeAtMost { slope } => ("≤ ", slope),
            Limit::SlopeAtLeast { slope } => ("≥ ", slope),
            Limit::Law { slope } => ("", slope),
            Limit::AtMost | Limit::Equal => return ["–".into(), "–".into()],
        };
        [format!("{sign}{}", plain(slope, 1)), if row.verdict().stands() { "yes" } else { "no" }.into()]
    })
}

/// Counts of promises and laws, and the slopes that the text names.
pub(super) fn numbers(results: &Results) -> Vec<(String, String)> {
    let all = measured(results);
    let mut numbers = vec![("slopes".to_string(), drawn(results).len().to_string())];
    let promises: Vec<&Row> = all.iter().flat_map(Measured::promises).collect();
    let laws: Vec<&Row> = all.iter().flat_map(Measured::laws).collect();
    for (name, rows) in [("promises", promises), ("laws", laws)] {
        let kept = rows.iter().filter(|row| row.verdict().stands()).count();
        numbers.push((name.into(), rows.len().to_string()));
        numbers.push((format!("{name}.kept"), kept.to_string()));
    }
    let span = |counts: Vec<usize>| match (counts.iter().min(), counts.iter().max()) {
        (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
        (Some(low), _) => low.to_string(),
        _ => "no".into(),
    };
    numbers.push(("laws.seeds".into(), span(all.iter().map(|one| one.slope.seeds).collect())));
    numbers.push(("laws.sizes".into(), span(all.iter().map(|one| one.slope.sizes.len()).collect())));
    let text = |world: &str, title: &str| {
        let one = all.iter().find(|one| one.world() == world && one.title() == title);
        one.map_or("–".into(), |one| with_bounds(one.slope.slope, one.slope.interval, 2))
    };
    for (world, form) in [("linear", ""), ("nonlinear", KNOWN_FORM)] {
        for (name, quantity) in [("J-oracle", "|J − J of the Oracle|"), ("V-oracle", "|Ṽ − Ṽ of the Oracle|")] {
            numbers.push((format!("slope.{world}.{name}"), text(world, &format!("{quantity}{form}"))));
        }
    }
    numbers.push(("slope.nonlinear.metric.splines".into(), text("nonlinear", "CF metric")));
    numbers.push(("slope.nonlinear.metric.known".into(), text("nonlinear", &format!("CF metric{KNOWN_FORM}"))));
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Stream;
    use crate::theory::theorems::{Claim, Examined, Found, theorems};

    /// A made-up slope for each claim about the paper's worlds: of regret where the claim is one of regret, else of something else.
    fn results() -> Results {
        let made = |claim: &Claim| {
            let (quantity, power) =
                if claim.says.contains("regret") { ("J*CF − Ṽ", -0.9) } else { ("CF metric", -0.4) };
            let sizes = [100.0, 200.0, 400.0];
            let samples: Vec<Vec<f64>> = sizes.iter().map(|n: &f64| vec![n.powf(power); 2]).collect();
            Slope::measured(quantity, "N", &sizes, &samples, Stream::new(1))
        };
        let about =
            |claim: &Claim| claim.says.contains(" linear world") && claim.limit.slope().is_some_and(|s| s < 0.0);
        let mut claims: Vec<Claim> = theorems().into_iter().filter(about).collect();
        let law = Claim { limit: Limit::Law { slope: -1.0 }, ..claims[0] };
        claims.extend([law, Claim { limit: Limit::Law { slope: -0.5 }, ..law }]);
        let row = |claim: Claim| Row {
            claim,
            stated: made(&claim),
            control: Found::Nothing { reason: "".into() },
            seconds: 0.0,
        };
        let examined = Examined { theorems: claims.into_iter().map(row).collect(), ..Examined::default() };
        Results { examined, ..Results::default() }
    }

    #[test]
    fn every_promise_and_every_law_is_counted_and_has_a_line() {
        let results = results();
        let numbers: std::collections::BTreeMap<String, String> = numbers(&results).into_iter().collect();
        let of = |name: &str| numbers[name].as_str();
        // Two promises, of which −0.4 breaks one; two laws of one slope, −1 kept by −0.9 and −0.5 not; two slopes.
        assert_eq!(
            [of("promises"), of("promises.kept"), of("laws"), of("laws.kept"), of("slopes")],
            ["2", "1", "2", "1", "2"]
        );
        let rows = table(&results).rows;
        let claimed: Vec<_> = rows.iter().map(|row| row[5..9].join(" ")).collect();
        assert_eq!(claimed, ["≤ −0.5 yes −1.0 yes", "– – −0.5 no", "≤ −0.5 no – –"]);
        assert_eq!(figures(&results, (300, 200)).len(), 2);
    }
}
