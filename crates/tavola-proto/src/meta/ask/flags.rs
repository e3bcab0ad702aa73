//! The flags of a meta command, as a client writes them.

use super::super::LONGEST_OPAQUE;
use super::END;
use crate::error::Error;
use crate::key::is_word;
use crate::number;

/// A flag without anything that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flag {
    /// `c`: return the unique number.
    ReturnCas,
    /// `f`: return the client's flags.
    ReturnFlags,
    /// `h`: return whether it was read before.
    ReturnFetched,
    /// `k`: return the key.
    ReturnKey,
    /// `l`: return how long it was not used.
    ReturnIdle,
    /// `s`: return the size.
    ReturnSize,
    /// `t`: return how long it has to live.
    ReturnTtl,
    /// `v`: return the value.
    ReturnValue,
    /// `q`: no answer where it says little, a miss of `mg` and the success of the others.
    Quiet,
    /// `u`: leave its place among the used.
    KeepPlace,
    /// `x`: remove the value, not the item.
    RemoveValue,
    /// `I`: mark as stale.
    MarkStale,
}

/// The letters of [`Flag`], in their order, and as many more that four bits choose one.
const LETTERS: [u8; 16] = *b"cfhklstvquxI    ";
/// The bytes of all of them, each with a space before it.
pub(super) const LETTERS_ROOM: usize = 24;

/// A flag with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Field {
    ClientFlags,
    Exptime,
    Vivify,
    Recache,
    Compare,
    NewCas,
    Initial,
    Delta,
}

/// The letters of [`Field`], in their order.
const FIELD_LETTERS: [u8; 8] = *b"FTNRCEJD";

impl Field {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The fields whose number may be negative.
const SIGNED: u8 = Field::Exptime.bit() | Field::Vivify.bit() | Field::Recache.bit();

/// The flags of a command; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags<'a> {
    /// A bit for each [`Flag`].
    plain: u16,
    /// A bit for each [`Field`] that is there.
    fields: u8,
    /// The number of each field, 0 if it is not there; signed ones are extended.
    numbers: [u64; 8],
    proxy_hint: Option<&'a [u8]>,
    proxy_path: Option<&'a [u8]>,
    opaque: Opaque<'a>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Opaque<'a> {
    #[default]
    None,
    Text(&'a [u8]),
    Number(u64),
}

impl<'a> Flags<'a> {
    /// These flags.
    pub const fn of(plain: &[Flag]) -> Self {
        let mut flags = Self {
            plain: 0,
            fields: 0,
            numbers: [0; 8],
            proxy_hint: None,
            proxy_path: None,
            opaque: Opaque::None,
        };
        let mut rest = plain;
        while let [flag, after @ ..] = rest {
            flags.plain |= 1 << *flag as u8;
            rest = after;
        }
        flags
    }

    /// Adds a flag if it `is_wanted`.
    #[must_use]
    pub const fn with(mut self, flag: Flag, is_wanted: bool) -> Self {
        self.plain |= (is_wanted as u16) << flag as u8;
        self
    }

    const fn field(mut self, field: Field, number: u64) -> Self {
        self.fields |= field.bit();
        self.numbers[field as usize] = number;
        self
    }

    /// `F`: the client's flags.
    #[must_use]
    pub const fn client_flags(self, flags: u32) -> Self {
        self.field(Field::ClientFlags, flags as u64)
    }

    /// `T`: how long it lives, relative or absolute.
    #[must_use]
    pub const fn exptime(self, exptime: i32) -> Self {
        self.field(Field::Exptime, exptime as u64)
    }

    /// `N`: make it where it is missing, with this expiry time.
    #[must_use]
    pub const fn vivify(self, exptime: i32) -> Self {
        self.field(Field::Vivify, exptime as u64)
    }

    /// `R`: ask for a new value when no more than this time is left.
    #[must_use]
    pub const fn recache(self, left: i32) -> Self {
        self.field(Field::Recache, left as u64)
    }

    /// `C`: only at this unique number; with `mg`, one whose value is known.
    #[must_use]
    pub const fn compare(self, cas: u64) -> Self {
        self.field(Field::Compare, cas)
    }

    /// `E`: the new unique number.
    #[must_use]
    pub const fn new_cas(self, cas: u64) -> Self {
        self.field(Field::NewCas, cas)
    }

    /// `J`: where `ma` begins with `N`.
    #[must_use]
    pub const fn initial(self, value: u64) -> Self {
        self.field(Field::Initial, value)
    }

    /// `D`: by how much `ma` counts.
    #[must_use]
    pub const fn delta(self, delta: u64) -> Self {
        self.field(Field::Delta, delta)
    }

    /// `L`: a hint for a proxy.
    #[must_use]
    pub const fn proxy_hint(mut self, hint: &'a [u8]) -> Self {
        self.proxy_hint = Some(hint);
        self
    }

    /// `P`: a path for a proxy.
    #[must_use]
    pub const fn proxy_path(mut self, path: &'a [u8]) -> Self {
        self.proxy_path = Some(path);
        self
    }

    /// `O`: the answer returns this text.
    #[must_use]
    pub const fn opaque(mut self, text: &'a [u8]) -> Self {
        self.opaque = Opaque::Text(text);
        self
    }

    /// `O`: the answer returns this number.
    #[must_use]
    pub const fn number(mut self, number: u64) -> Self {
        self.opaque = Opaque::Number(number);
        self
    }

    pub(super) fn has(&self, flag: Flag) -> bool {
        self.plain & 1 << flag as u8 != 0
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        for text in [self.proxy_hint, self.proxy_path].into_iter().flatten() {
            if !is_word(text) {
                return Err(Error::Word);
            }
        }
        match self.opaque {
            // Its letter counts.
            Opaque::Text(text) if text.len() >= LONGEST_OPAQUE => Err(Error::LongOpaque),
            Opaque::Text(text) if text.is_empty() || !is_word(text) => Err(Error::Word),
            _ => Ok(()),
        }
    }

    /// Returns how many flags there are.
    pub(super) fn count(&self) -> usize {
        let words = [
            self.proxy_hint.is_some(),
            self.proxy_path.is_some(),
            self.opaque != Opaque::None,
        ];
        let words = words.into_iter().map(usize::from).sum::<usize>();
        (self.plain.count_ones() + self.fields.count_ones()) as usize + words
    }

    /// Appends the flags, each with a space before it, and the end of the line.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut letters = [b' '; LETTERS_ROOM];
        let length = self.fill_letters(&mut letters);
        out.extend_from_slice(&letters[..length]);
        let mut fields = self.fields;
        while fields != 0 {
            let index = fields.trailing_zeros() as usize;
            out.extend_from_slice(&[b' ', FIELD_LETTERS[index]]);
            match SIGNED >> index & 1 {
                0 => number::write(out, self.numbers[index]),
                _ => number::write(out, self.numbers[index] as i64),
            }
            fields &= fields - 1;
        }
        word(out, b'L', self.proxy_hint);
        word(out, b'P', self.proxy_path);
        match self.opaque {
            Opaque::None => {}
            Opaque::Text(text) => word(out, b'O', Some(text)),
            Opaque::Number(number) => {
                out.extend_from_slice(b" O");
                number::write(out, number);
            }
        }
        out.extend_from_slice(END);
    }

    /// Puts the flags without numbers into spaces. Returns how many bytes they take.
    pub(super) fn fill_letters(&self, spaces: &mut [u8; LETTERS_ROOM]) -> usize {
        let (mut plain, mut length) = (self.plain, 0);
        for word in spaces.chunks_exact_mut(2) {
            if plain == 0 {
                break;
            }
            word[1] = LETTERS[plain.trailing_zeros() as usize & 15];
            plain &= plain - 1;
            length += 2;
        }
        length
    }

    /// The number of the opaque, if there is nothing beside it but flags without numbers.
    pub(super) fn alone(&self) -> Option<u64> {
        match self.opaque {
            Opaque::Number(number)
                if self.fields == 0 && self.proxy_hint.is_none() && self.proxy_path.is_none() =>
            {
                Some(number)
            }
            _ => None,
        }
    }
}

fn word(out: &mut Vec<u8>, letter: u8, text: Option<&[u8]>) {
    if let Some(text) = text {
        out.extend_from_slice(&[b' ', letter]);
        out.extend_from_slice(text);
    }
}
