//! `tavola migrate`: a table of an older format becomes one of this version's.

use std::ffi::OsString;
use std::process::ExitCode;

use tavola::Migrated;

use crate::args::{self, TableArg, warn_of};
use crate::durable;
use crate::error::CliError;
use crate::output::{Output, printable};
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola migrate sessions                        the old file stays as sessions.old
  tavola migrate ./old.table ./new.table         the old file keeps its name

First end the processes that have the table open; if one still writes, the command fails
and names it. Each key keeps its value, expiry, flags, tags, marks and version; a key that
has a uid gets a new uid. Queues and logs of the table are not copied. The old file is not
written to. A table that has the current format already is not changed.";

/// Convert a table of an older version to the current format
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The new table: a name, or a path if it contains a /
    #[arg(value_name = "NEW")]
    new: Option<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let (options, name) = (args::options(), args.table.name());
    if let Some(home) = durable::home_of(name) {
        return Err(CliError::Sentence(format!(
            "{} is a durable table, whose memory has the format of the library that rebuilds it; \
             there is nothing to migrate",
            printable(home.as_os_str().as_encoded_bytes())
        )));
    }
    let done = match &args.new {
        Some(new) => {
            warn_of(new);
            options.migrate_to(name, new)?
        }
        None => options.migrate(name)?,
    };
    if !done.left_out.is_empty() {
        eprintln!("tavola: not copied: {}", done.left_out.join(", "));
    }
    let mut out = Output::new();
    out.line(in_words(&args.table.label(), &done))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(label: &str, done: &Migrated) -> String {
    if done.found == done.now {
        return format!("{label} already has format {}", done.now);
    }
    format!(
        "migrated {} of {label} from format {} to {}; the old file is {}",
        counted(done.keys, "key"),
        done.found,
        done.now,
        printable(done.old.as_os_str().as_encoded_bytes())
    )
}
