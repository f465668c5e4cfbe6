//! `thm:cf`, `def:cf_policy`, `asm:unique`: which decision rules are counterfactually fair. All of them, listed.

use super::finite::{Finite, History};
use super::search::Equalities;
use super::{Budget, Claim, Expected, Verdict};
use crate::kernel::numeric::Stream;
use std::collections::BTreeMap;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::assumption(
        "asm:unique",
        "a history determines its noise, and (z, noise, actions) ↔ history is one to one, at t = 1 too",
        &["noise enters one to one"],
        Expected::Exact,
        |budget| one_to_one(budget, |world| world),
        |budget| one_to_one(budget, Finite::without_unique_noise),
    )
    .at(253, r"are deterministic functions of $H_t$"),
    Claim::printed(
        "thm:cf",
        "a rule on (all levels' states and rewards, actions) is fair; the same cannot be said of a rule on the state (Unaware)",
        &["asm:unique"],
        Expected::Exact,
        |budget| invariant(budget, |world, h| world.augment(h).map(|a| format!("{a:?}"))),
        |budget| invariant(budget, |_, h| h.states.last().map(|s| format!("{s}"))),
    )
    .at(290, r"$\pi_t$ satisfies CF if it admits the following functional form that"),
    Claim::printed(
        "def:cf_policy",
        "fairness asks for equal actions at h and at every h^{z′}; a rule on the augmented state has them, one on (s, z) has not (Full)",
        &["asm:unique"],
        Expected::Exact,
        |budget| {
            invariant(budget, |world, h| {
                world.augment(h).map(|a| format!("{:?}", a.0.iter().map(|s| s.last()).collect::<Vec<_>>()))
            })
        },
        |budget| invariant(budget, |_, h| h.states.last().map(|s| format!("{s} {}", h.level))),
    )
    .at(268, r"CF requires that $\pi_t$ must assign the same action $a$"),
    Claim::ours(
        "thm:cf",
        "a rule is fair if and only if it is a function of the labelled augmented history: all 65 536 rules of a world",
        &["asm:unique on a domain closed under z ← z′"],
        Expected::Exact,
        |_| equivalence(false),
        |_| equivalence(true),
    )
    .at(290, r"$\pi_t$ satisfies CF if it admits the following functional form that"),
    Claim::ours(
        "M-TXT4",
        "no fair rule lies outside the class of thm:cf: as many fair rules as functions of the augmented history",
        &["asm:unique on a domain closed under z ← z′"],
        Expected::Exact,
        |budget| count(budget, |world| world),
        |budget| count(budget, Finite::without_unique_noise),
    )
    .at(473, r"Do there exist CF policies outside this class that can achieve higher value?"),
];

/// The mirror first, because it can be followed by hand; then random worlds.
fn world(i: u64) -> Finite {
    if i == 0 {
        return Finite::mirror();
    }
    let (levels, states, noises) = [(2, 3, 2), (3, 3, 2), (2, 4, 3)][(i % 3) as usize];
    Finite::random(levels, states, noises, 2, Stream::new(1).named("finite").index(i))
}

fn histories(world: &Finite, decisions: usize) -> Vec<(usize, super::finite::Path, History)> {
    let paths = world.paths(decisions);
    (0..world.levels).flat_map(|z| paths.iter().map(move |path| (z, path.clone(), world.observe(z, path)))).collect()
}

/// Abduction returns the noise that made the history, for every level, noise and action sequence.
fn one_to_one(budget: Budget, change: fn(Finite) -> Finite) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(6, 60) {
        let world = change(world(i));
        for decisions in 0..3 {
            for (z, path, history) in histories(&world, decisions) {
                let same = world.abduct(&history).as_ref() == Some(&path);
                equal.case(f64::from(u8::from(same)), 1.0, 0.0, || {
                    format!("{world}: level {z}, noise and actions {path:?} make {history:?}, which is explained by other noise as well")
                });
            }
        }
    }
    equal.verdict()
}

/// Whether what a rule reads is the same at h and at every h^{z′}.
fn invariant(budget: Budget, reads: fn(&Finite, &History) -> Option<String>) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(6, 60) {
        let world = world(i);
        for decisions in 0..3 {
            for (_, _, history) in histories(&world, decisions) {
                for z in 0..world.levels {
                    let other = world.counterfactual(&history, z).expect("asm:unique holds here");
                    let same = reads(&world, &history) == reads(&world, &other);
                    equal.case(f64::from(u8::from(same)), 1.0, 0.0, || {
                        format!("{world}: {history:?} and, had Z been {z}, {other:?}: a rule that reads {:?} may act otherwise on {:?}", reads(&world, &history), reads(&world, &other))
                    });
                }
            }
        }
    }
    equal.verdict()
}

/// All rules at t = 2 of a world with two levels, noises and actions: fair ⇔ function of what is augmented.
///
/// With `unlabelled` the augmented states are a set, as print has it, and not a vector: then fair rules exist that are no
/// function of it.
fn equivalence(unlabelled: bool) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..3 {
        let world =
            if i == 0 { Finite::mirror() } else { Finite::random(2, 3, 2, 2, Stream::new(2).named("rules").index(i)) };
        let listed = histories(&world, 1);
        assert_eq!(listed.len(), 16, "two levels, two noises twice, two actions");
        let place: BTreeMap<&History, usize> = listed.iter().enumerate().map(|(k, (_, _, h))| (h, k)).collect();
        let class = |h: &History| {
            let (mut worlds, actions) = world.augment(h).expect("asm:unique holds here");
            if unlabelled {
                worlds.sort();
            }
            (worlds, actions)
        };
        let partner: Vec<usize> = listed
            .iter()
            .map(|(z, _, h)| place[&world.counterfactual(h, 1 - z).expect("asm:unique holds here")])
            .collect();
        let classes: Vec<_> = listed.iter().map(|(_, _, h)| class(h)).collect();
        let same_class: Vec<(usize, usize)> =
            (0..16).flat_map(|k| (0..k).map(move |l| (k, l))).filter(|&(k, l)| classes[k] == classes[l]).collect();
        for rule in 0u32..1 << 16 {
            let action = |k: usize| rule >> k & 1;
            let fair = (0..16).all(|k| action(k) == action(partner[k]));
            let function = same_class.iter().all(|&(k, l)| action(k) == action(l));
            equal.case(f64::from(u8::from(fair)), f64::from(u8::from(function)), 0.0, || {
                format!("{world}; rule {rule:016b}, its last bit for the first of the histories {:?}: fair = {fair}, function of the augmented history = {function}", listed.iter().map(|(z, _, h)| (z, &h.states, &h.actions)).collect::<Vec<_>>())
            });
        }
    }
    equal.verdict()
}

/// Orbits under z ← z′ against different augmented histories.
fn count(budget: Budget, change: fn(Finite) -> Finite) -> Verdict {
    let mut equal = Equalities::new();
    for i in 0..budget.pick(6, 60) {
        let world = change(world(i));
        for decisions in 0..3 {
            let listed = histories(&world, decisions);
            let distinct: std::collections::BTreeSet<&History> = listed.iter().map(|(_, _, h)| h).collect();
            let augmented: std::collections::BTreeSet<_> = distinct.iter().filter_map(|h| world.augment(h)).collect();
            // An orbit has one history a level: there are |histories| / K of them, and 2^orbits fair rules.
            let orbits = listed.len() / world.levels;
            equal.case(orbits as f64, augmented.len() as f64, 0.0, || {
                format!(
                    "{world}, t = {}: {orbits} orbits under z ← z′ and {} augmented histories",
                    decisions + 1,
                    augmented.len()
                )
            });
        }
    }
    equal.verdict()
}
