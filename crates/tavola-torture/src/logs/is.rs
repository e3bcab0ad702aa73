//! What is particular about a case.

/// What is particular about a case.
#[derive(Clone, Copy, Default)]
pub(super) struct Is {
    /// The log is beside a table.
    pub(super) beside: bool,
    /// Its maker died with what it had in hand.
    pub(super) dead: bool,
    /// A line of the maker's is damaged.
    pub(super) damaged: bool,
    /// Another process drains it.
    pub(super) drained: bool,
    /// How many stores there are varies.
    pub(super) varying: bool,
    pub(super) turn: Turn,
}

/// What becomes of lines when the turn of their sheets comes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Turn {
    /// It does not come.
    #[default]
    Unharmed,
    /// A drain has dealt with them before, or new lines are dropped and counted.
    Kept,
    /// They are dropped, and counted.
    Dropped,
}

pub(super) const PLAIN: Is = Is {
    beside: false,
    dead: false,
    damaged: false,
    drained: false,
    varying: false,
    turn: Turn::Unharmed,
};
pub(super) const DEAD: Is = Is {
    dead: true,
    ..PLAIN
};
pub(super) const DROPPED: Is = Is {
    turn: Turn::Dropped,
    ..PLAIN
};
pub(super) const DAMAGED: Is = Is {
    damaged: true,
    ..PLAIN
};
