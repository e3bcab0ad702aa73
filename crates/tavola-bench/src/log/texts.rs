//! The texts that are logged: writer, number and filler, of one length.
//!
//! ```text
//! 003 117 abcdefghij...
//! ```

use std::ops::Range;

/// Different texts of a writer: few, so that they lie in a cache as what was just formatted does.
pub(super) const KINDS: u64 = 256;
pub(super) const FEWEST_BYTES: usize = 8;
/// As many as three digits hold, and CPUs.
pub(super) const MOST_WRITERS: u32 = 256;
const WRITER: Range<usize> = 0..3;
const KIND: Range<usize> = 4..7;

/// One writer's.
pub(super) struct Texts(Vec<String>);

impl Texts {
    pub(super) fn new(writer: u32, bytes: usize) -> Self {
        Self((0..KINDS).map(|kind| text(writer, kind, bytes)).collect())
    }

    /// The text of its so-manieth line.
    #[inline]
    pub(super) fn of(&self, line: u64) -> &str {
        &self.0[(line % KINDS) as usize]
    }
}

fn text(writer: u32, kind: u64, bytes: usize) -> String {
    let mut text = format!("{writer:03} {kind:03} ");
    text.extend(('a'..='z').cycle().take(bytes - FEWEST_BYTES));
    text
}

/// Tells texts from other bytes.
pub(super) struct Known {
    filler: Vec<u8>,
    writers: u32,
}

impl Known {
    pub(super) fn new(writers: u32, bytes: usize) -> Self {
        let filler = text(0, 0, bytes).into_bytes().split_off(FEWEST_BYTES);
        Self { filler, writers }
    }

    pub(super) fn bytes(&self) -> usize {
        FEWEST_BYTES + self.filler.len()
    }

    /// Writer and kind of a text; `None`: it is none.
    pub(super) fn told_by(&self, text: &[u8]) -> Option<(u32, u64)> {
        let (head, filler) = text.split_at_checked(FEWEST_BYTES)?;
        let writer = number(&head[WRITER])?;
        let kind = u64::from(number(&head[KIND])?);
        let is_known = head[WRITER.end] == b' '
            && head[KIND.end] == b' '
            && filler == self.filler
            && writer < self.writers
            && kind < KINDS;
        is_known.then_some((writer, kind))
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |sum, digit| {
        digit
            .is_ascii_digit()
            .then(|| sum * 10 + u32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_known_and_nothing_else() {
        for bytes in [8, 9, 72] {
            let known = Known::new(8, bytes);
            let texts = Texts::new(7, bytes);
            for line in 0..2 * KINDS {
                let text = texts.of(line);
                assert_eq!((text.len(), known.bytes()), (bytes, bytes));
                assert_eq!(known.told_by(text.as_bytes()), Some((7, line % KINDS)));
            }
            let good = texts.of(5).to_owned();
            assert_eq!(known.told_by(&good.as_bytes()[1..]), None);
            assert_eq!(known.told_by(format!("{good}x").as_bytes()), None);
            for (at, wrong) in [(2, "8"), (3, "0"), (4, "9"), (5, "x"), (7, "\t")] {
                let mut text = good.clone();
                text.replace_range(at..=at, wrong);
                assert_eq!(known.told_by(text.as_bytes()), None, "{text}");
            }
        }
        let other = text(7, 5, 72).replace('z', "y");
        assert_eq!(Known::new(8, 72).told_by(other.as_bytes()), None);
    }
}
