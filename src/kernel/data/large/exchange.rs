//! Shards on several machines, which tell each other their sums through a folder that all of them see.
//!
//! Each shard appends what it says to a journal of its own, and reads those of the others as they grow: a file system that is shared over a
//! network shows what was appended to a file once the file is opened again, while new names may take half a minute to be seen. Journals stay until
//! somebody removes the folder, so that a shard that was killed can be started again: it says the same once more, which is compared and not
//! written, until it comes to what it had not said yet.

use crate::kernel::numeric::{ShardError, Together};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One of n shards that work at the same time.
pub struct Exchange {
    folder: PathBuf,
    part: usize,
    parts: usize,
    waiting: Box<dyn Fn(&str) + Send + Sync>,
    state: Mutex<State>,
}

struct State {
    own: File,
    /// How far each journal was read.
    read: Vec<u64>,
    /// Whether this shard was found to be of another run than its journal.
    is_other: bool,
    spent: Spent,
}

/// What putting shards together took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// How often everybody said something.
    pub rounds: usize,
    /// Bytes this shard said.
    pub bytes: u64,
    /// How long it waited for others.
    pub waited: Duration,
}

/// What a shard says at a step.
struct Said {
    step: String,
    /// What it found, or why it stopped.
    what: Result<Vec<u8>, String>,
}

/// Length and check sum before each record.
const HEAD: usize = 16;

/// How long to wait between two looks at another's journal, at first and at most.
const LOOKS: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(50));

/// Shards that are not taken for a slip of the hand.
const MOST: usize = 10_000;

/// How long to wait before it is said, and again.
const PATIENCE: Duration = Duration::from_secs(15);

impl Exchange {
    /// Opens the folder for the `part`-th of `parts` shards, counted from 0; `waiting` is told when others let this one wait.
    ///
    /// # Errors
    /// [`ShardError`] when the folder cannot be used, or the same shard is at work already.
    pub fn open(
        folder: &Path,
        (part, parts): (usize, usize),
        waiting: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Self, ShardError> {
        if parts > MOST {
            return Err(ShardError(format!("{parts} shards are more than the {MOST} that can wait for each other")));
        }
        std::fs::create_dir_all(folder).map_err(|source| refused(folder, &source))?;
        check_folder(folder, parts)?;
        let path = journal(folder, part, parts);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let own = options.open(&path).map_err(|source| refused(&path, &source))?;
        if let Err(TryLockError::WouldBlock) = own.try_lock() {
            return Err(ShardError(format!("{}: shard {}/{parts} is at work already", path.display(), part + 1)));
        }
        let state = Mutex::new(State { own, read: vec![0; parts], is_other: false, spent: Spent::default() });
        Ok(Self { folder: folder.to_path_buf(), part, parts, waiting, state })
    }

    /// What this shard said at the step it is about to take, if it was started before.
    pub fn said_before(&self) -> Option<Vec<u8>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let path = journal(&self.folder, self.part, self.parts);
        record_at(&path, state.read[self.part]).ok()??.0.what.ok()
    }

    /// What it took so far.
    pub fn spent(&self) -> Spent {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).spent
    }

    /// Makes sure that all shards say the same.
    ///
    /// # Errors
    /// [`ShardError`], which shows where they differ.
    pub fn same(&self, step: &str, own: &str) -> Result<(), ShardError> {
        for (part, theirs) in self.gather(step, own.as_bytes().to_vec())?.iter().enumerate() {
            let theirs = String::from_utf8_lossy(theirs);
            if theirs != own {
                let from = own.chars().zip(theirs.chars()).take_while(|(a, b)| a == b).count().saturating_sub(20);
                let shown = |text: &str| text.chars().skip(from).take(80).collect::<String>();
                return Err(ShardError(format!(
                    "shards were not started alike ({step}): {}/{} has “{}”, {}/{} “{}”",
                    part + 1,
                    self.parts,
                    shown(&theirs),
                    self.part + 1,
                    self.parts,
                    shown(own)
                )));
            }
        }
        Ok(())
    }

    /// Tells the others that this shard goes no further, so that they do not wait for it.
    pub fn stop(&self, why: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_other {
            // The run itself may go on, with the right command.
            return;
        }
        // After all that was said before a restart: the others may have read it.
        let path = journal(&self.folder, self.part, self.parts);
        let mut end = state.read[self.part];
        while let Ok(Some((_, next))) = record_at(&path, end) {
            end = next;
        }
        let said = Said { step: String::new(), what: Err(why.into()) };
        // If this cannot be said either, the others wait until they are stopped.
        let _ = append(&mut state.own, end, &said.record());
    }

    /// What a shard says next, as soon as it does.
    fn next(&self, state: &mut State, part: usize, step: &str) -> Result<Said, ShardError> {
        let path = journal(&self.folder, part, self.parts);
        let (start, mut pause, mut told) = (Instant::now(), LOOKS.0, PATIENCE);
        loop {
            match record_at(&path, state.read[part]) {
                Ok(Some((said, end))) => {
                    state.read[part] = end;
                    state.spent.waited += start.elapsed();
                    return Ok(said);
                }
                Ok(None) => {}
                // It has not begun yet.
                Err(source) if source.kind() == io::ErrorKind::NotFound && state.read[part] == 0 => {}
                Err(source) => return Err(refused(&path, &source)),
            }
            let own = journal(&self.folder, self.part, self.parts);
            if !own.exists() {
                return Err(ShardError(format!(
                    "{}: this shard's own sums are gone: the folder was emptied",
                    own.display()
                )));
            }
            if start.elapsed() > told {
                let seconds = told.as_secs();
                (self.waiting)(&format!("waiting for shard {}/{} since {seconds} s ({step})", part + 1, self.parts));
                told *= 4;
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(LOOKS.1);
        }
    }
}

impl Together for Exchange {
    fn part(&self) -> (usize, usize) {
        (self.part, self.parts)
    }

    fn gather(&self, step: &str, own: Vec<u8>) -> Result<Vec<Vec<u8>>, ShardError> {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.spent.rounds += 1;
        state.spent.bytes += own.len() as u64;
        let path = journal(&self.folder, self.part, self.parts);
        let record = Said { step: step.into(), what: Ok(own) }.record();
        match record_at(&path, state.read[self.part]).map_err(|source| refused(&path, &source))? {
            // It was said before this shard was started again.
            Some((before, _)) if before.record() != record => {
                state.is_other = true;
                return Err(match before.what {
                    Err(why) => {
                        ShardError(format!("{}: this run has stopped: {why}; take an empty folder", path.display()))
                    }
                    Ok(_) => ShardError(format!(
                        "{}: this shard said something else at the step “{}” before it was started again: the data, the command or the program is \
                         another; take an empty folder",
                        path.display(),
                        before.step
                    )),
                });
            }
            Some(_) => {}
            None => append(&mut state.own, state.read[self.part], &record).map_err(|source| refused(&path, &source))?,
        }
        let mut all = Vec::with_capacity(self.parts);
        for part in 0..self.parts {
            let said = self.next(state, part, step)?;
            let what =
                said.what.map_err(|why| ShardError(format!("shard {}/{} stopped: {why}", part + 1, self.parts)))?;
            if said.step != step {
                return Err(ShardError(format!(
                    "shard {}/{} is at the step “{}”, this one at “{step}”: all shards need the same command, the same program and the same kind of \
                     processor",
                    part + 1,
                    self.parts,
                    said.step
                )));
            }
            all.push(what);
        }
        Ok(all)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {}/{} in {}", self.part + 1, self.parts, self.folder.display())
    }
}

impl Said {
    /// Length and check sum of what follows; whether the shard stopped; the step; what it says.
    fn record(&self) -> Vec<u8> {
        let (is_stop, what) = match &self.what {
            Ok(bytes) => (0, bytes.as_slice()),
            Err(why) => (1, why.as_bytes()),
        };
        let mut body = vec![is_stop];
        body.extend((self.step.len() as u32).to_le_bytes());
        body.extend(self.step.as_bytes());
        body.extend(what);
        let mut record = (body.len() as u64).to_le_bytes().to_vec();
        record.extend(check_sum(&body).to_le_bytes());
        record.append(&mut body);
        record
    }

    fn of(body: &[u8]) -> Option<Self> {
        let (is_stop, rest) = body.split_first()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (step, what) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let what = if *is_stop == 1 { Err(String::from_utf8_lossy(what).into_owned()) } else { Ok(what.to_vec()) };
        Some(Self { step: String::from_utf8_lossy(step).into_owned(), what })
    }
}

/// FNV-1a.
fn check_sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// A folder serves one run: with another number of shards its journals have other names.
fn check_folder(folder: &Path, parts: usize) -> Result<(), ShardError> {
    let entries = std::fs::read_dir(folder).map_err(|source| refused(folder, &source))?;
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let of = name.strip_prefix("shard-").and_then(|rest| rest.split_once("-of-")).map(|(_, of)| of);
        if of.is_some_and(|of| of != parts.to_string()) {
            return Err(ShardError(format!(
                "{} has {name}, of another run than one of {parts} shards; take an empty folder",
                folder.display()
            )));
        }
    }
    Ok(())
}

fn journal(folder: &Path, part: usize, parts: usize) -> PathBuf {
    folder.join(format!("shard-{}-of-{parts}", part + 1))
}

/// The record at a place, and where the next one begins; `None` as long as it is not whole.
fn record_at(path: &Path, at: u64) -> io::Result<Option<(Said, u64)>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length < at + HEAD as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(at))?;
    let mut head = [0; HEAD];
    file.read_exact(&mut head)?;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let (size, sum) = (word(&head[..8]), word(&head[8..]));
    let end = (at + HEAD as u64).checked_add(size);
    let Some(end) = end.filter(|end| *end <= length) else { return Ok(None) };
    let mut body = vec![0; size as usize];
    file.read_exact(&mut body)?;
    // Over a network the length of a file may be seen before its bytes.
    if check_sum(&body) != sum {
        return Ok(None);
    }
    Ok(Said::of(&body).map(|said| (said, end)))
}

/// Writes a record where the last whole one ends: half of one may have been left there by a shard that was killed.
fn append(own: &mut File, at: u64, record: &[u8]) -> io::Result<()> {
    own.set_len(at)?;
    own.seek(SeekFrom::Start(at))?;
    own.write_all(record)?;
    own.sync_data()
}

fn refused(path: &Path, source: &io::Error) -> ShardError {
    ShardError(format!("{}: shards cannot exchange sums here: {source}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("counterfair-exchange-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Self(path)
        }

        fn shard(&self, part: usize, parts: usize) -> Result<Exchange, ShardError> {
            Exchange::open(&self.0, (part, parts), Box::new(|_| {}))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn sums(exchange: &Exchange, rounds: std::ops::Range<usize>) -> Result<Vec<f64>, ShardError> {
        let mut found = Vec::new();
        for round in rounds {
            let mut own = [(1 + round) as f64 * 10f64.powi(exchange.part as i32)];
            (exchange as &dyn Together).sum(&format!("round {round}"), &mut own)?;
            found.push(own[0]);
        }
        Ok(found)
    }

    #[test]
    fn a_shard_that_was_killed_goes_on_where_it_was_and_half_a_record_is_written_again() {
        let folder = Folder::new("killed");
        let others: Vec<_> = (1..3).map(|part| folder.shard(part, 3).unwrap()).collect();
        std::thread::scope(|scope| {
            let handles: Vec<_> = others.iter().map(|other| scope.spawn(move || sums(other, 0..6))).collect();
            let first = folder.shard(0, 3).unwrap();
            assert_eq!(sums(&first, 0..4).unwrap(), [111.0, 222.0, 333.0, 444.0]);
            assert!(folder.shard(0, 3).unwrap_err().to_string().contains("shard 1/3 is at work already"));
            drop(first);
            let path = journal(&folder.0, 0, 3);
            let length = std::fs::metadata(&path).unwrap().len();
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 3).unwrap();
            let again = folder.shard(0, 3).unwrap();
            let all = [111.0, 222.0, 333.0, 444.0, 555.0, 666.0];
            assert_eq!(sums(&again, 0..6).unwrap(), all);
            assert_eq!(again.spent().rounds, 6);
            handles.into_iter().for_each(|handle| assert_eq!(handle.join().unwrap().unwrap(), all));
        });
    }

    #[test]
    fn what_is_not_the_same_run_is_refused() {
        let folder = Folder::new("other");
        std::thread::scope(|scope| {
            let other = folder.shard(1, 2).unwrap();
            let waiting = scope.spawn(move || {
                other.same("command", "learn --discount 0.9 --seed 1")?;
                sums(&other, 0..2)?;
                other.gather("another step", vec![])
            });
            let own = folder.shard(0, 2).unwrap();
            own.same("command", "learn --discount 0.9 --seed 1").unwrap();
            sums(&own, 0..2).unwrap();
            let apart = own.gather("this step", vec![]).unwrap_err().to_string();
            assert!(apart.contains("shard 2/2 is at the step “another step”, this one at “this step”"), "{apart}");
            own.stop("no room on disk");
            let stopped = waiting.join().unwrap().unwrap_err().to_string();
            assert!(stopped.contains("this step") || stopped.contains("no room on disk"), "{stopped}");
        });
        let again = folder.shard(0, 2).unwrap();
        let changed = again.same("command", "learn --discount 0.8 --seed 1").unwrap_err().to_string();
        assert!(changed.contains("said something else at the step “command”"), "{changed}");
        assert!(folder.shard(0, 3).unwrap_err().to_string().contains("of another run than one of 3 shards"));
        assert!(folder.shard(0, usize::MAX).unwrap_err().to_string().contains("more than the"));
        assert!(!journal(&folder.0, 0, 3).exists(), "nothing is left behind");
    }

    #[test]
    fn a_shard_that_fails_after_a_restart_ends_the_others_and_one_with_another_command_does_not() {
        let folder = Folder::new("again");
        let (first, second) = (folder.shard(0, 2).unwrap(), folder.shard(1, 2).unwrap());
        std::thread::scope(|scope| {
            let going = scope.spawn(|| sums(&first, 0..6));
            sums(&second, 0..3).unwrap();
            drop(second);
            let other = folder.shard(1, 2).unwrap();
            sums(&other, 0..1).unwrap();
            assert!(other.gather("another step", vec![]).unwrap_err().to_string().contains("said something else"));
            other.stop("another command");
            drop(other);
            let again = folder.shard(1, 2).unwrap();
            assert_eq!(sums(&again, 0..4).unwrap(), [11.0, 22.0, 33.0, 44.0], "the run goes on");
            drop(again);
            let failing = folder.shard(1, 2).unwrap();
            sums(&failing, 0..1).unwrap();
            failing.stop("no room on disk");
            let error = going.join().unwrap().unwrap_err().to_string();
            assert_eq!(error, "shard 2/2 stopped: no room on disk");
        });
    }

    #[test]
    fn a_folder_that_was_emptied_is_not_waited_for() {
        let folder = Folder::new("emptied");
        let first = folder.shard(0, 2).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| sums(&first, 0..1));
            while !journal(&folder.0, 0, 2).exists() {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(20));
            std::fs::remove_dir_all(&folder.0).unwrap();
            let error = waiting.join().unwrap().unwrap_err().to_string();
            assert!(error.contains("sums are gone") || error.contains("cannot exchange"), "{error}");
        });
    }

    #[test]
    fn settings_that_differ_are_shown_where_they_do() {
        let folder = Folder::new("settings");
        std::thread::scope(|scope| {
            let other = folder.shard(1, 2).unwrap();
            let theirs = scope.spawn(move || other.same("command", "learn --discount 0.9 --seed 2"));
            let own = folder.shard(0, 2).unwrap();
            let error = own.same("command", "learn --discount 0.9 --seed 1").unwrap_err().to_string();
            assert!(error.contains("2/2 has “discount 0.9 --seed 2”, 1/2 “discount 0.9 --seed 1”"), "{error}");
            assert!(theirs.join().unwrap().is_err());
        });
    }
}
