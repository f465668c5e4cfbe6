//! Wide files: one row per person, and a column per time, such as `pain_1, pain_2, pain_3`.

use super::error::{EXCERPT, excerpt};
use std::collections::{BTreeMap, BTreeSet};

/// What stands between a name and the number of a time.
const MARKS: [char; 3] = ['_', '.', '-'];

/// Columns that are one quantity at several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wide {
    /// The file.
    file: String,
    /// The names without their times.
    stems: Vec<String>,
    /// What stands between name and time; empty for nothing.
    mark: String,
    /// The first and the last time.
    ends: (u64, u64),
    /// The column of the person.
    id: String,
}

impl Wide {
    /// The quantities of a header in which at least two are there at the same two times or more.
    pub(super) fn find(header: &[String], id: &str, file: &str) -> Option<Self> {
        let mut times: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
        for name in header {
            if let Some((stem, mark, time)) = parts(name) {
                times.entry((mark, stem)).or_default().insert(time);
            }
        }
        // Quantities with the same mark at the same times; the largest such group.
        let mut groups: BTreeMap<(&str, &BTreeSet<u64>), Vec<&str>> = BTreeMap::new();
        for ((mark, stem), at) in times.iter().filter(|(_, at)| at.len() >= 2) {
            groups.entry((mark, at)).or_default().push(stem);
        }
        let ((mark, at), stems) = groups.into_iter().max_by_key(|(_, stems)| stems.len())?;
        let timed = |name: &&String| parts(name).is_some_and(|(stem, own, _)| own == mark && stems.contains(&stem));
        let id = header.iter().find(|name| *name == id).or_else(|| header.iter().find(|name| !timed(name)))?;
        let ends = (*at.first()?, *at.last()?);
        (stems.len() >= 2).then(|| Self {
            file: file.into(),
            stems: stems.iter().take(EXCERPT).map(|stem| excerpt(stem)).collect(),
            mark: mark.into(),
            ends,
            id: excerpt(id),
        })
    }
}

/// `pain`, `_` and 3 of `pain_3`.
fn parts(name: &str) -> Option<(&str, &str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let time = name[stem.len()..].parse().ok()?;
    let bare = stem.trim_end_matches(MARKS);
    (!bare.is_empty() && stem.len() - bare.len() <= 1).then(|| (bare, &stem[bare.len()..], time))
}

impl std::fmt::Display for Wide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, stems, mark, ends: (first, last), id } = self;
        let quoted: Vec<String> = stems.iter().map(|stem| format!("{stem:?}")).collect();
        write!(
            f,
            "\nIt looks wide: one row per person, with {stem}{mark}{first} … {stem}{mark}{last} and the like. A long file has one row per person and \
             time; in Python:\n  import pandas\n  wide = pandas.read_csv({file:?})\n  pandas.wide_to_long(wide, [{stems}], i={id:?}, j=\"time\", \
             sep={mark:?}).reset_index().to_csv(\"long.csv\", index=False)",
            stem = stems[0],
            stems = quoted.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &str, id: &str) -> Option<Wide> {
        let header: Vec<String> = names.split(',').map(String::from).collect();
        Wide::find(&header, id, "f.csv")
    }

    #[test]
    fn quantities_at_the_same_times_are_found_with_whoever_they_are_about() {
        let wide = found("pid,sex,pain_1,pain_2,pain_3,call_1,call_2,call_3,age,bmi_0", "ID").expect("wide");
        assert_eq!((wide.stems, wide.mark, wide.ends), (vec!["call".to_string(), "pain".into()], "_".into(), (1, 3)));
        assert_eq!(wide.id, "pid");
        assert_eq!(found("a1,b1,ID,a2,b2", "ID").expect("wide").id, "ID");
    }

    #[test]
    fn a_long_header_is_not_taken_for_a_wide_one() {
        assert_eq!(found("ID,timestamp,z1,action,reward,state1,state2,state3", "ID"), None);
        assert_eq!(found("ID,pain_1,pain_2,call_1,call_3", "ID"), None, "no two are there at the same times");
        assert_eq!(found("id,week,sex,pain", "ID"), None);
    }

    #[test]
    fn the_lines_that_reshape_it_name_its_columns() {
        let text = found("id,pain.1,pain.2,call.1,call.2", "id").expect("wide").to_string();
        assert!(
            text.contains("pandas.wide_to_long(wide, [\"call\", \"pain\"], i=\"id\", j=\"time\", sep=\".\")"),
            "{text}"
        );
        assert!(text.contains("call.1 … call.2"), "{text}");
    }
}
