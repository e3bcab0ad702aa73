//! `tavola create`: a new table, with its limits.

use std::process::ExitCode;
use std::time::Duration;

use tavola::{Durability, LivesWith};

use crate::args::{self, TableArg, warn_of};
use crate::durable;
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
  tavola create sessions --ttl 30m       keys expire 30 minutes after they are set
  tavola create pairs --fixed 8,8        all keys and values have 8 bytes: 8 bytes less a key
  tavola create pages --capacity 1G      a cache: evicts keys when it is full
  tavola create scratch --lives-with $$  gone when this shell has ended
  tavola create --durable /var/lib/app/users                a directory on disk
  tavola create --durable ./users --sync 50ms    on disk within 50 ms of each write

A new table takes almost no memory, whatever its --max-size is: that only
reserves addresses. 'tavola set' makes a missing table, too, with these defaults.

A durable table survives a restart of the machine. It is used in memory as others are; its
changes are recorded in a directory, whose path is its name. --sync says what a write that
has returned means for a power failure. With commit, the change is on disk. With a time,
it is on disk that much later, as long as a process has the table open. With os, it is on
disk when the system has written it. A process that is killed loses nothing in any case.";

/// Make a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The most bytes the table may have [default: 64G]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    max_size: Option<u64>,
    /// Make it a cache, which takes at most this much memory and evicts keys when it is full
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    capacity: Option<u64>,
    /// Make it durable: TABLE is a directory, in which its files are
    #[arg(long, conflicts_with_all = ["capacity", "group"])]
    durable: bool,
    /// When a change of a durable table is on disk: commit (before the write returns), a time
    /// such as 50ms, or os [default: commit]
    #[arg(long, value_name = "WHEN", requires = "durable", value_parser = durable::parse_policy)]
    sync: Option<Durability>,
    #[command(flatten)]
    rights: RightsArgs,
    /// The number of parts, each with a lock; a power of two
    /// [default: by --max-size or --capacity]
    #[arg(long, value_name = "COUNT")]
    shards: Option<u32>,
    /// Expire keys after this time, unless they are given another one: 90, 30m, 7d
    /// [default: never]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    ttl: Option<Duration>,
    /// Give each key a version, which changes each time the key is set; servers and
    /// compare-and-swap use it. 8 bytes a key
    #[arg(long, conflicts_with = "fixed")]
    versions: bool,
    /// All keys have K bytes and all values V; items have no header then
    #[arg(long, value_name = "K,V", value_parser = parse_lengths)]
    fixed: Option<(u32, u32)>,
    /// With --fixed: items have room for a uid
    #[arg(long, requires = "fixed")]
    uids: bool,
    /// The table goes with this process: after its end, the next command that opens or lists
    /// tables removes it
    #[arg(long, value_name = "PID", conflicts_with = "durable")]
    lives_with: Option<u32>,
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
    if let Some(pid) = args.lives_with {
        options = options.lives_with(LivesWith::Process(pid));
    }
    if args.durable {
        durable::check_home(args.table.name())?;
        options = options.durable(args.sync.unwrap_or_default());
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
