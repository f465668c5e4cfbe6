//! Where the views of a learner come from: experience in memory, or on disk for people who do not fit.

use super::ranks::order_statistics;
use crate::files::{DataError, Scratch, StoredPanel, WriteError};
use crate::kernel::people::{Blocks, BlocksError, People as _, try_each};
use crate::kernel::preprocess::{Experience, ExperienceRows, Preprocessor, StateOverflow, View, batch};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::marker::PhantomData;
use std::ops::ControlFlow;
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
    room: usize,
    kind: PhantomData<V>,
}

/// Experience in memory or on disk.
pub enum Views<'a, V> {
    /// All of it.
    InMemory(&'a Experience<V>),
    /// In blocks of people.
    OnDisk(&'a StoredExperience<V>),
}

/// Numbers held at once beside experience in memory.
const ROOM: usize = 1 << 24;

impl<V> Clone for Views<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Views<'_, V> {}

impl<'a, V> From<&'a Experience<V>> for Views<'a, V> {
    fn from(experience: &'a Experience<V>) -> Self {
        Self::InMemory(experience)
    }
}

impl<'a, V> From<&'a StoredExperience<V>> for Views<'a, V> {
    fn from(experience: &'a StoredExperience<V>) -> Self {
        Self::OnDisk(experience)
    }
}

impl<V: View> Views<'_, V> {
    /// How many numbers a view has.
    pub fn width(&self) -> usize {
        match self {
            Self::InMemory(experience) => experience.width(),
            Self::OnDisk(experience) => experience.width,
        }
    }

    /// |A|.
    pub fn actions(&self) -> usize {
        match self {
            Self::InMemory(experience) => experience.actions_count(),
            Self::OnDisk(experience) => experience.actions,
        }
    }

    /// Views of all people.
    pub fn rows(&self) -> usize {
        match self {
            Self::InMemory(experience) => experience.views().len() / experience.width(),
            Self::OnDisk(experience) => experience.rows,
        }
    }

    /// The number of tuples.
    pub fn transitions(&self) -> usize {
        match self {
            Self::InMemory(experience) => experience.transitions(),
            Self::OnDisk(experience) => experience.transitions,
        }
    }

    /// The least and the greatest reward of a tuple.
    pub(super) fn reward_range(&self) -> (f64, f64) {
        let experience = match self {
            Self::InMemory(experience) => experience,
            Self::OnDisk(experience) => return experience.rewards,
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..experience.people() {
            let decisions = experience.decisions_of(i);
            for r in &experience.rewards()[decisions.start..decisions.start + experience.views_of(i).len() - 1] {
                (low, high) = (low.min(*r), high.max(*r));
            }
        }
        (low, high)
    }

    /// Visits every view in order.
    pub(super) fn each(&self, mut visit: impl FnMut(&[f64])) -> Result<(), BlocksError> {
        match self {
            Self::InMemory(experience) => {
                experience.views().chunks_exact(experience.width()).for_each(visit);
                Ok(())
            }
            Self::OnDisk(experience) => try_each(*experience, |block| {
                block.views.chunks_exact(experience.width).for_each(&mut visit);
                Ok(())
            }),
        }
    }

    /// How many numbers may be held at once.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::InMemory(_) => ROOM,
            Self::OnDisk(experience) => experience.room,
        }
    }

    /// The numbers at some ranks (from 0) of each column of the views.
    ///
    /// # Errors
    /// [`BlocksError`] when experience on disk cannot be read.
    pub fn at_ranks(&self, ranks: impl Fn(usize) -> Vec<usize>) -> Result<Vec<Vec<f64>>, BlocksError> {
        let sizes = vec![self.rows(); self.width()];
        order_statistics(
            &sizes,
            |_, n| ranks(n),
            self.room(),
            |see| self.each(|view| view.iter().enumerate().for_each(|(j, x)| see(j, *x))),
        )
    }
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
        room: panel.room(),
        kind: PhantomData,
    })
}

impl<V> Blocks for StoredExperience<V> {
    type Block = ExperienceRows;

    fn each(&self, visit: &mut dyn FnMut(&ExperienceRows) -> ControlFlow<()>) -> Result<(), BlocksError> {
        let failed =
            |source| BlocksError(DataError::Unreadable { file: self.path.display().to_string(), source }.to_string());
        let mut input = BufReader::with_capacity(1 << 18, File::open(&self.path).map_err(failed)?);
        let mut left = self.rows;
        while left > 0 {
            let block = read(&mut input, self.width).map_err(failed)?;
            left -= block.actions.len().min(left);
            if visit(&block).is_break() {
                break;
            }
        }
        Ok(())
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
