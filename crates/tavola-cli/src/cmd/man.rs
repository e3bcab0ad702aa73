//! `tavola man`: man pages, made from the same description as `--help`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli;
use crate::cmd::serve::memcached;
use crate::error::CliError;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  tavola man ~/.local/share/man/man1
  tavola man ./pages && man ./pages/tavola-get.1";

/// Write the man pages, one a command, into a directory
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory; it is made when it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let directory = args.directory.clone();
    on_large_stack(move || write_all_pages(&directory)).map_err(|source| CliError::Write {
        path: args.directory,
        source,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn write_all_pages(directory: &Path) -> io::Result<()> {
    let mut command = cli::command();
    command.build();
    fs::create_dir_all(directory)?;
    write_pages(&command, directory)?;
    write_pages(&memcached::command(), directory)
}

/// Writes the page of a command and those of the commands below it.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name());
    fs::write(directory.join(format!("{name}.1")), page(command, name)?)?;
    let mut below = command.get_subcommands().filter(|one| !one.is_hide_set());
    below.try_for_each(|one| write_pages(one, directory))
}

fn page(command: &Command, name: &str) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("tavola ", env!("CARGO_PKG_VERSION")))
        .manual("Tavola");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let after_help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    after(&after_help).to_writer(&mut page)?;
    Ok(page)
}

/// What stands below the options: a paragraph under a line such as `Examples:` keeps its lines,
/// every other one is a note.
fn after(help: &str) -> Roff {
    let mut roff = Roff::new();
    let mut in_notes = false;
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        if let Some(title) = first.strip_suffix(':') {
            roff.control("SH", [title.to_uppercase().as_str()])
                .control("nf", []);
            for line in rest.lines() {
                roff.text([roman(line)]);
            }
            roff.control("fi", []);
            in_notes = false;
            continue;
        }
        if in_notes {
            roff.control("PP", []);
        } else {
            roff.control("SH", ["NOTES"]);
            in_notes = true;
        }
        roff.text([roman(paragraph)]);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_the_rest_is_notes() {
        let page = after("Examples:\n  tavola x\n  tavola y\n\nOne.\nMore.\n\nTwo.").to_roff();
        let expected =
            ".SH EXAMPLES\n.nf\n  tavola x\n  tavola y\n.fi\n.SH NOTES\nOne.\nMore.\n.PP\nTwo.\n";
        assert_eq!(page.replace(" \n", "\n"), expected);
        assert_eq!(after("").to_roff(), "");
    }
}
