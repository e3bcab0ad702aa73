//! `tavola cdb`: constant databases, with the flags, output and exit codes of TinyCDB's `cdb`.
//!
//! - [`read`]: query, dump, list, statistics.
//! - [`create`]: a new file from text.

mod create;
mod read;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tavola_cdb::{Cdb, Format};

use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola cdb -c people.cdb people.txt             from lines '+3,5:one->Hello'
  tavola cdb -c -m aliases.cdb < aliases          from lines 'key value'
  tavola cdb -q people.cdb alice
  tavola cdb -q -n 2 people.cdb alice             the second record of the key
  tavola cdb -d people.cdb | tavola cdb -c copy.cdb
  tavola cdb -l -m people.cdb                     the keys, one per line
  tavola cdb -s people.cdb
  tavola cdb -c --64 large.cdb < records          for more than 4 GiB

FILE is a path, also if it contains no /. The flags, what is printed and the exit codes are
those of TinyCDB's cdb: 0 done or found; 100 the key is missing; 111 a system call failed or
the file is damaged; 2 wrong arguments or input; 1 a key came twice (-e). A new file is
written as FILE.tmp, synced and renamed, so readers have the old file or the new one.
Files of the 64-bit format are recognised by -q, -d, -l and -s; from standard input they
need --64. The program 'tavola-cdb' takes the same flags, for scripts that call cdb.";

/// The exit code of a missing key.
const MISSING: u8 = 100;
/// The exit code of a failed system call and of a damaged file.
const FAILED: u8 = 111;
/// The exit code of input that is not in the format.
const BAD_INPUT: u8 = 2;

/// Query, dump and create cdb files as TinyCDB's cdb does
#[derive(clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "tavola cdb -q [-m] [-n N] FILE KEY\n       \
        tavola cdb -d|-l [-m] [FILE|-]\n       \
        tavola cdb -s [FILE|-]\n       \
        tavola cdb -c [-m] [-t TEMPORARY|-] [-p MODE] [-weru0] FILE [INPUT...]",
    args_override_self = true
)]
pub struct Args {
    #[command(flatten)]
    action: Action,
    #[command(flatten)]
    creating: Creating,
    /// With -q, print only this record of the key, counted from 1
    #[arg(short = 'n', value_name = "N", value_parser = parse_number)]
    number: Option<u64>,
    /// Lines of a key, a space and a value; with -q, a newline after each value
    #[arg(short = 'm')]
    map: bool,
    /// The 64-bit format
    #[arg(long = "64")]
    is_64_bit: bool,
    /// The file; then the key, or the files to read
    #[arg(value_name = "FILE")]
    names: Vec<OsString>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Action {
    /// Print the values of a key
    #[arg(short = 'q')]
    query: bool,
    /// Print all records
    #[arg(short = 'd')]
    dump: bool,
    /// Print all keys
    #[arg(short = 'l')]
    list: bool,
    /// Print how many records and slots there are, and how far records are from their slot
    #[arg(short = 's')]
    statistics: bool,
    /// Create a file from records
    #[arg(short = 'c')]
    create: bool,
}

#[derive(clap::Args)]
struct Creating {
    /// With -c, the name of the file until it is whole; - writes it in its place
    #[arg(short = 't', value_name = "TEMPORARY", allow_hyphen_values = true)]
    temporary: Option<PathBuf>,
    /// With -c, the mode of the file, usually octal: 0644
    #[arg(short = 'p', value_name = "MODE", value_parser = parse_mode)]
    mode: Option<u32>,
    /// With -c, report keys that come again
    #[arg(short = 'w')]
    warn: bool,
    /// With -c, stop at a key that comes again
    #[arg(short = 'e')]
    stop: bool,
    /// With -c, a key that comes again replaces the older record
    #[arg(short = 'r', overrides_with_all = ["unique", "zero"])]
    replace: bool,
    /// With -c, leave out keys that come again
    #[arg(short = 'u', overrides_with_all = ["replace", "zero"])]
    unique: bool,
    /// With -c, as -r, and the older record is overwritten with zeros
    #[arg(short = '0', overrides_with_all = ["replace", "unique"])]
    zero: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let action = &args.action;
    match (action.query, action.create) {
        (true, _) => match &args.names[..] {
            [file, key] => read::query(Path::new(file), key.as_encoded_bytes(), &args),
            _ => Err(wrong("-q takes a file and a key")),
        },
        (_, true) => match &args.names[..] {
            [file, inputs @ ..] => create::run(Path::new(file), inputs, &args),
            [] => Err(wrong("-c takes the name of the file")),
        },
        _ => match &args.names[..] {
            [] => read::run(Path::new("-"), &args),
            [file] => read::run(Path::new(file), &args),
            _ => Err(wrong("-d, -l and -s take one file")),
        },
    }
}

impl Args {
    /// Returns the format of a file that is read from its beginning to its end.
    fn format_of(&self, path: &Path) -> Format {
        match path == Path::new("-") {
            true => self.format(),
            false => Cdb::open(path).map_or(self.format(), |cdb| cdb.format()),
        }
    }

    fn format(&self) -> Format {
        match self.is_64_bit {
            true => Format::Cdb64,
            false => Format::Cdb,
        }
    }
}

fn wrong(sentence: &str) -> CliError {
    CliError::Command {
        sentence: format!("{sentence}; see 'tavola cdb --help'"),
        code: BAD_INPUT,
    }
}

fn failed(error: tavola_cdb::Error) -> CliError {
    CliError::Command {
        sentence: error.to_string(),
        code: FAILED,
    }
}

/// As [`failed`], for a file that is read from its beginning to its end. TinyCDB ends with another
/// code if it is too short.
fn failed_stream(error: tavola_cdb::Error) -> CliError {
    let code = match &error {
        tavola_cdb::Error::System { source, .. }
            if source.kind() == io::ErrorKind::UnexpectedEof =>
        {
            BAD_INPUT
        }
        tavola_cdb::Error::NotConstant { .. } => BAD_INPUT,
        _ => FAILED,
    };
    CliError::Command {
        sentence: error.to_string(),
        code,
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::Command {
        sentence: format!("cannot read {}: {error}", path.display()),
        code: FAILED,
    }
}

/// Reads a number as C programs do: octal behind 0, hexadecimal behind 0x.
fn parse_c_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

fn parse_number(text: &str) -> Result<u64, String> {
    match parse_c_number(text) {
        Some(number) if number > 0 => Ok(number),
        _ => Err("write the number of a record; the first one is 1".to_string()),
    }
}

fn parse_mode(text: &str) -> Result<u32, String> {
    match parse_c_number(text) {
        Some(mode @ 0..=0o777) => Ok(mode as u32),
        _ => Err("write a mode from 0 to 0777, such as 0644".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_programs_do() {
        assert_eq!(parse_mode("0644"), Ok(0o644));
        assert_eq!(parse_mode("0x1ff"), Ok(0o777));
        assert_eq!(parse_mode("420"), Ok(0o644));
        assert_eq!(parse_mode("0"), Ok(0));
        assert!(parse_mode("01000").is_err());
        assert!(parse_mode("rw").is_err());
        assert_eq!(parse_number("010"), Ok(8));
        assert!(parse_number("0").is_err());
    }
}
