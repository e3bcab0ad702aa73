//! The text of `mdb_dump` and `mdb_load`, which the tools of Berkeley DB have as well.
//!
//! ```text
//! VERSION=3
//! format=bytevalue          two hexadecimal digits a byte; or format=print: text, with \ and two
//! type=btree                digits for other bytes
//! mapsize=137438953472      and other lines that are passed over
//! HEADER=END
//!  6b6579                   a space, then the key
//!  76616c7565               a space, then its value
//! DATA=END
//! ```
//!
//! For `mdb_load -T` and `db_load -T` there is neither a header nor an end: a line is a key, the
//! next one its value, both as in `format=print` but without the space.
//!
//! TTLs, flags and tags are left out.

use std::io::{self, BufRead, Write};

use super::{BadInput, Batch, Beside, Sink, Source, read_line};

/// How the text begins.
pub const FIRST: &[u8] = b"VERSION=";

/// What `mdb_load` makes the environment as large as, at most: its file takes what is stored.
const MAP_BYTES: u64 = 128 << 30;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `format=bytevalue`, for `mdb_load`.
    Bytes,
    /// `format=print`, for `mdb_load`.
    Print,
    /// `format=bytevalue`, for `db_load`, which refuses lines of a header that it does not know.
    BerkeleyDb,
    /// Lines alone, for the option `-T` of both.
    Lines,
}

/// Writes one of the forms.
pub struct Writer<W> {
    out: W,
    form: Form,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W, form: Form) -> io::Result<Writer<W>> {
        let format = if form == Form::Print {
            "print"
        } else {
            "bytevalue"
        };
        if form != Form::Lines {
            write!(out, "VERSION=3\nformat={format}\ntype=btree\n")?;
            if form != Form::BerkeleyDb {
                writeln!(out, "mapsize={MAP_BYTES}")?;
            }
            out.write_all(b"HEADER=END\n")?;
        }
        Ok(Writer {
            out,
            form,
            line: Vec::new(),
        })
    }

    fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        self.line.clear();
        if self.form != Form::Lines {
            self.line.push(b' ');
        }
        let is_text = matches!(self.form, Form::Print | Form::Lines);
        for byte in bytes {
            let digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
            match byte {
                b' '..=b'~' if is_text && *byte != b'\\' => {
                    self.line.push(*byte);
                    continue;
                }
                _ if is_text => self.line.push(b'\\'),
                _ => {}
            }
            self.line.extend_from_slice(&digits);
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        self.line(key)?;
        self.line(value)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.form != Form::Lines {
            self.out.write_all(b"DATA=END\n")?;
        }
        self.out.flush()
    }
}

/// Reads either format, or lines alone.
pub struct Reader<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
    /// Known after the header: whether it is `format=print`.
    is_print: Option<bool>,
    is_lines: bool,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            number: 0,
            line: Vec::new(),
            key: Vec::new(),
            value: Vec::new(),
            is_print: None,
            is_lines: false,
        }
    }

    /// Reads [`Form::Lines`].
    pub fn of_lines(input: R) -> Reader<R> {
        let mut reader = Reader::new(input);
        (reader.is_print, reader.is_lines) = (Some(true), true);
        reader
    }

    fn bad<T>(&self, why: &str) -> Result<T, BadInput> {
        Err(BadInput::Line {
            line: self.number,
            why: why.to_string(),
        })
    }

    fn line(&mut self) -> Result<(), BadInput> {
        self.number += 1;
        match read_line(&mut self.input, &mut self.line)? {
            true => Ok(()),
            false if self.is_lines => self.bad("the last line is a key without a value"),
            false => self.bad("the file is cut short, as DATA=END is missing; make it again"),
        }
    }

    fn header(&mut self) -> Result<bool, BadInput> {
        let mut is_print = None;
        loop {
            self.line()?;
            match &self.line[..] {
                b"HEADER=END" => match is_print {
                    Some(is_print) => return Ok(is_print),
                    None => return self.bad("the header has no line 'format='"),
                },
                b"format=bytevalue" => is_print = Some(false),
                b"format=print" => is_print = Some(true),
                line if line.starts_with(b"format=") => {
                    return self.bad("the format is neither bytevalue nor print");
                }
                b"type=btree" | b"type=hash" | b"VERSION=3" => {}
                line if line.starts_with(b"type=") => {
                    return self.bad("the type is neither btree nor hash, so it has no keys");
                }
                line if line.starts_with(FIRST) => return self.bad("a version other than 3"),
                line if line.contains(&b'=') => {}
                _ => return self.bad("a header consists of lines as in NAME=VALUE"),
            }
        }
    }

    /// Reads the line of a key; false at the end.
    fn key_line(&mut self) -> Result<bool, BadInput> {
        if self.is_lines {
            self.number += 1;
            return Ok(read_line(&mut self.input, &mut self.line)?);
        }
        self.line()?;
        match self.line == b"DATA=END" {
            true => self.end(),
            false => Ok(true),
        }
    }

    /// Reads what follows `DATA=END`.
    fn end(&mut self) -> Result<bool, BadInput> {
        self.number += 1;
        match read_line(&mut self.input, &mut self.line)? {
            false => Ok(false),
            true => self.bad(
                "a second database begins here; dump each into a table of its own, as in: \
                mdb_dump -s NAME DIR | tavola load NAME",
            ),
        }
    }

    /// Reads the bytes that the line at hand means.
    fn field(&self, is_print: bool, out: &mut Vec<u8>) -> Result<(), BadInput> {
        out.clear();
        let mut text = &self.line[..];
        if !self.is_lines {
            let Some((b' ', rest)) = text.split_first() else {
                return self.bad("a key or value begins with a space");
            };
            text = rest;
        }
        if is_print {
            while let Some(at) = text.iter().position(|byte| *byte == b'\\') {
                out.extend_from_slice(&text[..at]);
                text = &text[at + 1..];
                match text {
                    [b'\\', ..] => {
                        out.push(b'\\');
                        text = &text[1..];
                    }
                    [high, low, ..] if let Some(byte) = hex(*high, *low) => {
                        out.push(byte);
                        text = &text[2..];
                    }
                    _ => return self.bad(NO_ESCAPE),
                }
            }
            out.extend_from_slice(text);
            return Ok(());
        }
        let (pairs, rest) = text.as_chunks::<2>();
        for [high, low] in pairs {
            match hex(*high, *low) {
                Some(byte) => out.push(byte),
                None => return self.bad("a byte that is not two hexadecimal digits"),
            }
        }
        match rest {
            [] => Ok(()),
            _ => self.bad("an odd number of hexadecimal digits"),
        }
    }
}

const NO_ESCAPE: &str = "a backslash without two hexadecimal digits; older versions of mdb_dump \
    do not escape it: make the dump without -p";

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        let is_print = match self.is_print {
            Some(is_print) => is_print,
            None => self.header()?,
        };
        self.is_print = Some(is_print);
        if !self.key_line()? {
            return Ok(false);
        }
        let (mut key, mut value) = (
            std::mem::take(&mut self.key),
            std::mem::take(&mut self.value),
        );
        self.field(is_print, &mut key)?;
        self.line()?;
        self.field(is_print, &mut value)?;
        batch.push(&key, &value, Beside::default());
        (self.key, self.value) = (key, value);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Entries, read, written};
    use super::super::{BadInput, Format};

    const HEADER: &str = "VERSION=3\nformat=print\ntype=btree\nmaxreaders=126\nHEADER=END\n";

    fn of_text(body: &str) -> (Entries, Option<BadInput>) {
        let (entries, error) = read(Format::Mdb, format!("{HEADER}{body}").as_bytes());
        let pairs = entries.into_iter().map(|entry| (entry.0, entry.1));
        (pairs.collect(), error)
    }

    #[test]
    fn bytes_are_written_as_digits() {
        let text = written(Format::Mdb, &[(b"k\n".to_vec(), Vec::new())]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("VERSION=3\nformat=bytevalue\n"), "{text}");
        assert!(text.ends_with("HEADER=END\n 6b0a\n \nDATA=END\n"), "{text}");
    }

    #[test]
    fn text_is_written_with_escapes() {
        let entries = [(b"k \n".to_vec(), b"~\\\x7f\xff".to_vec())];
        let print = String::from_utf8(written(Format::MdbPrint, &entries)).unwrap();
        assert!(print.starts_with("VERSION=3\nformat=print\n"), "{print}");
        let body = "HEADER=END\n k \\0a\n ~\\5c\\7f\\ff\nDATA=END\n";
        assert!(print.ends_with(body), "{print}");
        let lines = written(Format::MdbText, &entries);
        assert_eq!(lines, b"k \\0a\n~\\5c\\7f\\ff\n");
    }

    /// `DATA=END` and spaces at a line's beginning mean themselves.
    #[test]
    fn pairs_of_lines_are_read() {
        let text = b"DATA=END\n v\n\n\\\\\\0a\nkey";
        let (entries, error) = read(Format::MdbText, text);
        let pairs: Entries = entries.into_iter().map(|one| (one.0, one.1)).collect();
        let expected = [(&b"DATA=END"[..], &b" v"[..]), (b"", b"\\\n")];
        let expected = expected.map(|(key, value)| (key.to_vec(), value.to_vec()));
        assert_eq!(pairs, expected);
        assert!(
            matches!(error, Some(BadInput::Line { line: 6, .. })),
            "{error:?}"
        );
    }

    #[test]
    fn text_and_its_escapes_are_read() {
        let (entries, error) = of_text(" a\\0a\\5c\\\\b\n =\\FF \nDATA=END\n");
        assert!(error.is_none(), "{error:?}");
        assert_eq!(entries, [(b"a\n\\\\b".to_vec(), b"=\xff ".to_vec())]);
    }

    #[test]
    fn a_cut_or_odd_file_is_refused_and_whole_entries_are_kept() {
        let cases = [
            (" a\n b\n c\n", 1, 9),
            (" a\n b\n", 1, 8),
            (" a\nb\nDATA=END\n", 0, 7),
            (" a\n \\x1\nDATA=END\n", 0, 7),
            (" a\n b\nDATA=END\nVERSION=3\n", 1, 9),
        ];
        for (body, count, at) in cases {
            let (entries, error) = of_text(body);
            assert_eq!(entries.len(), count, "{body:?}");
            assert!(
                matches!(error, Some(BadInput::Line { line, .. }) if line == at),
                "{body:?}: {error:?}"
            );
        }
        for text in [
            "VERSION=3\nHEADER=END\nDATA=END\n",
            "VERSION=2\nformat=print\nHEADER=END\nDATA=END\n",
            "VERSION=3\nformat=print\ntype=recno\nHEADER=END\nDATA=END\n",
            "VERSION=3\nformat=bytevalue\nHEADER=END\n 6\n 61\nDATA=END\n",
            "VERSION=3\nformat=bytevalue\nHEADER=END\n 6g\n 61\nDATA=END\n",
        ] {
            assert!(read(Format::Mdb, text.as_bytes()).1.is_some(), "{text}");
        }
    }
}
