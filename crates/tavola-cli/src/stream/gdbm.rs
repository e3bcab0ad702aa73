//! The dumps of `gdbm_dump`, which `gdbm_load` reads: as text, and as bytes.
//!
//! ```text
//! # GDBM dump file created by GDBM version 1.23. ...
//! #:version=1.1                 lines NAME=VALUE, which are passed over
//! # End of header
//! #:len=3                       the length of the key
//! b25l                          its bytes in base64, in lines of 76 characters
//! #:len=0                       the length of its value, which may be empty
//! #:count=1
//! # End of data
//! ```
//!
//! The form of bytes has lines that begin with `!`, the last of them only a `!`, and then for each
//! key and each value its length as 4 bytes, the highest first, and the bytes. The tool of a 64-bit
//! machine writes 4 zeros after each length; the first entry shows which it was. The form does not
//! say where it ends, so a file that is cut between two entries is not noticed. It is only read.
//!
//! TTLs, flags and tags are left out.

use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{BadInput, Batch, Beside, Sink, Source, read_exactly, read_line};

/// How the text begins.
const TEXT: &[u8] = b"# GDBM dump file";
/// How the bytes begin.
const BYTES: &[u8] = b"!\r\n! GDBM FLAT FILE DUMP";
/// The characters of a line of base64.
const LINE: usize = 76;
/// The most lines of the header of bytes.
const HEADER_LINES: usize = 16;

/// Returns whether these first bytes are those of a dump.
pub fn is_meant(first: &[u8]) -> bool {
    first.starts_with(TEXT) || first.starts_with(BYTES)
}

/// Writes text.
pub struct Writer<W> {
    out: W,
    count: u64,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W) -> io::Result<Writer<W>> {
        out.write_all(TEXT)?;
        out.write_all(b" created by tavola\n#:version=1.1\n#:format=standard\n# End of header\n")?;
        Ok(Writer { out, count: 0 })
    }

    fn field(&mut self, bytes: &[u8]) -> io::Result<()> {
        writeln!(self.out, "#:len={}", bytes.len())?;
        for line in bytes.chunks(LINE / 4 * 3) {
            writeln!(self.out, "{}", STANDARD.encode(line))?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        self.count += 1;
        self.field(key)?;
        self.field(value)
    }

    fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "#:count={}\n# End of data", self.count)?;
        self.out.flush()
    }
}

/// Reads either form.
pub struct Reader<R> {
    input: R,
    form: Form,
    /// The number of the line at hand, or of the byte after the last one that was read.
    place: u64,
    line: Vec<u8>,
    /// Of bytes: what was read after the first length and does not belong to it.
    ahead: Vec<u8>,
    /// Of bytes: whether 4 zeros follow each length; known from the first one on.
    is_wide: Option<bool>,
    count: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The header is not read yet.
    Unknown,
    Text,
    Bytes,
}

const CUT: &str = "the dump is cut short, as '# End of data' is missing; make it again";
const NO_DUMP: &str = "not a dump of gdbm_dump; give the format that it has with --format";

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            form: Form::Unknown,
            place: 0,
            line: Vec::new(),
            ahead: Vec::new(),
            is_wide: None,
            count: 0,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn bad(&self, why: &str) -> BadInput {
        match self.form {
            Form::Bytes => BadInput::Document {
                why: format!("byte {}: {why}", self.place),
            },
            Form::Text | Form::Unknown => BadInput::Line {
                line: self.place,
                why: why.to_string(),
            },
        }
    }

    fn line(&mut self) -> Result<bool, BadInput> {
        self.place += 1;
        Ok(read_line(&mut self.input, &mut self.line)?)
    }

    fn header(&mut self) -> Result<(), BadInput> {
        if !self.line()? {
            return Err(self.bad(NO_DUMP));
        }
        if self.line.starts_with(TEXT) {
            self.form = Form::Text;
            while self.line != b"# End of header" {
                if !self.line()? {
                    return Err(self.bad(CUT));
                }
                if !self.line.starts_with(b"#") {
                    return Err(self.bad("a line of the header begins with #"));
                }
            }
            return Ok(());
        }
        if self.line != b"!\r" {
            return Err(self.bad(NO_DUMP));
        }
        let mut length = self.line.len() + 1;
        for at in 1..HEADER_LINES {
            if !self.line()? || !self.line.starts_with(b"!") {
                return Err(self.bad(NO_DUMP));
            }
            length += self.line.len() + 1;
            if at == 1 && !self.line.starts_with(&BYTES[3..]) {
                return Err(self.bad(NO_DUMP));
            }
            if self.line == b"!\r" {
                (self.form, self.place) = (Form::Bytes, length as u64);
                return Ok(());
            }
        }
        Err(self.bad(NO_DUMP))
    }

    /// Reads the lines of a key or a value, after that of its length. The line at hand is then the
    /// first one behind them.
    fn text_field(&mut self, out: &mut Vec<u8>) -> Result<(), BadInput> {
        const NO_LENGTH: &str = "not a line as in #:len=LENGTH";
        let length = self.line.strip_prefix(b"#:len=");
        let length = length.and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
        let length = length.ok_or_else(|| self.bad(NO_LENGTH))?;
        let at = self.place;
        out.clear();
        loop {
            if !self.line()? {
                return Err(self.bad(CUT));
            }
            if self.line.starts_with(b"#") {
                break;
            }
            // Each line is whole base64: a character has 6 bits, and lines have 76 characters.
            if STANDARD.decode_vec(&self.line, out).is_err() {
                return Err(self.bad("not base64"));
            }
        }
        if out.len() as u64 != length {
            self.place = at;
            let why = format!(
                "the length is {length}, but {} bytes follow; make the dump again",
                out.len()
            );
            return Err(self.bad(&why));
        }
        Ok(())
    }

    fn next_text(&mut self) -> Result<bool, BadInput> {
        if self.count == 0 && !self.line()? {
            return Err(self.bad(CUT));
        }
        if let Some(count) = self.line.strip_prefix(b"#:count=") {
            if count != self.count.to_string().as_bytes() {
                let why = format!("{} entries came before; make the dump again", self.count);
                return Err(self.bad(&why));
            }
            if !self.line()? || self.line != b"# End of data" {
                return Err(self.bad(CUT));
            }
            return match self.line()? {
                false => Ok(false),
                true => Err(self.bad("text after the end of the data")),
            };
        }
        let (mut key, mut value) = (
            std::mem::take(&mut self.key),
            std::mem::take(&mut self.value),
        );
        self.text_field(&mut key)?;
        self.text_field(&mut value)?;
        (self.key, self.value) = (key, value);
        self.count += 1;
        Ok(true)
    }

    /// Reads so many bytes, of those that were read ahead first; false if there are fewer.
    fn take(&mut self, count: u64, out: &mut Vec<u8>) -> Result<bool, BadInput> {
        let ahead = count.min(self.ahead.len() as u64) as usize;
        let before: Vec<u8> = self.ahead.drain(..ahead).collect();
        let is_whole = read_exactly(&mut self.input, count - ahead as u64, out)?;
        out.splice(..0, before);
        Ok(is_whole)
    }

    /// Reads a key or a value; false at the end of the input.
    fn bytes_field(&mut self, out: &mut Vec<u8>) -> Result<bool, BadInput> {
        const CUT: &str = "the dump is cut short; make it again";
        if !self.take(4, out)? {
            return match out.is_empty() {
                true => Ok(false),
                false => Err(self.bad(CUT)),
            };
        }
        let length = u32::from_be_bytes([out[0], out[1], out[2], out[3]]);
        if self.is_wide != Some(false) {
            let is_whole = self.take(4, out)?;
            let are_zeros = is_whole && **out == [0; 4];
            match self.is_wide {
                Some(true) if !is_whole => return Err(self.bad(CUT)),
                Some(true) if !are_zeros => return Err(self.bad("not a length, which ends with 0")),
                Some(_) => {}
                None => {
                    self.is_wide = Some(are_zeros);
                    if !are_zeros {
                        self.ahead.extend_from_slice(out);
                    }
                }
            }
        }
        if !self.take(u64::from(length), out)? {
            let why = format!("{CUT}: {length} bytes should follow, and {} do", out.len());
            return Err(self.bad(&why));
        }
        let width = if self.is_wide == Some(true) { 8 } else { 4 };
        self.place += width + u64::from(length);
        Ok(true)
    }

    fn next_bytes(&mut self) -> Result<bool, BadInput> {
        let (mut key, mut value) = (
            std::mem::take(&mut self.key),
            std::mem::take(&mut self.value),
        );
        if !self.bytes_field(&mut key)? {
            return Ok(false);
        }
        if !self.bytes_field(&mut value)? {
            return Err(self.bad("a key without a value, so the dump is cut short; make it again"));
        }
        (self.key, self.value) = (key, value);
        Ok(true)
    }
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        if self.form == Form::Unknown {
            self.header()?;
        }
        let more = match self.form {
            Form::Bytes => self.next_bytes()?,
            Form::Text | Form::Unknown => self.next_text()?,
        };
        if more {
            batch.push(&self.key, &self.value, Beside::default());
        }
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, written};
    use super::super::{BadInput, Format};
    use super::BYTES;

    fn of_bytes(records: &[u8]) -> Vec<u8> {
        let mut file = BYTES.to_vec();
        file.extend(b" -- THIS IS NOT A TEXT FILE\r\n! GDBM version 1.23. 04/02/2022\r\n!\r\n");
        file.extend(records);
        file
    }

    #[test]
    fn the_text_is_as_documented() {
        let text = written(Format::Gdbm, &[(b"one".to_vec(), vec![0; 58])]);
        let expected = format!(
            "# GDBM dump file created by tavola\n#:version=1.1\n#:format=standard\n\
            # End of header\n#:len=3\nb25l\n#:len=58\n{}\nAA==\n#:count=1\n# End of data\n",
            "A".repeat(76)
        );
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn a_text_cut_anywhere_is_noticed_and_whole_entries_are_kept() {
        let entries = [
            (b"k".to_vec(), vec![7; 100]),
            (b"empty".to_vec(), Vec::new()),
        ];
        let text = written(Format::Gdbm, &entries);
        for length in 0..text.len() - 1 {
            let (found, error) = read(Format::Gdbm, &text[..length]);
            assert!(error.is_some(), "{length}");
            assert!(found.len() <= 2);
            for (found, entry) in found.iter().zip(&entries) {
                assert_eq!((&found.0, &found.1), (&entry.0, &entry.1), "{length}");
            }
        }
        assert!(read(Format::Gdbm, &text).1.is_none());
    }

    #[test]
    fn wrong_lengths_counts_and_characters_are_reported_by_line() {
        let head = "# GDBM dump file\n# End of header\n";
        let cases = [
            ("#:len=3\nYQ==\n#:len=0\n#:count=1\n# End of data\n", 3),
            ("#:len=99999999999999999\nYQ==\n#:len=0\n", 3),
            ("#:len=1\nY!==\n#:len=0\n#:count=1\n# End of data\n", 4),
            ("#:len=x\n", 3),
            ("#:count=7\n# End of data\n", 3),
            ("#:count=0\n# End of data\nmore\n", 5),
            ("one\n", 3),
        ];
        for (body, at) in cases {
            let (entries, error) = read(Format::Gdbm, format!("{head}{body}").as_bytes());
            assert_eq!(entries.len(), 0, "{body}");
            let is_at = matches!(&error, Some(BadInput::Line { line, .. }) if *line == at);
            assert!(is_at, "{body}: {error:?}");
        }
        for text in [&b""[..], b"#\n", b"# GDBM dump file\n\n", b"!\r\n!\r\n"] {
            assert!(read(Format::Gdbm, text).1.is_some());
        }
    }

    #[test]
    fn bytes_are_read_and_a_cut_within_an_entry_is_noticed() {
        let records = b"\0\0\0\x03one\0\0\0\x05Hello\0\0\0\0\0\0\0\0";
        let file = of_bytes(records);
        let (entries, error) = read(Format::Gdbm, &file);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(entries.len(), 2);
        assert_eq!(
            (&entries[0].0[..], &entries[0].1[..]),
            (&b"one"[..], &b"Hello"[..])
        );
        let wide = b"\0\0\0\x03\0\0\0\0one\0\0\0\x05\0\0\0\0Hello\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        let (same, error) = read(Format::Gdbm, &of_bytes(wide));
        assert!(error.is_none(), "{error:?}");
        assert_eq!(same, entries);
        let (_, error) = read(
            Format::Gdbm,
            &of_bytes(b"\0\0\0\x01\0\0\0\0k\0\0\0\x01\0\0\0\x01v"),
        );
        assert!(format!("{error:?}").contains("not a length"), "{error:?}");
        let (one, error) = read(Format::Gdbm, &of_bytes(b"\0\0\0\x01k\0\0\0\x01v"));
        assert!(one.len() == 1 && error.is_none(), "{error:?}");
        let head = file.len() - records.len();
        for length in (1..records.len()).filter(|length| *length != 16) {
            let (_, error) = read(Format::Gdbm, &file[..head + length]);
            assert!(error.is_some(), "{length}");
        }
        // A length takes no memory before its bytes are there.
        let (entries, error) = read(Format::Gdbm, &of_bytes(b"\0\0\0\x01k\xff\xff\xff\xffxy"));
        let why = format!("{error:?}");
        assert!(entries.is_empty() && why.contains("4294967295"), "{why}");
        let at = of_bytes(b"\0\0\0\x01k").len();
        assert!(why.contains(&format!("byte {at}:")), "{why}");
    }
}
