//! `tavola mc`: a client of memcached servers, for a shell.

use std::process::ExitCode;

use crate::error::CliError;

mod copy;
mod count;
mod del;
mod dump;
mod entries;
mod exists;
mod fleet;
mod flush;
mod get;
mod load;
mod ping;
mod scan;
mod slap;
mod stat;
mod store;
mod tally;
mod touch;

const EXAMPLES: &str = "\
Examples:
  tavola mc get user:1 --servers 10.0.0.1,10.0.0.2
  tavola mc set user:1 '{}' --ttl 30m --servers unix:/run/memcached.sock
  export MEMCACHED_SERVERS=10.0.0.1,10.0.0.2     then --servers can be left out
  tavola mc set user:1 '{}' --replicas 1         and a copy on the next server
  tavola mc stat
  tavola mc dump --values > cache.jsonl
  tavola mc load cache.jsonl --servers 10.0.1.1,10.0.1.2,10.0.1.3
  tavola mc copy 10.0.0.1,10.0.0.2 10.0.1.1,10.0.1.2,10.0.1.3
  tavola mc slap --seconds 10 --threads 4

The servers are those of memcached, of 'tavola serve' and of what speaks memcached's
protocol. All programs that use a fleet must place keys on servers in the same way: list
the servers in the same order, with the same weights and names, and set --placement.";

/// Use memcached servers: get, set, dump, copy a fleet, measure
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    #[command(visible_alias = "cat")]
    Get(get::Args),
    /// Store a value, whether or not the key exists
    #[command(visible_alias = "cp")]
    Set(store::StoreArgs),
    /// Store a value if the key is missing
    Add(store::StoreArgs),
    /// Store a value if the key exists
    Replace(store::StoreArgs),
    /// Put bytes behind the value of a key
    Append(store::JoinArgs),
    /// Put bytes before the value of a key
    Prepend(store::JoinArgs),
    #[command(visible_alias = "rm")]
    Del(del::Args),
    Exists(exists::Args),
    Touch(touch::Args),
    /// Count up, and print the new value
    Incr(count::Args),
    /// Count down to 0 at least, and print the new value
    Decr(count::Args),
    Stat(stat::Args),
    Dump(dump::Args),
    Load(load::Args),
    Copy(copy::Args),
    Flush(flush::Args),
    Ping(ping::PingArgs),
    Version(ping::VersionArgs),
    Slap(slap::Args),
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.what {
        What::Get(args) => get::run(&args),
        What::Set(args) => store::run(args, store::Verb::Set),
        What::Add(args) => store::run(args, store::Verb::Add),
        What::Replace(args) => store::run(args, store::Verb::Replace),
        What::Append(args) => store::join(args, store::End::Back),
        What::Prepend(args) => store::join(args, store::End::Front),
        What::Del(args) => del::run(&args),
        What::Exists(args) => exists::run(&args),
        What::Touch(args) => touch::run(&args),
        What::Incr(args) => count::run(&args, false),
        What::Decr(args) => count::run(&args, true),
        What::Stat(args) => stat::run(&args),
        What::Dump(args) => dump::run(&args),
        What::Load(args) => load::run(&args),
        What::Copy(args) => copy::run(&args),
        What::Flush(args) => flush::run(&args),
        What::Ping(args) => ping::ping(&args),
        What::Version(args) => ping::version(&args),
        What::Slap(args) => slap::run(&args),
    }
}

/// Prints why something failed, for commands that continue with what is left.
fn complain(why: impl std::fmt::Display) {
    eprintln!("{}: {why}", crate::NAME);
}

/// Returns the exit code: an error weighs more than something that is missing.
fn ended(missing: usize, failed: usize) -> ExitCode {
    match (missing, failed) {
        (0, 0) => ExitCode::SUCCESS,
        (_, 0) => ExitCode::from(crate::MISSING),
        _ => ExitCode::from(crate::ERROR),
    }
}

/// An error of the client as one of the command.
fn failure(error: impl std::fmt::Display) -> CliError {
    CliError::Sentence(error.to_string())
}
