//! Writing a file so that a crash never leaves half of it.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The system refused to write a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written: {source}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Writes a file aside in the same directory, then renames it into place: whoever looks at `path` sees the old file or the
/// whole new one. On failure, a panic of `write` included, the file aside is removed and the old one stays; what a run that
/// was killed has left aside is removed before the next file is written in that directory.
///
/// A symbolic link is followed, also to a file that does not exist yet, and an old file's mode is kept. What is neither a
/// file nor a directory (a pipe, a device) is written to directly, since there a rename would replace the device by a file;
/// so are standard output and standard error by their names under `/dev`, even where they are redirected to a file.
///
/// # Errors
/// [`WriteError`] with what the system said.
#[cfg(feature = "report")]
pub fn atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    written(path, Readers::AsUsual, write)
}

/// [`atomically`] for what is about individual people: a new file is its owner's alone (mode 0600). An old file's mode is kept: somebody may
/// have shared it on purpose.
///
/// # Errors
/// [`WriteError`] with what the system said.
pub fn privately(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    written(path, Readers::OwnerAlone, write)
}

/// Who may read a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the umask lets, and of an old file who could.
    AsUsual,
    /// Its owner, and of an old file who could.
    OwnerAlone,
    /// Its owner, whoever could read an old file: that held less.
    OwnerAloneFromNowOn,
}

/// [`atomically`] or [`privately`].
///
/// # Errors
/// [`WriteError`] with what the system said.
pub fn written(
    path: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    in_place(path, readers, write).map_err(|source| WriteError { path: path.to_path_buf(), source })
}

/// Options that make a file which its owner alone may read and write.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder, and those above it, that their owner alone may enter; one that is there stays as it is.
///
/// # Errors
/// What the system said.
#[cfg(feature = "report")]
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// What can be seen before any work: whether a file could be written there. Nothing is left behind.
///
/// # Errors
/// [`WriteError`] with what the system said.
pub fn can_be_written(path: &Path) -> Result<(), WriteError> {
    let tried = || -> io::Result<()> {
        if standard_stream(path).is_some() {
            return Ok(());
        }
        let target = end_of_links(path)?;
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")),
            Ok(found) if !found.is_file() => Ok(()),
            _ => Aside::create(&target, Readers::OwnerAlone).map(drop),
        }
    };
    tried().map_err(|source| WriteError { path: path.to_path_buf(), source })
}

fn in_place(path: &Path, readers: Readers, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if let Some(mut stream) = standard_stream(path) {
        write(&mut *stream)?;
        return stream.flush();
    }
    let target = end_of_links(path)?;
    let old = fs::metadata(&target).ok();
    match &old {
        Some(found) if found.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")),
        Some(found) if !found.is_file() => return fill(OpenOptions::new().write(true).open(path)?, write).map(drop),
        _ => {}
    }
    remove_leftovers(&target);
    let (aside, file) = Aside::create(&target, readers)?;
    if let Some(old) = old.filter(|_| readers != Readers::OwnerAloneFromNowOn) {
        // Before the first byte is written: nobody who may not read the old file may read the new one.
        file.set_permissions(old.permissions())?;
    }
    fill(file, write)?.sync_all()?;
    aside.rename_to(&target)
}

/// Standard output or error, when the path names one of them. Opening these names again would begin at the start of the file
/// that a shell appends to.
fn standard_stream(path: &Path) -> Option<Box<dyn Write>> {
    let named = |names: [&str; 3]| names.iter().any(|name| path == Path::new(name));
    if named(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
        Some(Box::new(io::stdout()))
    } else if named(["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]) {
        Some(Box::new(io::stderr()))
    } else {
        None
    }
}

/// Links in a chain beyond which it is taken for a circle.
const LINKS: usize = 40;

/// The path at the end of a chain of symbolic links, whether or not there is a file.
///
/// # Errors
/// A chain that goes round in a circle.
pub fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            // Not a link, or nothing there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its symbolic links go round in a circle"))
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Letters of a file's name that are kept in the name of the file aside: a name of the full length allowed leaves no room.
const PREFIX: usize = 40;
const SUFFIX: &str = ".part";

/// How the name of every file aside begins that belongs to this target.
fn aside_prefix(target: &Path) -> io::Result<String> {
    let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    Ok(format!(".{}.", name.to_string_lossy().chars().take(PREFIX).collect::<String>()))
}

/// A free name beside a file, for a writer that makes its file itself, locks it while it writes and renames it in the end. What a killed
/// writer of the same file has left is removed first.
///
/// # Errors
/// What the system said, and a path that names no file.
pub fn name_aside(path: &Path) -> io::Result<PathBuf> {
    remove_leftovers(path);
    let prefix = aside_prefix(path)?;
    let names = (0u64..).map(|count| path.with_file_name(format!("{prefix}{}-{count}{SUFFIX}", std::process::id())));
    Ok(names.into_iter().find(|name| !name.exists()).expect("a number that is free"))
}

/// A file beside the target, removed unless it was renamed.
struct Aside(Option<PathBuf>);

impl Aside {
    fn create(target: &Path, readers: Readers) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let prefix = aside_prefix(target)?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!("{prefix}{}-{count}{SUFFIX}", std::process::id()));
            let mut options = if readers == Readers::AsUsual { OpenOptions::new() } else { private() };
            match options.write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // A lock says that somebody is at work; where there are no locks, nothing is ever taken for a leftover.
                    let _ = file.try_lock();
                    return Ok((Self(Some(path)), file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.0 {
            fs::rename(path, target)?;
            self.0 = None;
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Nothing is left to do when the removal fails too: the error on its way out says what went wrong first.
            let _ = fs::remove_file(path);
        }
    }
}

/// A file aside that is younger may belong to somebody who has not locked it yet.
const SETTLED: Duration = Duration::from_secs(1);

/// Removes what killed runs have left beside a target, once per target and process: they may hold people's data.
fn remove_leftovers(target: &Path) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let first = SEEN.lock().map(|mut seen| seen.insert(target.to_path_buf())).unwrap_or(false);
    let (true, Ok(prefix)) = (first, aside_prefix(target)) else { return };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that cannot be listed or a file that cannot be removed is no reason not to write.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let middle = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
        let ours = middle.and_then(|middle| middle.split_once('-')).is_some_and(|(process, count)| {
            process.parse::<u32>().is_ok_and(|process| process != std::process::id()) && count.parse::<u64>().is_ok()
        });
        let settled = entry
            .metadata()
            .and_then(|found| found.modified())
            .is_ok_and(|written| written.elapsed().is_ok_and(|age| age >= SETTLED));
        let abandoned = || OpenOptions::new().write(true).open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if ours && settled && abandoned() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_known_before_and_looking_leaves_nothing() {
        let scratch = Scratch::new("before");
        for (name, expected) in [("new.json", true), ("nowhere/new.json", false), ("", false)] {
            assert_eq!(can_be_written(&scratch.0.join(name)).is_ok(), expected, "{name}");
        }
        fs::write(scratch.0.join("old.json"), "old").unwrap();
        can_be_written(&scratch.0.join("old.json")).unwrap();
        assert_eq!(scratch.names(), ["old.json"]);
        assert_eq!(fs::read_to_string(scratch.0.join("old.json")).unwrap(), "old");
        assert!(can_be_written(Path::new("/dev/null")).is_ok() && can_be_written(Path::new("/dev/stdout")).is_ok());
    }

    /// A directory of its own for each test, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("counterfair-atomic-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_file_is_there_whole_and_nothing_else_is() {
        let scratch = Scratch::new("whole");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        atomically(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let scratch = Scratch::new("failed");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        let failed = atomically(&path, |out| {
            out.write_all(&[b'x'; 1 << 18])?;
            Err(io::Error::other("disk on fire"))
        });
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("out.csv") && message.contains("disk on fire"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn a_panic_while_writing_leaves_the_old_file_and_no_other() {
        let scratch = Scratch::new("panic");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        let panicked = std::panic::catch_unwind(|| atomically(&path, |_| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(scratch.names(), ["out.csv"]);
    }

    #[test]
    fn the_old_file_is_seen_until_the_new_one_is_whole() {
        let scratch = Scratch::new("until");
        let path = scratch.0.join("out.csv");
        fs::write(&path, "old").unwrap();
        atomically(&path, |out| {
            out.write_all(b"new")?;
            out.flush()?;
            assert_eq!(fs::read(&path)?, b"old");
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_directory_is_refused_by_name() {
        let scratch = Scratch::new("directory");
        let message = atomically(&scratch.0, |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("counterfair-atomic-directory"), "{message}");
        assert!(atomically(&scratch.0.join("absent/out.csv"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_also_to_nowhere() {
        use std::os::unix::fs::symlink;
        let scratch = Scratch::new("link");
        let (file, link) = (scratch.0.join("file"), scratch.0.join("link"));
        symlink("file", &link).unwrap();
        for text in ["first", "second"] {
            atomically(&link, |out| out.write_all(text.as_bytes())).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        let circle = scratch.0.join("circle");
        symlink("circle", &circle).unwrap();
        let message = atomically(&circle, |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("circle"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let scratch = Scratch::new("pipe");
        let pipe = scratch.0.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is part of every Unix");
        assert!(made.success());
        std::thread::scope(|threads| {
            let reader = threads.spawn(|| fs::read(&pipe).unwrap());
            atomically(&pipe, |out| out.write_all(b"through")).unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
        });
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(scratch.names(), ["pipe"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_old_files_mode_is_kept_while_it_is_written_and_after() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new("mode");
        let path = scratch.0.join("private.csv");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        atomically(&path, |_| {
            let aside = scratch.names().into_iter().find(|name| name.ends_with(SUFFIX)).expect("a file aside");
            assert_eq!(mode(&scratch.0.join(aside)), 0o640);
            Ok(())
        })
        .unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_private_is_its_owners_alone_from_its_first_byte_unless_it_was_shared_before() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new("private");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = scratch.0.join("people.csv");
        privately(&path, |_| {
            let aside = scratch.names().into_iter().find(|name| name.ends_with(SUFFIX)).expect("a file aside");
            assert_eq!(mode(&scratch.0.join(aside)), 0o600);
            Ok(())
        })
        .unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        privately(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), 0o640);
        create_private_folder(&scratch.0.join("a/b")).unwrap();
        assert_eq!([mode(&scratch.0.join("a")), mode(&scratch.0.join("a/b"))], [0o700; 2]);
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_others_write_is_not() {
        let scratch = Scratch::new("leftover");
        let left = |name: &str| {
            let path = scratch.0.join(name);
            fs::write(&path, "people").unwrap();
            let file = OpenOptions::new().write(true).open(&path).unwrap();
            file.set_modified(std::time::SystemTime::now() - 2 * SETTLED).unwrap();
            file
        };
        // Process numbers stop at 2²²: nobody has these.
        drop(left(".out.csv.99999999-0.part"));
        let busy = left(".out.csv.99999998-0.part");
        busy.try_lock().unwrap();
        drop(left(".out.csv.notes.part"));
        // Somebody who has created a file and not locked it yet.
        fs::write(scratch.0.join(".out.csv.99999997-0.part"), "people").unwrap();
        drop(left(".other.csv.99999999-0.part"));
        atomically(&scratch.0.join("out.csv"), |out| out.write_all(b"new")).unwrap();
        let kept = [
            ".other.csv.99999999-0.part",
            ".out.csv.99999997-0.part",
            ".out.csv.99999998-0.part",
            ".out.csv.notes.part",
            "out.csv",
        ];
        assert_eq!(scratch.names(), kept);
    }
}
