//! Loops compiled for the widest vectors this machine has.

/// Runs a closure that was compiled for the machine's own vector instructions; loops inside it vectorise accordingly.
///
/// The choice is made at run time, so one binary is fast everywhere. What is called inside must be inlined to benefit.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
