//! `tavola cdb -c`: a new file from text.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tavola_cdb::{Put, Writer};

use super::{Args, BAD_INPUT, Creating, failed, unreadable};
use crate::error::CliError;

/// The exit code of a key that came again, with -e.
const AGAIN: u8 = 1;
/// The largest length in a record, less a digit. TinyCDB reads no larger one.
const MOST_LENGTH: u64 = u32::MAX as u64 / 10;

pub fn run(path: &Path, inputs: &[OsString], args: &Args) -> Result<ExitCode, CliError> {
    let mut file = NewFile {
        writer: begin(path, args)?,
        put: args.creating.put(),
        warns: args.creating.warn || args.creating.stop,
        stops: args.creating.stop,
    };
    let standard = OsString::from("-");
    let inputs = match inputs {
        [] => std::slice::from_ref(&standard),
        inputs => inputs,
    };
    for input in inputs {
        let (input, name): (Box<dyn Read>, PathBuf) = match input == "-" {
            true => (Box::new(io::stdin().lock()), PathBuf::from("(stdin)")),
            false => {
                let path = PathBuf::from(input);
                let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
                (Box::new(file), path)
            }
        };
        let mut text = Text {
            input: BufReader::with_capacity(64 << 10, input),
            path: name,
        };
        match args.map {
            true => file.put_lines(&mut text)?,
            false => file.put_records(&mut text)?,
        }
    }
    file.writer.finish().map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

fn begin(path: &Path, args: &Args) -> Result<Writer, CliError> {
    let mut options = Writer::options().format(args.format());
    if let Some(mode) = args.creating.mode {
        options = options.mode(mode);
    }
    options = match &args.creating.temporary {
        Some(temporary) if temporary == Path::new("-") || temporary == path => options.in_place(),
        Some(temporary) => options.temporary(temporary),
        None => {
            let mut name = path.as_os_str().to_os_string();
            name.push(".tmp");
            options.temporary(name)
        }
    };
    options.create(path).map_err(failed)
}

impl Creating {
    fn put(&self) -> Put {
        match () {
            () if self.replace => Put::Replace,
            () if self.unique => Put::Insert,
            () if self.zero => Put::ReplaceZero,
            () if self.warn || self.stop => Put::Warn,
            () => Put::Add,
        }
    }
}

/// The file that is written.
struct NewFile {
    writer: Writer,
    put: Put,
    warns: bool,
    stops: bool,
}

impl NewFile {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), CliError> {
        let was_there = self.writer.put(key, value, self.put).map_err(failed)?;
        if !was_there || !self.warns {
            return Ok(());
        }
        if self.stops {
            let key = String::from_utf8_lossy(key);
            return Err(CliError::Command {
                sentence: format!("key `{key}' duplicated"),
                code: AGAIN,
            });
        }
        let mut line = b"tavola: key `".to_vec();
        line.extend_from_slice(key);
        line.extend_from_slice(b"' duplicated\n");
        // A warning that nobody can read is not a reason to stop.
        let _ = io::stderr().write_all(&line);
        Ok(())
    }

    /// Puts records `+KEYLENGTH,VALUELENGTH:KEY->VALUE` until an empty line.
    fn put_records(&mut self, text: &mut Text<impl BufRead>) -> Result<(), CliError> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        loop {
            match text.byte()? {
                Some(b'+') => {}
                Some(b'\n') => return Ok(()),
                _ => return Err(text.bad()),
            }
            let key_bytes = text.length(b',')?;
            let value_bytes = text.length(b':')?;
            text.bytes(key_bytes, &mut key)?;
            text.expect(b"->")?;
            text.bytes(value_bytes, &mut value)?;
            text.expect(b"\n")?;
            self.put(&key, &value)?;
        }
    }

    /// Puts lines of a key, blanks and a value. Empty lines, and those that begin with #, are left
    /// out.
    fn put_lines(&mut self, text: &mut Text<impl BufRead>) -> Result<(), CliError> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mut line = Vec::new();
        while text.line(&mut line)? {
            let begin = line
                .iter()
                .position(|byte| !is_blank(byte))
                .unwrap_or(line.len());
            let line = &line[begin..];
            if line.first().is_none_or(|first| *first == b'#') {
                continue;
            }
            let key = line.iter().position(is_blank).unwrap_or(line.len());
            let (key, rest) = line.split_at(key);
            let value = rest
                .iter()
                .position(|byte| !is_blank(byte))
                .unwrap_or(rest.len());
            self.put(key, &rest[value..])?;
        }
        Ok(())
    }
}

/// Text that is read byte by byte.
struct Text<R> {
    input: R,
    path: PathBuf,
}

impl<R: BufRead> Text<R> {
    fn bad(&self) -> CliError {
        CliError::Command {
            sentence: format!(
                "{}: bad format; records are as in +3,5:one->Hello, and an empty line follows the \
                 last one",
                self.path.display()
            ),
            code: BAD_INPUT,
        }
    }

    fn byte(&mut self) -> Result<Option<u8>, CliError> {
        let buffer = self.input.fill_buf();
        let first = buffer.map(|bytes| bytes.first().copied());
        let first = first.map_err(|error| unreadable(&self.path, &error))?;
        self.input.consume(usize::from(first.is_some()));
        Ok(first)
    }

    fn expect(&mut self, wanted: &[u8]) -> Result<(), CliError> {
        for byte in wanted {
            if self.byte()? != Some(*byte) {
                return Err(self.bad());
            }
        }
        Ok(())
    }

    /// Reads a length and the byte behind it.
    fn length(&mut self, end: u8) -> Result<u64, CliError> {
        let mut length: Option<u64> = None;
        loop {
            match self.byte()? {
                Some(byte @ b'0'..=b'9') => {
                    let digit = u64::from(byte - b'0');
                    let before = length.unwrap_or(0);
                    if length.is_some() && before > MOST_LENGTH - digit {
                        return Err(self.bad());
                    }
                    length = Some(before * 10 + digit);
                }
                Some(byte) if byte == end => return length.ok_or_else(|| self.bad()),
                _ => return Err(self.bad()),
            }
        }
    }

    fn bytes(&mut self, count: u64, buffer: &mut Vec<u8>) -> Result<(), CliError> {
        buffer.clear();
        let read = self.input.by_ref().take(count).read_to_end(buffer);
        let read = read.map_err(|error| unreadable(&self.path, &error))?;
        match read as u64 == count {
            true => Ok(()),
            false => Err(CliError::Command {
                sentence: format!("{} ends within a record", self.path.display()),
                code: BAD_INPUT,
            }),
        }
    }

    /// Reads a line without its end. Returns whether there was one.
    fn line(&mut self, line: &mut Vec<u8>) -> Result<bool, CliError> {
        line.clear();
        let read = self.input.read_until(b'\n', line);
        let read = read.map_err(|error| unreadable(&self.path, &error))?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Ok(read > 0)
    }
}
