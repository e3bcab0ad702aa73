//! Keys and values that say what they are.
//!
//! The put number `s` of a writer goes to key `s % keys`. Its value is `KEY:s:` again and again,
//! `s` in 16 hexadecimal digits, cut to a length that follows from `s`: so a value that is cut
//! short, mixed of two, or of another key is known. From the number of the last put that returned
//! follows what each key must have. The programs in other languages make the same.

const UNIT_TAIL: usize = 18;

/// The key of a number, of the writer whose keys begin with `prefix`.
pub(super) fn key(prefix: char, index: u64) -> Vec<u8> {
    format!("{prefix}{index:07}").into_bytes()
}

/// The value that put number `number` puts.
pub(super) fn value(key: &[u8], number: u64, value_bytes: u64) -> Vec<u8> {
    let mut unit = key.to_vec();
    unit.extend_from_slice(format!(":{number:016x}:").as_bytes());
    let length = length(number, value_bytes);
    unit.iter().copied().cycle().take(length).collect()
}

fn length(number: u64, value_bytes: u64) -> usize {
    (value_bytes + number.wrapping_mul(37) % 251) as usize
}

/// The number of the put that put this value; `None` if none did.
pub(super) fn number_of(key: &[u8], value: &[u8], value_bytes: u64) -> Option<u64> {
    let head = value.get(..key.len() + UNIT_TAIL)?;
    let digits = head.strip_prefix(key)?.get(1..17)?;
    let number = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (value == self::value(key, number, value_bytes)).then_some(number)
}

/// The last put to key `index` of those up to `last`; `None`: there was none.
pub(super) fn due(index: u64, keys: u64, last: u64) -> Option<u64> {
    let back = (last % keys + keys - index) % keys;
    last.checked_sub(back).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_tells_its_number_and_notices_damage() {
        let key = key('a', 7);
        let whole = value(&key, 519, 900);
        assert_eq!(number_of(&key, &whole, 900), Some(519));
        assert_eq!(number_of(&key, &whole[..whole.len() - 1], 900), None);
        assert_eq!(number_of(b"a0000008", &whole, 900), None);
        assert_eq!(number_of(&key, b"", 900), None);
        let mut mixed = whole.clone();
        mixed[500..].copy_from_slice(&value(&key, 519 + 251, 900)[500..]);
        assert_eq!(number_of(&key, &mixed, 900), None);
    }

    #[test]
    fn what_is_due_follows_from_the_last_put() {
        let naive = |index, keys, last| (1..=last).rev().find(|number| number % keys == index);
        for keys in 1..6 {
            for last in 0..20 {
                for index in 0..keys {
                    assert_eq!(due(index, keys, last), naive(index, keys, last));
                }
            }
        }
    }
}
