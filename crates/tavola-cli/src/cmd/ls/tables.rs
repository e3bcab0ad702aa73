//! The tables of the directory.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value};
use tavola::{LiveKeys, Stats, names};

use crate::args::options;
use crate::durable;
use crate::error::CliError;
use crate::kind::Kind;
use crate::output::{self, Output};
use crate::{owner, units};

/// What was read of a table, or why it could not be.
type Read = Result<(Stats, LiveKeys, Kind), String>;

/// A table of the directory.
struct Row<'a> {
    path: &'a Path,
    name: OsString,
    read: Read,
    owner: String,
    group: String,
    mode: String,
}

pub fn list(json: bool) -> Result<ExitCode, CliError> {
    let paths = names::list()?;
    let mut out = Output::new();
    let rows: Vec<Row<'_>> = paths.iter().filter_map(|path| Row::read(path)).collect();
    let width = rows
        .iter()
        .map(|row| row.short_name().chars().count())
        .max()
        .unwrap_or(0)
        .max(5);
    if out.on_terminal() && !json && !paths.is_empty() {
        let titles = [
            "TABLE",
            "KIND",
            "KEYS",
            "BYTES",
            "MEMORY",
            "MODE",
            "OWNER:GROUP",
        ];
        out.line(columns(width, titles))?;
    }
    let mut has_failed = false;
    for row in &rows {
        match json {
            true => out.json(row.as_json())?,
            false => row.write(&mut out, width)?,
        }
        if let Err(error) = &row.read {
            has_failed = true;
            // A person sees it in the list.
            if !out.on_terminal() {
                eprintln!("tavola: {error}");
            }
        }
    }
    out.finish()?;
    Ok(if has_failed {
        ExitCode::from(crate::ERROR)
    } else {
        ExitCode::SUCCESS
    })
}

impl Row<'_> {
    /// Returns `None` if the table was dropped since it was listed.
    fn read(path: &Path) -> Option<Row<'_>> {
        let opened = options().open_read_only(path).map_err(CliError::from);
        let name = match &opened {
            Ok(table) => durable::label_of(table, path),
            Err(_) => durable::short_name(path).to_os_string(),
        };
        let read =
            opened.and_then(|table| Ok((table.stats()?, table.live_keys()?, Kind::of(&table)?)));
        let read = match read {
            Err(CliError::Table(tavola::Error::NotFound { .. })) => return None,
            read => read.map_err(|error| error.to_string()),
        };
        // The memory of a durable table has the rights of this file.
        let file = match durable::home_of(path.as_os_str()) {
            Some(home) => fs::metadata(home.join("table")),
            None => fs::metadata(path),
        };
        let (owner, group, mode) = match file {
            Ok(file) => (
                owner::name_of(file.uid()),
                owner::group_name(file.gid()),
                format!("{:03o}", file.mode() & 0o777),
            ),
            Err(_) => ("-".to_string(), "-".to_string(), "-".to_string()),
        };
        Some(Row {
            path,
            name,
            read,
            owner,
            group,
            mode,
        })
    }

    fn write(&self, out: &mut Output, width: usize) -> Result<(), CliError> {
        let (owner, group, mode) = (&self.owner, &self.group, &self.mode);
        if out.on_terminal() {
            let owner = &format!("{owner}:{group}");
            let name = self.short_name();
            return out.line(match &self.read {
                Ok((stats, keys, kind)) => {
                    let live = units::count(keys.live);
                    let bytes = units::size(stats.payload_bytes);
                    let memory = units::size(stats.resident_bytes);
                    let over = match keys.unreclaimed {
                        0 => String::new(),
                        over => format!("  and {} not reclaimed yet", units::count(over)),
                    };
                    let fields = [&name, kind.name(), &live, &bytes, &memory, mode, owner];
                    columns(width, fields) + &over
                }
                Err(error) => {
                    let fields = [&name, "-", "-", "-", "-", mode, owner];
                    format!("{}  {error}", columns(width, fields))
                }
            });
        }
        let name = output::escaped(self.name.as_bytes());
        let fields = match &self.read {
            Ok((stats, keys, kind)) => format!(
                "\t{}\t{}\t{}\t{}\t{}\t{owner}\t{mode}\t{group}",
                keys.live,
                stats.payload_bytes,
                stats.resident_bytes,
                keys.unreclaimed,
                kind.name()
            ),
            Err(error) => format!("\t-\t-\t-\t-\t{error}"),
        };
        out.line([&name, fields.as_bytes()].concat())
    }

    fn short_name(&self) -> String {
        output::printable(self.name.as_bytes()).into_owned()
    }

    fn as_json(&self) -> Map<String, Value> {
        let mut document = Map::new();
        output::put_bytes(&mut document, "name", self.name.as_bytes());
        output::put_bytes(&mut document, "path", self.path.as_os_str().as_bytes());
        let mut put = |name: &str, value: Value| document.insert(name.to_string(), value);
        match &self.read {
            Ok((stats, keys, kind)) => {
                put("kind", kind.name().into());
                put("keys", stats.keys.into());
                put("live_keys", keys.live.into());
                put("unreclaimed_keys", keys.unreclaimed.into());
                put("payload_bytes", stats.payload_bytes.into());
                put("resident_bytes", stats.resident_bytes.into());
                put("max_size", stats.max_size.into());
            }
            Err(error) => {
                put("error", error.as_str().into());
            }
        }
        put("owner", self.owner.as_str().into());
        put("group", self.group.as_str().into());
        put("mode", self.mode.as_str().into());
        document
    }
}

fn columns(width: usize, fields: [&str; 7]) -> String {
    let [name, kind, keys, bytes, memory, mode, owner] = fields;
    let text = format!(
        "{name:<width$}  {kind:<5}  {keys:>15}  {bytes:>10}  {memory:>10}  {mode:<4}  {owner}"
    );
    text.trim_end().to_string()
}
