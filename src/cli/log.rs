//! `decide --log`: one line of JSON per decision, for auditors.
//!
//! Who (`id`), when (`at`, UTC; `time`, which decision about the person), what (`action`), and why: `counterfactual_states`, the
//! `values` of all actions, `runner_up`, `margin`, `distance` and `outside` (see the answer's schema), and the `policy`'s fingerprint.
//! `repeated` marks an answer given before. A person who was forgotten leaves a line with `forgotten`.

use super::error::CliError;
use counterfair::fair::Answered;
use counterfair::fair::Decision;
use counterfair::files::private_file;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub struct Log {
    out: BufWriter<File>,
    file: String,
    policy: String,
}

#[derive(Serialize)]
struct Entry<'a> {
    at: String,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<bool>,
    #[serde(flatten)]
    decision: Option<&'a Decision>,
    policy: &'a str,
}

impl Log {
    /// Appends to a file; a new one is its owner's alone. Where a process that was killed has left half a line, the next entry begins a new one.
    ///
    /// # Errors
    /// [`CliError::NotALog`], of a file with something else in it, and [`CliError::Read`], with the file and what the system said.
    pub fn open(path: &Path, policy: &str) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let opened = || -> std::io::Result<Option<File>> {
            let mut log = private_file().create(true).read(true).append(true).open(path)?;
            if log.metadata()?.is_file() && log.seek(SeekFrom::End(0))? > 0 {
                if !begins_as_log(&mut log)? {
                    return Ok(None);
                }
                let mut last = [0];
                log.seek(SeekFrom::End(-1))?;
                log.read_exact(&mut last)?;
                if last != *b"\n" {
                    log.write_all(b"\n")?;
                }
            }
            Ok(Some(log))
        };
        match opened() {
            Ok(None) => Err(CliError::NotALog { file }),
            Ok(Some(log)) => Ok(Self { out: BufWriter::new(log), file, policy: policy.into() }),
            Err(source) => Err(CliError::Read { file, source }),
        }
    }

    /// One line for each answer, on disk when this returns.
    ///
    /// # Errors
    /// [`CliError::Read`], with the file and what the system said.
    pub fn write<'a>(&mut self, answers: impl Iterator<Item = &'a Answered>) -> Result<(), CliError> {
        self.append(answers).map_err(|source| CliError::Read { file: self.file.clone(), source })
    }

    fn append<'a>(&mut self, answers: impl Iterator<Item = &'a Answered>) -> std::io::Result<()> {
        let at = utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        for Answered { id, decision, .. } in answers {
            let entry = Entry {
                at: at.clone(),
                id,
                time: decision.as_ref().map(|d| d.time),
                repeated: decision.as_ref().map(|d| d.repeated),
                forgotten: decision.is_none().then_some(true),
                decision: decision.as_ref(),
                policy: &self.policy,
            };
            serde_json::to_writer(&mut self.out, &entry)?;
            self.out.write_all(b"\n")?;
        }
        self.out.flush()?;
        // A pipe or a terminal has nothing to be synced.
        let file = self.out.get_ref();
        if file.metadata()?.is_file() { file.sync_data() } else { Ok(()) }
    }
}

/// Whether a file begins with an entry, or with as much of one as a killed process has left.
fn begins_as_log(file: &mut File) -> std::io::Result<bool> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD).read_to_end(&mut head)?;
    head.retain(|b| !b.is_ascii_whitespace());
    Ok(head.iter().zip(FIRST_FIELD).all(|(found, expected)| found == expected))
}

/// How an entry begins, and the bytes in which that is looked for.
const FIRST_FIELD: &[u8] = b"{\"at\":";
const HEAD: u64 = 32;

/// `2026-11-18T01:54:45.123Z`. The date is counted in eras of 400 years that begin on 1 March, so that leap days come last.
fn utc(since_1970: Duration) -> String {
    let (seconds, milliseconds) = (since_1970.as_secs(), since_1970.subsec_millis());
    let (day, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (day / 146_097, day % 146_097);
    let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        let at = |seconds: u64, milliseconds: u64| utc(Duration::from_millis(1000 * seconds + milliseconds));
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000Z");
        // 29 February 2000, 1 March 2100 (no leap year) and a moment of 2026, from `date -u -d @…`.
        assert_eq!(at(951_782_400, 7), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(4_107_542_399, 999), "2100-02-28T23:59:59.999Z");
        assert_eq!(at(4_107_542_400, 0), "2100-03-01T00:00:00.000Z");
        assert_eq!(at(1_794_966_885, 123), "2026-11-18T01:54:45.123Z");
    }
}
