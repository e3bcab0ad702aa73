//! What commands write on standard output: raw bytes, lines, JSON.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::session;
use crate::stream::letter_of;

/// Buffered standard output that knows whether a person looks at it.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
    on_terminal: bool,
}

impl Output {
    pub fn new() -> Output {
        let stdout = io::stdout().lock();
        let on_terminal = stdout.is_terminal();
        Output {
            out: BufWriter::with_capacity(64 << 10, stdout),
            on_terminal,
        }
    }

    pub fn on_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Writes bytes as they are. On a terminal, and between the results of a session, a newline
    /// follows.
    pub fn value(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.out.write_all(bytes)?;
        if self.on_terminal || session::is_active() {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes bytes as they are, and a newline.
    pub fn line(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), CliError> {
        self.out.write_all(bytes.as_ref())?;
        Ok(self.out.write_all(b"\n")?)
    }

    /// Writes bytes as they are, and an end of them.
    pub fn ended(&mut self, bytes: &[u8], end: u8) -> Result<(), CliError> {
        self.out.write_all(bytes)?;
        Ok(self.out.write_all(&[end])?)
    }

    /// Writes a key on a line of its own: so that a script can read it back ([`escaped`]), without
    /// control characters for eyes.
    pub fn key_line(&mut self, key: &[u8]) -> Result<(), CliError> {
        if self.on_terminal {
            self.line(printable(key).as_bytes())
        } else {
            self.line(escaped(key))
        }
    }

    /// Writes one JSON document on one line.
    pub fn json(&mut self, document: Map<String, Value>) -> Result<(), CliError> {
        self.line(Value::Object(document).to_string())
    }

    /// Hands everything to the system; without it a late error would go unseen.
    pub fn finish(mut self) -> Result<(), CliError> {
        Ok(self.out.flush()?)
    }
}

/// Puts bytes into a JSON object: under `name` when they are UTF-8, else under `name_base64`.
pub fn put_bytes(document: &mut Map<String, Value>, name: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => document.insert(name.to_string(), Value::from(text)),
        Err(_) => document.insert(
            format!("{name}_base64"),
            Value::from(STANDARD.encode(bytes)),
        ),
    };
}

/// Bytes for a message or a terminal: control characters and what is not UTF-8 as `\xNN`.
pub fn printable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.chars().any(char::is_control)
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter.is_control() {
                let mut encoded = [0; 4];
                escape_bytes(letter.encode_utf8(&mut encoded).as_bytes(), &mut out);
            } else {
                out.push(letter);
            }
        }
        escape_bytes(chunk.invalid(), &mut out);
    }
    Cow::Owned(out)
}

/// Bytes for one field of one line: newline, return, tab and backslash as `\n`, `\r`, `\t` and
/// `\\`, all others as they are.
pub fn escaped(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.iter().any(|byte| letter_of(*byte).is_some()) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    for byte in bytes {
        match letter_of(*byte) {
            Some(letter) => out.extend([b'\\', letter]),
            None => out.push(*byte),
        }
    }
    Cow::Owned(out)
}

fn escape_bytes(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        out.push_str(&format!("\\x{byte:02x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_is_left_alone_and_the_rest_escaped() {
        assert_eq!(printable("Grüße".as_bytes()), "Grüße");
        assert_eq!(printable(b"a\nb\x1b[2J"), "a\\x0ab\\x1b[2J");
        assert_eq!(printable(b"\xff\xfeok"), "\\xff\\xfeok");
        assert_eq!(printable(b""), "");
    }

    #[test]
    fn a_field_has_neither_tab_nor_newline() {
        assert_eq!(*escaped("Grüße".as_bytes()), *"Grüße".as_bytes());
        assert_eq!(*escaped(b"a\nb\\c\td\re"), *b"a\\nb\\\\c\\td\\re");
    }

    #[test]
    fn bytes_in_json_say_how_they_are_written() {
        let mut document = Map::new();
        put_bytes(&mut document, "key", b"alice");
        put_bytes(&mut document, "value", b"\xff\x00");
        let text = Value::Object(document).to_string();
        assert_eq!(text, r#"{"key":"alice","value_base64":"/wA="}"#);
    }
}
