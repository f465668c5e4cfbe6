//! The one order of people, and their folds: both from hashes of ids, so that nothing depends on the order of rows in a file.

use super::{BlocksError, People};
use crate::numeric::Stream;
use rand::Rng;
use std::convert::Infallible;

/// The hash of an id: the first draw of the stream `order of people / id` of seed 0.
///
/// It is part of every result that adds up over people, and of files on disk, and stays as it is.
pub fn hash_of(id: &str) -> u64 {
    hash_under(Stream::new(0).named("order of people"), id)
}

/// The hash of an id under a stream, for draws that differ from seed to seed.
pub fn hash_under(stream: Stream, id: &str) -> u64 {
    stream.named(id).rng().next_u64()
}

/// The places of these ids in the order of people: (hash of the id, id).
pub fn in_order<S: AsRef<str>>(ids: &[S]) -> Vec<usize> {
    let mut places: Vec<(u64, usize)> = ids.iter().enumerate().map(|(at, id)| (hash_of(id.as_ref()), at)).collect();
    places.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| ids[a.1].as_ref().cmp(ids[b.1].as_ref())));
    places.into_iter().map(|(_, at)| at).collect()
}

/// The fold of each person, 0 … `count` − 1.
///
/// # Equation
/// ```text
/// fold = i mod F,   i the place of the person when all are sorted by (group, hash of (stream, id))
/// ```
/// Each group is dealt out like cards, and the next one begins where it ended: of a group of n people every fold has ⌊n/F⌋ or ⌈n/F⌉, and so it
/// is for all people. Two folds of one size differ by chance alone, whatever the order of people, and adding a person to one group
/// changes the folds of the others by a rotation.
///
/// # Panics
/// When `count` is 0 or there are not as many groups as ids.
pub fn folds<S: AsRef<str>>(ids: &[S], groups: &[u32], stream: Stream, count: usize) -> Vec<usize> {
    assert_eq!(ids.len(), groups.len(), "a group for each person");
    let mut sizes = vec![0; groups.iter().max().map_or(0, |&last| last as usize + 1)];
    groups.iter().for_each(|&group| sizes[group as usize] += 1);
    let each = |see: &mut dyn FnMut(&str, u32)| {
        ids.iter().zip(groups).for_each(|(id, &group)| see(id.as_ref(), group));
        Ok::<(), Infallible>(())
    };
    let Ok(folds) = dealt(&sizes, 1, stream, count, each);
    folds
}

/// [`folds`] of the people of a source within their levels, with no more hashes held at once than there is room for.
///
/// # Errors
/// [`BlocksError`] when people cannot be read.
pub fn folds_of(people: &dyn People, stream: Stream, count: usize) -> Result<Vec<usize>, BlocksError> {
    // A hash, a place and a group are three numbers.
    let passes = (3 * people.people()).div_ceil(people.room().max(1));
    dealt(&people.level_sizes(), passes.max(1), stream, count, |see| {
        people.each(&mut |block| {
            block.iter().for_each(|person| see(person.id, person.level));
            std::ops::ControlFlow::Continue(())
        })
    })
}

/// Deals people out in `passes` over them, each for one range of hashes.
fn dealt<E>(
    sizes: &[usize],
    passes: usize,
    stream: Stream,
    count: usize,
    mut each: impl FnMut(&mut dyn FnMut(&str, u32)) -> Result<(), E>,
) -> Result<Vec<usize>, E> {
    assert!(count > 0, "no fold at all");
    let mut folds = vec![0; sizes.iter().sum()];
    let mut next: Vec<usize> = sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    for pass in 0..passes {
        let (mut drawn, mut place) = (Vec::new(), 0);
        each(&mut |id, group| {
            let hash = hash_under(stream, id);
            if (u128::from(hash) * passes as u128) >> 64 == pass as u128 {
                drawn.push((hash, place, group));
            }
            place += 1;
        })?;
        // Two ids of one hash stay in the order of people.
        drawn.sort_unstable();
        for (_, place, group) in drawn {
            let i = &mut next[group as usize];
            folds[place] = *i % count;
            *i += 1;
        }
    }
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use super::super::{Labels, PanelBuilder, Person};
    use super::*;

    #[test]
    fn the_hash_is_what_it_was() {
        let found = ["", "a", "b", "17", "person 17", "Ünal"].map(hash_of);
        // Computed apart from this code, from the definitions of FNV-1a, SplitMix64 and PCG.
        let expected = [
            0x5CF7_DD3E_506C_41B5,
            0x495D_43AB_2497_7095,
            0x7202_B043_DBA1_7C04,
            0xA66C_2EB9_8683_2E37,
            0xBF6C_32C9_ACE8_909E,
            0x3AEB_36CD_ECA5_738D,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_order_is_that_of_hashes_whatever_the_order_of_ids() {
        let ids: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let order = |ids: &[String]| -> Vec<String> { in_order(ids).into_iter().map(|at| ids[at].clone()).collect() };
        let reversed: Vec<String> = ids.iter().rev().cloned().collect();
        assert_eq!(order(&ids), order(&reversed));
        assert!(order(&ids).windows(2).all(|pair| hash_of(&pair[0]) < hash_of(&pair[1])));
        assert_ne!(order(&ids), ids);
    }

    /// 3 people of group 0, 12 of group 1, 1 of group 2, 41 of group 3.
    fn people() -> (Vec<String>, Vec<u32>) {
        let groups: Vec<u32> =
            (0..57u32).map(|i| [(3, 0), (15, 1), (16, 2), (57, 3)].into_iter().find(|g| i < g.0).unwrap().1).collect();
        ((0..57).map(|i| format!("p{i}")).collect(), groups)
    }

    #[test]
    fn every_fold_has_its_share_of_every_group_and_of_all() {
        let (ids, groups) = people();
        for (seed, count) in [(1, 5), (2, 2), (3, 10), (4, 57)] {
            let folds = folds(&ids, &groups, Stream::new(seed), count);
            let sizes = |of: &dyn Fn(u32) -> bool| -> Vec<usize> {
                (0..count)
                    .map(|fold| folds.iter().zip(&groups).filter(|(f, g)| **f == fold && of(**g)).count())
                    .collect()
            };
            for group in 0..5 {
                let sizes = sizes(&|g| group == 4 || g == group);
                assert!(
                    sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1,
                    "{group} of {count}: {sizes:?}"
                );
            }
        }
    }

    #[test]
    fn folds_belong_to_ids_and_seeds_and_not_to_places() {
        let (ids, groups) = people();
        let found = folds(&ids, &groups, Stream::new(7), 5);
        let backwards = folds(
            &ids.iter().rev().collect::<Vec<_>>(),
            &groups.iter().rev().copied().collect::<Vec<_>>(),
            Stream::new(7),
            5,
        );
        assert_eq!(found, backwards.into_iter().rev().collect::<Vec<_>>());
        assert_ne!(found, folds(&ids, &groups, Stream::new(8), 5));
    }

    #[test]
    fn several_passes_over_a_source_deal_as_one_does() {
        let (ids, groups) = people();
        let mut builder = PanelBuilder::new(Labels::numbered(4), Labels::numbered(1), 1).unwrap();
        for (id, &level) in ids.iter().zip(&groups) {
            builder.push(Person { id, level, states: &[0.5], actions: &[], rewards: &[] }).unwrap();
        }
        let panel = builder.finish();
        let once = folds(&ids, &groups, Stream::new(3), 5);
        assert_eq!(folds_of(&panel, Stream::new(3), 5).unwrap(), once);
        let sizes = People::level_sizes(&panel);
        for passes in [2, 7, 100] {
            let found = dealt(&sizes, passes, Stream::new(3), 5, |see| {
                panel.iter().for_each(|person| see(person.id, person.level));
                Ok::<(), Infallible>(())
            });
            assert_eq!(found, Ok(once.clone()));
        }
    }
}
