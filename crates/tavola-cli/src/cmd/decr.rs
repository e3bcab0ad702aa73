//! `tavola decr`: counts down; what it counts and prints is `incr`'s.

use std::process::ExitCode;

use super::incr::{Counter, Direction};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola decr counters seats
  tavola decr counters quota 512
  tavola decr counters seats --initial 100
  tavola decr counters seats --existing     exit code 1 if it is missing
  tavola decr quotas alice --initial 100 --ttl 1h

A counter never falls below 0. A missing counter becomes 0.";

/// Decrement a counter, never below 0, and print the new value
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    counter: Counter,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.counter.count(Direction::Down)
}
