//! The flags of a meta command.

use crate::key::Key;
use crate::number;
use crate::text::tokens::Tokens;
use crate::text::{BAD_FORMAT, Words};

/// The words a command may have, its name and its key counted.
pub(super) const MOST_WORDS: usize = 20;
const BAD_TOKEN: &str = "CLIENT_ERROR bad token in command line format";
/// The letters that need no reading.
const PLAIN: &[u8] = b"IOPLkstcfvhuqxl";

/// The flags of a meta command, each at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags<'a> {
    words: Words<'a>,
    /// A bit for each letter.
    letters: Letters,
    mode: Option<u8>,
    client_flags: u32,
    exptime: Option<i32>,
    vivify: Option<i32>,
    recache: Option<i32>,
    compare: Option<u64>,
    new_cas: Option<u64>,
    initial: u64,
    delta: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Letters(u128);

impl Letters {
    fn has(self, letter: u8) -> bool {
        self.0 & 1 << (letter & 0x7f) != 0
    }

    fn add(&mut self, letter: u8) {
        self.0 |= 1 << (letter & 0x7f);
    }
}

impl<'a> Flags<'a> {
    fn new(words: &'a [u8]) -> Self {
        Self {
            words: Words::new(words),
            letters: Letters::default(),
            mode: None,
            client_flags: 0,
            exptime: None,
            vivify: None,
            recache: None,
            compare: None,
            new_cas: None,
            initial: 0,
            delta: 1,
        }
    }

    /// Whether the flag of this letter is there.
    pub fn has(&self, letter: u8) -> bool {
        self.letters.has(letter)
    }

    /// `q`: answers that say little are left out.
    pub fn is_quiet(&self) -> bool {
        self.has(b'q')
    }

    /// The flags in the order in which answers repeat them: letters and what belongs to them.
    pub fn words(&self) -> Words<'a> {
        self.words.clone()
    }

    /// `O`, with its letter.
    pub fn opaque(&self) -> Option<&'a [u8]> {
        if !self.has(b'O') {
            return None;
        }
        self.words().find(|word| word[0] == b'O')
    }

    /// `M`: the letter after it, whatever it is.
    pub(super) fn mode(&self) -> Option<u8> {
        self.mode
    }

    /// `F`: the client's flags.
    pub fn client_flags(&self) -> u32 {
        self.client_flags
    }

    /// `T`: the new expiry time, as the client sent it.
    pub fn exptime(&self) -> Option<i32> {
        self.exptime
    }

    /// `N`: what is missing is made, with this expiry time.
    pub fn vivify(&self) -> Option<i32> {
        self.vivify
    }

    /// `R`: a client that asks when no more than this time is left is asked to bring a new value.
    pub fn recache(&self) -> Option<i32> {
        self.recache
    }

    /// `C`: the unique number that the item must have; with `mg`, one whose value is known.
    pub fn compare(&self) -> Option<u64> {
        self.compare
    }

    /// `E`: the unique number that the item gets.
    pub fn new_cas(&self) -> Option<u64> {
        self.new_cas
    }

    /// `J`: the number that `ma` makes with `N`, 0 if not given.
    pub fn initial(&self) -> u64 {
        self.initial
    }

    /// `D`: by how much `ma` counts, 1 if not given.
    pub fn delta(&self) -> u64 {
        self.delta
    }
}

/// Whether all words from `first` on begin as flags might; other lines are refused before anything
/// else is looked at.
pub(super) fn are_letters(tokens: &Tokens<'_>, first: usize) -> bool {
    (first..tokens.count())
        .filter_map(|index| tokens.get(index))
        .all(|word| matches!(word[0], b'A'..=b'z' | b'0'..=b'9'))
}

/// Reads the flags from the word `first` on, and what they say of the key. Of several faults the
/// last is returned, except flags that are unknown or there twice, which end the reading.
pub(super) fn read<'a>(
    tokens: &Tokens<'a>,
    token: &'a [u8],
    first: usize,
) -> Result<(Flags<'a>, Key<'a>), &'static str> {
    if tokens.count() > MOST_WORDS {
        return Err("CLIENT_ERROR options flags are too long");
    }
    let mut flags = Flags::new(tokens.rest(first));
    let mut key = Key::plain(token);
    let mut text = BAD_FORMAT;
    let mut is_wrong = false;
    for word in (first..tokens.count()).filter_map(|index| tokens.get(index)) {
        if flags.has(word[0]) {
            return Err("CLIENT_ERROR duplicate flag");
        }
        flags.letters.add(word[0]);
        let fault = match word[0] {
            b'b' => match Key::encoded(token) {
                Some(encoded) => {
                    key = encoded;
                    None
                }
                None => Some("CLIENT_ERROR error decoding key"),
            },
            // This one has no text of its own.
            b'F' => match number::read_u32(&word[1..]) {
                Some(value) if word.len() > 1 => {
                    flags.client_flags = value;
                    None
                }
                _ => Some(text),
            },
            // Without a letter the mode is whatever ends the word, and wrong.
            b'M' => {
                let mode = word.get(1).copied().unwrap_or(b' ');
                flags.mode = (mode != 0).then_some(mode);
                None
            }
            letter if PLAIN.contains(&letter) => None,
            letter => match read_number(&mut flags, letter, &word[1..]) {
                Ok(()) => None,
                Err(Unread::Letter) => return Err("CLIENT_ERROR invalid flag"),
                Err(Unread::Number(text)) => Some(text),
            },
        };
        if let Some(fault) = fault {
            text = fault;
            is_wrong = true;
        }
    }
    if is_wrong {
        Err(text)
    } else {
        Ok((flags, key))
    }
}

enum Unread {
    /// No flag has this letter.
    Letter,
    /// It needs a number.
    Number(&'static str),
}

fn read_number(flags: &mut Flags<'_>, letter: u8, digits: &[u8]) -> Result<(), Unread> {
    let time = || {
        let time = (!digits.is_empty()).then(|| number::read_i32(digits));
        time.flatten().map(Some).ok_or(Unread::Number(BAD_TOKEN))
    };
    let count = |text| {
        let count = (!digits.is_empty()).then(|| number::read_u64(digits));
        count.flatten().ok_or(Unread::Number(text))
    };
    match letter {
        b'N' => flags.vivify = time()?,
        b'T' => flags.exptime = time()?,
        b'R' => flags.recache = time()?,
        b'C' => flags.compare = Some(count(BAD_TOKEN)?),
        b'E' => flags.new_cas = Some(count(BAD_TOKEN)?),
        b'J' => flags.initial = count("CLIENT_ERROR invalid numeric initial value")?,
        b'D' => flags.delta = count("CLIENT_ERROR invalid numeric delta value")?,
        _ => return Err(Unread::Letter),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &[u8]) -> Result<Flags<'_>, &'static str> {
        let tokens = Tokens::new(line);
        read(&tokens, tokens.get(1).expect("a key"), 2).map(|(flags, _)| flags)
    }

    #[test]
    fn what_belongs_to_a_letter_is_read() {
        let flags = read_line(b"mg a T-1 N30 R5 F7 C8 E9 J10 D11 Oxy q").expect("flags");
        assert_eq!(flags.exptime(), Some(-1));
        assert_eq!(flags.vivify(), Some(30));
        assert_eq!(flags.recache(), Some(5));
        assert_eq!(flags.client_flags(), 7);
        assert_eq!(flags.compare(), Some(8));
        assert_eq!(flags.new_cas(), Some(9));
        assert_eq!(flags.initial(), 10);
        assert_eq!(flags.delta(), 11);
        assert_eq!(flags.opaque(), Some(&b"Oxy"[..]));
        assert!(flags.is_quiet() && !flags.has(b'v'));
        assert_eq!(read_line(b"ma a").expect("none").delta(), 1);
    }

    #[test]
    fn the_last_fault_is_reported_except_those_that_end_the_reading() {
        for (line, text) in [
            (&b"mg a F"[..], BAD_FORMAT),
            (b"mg a Fx Tx", BAD_TOKEN),
            (b"mg a Tx Fx", BAD_TOKEN),
            (b"mg Zm9 b", "CLIENT_ERROR error decoding key"),
            (b"mg Zm9 b Tx", BAD_TOKEN),
            (b"mg a Tx v v", "CLIENT_ERROR duplicate flag"),
            (b"mg a Tx g", "CLIENT_ERROR invalid flag"),
            (b"mg a Jx", "CLIENT_ERROR invalid numeric initial value"),
        ] {
            assert_eq!(read_line(line).err(), Some(text));
        }
    }
}
