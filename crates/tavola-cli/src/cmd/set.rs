//! `tavola set`: stores a value under a key.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::SystemTime;

use tavola::{Expiry, StoreOptions, Table};

use crate::args::{AttributeArgs, Notation, TableArg, TagArgs, ValueArg};
use crate::error::CliError;
use crate::rights::RightsArgs;

const EXAMPLES: &str = "\
Examples:
  tavola set sessions alice '{\"cart\":3}'     creates the table if it is missing
  date +%s | tavola set jobs last-run
  tavola set pages /index.html --file index.html
  tavola set sessions bob '{}' --ttl 30m    expires after 30 minutes
  tavola set offers spring '{}' --expires 2030-04-01
  tavola set sessions bob '{}' --keep-ttl   keeps its expiry time
  tavola set pages / --file index.html --tag home --tag 'user 7'
  tavola set blobs --hex 00ff17 'a value under a binary key'
  tavola set temperatures oslo -- -5C

Input from a pipe or a file is stored exactly, including the last newline. With both
--keep-ttl and --keep-tags the key also keeps its flags, and the update is atomic. With
only one of them, the kept attribute is read first: if another process changes it before
the value is stored, that change is lost.";

/// Store a value under a key, whether or not the key exists
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// Keep the expiry time of the key
    #[arg(long, conflicts_with_all = ["ttl", "expires"])]
    keep_ttl: bool,
    #[command(flatten)]
    tags: TagArgs,
    /// Keep the tags of the key
    #[arg(long, conflicts_with = "tags")]
    keep_tags: bool,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    rights: RightsArgs,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if args.keep_ttl && args.keep_tags && args.attributes.has_flags() {
        let why = "with --keep-ttl and --keep-tags the key keeps its flags; leave out --flags";
        return Err(CliError::Sentence(why.to_string()));
    }
    let key = args.notation.read(&args.key)?;
    let value = args.value.read()?;
    let table = args.table.keys_or_create_with(args.rights)?;
    if args.keep_ttl && args.keep_tags {
        let how = StoreOptions {
            attributes: None,
            ..StoreOptions::default()
        };
        table.store(&key, &value, &how)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut attributes = args.attributes.attributes();
    if args.keep_ttl {
        attributes.expiry = expiry_of(&table, &key)?;
    }
    let tags = match args.keep_tags {
        true => table.fetch_tags(&table.tags_of(&key)?.unwrap_or_default())?,
        false => args.tags.of(&table)?,
    };
    table.set_tagged(&key, &value, attributes, &tags)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns when a key expires. A missing key gets the table's time to live.
fn expiry_of(table: &Table, key: &[u8]) -> Result<Expiry, CliError> {
    let expiry = table.ttl(key)?.unwrap_or(Expiry::Default);
    Ok(match expiry {
        // A date, not a time from a later moment on.
        Expiry::After(left) => SystemTime::now()
            .checked_add(left)
            .map_or(Expiry::Never, Expiry::At),
        other => other,
    })
}
