//! Arguments that several commands share: the table, how keys are written, where a value is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tavola::{Attributes, Expiry, Options, Table, Tags};

use crate::error::CliError;
use crate::{output, units};

static ANY_OWNER: OnceLock<bool> = OnceLock::new();

/// Keeps what `--any-owner` says, for all tables that this process opens.
pub fn set_any_owner(any: bool) {
    let _ = ANY_OWNER.set(any);
}

/// Whether tables of other users are taken in directories where everybody may make files.
pub fn is_any_owner() -> bool {
    ANY_OWNER.get().copied().unwrap_or(false)
}

/// Options with which every table of this command is opened.
pub fn options() -> Options {
    Table::options().any_owner(is_any_owner())
}

/// The table a command works on.
#[derive(clap::Args)]
pub struct TableArg {
    /// The table: a name, or a path when it has a / in it
    #[arg(value_name = "TABLE")]
    name: OsString,
    /// Wait so long at most for a lock that another process holds, and then fail
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, hide_short_help = true)]
    lock_timeout: Option<Duration>,
}

impl TableArg {
    /// For a command where the table is one of several things to name.
    pub fn named(name: OsString) -> TableArg {
        TableArg {
            name,
            lock_timeout: None,
        }
    }

    /// The name as it was given, fit for a message.
    pub fn label(&self) -> String {
        output::printable(self.name.as_bytes()).into_owned()
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// For a command that only looks: needs no right to write, and can damage nothing.
    pub fn open_to_read(&self) -> Result<Table, CliError> {
        warn_of(&self.name);
        Ok(options().open_read_only(&self.name)?)
    }

    /// For a command that changes what is there.
    pub fn open_existing(&self) -> Result<Table, CliError> {
        warn_of(&self.name);
        self.limited(options().open_existing(&self.name)?)
    }

    /// For a command that stores something: makes the table when it is not there.
    pub fn open_or_create(&self) -> Result<Table, CliError> {
        warn_of(&self.name);
        self.limited(options().open(&self.name)?)
    }

    fn limited(&self, table: Table) -> Result<Table, CliError> {
        if self.lock_timeout.is_some() {
            table.set_lock_timeout(self.lock_timeout)?;
        }
        Ok(table)
    }
}

/// Prints a warning if the table is on a file system on which processes may not see each other's
/// writes. A process prints one warning at most.
pub fn warn_of(name: &OsStr) {
    warn_as(crate::NAME, name);
}

/// As [`warn_of`], for a program that is called otherwise.
pub fn warn_as(program: &str, name: &OsStr) {
    static ONCE: Once = Once::new();
    if let Ok(Some(warning)) = tavola::names::warning(name) {
        ONCE.call_once(|| eprintln!("{program}: warning: {warning}"));
    }
}

/// How keys are written in arguments and lists.
#[derive(clap::Args)]
pub struct Notation {
    /// Keys are written in hexadecimal
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// Keys are written in base64
    #[arg(long)]
    base64: bool,
}

impl Notation {
    /// The bytes of a key that was given as an argument.
    pub fn read(&self, text: &OsStr) -> Result<Vec<u8>, CliError> {
        let (notation, bytes) = match (self.hex, self.base64) {
            (true, _) => ("hex", from_hex(text.as_bytes())),
            (_, true) => ("base64", STANDARD.decode(text.as_bytes()).ok()),
            _ => return Ok(text.as_bytes().to_vec()),
        };
        let text = output::printable(text.as_bytes()).into_owned();
        bytes.ok_or(CliError::BadKey { notation, text })
    }

    /// The bytes of all keys that were given.
    pub fn read_all(&self, texts: &[OsString]) -> Result<Vec<Vec<u8>>, CliError> {
        texts.iter().map(|text| self.read(text)).collect()
    }

    /// A key in the notation asked for; `None` when it is to be written as it is.
    pub fn write(&self, key: &[u8]) -> Option<String> {
        match (self.hex, self.base64) {
            (true, _) => Some(to_hex(key)),
            (_, true) => Some(STANDARD.encode(key)),
            _ => None,
        }
    }
}

fn from_hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |letter: u8| char::from(letter).to_digit(16);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks_exact(2)
        .map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a key gets beside its value.
#[derive(clap::Args)]
pub struct AttributeArgs {
    /// How long the key is there, from now on: 90, 1.5s, 250ms, 2h, 7d [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    ttl: Option<Duration>,
    /// A number kept with the value, for the user's own use
    #[arg(long, value_name = "N", default_value_t = 0)]
    flags: u32,
}

impl AttributeArgs {
    pub fn attributes(&self) -> Attributes {
        Attributes {
            expiry: self.ttl.map_or(Expiry::Default, Expiry::After),
            flags: self.flags,
        }
    }
}

/// Which tags a key gets.
#[derive(clap::Args)]
pub struct TagArgs {
    /// A tag: 'tavola invalidate' removes all keys that have it. May be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<OsString>,
}

impl TagArgs {
    /// The tags as they are now, made where they are missing.
    pub fn of(&self, table: &Table) -> Result<Tags, CliError> {
        let names: Vec<&[u8]> = self.tags.iter().map(|tag| tag.as_encoded_bytes()).collect();
        Ok(table.fetch_tags(&names)?)
    }
}

/// Where a value comes from.
#[derive(clap::Args)]
pub struct ValueArg {
    /// The value; '-' or nothing reads it from standard input
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: Option<OsString>,
    /// Take the value from a file
    #[arg(long, short, value_name = "FILE", conflicts_with = "value")]
    file: Option<PathBuf>,
}

impl ValueArg {
    /// The bytes of the value, exactly as they stand there.
    pub fn read(self) -> Result<Vec<u8>, CliError> {
        match (self.value, self.file) {
            (_, Some(path)) if path == Path::new("-") => read_standard_input(),
            (_, Some(path)) => fs::read(&path).map_err(|source| CliError::Read { path, source }),
            (Some(value), None) if value == "-" => read_standard_input(),
            (Some(value), None) => Ok(value.into_vec()),
            (None, None) if io::stdin().is_terminal() => Err(CliError::NoInput { wanted: "value" }),
            (None, None) => read_standard_input(),
        }
    }
}

fn read_standard_input() -> Result<Vec<u8>, CliError> {
    let mut value = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut value);
    read.map_err(|source| CliError::Read {
        path: "standard input".into(),
        source,
    })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_read_and_written_whole_bytes_only() {
        assert_eq!(from_hex(b"00ffA0"), Some(vec![0, 255, 160]));
        assert_eq!(from_hex(b""), Some(Vec::new()));
        for wrong in [&b"0"[..], b"0g", b"+1", b"0x10 "] {
            assert_eq!(from_hex(wrong), None);
        }
        assert_eq!(to_hex(&[0, 255, 160]), "00ffa0");
    }

    #[test]
    fn keys_are_taken_as_they_are_unless_a_notation_is_named() {
        let raw = Notation {
            hex: false,
            base64: false,
        };
        let odd = OsStr::from_bytes(b"\xff\n");
        assert_eq!(raw.read(odd).unwrap(), b"\xff\n");
        assert_eq!(raw.write(b"x"), None);
        let base64 = Notation {
            hex: false,
            base64: true,
        };
        assert_eq!(base64.read(OsStr::new("/wA=")).unwrap(), b"\xff\x00");
        assert_eq!(base64.write(b"\xff\x00").as_deref(), Some("/wA="));
        assert!(base64.read(OsStr::new("?")).is_err());
    }
}
