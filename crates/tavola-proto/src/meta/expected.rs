//! The answer that a request most often gets, read by comparing it with what it should be: in a
//! fraction of the time that any answer takes, and opaque and key are compared on the way.

use crate::number::CERTAIN_64;

/// A request that is the next to be answered.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The key in two parts, which a line has as they are.
    pub key: [&'a [u8]; 2],
    /// The number of its opaque.
    pub opaque: u64,
}

/// An answer to a request, with its key and its opaque and nothing else but the flags of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedAnswer {
    /// `VA`: a value of so many bytes follows.
    Value {
        /// What the client stored beside the value.
        flags: u32,
        /// The bytes of the value.
        size: usize,
    },
    /// `HD`: done.
    Done,
}

/// Reads `VA SIZE fFLAGS kKEY OOPAQUE` or `HD kKEY OOPAQUE` at the front of `input`, and the bytes
/// of the line. `None` is no judgement: it may be the answer in another form, or not whole.
pub(crate) fn read_expected(
    input: &[u8],
    expected: &Expected<'_>,
) -> Option<(ExpectedAnswer, usize)> {
    let (answer, rest) = match input {
        [b'V', b'A', b' ', rest @ ..] => {
            let (size, rest) = take_digits(rest)?;
            let (flags, rest) = take_digits(rest.strip_prefix(b" f")?)?;
            let (flags, size) = (u32::try_from(flags).ok()?, usize::try_from(size).ok()?);
            (ExpectedAnswer::Value { flags, size }, rest)
        }
        [b'H', b'D', rest @ ..] => (ExpectedAnswer::Done, rest),
        _ => return None,
    };
    let [first, second] = expected.key;
    let rest = rest.strip_prefix(b" k")?.strip_prefix(first)?;
    let (opaque, rest) = take_digits(rest.strip_prefix(second)?.strip_prefix(b" O")?)?;
    let rest = rest.strip_prefix(b"\r\n")?;
    (opaque == expected.opaque).then_some((answer, input.len() - rest.len()))
}

/// Takes digits from the front, at least one, and fewer than a number of 64 bits may have.
fn take_digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut sum, mut length) = (0, 0);
    for byte in text.iter().take(CERTAIN_64) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        sum = sum * 10 + u64::from(digit);
        length += 1;
    }
    (1..CERTAIN_64)
        .contains(&length)
        .then(|| (sum, &text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected<'_> = Expected {
        key: [b"app:", b"key"],
        opaque: 17,
    };

    #[test]
    fn an_answer_is_read_only_if_key_and_opaque_are_those_expected() {
        let value = b"VA 5 f0 kapp:key O17\r\nfuzzy\r\n";
        let found = ExpectedAnswer::Value { flags: 0, size: 5 };
        assert_eq!(read_expected(value, &EXPECTED), Some((found, 22)));
        let done = b"HD kapp:key O17\r\n";
        let found = Some((ExpectedAnswer::Done, 17));
        assert_eq!(read_expected(done, &EXPECTED), found);
        for other in [
            &b"VA 5 f0 kapp:kex O17\r\n"[..],
            b"VA 5 f0 kapp:ke O17\r\n",
            b"VA 5 f0 kapp:keys O17\r\n",
            b"VA 5 f0 kapp:key O18\r\n",
            b"VA 5 f0 kapp:key O171\r\n",
            b"VA 5 f0 kapp:key O\r\n",
            b"VA 5 f0 kapp:key O17 b\r\n",
            b"VA 5 f0 kapp:key O17\n",
            b"VA 5 c1 f0 kapp:key O17\r\n",
            b"VA 5 f4294967296 kapp:key O17\r\n",
            b"VA  5 f0 kapp:key O17\r\n",
            b"VA x f0 kapp:key O17\r\n",
            b"VA 1000000000000000000 f0 kapp:key O17\r\n",
            b"HD O17 kapp:key\r\n",
            b"HD kapp:key O17",
            b"EN O17\r\n",
            b"",
        ] {
            assert_eq!(read_expected(other, &EXPECTED), None, "{other:?}");
        }
        for length in 0..done.len() {
            assert_eq!(read_expected(&done[..length], &EXPECTED), None);
        }
    }
}
