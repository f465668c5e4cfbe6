//! Where people come from: memory, or a file that is read in parts.

use super::{Labels, Panel};
use std::ops::ControlFlow;

/// A source that is read block by block, as often as needed and always in the same order.
///
/// A fit adds up sums over blocks and does not know where they come from: people in memory are one block, people on disk are many, and the
/// views that preprocessing made of them are blocks again.
pub trait Blocks {
    /// What is visited at a time.
    type Block;

    /// Visits the blocks in order until all were visited, or one visit breaks off.
    ///
    /// # Errors
    /// [`BlocksError`] when a block cannot be read.
    fn each(&self, visit: &mut dyn FnMut(&Self::Block) -> ControlFlow<()>) -> Result<(), BlocksError>;
}

/// A block that could not be read back from disk.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct BlocksError(pub String);

/// Visits every block of a source and stops at the first error.
///
/// # Errors
/// The first error of `visit`, or that of the source.
pub fn try_each<S: Blocks + ?Sized, E: From<BlocksError>>(
    source: &S,
    mut visit: impl FnMut(&S::Block) -> Result<(), E>,
) -> Result<(), E> {
    let mut result = Ok(());
    source.each(&mut |block| {
        result = visit(block);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    result
}

/// What the people of a source have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The sensitive levels z⁽¹⁾ … z⁽ᴷ⁾.
    pub levels: Labels,
    /// The actions, by name.
    pub actions: Labels,
    /// p, the number of state coordinates.
    pub state_dim: usize,
}

/// People followed over time, in memory or on disk, in one fixed order.
pub trait People: Blocks<Block = Panel> + Sync {
    /// Levels, actions and the number of state coordinates.
    fn shape(&self) -> &Shape;

    /// N, the number of people.
    fn people(&self) -> usize;

    /// The number of recorded states over all people.
    fn state_rows(&self) -> usize;

    /// The number of people at each level.
    fn level_sizes(&self) -> Vec<usize>;

    /// How many numbers a step may hold at once besides its sums.
    fn room(&self) -> usize;

    /// All people as one panel, where they are in memory.
    fn in_memory(&self) -> Option<&Panel>;
}

/// Numbers held at once beside people who are in memory themselves: 128 MB of them.
const ROOM: usize = 1 << 24;

impl Blocks for Panel {
    type Block = Panel;

    fn each(&self, visit: &mut dyn FnMut(&Panel) -> ControlFlow<()>) -> Result<(), BlocksError> {
        // There is no second block that breaking off would spare.
        let _ = visit(self);
        Ok(())
    }
}

impl People for Panel {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn people(&self) -> usize {
        Panel::people(self)
    }

    fn state_rows(&self) -> usize {
        Panel::state_rows(self)
    }

    fn level_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.levels().len()];
        self.level_codes().iter().for_each(|&z| sizes[z as usize] += 1);
        sizes
    }

    fn room(&self) -> usize {
        ROOM
    }

    fn in_memory(&self) -> Option<&Panel> {
        Some(self)
    }
}
