//! `tavola completions`: the script that lets a shell complete commands and options.

use std::io;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::cli;
use crate::error::CliError;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  tavola completions bash > ~/.local/share/bash-completion/completions/tavola
  tavola completions zsh > \"${fpath[1]}/_tavola\"
  tavola completions fish > ~/.config/fish/completions/tavola.fish";

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let script = on_large_stack(move || {
        let mut script = Vec::new();
        clap_complete::generate(args.shell, &mut cli::command(), "tavola", &mut script);
        script
    });
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(ExitCode::SUCCESS)
}
