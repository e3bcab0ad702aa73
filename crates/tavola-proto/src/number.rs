//! Numbers as memcached reads them from text, and as it writes them.
//!
//! It has two ways. Most numbers are digits and nothing else, of a bounded length, leading zeros
//! counted. The flags and the expiry time of `set` and its kin are read by C's `strtoul` and
//! `strtol`, which take white space and a sign before the digits and white space or a zero byte
//! after them, and cut what is too large for 32 bits.

/// The longest number of 32 bits, sign and leading zeros counted.
const LONGEST_32: usize = 11;
/// The longest number of 64 bits.
const LONGEST_64: usize = 22;

/// Any number of this many digits fits into 64 bits.
pub(crate) const CERTAIN_64: usize = 19;

/// Digits alone.
pub(crate) fn read_u32(token: &[u8]) -> Option<u32> {
    if token.len() > LONGEST_32 {
        return None;
    }
    u32::try_from(digits(token)?).ok()
}

/// Digits alone.
pub(crate) fn read_u64(token: &[u8]) -> Option<u64> {
    if token.len() > LONGEST_64 {
        return None;
    }
    digits(token)
}

/// Digits, perhaps after a minus. A minus alone is 0, as it is for memcached.
pub(crate) fn read_i32(token: &[u8]) -> Option<i32> {
    if token.len() > LONGEST_32 {
        return None;
    }
    let value = match token.strip_prefix(b"-") {
        Some(rest) => -i64::try_from(digits(rest)?).ok()?,
        None => i64::try_from(digits(token)?).ok()?,
    };
    i32::try_from(value).ok()
}

/// As `strtoul` reads the front of `text`, cut to 32 bits.
pub(crate) fn read_c_u32(text: &[u8]) -> Option<u32> {
    let (is_negative, magnitude) = read_c(text)?;
    let value = if is_negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    // A sign is found out only where the result is large; "-18446744073709551615" is 1.
    if is_negative && value > i64::MAX as u64 {
        return None;
    }
    Some(value as u32)
}

/// As `strtol` reads the front of `text`, cut to 32 bits.
pub(crate) fn read_c_i32(text: &[u8]) -> Option<i32> {
    let (is_negative, magnitude) = read_c(text)?;
    let value = if is_negative {
        -i128::from(magnitude)
    } else {
        i128::from(magnitude)
    };
    Some(i64::try_from(value).ok()? as i32)
}

/// The sign and the digits at the front of `text`, which white space or the end must follow.
fn read_c(text: &[u8]) -> Option<(bool, u64)> {
    let start = text.iter().position(|byte| !is_space(*byte))?;
    let text = &text[start..];
    let (is_negative, text) = match text[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    // C's strings end at a zero.
    let is_ended = text
        .get(end)
        .is_none_or(|byte| is_space(*byte) || *byte == 0);
    if end == 0 || !is_ended {
        return None;
    }
    Some((is_negative, digits(&text[..end])?))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn digits(token: &[u8]) -> Option<u64> {
    let (certain, rest) = token.split_at(token.len().min(CERTAIN_64));
    let mut sum = 0u64;
    for byte in certain {
        sum = sum * 10 + digit(*byte)?;
    }
    rest.iter().try_fold(sum, |sum, byte| {
        sum.checked_mul(10)?.checked_add(digit(*byte)?)
    })
}

fn digit(byte: u8) -> Option<u64> {
    let digit = byte.wrapping_sub(b'0');
    (digit < 10).then_some(digit.into())
}

/// Appends the digits of `value`.
pub(crate) fn write(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_alone_are_numbers_of_a_bounded_length() {
        assert_eq!(read_u32(b"4294967295"), Some(u32::MAX));
        assert_eq!(read_u32(b"4294967296"), None);
        assert_eq!(read_u32(b"00000000002"), Some(2));
        assert_eq!(read_u32(b"000000000002"), None);
        assert_eq!(read_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(read_u64(b"18446744073709551616"), None);
        for wrong in [&b"-1"[..], b"+1", b"1 ", b"x", b"1x"] {
            assert_eq!(read_u32(wrong), None);
            assert_eq!(read_u64(wrong), None);
        }
    }

    #[test]
    fn a_minus_is_taken_where_a_number_may_be_negative() {
        assert_eq!(read_i32(b"-2147483648"), Some(i32::MIN));
        assert_eq!(read_i32(b"-2147483649"), None);
        assert_eq!(read_i32(b"2147483647"), Some(i32::MAX));
        assert_eq!(read_i32(b"2147483648"), None);
        assert_eq!(read_i32(b"-"), Some(0));
        assert_eq!(read_i32(b"--1"), None);
        assert_eq!(read_i32(b"+1"), None);
    }

    #[test]
    fn c_takes_signs_and_white_space_and_cuts_to_32_bits() {
        assert_eq!(read_c_u32(b"+1 0 2"), Some(1));
        assert_eq!(read_c_u32(b"1\tjunk"), Some(1));
        assert_eq!(read_c_u32(b"1\0junk"), Some(1));
        assert_eq!(read_c_u32(b"4294967296"), Some(0));
        assert_eq!(read_c_u32(b"-1 "), None);
        assert_eq!(read_c_u32(b"-18446744073709551615 "), Some(1));
        assert_eq!(read_c_u32(b"18446744073709551616"), None);
        assert_eq!(read_c_u32(b"1x"), None);
        assert_eq!(read_c_u32(b"\t"), None);
        assert_eq!(read_c_i32(b"4294967297 "), Some(1));
        assert_eq!(read_c_i32(b"-1"), Some(-1));
        assert_eq!(read_c_i32(b"9223372036854775808"), None);
    }

    #[test]
    fn numbers_are_written_as_digits() {
        let mut out = Vec::new();
        write(&mut out, u64::MAX);
        assert_eq!(out, b"18446744073709551615");
    }
}
