//! `tavola txn`: a script of reads and changes, all of which happen at once or not at all.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tavola::Transaction;

use crate::args::TableArg;
use crate::error::CliError;
use crate::lines::split;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  printf 'expect alice 10\\nincr alice -4\\nincr bob 4\\n' | tavola txn accounts
  tavola txn accounts changes.txt

Each line is one of:
  get KEY              prints the value, after the transaction
  expect KEY VALUE     stops unless the key has this value
  expect-missing KEY   stops unless the key is missing
  set KEY VALUE        sets a key
  add KEY VALUE        stops unless the key is missing; sets it
  append KEY VALUE     stops unless the key exists; appends to its value
  incr KEY [BY]        adds to a signed number; a missing key counts as 0
  del KEY              removes a key

Quote words as in sh; # begins a comment. All changes happen at once, or, if an
expectation does not hold, none: then the exit code is 1. A line sees what the lines
before it have changed. If another process changes one of these keys meanwhile, the
script runs again from its beginning.";

/// Read and change several keys at once: all of the changes, or none
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The file with the script [default: standard input, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let steps = read(args.file.as_deref())?;
    let table = args.table.keys_or_create()?;
    let done = table.transaction(|t| {
        let mut printed = Vec::new();
        for (line, step) in &steps {
            if let Err(stop) = step.run(t, &mut printed) {
                return Err(stop.at(*line));
            }
        }
        Ok(printed)
    });
    let printed = match done {
        Ok(printed) => printed,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Unexpected(why)) => {
            if io::stderr().is_terminal() {
                eprintln!("{}: {why}; nothing was changed", crate::NAME);
            }
            return Ok(ExitCode::from(crate::MISSING));
        }
    };
    let mut out = Output::new();
    for value in printed {
        out.line(value)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Why a script ends early.
enum Stop {
    Unexpected(String),
    Failed(CliError),
}

impl Stop {
    fn at(self, line: usize) -> Self {
        match self {
            Self::Unexpected(why) => Self::Unexpected(format!("line {line}: {why}")),
            Self::Failed(error) => {
                Self::Failed(CliError::Sentence(format!("line {line}: {error}")))
            }
        }
    }
}

impl From<tavola::Error> for Stop {
    fn from(error: tavola::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// One line of a script.
enum Step {
    Get(Vec<u8>),
    Expect(Vec<u8>, Option<Vec<u8>>),
    Set(Vec<u8>, Vec<u8>),
    Add(Vec<u8>, Vec<u8>),
    Append(Vec<u8>, Vec<u8>),
    Incr(Vec<u8>, i64),
    Del(Vec<u8>),
}

impl Step {
    fn parse(words: &[Vec<u8>]) -> Result<Self, String> {
        let verb = String::from_utf8_lossy(&words[0]).into_owned();
        Ok(match (&*verb, &words[1..]) {
            ("get", [key]) => Self::Get(key.clone()),
            ("expect", [key, value]) => Self::Expect(key.clone(), Some(value.clone())),
            ("expect-missing", [key]) => Self::Expect(key.clone(), None),
            ("set", [key, value]) => Self::Set(key.clone(), value.clone()),
            ("add", [key, value]) => Self::Add(key.clone(), value.clone()),
            ("append", [key, value]) => Self::Append(key.clone(), value.clone()),
            ("incr", [key]) => Self::Incr(key.clone(), 1),
            ("incr", [key, by]) => {
                let by = std::str::from_utf8(by).ok().and_then(|by| by.parse().ok());
                Self::Incr(key.clone(), by.ok_or("'incr' takes a whole number")?)
            }
            ("del", [key]) => Self::Del(key.clone()),
            (
                "get" | "expect" | "expect-missing" | "set" | "add" | "append" | "incr" | "del",
                _,
            ) => {
                return Err(format!(
                    "'{verb}' has another number of words; see 'tavola txn --help'"
                ));
            }
            _ => {
                return Err(format!(
                    "'{verb}' is no line of a transaction; see 'tavola txn --help'"
                ));
            }
        })
    }

    fn run(&self, t: &mut Transaction<'_>, printed: &mut Vec<Vec<u8>>) -> Result<(), Stop> {
        let unexpected = |key: &[u8], is: &str| {
            let key = crate::output::printable(key);
            Err(Stop::Unexpected(format!("the key {key} {is}")))
        };
        match self {
            Self::Get(key) => match t.get(key)? {
                Some(value) => printed.push(value),
                None => return unexpected(key, "is missing"),
            },
            Self::Expect(key, value) => {
                let found = t.get(key)?;
                if found != *value {
                    let is = match (&found, value) {
                        (None, _) => "is missing",
                        (_, None) => "exists",
                        _ => "has another value",
                    };
                    return unexpected(key, is);
                }
            }
            Self::Set(key, value) => t.set(key, value)?,
            Self::Add(key, value) if !t.add(key, value)? => return unexpected(key, "exists"),
            Self::Append(key, more) if t.append(key, more)?.is_none() => {
                return unexpected(key, "is missing");
            }
            Self::Add(..) | Self::Append(..) => {}
            Self::Incr(key, by) => {
                t.add_number(key, *by)?;
            }
            Self::Del(key) => {
                t.remove(key)?;
            }
        }
        Ok(())
    }
}

/// Reads the whole script, and the number of each line that has a step.
fn read(file: Option<&Path>) -> Result<Vec<(usize, Step)>, CliError> {
    let path = file.filter(|path| *path != Path::new("-"));
    let failed = |source| CliError::Read {
        path: path.unwrap_or(Path::new("standard input")).to_path_buf(),
        source,
    };
    let input: Box<dyn BufRead> = match path {
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
        None if file.is_none() && io::stdin().is_terminal() => {
            return Err(CliError::NoInput {
                wanted: "script of the transaction",
            });
        }
        None => Box::new(io::stdin().lock()),
    };
    let mut steps = Vec::new();
    for (number, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(failed)?;
        let words = split(line.trim_ascii())?;
        if words.is_empty() {
            continue;
        }
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let step = Step::parse(&words)
            .map_err(|why| CliError::Sentence(format!("line {}: {why}", number + 1)))?;
        steps.push((number + 1, step));
    }
    Ok(steps)
}
