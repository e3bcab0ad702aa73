//! The text of QDBM's tools: key, tab, value, newline.
//!
//! `dptsv export -bin` and `vltsv export -bin` print the bytes in base64, and so does this writer,
//! for `dptsv import -bin`. `dpmgr list -ox` and `vlmgr list -ox` print them as hexadecimal digits,
//! a space between two bytes; that is read as well. A field that has a space or two characters is
//! hexadecimal: base64 has no spaces, and a multiple of four characters.
//!
//! Without `-bin` and `-ox` these tools print the bytes as they are, which is the format `tsv`, if
//! no key or value has a tab or a newline. TTLs, flags and tags are left out.

use std::io::{self, BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{BadInput, Batch, Beside, Sink, Source, read_line};

/// Writes base64.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        Writer { out }
    }
}

impl<W: Write> Sink for Writer<W> {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        writeln!(
            self.out,
            "{}\t{}",
            STANDARD.encode(key),
            STANDARD.encode(value)
        )
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads base64 and hexadecimal digits.
pub struct Reader<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            number: 0,
            line: Vec::new(),
        }
    }
}

const NO_LINE: &str = "not a key, a tab and a value, as dptsv export -bin and dpmgr list -ox print \
    them; for what dptsv export prints give --format tsv --raw";

/// Returns the bytes that a field means.
fn bytes_of(field: &[u8]) -> Option<Vec<u8>> {
    if field.len() != 2 && !field.contains(&b' ') {
        return STANDARD.decode(field).ok();
    }
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    };
    field.split(|letter| *letter == b' ').map(byte).collect()
}

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        self.number += 1;
        if !read_line(&mut self.input, &mut self.line)? {
            return Ok(false);
        }
        let mut fields = self.line.split(|byte| *byte == b'\t').map(bytes_of);
        let (Some(Some(key)), Some(Some(value)), None) =
            (fields.next(), fields.next(), fields.next())
        else {
            return Err(BadInput::Line {
                line: self.number,
                why: NO_LINE.to_string(),
            });
        };
        batch.push(&key, &value, Beside::default());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, written};
    use super::super::{BadInput, Format};

    #[test]
    fn both_notations_are_read() {
        let text = b"b25l\tSGVsbG8=\n6F 6E 65\t48\n\t\n41\t\n";
        let (entries, error) = read(Format::Qdbm, text);
        assert!(error.is_none(), "{error:?}");
        let pairs: Vec<_> = entries.iter().map(|one| (&one.0[..], &one.1[..])).collect();
        let expected = [
            (&b"one"[..], &b"Hello"[..]),
            (b"one", b"H"),
            (b"", b""),
            (b"A", b""),
        ];
        assert_eq!(pairs, expected);
        let one = [(b"one".to_vec(), b"\t".to_vec())];
        assert_eq!(written(Format::Qdbm, &one), b"b25l\tCQ==\n");
    }

    #[test]
    fn what_is_neither_is_reported_by_line() {
        for text in [
            "b25l\tSGVsbG8=\nplain\ttext\n",
            "b25l\t\nb25l\n",
            "\t\n\t\t\n",
            "\t\n6F 6\t\n",
            "\t\n6F  6F\t\n",
            "\t\nb25l\t6G\n",
            "\t\nb25l\tb25l=\n",
        ] {
            let (entries, error) = read(Format::Qdbm, text.as_bytes());
            assert_eq!(entries.len(), 1, "{text:?}");
            assert!(
                matches!(error, Some(BadInput::Line { line: 2, .. })),
                "{text:?}: {error:?}"
            );
        }
    }
}
