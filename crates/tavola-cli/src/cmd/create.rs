//! `tavola create`: a new table, with its limits.

use std::process::ExitCode;
use std::time::Duration;

use crate::args::{self, TableArg, warn_of};
use crate::error::CliError;
use crate::rights::RightsArgs;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola create sessions
  tavola create big --max-size 256G
  tavola create shared --group web       members of the group may read and write
  tavola create shared --group web --mode 640    they may read
  tavola create ./cache.tavola           a path, because it has a / in it
  tavola create sessions --ttl 30m       keys go half an hour after they were set
  tavola create pairs --fixed 8,8        keys and values of 8 bytes only: 8 bytes less a key
  tavola create pages --capacity 1G      a cache: evicts keys where it has no room

A new table takes next to no memory, whatever its --max-size is: that only
reserves addresses. 'tavola set' makes a missing table, too, with these defaults.";

/// Make a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// How large the table may become [default: 64G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    /// Makes it a cache, which takes so much memory and evicts keys where it has no room
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    capacity: Option<u64>,
    #[command(flatten)]
    rights: RightsArgs,
    /// Into how many parts with locks of their own it is divided, a power of two
    /// [default: by --max-size or --capacity]
    #[arg(long, value_name = "COUNT")]
    shards: Option<u32>,
    /// How long keys are there, unless they are given another time: 90, 30m, 7d
    /// [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    ttl: Option<Duration>,
    /// Each key has a version, another one each time that it is set: what servers and
    /// compare-and-swap go by. 8 bytes a key
    #[arg(long, conflicts_with = "fixed")]
    versions: bool,
    /// All keys have K bytes and all values V: items have no header then
    #[arg(long, value_name = "K,V", value_parser = parse_lengths)]
    fixed: Option<(u32, u32)>,
    /// With --fixed: items have room for a uid
    #[arg(long, requires = "fixed")]
    uids: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let mut options = args::options();
    if let Some(bytes) = args.max_size {
        options = options.max_size(bytes);
    }
    if let Some(bytes) = args.capacity {
        options = options.capacity(bytes);
    }
    options = args.rights.give(options);
    if let Some(count) = args.shards {
        options = options.shards(count);
    }
    if let Some(ttl) = args.ttl {
        options = options.ttl(ttl);
    }
    options = options.versions(args.versions);
    if let Some((key, value)) = args.fixed {
        options = options.fixed(key, value).uids(args.uids);
    }
    warn_of(args.table.name());
    options.create(args.table.name())?;
    Ok(ExitCode::SUCCESS)
}

fn parse_lengths(text: &str) -> Result<(u32, u32), String> {
    let lengths = text.split_once(',');
    let lengths = lengths.and_then(|(key, value)| Some((key.parse().ok()?, value.parse().ok()?)));
    lengths.ok_or_else(|| format!("'{text}' is not two numbers of bytes, as 8,8 is"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_two_numbers() {
        assert_eq!(parse_lengths("8,16"), Ok((8, 16)));
        for wrong in ["", "8", "8,", ",8", "8,8,8", "8;8", "8,-1"] {
            assert!(parse_lengths(wrong).is_err(), "{wrong}");
        }
    }
}
