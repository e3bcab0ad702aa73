//! `tavola man`: man pages, made from the same description as `--help`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli;
use crate::cmd::serve::memcached;
use crate::error::CliError;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  tavola man ~/.local/share/man/man1
  tavola man ./pages && man ./pages/tavola-get.1";

/// Write the man pages, one per command, into a directory
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory; it is created if it is missing
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
    sections(command).to_writer(&mut page)?;
    let after_help = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    after(&after_help).to_writer(&mut page)?;
    Ok(page)
}

/// Exit status, environment and files of a command.
fn sections(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let is_server = command.get_name().contains("memcached");
    let runs_program = command.get_positionals().any(clap::Arg::is_last_set);
    let ends: &[(&str, &str)] = match (is_server, runs_program) {
        (true, _) => &[("0", "The server has shut down cleanly."), EXIT_ERROR],
        (false, false) => &[EXIT_DONE, EXIT_MISSING, EXIT_ERROR],
        (false, true) => &[EXIT_DONE, EXIT_MISSING, EXIT_ERROR, EXIT_OTHER],
    };
    section(&mut roff, "EXIT STATUS", ends.iter().copied());
    let variables = ENVIRONMENT.iter().filter(|one| one.is_of(command));
    section(
        &mut roff,
        "ENVIRONMENT",
        variables.map(|one| (one.name, one.text)),
    );
    let files = FILES.iter().filter(|one| one.is_of(command));
    section(&mut roff, "FILES", files.map(|one| (one.name, one.text)));
    roff
}

const EXIT_DONE: (&str, &str) = ("0", "Success.");
const EXIT_MISSING: (&str, &str) = (
    "1",
    "A key is missing, a condition does not hold, or something needs attention.",
);
const EXIT_ERROR: (&str, &str) = (
    "2",
    "An error, which is explained on standard error, or invalid arguments.",
);
const EXIT_OTHER: (&str, &str) = (
    "other",
    "The program that the command ran has failed: its exit code, 128 and the signal that killed \
     it, 127 if it was not found, 126 if it could not be started.",
);

/// A variable or a file, and the commands that use it; none named: all.
struct Used {
    name: &'static str,
    text: &'static str,
    by: &'static [&'static str],
}

impl Used {
    fn is_of(&self, command: &Command) -> bool {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let rest = name.strip_prefix("tavola-").unwrap_or_default();
        // The command itself, or one below it.
        let is_it = |one: &&str| {
            let below = rest.strip_prefix(*one);
            below.is_some_and(|below| below.is_empty() || below.starts_with('-'))
        };
        self.by.is_empty() || self.by.iter().any(is_it)
    }
}

const ENVIRONMENT: [Used; 8] = [
    Used {
        name: "TAVOLA_DIR",
        text: "The directory of tables that are named without a /.",
        by: &[],
    },
    Used {
        name: "NO_COLOR",
        text: "If it is set and not empty, output has no colours.",
        by: &["top", "tour"],
    },
    Used {
        name: "TERM",
        text: "If it is dumb or not set, the output is plain text.",
        by: &["top"],
    },
    Used {
        name: "LC_ALL, LC_CTYPE, LANG",
        text: "Whether non-ASCII characters are shown.",
        by: &["top"],
    },
    Used {
        name: "XDG_STATE_HOME",
        text: "The directory of the history [default: ~/.local/state].",
        by: &["shell"],
    },
    Used {
        name: "MEMCACHED_SERVERS",
        text: "The servers, separated by commas, if --servers is not given.",
        by: &["mc"],
    },
    Used {
        name: "TAVOLA_MC_PASSWORD",
        text: "The password of --user, if --password-file is not given.",
        by: &["mc"],
    },
    Used {
        name: "NOTIFY_SOCKET, LISTEN_FDS, LISTEN_PID",
        text: "Set by systemd for a service and its sockets.",
        by: &["serve", "memcached"],
    },
];

const FILES: [Used; 4] = [
    Used {
        name: "/dev/shm/tavola-UID/",
        text: "The directory of tables of the user with this number, if TAVOLA_DIR is not set. \
               Each file in it is a table, a queue or a log.",
        by: &[],
    },
    Used {
        name: "$XDG_STATE_HOME/tavola/history",
        text: "The history of typed lines.",
        by: &["shell"],
    },
    Used {
        name: "/etc/passwd",
        text: "The names of the owners of tables.",
        by: &["ls", "stat"],
    },
    Used {
        name: "/etc/passwd",
        text: "The user that the server runs as.",
        by: &["serve", "memcached"],
    },
];

/// Writes a section of names and what they mean.
fn section<'a>(roff: &mut Roff, title: &str, entries: impl Iterator<Item = (&'a str, &'a str)>) {
    roff.control("SH", [title]);
    for (name, text) in entries {
        roff.control("TP", []);
        roff.text([bold(name)]);
        roff.text([roman(text)]);
    }
}

/// The text below the options: a paragraph under a line such as `Examples:` keeps its lines,
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
