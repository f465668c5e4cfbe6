use super::*;
use crate::fair::policy::tests::policy;
use crate::fair::{Deployment, Method, Request};
use crate::kernel::numeric::Stream;
use rand::RngExt;

/// A file of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("counterfair-{}-{name}.memory", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    fn open(&self) -> Result<MemoryFile, MemoryError> {
        MemoryFile::open(&self.0, &policy(Method::Ours), 4)
    }

    fn desk(&self) -> Deployment {
        Deployment::with_memory(policy(Method::Ours), self.open().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn first(id: usize) -> Request {
    Request::first(format!("person {id}"), ["f", "m"][id % 2], [id as f64 / 7.0, 1.0]).at(1)
}

fn second(id: usize) -> Request {
    Request::after(format!("person {id}"), ["f", "m"][id % 2], "none", [-0.5, id as f64 / 9.0]).at(2)
}

fn everybody(memory: &dyn MemoryStore) -> Vec<(String, Remembered)> {
    let mut all = Vec::new();
    memory
        .visit(&mut |id, person| {
            all.push((id.to_string(), person));
            Ok(())
        })
        .unwrap();
    all
}

#[test]
fn what_was_decided_is_known_after_reopening() {
    let (file, mut whole) = (Scratch::new("reopen"), policy(Method::Ours).deploy());
    let mut told = Vec::new();
    for id in 0..30 {
        let mut desk = file.desk();
        told.push(desk.decide(&first(id)).unwrap());
        assert_eq!(whole.decide(&first(id)).unwrap(), told[id]);
    }
    let mut desk = file.desk();
    assert_eq!(desk.memory().people(), Ok(30));
    for (id, told) in told.into_iter().enumerate() {
        assert_eq!(desk.decide(&first(id)), Ok(crate::fair::Decision { repeated: true, ..told }));
        assert_eq!(desk.decide(&second(id)), whole.decide(&second(id)));
    }
}

#[test]
fn a_second_opener_another_policy_and_another_file_are_told_so() {
    let file = Scratch::new("door");
    let held = file.open().unwrap();
    assert_eq!(file.open().err(), Some(MemoryError::InUse { file: file.0.display().to_string() }));
    drop(held);
    let other = MemoryFile::open(&file.0, &policy(Method::Full), 4).err().unwrap();
    let (belongs_to, given) = (policy(Method::Ours).fingerprint(), policy(Method::Full).fingerprint());
    assert_eq!(other, MemoryError::OtherPolicy { file: file.0.display().to_string(), belongs_to, given });
    assert!(file.open().is_ok());
    for text in ["", "no memory at all", &"x".repeat(10_000)] {
        std::fs::write(&file.0, text).unwrap();
        assert!(file.open().is_err(), "{} bytes", text.len());
        assert_eq!(std::fs::read(&file.0).unwrap(), text.as_bytes(), "a file that is no memory stays as it was");
    }
    assert!(MemoryFile::inspect("no/such/file").is_err());
}

#[test]
fn forgotten_people_leave_no_trace() {
    let file = Scratch::new("forgotten");
    let mut desk = file.desk();
    desk.decide_all(&(0..2000).map(first).collect::<Vec<_>>()).unwrap();
    let before = std::fs::metadata(&file.0).unwrap().len();
    let lines: Vec<String> = (0..1999).map(|id| format!(r#"{{"id": "person {id}", "forget": true}}"#)).collect();
    desk.answer_all(lines.iter().map(|line| line.as_bytes()), crate::fair::OnError::Stop).unwrap();
    assert_eq!(desk.memory().people(), Ok(1));
    // The file that was put in the old one's place is the one that goes on, and is nobody else's meanwhile.
    assert!(matches!(file.open().err(), Some(MemoryError::InUse { .. })));
    desk.decide(&second(1999)).unwrap();
    let kept = everybody(desk.memory());
    drop(desk);
    let memory = file.open().unwrap();
    assert_eq!((everybody(&memory), memory.history()), (kept, 4));
    drop(memory);
    let bytes = std::fs::read(&file.0).unwrap();
    assert!((bytes.len() as u64) < before, "{} of {before} bytes", bytes.len());
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("person 1999") && !holds("person 1998") && !holds("person 7"));
}

#[cfg(unix)]
#[test]
fn a_memory_keeps_its_mode_its_links_and_no_drafts_of_killed_processes() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = std::env::temp_dir().join(format!("counterfair-{}-kept", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("inside")).unwrap();
    let (file, link) = (folder.join("inside/file.memory"), folder.join("link.memory"));
    // A link to a file that is not there yet, and relative.
    symlink("inside/file.memory", &link).unwrap();
    let open = || MemoryFile::open(&link, &policy(Method::Ours), 4).unwrap();
    let mut desk = Deployment::with_memory(policy(Method::Ours), open());
    desk.decide_all(&(0..20).map(first).collect::<Vec<_>>()).unwrap();
    drop(desk);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    // A file of its own: what killed processes have left is looked for once per file and process.
    let other = folder.join("inside/other.memory");
    std::fs::copy(&file, &other).unwrap();
    // Process numbers stop at 2²²: nobody has this one.
    let left = folder.join("inside/.other.memory.99999999-0.part");
    std::fs::write(&left, "people").unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(&left).unwrap().set_modified(old).unwrap();
    let forgotten = HashMap::from([("person 3".to_string(), None)]);
    open().put(&forgotten).unwrap();
    MemoryFile::inspect(&other).unwrap().put(&forgotten).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(open().people(), Ok(19));
    let mut names: Vec<_> =
        std::fs::read_dir(folder.join("inside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["file.memory", "other.memory"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn another_policy_is_asked_what_was_asked_before() {
    let (file, other) = (Scratch::new("asked"), Scratch::new("asked-again"));
    let asked: Vec<Request> = (0..5).flat_map(|id| [first(id), second(id)]).collect();
    let mut desk = file.desk();
    desk.decide_all(&asked).unwrap();
    drop(desk);
    let memory = file.open().unwrap();
    let recorded: Vec<Request> =
        everybody(&memory).iter().flat_map(|(id, person)| memory.requests(id, person).unwrap()).collect();
    assert_eq!(recorded, asked);
    // As lines of JSON, another policy understands them and is where it would be had it been asked from the start.
    let new = || policy(Method::Full);
    let mut moved = Deployment::with_memory(new(), MemoryFile::open(&other.0, &new(), 4).unwrap());
    for request in &recorded {
        moved.answer(serde_json::to_string(request).unwrap().as_bytes()).unwrap();
    }
    let mut fresh = new().deploy();
    fresh.decide_all(&asked).unwrap();
    for id in ["person 0", "person 4"] {
        let (is, as_if) = (moved.memory().get(id).unwrap().unwrap(), fresh.memory().get(id).unwrap().unwrap());
        assert_eq!((is.view, is.decided, is.decisions), (as_if.view, as_if.decided, as_if.decisions));
    }
    // A fifth decision is more than is kept: what was asked before is not known any more.
    drop(memory);
    let mut desk = file.desk();
    for t in 3..=5 {
        desk.decide(&second(2).at(t)).unwrap();
    }
    let person = desk.memory().get("person 2").unwrap().unwrap();
    drop(desk);
    assert_eq!(file.open().unwrap().requests("person 2", &person), None);
}

/// Bytes changed anywhere, cuts and repetitions: an error, or exactly what was remembered.
#[test]
fn a_damaged_file_is_an_error_and_never_another_memory() {
    let file = Scratch::new("damaged");
    let mut desk = file.desk();
    desk.decide_all(&(0..300).map(first).collect::<Vec<_>>()).unwrap();
    desk.decide_all(&(0..200).map(second).collect::<Vec<_>>()).unwrap();
    let expected = everybody(desk.memory());
    drop(desk);
    let sound = std::fs::read(&file.0).unwrap();
    let mut rng = Stream::new(18).named("damage").rng();
    let (mut errors, trials) = (0, 100);
    std::panic::set_hook(Box::new(|_| {}));
    for trial in 0..trials {
        let mut bytes = sound.clone();
        // Pages in use lie at the front: half of the damage goes there.
        let reach = if trial % 2 == 0 { bytes.len().min(1 << 16) } else { bytes.len() };
        let at = rng.random_range(0..reach);
        match trial % 5 {
            0 | 1 => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => bytes[at..].iter_mut().take(512).for_each(|byte| *byte = 0),
            3 => bytes.truncate(at),
            _ => {
                let end = (at + 4096).min(bytes.len());
                let page = bytes[at..end].to_vec();
                let to = rng.random_range(0..bytes.len() - page.len());
                bytes[to..to + page.len()].copy_from_slice(&page);
            }
        }
        std::fs::write(&file.0, &bytes).unwrap();
        match file.open() {
            Err(_) => errors += 1,
            Ok(memory) => assert_eq!(everybody(&memory), expected, "trial {trial} at {at}"),
        }
    }
    // Every bit of the file's head, of which one chooses between the last two commits.
    for bit in 0..8 * 16 {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file.0, &bytes).unwrap();
        if let Ok(memory) = file.open() {
            assert_eq!(everybody(&memory), expected, "bit {bit} of the head");
        }
    }
    drop(std::panic::take_hook());
    assert!(errors > trials / 5, "{errors} of {trials} damages were noticed: too few touched what is in use");
}

/// Size of a million people after ten decisions each, and the rate of group commits: run with --release and --nocapture.
#[test]
#[ignore = "a minute of writing"]
fn a_million_people_fit_in_a_gigabyte() {
    let file = Scratch::new("million");
    let mut desk =
        Deployment::with_memory(policy(Method::Ours), MemoryFile::open(&file.0, &policy(Method::Ours), 256).unwrap());
    let clock = std::time::Instant::now();
    for block in 0..1000 {
        let requests: Vec<Request> = (0..1000).map(|i| first(1000 * block + i)).collect();
        desk.decide_all(&requests).unwrap();
    }
    println!("first decisions: {:.0} per second", 1e6 / clock.elapsed().as_secs_f64());
    let clock = std::time::Instant::now();
    for t in 2..=10u64 {
        for block in 0..20 {
            // Scattered over the file.
            let requests: Vec<Request> = (0..1000).map(|i| second((i * 997 + block * 50) % 1_000_000).at(t)).collect();
            desk.decide_all(&requests).unwrap().into_iter().for_each(|decision| drop(decision.unwrap()));
        }
    }
    println!("further decisions: {:.0} per second", 180e3 / clock.elapsed().as_secs_f64());
    drop(desk);
    let bytes = std::fs::metadata(&file.0).unwrap().len();
    let clock = std::time::Instant::now();
    drop(file.open().unwrap());
    println!("{} MB; opened and verified in {:.2} s", bytes / 1_000_000, clock.elapsed().as_secs_f64());
    assert!(bytes < 1_000_000_000);
}
