//! The texts that are logged: counted at the place where they end, and compared with what was
//! written. A text is `WRITER KIND FILLER`, numbers of three digits each.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek};

use crate::{Error, Result};

/// Different texts of a writer: few, so that they lie in a cache as what was just formatted does.
const KINDS: u64 = 256;
pub(super) const FEWEST_BYTES: usize = 8;
/// As many as three digits hold, and CPUs.
pub(super) const MOST_WRITERS: u32 = 256;
/// How a drain's line begins that reports dropped ones; no other does.
const DROPPED: &[u8] = b"-- ";
/// What every way prints before a text.
const LEVEL: &[u8] = b" INFO ";

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

/// How often each text was found.
pub(super) struct Tally {
    text_bytes: usize,
    /// Of each writer.
    counts: Vec<[u64; KINDS as usize]>,
    pub(super) total: u64,
}

impl Tally {
    pub(super) fn new(writers: u32, text_bytes: usize) -> Self {
        Self {
            text_bytes,
            counts: vec![[0; KINDS as usize]; writers as usize],
            total: 0,
        }
    }

    /// Counts a text.
    pub(super) fn add(&mut self, text: &[u8]) -> Result<()> {
        let number = |digits: Option<&[u8]>| -> Option<usize> {
            std::str::from_utf8(digits?).ok()?.parse().ok()
        };
        let both = number(text.get(..3)).zip(number(text.get(4..7)));
        let known = both.filter(|&(writer, kind)| {
            writer < self.counts.len()
                && kind < KINDS as usize
                && text == self::text(writer as u32, kind as u64, self.text_bytes).as_bytes()
        });
        let Some((writer, kind)) = known else {
            let text = String::from_utf8_lossy(text);
            return wrong(format!("nobody wrote the text {text:?}"));
        };
        self.counts[writer][kind] += 1;
        self.total += 1;
        Ok(())
    }

    /// Counts the lines of a file.
    pub(super) fn add_file(&mut self, mut file: &File) -> Result<()> {
        let doing = "reading the lines";
        file.rewind().map_err(Error::io(doing))?;
        let mut reader = BufReader::with_capacity(256 << 10, file);
        let mut line = Vec::new();
        while reader
            .read_until(b'\n', &mut line)
            .map_err(Error::io(doing))?
            != 0
        {
            if !line.starts_with(DROPPED) {
                let text = self.text(&line)?;
                self.add(text)?;
            }
            line.clear();
        }
        Ok(())
    }

    fn text<'a>(&self, line: &'a [u8]) -> Result<&'a [u8]> {
        let split = line.strip_suffix(b"\n").and_then(|line| {
            let head = line.len().checked_sub(self.text_bytes)?;
            Some(line.split_at(head))
        });
        match split {
            Some((head, text)) if head.windows(LEVEL.len()).any(|part| part == LEVEL) => Ok(text),
            _ => {
                let line = String::from_utf8_lossy(line);
                wrong(format!("nobody wrote the line {line:?}"))
            }
        }
    }

    /// Each writer's lines are all there.
    pub(super) fn check_all(&self, share: u64) -> Result<()> {
        self.compare(share, |_| 0, |found, written| found == written)
    }

    /// The writer's last lines are there, however many, and no others. Of several writers only: no
    /// line is there more often than it was written, as a sheet with a late line stays while
    /// others that were begun after it go.
    pub(super) fn check_last(&self, share: u64) -> Result<()> {
        if self.counts.len() > 1 {
            return self.compare(share, |_| 0, |found, written| found <= written);
        }
        let found = |writer: usize| self.counts[writer].iter().sum::<u64>();
        self.compare(
            share,
            |writer| share.saturating_sub(found(writer)),
            |found, written| found == written,
        )
    }

    /// No line is there more often than it was written, and the others were dropped.
    pub(super) fn check_rest(&self, share: u64, dropped: u64) -> Result<()> {
        self.compare(share, |_| 0, |found, written| found <= written)?;
        let written = share * self.counts.len() as u64;
        if self.total + dropped == written {
            return Ok(());
        }
        let found = self.total;
        wrong(format!(
            "{written} lines were written, {found} are there and {dropped} were dropped"
        ))
    }

    /// Compares with what each writer wrote from a line on.
    fn compare(
        &self,
        share: u64,
        from: impl Fn(usize) -> u64,
        fits: impl Fn(u64, u64) -> bool,
    ) -> Result<()> {
        for (writer, counts) in self.counts.iter().enumerate() {
            for (kind, &found) in (0..).zip(counts) {
                let written = up_to(share, kind) - up_to(from(writer), kind);
                if !fits(found, written) {
                    return wrong(format!(
                        "text {kind} of writer {writer} is there {found} times, not {written}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// How many of the first so many lines have this text.
fn up_to(lines: u64, kind: u64) -> u64 {
    (lines + KINDS - 1 - kind) / KINDS
}

fn wrong<T>(what: String) -> Result<T> {
    Err(Error::wrong("log", what))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SHARE: u64 = 1000;

    /// Of two writers, the first with those lines and the second with all.
    fn tally(lines: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::new(2, 20);
        let [first, second] = [0, 1].map(|writer| Texts::new(writer, 20));
        for line in lines {
            tally.add(first.of(line).as_bytes()).unwrap();
        }
        for line in 0..SHARE {
            tally.add(second.of(line).as_bytes()).unwrap();
        }
        tally
    }

    #[test]
    fn a_line_that_is_lost_or_there_twice_is_noticed() {
        tally(0..SHARE).check_all(SHARE).unwrap();
        for lost in [0, 255, 256, SHARE - 1] {
            let some = tally((0..SHARE).filter(|&line| line != lost));
            assert!(some.check_all(SHARE).is_err(), "{lost}");
            some.check_rest(SHARE, 1).unwrap();
            assert!(some.check_rest(SHARE, 0).is_err() && some.check_rest(SHARE, 2).is_err());
            let twice = tally((0..SHARE).chain([lost]));
            assert!(twice.check_all(SHARE).is_err(), "{lost}");
            assert!(twice.check_rest(SHARE, 0).is_err(), "{lost}");
        }
    }

    #[test]
    fn a_flight_recorder_keeps_the_last() {
        let alone = |lines: &mut dyn Iterator<Item = u64>| {
            let (mut tally, texts) = (Tally::new(1, 20), Texts::new(0, 20));
            lines.for_each(|line| tally.add(texts.of(line).as_bytes()).unwrap());
            tally.check_last(SHARE)
        };
        for from in [0, 1, 700, SHARE - 1, SHARE] {
            alone(&mut (from..SHARE)).unwrap();
        }
        assert!(alone(&mut (700..SHARE - 1)).is_err());
        assert!(alone(&mut (0..300).chain(400..SHARE)).is_err());
        assert!(alone(&mut (0..SHARE).chain(0..1)).is_err());
        tally((0..300).chain(400..SHARE)).check_last(SHARE).unwrap();
        assert!(tally((0..SHARE).chain(0..1)).check_last(SHARE).is_err());
    }

    #[test]
    fn texts_are_known_and_nothing_else() {
        let is_known = |text: &str| Tally::new(8, 72).add(text.as_bytes()).is_ok();
        let texts = Texts::new(7, 72);
        assert!((0..2 * KINDS).all(|line| is_known(texts.of(line))));
        let good = texts.of(5);
        for (at, wrong) in [(2, "8"), (3, "0"), (4, "9"), (5, "x"), (7, "\t"), (70, "!")] {
            let mut text = good.to_owned();
            text.replace_range(at..=at, wrong);
            assert!(!is_known(&text), "{text}");
        }
        assert!(!is_known(&good[1..]) && !is_known(&format!("{good}x")));
    }

    #[test]
    fn lines_of_a_file_are_whole_and_known() {
        let read = |text: String| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let mut tally = Tally::new(1, 10);
            tally.add_file(&file).map(|()| tally.total)
        };
        let good = "2026-11-22T10:31:05.123456Z  INFO 7/7 000 255 ab\n";
        assert_eq!(read(good.repeat(3)).unwrap(), 3);
        let mark = "-- 12 lines were dropped --\n";
        assert_eq!(read(format!("{good}{mark}{good}")).unwrap(), 2);
        for wrong in [
            "\n",
            "x\n",
            "000 255 ab\n",
            &good[..40],
            &good.replace("ab", "ac"),
        ] {
            assert!(read(format!("{good}{wrong}")).is_err(), "{wrong}");
        }
    }
}
