//! The law of the CF metric of the paper's plain policies: judged on those they were learned from, and on as many others.

use super::bed::Bed;
use super::numbers::{Cell, Found};
use super::place::{Led, Place, Until, follow, record};
use super::policies::random;
use counterfair::audit::{Carried, Judged, PanelDraws, Yardstick, unfairness};
use counterfair::estimate::{Basis, Certificate, FitSettings, NoiseChoice, Pooling, Refitter};
use counterfair::fair::Method;
use counterfair::kernel::learn::Agent;
use counterfair::kernel::numeric::Stream;
use counterfair::theory::plain_policy;

/// How a mechanism is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// As by default, with the noise that held-out people favour.
    Chosen,
    /// With additive noise: a control where noise is more than added.
    Added,
    /// With lines per level: a control where means are waves.
    Straight,
}

impl Fitted {
    fn settings(self) -> FitSettings {
        match self {
            Self::Chosen => FitSettings { noise: NoiseChoice::Chosen, ..FitSettings::default() },
            Self::Added => FitSettings { noise: NoiseChoice::Additive, ..FitSettings::default() },
            Self::Straight => {
                FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() }
            }
        }
    }
}

/// People followed in all worlds for the truth.
const FOLLOWED: usize = 8000;

/// Learns and judges once. Numbers are named by whom the policy was judged on: `learned`, `fresh` and `fresh without certificate`.
pub fn repetition(cell: &Cell, fitted: Fitted, replicates: usize, repetition: u64) -> Vec<Found> {
    let bed = Bed::named(&cell.world).expect("a bed of this name");
    let stream = Stream::new(20).named("coverage of unfairness").named(&cell.world).index(cell.people as u64);
    let stream = stream.index(repetition);
    let draw = |role: &str, people: usize| bed.draw(people, cell.horizon, stream.named(role));
    let [learned, fresh] = ["learned", "fresh"].map(|role| record(&bed, &*draw(role, cell.people), Until::TheyLeave));
    let others = draw("truth", FOLLOWED);

    let settings = fitted.settings();
    let refitter = Refitter::new(&learned, &settings).expect("a panel that can be fitted");
    let certificate = Certificate::new(&refitter, &learned, replicates, 1).expect("refits with positive weights");
    let fresh_refitter = Refitter::new(&fresh, &settings).expect("a panel that can be fitted");
    let methods = [("ours", Some(Method::Ours)), ("full", Some(Method::Full)), ("unaware", Some(Method::Unaware))];
    let mut found = Vec::new();
    for (name, method) in methods.into_iter().chain([("random", None)]) {
        let agent: Box<dyn Agent> = match method {
            Some(method) => plain_policy(method, &learned, refitter.fitted()),
            None => random(&bed),
        };
        let truth = follow(&bed, &*others, &*agent, Led::ByThePolicy, Until::TheyLeave);
        let carried = (method == Some(Method::Ours))
            .then(|| Carried { mechanism: refitter.fitted(), transitions: learned.transitions() });
        let alone = Yardstick::Judged { refitter: &fresh_refitter, carried, replicates, seed: 2 };
        for (judged, panel, yardstick) in [
            ("learned", &learned, Yardstick::Certificate(&certificate)),
            ("fresh", &fresh, Yardstick::Certificate(&certificate)),
            ("fresh without certificate", &fresh, alone),
        ] {
            let draws = PanelDraws::draw(panel, stream.named("draws"));
            let people = Judged { agent: &*agent, panel, draws: &draws, yardstick, scales: &[] };
            let law = unfairness(&[people], 0.95).expect("people that stay finite").law;
            let of = |number: &str, truth: f64, estimate: f64| {
                Found::new(name, &format!("{number} ({judged})"), truth, estimate)
            };
            found.push(of("CF metric", truth.metric, law.mean()).within(|c| law.interval(c)).at_most(law.upper(0.95)));
            if let Some(bound) = law.finite_sample_bound {
                found.push(of("finite-sample bound", truth.metric, bound).at_most(bound));
            }
            // A parity gap is unfairness at the first decision, or less: its interval must not lie above.
            let (low, _) = law.parity_gap.interval;
            let gap = of("parity gap's lower end", low, truth.metric_at_first);
            found.push(gap.at_most(truth.metric_at_first));
        }
    }
    found.into_iter().map(|one| one.of(cell, repetition)).collect()
}
