//! `tavola restore`: sets the keys of a file that `tavola save` has written.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use tavola::Restored;

use crate::args::TableArg;
use crate::error::CliError;
use crate::output::Output;
use crate::progress;
use crate::rights::RightsArgs;
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola restore /var/cache/app/pages.saved pages
  tavola create pages --capacity 1G && tavola restore ./pages.saved pages

Creates the table if it is missing; for a cache, create it before. A key that the table
has already is newer, and stays. The whole file is checked first: if it is damaged,
nothing is changed. Keys that have expired stay out, and in the table that was saved also
those that have lost a tag since. A cache that is smaller than the file takes the keys
that it would evict last. The exit code is 1 if there was no room for some keys.";

/// Set the keys of a file that 'save' has written and the table lacks
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file to read
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The table: a name, or a path if it contains a /
    #[arg(value_name = "TABLE")]
    name: OsString,
    #[command(flatten)]
    rights: RightsArgs,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    // Before the table is created.
    tavola::serving::verify_saved(&args.file)?;
    let table = TableArg::named(args.name).keys_or_create_with(args.rights)?;
    let bar = progress::over_bytes(Some(0));
    let restored = table.restore_with_progress(&args.file, |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let restored = restored?;
    let mut out = Output::new();
    out.line(sentence(&restored))?;
    out.finish()?;
    Ok(match restored.left_out {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(crate::MISSING),
    })
}

/// Returns what became of the keys of a file, in a few words.
pub fn sentence(restored: &Restored) -> String {
    let mut text = format!("restored {}", counted(restored.keys, "key"));
    let others = [
        (restored.present, "were there already"),
        (restored.expired, "have expired"),
        (restored.invalidated, "have lost a tag"),
        (restored.left_out, "have no room"),
    ];
    for (keys, what) in others.iter().filter(|(keys, _)| *keys > 0) {
        text += &format!("; {} {what}", crate::units::count(*keys));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happened_is_reported() {
        let mut restored = Restored::default();
        restored.keys = 1;
        assert_eq!(sentence(&restored), "restored 1 key");
        restored.expired = 2000;
        restored.left_out = 3;
        assert_eq!(
            sentence(&restored),
            "restored 1 key; 2,000 have expired; 3 have no room"
        );
    }
}
