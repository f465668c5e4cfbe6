//! Files that do not fit in memory: how much is allowed, and what is said about them.

use super::error::CliError;
use super::options::{DataOptions, LISTED};
use super::output::note;
use clap::Args;
use counterfair::fair::{LargePeople, Memory};
use counterfair::files::unpacked_bytes;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How much memory may be used, where people can be laid down on disk.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct MemoryOptions {
    /// Memory that may be used, such as 512MB or 2GB; a file that needs more is read in blocks of people onto disk [default: a quarter of the
    /// machine's]
    #[arg(long, value_name = "SIZE")]
    ram: Option<Size>,
    /// Folder for people who do not fit in memory; what is laid down there is removed afterwards [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// How much memory may be used, where people are judged.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct SampleOptions {
    /// Memory that may be used, such as 512MB or 2GB; of a file that needs more a random sample of people is judged, chosen by a hash of their
    /// ids and --seed, and it is said which share [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE")]
    ram: Option<Size>,
}

impl SampleOptions {
    /// Bytes that are allowed, if a file may need more than that by its size.
    pub fn limit_for(&self, data: &Path) -> Option<u64> {
        let bytes = self.ram.map_or_else(default_bytes, |Size(bytes)| bytes);
        (text_of(data).saturating_mul(PER_BYTE_JUDGED) > bytes).then_some(bytes)
    }
}

/// A number of bytes, as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let factor = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "kb" | "k" => 1e3,
            "mb" | "m" => 1e6,
            "gb" | "g" => 1e9,
            "tb" | "t" => 1e12,
            "kib" => 1024.0,
            "mib" => 1024.0 * 1024.0,
            "gib" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(format!("{unit:?} is no unit of memory: KB, MB, GB, KiB, MiB, GiB")),
        };
        match number.trim().parse::<f64>() {
            Ok(x) if x * factor >= LEAST => Ok(Self((x * factor) as u64)),
            Ok(_) => Err(format!("at least {LEAST} bytes are needed")),
            Err(_) => Err(format!("{text:?} is no size such as 512MB or 2GB")),
        }
    }
}

/// Less makes no sense: the sums of one fit alone take more.
const LEAST: f64 = 1e5;

/// Where the machine does not tell how much it has: a quarter of 8 GB.
const UNKNOWN: u64 = 2_000_000_000;

/// Bytes in memory for each byte of a file at the peak of `learn`: text, rows, the design of a regression and residuals beside each other. On
/// simulated files of one state 13 (additive noise) to 21 (all defaults) were measured.
const PER_BYTE_OF_TEXT: u64 = 25;

/// The same at the peak of `study`, where 47 were measured. Whether a sample is needed is decided by rows; below this nobody looks.
const PER_BYTE_JUDGED: u64 = 50;

/// How many bytes of text a byte of a Parquet file stands for, about.
const PER_COMPRESSED_BYTE: u64 = 4;

/// The memory allowed, and what a file would need to be held, about.
pub struct TooSmall {
    memory: Memory,
    needed: u64,
}

impl MemoryOptions {
    /// The memory allowed if a file needs more than that, by its size.
    pub fn needed_for(&self, data: &Path) -> Result<Option<TooSmall>, CliError> {
        let bytes = self.ram.map_or_else(default_bytes, |Size(bytes)| bytes);
        let needed = text_of(data).saturating_mul(PER_BYTE_OF_TEXT);
        let scratch = self.scratch.clone().unwrap_or_else(std::env::temp_dir);
        if !scratch.is_dir() {
            return Err(CliError::Argument(format!("--scratch {}: there is no such folder", scratch.display())));
        }
        let memory = Memory { bytes: usize::try_from(bytes).unwrap_or(usize::MAX), scratch };
        Ok((needed > bytes).then_some(TooSmall { memory, needed }))
    }
}

/// Bytes of text that a file holds, about.
fn text_of(data: &Path) -> u64 {
    // A file that is not there is an error of whoever reads it.
    let length = std::fs::metadata(data).map_or(0, |found| if found.is_file() { found.len() } else { 0 });
    let ends = |end: &str| data.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
    // How far text shrinks, nobody knows before it is unpacked: a thousandfold, where rows repeat.
    // Only what is a file can be read twice.
    if let (true, Ok(Some(bytes))) = (length > 0, unpacked_bytes(data)) {
        return bytes;
    }
    length.saturating_mul(if ends("parquet") { PER_COMPRESSED_BYTE } else { 1 })
}

/// A quarter of the machine's memory.
fn default_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = total.and_then(|rest| rest.trim().strip_suffix("kB")).and_then(|n| n.trim().parse::<u64>().ok());
    kibibytes.map_or(UNKNOWN, |n| n * 1024 / 4)
}

/// Reads a file onto disk, and says so and what was found out about it.
pub fn read(data: &DataOptions, limit: &TooSmall, keep: bool) -> Result<LargePeople, CliError> {
    let TooSmall { memory, needed } = limit;
    let people = LargePeople::read(&data.data, &data.options(), memory, keep)?.naming_people(data.reading.name_people);
    let sketch = people.sketch();
    let (count, share) = (people.panel().people(), memory.bytes as f64 / *needed as f64);
    note(format_args!(
        "{}: {count} people would take about {:.1} MB of memory, {:.1} are allowed (room for about {:.0} people); they were laid down in {} for \
         as long as this runs",
        sketch.name(),
        *needed as f64 / 1e6,
        memory.bytes as f64 / 1e6,
        share * count as f64,
        memory.scratch.display()
    ));
    describe(&people);
    Ok(people)
}

/// Says what was found out about a file and repaired in it.
fn describe(people: &LargePeople) {
    let (sketch, repairs) = (people.sketch(), people.sketch().repairs());
    sketch.notes().iter().for_each(|line| note(format_args!("{}: {line}", sketch.name())));
    let (cuts, gaps) = people.cuts();
    if !repairs.is_none() {
        note(format_args!(
            "repaired: {} rows dropped; {} people truncated, {} removed; {gaps} at a time that is not there, {} at a missing cell",
            repairs.rows_dropped,
            repairs.people_cut,
            repairs.people_dropped,
            cuts - gaps
        ));
        let listed = repairs.cuts.len().min(LISTED);
        repairs.cuts.iter().take(listed).for_each(|cut| note(format_args!("  {cut}")));
        if listed > 0 && cuts > listed {
            note(format_args!("  and {} more people", cuts - listed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        let size = |text: &str| text.parse::<Size>().map(|Size(bytes)| bytes);
        assert_eq!(size("2GB"), Ok(2_000_000_000));
        assert_eq!(size("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(size("250000"), Ok(250_000));
        for text in ["", "GB", "12 parsecs", "10", "-4GB", "nan"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
