//! Whether this thread is in the middle of a pass of a drain.

use std::cell::Cell;

thread_local! {
    static IS_DRAINING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is in the middle of a pass: then a line that it writes comes from
/// its sink.
pub(super) fn is_draining() -> bool {
    IS_DRAINING.try_with(Cell::get).unwrap_or(false)
}

/// A guard: while it exists, this thread is in the middle of a pass.
pub(super) struct Within;

impl Within {
    pub(super) fn begin() -> Self {
        let _ = IS_DRAINING.try_with(|is| is.set(true));
        Self
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        let _ = IS_DRAINING.try_with(|is| is.set(false));
    }
}
