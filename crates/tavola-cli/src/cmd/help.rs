//! `tavola help`: the help of a command, as `tavola COMMAND --help` prints it.

use std::process::ExitCode;

use tavola_program::stack::on_large_stack;
use tavola_program::usage;

use crate::cli;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola help
  tavola help set
  tavola help log drain";

/// Show the help of a command
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The command [default: the overview of all commands]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    Ok(on_large_stack(move || {
        let begin = ["tavola".to_string()].into_iter();
        let words = begin.chain(args.command).chain(["--help".to_string()]);
        match cli::command().try_get_matches_from(words) {
            Ok(_) => ExitCode::SUCCESS,
            Err(help) => usage::show(crate::NAME, &cli::with_hint(help)),
        }
    }))
}
