//! `tavola incr`: counts up. `decr` shares the arguments and all but the direction.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Map;
use tavola::{Attributes, Table};

use crate::args::{Notation, TableArg, parse_ttl};
use crate::error::CliError;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tavola incr counters visits               prints the new value
  tavola incr counters bytes 4096
  tavola incr counters seats -3             counts down, never below 0
  tavola incr counters tickets --initial 1000
  tavola incr counters visits --existing    exit code 1 if it is missing
  tavola incr limits alice --ttl 1m         restarts one minute after its first increment

A missing counter starts at 0. A counter wraps from 2^64 - 1 to 0.";

/// Increment a counter, and print the new value
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
    /// The amount; a negative number counts in the other direction
    #[arg(
        value_name = "BY",
        default_value = "1",
        allow_negative_numbers = true,
        value_parser = parse_step
    )]
    by: Step,
    /// The initial value of a missing counter
    #[arg(long, value_name = "N", conflicts_with = "existing")]
    initial: Option<u64>,
    /// Do not create a missing counter; exit with code 1
    #[arg(long)]
    existing: bool,
    /// The TTL of a new counter: 90, 1.5s, 250ms, 2h, 7d [default: the table's]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl, conflicts_with = "existing")]
    ttl: Option<Duration>,
    #[command(flatten)]
    notation: Notation,
    /// Print the key and its new value as JSON
    #[arg(long)]
    json: bool,
}

/// The two directions of counting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// By how much a counter is changed.
#[derive(Clone, Copy)]
struct Step {
    by: u64,
    is_negative: bool,
}

fn parse_step(text: &str) -> Result<Step, String> {
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    match digits.parse() {
        Ok(by) => Ok(Step { by, is_negative }),
        Err(_) => Err(format!("'{text}' is not a whole number below 2^64")),
    }
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.counter.count(Direction::Up)
}

impl Counter {
    /// Counts and prints the new value.
    pub fn count(self, direction: Direction) -> Result<ExitCode, CliError> {
        let key = self.notation.read(&self.key)?;
        let table = match self.existing {
            true => self.table.keys_existing()?,
            false => self.table.keys_or_create()?,
        };
        let Some(value) = self.step(&table, &key, direction)? else {
            if io::stderr().is_terminal() {
                eprintln!("tavola: the counter is missing, nothing was changed");
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
        let Step { by, is_negative } = self.by;
        let is_up = (direction == Direction::Up) != is_negative;
        // The initial value of a missing counter if the arguments do not say.
        let first = if is_up { by } else { 0 };
        let initial = match self.existing {
            true => None,
            false => self.initial.or(Some(first)),
        };
        let attributes = self.ttl.map_or(Attributes::default(), Attributes::ttl);
        match is_up {
            true => table.incr_with(key, by, initial, attributes),
            false => table.decr_with(key, by, initial, attributes),
        }
    }
}
