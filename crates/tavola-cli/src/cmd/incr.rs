//! `tavola incr`: counts up. `decr` shares the arguments and all but the direction.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Map;
use tavola::{Attributes, Table};

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola incr counters visits               prints the new value
  tavola incr counters bytes 4096
  tavola incr counters tickets --initial 1000
  tavola incr counters visits --existing    exit code 1 when it is not there
  tavola incr limits alice --ttl 1m         counts anew a minute after its first count

A counter that is not there starts at 0. It counts to 2^64 - 1 and then wraps to 0.";

/// Count up, and print the new value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    counter: Counter,
}

/// Which counter, and by how much.
#[derive(clap::Args)]
pub struct Counter {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    /// By how much
    #[arg(value_name = "BY", default_value_t = 1)]
    by: u64,
    /// What a counter that is not there becomes
    #[arg(long, value_name = "N", conflicts_with = "existing")]
    initial: Option<u64>,
    /// Leave a counter that is not there alone; exit code 1
    #[arg(long)]
    existing: bool,
    /// How long a counter that is not there yet will be, from now on: 90, 1.5s, 250ms, 2h, 7d
    /// [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, conflicts_with = "existing")]
    ttl: Option<Duration>,
    #[command(flatten)]
    notation: Notation,
    /// The key and its new value as JSON
    #[arg(long)]
    json: bool,
}

/// The two directions of counting.
pub enum Direction {
    Up,
    Down,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.counter.count(Direction::Up)
}

impl Counter {
    /// Counts and prints where the counter stands now.
    pub fn count(self, direction: Direction) -> Result<ExitCode, CliError> {
        let key = self.notation.read(&self.key)?;
        let table = match self.existing {
            true => self.table.open_existing()?,
            false => self.table.open_or_create()?,
        };
        let Some(value) = self.step(&table, &key, direction)? else {
            if io::stderr().is_terminal() {
                eprintln!("tavola: there is no such counter, nothing was changed");
            }
            return Ok(ExitCode::from(crate::MISSING));
        };
        let mut out = Output::new();
        if self.json {
            let mut document = Map::new();
            output::put_bytes(&mut document, "key", &key);
            document.insert("value".to_string(), value.into());
            out.json(document)?;
        } else {
            out.line(value.to_string())?;
        }
        out.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    fn step(
        &self,
        table: &Table,
        key: &[u8],
        direction: Direction,
    ) -> Result<Option<u64>, tavola::Error> {
        // What a missing counter becomes, where that is not said.
        let (up, down) = match self.existing {
            true => (None, None),
            false => (self.initial.or(Some(self.by)), self.initial.or(Some(0))),
        };
        let attributes = self.ttl.map_or(Attributes::default(), Attributes::ttl);
        match direction {
            Direction::Up => table.incr_with(key, self.by, up, attributes),
            Direction::Down => table.decr_with(key, self.by, down, attributes),
        }
    }
}
