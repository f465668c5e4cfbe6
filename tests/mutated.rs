//! Changed files thrown at every reader: each is read or refused, and nothing panics or takes more than its share of time.
//!
//! A few thousand inputs in `cargo test`; `COUNTERFAIR_FUZZ_SECONDS=15` goes on for so long per reader, as the gate does. `tests/fuzz/run` looks for
//! inputs by the branches they take, which finds more and needs a build of its own.

use counterfair::fair::{Deployment, Policy};
use counterfair::files::{MissingRepair, ReadOptions, RowConvention, StepLength, read_csv_from};
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest that one input of a few kilobytes may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A small generator of its own: the same inputs on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Pieces that mean something to one of the readers.
const PIECES: [&[u8]; 28] = [
    b",",
    b";",
    b"\t",
    b"\"",
    b"\n",
    b"\r\n",
    b"NA",
    b"1e999",
    b"-1",
    b"1e50",
    b"0,5",
    b"2024-02-29",
    b"2024-13-01T10:00Z",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x1f\x8b\x08",
    b"PAR1",
    b"\0",
    b"\xc3\x28",
    b"{",
    b"}",
    b"[]",
    b"null",
    b":",
    b"1e400",
    b"\\u0000",
    b"9223372036854775808",
    b"\xe2\x80\xae",
];

fn mutated(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        let to = (at + 1 + dice.below(12)).min(bytes.len());
        match dice.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            1 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            2 => drop(bytes.drain(at.min(to)..to)),
            3 => drop(bytes.splice(at..at, PIECES[dice.below(PIECES.len())].iter().copied())),
            4 => {
                let copy = bytes[at.min(to)..to].to_vec();
                let there = dice.below(bytes.len() + 1);
                drop(bytes.splice(there..there, copy));
            }
            5 if dice.below(8) == 0 => bytes.truncate(at),
            _ => {
                let other = dice.below(bytes.len() + 1);
                if at < bytes.len() && other < bytes.len() {
                    bytes.swap(at, other);
                }
            }
        }
    }
    bytes
}

/// Runs a reader on changes of its seeds; how many were accepted, and how many there were.
fn throw(name: &str, seeds: &[Vec<u8>], inputs: usize, mut reader: impl FnMut(&[u8]) -> bool) -> (usize, usize) {
    let seconds = std::env::var("COUNTERFAIR_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (start, mut dice) = (Instant::now(), Dice(0x9e37_79b9_7f4a_7c15));
    let (mut accepted, mut count) = (0, 0);
    while count < inputs || start.elapsed() < Duration::from_secs(seconds) {
        let seed = &seeds[dice.below(seeds.len())];
        let input = mutated(seed, &mut dice);
        let began = Instant::now();
        accepted += usize::from(reader(&input));
        assert!(began.elapsed() < PATIENCE, "{name}: input {count} took {:?}: {input:?}", began.elapsed());
        count += 1;
    }
    println!("{name}: {accepted} of {count} inputs accepted");
    // Seeds are sound, so that some changes must do no harm and some must be refused: neither reader nor changes are idle.
    assert!(accepted > 0 && accepted < count, "{name}: {accepted} of {count}");
    (accepted, count)
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(name);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the seeds").map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

#[test]
fn text_is_read_or_refused() {
    let mut files: Vec<Vec<u8>> = seeds("csv").into_iter().map(|seed| seed[1..].to_vec()).collect();
    let plain = files[0].clone();
    files.push(plain.iter().map(|&b| if b == b',' { b';' } else { b }).collect());
    files.push(String::from_utf8_lossy(&plain).encode_utf16().flat_map(u16::to_le_bytes).collect());
    files.push(b"ID;timestamp;z1;action;reward;state1\na;2024-01-31;f;;;0,5\na;2024-02-29;f;go;1,5;2\n".to_vec());
    let mut turn = 0usize;
    throw("csv", &files, 4000, |input| {
        turn += 1;
        let rows = if turn.is_multiple_of(2) { RowConvention::Incoming } else { RowConvention::Outgoing };
        let missing = if turn % 4 < 2 { MissingRepair::Refuse } else { MissingRepair::DropTail };
        let step = [None, Some(StepLength::Number(1.0)), Some(StepLength::Months(1))][turn % 3];
        match read_csv_from(input, "mutant.csv", &ReadOptions { rows, missing, step, ..ReadOptions::default() }) {
            Ok(read) => read.panel.states().iter().chain(read.panel.rewards()).all(|x| x.is_finite()),
            Err(error) => {
                let message = error.to_string();
                let clean = !message.chars().any(char::is_control) && message.chars().count() < 6000;
                assert!(clean && message.starts_with("mutant.csv"), "{message:?}");
                false
            }
        }
    });
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_or_refused() {
    use counterfair::files::{Columns, read, read_csv_from, write};
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{}.parquet", std::process::id()));
    let text = &seeds("csv")[0][1..];
    let panel = read_csv_from(text, "seed.csv", &ReadOptions::default()).expect("a sound seed").panel;
    write(&file, &panel, &Columns::default(), RowConvention::Incoming).expect("a seed");
    // Our own file, and those of other writers: the first byte of a seed is the row convention.
    let own = [vec![0], std::fs::read(&file).expect("the seed")].concat();
    let all = [seeds("parquet"), vec![own]].concat();
    throw("parquet", &all, 1500, |input| {
        let Some((choice, bytes)) = input.split_first() else { return false };
        std::fs::write(&file, bytes).expect("the scratch folder");
        let rows = if choice & 1 == 0 { RowConvention::Incoming } else { RowConvention::Outgoing };
        match read(&file, &ReadOptions { rows, ..ReadOptions::default() }) {
            Ok(read) => read.panel.states().iter().chain(read.panel.rewards()).all(|x| x.is_finite()),
            Err(_) => false,
        }
    });
    std::fs::remove_file(&file).expect("our own file");
}

#[test]
fn policies_are_read_or_refused() {
    throw("policy", &seeds("policy"), 3000, |input| match Policy::from_json(input, "fuzz.json") {
        Ok(policy) => {
            let agent = policy.agent();
            let mut memory = agent.begin(&[0], &vec![0.5; policy.state_dim], &[0.5]);
            agent.act(&mut memory, &[0.5], &mut [0]);
            true
        }
        Err(_) => false,
    });
}

#[test]
fn lines_are_answered_or_refused() {
    let lines: Vec<Vec<u8>> = seeds("decide")
        .iter()
        .flat_map(|seed| seed.split(|b| *b == b'\n').skip(1).map(<[u8]>::to_vec).collect::<Vec<_>>())
        .collect();
    let policy = seeds("decide")[0].split(|b| *b == b'\n').next().expect("a policy").to_vec();
    let mut deployment = Deployment::new(Policy::from_json(&policy, "seed.json").expect("a sound seed"));
    throw("decide", &lines, 4000, |input| deployment.answer(input).is_ok());
}
