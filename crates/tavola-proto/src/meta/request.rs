//! What the meta commands ask for.

use super::answer::Status;
use super::flags::Flags;
use crate::key::Key;

/// A meta command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// `mg`: the item's value and what is known of it.
    Get(Item<'a>),
    /// `ms`: a value for a key.
    Set {
        /// The key and the flags.
        item: Item<'a>,
        /// Under which condition, and what becomes of the old value.
        mode: Mode,
        /// The value.
        data: &'a [u8],
    },
    /// `md`: no item any more, or one that is stale.
    Delete(Item<'a>),
    /// `ma`: more or less in a value that is a number.
    Arithmetic {
        /// The key and the flags.
        item: Item<'a>,
        /// Whether the number is to become smaller; not below 0.
        down: bool,
    },
    /// `me`: what is known of the item, for a person.
    Debug {
        /// The key.
        key: Key<'a>,
    },
    /// `mn`: an answer, after which all before it are answered.
    Noop,
}

/// The key and the flags of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The flags.
    pub flags: Flags<'a>,
}

/// What `ms` does. With `C` set and replace become a comparison of unique numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Stores in any case.
    Set,
    /// Stores where there is nothing.
    Add,
    /// Stores where there is something.
    Replace,
    /// Puts the data behind what is there; with `N` stores where there is nothing.
    Append,
    /// Puts the data before what is there; with `N` stores where there is nothing.
    Prepend,
}

impl Mode {
    pub(super) fn read(letter: u8) -> Option<Self> {
        Some(match letter {
            b'S' => Self::Set,
            b'E' => Self::Add,
            b'R' => Self::Replace,
            b'A' => Self::Append,
            b'P' => Self::Prepend,
            _ => return None,
        })
    }

    /// As the text protocol calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Prepend => "prepend",
        }
    }

    pub(super) fn letter(self) -> u8 {
        match self {
            Self::Set => b'S',
            Self::Add => b'E',
            Self::Replace => b'R',
            Self::Append => b'A',
            Self::Prepend => b'P',
        }
    }
}

impl<'a> Request<'a> {
    /// The key and the flags of the commands that have both.
    pub fn item(&self) -> Option<&Item<'a>> {
        match self {
            Self::Get(item)
            | Self::Set { item, .. }
            | Self::Delete(item)
            | Self::Arithmetic { item, .. } => Some(item),
            Self::Debug { .. } | Self::Noop => None,
        }
    }

    /// Whether the client wants no answer of this status: with `q` a miss of `mg`, and the success
    /// of the others.
    pub fn hides(&self, status: Status) -> bool {
        let hidden = match self {
            Self::Get(_) => Status::Miss,
            _ => Status::Done,
        };
        status == hidden && self.item().is_some_and(|item| item.flags.is_quiet())
    }
}
