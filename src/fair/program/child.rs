//! The process behind a program: two threads hold its pipes, so that neither side ever waits for the other to read.

use super::{ProgramCommand, ProgramError};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The longest line read: 4096 answers of a hundred actions fit many times over.
pub const LONGEST_LINE: usize = 1 << 26;

/// How long a program may take to end once its input is closed.
const FAREWELL: Duration = Duration::from_millis(500);

/// What a program said.
pub enum Heard {
    /// A whole line, without its end.
    Line(Vec<u8>),
    /// The beginning of a line that is too long.
    TooLong,
    /// Its output is closed.
    End,
    /// Not a word in time.
    Nothing,
}

pub struct Child {
    process: std::process::Child,
    /// To the thread that writes; closed first when the child is dropped.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Heard>,
}

impl Child {
    /// Starts it; its standard error is ours.
    pub fn start(command: &ProgramCommand) -> Result<Self, ProgramError> {
        let (program, arguments) = command.words.split_first().ok_or(ProgramError::Empty)?;
        let not_started = |problem: &dyn ToString| ProgramError::NotStarted {
            program: program.clone(),
            problem: problem.to_string(),
        };
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| not_started(&error))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(not_started(&"it has no input or no output"));
        };
        let (input, lines) = channel::<Vec<u8>>();
        // A program that went away shows in its output; here there is nobody to tell.
        std::thread::spawn(move || {
            let mut stdin = stdin;
            lines.iter().try_for_each(|line| stdin.write_all(&line).and_then(|()| stdin.flush()))
        });
        let (heard, output) = channel();
        std::thread::spawn(move || listen(BufReader::new(stdout), &heard));
        Ok(Self { process, input: Some(input), output })
    }

    /// Hands a line over to be written.
    pub fn send(&self, line: Vec<u8>) {
        if let Some(input) = &self.input {
            // The thread is gone when the program is: `hear` will say so.
            let _ = input.send(line);
        }
    }

    /// The next thing it says within this time.
    pub fn hear(&self, timeout: Duration) -> Heard {
        match self.output.recv_timeout(timeout) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// How it ended, in words.
    pub fn status(&mut self) -> String {
        match self.ended_within(FAREWELL) {
            Some(status) => status.to_string(),
            None => "it closed its output and runs on".into(),
        }
    }

    fn ended_within(&mut self, time: Duration) -> Option<std::process::ExitStatus> {
        let until = Instant::now() + time;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        if self.ended_within(FAREWELL).is_none() {
            // It may have ended just now; either way it is to be gone, and waited for so that no trace is left.
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Passes on line after line until the output ends or nobody wants more.
fn listen(mut output: impl BufRead, heard: &Sender<Heard>) {
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line);
        let said = match read {
            Ok(0) | Err(_) => Heard::End,
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Heard::Line(line)
            }
            Ok(bytes) if bytes > LONGEST_LINE => Heard::TooLong,
            // The last line, without an end: the program was cut off.
            Ok(_) => Heard::End,
        };
        let last = !matches!(said, Heard::Line(_));
        if heard.send(said).is_err() || last {
            return;
        }
    }
}
