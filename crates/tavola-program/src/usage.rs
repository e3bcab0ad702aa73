//! Prints help and errors of usage.

use std::process::ExitCode;

use clap::error::ErrorKind;

/// Prints the help that was asked for, or else what is wrong with the arguments after the name of
/// the program. Returns the exit code.
pub fn show(program: &str, usage: &clap::Error) -> ExitCode {
    let text = usage.render().to_string();
    match usage.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone away has seen enough of the help.
            let _ = usage.print();
            return ExitCode::SUCCESS;
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => eprint!("{text}"),
        _ => {
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            eprint!("{program}: {text}");
        }
    }
    ExitCode::from(crate::ERROR)
}
