//! Mistakes that tests make, to see that the checkers find them.

use std::cell::Cell;

/// A mistake in one of the rules of docs/internals/near.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "shuttle",
    expect(dead_code, reason = "the models make some")
)]
pub(crate) enum Mistake {
    /// N2: a fill does not look at the generation of its stripe.
    IgnoresGeneration,
    /// N3: the answer to beat m gives trust from the time of beat m, not m - 1.
    TrustsLastBeat,
    /// N3: a reader does not look at the clock.
    ReadsNoClock,
    /// N3: an answer of the daemon has no deadline.
    AnswersWithoutDeadline,
    /// N4: a lost connection does not change the epoch.
    KeepsEpoch,
    /// N4: a new owner continues with the epoch of the former one.
    KeepsEpochOfOthers,
    /// N1: values are asked for before tracking is confirmed.
    FillsUnconfirmed,
}

thread_local! {
    static MADE: Cell<Option<Mistake>> = const { Cell::new(None) };
}

pub(crate) fn make(mistake: Option<Mistake>) {
    MADE.set(mistake);
}

pub(crate) fn is_made(mistake: Mistake) -> bool {
    MADE.get() == Some(mistake)
}
