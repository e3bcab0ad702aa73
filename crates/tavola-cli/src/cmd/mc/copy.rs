//! `tavola mc copy`: a live cache from one fleet to another.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use tavola_client::{Batch, Client, Outcome, StoreOptions};

use super::complain;
use super::entries::{Entries, Entry, Outcomes, exptime};
use super::fleet::{LinkArgs, Servers, parse_servers};
use super::scan::Keys;
use super::tally::Tally;
use crate::error::CliError;
use crate::progress::{self, Lasting};

const EXAMPLES: &str = "\
Examples:
  tavola mc copy 10.0.0.1,10.0.0.2 10.0.1.1,10.0.1.2,10.0.1.3
  tavola mc copy 10.0.0.1,10.0.0.2 10.0.0.1,10.0.0.2,10.0.0.3    a third server was added
  tavola mc copy 10.0.0.1 tavola:sessions                        into a table of this machine
  tavola mc copy 10.0.0.1 10.0.1.1 --overwrite

Copies all entries with flags and TTLs while both sides are in use; nothing is removed. A
key that exists in TO keeps its value: it is newer, or was copied before. So the command
can be run again after it was interrupted, and continues. With --overwrite, it gets the
value of FROM. Keys are read from every server of FROM, wherever they belong, and stored
where --placement puts them in TO. --namespace copies the keys that begin with it alone.

Prints how many entries were copied, were present in TO, were missing because they were
removed or expired meanwhile, were refused, and failed. The exit code is 1 if something
was refused, such as a value that is too large for TO, and 2 if a server did not answer.
The servers of FROM must know the meta commands and 'lru_crawler', as memcached from 1.6
on and 'tavola serve' do. Tags of a table, and keys that no server can have, are left
out. Options such as --user and --tls-ca are for both sides.";

/// How often a store is tried that has no answer.
const TRIES: usize = 3;
/// How long to wait before it is tried again.
const PAUSE: Duration = Duration::from_millis(300);

/// Copy all entries of some servers to others, while both are in use
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The servers to read, separated by commas
    #[arg(value_name = "FROM", value_parser = parse_servers)]
    from: Servers,
    /// The servers to store on
    #[arg(value_name = "TO", value_parser = parse_servers)]
    to: Servers,
    /// Replace the values of keys that exist
    #[arg(long)]
    overwrite: bool,
    /// Print the numbers as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    link: LinkArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let to = args.link.client(args.to.clone())?;
    let mut tally = Tally::default();
    for from in args.link.clients(args.from.clone())? {
        match Keys::of(&from) {
            Ok(keys) => copy_server(args, &from, &to, &keys, &mut tally),
            Err(why) => {
                complain(why);
                tally.failed += 1;
            }
        }
    }
    tally.print("copied", args.json)?;
    Ok(tally.code())
}

fn copy_server(args: &Args, from: &Client, to: &Client, keys: &Keys, tally: &mut Tally) {
    let bar = progress::over_keys(keys.len());
    let mut lasting = Lasting::new("copied");
    for batch in keys.batches() {
        let entries = Entries::get(from, &batch, true);
        let mut found = Vec::with_capacity(batch.len());
        for (key, entry) in batch.iter().zip(&entries.all) {
            match &entry.outcome {
                Some(Outcome::Hit { .. }) => found.push(Found { key, entry }),
                outcome => tally.note(from, key, outcome.as_ref()),
            }
        }
        store(args, to, found, tally);
        bar.inc(batch.len() as u64);
        lasting.tick(tally.done());
    }
    bar.finish_and_clear();
}

/// A key and what it has.
struct Found<'e> {
    key: &'e [u8],
    entry: &'e Entry,
}

/// Stores entries, again if there is no answer: that a store is carried out twice does no harm.
fn store(args: &Args, to: &Client, mut found: Vec<Found<'_>>, tally: &mut Tally) {
    for round in 1..=TRIES {
        let mut batch = Batch::new();
        for Found { key, entry } in &found {
            let left = entry
                .left_s
                .map(|left_s| Duration::from_secs(u64::from(left_s)));
            let options = StoreOptions {
                flags: entry.flags,
                exptime: exptime(left),
                ..StoreOptions::default()
            };
            match args.overwrite {
                true => batch.set(key, &entry.value, options),
                false => batch.add(key, &entry.value, options),
            };
        }
        let outcomes = Outcomes::of(to, &mut batch).0;
        let mut open = Vec::new();
        for (one, outcome) in found.into_iter().zip(outcomes) {
            let is_lost = matches!(outcome, Some(Outcome::Unsent(_) | Outcome::Unknown(_)));
            match is_lost && round < TRIES {
                true => open.push(one),
                false => tally.note(to, one.key, outcome.as_ref()),
            }
        }
        if open.is_empty() {
            return;
        }
        found = open;
        thread::sleep(PAUSE);
    }
}
