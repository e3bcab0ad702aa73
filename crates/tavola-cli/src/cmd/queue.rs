//! `tavola queue`: jobs, as text, in a queue in shared memory.

use std::process::ExitCode;

use crate::error::CliError;

mod create;
mod jobs;
mod len;
mod list;
mod pop;
mod push;
mod reclaim;

const EXAMPLES: &str = "\
Examples:
  tavola queue create jobs
  tavola queue push jobs 'resize 17.jpg'
  find . -name '*.jpg' | tavola queue push jobs --lines
  tavola queue pop jobs                         prints the first job and removes it
  tavola queue pop jobs --wait 1h -- ./work.sh  runs a command with the job
  tavola queue ls jobs

A queue has its own file, a fixed number of places, and a maximum job size. Any number of
processes can push and pop at the same time, first in, first out. No job is lost when a
process is killed: a job that it had popped returns to the end of the queue, at the next
'pop' that finds the queue empty, or with 'reclaim'. So a job may run twice. A restart of
the machine deletes a queue in /dev/shm.

For programs, the file is a pool ('QueuePool' of the library) with the queues 'free' and
'jobs'. An element begins with the length of the job plus 1 as 4 bytes, little-endian (0:
no job); the job follows.";

/// Push and pop jobs with a queue in shared memory
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Create(create::Args),
    Push(push::Args),
    Pop(pop::Args),
    Len(len::Args),
    Ls(list::Args),
    Reclaim(reclaim::Args),
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.verb {
        Verb::Create(args) => create::run(&args),
        Verb::Push(args) => push::run(args),
        Verb::Pop(args) => pop::run(&args),
        Verb::Len(args) => len::run(&args),
        Verb::Ls(args) => list::run(&args),
        Verb::Reclaim(args) => reclaim::run(&args),
    }
}
