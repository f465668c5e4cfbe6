//! People followed again with their own noise: what a mechanism leaves of their record.

use super::PanelDraws;
use crate::kernel::model::{
    CategoryNoise, CategorySums, Exogenous, LatentSpread, Mechanism, PanelNoise, abduct_categories,
};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use rand::RngExt;

/// People, the mechanism that says what noise they have, and their weights.
pub(super) struct Recorded<'a> {
    pub panel: &'a Panel,
    pub mechanism: &'a dyn Mechanism,
    pub weights: &'a [f64],
}

/// The noise of several panels that share the law of their noise; within the categories of scales it is drawn from the stream.
pub(super) fn noise_of(people: &[Recorded<'_>], stream: Stream) -> Vec<PanelNoise> {
    let known: Vec<CategoryNoise> = people.iter().map(|own| abduct_categories(own.mechanism, own.panel)).collect();
    let [first, next] = sums(people, &known);
    let spread = |sums: Vec<CategorySums>| sums.iter().map(CategorySums::spread).collect();
    let spread = LatentSpread { first: spread(first), next: spread(next) };
    people.iter().zip(known).map(|(own, known)| known.drawn(own.panel, &spread, stream)).collect()
}

/// The first coordinate whose record varies so little beside its steps that the law of its noise is not known.
pub(super) fn too_coarse(people: &[Recorded<'_>]) -> Option<usize> {
    let known: Vec<CategoryNoise> = people.iter().map(|own| abduct_categories(own.mechanism, own.panel)).collect();
    let [first, next] = sums(people, &known);
    let unknown = |sums: &CategorySums| sums.spread().is_some() && sums.ratio() < CLEARLY;
    first.iter().zip(&next).position(|(first, next)| unknown(first) || unknown(next))
}

/// Beside a score with steps h rounding adds h²/12 to the variance: the record has to vary at least this many times as much, so that what is
/// left for noise is as large as what rounding adds. A yes that is said by one person in five just passes.
const CLEARLY: f64 = 1.9;

/// Of first states and of later ones, by coordinate.
fn sums(people: &[Recorded<'_>], known: &[CategoryNoise]) -> [Vec<CategorySums>; 2] {
    let each = people.iter().zip(known).map(|(own, known)| known.sums(own.panel, own.weights));
    let add = |a: Vec<CategorySums>, b: Vec<CategorySums>| a.into_iter().zip(b).map(|(a, b)| a.plus(b)).collect();
    each.reduce(|[first, next], [more_first, more_next]| [add(first, more_first), add(next, more_next)])
        .unwrap_or_default()
}

/// People who are followed equally long, with all that is random about them.
pub(super) struct Cohort {
    /// Their places in the panel.
    pub people: Vec<usize>,
    pub draws: Exogenous,
}

/// How long people are followed.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// As long as they were recorded.
    TheyLeft,
    /// All as long as the longest record, with noise borrowed from somebody who was still there; the seed says from whom.
    TheEnd(u64),
}

/// Everybody who was decided about, in cohorts; people without a decision are in none.
pub(super) fn cohorts(panel: &Panel, draws: &PanelDraws, noise: &PanelNoise, until: Until) -> Vec<Cohort> {
    let p = panel.state_dim();
    let decisions = |i: usize| panel.decisions_of(i).len();
    let longest = (0..panel.people()).map(decisions).max().unwrap_or(0);
    let horizons = match until {
        Until::TheyLeft => 1..longest + 1,
        Until::TheEnd(_) => longest..longest + 1,
    };
    let mut found = Vec::new();
    for horizon in horizons.filter(|&horizon| horizon > 0) {
        let is_member = |&i: &usize| match until {
            Until::TheyLeft => decisions(i) == horizon,
            Until::TheEnd(_) => decisions(i) > 0,
        };
        let people: Vec<usize> = (0..panel.people()).filter(is_member).collect();
        if people.is_empty() {
            continue;
        }
        let n = people.len();
        let (mut states, mut rewards) = (vec![0.0; (horizon + 1) * n * p], vec![0.0; horizon * n]);
        let mut uniforms = vec![0.0; horizon * n];
        for t in 0..horizon {
            let there: Vec<usize> = people.iter().copied().filter(|&i| decisions(i) > t).collect();
            for (place, &i) in people.iter().enumerate() {
                let (from, uniform) = match until {
                    Until::TheEnd(seed) if decisions(i) <= t => {
                        let mut rng =
                            Stream::new(seed).named("borrowed noise").index(t as u64).named(&panel.ids()[i]).rng();
                        (there[rng.random_range(0..there.len())], Some(rng.random()))
                    }
                    _ => (i, None),
                };
                let (state, decision) = (panel.states_of(from).start + t, panel.decisions_of(from).start + t);
                let to = (t * n + place) * p;
                states[to..to + p].copy_from_slice(&noise.states[state * p..(state + 1) * p]);
                rewards[t * n + place] = noise.rewards[decision];
                uniforms[t * n + place] = uniform.unwrap_or(draws.uniforms[decision]);
            }
        }
        // Where the last decision leads is computed and not looked at; the noise need only be possible.
        states.copy_within((horizon - 1) * n * p..horizon * n * p, horizon * n * p);
        let levels = people.iter().map(|&i| panel.level_codes()[i]).collect();
        let coins = people.iter().map(|&i| draws.coins[i]).collect();
        found.push(Cohort { people, draws: Exogenous::given(levels, coins, states, rewards, uniforms, p) });
    }
    found
}
