//! A panel on disk, read in blocks of people.

use super::scratch::Scratch;
use crate::files::csv_reader::unreadable;
use crate::files::{DataError, WriteError};
use crate::kernel::people::{Blocks, BlocksError, Labels, Panel, People, Shape, Stored};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// People followed over time, validated once and laid down on disk in the order of their ids, and read back in blocks.
#[derive(Debug, Clone)]
pub struct StoredPanel {
    scratch: Arc<Scratch>,
    path: PathBuf,
    shape: Shape,
    /// How many numbers may be held at once beside a block.
    room: usize,
    /// The code of each stored level and action among the labels: they were stored before all labels were known.
    level_code: Vec<u32>,
    action_code: Vec<u32>,
    size: Size,
}

/// How much of everything there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Size {
    people: usize,
    state_rows: usize,
    decisions: usize,
    /// People by stored level, and decisions by stored action.
    by_level: Vec<usize>,
    by_action: Vec<usize>,
}

impl StoredPanel {
    /// The sensitive levels.
    pub fn levels(&self) -> &Labels {
        &self.shape.levels
    }

    /// The actions, by name.
    pub fn action_names(&self) -> &Labels {
        &self.shape.actions
    }

    /// p, the number of state coordinates.
    pub fn state_dim(&self) -> usize {
        self.shape.state_dim
    }

    /// N, the number of people.
    pub fn people(&self) -> usize {
        self.size.people
    }

    /// Σ Tᵢ, the number of decisions.
    pub fn decisions(&self) -> usize {
        self.size.decisions
    }

    /// The number of recorded states over all people.
    pub fn state_rows(&self) -> usize {
        self.size.state_rows
    }

    /// The number of tuples (sₜ, aₜ, rₜ, sₜ₊₁) whose next state is known.
    pub fn transitions(&self) -> usize {
        self.size.state_rows - self.size.people
    }

    /// P̂(Z = z⁽ᵏ⁾), the share of people at each level.
    pub fn level_shares(&self) -> Vec<f64> {
        self.level_sizes().iter().map(|&n| n as f64 / self.people().max(1) as f64).collect()
    }

    /// Where other scratch files may be laid down.
    pub fn scratch(&self) -> &Arc<Scratch> {
        &self.scratch
    }

    /// Blocks of people, in order.
    ///
    /// # Errors
    /// [`DataError`] when the scratch file cannot be read.
    pub fn blocks(&self) -> Result<impl Iterator<Item = Result<Panel, DataError>>, DataError> {
        let file = self.path.display().to_string();
        let opened = File::open(&self.path).map_err(|source| unreadable(file.clone(), source))?;
        let mut input = BufReader::with_capacity(1 << 18, opened);
        let mut left = self.size.people;
        Ok(std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let block = self.block(&mut input).map_err(|source| unreadable(file.clone(), source));
            left = block.as_ref().map_or(0, |block| left - block.people().min(left));
            Some(block)
        }))
    }

    fn block(&self, input: &mut impl Read) -> io::Result<Panel> {
        let [people, state_rows, decisions, letters] = numbers::<4>(input)?;
        let lengths = words(input, 3 * people)?;
        let text = String::from_utf8(bytes(input, letters)?).map_err(io::Error::other)?;
        let mut rest = text.as_str();
        let ids = lengths[..people].iter().map(|&length| {
            let (id, others) = rest.split_at(length as usize);
            rest = others;
            id.to_string()
        });
        let stored = Stored {
            ids: ids.collect(),
            state_rows: lengths[people..2 * people].iter().map(|&n| n as usize).collect(),
            decisions: lengths[2 * people..].iter().map(|&n| n as usize).collect(),
            level: bytes(input, people)?.iter().map(|&z| self.level_code[z as usize]).collect(),
            states: floats(input, state_rows * self.state_dim())?,
            actions: bytes(input, decisions)?.iter().map(|&a| self.action_code[a as usize]).collect(),
            rewards: floats(input, decisions)?,
        };
        Ok(Panel::restored(self.shape.clone(), stored))
    }
}

impl Blocks for StoredPanel {
    type Block = Panel;

    fn each(&self, visit: &mut dyn FnMut(&Panel) -> ControlFlow<()>) -> Result<(), BlocksError> {
        let failed = |error: DataError| BlocksError(error.to_string());
        for block in self.blocks().map_err(failed)? {
            if visit(&block.map_err(failed)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl People for StoredPanel {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn people(&self) -> usize {
        self.size.people
    }

    fn state_rows(&self) -> usize {
        self.size.state_rows
    }

    fn level_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.levels().len()];
        self.size.by_level.iter().zip(&self.level_code).for_each(|(n, &code)| sizes[code as usize] += n);
        sizes
    }

    fn room(&self) -> usize {
        self.room
    }

    fn in_memory(&self) -> Option<&Panel> {
        None
    }
}

/// A panel that is being laid down.
pub(super) struct Storing {
    scratch: Arc<Scratch>,
    path: PathBuf,
    out: BufWriter<File>,
    size: Size,
}

impl Storing {
    pub fn new(scratch: &Arc<Scratch>) -> Result<Self, DataError> {
        let (path, file) = scratch.create()?;
        Ok(Self { scratch: scratch.clone(), path, out: BufWriter::with_capacity(1 << 18, file), size: Size::default() })
    }

    /// Adds the people of a panel; `level` and `action` are the codes under which its own are stored.
    pub fn add(&mut self, panel: &Panel, level: &[u32], action: &[u32]) -> Result<(), DataError> {
        if panel.people() == 0 {
            return Ok(());
        }
        let size = &mut self.size;
        size.people += panel.people();
        size.state_rows += panel.state_rows();
        size.decisions += panel.decisions();
        let mut count = |by_code: fn(&mut Size) -> &mut Vec<usize>, code: u32| {
            let counts = by_code(size);
            counts.resize(counts.len().max(code as usize + 1), 0);
            counts[code as usize] += 1;
        };
        panel.level_codes().iter().for_each(|&z| count(|size| &mut size.by_level, level[z as usize]));
        panel.actions().iter().for_each(|&a| count(|size| &mut size.by_action, action[a as usize]));
        let path = self.path.clone();
        self.write(panel, level, action).map_err(|source| WriteError { path, source }.into())
    }

    fn write(&mut self, panel: &Panel, level: &[u32], action: &[u32]) -> io::Result<()> {
        let out = &mut self.out;
        let letters: usize = panel.ids().iter().map(String::len).sum();
        for n in [panel.people(), panel.state_rows(), panel.decisions(), letters] {
            out.write_all(&(n as u64).to_le_bytes())?;
        }
        let people = 0..panel.people();
        let lengths = panel.ids().iter().map(String::len);
        let lengths = lengths.chain(people.clone().map(|i| panel.states_of(i).len()));
        for n in lengths.chain(people.map(|i| panel.decisions_of(i).len())) {
            out.write_all(&(n as u32).to_le_bytes())?;
        }
        panel.ids().iter().try_for_each(|id| out.write_all(id.as_bytes()))?;
        // There are at most 256 labels, so that a code is a byte.
        let code = |codes: &[u32], code: &u32| codes[*code as usize] as u8;
        out.write_all(&panel.level_codes().iter().map(|z| code(level, z)).collect::<Vec<u8>>())?;
        panel.states().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?;
        out.write_all(&panel.actions().iter().map(|a| code(action, a)).collect::<Vec<u8>>())?;
        panel.rewards().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
    }

    /// Which stored codes occur: levels, then actions.
    pub fn used(&self) -> (Vec<bool>, Vec<bool>) {
        let used = |counts: &[usize]| counts.iter().map(|n| *n > 0).collect();
        (used(&self.size.by_level), used(&self.size.by_action))
    }

    /// How many people there are.
    pub fn people(&self) -> usize {
        self.size.people
    }

    /// Removes what was laid down.
    pub fn discard(self) {
        // What cannot be removed now goes with the folder.
        let _ = std::fs::remove_file(&self.path);
    }

    /// The panel; the labels, and the code of each stored level and action among them.
    pub fn finish(
        mut self,
        (levels, level_code): (Labels, Vec<u32>),
        (actions, action_code): (Labels, Vec<u32>),
        state_dim: usize,
        room: usize,
    ) -> Result<StoredPanel, DataError> {
        let Self { scratch, path, .. } = &self;
        let (scratch, path) = (scratch.clone(), path.clone());
        self.out.flush().map_err(|source| WriteError { path: path.clone(), source })?;
        let size = self.size;
        let shape = Shape { levels, actions, state_dim };
        Ok(StoredPanel { scratch, path, shape, room, level_code, action_code, size })
    }
}

fn numbers<const N: usize>(input: &mut impl Read) -> io::Result<[usize; N]> {
    let mut out = [0; N];
    for n in &mut out {
        let mut bytes = [0; 8];
        input.read_exact(&mut bytes)?;
        *n = u64::from_le_bytes(bytes) as usize;
    }
    Ok(out)
}

fn bytes(input: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut out = vec![0; count];
    input.read_exact(&mut out)?;
    Ok(out)
}

fn words(input: &mut impl Read, count: usize) -> io::Result<Vec<u32>> {
    let read = bytes(input, 4 * count)?;
    Ok(read.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

fn floats(input: &mut impl Read, count: usize) -> io::Result<Vec<f64>> {
    let read = bytes(input, 8 * count)?;
    Ok(read.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect())
}
