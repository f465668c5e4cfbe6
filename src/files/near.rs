//! Which column may have been meant by a name that is not in the header.

/// What a column is for, the option that names it, and what it is often called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose {
    /// The option of the command line.
    pub option: &'static str,
    names: &'static [&'static str],
}

impl Purpose {
    pub(super) const ID: Self =
        Self { option: "--id", names: &["id", "pid", "subject", "person", "patient", "participant", "child", "nr"] };
    pub(super) const TIME: Self = Self {
        option: "--time",
        names: &["time", "week", "month", "year", "day", "visit", "date", "wave", "grade", "t"],
    };
    pub(super) const GROUP: Self =
        Self { option: "--z", names: &["sex", "gender", "race", "ethnicity", "ethnic", "group", "z"] };
    pub(super) const ACTION: Self =
        Self { option: "--action", names: &["action", "treatment", "treat", "arm", "drug", "dose", "call", "a"] };
    pub(super) const REWARD: Self = Self { option: "--reward", names: &["reward", "outcome", "response", "y", "r"] };
    pub(super) const STATE: Self = Self { option: "--states", names: &[] };

    /// The column that may have been meant: one that is spelled nearly so, or else one with a name that such columns often have.
    pub(super) fn nearest<'h>(&self, asked: &str, free: impl Iterator<Item = &'h str> + Clone) -> Option<&'h str> {
        let plain = |name: &str| -> String {
            name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let wanted = plain(asked);
        let spelled = |name: &str| distance(&wanted, &plain(name));
        let near = free.clone().map(|name| (spelled(name), name)).min_by_key(|(distance, _)| *distance);
        // A third of the letters may differ: two names of three letters with two in common are not the same word.
        if let Some((_, name)) = near.filter(|(distance, _)| 3 * distance < wanted.chars().count().max(1)) {
            return Some(name);
        }
        self.names.iter().find_map(|usual| free.clone().find(|name| plain(name) == *usual))
    }
}

/// The fewest letters to insert, delete, replace or swap with their neighbour that make one text of another (Damerau, Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_that_were_typed_wrongly() {
        for (a, b, expected) in
            [("", "", 0), ("pain", "pain", 0), ("pain", "apin", 1), ("pain", "pan", 1), ("", "abc", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
        assert_eq!(distance("interference", "inteference"), 1);
    }

    #[test]
    fn a_name_spelled_nearly_so_comes_before_one_that_is_usual() {
        let near =
            |purpose: Purpose, asked: &str, header: &[&'static str]| purpose.nearest(asked, header.iter().copied());
        assert_eq!(near(Purpose::ID, "ID", &["week", "id"]), Some("id"));
        assert_eq!(near(Purpose::TIME, "timestamp", &["id", "week"]), Some("week"));
        assert_eq!(near(Purpose::TIME, "timestamp", &["week", "time_stamp"]), Some("time_stamp"));
        assert_eq!(near(Purpose::STATE, "interference", &["pain", "Inteference"]), Some("Inteference"));
        assert_eq!(near(Purpose::GROUP, "z1", &["id", "pain"]), None);
    }
}
