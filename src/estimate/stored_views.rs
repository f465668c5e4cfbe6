//! Experience on disk, for people who do not fit in memory.

use crate::files::{DataError, Scratch, StoredPanel, WriteError};
use crate::kernel::preprocess::{ExperienceRows, Preprocessor, StateOverflow, View, batch};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

/// Experience tuples on disk in blocks of people: views, and with each the action and reward of the transition that starts there.
#[derive(Debug, Clone)]
pub struct StoredExperience<V> {
    /// The folder stays as long as its files are needed.
    _scratch: Arc<Scratch>,
    path: PathBuf,
    width: usize,
    actions: usize,
    rows: usize,
    transitions: usize,
    rewards: (f64, f64),
    kind: PhantomData<V>,
}

/// What can go wrong while experience is laid down.
#[derive(Debug, thiserror::Error)]
pub enum StoringError {
    /// A file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A counterfactual state.
    #[error(transparent)]
    Overflow(#[from] StateOverflow),
}

/// Preprocesses people on disk, block after block.
///
/// # Errors
/// [`StoringError`].
pub fn stored_batch<P: Preprocessor>(
    preprocessor: &P,
    panel: &StoredPanel,
) -> Result<StoredExperience<P::View>, StoringError> {
    let (path, file) = panel.scratch().create()?;
    let failed = |source| DataError::from(WriteError { path: path.clone(), source });
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let actions = panel.action_names().len();
    let (mut rows, mut transitions, mut rewards) = (0, 0, (f64::INFINITY, f64::NEG_INFINITY));
    for block in panel.blocks()? {
        let block = ExperienceRows::of(&batch(preprocessor, &block?)?);
        rows += block.actions.len();
        for (_, r) in block.actions.iter().zip(&block.rewards).filter(|(a, _)| **a as usize != actions) {
            transitions += 1;
            rewards = (rewards.0.min(*r), rewards.1.max(*r));
        }
        write(&mut out, &block).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(StoredExperience {
        _scratch: panel.scratch().clone(),
        path,
        width: preprocessor.width(),
        actions,
        rows,
        transitions,
        rewards,
        kind: PhantomData,
    })
}

impl<V: View> StoredExperience<V> {
    /// How many numbers a view has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// |A|.
    pub fn actions_count(&self) -> usize {
        self.actions
    }

    /// Views of all people.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of tuples.
    pub fn transitions(&self) -> usize {
        self.transitions
    }

    /// The least and the greatest reward of a tuple.
    pub fn reward_range(&self) -> (f64, f64) {
        self.rewards
    }

    /// Blocks of people, in order.
    ///
    /// # Errors
    /// [`DataError`] when the scratch file cannot be read.
    pub fn blocks(&self) -> Result<impl Iterator<Item = Result<ExperienceRows, DataError>>, DataError> {
        let file = self.path.display().to_string();
        let failed = move |source| DataError::Unreadable { file: file.clone(), source };
        let mut input = BufReader::with_capacity(1 << 18, File::open(&self.path).map_err(&failed)?);
        let mut left = self.rows;
        Ok(std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let block = read(&mut input, self.width).map_err(&failed);
            left = block.as_ref().map_or(0, |block| left - block.actions.len().min(left));
            Some(block)
        }))
    }
}

fn write(out: &mut impl Write, block: &ExperienceRows) -> io::Result<()> {
    out.write_all(&(block.actions.len() as u64).to_le_bytes())?;
    for x in block.views.iter().chain(&block.rewards) {
        out.write_all(&x.to_le_bytes())?;
    }
    block.actions.iter().try_for_each(|a| out.write_all(&(*a as u16).to_le_bytes()))
}

fn read(input: &mut impl Read, width: usize) -> io::Result<ExperienceRows> {
    let mut rows = [0; 8];
    input.read_exact(&mut rows)?;
    let rows = u64::from_le_bytes(rows) as usize;
    let mut bytes = vec![0; 8 * rows * (width + 1)];
    input.read_exact(&mut bytes)?;
    let number = |word: &[u8; 8]| f64::from_le_bytes(*word);
    let mut views: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(number).collect();
    let rewards = views.split_off(rows * width);
    bytes.resize(2 * rows, 0);
    input.read_exact(&mut bytes)?;
    let actions = bytes.as_chunks::<2>().0.iter().map(|word| u32::from(u16::from_le_bytes(*word))).collect();
    Ok(ExperienceRows { views, actions, rewards })
}
