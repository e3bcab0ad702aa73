//! `tavola freeze`: a constant file from a table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tavola::{Attributes, Expiry, Table};
use tavola_cdb::{Format, FrozenWriter, Put, Writer};

use crate::args::TableArg;
use crate::error::CliError;
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola freeze words ./words.frozen
  tavola freeze words ./words.cdb                 a cdb file, by the name of the file
  tavola freeze words ./words.map --format cdb64

Other processes can use the table meanwhile: a key that exists during the whole command is
in the file, with a value that it had. TTLs, flags and tags are left out, which a line on
standard error reports. The file is written beside the old one, synced and renamed, so
readers have the old file or the new one. 'tavola thaw' makes a table of it again.";

/// Write all keys of a table to a constant file
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The format [default: cdb if the name ends with .cdb, else frozen]
    #[arg(long, short, value_enum)]
    format: Option<Kind>,
}

/// A format of constant files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// With checksums, for files of any size
    Frozen,
    /// As TinyCDB and others read it, up to 4 GiB
    Cdb,
    /// The same with numbers of 64 bits
    Cdb64,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.keys_to_read()?;
    let is_cdb = args
        .file
        .extension()
        .is_some_and(|extension| extension == "cdb");
    let kind = match args.format {
        Some(kind) => kind,
        None if is_cdb => Kind::Cdb,
        None => Kind::Frozen,
    };
    let left_out = match kind {
        Kind::Frozen => freeze(&table, &args.file)?,
        Kind::Cdb => write_cdb(&table, &args.file, Format::Cdb)?,
        Kind::Cdb64 => write_cdb(&table, &args.file, Format::Cdb64)?,
    };
    if left_out > 0 {
        let keys = counted(left_out, "key");
        eprintln!(
            "tavola: TTLs, flags or tags of {keys} are left out, as constant files have none"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn freeze(table: &Table, file: &Path) -> Result<u64, CliError> {
    let mut writer = FrozenWriter::create(file)?;
    // A scan may meet a key twice; the newer value stays.
    let left_out = each(table, |key, value| Ok(writer.put(key, value)?))?;
    writer.finish()?;
    Ok(left_out)
}

fn write_cdb(table: &Table, file: &Path, format: Format) -> Result<u64, CliError> {
    let mut writer = Writer::options().format(format).create(file)?;
    let left_out = each(table, |key, value| {
        writer.put(key, value, Put::Replace)?;
        Ok(())
    })?;
    writer.finish()?;
    Ok(left_out)
}

/// Calls `put` for each key. Returns how many have something beside their value.
fn each(
    table: &Table,
    mut put: impl FnMut(&[u8], &[u8]) -> Result<(), CliError>,
) -> Result<u64, CliError> {
    let mut left_out = 0;
    let mut entries = table.iter();
    while let Some(((key, value, attributes), tags)) = entries.next_with_tags()? {
        put(key, value)?;
        let Attributes { expiry, flags } = attributes;
        let is_plain = !matches!(expiry, Expiry::After(_) | Expiry::At(_)) && flags == 0;
        left_out += u64::from(!is_plain || !tags.is_empty());
    }
    Ok(left_out)
}
