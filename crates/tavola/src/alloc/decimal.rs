//! Decimal numbers, as counters are stored and read. Values of counters are text to users, as in
//! memcached.

/// The most digits of a counter.
pub(crate) const DIGITS: usize = 20;

/// Returns the digits of a number.
pub(crate) fn decimal(number: u64, digits: &mut [u8; DIGITS]) -> &[u8] {
    let mut at = DIGITS;
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &digits[at..];
        }
    }
}

/// Returns the number that a value is in decimal, or `None` if it is not one below 2^64. Trailing
/// spaces are allowed: memcached pads a number with them that became shorter.
pub(crate) fn decimal_u64(text: &[u8]) -> Option<u64> {
    let spaces = text.iter().rev().take_while(|byte| **byte == b' ').count();
    let text = &text[..text.len() - spaces];
    if text.is_empty() || text.len() > DIGITS {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.checked_sub(b'0').filter(|d| *d < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_text() {
        for number in [0, 7, 10, 4_294_967_296, u64::MAX] {
            let mut digits = [0; DIGITS];
            let text = decimal(number, &mut digits);
            assert_eq!(text, number.to_string().as_bytes());
            assert_eq!(decimal_u64(text), Some(number));
            assert_eq!(decimal_u64(&[text, b"  "].concat()), Some(number));
        }
        for bad in [
            "",
            "  ",
            "1 2",
            "-1",
            "1x",
            " 1",
            "18446744073709551616",
            "000000000000000000001",
        ] {
            assert_eq!(decimal_u64(bad.as_bytes()), None, "{bad}");
        }
    }
}
