//! The arguments of `tavola`: the commands, the overview in groups, and errors of usage.

use std::fmt::Write;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::CliError;
use crate::{args, cmd};

/// One key-value table that every process on this machine sits at
///
/// A table is a file in shared memory. Every process of every language reads and writes it at
/// once, without a server; any of them may be killed at any instant.
#[derive(Parser)]
#[command(
    name = "tavola",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
#[command(after_help = AFTER, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Use tables of other users, too, where everybody may make files, as in /tmp
    #[arg(long, global = true)]
    any_owner: bool,
}

const AFTER: &str = "\
A table's NAME is a file in TAVOLA_DIR (if unset, a private directory in /dev/shm);
a name with a / in it is a path. Write -- before a key or value that begins with '-'.
Exit codes: 0 found or done; 1 missing, or something needs attention; 2 error.

Begin with:
  tavola tour                                   see it all work in ten seconds
  tavola set sessions alice '{\"cart\":3}'        makes the table when it is not there
  tavola get sessions alice
  tavola COMMAND --help                         examples for each command";

/// What can be asked of `tavola`; each variant is a file in `cmd/`.
#[derive(Subcommand)]
pub enum Command {
    Create(cmd::create::Args),
    Get(cmd::get::Args),
    Set(cmd::set::Args),
    Add(cmd::add::Args),
    Del(cmd::del::Args),
    Incr(cmd::incr::Args),
    Decr(cmd::decr::Args),
    Ttl(cmd::ttl::Args),
    Touch(cmd::touch::Args),
    Invalidate(cmd::invalidate::Args),
    Compute(cmd::compute::Args),
    Ls(cmd::ls::Args),
    Stat(cmd::stat::Args),
    Top(cmd::top::Args),
    Serve(cmd::serve::Args),
    Memcached(cmd::serve::memcached::Flags),
    Exporter(cmd::exporter::Args),
    SetCapacity(cmd::set_capacity::Args),
    Resize(cmd::resize::Args),
    Check(cmd::check::Args),
    Compact(cmd::compact::Args),
    Maintain(cmd::maintain::Args),
    Copy(cmd::copy::Args),
    Migrate(cmd::migrate::Args),
    Dump(cmd::dump::Args),
    Load(cmd::load::Args),
    Drop(cmd::drop::Args),
    Log(cmd::log::Args),
    Doctor(cmd::doctor::Args),
    Tour(cmd::tour::Args),
    Bench(cmd::bench::Args),
    Completions(cmd::completions::Args),
    Man(cmd::man::Args),
}

impl Command {
    /// Does what was asked; the exit code tells found or done from missing.
    pub fn run(self) -> Result<ExitCode, CliError> {
        match self {
            Command::Create(args) => cmd::create::run(args),
            Command::Get(args) => cmd::get::run(args),
            Command::Set(args) => cmd::set::run(args),
            Command::Add(args) => cmd::add::run(args),
            Command::Del(args) => cmd::del::run(args),
            Command::Incr(args) => cmd::incr::run(args),
            Command::Decr(args) => cmd::decr::run(args),
            Command::Ttl(args) => cmd::ttl::run(args),
            Command::Touch(args) => cmd::touch::run(args),
            Command::Invalidate(args) => cmd::invalidate::run(args),
            Command::Compute(args) => cmd::compute::run(args),
            Command::Ls(args) => cmd::ls::run(args),
            Command::Stat(args) => cmd::stat::run(args),
            Command::Top(args) => cmd::top::run(args),
            Command::Serve(args) => cmd::serve::run(args),
            Command::Memcached(flags) => flags.run(),
            Command::Exporter(args) => cmd::exporter::run(args),
            Command::SetCapacity(args) => cmd::set_capacity::run(args),
            Command::Resize(args) => cmd::resize::run(args),
            Command::Check(args) => cmd::check::run(args),
            Command::Compact(args) => cmd::compact::run(args),
            Command::Maintain(args) => cmd::maintain::run(args),
            Command::Copy(args) => cmd::copy::run(args),
            Command::Migrate(args) => cmd::migrate::run(args),
            Command::Dump(args) => cmd::dump::run(args),
            Command::Load(args) => cmd::load::run(args),
            Command::Drop(args) => cmd::drop::run(args),
            Command::Log(args) => cmd::log::run(args),
            Command::Doctor(args) => cmd::doctor::run(args),
            Command::Tour(args) => cmd::tour::run(args),
            Command::Bench(args) => cmd::bench::run(args),
            Command::Completions(args) => cmd::completions::run(args),
            Command::Man(args) => cmd::man::run(args),
        }
    }
}

/// The overview: every command belongs to exactly one group.
const GROUPS: [(&str, &[&str]); 8] = [
    (
        "Keys and values",
        &[
            "get",
            "set",
            "add",
            "del",
            "incr",
            "decr",
            "ttl",
            "touch",
            "invalidate",
            "compute",
        ],
    ),
    (
        "Tables",
        &["create", "ls", "stat", "set-capacity", "resize", "drop"],
    ),
    ("Watching", &["top", "exporter"]),
    ("Over sockets", &["serve", "memcached"]),
    ("In and out", &["copy", "migrate", "dump", "load"]),
    ("Lines", &["log"]),
    ("Care", &["check", "compact", "maintain", "doctor"]),
    ("See for yourself", &["tour", "bench", "completions", "man"]),
];

/// The whole description of the arguments; help, completions and man pages come from it.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let template = overview(&command);
    command.help_template(template)
}

fn overview(command: &clap::Command) -> String {
    let header = *Styles::styled().get_header();
    let mut out = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        write!(out, "\n{header}{title}:{header:#}\n").expect("a String takes everything");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            writeln!(out, "  {name:<13}{about}").expect("a String takes everything");
        }
    }
    write!(out, "\n{header}Options:{header:#}\n").expect("a String takes everything");
    out + "{options}{after-help}"
}

/// Reads the arguments of this process.
pub fn parse() -> Result<Command, clap::Error> {
    let matches = command().try_get_matches()?;
    let cli = Cli::from_arg_matches(&matches)?;
    args::set_any_owner(cli.any_owner);
    Ok(cli.command)
}

/// Shows help where help was asked for, else what is wrong with the arguments.
pub fn show_usage_error(program: &str, usage: &clap::Error) -> ExitCode {
    let text = usage.render().to_string();
    match usage.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone away has seen enough of the help.
            let _ = usage.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint!("{text}");
            ExitCode::from(crate::ERROR)
        }
        _ => {
            eprint!(
                "{program}: {}",
                text.strip_prefix("error: ").unwrap_or(&text)
            );
            ExitCode::from(crate::ERROR)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_description_of_the_arguments_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_and_has_a_summary_and_examples() {
        let command = command();
        let listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let known: BTreeSet<&str> = shown.map(clap::Command::get_name).collect();
        assert_eq!(listed.len(), known.len());
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), known);
        for name in listed {
            let one = command.find_subcommand(name).expect(name);
            assert!(one.get_about().is_some(), "{name} has no summary");
            let help = one
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                help.contains("Examples:") && help.contains("  tavola "),
                "{name}"
            );
        }
    }
}
