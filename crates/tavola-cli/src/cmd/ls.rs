//! `tavola ls`: the tables of the directory, or the keys of one table.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::{Map, Value};
use tavola::{Attributes, Expiry, Iter, Table, Tags};
use tavola_cdb::Constant;

use crate::args::{Notation, TableArg};
use crate::constant;
use crate::error::CliError;
use crate::output::{self, Output};
use crate::pattern::Pattern;
use crate::units;

pub mod tables;

const EXAMPLES: &str = "\
Examples:
  tavola ls                          all tables
  tavola ls sessions                 all keys of a table, unordered
  tavola ls sessions user:           keys that begin with user:
  tavola ls sessions 'user:*:cart'   keys that match
  tavola ls sessions --long          with value size, TTL in seconds, flags, tags
  tavola ls sessions tmp: -0 | xargs -0 tavola del sessions
  tavola ls blobs --hex              binary keys, one per line
  tavola ls sessions --json | jq .   one JSON object per line
  tavola ls ./words.cdb              keys of a constant file

In a pattern, * matches any bytes, ? one character, [a-z] one character of the range and
{a,b} either alternative; \\ escapes them. A pattern without *, ? and [ is a prefix.

If the output is not a terminal, each table is a line of tab-separated fields: name, live
keys, bytes of keys and values, memory, expired or invalidated keys that are not reclaimed
yet, kind (table, cache, queue, log), owner, mode, group. If a table cannot be read, its
line has the name, four fields '-' and the reason, and the exit code is 2. With --long,
each key is a line of tab-separated fields: size, TTL in seconds (- if it does not
expire), flags, key, tags. Newline, return, tab and backslash in names and keys are
escaped as \\n, \\r, \\t and \\\\, as in 'tavola dump --format tsv'; keys are not escaped
with -0, --hex, --base64 and --json.";

/// List the tables, or the keys of a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it contains a /
    #[arg(value_name = "TABLE")]
    table: Option<OsString>,
    /// Only keys with this prefix, or keys that match if it contains *, ? or [
    #[arg(value_name = "PATTERN", allow_negative_numbers = true)]
    pattern: Option<OsString>,
    /// Also print the value size, TTL in seconds, flags and tags
    #[arg(long, short, requires = "table")]
    long: bool,
    /// Stop after this many keys
    #[arg(long, value_name = "N", requires = "table")]
    limit: Option<u64>,
    /// End each key with a zero byte, not with a newline
    #[arg(long, short = '0', requires = "table", conflicts_with_all = ["json", "long"])]
    null: bool,
    /// Print only the number of keys
    #[arg(long, requires = "table", conflicts_with_all = ["json", "long", "null"])]
    count: bool,
    #[command(flatten)]
    notation: Notation,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

pub fn run(mut args: Args) -> Result<ExitCode, CliError> {
    match args.table.take() {
        Some(name) => list_keys(&TableArg::named(name), &args),
        None => tables::list(args.json),
    }
}

fn list_keys(table: &TableArg, args: &Args) -> Result<ExitCode, CliError> {
    let pattern = match &args.pattern {
        Some(text) => Pattern::read(text, &args.notation)?,
        None => Pattern::Prefix(Vec::new()),
    };
    let mut out = Output::new();
    let mut listed = 0;
    if let Some(file) = constant::open(table.name())? {
        return list_constant(&file, args, &pattern, out);
    }
    let table = table.keys_to_read()?;
    let mut entries = table.iter();
    let damage = loop {
        if args.limit.is_some_and(|most| listed >= most) {
            break None;
        }
        match next_line(&mut entries, args, &pattern, &table) {
            Ok(Some(line)) => {
                listed += u64::from(line.is_listed);
                line.write(&mut out, args)?;
            }
            Ok(None) => break None,
            // It comes once, after all keys that can be read: these are printed.
            Err(error) => break Some(error),
        }
    };
    if args.count {
        out.line(listed.to_string())?;
    }
    out.finish()?;
    damage.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Lists the keys of a constant file.
fn list_constant(
    file: &Constant,
    args: &Args,
    pattern: &Pattern,
    mut out: Output,
) -> Result<ExitCode, CliError> {
    let mut listed = 0;
    let listing = constant::each(file, |key, value| {
        if args.limit.is_some_and(|most| listed >= most) {
            return Ok(false);
        }
        let line = Line {
            is_listed: pattern.matches(key),
            key,
            size: value.len(),
            attributes: Attributes::default(),
            tags: Vec::new(),
        };
        listed += u64::from(line.is_listed);
        line.write(&mut out, args)?;
        Ok(true)
    });
    if args.count {
        out.line(listed.to_string())?;
    }
    // What was read before damage is printed.
    out.finish()?;
    listing.map(|()| ExitCode::SUCCESS)
}

/// A key that was read, and what `--long` shows of it.
struct Line<'a> {
    is_listed: bool,
    key: &'a [u8],
    size: usize,
    attributes: Attributes,
    tags: Vec<Vec<u8>>,
}

fn next_line<'a>(
    entries: &'a mut Iter<'_>,
    args: &Args,
    pattern: &Pattern,
    table: &Table,
) -> Result<Option<Line<'a>>, CliError> {
    let Some(((key, value, attributes), tags)) = next_entry(entries, args)? else {
        return Ok(None);
    };
    let is_listed = pattern.matches(key);
    Ok(Some(Line {
        is_listed,
        key,
        size: value.len(),
        attributes,
        tags: match is_listed {
            true => table.tag_names(&tags)?,
            false => Vec::new(),
        },
    }))
}

type Entry<'a> = ((&'a [u8], &'a [u8], Attributes), Tags);

/// Reads a key without what is not shown.
fn next_entry<'a>(entries: &'a mut Iter<'_>, args: &Args) -> Result<Option<Entry<'a>>, CliError> {
    if args.long {
        return Ok(entries.next_with_tags()?);
    }
    let plain = |(key, value)| ((key, value, Attributes::default()), Tags::default());
    Ok(entries.next_entry()?.map(plain))
}

impl Line<'_> {
    fn write(&self, out: &mut Output, args: &Args) -> Result<(), CliError> {
        match args.notation.write(self.key) {
            _ if !self.is_listed || args.count => Ok(()),
            _ if args.json => out.json(self.as_json(args)),
            _ if args.long => self.write_long(out, args),
            Some(text) if args.null => out.ended(text.as_bytes(), 0),
            None if args.null => out.ended(self.key, 0),
            Some(text) => out.line(text),
            None => out.key_line(self.key),
        }
    }

    fn write_long(&self, out: &mut Output, args: &Args) -> Result<(), CliError> {
        let left = self.seconds_left().map(|left| format!("{left:.2}"));
        let left = left.unwrap_or_else(|| "-".to_string());
        let flags = self.attributes.flags;
        let mut line = match out.on_terminal() {
            true => format!(
                "{:>10}  {left:>14}  {flags:>10}  ",
                units::size(self.size as u64)
            ),
            false => format!("{}\t{left}\t{flags}\t", self.size),
        }
        .into_bytes();
        let on_terminal = out.on_terminal();
        let text = |bytes: &[u8]| match on_terminal {
            true => output::printable(bytes).into_owned().into_bytes(),
            false => output::escaped(bytes).into_owned(),
        };
        match args.notation.write(self.key) {
            Some(key) => line.extend(key.as_bytes()),
            None => line.extend(text(self.key)),
        }
        for tag in &self.tags {
            line.extend(if on_terminal { &b"  #"[..] } else { b"\t" });
            line.extend(text(tag));
        }
        out.line(line)
    }

    fn seconds_left(&self) -> Option<f64> {
        match self.attributes.expiry {
            Expiry::After(left) => Some(left.as_secs_f64()),
            _ => None,
        }
    }

    fn as_json(&self, args: &Args) -> Map<String, Value> {
        let mut document = Map::new();
        output::put_bytes(&mut document, "key", self.key);
        if !args.long {
            return document;
        }
        let mut put = |name: &str, value: Value| document.insert(name.to_string(), value);
        put("value_bytes", self.size.into());
        let left_ms = self.seconds_left().map(|left| (left * 1000.0) as u64);
        put("ttl_ms", left_ms.into());
        put("flags", self.attributes.flags.into());
        let tags = self.tags.iter();
        let tags: Vec<Value> = tags
            .map(|tag| String::from_utf8_lossy(tag).into())
            .collect();
        put("tags", tags.into());
        document
    }
}
