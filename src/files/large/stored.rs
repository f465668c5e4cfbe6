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

/// People followed over time, validated once and laid down on disk in the order of people, and read back in blocks.
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
    /// Levels and actions by all of their names, those of people who were dropped too.
    shape: Option<Shape>,
}

impl Storing {
    pub fn new(scratch: &Arc<Scratch>) -> Result<Self, DataError> {
        let (path, file) = scratch.create()?;
        Ok(Self {
            scratch: scratch.clone(),
            path,
            out: BufWriter::with_capacity(1 << 18, file),
            size: Size::default(),
            shape: None,
        })
    }

    /// Adds the people of a panel, all of which have the same labels.
    pub fn add(&mut self, panel: &Panel) -> Result<(), DataError> {
        let size = &mut self.size;
        size.people += panel.people();
        size.state_rows += panel.state_rows();
        size.decisions += panel.decisions();
        size.by_level.resize(panel.levels().len(), 0);
        size.by_action.resize(panel.action_names().len(), 0);
        panel.level_codes().iter().for_each(|&z| size.by_level[z as usize] += 1);
        panel.actions().iter().for_each(|&a| size.by_action[a as usize] += 1);
        self.shape = Some(panel.shape().clone());
        if panel.people() == 0 {
            return Ok(());
        }
        let path = self.path.clone();
        self.write(panel).map_err(|source| WriteError { path, source }.into())
    }

    fn write(&mut self, panel: &Panel) -> io::Result<()> {
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
        let bytes = |codes: &[u32]| codes.iter().map(|&code| code as u8).collect::<Vec<u8>>();
        out.write_all(&bytes(panel.level_codes()))?;
        panel.states().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?;
        out.write_all(&bytes(panel.actions()))?;
        panel.rewards().iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
    }

    /// How many people there are.
    pub fn people(&self) -> usize {
        self.size.people
    }

    /// The panel. Its labels are those that somebody has, but for levels and actions that are `all` kept.
    pub fn finish(mut self, (all_levels, all_actions): (bool, bool), room: usize) -> Result<StoredPanel, DataError> {
        let path = self.path;
        self.out.flush().map_err(|source| WriteError { path: path.clone(), source })?;
        let Shape { levels, actions, state_dim } = self.shape.expect("people were added");
        let (levels, level_code) = used(levels, &self.size.by_level, all_levels);
        let (actions, action_code) = used(actions, &self.size.by_action, all_actions);
        let shape = Shape { levels, actions, state_dim };
        Ok(StoredPanel { scratch: self.scratch, path, shape, room, level_code, action_code, size: self.size })
    }
}

/// The labels that occur, or all of them, and the code of each label among these.
fn used(labels: Labels, counts: &[usize], all: bool) -> (Labels, Vec<u32>) {
    if all {
        let codes = (0..labels.len() as u32).collect();
        return (labels, codes);
    }
    let names = labels.names().iter().zip(counts).filter(|(_, count)| **count > 0).map(|(name, _)| name.as_str());
    let kept = Labels::new(names);
    let codes = labels.names().iter().map(|name| kept.code(name).unwrap_or(0) as u32).collect();
    (kept, codes)
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
