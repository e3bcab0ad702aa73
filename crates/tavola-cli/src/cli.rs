//! The arguments of `tavola`: the commands and the overview in groups.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::CliError;
use crate::{args, cmd};

/// Shared-memory key-value store and cache
///
/// A table is a file in shared memory. Any number of processes read and write it at the same
/// time, without a server. The table stays intact if one of them is killed.
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
    /// Also use tables of other users in world-writable directories such as /tmp
    #[arg(long, global = true)]
    any_owner: bool,
}

const AFTER: &str = "\
A table's NAME is a file in TAVOLA_DIR (if unset, a private directory in /dev/shm);
a name with a / in it is a path. Write -- before a key or value that begins with '-'.
Exit codes: 0 found or done; 1 missing, or something needs attention; 2 error. Commands
that run a program pass on its exit code if it fails.

Begin with:
  tavola tour                                   a ten-second demonstration
  tavola set sessions alice '{\"cart\":3}'        creates the table if it is missing
  tavola get sessions alice
  tavola COMMAND --help                         examples for each command";

/// The commands of `tavola`; each variant is a file in `cmd/`.
#[derive(Subcommand)]
pub enum Command {
    Create(cmd::create::Args),
    Dir(cmd::dir::Args),
    Get(cmd::get::Args),
    Set(cmd::set::Args),
    Add(cmd::add::Args),
    Replace(cmd::replace::Args),
    Append(cmd::append::Args),
    Prepend(cmd::prepend::Args),
    Swap(cmd::swap::Args),
    Take(cmd::take::Args),
    Cas(cmd::cas::Args),
    Update(cmd::update::Args),
    Txn(cmd::txn::Args),
    #[command(visible_alias = "rm")]
    Del(cmd::del::Args),
    Exists(cmd::exists::Args),
    Incr(cmd::incr::Args),
    Decr(cmd::decr::Args),
    Ttl(cmd::ttl::Args),
    #[command(visible_alias = "expire")]
    Touch(cmd::touch::Args),
    Invalidate(cmd::invalidate::Args),
    Compute(cmd::compute::Args),
    #[command(visible_alias = "keys")]
    Ls(cmd::ls::Args),
    Count(cmd::count::Args),
    Clear(cmd::clear::Args),
    Rename(cmd::rename::Args),
    Stat(cmd::stat::Args),
    Status(cmd::status::Args),
    #[cfg(feature = "terminal")]
    Top(cmd::top::Args),
    Serve(cmd::serve::Args),
    Memcached(cmd::serve::memcached::Flags),
    #[cfg(feature = "client")]
    Mc(cmd::mc::Args),
    #[cfg(feature = "near")]
    Near(cmd::near::Args),
    Exporter(cmd::exporter::Args),
    SetCapacity(cmd::set_capacity::Args),
    Resize(cmd::resize::Args),
    Check(cmd::check::Args),
    Compact(cmd::compact::Args),
    Maintain(cmd::maintain::Args),
    Copy(cmd::copy::Args),
    Migrate(cmd::migrate::Args),
    Dump(cmd::dump::Args),
    Freeze(cmd::freeze::Args),
    Thaw(cmd::thaw::Args),
    Cdb(cmd::cdb::Args),
    Load(cmd::load::Args),
    Save(cmd::save::Args),
    Restore(cmd::restore::Args),
    Drop(cmd::drop::Args),
    #[command(flatten)]
    Durable(DurableCommand),
    Lock(cmd::lock::Args),
    Queue(cmd::queue::Args),
    Log(cmd::log::Args),
    Doctor(cmd::doctor::Args),
    Bench(cmd::bench::Args),
    #[cfg(feature = "terminal")]
    Shell(cmd::shell::Args),
    Batch(cmd::batch::Args),
    Help(cmd::help::Args),
    Tour(cmd::tour::Args),
    Completions(cmd::completions::Args),
    Man(cmd::man::Args),
    #[command(name = "__complete", hide = true)]
    Complete(cmd::complete::Args),
}

/// Commands for durable tables.
#[derive(Subcommand)]
pub enum DurableCommand {
    Sync(cmd::sync::Args),
    Snapshot(cmd::snapshot::Args),
    Journal(cmd::journal::Args),
    Repair(cmd::repair::Args),
    Keep(cmd::keep::Args),
}

impl DurableCommand {
    fn run(self) -> Result<ExitCode, CliError> {
        match self {
            DurableCommand::Sync(args) => cmd::sync::run(args),
            DurableCommand::Snapshot(args) => cmd::snapshot::run(args),
            DurableCommand::Journal(args) => cmd::journal::run(args),
            DurableCommand::Repair(args) => cmd::repair::run(args),
            DurableCommand::Keep(args) => cmd::keep::run(args),
        }
    }
}

impl Command {
    /// Runs the command. The exit code says whether something was missing.
    pub fn run(self) -> Result<ExitCode, CliError> {
        match self {
            Command::Create(args) => cmd::create::run(args),
            Command::Dir(args) => cmd::dir::run(args),
            Command::Get(args) => cmd::get::run(args),
            Command::Set(args) => cmd::set::run(args),
            Command::Add(args) => cmd::add::run(args),
            Command::Replace(args) => cmd::replace::run(args),
            Command::Append(args) => cmd::append::run(args),
            Command::Prepend(args) => cmd::prepend::run(args),
            Command::Swap(args) => cmd::swap::run(args),
            Command::Take(args) => cmd::take::run(args),
            Command::Cas(args) => cmd::cas::run(args),
            Command::Update(args) => cmd::update::run(args),
            Command::Txn(args) => cmd::txn::run(args),
            Command::Exists(args) => cmd::exists::run(args),
            Command::Del(args) => cmd::del::run(args),
            Command::Incr(args) => cmd::incr::run(args),
            Command::Decr(args) => cmd::decr::run(args),
            Command::Ttl(args) => cmd::ttl::run(args),
            Command::Touch(args) => cmd::touch::run(args),
            Command::Invalidate(args) => cmd::invalidate::run(args),
            Command::Compute(args) => cmd::compute::run(args),
            Command::Ls(args) => cmd::ls::run(args),
            Command::Count(args) => cmd::count::run(args),
            Command::Clear(args) => cmd::clear::run(args),
            Command::Rename(args) => cmd::rename::run(args),
            Command::Stat(args) => cmd::stat::run(args),
            Command::Status(args) => cmd::status::run(args),
            #[cfg(feature = "terminal")]
            Command::Top(args) => cmd::top::run(args),
            Command::Serve(args) => cmd::serve::run(args),
            Command::Memcached(flags) => flags.run(),
            #[cfg(feature = "client")]
            Command::Mc(args) => cmd::mc::run(args),
            #[cfg(feature = "near")]
            Command::Near(args) => cmd::near::run(args),
            Command::Exporter(args) => cmd::exporter::run(args),
            Command::SetCapacity(args) => cmd::set_capacity::run(args),
            Command::Resize(args) => cmd::resize::run(args),
            Command::Check(args) => cmd::check::run(args),
            Command::Compact(args) => cmd::compact::run(args),
            Command::Maintain(args) => cmd::maintain::run(args),
            Command::Copy(args) => cmd::copy::run(args),
            Command::Migrate(args) => cmd::migrate::run(args),
            Command::Dump(args) => cmd::dump::run(args),
            Command::Freeze(args) => cmd::freeze::run(args),
            Command::Thaw(args) => cmd::thaw::run(args),
            Command::Cdb(args) => cmd::cdb::run(args),
            Command::Load(args) => cmd::load::run(args),
            Command::Save(args) => cmd::save::run(args),
            Command::Restore(args) => cmd::restore::run(args),
            Command::Drop(args) => cmd::drop::run(args),
            Command::Durable(command) => command.run(),
            Command::Lock(args) => cmd::lock::run(args),
            Command::Queue(args) => cmd::queue::run(args),
            Command::Log(args) => cmd::log::run(args),
            Command::Doctor(args) => cmd::doctor::run(args),
            Command::Bench(args) => cmd::bench::run(args),
            Command::Help(args) => cmd::help::run(args),
            Command::Tour(args) => cmd::tour::run(args),
            Command::Completions(args) => cmd::completions::run(args),
            #[cfg(feature = "terminal")]
            Command::Shell(args) => cmd::shell::run(args),
            Command::Batch(args) => cmd::batch::run(args),
            Command::Complete(args) => cmd::complete::run(args),
            Command::Man(args) => cmd::man::run(args),
        }
    }
}

/// The overview: every command belongs to exactly one group.
const GROUPS: [(&str, &[&str]); 10] = [
    (
        "Keys and values",
        &[
            "get",
            "set",
            "add",
            "replace",
            "append",
            "prepend",
            "swap",
            "take",
            "cas",
            "update",
            "txn",
            "del",
            "exists",
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
        &[
            "create",
            "dir",
            "ls",
            "count",
            "stat",
            "set-capacity",
            "resize",
            "clear",
            "rename",
            "drop",
        ],
    ),
    (
        "Durable tables",
        &["sync", "snapshot", "journal", "repair", "keep"],
    ),
    ("Watching", &["status", "top", "exporter"]),
    ("Over sockets", &["serve", "memcached", "mc", "near"]),
    (
        "In and out",
        &[
            "copy", "migrate", "dump", "load", "save", "restore", "freeze", "thaw", "cdb",
        ],
    ),
    ("Locks, queues, logs", &["lock", "queue", "log"]),
    ("Care", &["check", "compact", "maintain", "doctor", "bench"]),
    ("Many commands", &["shell", "batch"]),
    ("Help", &["help", "tour", "completions", "man"]),
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
            // Not all are in a program without the features `client`, `near` and `terminal`.
            let Some(command) = command.find_subcommand(name) else {
                continue;
            };
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            writeln!(out, "  {name:<13}{about}").expect("a String takes everything");
        }
    }
    write!(out, "\n{header}Options:{header:#}\n").expect("a String takes everything");
    out + "{options}{after-help}"
}

/// Commands that are not needed, or not here, and why.
const EXPLAINED: [(&str, &str); 1] = [(
    "refresh",
    "there is no command 'refresh', because none is needed: each command uses the table that \
        has the name now, also in 'tavola shell' and 'tavola batch'",
)];

/// Reads the arguments of this process.
pub fn parse() -> Result<Command, clap::Error> {
    let matches = command()
        .try_get_matches_from(words(env::args_os().collect()))
        .map_err(with_hint)?;
    let cli = Cli::from_arg_matches(&matches)?;
    args::set_any_owner(cli.any_owner);
    Ok(cli.command)
}

/// A name of the program under which it is `tavola cdb`.
const CDB: &str = "tavola-cdb";

/// Returns the words of the command line, as if the program were called by its main name.
fn words(mut words: Vec<OsString>) -> Vec<OsString> {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    if name.is_some_and(|name| name == CDB) {
        words.insert(1, "cdb".into());
    }
    words
}

/// Names of commands elsewhere, in other programs and stores, and what does the same here.
const ELSEWHERE: [(&[&str], &str); 24] = [
    (&["put", "store", "hset"], "set"),
    (&["fetch", "read", "cat", "mget"], "get"),
    (&["gets"], "get --token"),
    (&["setnx", "insert", "create-key"], "add"),
    (&["delete", "unlink", "remove"], "del"),
    (&["getset"], "swap"),
    (&["getdel", "pop-key"], "take"),
    (&["multi", "begin", "transaction"], "txn"),
    (&["pexpire", "persist", "set-ttl"], "touch"),
    (&["list", "scan", "tables", "show"], "ls"),
    (&["dbsize", "len", "length"], "count"),
    (
        &["flush", "flushall", "flush_all", "flushdb", "truncate"],
        "clear",
    ),
    (&["mv", "move"], "rename"),
    (&["cp", "backup"], "copy"),
    (&["export"], "dump"),
    (&["import"], "load"),
    (&["stats", "info"], "stat"),
    (&["monitor"], "top"),
    (&["flock"], "lock"),
    (&["push", "rpush", "enqueue"], "queue push"),
    (&["pop", "lpop", "dequeue"], "queue pop"),
    (&["fsck", "verify"], "check"),
    (&["fsync", "commit"], "sync"),
    (&["destroy", "rmtable", "delete-table"], "drop"),
];

/// Says what to use instead of a command that is not here.
pub fn with_hint(usage: clap::Error) -> clap::Error {
    let Some(ContextValue::String(name)) = usage.get(ContextKind::InvalidSubcommand) else {
        return usage;
    };
    if let Some((_, why)) = EXPLAINED.iter().find(|(word, _)| word == name) {
        return command().error(ErrorKind::InvalidSubcommand, why);
    }
    let here = ELSEWHERE.iter().find(|(names, _)| names.contains(&&**name));
    let why = match (here, with_these_letters(name)) {
        (Some((_, here)), _) => format!("there is no command '{name}'; 'tavola {here}' does that"),
        (None, Some(near)) => format!("there is no command '{name}'; did you mean '{near}'?"),
        (None, None) => return usage,
    };
    command().error(ErrorKind::InvalidSubcommand, why)
}

/// Returns the command with the same letters in another order.
fn with_these_letters(name: &str) -> Option<String> {
    let sorted = |name: &str| {
        let mut letters: Vec<u8> = name.bytes().collect();
        letters.sort_unstable();
        letters
    };
    let (command, letters) = (command(), sorted(name));
    let mut names = command.get_subcommands().map(clap::Command::get_name);
    names
        .find(|name| sorted(name) == letters)
        .map(str::to_string)
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
