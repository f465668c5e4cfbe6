//! Runs as scripts and clusters make them: shards, closed pipes, full disks, odd paths, threads. Nothing may be silently wrong.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runs-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_counterfair"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// With a standard output that nobody reads, and the file `requests`, if there is one, as standard input.
    fn unread<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        let requests = File::open(self.0.join("requests")).map_or(Stdio::null(), Stdio::from);
        let mut command = self.command(arguments);
        let mut child = command.stdin(requests).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait_with_output().unwrap()
    }

    #[track_caller]
    fn succeed<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn simulate(out: &str) -> Vec<&str> {
    let world = ["simulate", "--world", "three-levels", "--n", "150", "--t", "6", "--delta", "0.8", "--seed", "11"];
    [&world[..], &["--out", out]].concat()
}

fn shard(k: &str) -> Vec<&str> {
    ["reproduce", "--quick", "--only", "fig:sim_all", "--seeds", "1", "--out", "shards", "--shard", k].to_vec()
}

#[cfg(unix)]
#[test]
fn shards_are_saved_before_they_are_told_and_joined_only_when_all_are_there() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("shards");
    let output = folder.unread(&shard("1/2"));
    assert!(output.status.success(), "a reader that went away is no failure: {}", said(&output));
    assert!(folder.0.join("shards/cells.1-of-2.jsonl").exists());

    let refused = folder.command(&["merge", "shards"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("cells are missing (shard 2/2:"), "{}", said(&refused));
    assert!(!folder.0.join("shards/cells.jsonl").exists());
    let told = folder.command(&["merge", "shards", "--partial", "--out", "half"]).output().unwrap();
    assert!(told.status.success() && said(&told).contains("warning:"), "{}", said(&told));

    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command(&shard("2/2")).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "what could not be printed is an error");
    assert!(said(&output).contains("standard output"), "{}", said(&output));
    // The results are there all the same, and any path will do for the report.
    let odd = OsStr::from_bytes(b"odd-\xff");
    let output = folder.unread(&[OsStr::new("merge"), OsStr::new("shards"), OsStr::new("--out"), odd]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(folder.0.join(odd).join("report/index.html").exists());
    let again = folder.succeed(&["merge", "shards", "--out", "again"]);
    assert!(again.contains("fig:sim_all"), "{again}");
    let read = |name: &Path| fs::read(folder.0.join(name).join("cells.jsonl")).unwrap();
    assert_eq!(read(Path::new(odd)), read(Path::new("again")));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new("pipe");
    let rows = {
        use counterfair::theory::errata::{errata, recompute};
        use counterfair::theory::theorems::Examined;
        let some: Vec<_> = errata().into_iter().filter(|erratum| erratum.label == "D9").collect();
        serde_json::to_string(&Examined { theorems: vec![], errata: recompute(&some) }).unwrap()
    };
    fs::write(folder.0.join("rows.json"), rows).unwrap();
    let requests = "{\"id\": \"ann\", \"z\": \"1\", \"state\": [0.4, 0.1]}\n";
    fs::write(folder.0.join("requests"), requests).unwrap();
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    for arguments in [
        simulate("data.csv"),
        words("optimum --world linear --delta 0.5"),
        words("optimum --world linear --delta 0.5 --json"),
        words("verify --from rows.json --out page"),
        words("preprocess --data data.csv --model linear --out fair.csv"),
        words("preprocess --data data.csv --model linear --out again.csv --json"),
        words("learn --data data.csv --model linear --replicates 20 --splits 0 --save-anyway --save p.json"),
        words("learn --data data.csv --model linear --replicates 20 --splits 0 --save-anyway --save q.json --json"),
        words("evaluate --policy p.json --data data.csv --replicates 20"),
        words("evaluate --policy p.json --data data.csv --replicates 20 --json"),
        words("study --data data.csv --model linear --replicates 20 --out study"),
        words("study --data data.csv --model linear --replicates 20 --out study-json --json"),
        words("decide --policy p.json --serve-anyway --memory a.memory"),
        words("memory show --memory a.memory"),
        words("memory list --memory a.memory"),
        words("memory export --memory a.memory"),
        words("memory export --requests --memory a.memory"),
        words("reproduce --quick --only table:real_data --data data.csv --out own"),
        words("merge own --data data.csv --out joined"),
        words("--help"),
    ] {
        let output = folder.unread(&arguments);
        let message = said(&output);
        // Decisions that nobody read are no success: the command says which were not delivered.
        let unread = message.contains("not delivered");
        assert_eq!(arguments[0] == "decide", unread, "{arguments:?}: {message}");
        assert!(output.status.success() != unread && !message.contains("panicked"), "{arguments:?}: {message}");
    }
    // What was asked for is there, though nobody heard of it.
    for file in [
        "data.csv",
        "page/index.html",
        "fair.csv",
        "again.csv",
        "p.json",
        "q.json",
        "study/index.html",
        "study-json/index.html",
        "a.memory",
        "own/report/index.html",
        "joined/report/index.html",
    ] {
        assert!(folder.0.join(file).exists(), "{file}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_a_shell_appends_to_is_appended_to() {
    let folder = Folder::new("log");
    folder.succeed(&simulate("data.csv"));
    let log = folder.0.join("log");
    fs::write(&log, "before\n").unwrap();
    let append = || OpenOptions::new().append(true).open(&log).unwrap();
    let done = folder.command(&simulate("/dev/stdout")).stdout(append()).status().unwrap();
    assert!(done.success());
    let (text, data) = (fs::read_to_string(&log).unwrap(), fs::read_to_string(folder.0.join("data.csv")).unwrap());
    let rest = text.strip_prefix("before\n").and_then(|rest| rest.strip_prefix(&data)).expect("the log, then the data");
    assert!(rest.starts_with("/dev/stdout: 150 people"), "{rest}");
}

#[test]
fn a_policy_is_bit_identical_on_1_2_4_and_7_threads() {
    let folder = Folder::new("threads");
    folder.succeed(&simulate("data.csv"));
    // Eighty-four features of six counterfactual states, some of them all but collinear.
    let learn = [
        "learn",
        "--data",
        "data.csv",
        "--model",
        "linear",
        "--learner",
        "least-squares",
        "--degree",
        "3",
        "--save-anyway",
        "--overwrite",
        "--save",
        "p.json",
    ];
    let policy = |threads: &str| {
        let done = folder.command(&learn).env("RAYON_NUM_THREADS", threads).stdout(Stdio::null()).status().unwrap();
        assert!(done.success());
        fs::read(folder.0.join("p.json")).unwrap()
    };
    let one = policy("1");
    for threads in ["2", "4", "7"] {
        assert!(policy(threads) == one, "{threads} threads");
    }
}

/// The licence of the STAR extract is not the program's.
#[test]
fn no_line_of_the_star_extract_is_in_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let star = fs::read_to_string(root.join("tests/fixtures/star/star_long.csv")).unwrap();
    let line = star.lines().nth(star.lines().count() / 2).unwrap();
    assert!(line.len() > 20, "{line}");
    let program = fs::read(env!("CARGO_BIN_EXE_counterfair")).unwrap();
    let found = program.windows(line.len()).any(|window| window == line.as_bytes());
    assert!(!found, "{line}");
    // And the search can find something.
    let known = b"Project STAR is left out";
    assert!(program.windows(known.len()).any(|window| window == known));
}

#[test]
fn two_runs_in_one_folder_do_not_touch_each_other() {
    let folder = Folder::new("two");
    fs::create_dir_all(folder.0.join("shards")).unwrap();
    let lock = File::create(folder.0.join("shards/.cells.1-of-9.jsonl.lock")).unwrap();
    lock.try_lock().unwrap();
    let output = folder.command(&shard("1/9")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("being written by another run"), "{}", said(&output));
    drop(lock);
    folder.succeed(&shard("1/9"));
}
