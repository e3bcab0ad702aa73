//! Meta commands, appended to what is to be sent. Of one that memcached would not take for what it
//! is nothing is written.
//!
//! A key that lines cannot have is sent as base64, with the flag `b`; it has 186 bytes at most.
//! `mg` cannot ask to return it: memcached returns it as it is if the item was made by a binary
//! request, by `mg` or by `ma`, and a line end in it would begin an answer of its maker's choice.
//!
//! ```
//! use tavola_proto::meta::ask::{self, Flag, Flags};
//!
//! // Prepared once, used for many keys.
//! let flags = Flags::of(&[Flag::ReturnValue, Flag::ReturnCas]).exptime(60);
//! let mut out = Vec::new();
//! ask::get(&mut out, b"apple", &flags.number(7))?;
//! ask::delete(&mut out, b"two words", &Flags::default())?;
//! assert_eq!(out, b"mg apple c v T60 O7\r\nmd dHdvIHdvcmRz b\r\n");
//! # Ok::<(), tavola_proto::Error>(())
//! ```

use super::request::Mode;
use super::{LONGEST_OPAQUE, MOST_WORDS};
use crate::error::Error;
use crate::key::{self, GROUP, is_word, write_base64};
use crate::limits::{KEY_BYTES, LINE_BYTES};
use crate::number;
use crate::text::MOST_BYTES;

/// To be answered once all before it are.
pub const NOOP: &[u8] = b"mn\r\n";

const END: &[u8] = b"\r\n";
/// The longest key that is 250 characters of base64 at most.
const LONGEST_ENCODED_KEY: usize = KEY_BYTES / GROUP * 3;

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

/// The letters of [`Flag`], in their order.
const LETTERS: [u8; 12] = *b"cfhklstvquxI";

/// The flags of a command; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags<'a> {
    /// A bit for each [`Flag`].
    plain: u16,
    client_flags: Option<u32>,
    exptime: Option<i32>,
    vivify: Option<i32>,
    recache: Option<i32>,
    compare: Option<u64>,
    new_cas: Option<u64>,
    initial: Option<u64>,
    delta: Option<u64>,
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
            client_flags: None,
            exptime: None,
            vivify: None,
            recache: None,
            compare: None,
            new_cas: None,
            initial: None,
            delta: None,
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

    /// `F`: the client's flags.
    #[must_use]
    pub const fn client_flags(mut self, flags: u32) -> Self {
        self.client_flags = Some(flags);
        self
    }

    /// `T`: how long it lives, relative or absolute.
    #[must_use]
    pub const fn exptime(mut self, exptime: i32) -> Self {
        self.exptime = Some(exptime);
        self
    }

    /// `N`: make it where it is missing, with this expiry time.
    #[must_use]
    pub const fn vivify(mut self, exptime: i32) -> Self {
        self.vivify = Some(exptime);
        self
    }

    /// `R`: ask for a new value when no more than this time is left.
    #[must_use]
    pub const fn recache(mut self, left: i32) -> Self {
        self.recache = Some(left);
        self
    }

    /// `C`: only at this unique number; with `mg`, one whose value is known.
    #[must_use]
    pub const fn compare(mut self, cas: u64) -> Self {
        self.compare = Some(cas);
        self
    }

    /// `E`: the new unique number.
    #[must_use]
    pub const fn new_cas(mut self, cas: u64) -> Self {
        self.new_cas = Some(cas);
        self
    }

    /// `J`: where `ma` begins with `N`.
    #[must_use]
    pub const fn initial(mut self, value: u64) -> Self {
        self.initial = Some(value);
        self
    }

    /// `D`: by how much `ma` counts.
    #[must_use]
    pub const fn delta(mut self, delta: u64) -> Self {
        self.delta = Some(delta);
        self
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

    fn has(&self, flag: Flag) -> bool {
        self.plain & 1 << flag as u8 != 0
    }

    fn check(&self) -> Result<(), Error> {
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

    /// Appends the flags, each with a space before it, and returns how many they are.
    fn write(&self, out: &mut Vec<u8>) -> usize {
        let mut plain = self.plain;
        while plain != 0 {
            let index = plain.trailing_zeros() as usize;
            out.extend_from_slice(&[b' ', LETTERS[index]]);
            plain &= plain - 1;
        }
        let numbers = [
            field(out, b'F', self.client_flags),
            field(out, b'T', self.exptime),
            field(out, b'N', self.vivify),
            field(out, b'R', self.recache),
            field(out, b'C', self.compare),
            field(out, b'E', self.new_cas),
            field(out, b'J', self.initial),
            field(out, b'D', self.delta),
            word(out, b'L', self.proxy_hint),
            word(out, b'P', self.proxy_path),
            match self.opaque {
                Opaque::None => false,
                Opaque::Text(text) => word(out, b'O', Some(text)),
                Opaque::Number(number) => field(out, b'O', Some(number)),
            },
        ];
        let count = numbers.iter().filter(|is_there| **is_there).count();
        count + self.plain.count_ones() as usize
    }
}

/// `mg`: the item's value and what is known of it, as far as the flags ask for it.
///
/// # Errors
/// If the key is invalid, or is asked for and lines cannot have it, or a flag is wrong.
pub fn get(out: &mut Vec<u8>, key: &[u8], flags: &Flags<'_>) -> Result<(), Error> {
    if flags.has(Flag::ReturnKey) && !is_word(key) {
        return Err(Error::UnreadableKey);
    }
    line(out, b"mg ", key, None, flags, None)
}

/// `ms`: a value for the key.
///
/// # Errors
/// If the key is invalid, a flag is wrong, or the value is too long.
pub fn set(
    out: &mut Vec<u8>,
    key: &[u8],
    mode: Mode,
    data: &[u8],
    flags: &Flags<'_>,
) -> Result<(), Error> {
    if data.len() > MOST_BYTES as usize {
        return Err(Error::LongValue);
    }
    // That is what there is without it.
    let mode = (mode != Mode::Set).then(|| mode.letter());
    line(out, b"ms ", key, Some(data.len()), flags, mode)?;
    out.extend_from_slice(data);
    out.extend_from_slice(END);
    Ok(())
}

/// `md`: no item any more, or one that is stale.
///
/// # Errors
/// If the key is invalid, or a flag is wrong.
pub fn delete(out: &mut Vec<u8>, key: &[u8], flags: &Flags<'_>) -> Result<(), Error> {
    line(out, b"md ", key, None, flags, None)
}

/// `ma`: more in a value that is a number, or less where it goes `down`; not below 0.
///
/// # Errors
/// If the key is invalid, or a flag is wrong.
pub fn arithmetic(
    out: &mut Vec<u8>,
    key: &[u8],
    down: bool,
    flags: &Flags<'_>,
) -> Result<(), Error> {
    line(out, b"ma ", key, None, flags, down.then_some(b'D'))
}

/// `me`: what is known of the item, for a person.
///
/// # Errors
/// If the key is invalid, or has a line end, as the answer returns it.
pub fn debug(out: &mut Vec<u8>, key: &[u8]) -> Result<(), Error> {
    if key.contains(&b'\n') {
        return Err(Error::UnreadableKey);
    }
    line(out, b"me ", key, None, &Flags::default(), None)?;
    if !is_word(key) {
        // memcached 1.6.45 does not see the last word, so `b` has to be there twice.
        out.truncate(out.len() - END.len());
        out.extend_from_slice(b" b\r\n");
    }
    Ok(())
}

fn line(
    out: &mut Vec<u8>,
    name: &[u8],
    key: &[u8],
    size: Option<usize>,
    flags: &Flags<'_>,
    mode: Option<u8>,
) -> Result<(), Error> {
    key::check(key)?;
    let is_base64 = !is_word(key);
    if is_base64 && key.len() > LONGEST_ENCODED_KEY {
        return Err(Error::LongEncodedKey);
    }
    flags.check()?;
    let start = out.len();
    out.extend_from_slice(name);
    if is_base64 {
        write_base64(out, key);
    } else {
        out.extend_from_slice(key);
    }
    if let Some(size) = size {
        out.push(b' ');
        number::write(out, size);
    }
    if is_base64 {
        out.extend_from_slice(b" b");
    }
    let mode = mode.map(|letter| [letter]);
    let has_mode = word(out, b'M', mode.as_ref().map(<[u8; 1]>::as_slice));
    // The name and the key are words too.
    let count = 2 + usize::from(size.is_some()) + usize::from(is_base64) + usize::from(has_mode);
    let count = count + flags.write(out);
    out.extend_from_slice(END);
    let wrong = if count > MOST_WORDS {
        Error::TooManyFlags
    } else if out.len() - start > LINE_BYTES + 1 {
        Error::LongLine
    } else {
        return Ok(());
    };
    out.truncate(start);
    Err(wrong)
}

fn field(out: &mut Vec<u8>, letter: u8, value: Option<impl itoa::Integer>) -> bool {
    let Some(value) = value else { return false };
    out.extend_from_slice(&[b' ', letter]);
    number::write(out, value);
    true
}

fn word(out: &mut Vec<u8>, letter: u8, text: Option<&[u8]>) -> bool {
    let Some(text) = text else { return false };
    out.extend_from_slice(&[b' ', letter]);
    out.extend_from_slice(text);
    true
}
