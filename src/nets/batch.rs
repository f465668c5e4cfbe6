//! Rows to learn from, packed into blocks once and for all.

use super::block::{BLOCK, Column};

/// Which outputs of a row are compared with its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss<'a> {
    /// All of them: L = (1/(n q)) Σᵣ Σₖ (fₖ(xᵣ) − yᵣₖ)², with q targets in each row.
    Squared,
    /// The output of the action taken: L = (1/n) Σᵣ (f_{aᵣ}(xᵣ) − yᵣ)², with one target in each row. The actions of *all*
    /// rows are given, one for each.
    SelectedOutput(&'a [u32]),
}

/// Inputs and targets, row-major, and how they are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Examples<'a> {
    /// The inputs x, one row after another.
    pub inputs: &'a [f64],
    /// The targets y: as many in each row as the loss compares.
    pub targets: &'a [f64],
    /// The loss.
    pub loss: Loss<'a>,
}

/// Which rows of the examples are in a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows<'a> {
    /// Every row, in order.
    All,
    /// The rows at these positions, in this order.
    Listed(&'a [usize]),
}

/// Rows packed for a network with so many inputs and outputs.
///
/// A batch that is packed again reuses its memory.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Block after block: the inputs; for each output its target; for each output 1 where the loss looks and 0 elsewhere.
    columns: Vec<Column>,
    rows: usize,
    /// How many outputs of how many rows are compared.
    pub(super) compared: usize,
}

/// One block of a batch.
pub(super) struct Block<'a> {
    pub(super) inputs: &'a [Column],
    pub(super) targets: &'a [Column],
    /// 1 where the loss looks; 0 at outputs not selected and in rows that fill up the last block.
    pub(super) looks: &'a [Column],
    /// How many rows it has; those above fill it up.
    pub(super) rows: usize,
}

impl Examples<'_> {
    /// The number of rows.
    ///
    /// # Panics
    /// If inputs, targets and actions do not make the same number of rows for a network with these inputs and outputs.
    fn rows(&self, inputs: usize, outputs: usize) -> usize {
        let n = self.inputs.len() / inputs;
        assert_eq!(self.inputs.len(), n * inputs, "inputs are not whole rows of {inputs}");
        let targets = match self.loss {
            Loss::Squared => n * outputs,
            Loss::SelectedOutput(actions) => {
                assert_eq!(actions.len(), n, "one action for each of {n} rows");
                n
            }
        };
        assert_eq!(self.targets.len(), targets, "targets for {n} rows");
        n
    }
}

impl Batch {
    /// The rows chosen from the examples, for a network with so many inputs and outputs.
    ///
    /// # Panics
    /// As [`Batch::pack`].
    pub fn new(inputs: usize, outputs: usize, examples: Examples<'_>, rows: Rows<'_>) -> Self {
        let mut batch = Batch::default();
        batch.pack(inputs, outputs, examples, rows);
        batch
    }

    /// Replaces the content of the batch.
    ///
    /// # Panics
    /// If the examples are not whole rows with a target (and an action below `outputs`) each, if a listed row is not
    /// there, or if `inputs` or `outputs` is 0.
    pub fn pack(&mut self, inputs: usize, outputs: usize, examples: Examples<'_>, rows: Rows<'_>) {
        assert!(inputs > 0 && outputs > 0, "a network has inputs and outputs, found {inputs} and {outputs}");
        let available = examples.rows(inputs, outputs);
        self.inputs = inputs;
        self.outputs = outputs;
        match rows {
            Rows::All => self.fill(examples, 0..available),
            Rows::Listed(rows) => self.fill(examples, rows.iter().copied()),
        }
    }

    fn fill(&mut self, examples: Examples<'_>, rows: impl ExactSizeIterator<Item = usize>) {
        let (p, q) = (self.inputs, self.outputs);
        self.rows = rows.len();
        self.compared = match examples.loss {
            Loss::Squared => self.rows * q,
            Loss::SelectedOutput(_) => self.rows,
        };
        self.columns.resize(self.rows.div_ceil(BLOCK) * (p + 2 * q), [0.0; BLOCK]);
        if !self.rows.is_multiple_of(BLOCK) {
            // What an earlier batch left behind must not be looked at.
            let last = self.columns.len() - (p + 2 * q);
            self.columns[last..].fill([0.0; BLOCK]);
        }
        let mut rows = rows;
        for block in self.columns.chunks_exact_mut(p + 2 * q) {
            let (x, rest) = block.split_at_mut(p);
            let (y, looks) = rest.split_at_mut(q);
            for (r, row) in rows.by_ref().take(BLOCK).enumerate() {
                for (column, &v) in x.iter_mut().zip(&examples.inputs[row * p..(row + 1) * p]) {
                    column[r] = v;
                }
                match examples.loss {
                    Loss::Squared => {
                        let targets = &examples.targets[row * q..(row + 1) * q];
                        for ((column, look), &v) in y.iter_mut().zip(&mut *looks).zip(targets) {
                            column[r] = v;
                            look[r] = 1.0;
                        }
                    }
                    Loss::SelectedOutput(actions) => {
                        let action = actions[row] as usize;
                        assert!(action < q, "action {action} of row {row} is not one of {q} outputs");
                        for (column, look) in y.iter_mut().zip(&mut *looks) {
                            column[r] = 0.0;
                            look[r] = 0.0;
                        }
                        y[action][r] = examples.targets[row];
                        looks[action][r] = 1.0;
                    }
                }
            }
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The blocks, in order.
    #[inline(always)]
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let (p, q) = (self.inputs, self.outputs);
        // `max` keeps an empty default batch from asking for chunks of nothing.
        self.columns.chunks_exact((p + 2 * q).max(1)).enumerate().map(move |(i, block)| Block {
            inputs: &block[..p],
            targets: &block[p..p + q],
            looks: &block[p + q..],
            rows: (self.rows - i * BLOCK).min(BLOCK),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples<'a>(inputs: &'a [f64], targets: &'a [f64], loss: Loss<'a>) -> Examples<'a> {
        Examples { inputs, targets, loss }
    }

    #[test]
    fn listed_rows_are_packed_in_their_order() {
        let inputs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let packed = Batch::new(2, 1, examples(&inputs, &[7.0, 8.0, 9.0], Loss::Squared), Rows::Listed(&[2, 0]));
        let block = packed.blocks().next().unwrap();
        assert_eq!((packed.rows(), packed.compared, packed.blocks().count()), (2, 2, 1));
        assert_eq!(
            (block.inputs[0][..3].to_vec(), block.inputs[1][..3].to_vec()),
            (vec![5., 1., 0.], vec![6., 2., 0.])
        );
        assert_eq!(
            (block.targets[0][..3].to_vec(), block.looks[0][..3].to_vec()),
            (vec![9., 7., 0.], vec![1., 1., 0.])
        );
    }

    #[test]
    fn only_the_output_of_the_action_is_looked_at() {
        let packed = Batch::new(1, 3, examples(&[1.0, 2.0], &[7.0, 8.0], Loss::SelectedOutput(&[2, 1])), Rows::All);
        let block = packed.blocks().next().unwrap();
        assert_eq!((packed.rows(), packed.compared), (2, 2));
        assert_eq!(block.looks.iter().map(|c| c[..2].to_vec()).collect::<Vec<_>>(), [[0., 0.], [0., 1.], [1., 0.]]);
        assert_eq!((block.targets[2][0], block.targets[1][1]), (7.0, 8.0));
    }

    #[test]
    fn a_batch_packed_again_is_as_new() {
        let inputs: Vec<f64> = (0..200).map(f64::from).collect();
        let actions: Vec<u32> = (0..200).map(|i| i % 2).collect();
        let other: Vec<u32> = (0..200).map(|i| (i / 3) % 2).collect();
        for (first, second) in [(200, 70), (10, 200), (200, 64), (64, 128), (70, 0)] {
            let take = |n: usize| examples(&inputs[..n], &inputs[..n], Loss::SelectedOutput(&actions[..n]));
            let mut batch = Batch::new(
                1,
                2,
                examples(&inputs[..first], &inputs[..first], Loss::SelectedOutput(&other[..first])),
                Rows::All,
            );
            batch.pack(1, 2, take(second), Rows::All);
            let new = Batch::new(1, 2, take(second), Rows::All);
            assert_eq!(batch.columns, new.columns, "{first} rows, then {second}");
            assert_eq!((batch.rows(), batch.compared), (second, second));
        }
        assert_eq!(Batch::default().blocks().count(), 0);
    }

    #[test]
    #[should_panic(expected = "action 2 of row 1 is not one of 2 outputs")]
    fn an_action_without_output_is_refused() {
        Batch::new(1, 2, examples(&[1.0, 2.0], &[7.0, 8.0], Loss::SelectedOutput(&[0, 2])), Rows::All);
    }

    #[test]
    #[should_panic(expected = "one action for each of 2 rows")]
    fn missing_actions_are_refused() {
        Batch::new(1, 2, examples(&[1.0, 2.0], &[7.0, 8.0], Loss::SelectedOutput(&[0])), Rows::All);
    }

    #[test]
    #[should_panic(expected = "targets for 2 rows")]
    fn missing_targets_are_refused() {
        Batch::new(1, 2, examples(&[1.0, 2.0], &[7.0, 8.0], Loss::Squared), Rows::All);
    }

    #[test]
    #[should_panic(expected = "inputs are not whole rows of 2")]
    fn rows_that_are_not_whole_are_refused() {
        Batch::new(2, 1, examples(&[1.0, 2.0, 3.0], &[7.0], Loss::Squared), Rows::All);
    }

    #[test]
    #[should_panic(expected = "found 0 and 1")]
    fn no_inputs_are_refused() {
        Batch::new(0, 1, examples(&[], &[], Loss::Squared), Rows::All);
    }

    #[test]
    #[should_panic(expected = "found 1 and 0")]
    fn no_outputs_are_refused() {
        Batch::new(1, 0, examples(&[], &[], Loss::Squared), Rows::All);
    }
}
