//! A table that grows by a row as each piece of work ends, and can be gone on with.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The rows of a table; none where there is no file. What was cut off in the middle of a row is taken out of the file.
pub fn read<R: DeserializeOwned>(path: &Path) -> io::Result<Vec<R>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        text => text?,
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
    }
    csv::Reader::from_reader(&text.as_bytes()[..whole]).deserialize().map(|row| row.map_err(io::Error::other)).collect()
}

/// Works on all jobs at once, as many as there are threads, and appends what each makes. No job begins after `limit`. How many were done.
pub fn append<J: Sync, R: Serialize>(
    path: &Path,
    jobs: &[J],
    limit: Option<Duration>,
    work: impl Fn(&J) -> Vec<R> + Sync,
) -> io::Result<usize> {
    let began = Instant::now();
    let is_new = fs::metadata(path).map_or(true, |file| file.len() == 0);
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let open = Mutex::new((file, is_new));
    // One job after the other is taken from the front, so that a limit cuts off the last of them. On plain threads: a worker of rayon's that waited for a
    // part of its job would take up another job meanwhile.
    let next = Mutex::new(jobs.iter());
    let take = || next.lock().expect("nobody panics while taking").next();
    let go_on = || -> io::Result<usize> {
        let mut done = 0;
        while limit.is_none_or(|limit| began.elapsed() < limit) {
            let Some(job) = take() else { break };
            write(&open, &work(job))?;
            done += 1;
        }
        Ok(done)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..rayon::current_num_threads()).map(|_| scope.spawn(go_on)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a job that does not panic")).sum()
    })
}

fn write<R: Serialize>(open: &Mutex<(File, bool)>, rows: &[R]) -> io::Result<()> {
    let mut open = open.lock().map_err(|_| io::Error::other("another row could not be written"))?;
    let mut lines = csv::WriterBuilder::new().has_headers(open.1).from_writer(vec![]);
    rows.iter().try_for_each(|row| lines.serialize(row)).map_err(io::Error::other)?;
    open.1 &= rows.is_empty();
    open.0.write_all(&lines.into_inner().map_err(|error| io::Error::other(error.to_string()))?)?;
    open.0.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Row {
        job: u64,
        half: Option<f64>,
    }

    fn row(job: &u64) -> Vec<Row> {
        vec![Row { job: *job, half: (*job > 1).then(|| *job as f64 / 2.0) }]
    }

    fn sorted(path: &Path) -> Vec<Row> {
        let mut rows = read::<Row>(path).unwrap();
        rows.sort_by_key(|row| row.job);
        rows
    }

    #[test]
    fn a_table_is_gone_on_with_and_a_row_that_was_cut_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        assert_eq!(read::<Row>(&path).unwrap(), []);
        assert_eq!(append(&path, &[1, 2], None, row).unwrap(), 2);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}3,1.")).unwrap();
        assert_eq!(sorted(&path), [row(&1), row(&2)].concat());
        assert_eq!(append(&path, &[3], None, row).unwrap(), 1);
        assert_eq!(sorted(&path), [row(&1), row(&2), row(&3)].concat());
        assert_eq!(fs::read_to_string(&path).unwrap().matches("job").count(), 1, "one header");
    }

    #[test]
    fn after_the_limit_no_job_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        assert_eq!(append(&path, &[1, 2, 3], Some(Duration::ZERO), row).unwrap(), 0);
    }
}
