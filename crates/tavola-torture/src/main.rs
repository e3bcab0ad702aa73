//! `tavola-torture`: processes that use a table are killed, at every store they make to shared
//! memory and at random, and those who live on must find what was promised: nothing hangs, no write
//! that had returned is lost, no value is torn, no memory stays behind.
//!
//! | room | what it holds |
//! |---|---|
//! | `points` | kill points: every store of every operation, and of recovery |
//! | `queues` | the same for queues, and a soak of their own |
//! | `logs` | the same for logs, and a soak of their own |
//! | `caches` | a soak of a cache: keys that may go at any time, a capacity that changes |
//! | `durable` | the same for durable tables, whose memory may be lost, and a soak of their own |
//! | `leases` | a soak of leases: workers compute, wait, get failures |
//! | `locks` | kill points of named locks, semaphores, barriers and areas, and a soak of locks |
//! | `lists` | a soak of transactions on a durable table, whose histories must have an order |
//! | `saved` | saving a table to a file, and restoring it, at every store and system call |
//! | `soak` | random operations, random kills and stops, histories checked |
//! | `surroundings` | daemons that close descriptors, pid namespaces, `cp` and `mv` |
//! | `child` | children that die at a store, or say what they find |
//! | `board` | counters and faults that all processes share |
//! | `image`, `scratch` | files of tables, and where they lie meanwhile |
//! | `value` | values that verify themselves |
//! | `system` | processes and shared memory |

#![deny(unsafe_code)]

#[forbid(unsafe_code)]
mod args;
#[forbid(unsafe_code)]
mod board;
#[forbid(unsafe_code)]
mod caches;
#[forbid(unsafe_code)]
mod child;
#[forbid(unsafe_code)]
mod durable;
#[forbid(unsafe_code)]
mod image;
#[forbid(unsafe_code)]
mod leases;
#[forbid(unsafe_code)]
mod lists;
#[forbid(unsafe_code)]
mod locks;
#[forbid(unsafe_code)]
mod logs;
mod makers;
#[forbid(unsafe_code)]
mod points;
#[forbid(unsafe_code)]
mod queues;
#[forbid(unsafe_code)]
mod saved;
#[forbid(unsafe_code)]
mod scratch;
#[forbid(unsafe_code)]
mod soak;
#[forbid(unsafe_code)]
mod surroundings;
#[allow(unsafe_code)]
mod system;
#[forbid(unsafe_code)]
mod value;

use args::Args;
use board::Board;
use points::Run;
use scratch::Scratch;
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(Some(args)) => args,
        Ok(None) => {
            print!("{}", args::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprint!("{why}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match torture(&args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the harness itself failed: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs both parts; says how many faults there were.
fn torture(args: &Args) -> Result<u64, Box<dyn Error>> {
    let board = Board::new()?;
    std::panic::set_hook(Box::new(move |what| {
        board.fault(&what.to_string().replace('\n', " "))
    }));
    let scratch = Scratch::new()?;
    println!("seed {}", args.seed);
    let began = system::now_ns();
    let run = Run {
        args,
        board: &board,
        scratch: &scratch,
    };
    let only = args.only.as_deref();
    let soaks_only = only == Some("soak");
    if only == Some("log soak") {
        logs::soak(&board, &scratch, args.seed, args.seconds * 1_000_000_000)?;
    } else if only == Some("cache soak") {
        caches::soak(&board, &scratch, args.seed, args.seconds * 1_000_000_000)?;
    } else if only == Some("durable soak") {
        durable::soak(args, &board, &scratch, args.seconds * 1_000_000_000)?;
    } else if only == Some("list soak") {
        lists::soak(args, &board, &scratch, args.seconds * 1_000_000_000)?;
    } else if only == Some("disk cuts") {
        lists::soak_on_disk(args, &board, &scratch, args.seconds * 1_000_000_000)?;
    } else if only == Some("lock soak") {
        locks::soak(&board, &scratch, args.seed, args.seconds * 1_000_000_000)?;
    } else if only == Some("lease soak") {
        leases::soak(&board, &scratch, args.seed, args.seconds * 1_000_000_000)?;
    } else if let Some(name) = only.filter(|name| name.starts_with("surroundings")) {
        surroundings::run(args, &board, &scratch, name)?;
    } else if !soaks_only {
        points::run(&run)?;
        queues::points(args, &board, &scratch)?;
        logs::points(args, &board, &scratch)?;
        locks::points(args, &board, &scratch)?;
        durable::points(args, &board, &scratch)?;
        saved::run(args, &board, &scratch)?;
    }
    if soaks_only || only.is_none() {
        queues::soak(&board, &scratch, args.seed, small_soak_ns(args))?;
        logs::soak(&board, &scratch, args.seed, small_soak_ns(args))?;
        locks::soak(&board, &scratch, args.seed, small_soak_ns(args))?;
        durable::soak(args, &board, &scratch, small_soak_ns(args))?;
        lists::soak(args, &board, &scratch, small_soak_ns(args))?;
        lists::soak_on_disk(args, &board, &scratch, small_soak_ns(args))?;
        caches::soak(&board, &scratch, args.seed, cache_soak_ns(args))?;
        leases::soak(&board, &scratch, args.seed, lease_soak_ns(args))?;
        surroundings::run(args, &board, &scratch, "")?;
        soak::run(args, &board, &scratch, until(args, began))?;
    }
    for fault in board.kept_faults() {
        println!("FAULT {fault}");
    }
    println!("{} faults", board.faults());
    Ok(board.faults())
}

/// How long queues are soaked, and logs, and locks: a tenth of the time each.
fn small_soak_ns(args: &Args) -> u64 {
    args.seconds * 100_000_000
}

/// How long a cache is soaked: a quarter of the time.
fn cache_soak_ns(args: &Args) -> u64 {
    args.seconds * 250_000_000
}

/// How long leases are soaked: a fifth of the time.
fn lease_soak_ns(args: &Args) -> u64 {
    args.seconds * 200_000_000
}

/// When the soak may end: when the time is over, and half of it was the soak's.
fn until(args: &Args, began: u64) -> u64 {
    let all = args.seconds * 1_000_000_000;
    (began + all).max(system::now_ns() + all / 2)
}
