//! Signed numbers, as decimal text; in a table of fixed lengths, as eight bytes. Counters from 0
//! up, which are changed in place, are in `counter`.

use super::Table;
use crate::engine::{Core, lengths};
use crate::error::{Error, Result};
use crate::values::Attributes;

/// Options of [`Table::add_number_with`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberOptions {
    /// The attributes of a new key; an existing key keeps its own.
    pub attributes: Attributes,
    /// Whether to remove the key if the sum is 0.
    pub remove_zero: bool,
}

impl Table {
    /// Adds to a signed number and returns the sum. A missing key counts as 0 and is created.
    ///
    /// The value is decimal text, such as `-3`; the value of a counter ([`Table::incr`]) is valid,
    /// too. In a table of fixed lengths whose values have 8 bytes, it is an `i64` in the byte order
    /// of the machine.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// assert_eq!(table.add_number("balance", -3)?, -3);
    /// assert_eq!(table.add_number("balance", 10)?, 7);
    /// assert_eq!(table.get("balance")?.as_deref(), Some(&b"7"[..]));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotACounter`] if the value is not a signed 64-bit decimal number;
    /// [`Error::BadOption`] if the sum overflows. Otherwise as [`Table::set`].
    ///
    /// # Crash
    /// If the process is killed in the call, the number is added once or not at all.
    pub fn add_number(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        self.add_number_with(key, by, NumberOptions::default())
    }

    /// Adds to a signed number as [`Table::add_number`], with attributes for a new key, and the
    /// option to remove a key whose number becomes 0.
    ///
    /// # Errors
    /// As [`Table::add_number`].
    ///
    /// # Crash
    /// As [`Table::add_number`].
    pub fn add_number_with(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        options: NumberOptions,
    ) -> Result<i64> {
        let core = self.core()?;
        let metadata = core.keeping(options.attributes)?;
        let mut sum = by;
        core.update(key.as_ref(), Some(&metadata), |old| {
            sum = sum_of(core, old, by)?;
            let is_removed = sum == 0 && options.remove_zero;
            Ok((!is_removed).then(|| bytes_of(core, sum)))
        })?;
        Ok(sum)
    }
}

/// Returns the value that stands for a number.
pub(super) fn bytes_of(core: &Core, number: i64) -> Vec<u8> {
    match core.region().fixed() {
        Some(_) => number.to_ne_bytes().to_vec(),
        None => number.to_string().into_bytes(),
    }
}

/// Returns the sum of a number and the one that a value stands for; a missing value is 0.
pub(super) fn sum_of(core: &Core, old: Option<&[u8]>, by: i64) -> Result<i64> {
    let number = match (core.region().fixed(), old) {
        (_, None) => Some(0),
        (None, Some(text)) => signed(text),
        (Some(fixed), Some(word)) => {
            let word = <[u8; 8]>::try_from(word).map_err(|_| lengths(fixed))?;
            Some(i64::from_ne_bytes(word))
        }
    };
    let number = number.ok_or(Error::NotACounter)?;
    number.checked_add(by).ok_or_else(too_far)
}

/// Returns the number that decimal text represents.
fn signed(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // Else `+5` would be one.
    digits.first().filter(|first| first.is_ascii_digit())?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cold]
fn too_far() -> Error {
    Error::BadOption {
        option: "by",
        why: "the sum does not fit a signed 64-bit number".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn table() -> Table {
        Table::options().max_size(1 << 20).private().unwrap()
    }

    #[test]
    fn numbers_go_below_zero_and_back() {
        let table = table();
        assert_eq!(table.add_number("n", -5).unwrap(), -5);
        assert_eq!(table.get("n").unwrap().unwrap(), b"-5");
        assert_eq!(table.add_number("n", 5).unwrap(), 0);
        assert_eq!(table.get("n").unwrap().unwrap(), b"0");
        table.incr("counter", 7).unwrap();
        assert_eq!(table.add_number("counter", -9).unwrap(), -2);
    }

    #[test]
    fn a_sum_of_zero_removes_the_key_if_asked() {
        let table = table();
        let options = NumberOptions {
            remove_zero: true,
            attributes: Attributes::ttl(Duration::from_secs(60)).with_flags(9),
        };
        assert_eq!(table.add_number_with("n", 2, options).unwrap(), 2);
        let has = table.get_entry("n").unwrap().unwrap().attributes;
        assert_eq!(has.flags, 9);
        assert!(matches!(has.expiry, crate::Expiry::After(_)));
        assert_eq!(table.add_number_with("n", -2, options).unwrap(), 0);
        assert!(!table.contains("n").unwrap());
        assert_eq!(table.add_number_with("n", 0, options).unwrap(), 0);
        assert!(!table.contains("n").unwrap());
    }

    #[test]
    fn numbers_of_fixed_lengths_are_words() {
        let fixed = |value| Table::options().max_size(1 << 20).fixed(1, value);
        let table = fixed(8).private().unwrap();
        let options = NumberOptions {
            remove_zero: true,
            ..NumberOptions::default()
        };
        assert_eq!(table.add_number("n", -5).unwrap(), -5);
        assert_eq!(table.get("n").unwrap().unwrap(), (-5i64).to_ne_bytes());
        let in_transaction = table.transaction(|t| t.add_number("n", 3));
        assert_eq!(in_transaction.unwrap(), -2);
        assert_eq!(table.get("n").unwrap().unwrap(), (-2i64).to_ne_bytes());
        assert_eq!(table.add_number_with("n", 2, options).unwrap(), 0);
        assert!(!table.contains("n").unwrap());
        table.set("n", i64::MAX.to_ne_bytes()).unwrap();
        let outcome = table.add_number("n", 1);
        assert!(matches!(outcome, Err(Error::BadOption { .. })));

        let shorter = fixed(4).private().unwrap();
        shorter.set("n", [1; 4]).unwrap();
        for key in ["n", "m"] {
            let outcome = shorter.add_number(key, 1);
            assert!(matches!(outcome, Err(Error::Lengths { key: 1, value: 4 })));
        }
        assert_eq!(shorter.len().unwrap(), 1);
    }

    #[test]
    fn what_is_no_number_stays_as_it_is() {
        let table = table();
        for text in [
            "",
            "-",
            "x",
            "+5",
            " 5",
            "5 ",
            "9223372036854775808",
            "1.5",
            "--1",
        ] {
            table.set("n", text).unwrap();
            let outcome = table.add_number("n", 1);
            assert!(matches!(outcome, Err(Error::NotACounter)), "{text:?}");
            assert_eq!(table.get("n").unwrap().unwrap(), text.as_bytes());
        }
        for (most, by) in [(i64::MAX, 1), (i64::MIN, -1)] {
            table.set("n", most.to_string()).unwrap();
            let outcome = table.add_number("n", by);
            assert!(matches!(outcome, Err(Error::BadOption { .. })));
            assert_eq!(
                table.get("n").unwrap().unwrap(),
                most.to_string().as_bytes()
            );
        }
    }
}
