//! Lines of standard input, as many at a time as are ready.

use std::io::{ErrorKind, Read};
use std::ops::Range;

/// The longest line read: a state of a few thousand coordinates fits many times over.
pub const LONGEST_LINE: usize = 1 << 20;

/// Bytes asked for at once. A pipe hands over what it holds, a file this much.
const CHUNK: usize = 1 << 18;

/// Blocks of whole lines: each is what one call of the system returned, so that a line that waits for its answer is never held back.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer that belong to the present block.
    used: usize,
    /// The number of each line, and where it is; `None` for one that is too long.
    found: Vec<(usize, Option<Range<usize>>)>,
    number: usize,
    /// Whether the rest of a line that is too long is being dropped.
    skipping: bool,
    ended: bool,
}

/// Numbered lines; `None` stands for one that is too long.
pub type Block<'a> = Vec<(usize, Option<&'a [u8]>)>;

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), used: 0, found: Vec::new(), number: 0, skipping: false, ended: false }
    }

    /// The lines that are ready, with their numbers from 1, at least one; `None` at the end.
    pub fn block(&mut self) -> std::io::Result<Option<Block<'_>>> {
        self.buffer.drain(..self.used);
        (self.used, self.number) = (0, self.number + self.found.len());
        self.found.clear();
        while self.found.is_empty() && !self.ended {
            let before = self.buffer.len();
            self.read()?;
            for at in before..self.buffer.len() {
                if self.buffer[at] == b'\n' {
                    self.line_until(at);
                    self.used = at + 1;
                }
            }
            let rest = self.buffer.len() - self.used;
            if self.ended && (rest > 0 || self.skipping) {
                self.line_until(self.buffer.len());
                self.used = self.buffer.len();
            } else if self.skipping || rest > LONGEST_LINE {
                self.skipping = true;
                self.buffer.truncate(self.used);
            }
        }
        if self.found.is_empty() {
            return Ok(None);
        }
        let lines = self.found.iter().map(|(number, range)| (*number, range.clone().map(|range| &self.buffer[range])));
        Ok(Some(lines.collect()))
    }

    /// One call of the system.
    fn read(&mut self) -> std::io::Result<()> {
        let before = self.buffer.len();
        self.buffer.resize(before + CHUNK, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(())
    }

    fn line_until(&mut self, end: usize) {
        let is_long = std::mem::take(&mut self.skipping) || end - self.used > LONGEST_LINE;
        let number = self.number + self.found.len() + 1;
        self.found.push((number, (!is_long).then_some(self.used..end)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands over what it is told to, piece by piece.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let n = piece.len().min(out.len());
            out[..n].copy_from_slice(&piece[..n]);
            piece.drain(..n);
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(n)
        }
    }

    fn blocks(pieces: &[&[u8]]) -> Vec<Vec<(usize, Option<String>)>> {
        let mut lines = Lines::new(Pieces(pieces.iter().map(|piece| piece.to_vec()).collect()));
        let mut blocks = Vec::new();
        while let Some(block) = lines.block().unwrap() {
            let text = |line: Option<&[u8]>| line.map(|line| String::from_utf8(line.to_vec()).unwrap());
            blocks.push(block.into_iter().map(|(number, line)| (number, text(line))).collect());
        }
        blocks
    }

    fn line(number: usize, text: &str) -> (usize, Option<String>) {
        (number, Some(text.into()))
    }

    #[test]
    fn a_block_is_the_whole_lines_that_were_ready() {
        let found = blocks(&[b"one\ntw", b"o\n\nfo", b"ur"]);
        assert_eq!(found, [vec![line(1, "one")], vec![line(2, "two"), line(3, "")], vec![line(4, "four")]]);
        assert_eq!(blocks(&[]), Vec::<Vec<_>>::new());
        assert_eq!(blocks(&[b"\n"]), [vec![line(1, "")]]);
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_up_to_its_end() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let just = vec![b'y'; LONGEST_LINE];
        let found = blocks(&[b"a\n", &long, &long, b"xx\nb\n", &just, b"\n", &long, b"\nc"]);
        let flat: Vec<_> = found.into_iter().flatten().map(|(n, text)| (n, text.map(|text| text.len()))).collect();
        assert_eq!(flat, [(1, Some(1)), (2, None), (3, Some(1)), (4, Some(LONGEST_LINE)), (5, None), (6, Some(1))]);
        // At the end of the input, too.
        assert_eq!(blocks(&[b"a\n", &long]).into_iter().flatten().collect::<Vec<_>>(), [line(1, "a"), (2, None)]);
    }
}
