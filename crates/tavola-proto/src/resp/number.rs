//! Numbers as Redis reads them.

/// Reads a number of 64 bits, as Redis reads the arguments of commands and the values of counters:
/// digits, perhaps after a minus, without leading zeros, a plus or white space.
///
/// ```
/// use tavola_proto::resp::read_i64;
/// assert_eq!(read_i64(b"-17"), Some(-17));
/// assert_eq!(read_i64(b"017"), None);
/// ```
pub fn read_i64(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    match digits {
        b"0" => return (!is_negative).then_some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let magnitude = digits.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    match is_negative {
        true if magnitude <= 1 << 63 => Some((magnitude as i64).wrapping_neg()),
        true => None,
        false => i64::try_from(magnitude).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for (text, number) in [
            ("0", Some(0)),
            ("1", Some(1)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("-0", None),
            ("00", None),
            ("01", None),
            ("+1", None),
            (" 1", None),
            ("1 ", None),
            ("1.0", None),
            ("1x", None),
        ] {
            assert_eq!(read_i64(text.as_bytes()), number, "{text}");
        }
    }
}
