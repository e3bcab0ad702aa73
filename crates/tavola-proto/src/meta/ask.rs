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

/// The letters of [`Flag`], in their order, and as many more that four bits choose one.
const LETTERS: [u8; 16] = *b"cfhklstvquxI    ";
/// The bytes of all of them, each with a space before it.
const LETTERS_ROOM: usize = 24;

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

    /// Returns how many flags there are.
    fn count(&self) -> usize {
        let words = [
            self.proxy_hint.is_some(),
            self.proxy_path.is_some(),
            self.opaque != Opaque::None,
        ];
        let words = words.into_iter().map(usize::from).sum::<usize>();
        (self.plain.count_ones() + self.fields.count_ones()) as usize + words
    }

    /// Appends the flags, each with a space before it, and the end of the line.
    fn write(&self, out: &mut Vec<u8>) {
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
    fn fill_letters(&self, spaces: &mut [u8; LETTERS_ROOM]) -> usize {
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
    fn alone(&self) -> Option<u64> {
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

/// A key to ask for, looked at once.
#[derive(Clone, Copy, Debug)]
pub struct AskedKey<'a> {
    bytes: &'a [u8],
    is_word: bool,
}

impl AskedKey<'_> {
    /// Whether a line can have it as it is; if not, it goes as base64.
    pub fn is_word(&self) -> bool {
        self.is_word
    }
}

impl<'a> From<&'a [u8]> for AskedKey<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        let is_word = is_word(bytes);
        Self { bytes, is_word }
    }
}

impl<'a> From<&'a Vec<u8>> for AskedKey<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl<'a, const LENGTH: usize> From<&'a [u8; LENGTH]> for AskedKey<'a> {
    fn from(bytes: &'a [u8; LENGTH]) -> Self {
        Self::from(bytes.as_slice())
    }
}

/// `mg`: the item's value and what is known of it, as far as the flags ask for it.
///
/// # Errors
/// If the key is invalid, or is asked for and lines cannot have it, or a flag is wrong.
pub fn get<'k>(
    out: &mut Vec<u8>,
    key: impl Into<AskedKey<'k>>,
    flags: &Flags<'_>,
) -> Result<(), Error> {
    let key = key.into();
    if flags.has(Flag::ReturnKey) && !key.is_word {
        return Err(Error::UnreadableKey);
    }
    line(out, &Line::of(b"mg ", key), flags)
}

/// `ms`: a value for the key.
///
/// # Errors
/// If the key is invalid, a flag is wrong, or the value is too long.
pub fn set<'k>(
    out: &mut Vec<u8>,
    key: impl Into<AskedKey<'k>>,
    mode: Mode,
    data: &[u8],
    flags: &Flags<'_>,
) -> Result<(), Error> {
    if data.len() > MOST_BYTES as usize {
        return Err(Error::LongValue);
    }
    let asked = Line {
        size: Some(data.len() as u64),
        // That is what there is without it.
        mode: (mode != Mode::Set).then(|| mode.letter()),
        ..Line::of(b"ms ", key.into())
    };
    line(out, &asked, flags)?;
    out.extend_from_slice(data);
    out.extend_from_slice(END);
    Ok(())
}

/// `md`: no item any more, or one that is stale.
///
/// # Errors
/// If the key is invalid, or a flag is wrong.
pub fn delete<'k>(
    out: &mut Vec<u8>,
    key: impl Into<AskedKey<'k>>,
    flags: &Flags<'_>,
) -> Result<(), Error> {
    line(out, &Line::of(b"md ", key.into()), flags)
}

/// `ma`: more in a value that is a number, or less where it goes `down`; not below 0.
///
/// # Errors
/// If the key is invalid, or a flag is wrong.
pub fn arithmetic<'k>(
    out: &mut Vec<u8>,
    key: impl Into<AskedKey<'k>>,
    down: bool,
    flags: &Flags<'_>,
) -> Result<(), Error> {
    let asked = Line {
        mode: down.then_some(b'D'),
        ..Line::of(b"ma ", key.into())
    };
    line(out, &asked, flags)
}

/// `me`: what is known of the item, for a person.
///
/// # Errors
/// If the key is invalid, or has a line end, as the answer returns it.
pub fn debug(out: &mut Vec<u8>, key: &[u8]) -> Result<(), Error> {
    if key.contains(&b'\n') {
        return Err(Error::UnreadableKey);
    }
    let key = AskedKey::from(key);
    line(out, &Line::of(b"me ", key), &Flags::default())?;
    if !key.is_word {
        // memcached 1.6.45 does not see the last word, so `b` has to be there twice.
        out.truncate(out.len() - END.len());
        out.extend_from_slice(b" b\r\n");
    }
    Ok(())
}

/// What a line has beside flags.
struct Line<'a> {
    /// The command and a space.
    name: &'static [u8; 3],
    key: AskedKey<'a>,
    /// The bytes of the value that follows.
    size: Option<u64>,
    /// The letter of its mode.
    mode: Option<u8>,
}

impl<'a> Line<'a> {
    fn of(name: &'static [u8; 3], key: AskedKey<'a>) -> Self {
        Self {
            name,
            key,
            size: None,
            mode: None,
        }
    }

    /// Returns how many words there are, the name counted, that are no flags.
    fn count(&self) -> usize {
        let words = [self.size.is_some(), self.mode.is_some(), !self.key.is_word];
        2 + words.into_iter().map(usize::from).sum::<usize>()
    }
}

fn line(out: &mut Vec<u8>, asked: &Line<'_>, flags: &Flags<'_>) -> Result<(), Error> {
    let key = asked.key;
    key::check(key.bytes)?;
    if let (Some(number), true, None) = (flags.alone(), key.is_word, asked.mode) {
        usual_line(out, asked, flags, number);
        return Ok(());
    }
    any_line(out, asked, flags)
}

/// The line that most requests are: it has no more words than are allowed, and is short.
fn usual_line(out: &mut Vec<u8>, asked: &Line<'_>, flags: &Flags<'_>, mut number: u64) {
    out.extend_from_slice(asked.name);
    out.extend_from_slice(asked.key.bytes);
    if let Some(size) = asked.size {
        out.push(b' ');
        number::write(out, size);
    }
    // What follows is put together and appended by one copy. Places are cut to the room so that
    // they need no check: there are 24 bytes of letters, 4 around the digits, and 20 of those.
    let mut room = [b' '; 64];
    let mut letters = [b' '; LETTERS_ROOM];
    let length = flags.fill_letters(&mut letters);
    room[..LETTERS_ROOM].copy_from_slice(&letters);
    let first_digit = length + 2;
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    room[(first_digit - 1) & 63] = b'O';
    for place in (first_digit..first_digit + digits).rev() {
        room[place & 63] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let end = first_digit + digits;
    room[end & 63] = b'\r';
    room[(end + 1) & 63] = b'\n';
    out.extend_from_slice(&room[..(end + 2) & 63]);
}

fn any_line(out: &mut Vec<u8>, asked: &Line<'_>, flags: &Flags<'_>) -> Result<(), Error> {
    let key = asked.key;
    if !key.is_word && key.bytes.len() > LONGEST_ENCODED_KEY {
        return Err(Error::LongEncodedKey);
    }
    flags.check()?;
    let start = out.len();
    out.extend_from_slice(asked.name);
    match key.is_word {
        true => out.extend_from_slice(key.bytes),
        false => write_base64(out, key.bytes),
    }
    if let Some(size) = asked.size {
        out.push(b' ');
        number::write(out, size);
    }
    if !key.is_word {
        out.extend_from_slice(b" b");
    }
    if let Some(letter) = asked.mode {
        out.extend_from_slice(&[b' ', b'M', letter]);
    }
    flags.write(out);
    let wrong = if asked.count() + flags.count() > MOST_WORDS {
        Error::TooManyFlags
    } else if out.len() - start > LINE_BYTES + 1 {
        Error::LongLine
    } else {
        return Ok(());
    };
    out.truncate(start);
    Err(wrong)
}

fn word(out: &mut Vec<u8>, letter: u8, text: Option<&[u8]>) {
    if let Some(text) = text {
        out.extend_from_slice(&[b' ', letter]);
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_line_is_what_any_line_would_be() {
        let mut numbers: Vec<u64> = (0..20).map(|power| 10u64.pow(power)).collect();
        numbers.extend(numbers.clone().iter().map(|number| number - 1));
        numbers.push(u64::MAX);
        for length in 0..=12 {
            let plain = (1 << length) - 1;
            for number in &numbers {
                let flags = Flags {
                    plain,
                    ..Flags::default()
                };
                let flags = flags.number(*number);
                let asked = Line {
                    size: (length % 2 == 0).then_some(*number),
                    ..Line::of(b"ms ", AskedKey::from(b"key"))
                };
                let [mut usual, mut any] = [(); 2].map(|()| b"before".to_vec());
                line(&mut usual, &asked, &flags).expect("a line");
                any_line(&mut any, &asked, &flags).expect("a line");
                assert_eq!(usual, any);
            }
        }
    }
}
