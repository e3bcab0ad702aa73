//! Arguments that several commands share: the table, how keys are written, where a value is.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::{Once, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tavola::{Attributes, CasOutcome, CasToken, Expiry, Options, Table, Tags};

use crate::durable;
use crate::error::CliError;
use crate::kind::Kind;
use crate::rights::RightsArgs;
use crate::session::{self, Right};
use crate::{output, units};

static ANY_OWNER: OnceLock<bool> = OnceLock::new();

/// Sets what `--any-owner` says, for all tables that this process opens.
pub fn set_any_owner(any: bool) {
    let _ = ANY_OWNER.set(any);
}

/// Returns whether tables of other users are used in directories where everybody may make files.
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
    /// The table: a name, or a path if it contains a /
    #[arg(value_name = "TABLE")]
    name: OsString,
    /// Wait at most this long for a lock that another process holds; then fail
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, hide_short_help = true)]
    lock_timeout: Option<Duration>,
}

impl TableArg {
    /// Makes the argument from a name, for a command that takes several.
    pub fn named(name: OsString) -> TableArg {
        TableArg {
            name,
            lock_timeout: None,
        }
    }

    /// Returns the name as it was given, without control characters.
    pub fn label(&self) -> String {
        output::printable(self.name.as_bytes()).into_owned()
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Opens the table to read it: needs no right to write, and can damage nothing.
    pub fn open_to_read(&self) -> Result<Rc<Table>, CliError> {
        warn_of(&self.name);
        session::open(&self.name, Right::Read, || {
            options().open_read_only(&self.name)
        })
    }

    /// Opens the table to change what is there.
    pub fn open_existing(&self) -> Result<Rc<Table>, CliError> {
        self.open_to_write(|| options().open_existing(&self.name))
    }

    /// Opens or makes the table to store keys in it, as [`TableArg::keys_or_create`]. A new table
    /// gets these rights.
    pub fn keys_or_create_with(&self, rights: RightsArgs) -> Result<Rc<Table>, CliError> {
        self.with_keys(self.open_to_write(|| rights.give(options()).open(&self.name))?)
    }

    /// Opens the table to store something, and makes it if it is missing.
    pub fn open_or_create(&self) -> Result<Rc<Table>, CliError> {
        self.open_to_write(|| options().open(&self.name))
    }

    fn open_to_write(
        &self,
        open: impl Fn() -> tavola::Result<Table>,
    ) -> Result<Rc<Table>, CliError> {
        warn_of(&self.name);
        let table = session::open(&self.name, Right::Write, open)?;
        if self.lock_timeout.is_some() || session::is_active() {
            table.set_lock_timeout(self.lock_timeout)?;
        }
        Ok(table)
    }

    /// Opens the table to read its keys. Refuses a log or a queue, which has none.
    pub fn keys_to_read(&self) -> Result<Rc<Table>, CliError> {
        self.with_keys(self.open_to_read()?)
    }

    /// Opens the table to change its keys, as [`TableArg::keys_to_read`].
    pub fn keys_existing(&self) -> Result<Rc<Table>, CliError> {
        self.with_keys(self.open_existing()?)
    }

    /// Opens or makes the table to store keys in it, as [`TableArg::keys_to_read`].
    pub fn keys_or_create(&self) -> Result<Rc<Table>, CliError> {
        self.with_keys(self.open_or_create()?)
    }

    fn with_keys(&self, table: Rc<Table>) -> Result<Rc<Table>, CliError> {
        match Kind::of(&table)?.other_command(&self.label()) {
            Some(why) => Err(CliError::Sentence(why)),
            None => Ok(table),
        }
    }
}

/// The table a command works on, or all of them.
#[derive(clap::Args)]
pub struct TablesArg {
    /// The table: a name, or a path if it contains a /. Without one: all tables
    #[arg(value_name = "TABLE")]
    name: Option<OsString>,
    /// Wait at most this long for a lock that another process holds; then fail
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, hide_short_help = true)]
    lock_timeout: Option<Duration>,
}

impl TablesArg {
    /// Returns all tables of the directory, and durable tables whose memory is there.
    pub fn all() -> Result<Vec<TableArg>, CliError> {
        let paths = tavola::names::list()?.into_iter();
        let names = paths.filter_map(|path| durable::name_of(&path));
        Ok(names.map(TableArg::named).collect())
    }

    /// Returns whether a table is named.
    pub fn is_one(&self) -> bool {
        self.name.is_some()
    }

    /// Calls `work` for the table, or for each of all. Of all, an error does not keep it from the
    /// others; the exit code is the worst of them.
    pub fn each(
        &self,
        mut work: impl FnMut(&TableArg) -> Result<ExitCode, CliError>,
    ) -> Result<ExitCode, CliError> {
        let with_timeout = |table: TableArg| TableArg {
            lock_timeout: self.lock_timeout,
            ..table
        };
        if let Some(name) = &self.name {
            return work(&with_timeout(TableArg::named(name.clone())));
        }
        let mut worst = ExitCode::SUCCESS;
        for table in TablesArg::all()? {
            match work(&with_timeout(table)) {
                // Dropped since it was listed.
                Err(CliError::Table(tavola::Error::NotFound { .. })) => {}
                Ok(ExitCode::SUCCESS) => {}
                Ok(code) if worst == ExitCode::SUCCESS => worst = code,
                Ok(_) => {}
                Err(error) if error.is_broken_pipe() => return Err(error),
                Err(error) => {
                    eprintln!("tavola: {error}");
                    worst = ExitCode::from(crate::ERROR);
                }
            }
        }
        Ok(worst)
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
    // Its memory is elsewhere; `create` and `doctor` look at the directory.
    if durable::home_of(name).is_some() {
        return;
    }
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
    /// Keys are written as they are.
    #[cfg(test)]
    pub fn plain() -> Notation {
        Notation {
            hex: false,
            base64: false,
        }
    }

    pub fn is_plain(&self) -> bool {
        !self.hex && !self.base64
    }

    /// Returns the bytes of a key that was given as an argument.
    pub fn read(&self, text: &OsStr) -> Result<Vec<u8>, CliError> {
        let (notation, bytes) = match (self.hex, self.base64) {
            (true, _) => ("hex", from_hex(text.as_bytes())),
            (_, true) => ("base64", STANDARD.decode(text.as_bytes()).ok()),
            _ => return Ok(text.as_bytes().to_vec()),
        };
        let text = output::printable(text.as_bytes()).into_owned();
        bytes.ok_or(CliError::BadKey { notation, text })
    }

    /// Returns the bytes of all keys that were given.
    pub fn read_all(&self, texts: &[OsString]) -> Result<Vec<Vec<u8>>, CliError> {
        texts.iter().map(|text| self.read(text)).collect()
    }

    /// Returns a key in the notation that was asked for, or `None` if it is written as it is.
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

/// Reads the time after which a key expires. A time of 0 is refused.
pub fn parse_ttl(text: &str) -> Result<Duration, String> {
    match units::parse_time(text)? {
        Duration::ZERO => Err(
            "a TTL of 0 would remove the key at once; leave out the option, or run 'tavola del'"
                .to_string(),
        ),
        time => Ok(time),
    }
}

/// Reads a date in UTC, such as 2030-01-31T18:00:00Z, or @ and the seconds since 1970.
fn parse_date(text: &str) -> Result<SystemTime, String> {
    let date = match text.strip_prefix('@') {
        Some(seconds) => seconds
            .parse()
            .ok()
            .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds))),
        None if text.len() == "2030-01-31".len() => {
            humantime::parse_rfc3339_weak(&format!("{text}T00:00:00")).ok()
        }
        None => humantime::parse_rfc3339_weak(text).ok(),
    };
    let date = date.ok_or_else(|| {
        format!("'{text}' is not a date; write 2030-01-31, 2030-01-31T18:00:00Z or @1900000000")
    })?;
    match date > SystemTime::now() {
        true => Ok(date),
        false => Err(format!(
            "{text} is in the past; to remove the key, run 'tavola del'"
        )),
    }
}

/// What a key gets beside its value.
#[derive(clap::Args)]
pub struct AttributeArgs {
    /// Expire the key after this time: 90, 1.5s, 250ms, 2h, 7d [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl)]
    ttl: Option<Duration>,
    /// Expire the key at this date, in UTC: 2030-01-31, 2030-01-31T18:00:00Z, @1900000000
    #[arg(long, value_name = "DATE", value_parser = parse_date, conflicts_with = "ttl")]
    expires: Option<SystemTime>,
    /// A number stored with the value, for your own use
    #[arg(long, value_name = "N", default_value_t = 0)]
    flags: u32,
}

impl AttributeArgs {
    pub fn has_flags(&self) -> bool {
        self.flags != 0
    }

    pub fn attributes(&self) -> Attributes {
        let expiry = match (self.ttl, self.expires) {
            (Some(ttl), _) => Expiry::After(ttl),
            (None, Some(date)) => Expiry::At(date),
            (None, None) => Expiry::Default,
        };
        Attributes {
            expiry,
            flags: self.flags,
        }
    }
}

/// Which tags a key gets.
#[derive(clap::Args)]
pub struct TagArgs {
    /// A tag, which 'tavola invalidate' uses to remove all its keys; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<OsString>,
}

impl TagArgs {
    /// Returns the tags as they are now. Makes those that are missing.
    pub fn of(&self, table: &Table) -> Result<Tags, CliError> {
        let names: Vec<&[u8]> = self.tags.iter().map(|tag| tag.as_encoded_bytes()).collect();
        Ok(table.fetch_tags(&names)?)
    }
}

/// What a key must have to be changed.
#[derive(clap::Args)]
pub struct Expected {
    /// Only if the key has this value
    #[arg(
        long,
        value_name = "VALUE",
        conflicts_with = "if_token",
        allow_hyphen_values = true
    )]
    if_value: Option<OsString>,
    /// Only if the key has this token, from 'tavola get --token'
    #[arg(long, value_name = "TOKEN", value_parser = parse_token)]
    if_token: Option<CasToken>,
}

impl Expected {
    pub fn is_given(&self) -> bool {
        self.if_value.is_some() || self.if_token.is_some()
    }

    /// Calls `change` with the token that the key must have, if the key has the expected value.
    /// Retries if the key is changed meanwhile.
    pub fn attempt(
        &self,
        table: &Table,
        key: &[u8],
        change: impl Fn(&Table, CasToken) -> tavola::Result<CasOutcome>,
    ) -> Result<CasOutcome, CliError> {
        if let Some(token) = self.if_token {
            return Ok(change(table, token)?);
        }
        let expected = self.if_value.as_deref().unwrap_or_default().as_bytes();
        loop {
            let Some((value, token)) = table.get_with_token(key)? else {
                return Ok(CasOutcome::NotFound);
            };
            if value != expected {
                return Ok(CasOutcome::Changed);
            }
            match change(table, token)? {
                CasOutcome::Changed => {}
                outcome => return Ok(outcome),
            }
        }
    }
}

/// Writes a token as [`parse_token`] reads it.
pub fn token_text(token: CasToken) -> String {
    format!("{:016x}", token.0)
}

fn parse_token(text: &str) -> Result<CasToken, String> {
    let number = u64::from_str_radix(text, 16)
        .ok()
        .filter(|_| text.len() == 16);
    number
        .map(CasToken)
        .ok_or_else(|| format!("'{text}' is not a token; 'tavola get --token' prints one"))
}

/// Where a value comes from.
#[derive(clap::Args)]
pub struct ValueArg {
    /// The value [default: standard input, also '-']
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: Option<OsString>,
    /// Read the value from a file
    #[arg(long, short, value_name = "FILE", conflicts_with = "value")]
    file: Option<PathBuf>,
}

impl ValueArg {
    /// Returns the bytes of the value, exactly as they were given.
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
    if session::reads_standard_input() {
        return Err(CliError::NoInput { wanted: "value" });
    }
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
        let raw = Notation::plain();
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
