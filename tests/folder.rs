//! A folder of its own for each test, in which the command may be run.

#![allow(dead_code, reason = "not every program runs the command")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf, TempDir);

impl Folder {
    /// An empty folder whose name begins like this.
    pub fn new(name: &str) -> Self {
        let inside = env!("CARGO_TARGET_TMPDIR");
        let made = tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(inside).unwrap();
        Self(made.path().into(), made)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, "")
    }

    pub fn run_with(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_counterfair"))
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that stops at a bad line closes its end early; that is its right.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[track_caller]
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of a command that must fail with 2.
    #[track_caller]
    pub fn refuse(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run_with(arguments, input);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(!message.contains("panicked"), "{message}");
        message
    }
}
