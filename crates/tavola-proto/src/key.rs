//! What a key may be, and keys of the meta commands, which may come as base64.

use crate::error::Error;
use crate::limits::KEY_BYTES;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD as PADDED};

/// Characters that decode to three bytes.
pub(crate) const GROUP: usize = 4;
const UNPADDED: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD);

/// A key as it came, plain or as base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    token: &'a [u8],
    is_base64: bool,
}

/// Room for a key that has to be decoded.
#[derive(Clone, Debug)]
pub struct KeyRoom([u8; KEY_BYTES]);

impl Default for KeyRoom {
    fn default() -> Self {
        Self([0; KEY_BYTES])
    }
}

impl<'a> Key<'a> {
    pub(crate) fn plain(token: &'a [u8]) -> Self {
        Self {
            token,
            is_base64: false,
        }
    }

    /// A key that comes as base64; `None` where it decodes to nothing.
    pub(crate) fn encoded(token: &'a [u8]) -> Option<Self> {
        let key = Self {
            token,
            is_base64: true,
        };
        (!key.bytes(&mut KeyRoom::default()).is_empty()).then_some(key)
    }

    /// Whether it came as base64, and is to be sent as such.
    pub fn is_base64(&self) -> bool {
        self.is_base64
    }

    /// The key itself where it came plain.
    pub fn as_plain(&self) -> Option<&'a [u8]> {
        (!self.is_base64).then_some(self.token)
    }

    /// The key itself: where it came plain a part of the input, else decoded into `room`.
    pub fn bytes<'room>(&self, room: &'room mut KeyRoom) -> &'room [u8]
    where
        'a: 'room,
    {
        if self.is_base64 {
            decode(self.token, &mut room.0).unwrap_or_default()
        } else {
            self.token
        }
    }
}

/// Decodes as memcached does: characters that are not of the alphabet are passed over, padding
/// ends the key, bits left over are ignored, and no bytes are no key.
fn decode<'room>(token: &[u8], room: &'room mut [u8; KEY_BYTES]) -> Option<&'room [u8]> {
    let mut symbols = [0; KEY_BYTES];
    let mut count = 0;
    for byte in token.iter().filter(|byte| is_symbol(**byte)) {
        *symbols.get_mut(count)? = *byte;
        count += 1;
    }
    if !count.is_multiple_of(GROUP) {
        return None;
    }
    let mut length = 0;
    for group in symbols[..count].chunks_exact_mut(GROUP) {
        let padding = group.iter().filter(|byte| **byte == b'=').count();
        // Padding stands for zeros wherever it is.
        for byte in group.iter_mut().filter(|byte| **byte == b'=') {
            *byte = b'A';
        }
        length += UNPADDED.decode_slice(&*group, &mut room[length..]).ok()?;
        match padding {
            0 => {}
            1 | 2 => {
                length -= padding;
                break;
            }
            _ => return None,
        }
    }
    Some(&room[..length])
}

fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a key has a length that keys may have.
pub(crate) fn check(key: &[u8]) -> Result<(), Error> {
    match key.len() {
        0 => Err(Error::EmptyKey),
        1..=KEY_BYTES => Ok(()),
        _ => Err(Error::LongKey),
    }
}

/// Whether a key may stand in a line as it is.
pub(crate) fn check_plain(key: &[u8]) -> Result<(), Error> {
    check(key)?;
    if is_word(key) {
        Ok(())
    } else {
        Err(Error::KeyBytes)
    }
}

/// Whether `text` can stand in a line as it is: there are no spaces and no control bytes in it.
pub fn is_word(text: &[u8]) -> bool {
    // All are looked at, which is faster than to stop at the first.
    !text.iter().fold(false, |is_wrong, byte| {
        is_wrong | (*byte <= b' ') | (*byte == 0x7f)
    })
}

/// Appends `key` as base64.
pub(crate) fn write_base64(out: &mut Vec<u8>, key: &[u8]) {
    let start = out.len();
    let length = key.len().div_ceil(3) * GROUP;
    out.resize(start + length, 0);
    let written = PADDED.encode_slice(key, &mut out[start..]);
    debug_assert_eq!(written.ok(), Some(length));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(token: &[u8]) -> Option<Vec<u8>> {
        let key = Key::encoded(token)?;
        Some(key.bytes(&mut KeyRoom::default()).to_vec())
    }

    #[test]
    fn base64_is_read_as_leniently_as_memcached_does() {
        assert_eq!(decoded(b"Zm9v").as_deref(), Some(&b"foo"[..]));
        assert_eq!(decoded(b"Z!m9v").as_deref(), Some(&b"foo"[..]));
        assert_eq!(decoded(b"Zg==Zg==").as_deref(), Some(&b"f"[..]));
        assert_eq!(decoded(b"Z=g=").as_deref(), Some(&b"d"[..]));
        assert_eq!(decoded(b"Zh==").as_deref(), Some(&b"f"[..]));
        for wrong in [&b"Zm9"[..], b"====", b"A===", b"!!!!", b"Zm9vZ"] {
            assert_eq!(decoded(wrong), None);
        }
        assert_eq!(decoded(&[b'A'; 248]).map(|key| key.len()), Some(186));
        assert_eq!(decoded(&[b'A'; 250]), None);
    }

    #[test]
    fn a_plain_key_is_not_copied() {
        let token = b"Zm9v";
        let mut room = KeyRoom::default();
        assert!(std::ptr::eq(Key::plain(token).bytes(&mut room), token));
    }

    #[test]
    fn base64_is_written_with_padding() {
        for (key, text) in [
            (&b"foo"[..], &b"Zm9v"[..]),
            (b"f", b"Zg=="),
            (b"fo", b"Zm8="),
        ] {
            let mut out = b"k".to_vec();
            write_base64(&mut out, key);
            assert_eq!(&out[1..], text);
        }
    }
}
