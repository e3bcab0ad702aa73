//! The program `tavola-bench`: measures Tavola on this machine.
//!
//! One *leader* process makes a table that nobody else can see, starts *workers* (the same program
//! again, with a hidden subcommand), and lets them all start at one instant of the monotonic clock.
//! Every answer the table gives is checked; a wrong one ends the run with an error. Each line of a
//! result is a JSON object, of which people see some fields as a table.
//!
//! - [`kv`]: the phases `put`, `over`, `mix`, `get`, `miss` over N keys by P processes.
//! - [`scale`]: how rates of [`kv`] hold up when more processes sit at the table.
//! - [`durable`]: durable tables.
//! - [`small`]: `open`, `iter`, `uid`, `tags`, `txn`, `copy`, in one process.
//! - [`locks`]: named locks and semaphores, alone and contended.
//! - [`queue`]: elements that two processes hand each other, over a pool of queues and its peers.
//! - [`log`]: lines that processes log, until they are in a file, and its peers.
//! - [`shf`]: a line a second, as SharedHashFile's users know it.
//! - [`cdb`]: constant files, beside TinyCDB.
//! - [`clients`]: this client of memcached servers, and libmemcached, at memcached.
//! - [`serve`]: clients of memcached, at this server and at memcached itself.
//! - [`trace`]: how often a table with a capacity finds what is asked for, beside simulations.
//! - [`compare`]: the table beside other stores, and how each of them is used.
//!
//! Below them: [`clock`] (one time for all processes), [`command`] (where the command `tavola` is),
//! [`bytes`] (keys and values made from an index, and checked), [`order`] (a random visiting order
//! that costs no memory), [`latency`] (histograms, and what the scheduler had to do with the
//! slowest), [`scratch`] (the table), [`crew`] and [`duty`] (workers, as their leader sees them and
//! as they see it), [`peer`] (programs in C), [`stats`] (medians), [`table`] (how lines are
//! printed).
//!
//! Exit codes: 0 done, 2 error, also when a table gave a wrong answer.
#![forbid(unsafe_code)]

mod bytes;
mod cdb;
mod clients;
mod clock;
mod command;
mod compare;
mod crew;
mod durable;
mod duty;
mod error;
mod kv;
mod latency;
mod locks;
mod log;
mod order;
mod peer;
mod queue;
mod scale;
mod scratch;
mod serve;
mod shf;
mod small;
mod stats;
mod table;
mod trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tavola_program::stack::on_large_stack;
use tavola_program::{ERROR, usage};

use self::error::{Error, Result};
use self::scratch::Place;
use self::table::{Emit, Printer};

/// The name of the program, before its messages.
const NAME: &str = "tavola-bench";

const EXAMPLES: &str = "\
Examples:
  tavola-bench kv                                   1 million keys, one process
  tavola-bench kv --keys 10M --procs 2 --batch 32   get_many and set_many, 32 keys a call
  tavola-bench kv --procs 8 --json | jq .mops       one JSON object a phase
  tavola-bench open                                 open, get one key, close
  tavola-bench iter                                 walk over all records
  tavola-bench uid                                  the same keys by key and by uid
  tavola-bench tags                                 keys with tags, and without
  tavola-bench txn                                  transactions beside single sets
  tavola-bench durable                              tables that survive, beside memory and disk
  tavola-bench locks                                named locks, alone and contended
  tavola-bench queue                                two processes hand each other elements
  tavola-bench log                                  processes log lines
  tavola-bench scale                                how rates hold up with more processes
  tavola-bench shf --stores tavola,lmdb             a line a second, as SharedHashFile prints
  tavola-bench cdb --keys 1M,10M                    constant files, beside TinyCDB
  tavola-bench clients                              tavola-client beside libmemcached
  tavola-bench serve --against memcached            clients of memcached, at both servers
  tavola-bench trace web.u32 --items 5%             hit ratios of a table with a capacity
  tavola-bench compare --quick                      beside the other stores there are

Each runs on a table of its own that nobody else can see and that is gone at the end, also
after Ctrl-C. Every answer is checked; a wrong one ends the run with exit code 2.";

/// Measure Tavola on this machine
#[derive(Parser)]
#[command(
    name = NAME,
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Kv(Box<kv::Config>),
    /// Open an existing table, get one key, close
    #[command(after_help = "Examples:\n  tavola-bench open --repeat 100K")]
    Open(small::Config),
    /// Walk over all records of a table
    #[command(after_help = "Examples:\n  tavola-bench iter --keys 10M")]
    Iter(small::Config),
    /// Get and overwrite the same keys by key and by uid
    #[command(after_help = "Examples:\n  tavola-bench uid --keys 10M")]
    Uid(small::Config),
    /// Set and get keys with tags, invalidate a tag of all
    #[command(after_help = "Examples:\n  tavola-bench tags --keys 10M")]
    Tags(small::Config),
    /// Change keys by transactions, and by single sets
    #[command(after_help = "Examples:\n  tavola-bench txn --keys 10M")]
    Txn(small::Config),
    /// Read values of 8 KB, 64 KB and 1 MB, beside a plain copy out of a mapping
    #[command(after_help = "Examples:\n  tavola-bench copy --json")]
    Copy(small::Config),
    Durable(durable::Config),
    Locks(locks::Config),
    Queue(queue::Config),
    Log(log::Config),
    Scale(scale::Config),
    Shf(Box<shf::Config>),
    Cdb(cdb::Config),
    Clients(clients::Config),
    Serve(Box<serve::Config>),
    Trace(trace::Config),
    Compare(Box<compare::Config>),
    #[command(hide = true)]
    Worker,
    #[command(hide = true)]
    ShfWorker,
    #[command(hide = true)]
    ShfPair,
    #[command(hide = true)]
    Player,
    #[command(hide = true)]
    Logger,
    #[command(hide = true)]
    Client,
    #[command(hide = true)]
    CompareWorker {
        job: String,
    },
    #[command(hide = true)]
    CompareTorment {
        job: String,
    },
}

fn main() -> ExitCode {
    tavola::on_long_wait(|holder| {
        eprintln!("{NAME}: waiting for {holder} ({} is locked)", holder.lock);
    });
    let args = match on_large_stack(Args::try_parse) {
        Ok(args) => args,
        Err(wrong) => return usage::show(NAME, &wrong),
    };
    match run(args.what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::from(ERROR)
        }
    }
}

fn run(what: What) -> Result<()> {
    let lines = Printer::new;
    match what {
        What::Kv(args) => lines(args.json, kv::COLUMNS).each(|emit| kv::run(&args, emit)),
        What::Open(args) => lines(args.json, &[]).each(|emit| small::open(&args, emit)),
        What::Iter(args) => lines(args.json, &[]).each(|emit| small::iter(&args, emit)),
        What::Uid(args) => lines(args.json, &[]).each(|emit| small::uid(&args, emit)),
        What::Tags(args) => {
            lines(args.json, small::TAGS_COLUMNS).each(|emit| small::tags(&args, emit))
        }
        What::Txn(args) => {
            lines(args.json, small::TXN_COLUMNS).each(|emit| small::txn(&args, emit))
        }
        What::Copy(args) => {
            lines(args.json, small::COPY_COLUMNS).each(|emit| small::copy(&args, emit))
        }
        What::Durable(args) => {
            lines(args.json, durable::COLUMNS).each(|emit| durable::run(&args, emit))
        }
        What::Locks(args) => lines(args.json, locks::COLUMNS).each(|emit| locks::run(&args, emit)),
        What::Queue(args) => lines(args.json, queue::COLUMNS).each(|emit| queue::run(&args, emit)),
        What::Log(args) => lines(args.json, log::COLUMNS).each(|emit| log::run(&args, emit)),
        What::Scale(args) => lines(args.json, scale::COLUMNS).each(|emit| scale::run(&args, emit)),
        What::Shf(args) => lines(args.json, &[]).each(|emit| shf::run(&args, emit)),
        What::Cdb(args) => lines(args.json, cdb::COLUMNS).each(|emit| cdb::run(&args, emit)),
        What::Clients(args) => {
            lines(args.json, clients::COLUMNS).each(|emit| clients::run(&args, emit))
        }
        What::Serve(args) => lines(args.json, serve::COLUMNS).each(|emit| serve::run(&args, emit)),
        What::Trace(args) => lines(args.json, trace::COLUMNS).each(|emit| trace::run(&args, emit)),
        What::Compare(args) => compare::run(*args),
        What::Worker => kv::work(),
        What::ShfWorker => shf::work(),
        What::ShfPair => shf::work_in_pairs(),
        What::Player => queue::work(),
        What::Logger => log::work(),
        What::Client => serve::work(),
        What::CompareWorker { job } => compare::inproc::work(&job),
        What::CompareTorment { job } => compare::torment::work(&job),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_description_of_the_arguments_is_sound_and_has_examples() {
        let command = Args::command();
        command.clone().debug_assert();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        for one in shown {
            let help = one.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let wanted = format!("  tavola-bench {}", one.get_name());
            assert!(help.contains("Examples:"), "{}", one.get_name());
            assert!(help.contains(&wanted), "{}", one.get_name());
            assert!(one.get_about().is_some(), "{}", one.get_name());
        }
    }
}
