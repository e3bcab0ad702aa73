//! Numbers with a fraction, for INCRBYFLOAT: decimal digits, added exactly.
//!
//! Redis adds them as `long double`, whose precision depends on the processor, and writes up to 17
//! digits after the point. As long as its sums are exact to that digit, they are the same as here.

use std::fmt;

/// The digits after the point of a number that is written.
const WRITTEN_DIGITS: i32 = 17;
/// The bytes of the longest number that is read, and its largest exponent.
const LONGEST: usize = 5 * 1024;
const LARGEST_EXPONENT: i32 = 4932;

/// A number: its digits, lowest first, times a power of ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// 0 to 9 each, without zeros at the high end.
    digits: Vec<u8>,
    exponent: i32,
}

/// What a text is read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Finite(Decimal),
    Infinite,
}

impl Parsed {
    /// Reads digits with an optional sign, point and exponent, or `inf`. Returns `None` for other
    /// texts.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        if text.len() >= LONGEST {
            return None;
        }
        let (is_negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
            return Some(Self::Infinite);
        }
        let at = rest.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, power) = match at {
            Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let point = mantissa.iter().position(|byte| *byte == b'.');
        let (whole, fraction) = match point {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        let all = whole.iter().chain(fraction);
        let digits: Option<Vec<u8>> = all
            .rev()
            .map(|byte| byte.is_ascii_digit().then(|| byte - b'0'))
            .collect();
        let digits = digits.filter(|digits| !digits.is_empty())?;
        let number = Decimal {
            is_negative,
            digits,
            exponent: power - fraction.len() as i32,
        };
        let number = number.trimmed();
        // The place of the highest digit.
        let height = number.digits.len() as i32 + number.exponent;
        (height.abs() <= LARGEST_EXPONENT).then_some(Self::Finite(number))
    }
}

/// Reads the exponent of a number.
fn exponent(text: &[u8]) -> Option<i32> {
    let digits = match text {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    digits.first().filter(|first| first.is_ascii_digit())?;
    let number: i32 = std::str::from_utf8(text).ok()?.parse().ok()?;
    // Far beyond what is accepted in the end.
    (number.abs() <= 2 * LARGEST_EXPONENT).then_some(number)
}

impl Decimal {
    pub(super) const ZERO: Self = Self {
        is_negative: false,
        digits: Vec::new(),
        exponent: 0,
    };

    fn trimmed(mut self) -> Self {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.exponent += zeros as i32;
        match self.digits.is_empty() {
            true => Self::ZERO,
            false => self,
        }
    }

    /// Returns the digit of 10 to the power of `place`.
    fn digit(&self, place: i32) -> i8 {
        let at = usize::try_from(place - self.exponent).ok();
        let digit = at.and_then(|at| self.digits.get(at));
        digit.map_or(0, |digit| *digit as i8)
    }

    fn height(&self) -> i32 {
        self.exponent + self.digits.len() as i32
    }

    /// Returns the sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        // One more for the carry.
        let height = self.height().max(other.height()) + 1;
        let is_larger = (exponent..height)
            .rev()
            .map(|place| self.digit(place).cmp(&other.digit(place)))
            .find(|order| order.is_ne())
            .is_some_and(|order| order.is_gt());
        let (large, small) = if is_larger {
            (self, other)
        } else {
            (other, self)
        };
        let sign = if large.is_negative == small.is_negative {
            1
        } else {
            -1
        };
        let mut carry = 0;
        let digits = (exponent..height).map(|place| {
            let sum = large.digit(place) + sign * small.digit(place) + carry;
            carry = sum.div_euclid(10);
            sum.rem_euclid(10) as u8
        });
        let digits = digits.collect();
        Self {
            is_negative: large.is_negative,
            digits,
            exponent,
        }
        .trimmed()
    }

    /// Returns the number with at most so many digits after the point, rounded to the nearest, and
    /// to an even digit in between.
    fn rounded(&self, places: i32) -> Self {
        let cut = usize::try_from(-places - self.exponent).unwrap_or(0);
        if cut == 0 {
            return self.clone();
        }
        let digit = |at: usize| self.digits.get(at).copied().unwrap_or(0);
        let is_half =
            digit(cut - 1) == 5 && self.digits.iter().take(cut - 1).all(|digit| *digit == 0);
        let is_up = match is_half {
            true => digit(cut) % 2 == 1,
            false => digit(cut - 1) >= 5,
        };
        let kept = Self {
            is_negative: self.is_negative,
            digits: self.digits.get(cut..).unwrap_or_default().to_vec(),
            exponent: -places,
        };
        let unit = Self {
            is_negative: self.is_negative,
            digits: vec![1],
            exponent: -places,
        };
        match is_up {
            true => kept.plus(&unit),
            false => kept.trimmed(),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.rounded(WRITTEN_DIGITS);
        let mut text = String::new();
        if number.is_negative {
            text.push('-');
        }
        for place in (number.exponent.min(0)..number.height().max(1)).rev() {
            if place == -1 {
                text.push('.');
            }
            text.push(char::from(b'0' + number.digit(place) as u8));
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<Decimal> {
        match Parsed::read(text.as_bytes())? {
            Parsed::Finite(number) => Some(number),
            Parsed::Infinite => None,
        }
    }

    fn sum(a: &str, b: &str) -> String {
        let (a, b) = (number(a).expect("a number"), number(b).expect("a number"));
        assert_eq!(a.plus(&b), b.plus(&a));
        a.plus(&b).to_string()
    }

    #[test]
    fn sums_are_exact() {
        for (a, b, expected) in [
            ("10.50", "0.1", "10.6"),
            ("0.1", "0.2", "0.3"),
            ("5.0e3", "2.0e2", "5200"),
            ("10.6", "-5", "5.6"),
            ("3", "-3", "0"),
            ("-3", "1.5", "-1.5"),
            ("99.99", "0.01", "100"),
            ("-0.01", "0.001", "-0.009"),
            ("1e-17", "0", "0.00000000000000001"),
            ("1e-18", "0", "0"),
            ("-1e-18", "0", "0"),
            ("15e-18", "0", "0.00000000000000002"),
            ("25e-18", "0", "0.00000000000000002"),
            ("251e-19", "0", "0.00000000000000003"),
            ("0.99999999999999999", "0.00000000000000001", "1"),
            ("0.999999999999999995", "0", "1"),
            ("1e20", "1", "100000000000000000001"),
            (".5", "5.", "5.5"),
        ] {
            assert_eq!(sum(a, b), expected, "{a} {b}");
        }
        assert_eq!(sum("1e4931", "0").len(), 4932);
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "", "-", ".", "e1", "1e", "1e+", "1e-", " 1", "1 ", "1x", "0x10", "nan", "1e99999",
            "1e+-5", "--1", "1.2.3",
        ] {
            assert_eq!(Parsed::read(text.as_bytes()), None, "{text}");
        }
        for text in ["inf", "-INF", "+infinity"] {
            assert_eq!(Parsed::read(text.as_bytes()), Some(Parsed::Infinite));
        }
        assert_eq!(Parsed::read("1".repeat(LONGEST).as_bytes()), None);
    }
}
