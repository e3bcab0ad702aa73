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

mod flags;

pub use flags::{Flag, Flags};

use super::MOST_WORDS;
use super::request::Mode;
use crate::error::Error;
use crate::key::{self, GROUP, is_word, write_base64};
use crate::limits::{KEY_BYTES, LINE_BYTES};
use crate::number;
use crate::text::MOST_BYTES;
use flags::LETTERS_ROOM;

/// To be answered once all before it are.
pub const NOOP: &[u8] = b"mn\r\n";

const END: &[u8] = b"\r\n";
/// The longest key that is 250 characters of base64 at most.
const LONGEST_ENCODED_KEY: usize = KEY_BYTES / GROUP * 3;

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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Flag; 12] = [
        Flag::ReturnCas,
        Flag::ReturnFlags,
        Flag::ReturnFetched,
        Flag::ReturnKey,
        Flag::ReturnIdle,
        Flag::ReturnSize,
        Flag::ReturnTtl,
        Flag::ReturnValue,
        Flag::Quiet,
        Flag::KeepPlace,
        Flag::RemoveValue,
        Flag::MarkStale,
    ];

    #[test]
    fn the_usual_line_is_what_any_line_would_be() {
        let mut numbers: Vec<u64> = (0..20).map(|power| 10u64.pow(power)).collect();
        numbers.extend(numbers.clone().iter().map(|number| number - 1));
        numbers.push(u64::MAX);
        for length in 0..=12 {
            let plain = Flags::of(&ALL[..length]);
            for number in &numbers {
                let flags = plain.number(*number);
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
