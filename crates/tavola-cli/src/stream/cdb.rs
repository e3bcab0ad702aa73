//! The text of constant databases: what `cdb -d` prints and `cdb -c` reads.
//!
//! ```text
//! +KEYLENGTH,VALUELENGTH:KEY->VALUE     a newline after each; any number of them
//!                                       an empty line at the end
//! ```
//!
//! The empty line says that nothing is missing. TTLs, flags and tags are left out.

use std::io::{self, BufRead, Write};

use super::{BadInput, Batch, Beside, Sink, Source, read_exactly};

/// How a record begins.
pub const PLUS: u8 = b'+';

/// Writes records.
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
        write!(self.out, "+{},{}:", key.len(), value.len())?;
        self.out.write_all(key)?;
        self.out.write_all(b"->")?;
        self.out.write_all(value)?;
        self.out.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Reads records.
pub struct Reader<R> {
    input: R,
    number: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            number: 0,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn bad(&self, why: &str) -> BadInput {
        BadInput::Document {
            why: format!("record {}: {why}", self.number),
        }
    }

    fn cut(&self) -> BadInput {
        self.bad("the file is cut short, as its last line is not empty; fetch or make it again")
    }

    fn byte(&mut self) -> Result<u8, BadInput> {
        let mut byte = Vec::new();
        match read_exactly(&mut self.input, 1, &mut byte)? {
            true => Ok(byte[0]),
            false => Err(self.cut()),
        }
    }

    /// Reads a length and the byte that must follow it.
    fn length(&mut self, end: u8) -> Result<u64, BadInput> {
        let mut length: Option<u64> = None;
        loop {
            match self.byte()? {
                digit @ b'0'..=b'9' => {
                    let all = length.unwrap_or(0) * 10 + u64::from(digit - b'0');
                    if all > u64::from(u32::MAX) {
                        return Err(self.bad("a length of 4 GiB or more"));
                    }
                    length = Some(all);
                }
                byte if byte == end => {
                    return length.ok_or_else(|| self.bad("a length is missing"));
                }
                _ => return Err(self.bad(NO_RECORD)),
            }
        }
    }

    fn expect(&mut self, wanted: &[u8]) -> Result<(), BadInput> {
        for byte in wanted {
            if self.byte()? != *byte {
                return Err(self.bad(NO_RECORD));
            }
        }
        Ok(())
    }
}

const NO_RECORD: &str = "not as in +KEYLENGTH,VALUELENGTH:KEY->VALUE, or lengths that do not fit";

impl<R: BufRead> Source for Reader<R> {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        self.number += 1;
        match self.byte()? {
            b'\n' if self.input.fill_buf()?.is_empty() => return Ok(false),
            b'\n' => return Err(self.bad("text after the empty line that ends the file")),
            PLUS => {}
            _ => return Err(self.bad(NO_RECORD)),
        }
        let (key, value) = (self.length(b',')?, self.length(b':')?);
        if !read_exactly(&mut self.input, key, &mut self.key)? {
            return Err(self.cut());
        }
        self.expect(b"->")?;
        if !read_exactly(&mut self.input, value, &mut self.value)? {
            return Err(self.cut());
        }
        self.expect(b"\n")?;
        batch.push(&self.key, &self.value, Beside::default());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{read, written};

    #[test]
    fn the_text_is_as_documented() {
        let entries = [
            (b"one".to_vec(), b"Hello".to_vec()),
            (Vec::new(), b"\n".to_vec()),
        ];
        assert_eq!(
            written(Format::Cdb, &entries),
            b"+3,5:one->Hello\n+0,1:->\n\n\n"
        );
    }

    #[test]
    fn a_file_cut_anywhere_is_noticed_and_whole_records_are_kept() {
        let text = b"+1,1:a->b\n+2,0:cd->\n\n";
        for length in 0..text.len() {
            let (entries, error) = read(Format::Cdb, &text[..length]);
            assert!(error.is_some(), "{length}");
            let whole = usize::from(length >= 10) + usize::from(length >= 20);
            assert_eq!(entries.len(), whole, "{length}");
        }
        assert!(read(Format::Cdb, text).1.is_none());
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let cases: [&[u8]; 8] = [
            b"+1,1:a>>b\n\n",
            b"+1,1:ab->c\n\n",
            b"+1,1:a->bc\n\n",
            b"+,1:->b\n\n",
            b"+1,99999999999:a->b\n\n",
            b"+-1,1:a->b\n\n",
            b"x\n",
            b"+1,1:a->b\n\nmore",
        ];
        for text in cases {
            assert!(read(Format::Cdb, text).1.is_some(), "{text:?}");
        }
    }
}
