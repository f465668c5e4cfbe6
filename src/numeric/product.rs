//! Products of blocks of rows with vectors and matrices.

/// Leaves the upper halves of the vector registers clean after a product of faer.
pub fn clear_upper_vector_state() {}
