//! The program `tavola-bench`: measures Tavola on this machine.
//!
//! The library `tavola_bench` has the arguments of each measurement and measures; here they become
//! one program, which prints the results. The program starts itself again, with a hidden
//! subcommand, for the worker processes of a measurement.
//!
//! Exit codes: 0 done, 2 error, also when a table gave a wrong answer.
#![forbid(unsafe_code)]

mod cmd;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tavola_bench::{Result, copy, iter, kv, log, open, queue, scale, serve, tags, trace, uid};
use tavola_program::stack::on_large_stack;
use tavola_program::{ERROR, usage};

use self::cmd::compare;
use self::cmd::table::Printer;

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
  tavola-bench queue                                two processes hand each other elements
  tavola-bench log                                  processes log lines
  tavola-bench scale                                how rates hold up with more processes
  tavola-bench serve --against memcached            clients of memcached, at both servers
  tavola-bench trace web.u32.xz --items 5%          hit ratios of a table with a capacity
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
    Open(open::Config),
    Iter(iter::Config),
    Uid(uid::Config),
    Tags(tags::Config),
    Copy(copy::Config),
    Queue(queue::Config),
    Log(log::Config),
    Scale(scale::Config),
    Serve(Box<serve::Config>),
    Trace(trace::Config),
    Compare(Box<compare::Args>),
    #[command(hide = true)]
    Worker,
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
        What::Open(args) => lines(args.json, &[]).all(&[open::run(&args)?]),
        What::Iter(args) => lines(args.json, &[]).all(&[iter::run(&args)?]),
        What::Uid(args) => lines(args.json, &[]).all(&[uid::run(&args)?]),
        What::Tags(args) => lines(args.json, tags::COLUMNS).all(&tags::run(&args)?),
        What::Copy(args) => lines(args.json, copy::COLUMNS).all(&copy::run(&args)?),
        What::Queue(args) => lines(args.json, queue::COLUMNS).each(|emit| queue::run(&args, emit)),
        What::Log(args) => lines(args.json, log::COLUMNS).each(|emit| log::run(&args, emit)),
        What::Scale(args) => lines(args.json, scale::COLUMNS).each(|emit| scale::run(&args, emit)),
        What::Serve(args) => lines(args.json, serve::COLUMNS).each(|emit| serve::run(&args, emit)),
        What::Trace(args) => lines(args.json, trace::COLUMNS).each(|emit| trace::run(&args, emit)),
        What::Compare(args) => compare::run(*args),
        What::Worker => kv::work(),
        What::Player => queue::work(),
        What::Logger => log::work(),
        What::Client => serve::work(),
        What::CompareWorker { job } => tavola_bench::compare::inproc::work(&job),
        What::CompareTorment { job } => tavola_bench::compare::torment::work(&job),
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
