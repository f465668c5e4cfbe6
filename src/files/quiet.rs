//! Libraries that panic on damaged files: caught, and told in our own words.

use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is about to be caught and told in other words.
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs something whose panics are caught and not printed.
pub(crate) fn quietly<R>(work: impl FnOnce() -> R + UnwindSafe) -> std::thread::Result<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                previous(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(work);
    QUIET.set(false);
    result
}
