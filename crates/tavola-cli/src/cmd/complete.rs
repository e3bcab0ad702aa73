//! `tavola __complete`: what may come next in a command line, for the scripts of `completions`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tavola::{Options, names};

use crate::args::options;
use crate::cli;
use crate::durable;
use crate::error::CliError;
use crate::output::Output;
use tavola_program::stack::on_large_stack;

/// The most candidates.
const MOST: usize = 200;
/// The most time to look for keys.
const PATIENCE: Duration = Duration::from_millis(100);

/// Print what may come next in a command line, one a line
#[derive(clap::Args)]
pub struct Args {
    /// The words after 'tavola'; the last one is completed
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    words: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let options = options();
    let found = on_large_stack(move || candidates(&cli::command(), &options, &args.words));
    let mut out = Output::new();
    for one in found {
        out.line(one)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the commands, tables or keys that begin as the last word does. Errors have none.
pub fn candidates(
    arguments: &clap::Command,
    options: &Options,
    words: &[OsString],
) -> Vec<Vec<u8>> {
    let Some((last, before)) = words.split_last() else {
        return Vec::new();
    };
    let (mut command, mut given) = (arguments, Vec::new());
    for word in before {
        match word.to_str().and_then(|word| command.find_subcommand(word)) {
            Some(below) if given.is_empty() => command = below,
            // The value of an option would be taken for an argument; then there is no candidate.
            _ if word.as_bytes().starts_with(b"-") => {}
            _ => given.push(word),
        }
    }
    let prefix = last.as_bytes();
    if command.has_subcommands() {
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        let names = below.map(|one| one.get_name().as_bytes().to_vec());
        return names.filter(|name| name.starts_with(prefix)).collect();
    }
    let positionals: Vec<&clap::Arg> = command.get_positionals().collect();
    let at = given.len().min(positionals.len().saturating_sub(1));
    let Some(names) = positionals.get(at).and_then(|arg| arg.get_value_names()) else {
        return Vec::new();
    };
    match names.first().map(|name| name.as_str()) {
        Some("TABLE" | "QUEUE") => tables(prefix),
        Some("NAME") if given.is_empty() => tables(prefix),
        Some("KEY" | "PATTERN") => given.first().map_or(Vec::new(), |table| {
            keys(options, table, prefix).unwrap_or_default()
        }),
        _ => Vec::new(),
    }
}

fn tables(prefix: &[u8]) -> Vec<Vec<u8>> {
    let paths = names::list().unwrap_or_default();
    let names = paths.iter().filter_map(|path| durable::name_of(path));
    let names = names.map(OsStringExt::into_vec);
    names.filter(|name| name.starts_with(prefix)).collect()
}

/// Returns some of the keys that begin with `prefix` and that can be typed.
fn keys(options: &Options, table: &OsString, prefix: &[u8]) -> tavola::Result<Vec<Vec<u8>>> {
    let start = Instant::now();
    let table = options.open_read_only(table)?;
    let (mut found, mut entries) = (Vec::new(), table.iter());
    while let Some((key, _)) = entries.next_entry()? {
        let can_be_typed = !key.is_empty() && !key.iter().any(u8::is_ascii_control);
        if key.starts_with(prefix) && can_be_typed && std::str::from_utf8(key).is_ok() {
            found.push(key.to_vec());
        }
        if found.len() == MOST || start.elapsed() > PATIENCE {
            break;
        }
    }
    found.sort();
    Ok(found)
}
