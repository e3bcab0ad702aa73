//! The common parts of the commands for durable tables: directories, policies, and how the state of
//! their journals is shown.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tavola::{Durability, DurableStats, Table, names};

use crate::args::options;
use crate::error::CliError;
use crate::output::printable;
use crate::units::{age, count, parse_time, size};

/// How the names of the memory of durable tables begin.
const MEMORY: &[u8] = b"durable-";
/// The most that `--sync TIME` may be.
const MOST: Duration = Duration::from_secs(3600);

/// Returns the directory of a durable table of this name, or `None` if there is none.
pub fn home_of(name: &OsStr) -> Option<PathBuf> {
    let path = names::path_of(name).ok()?;
    path.join("table").is_file().then_some(path)
}

/// Returns the durable table of this name in the working directory, as it is to be named.
pub fn near(path: &Path) -> Option<String> {
    let name = path.file_name()?;
    let home = Path::new(".").join(name);
    let is_other = path.parent() != Some(Path::new("."));
    (is_other && home_of(home.as_os_str()).is_some())
        .then(|| printable(home.as_os_str().as_bytes()).into_owned())
}

/// Returns the directory that a command for durable tables works on.
pub fn home(name: &OsStr) -> Result<PathBuf, CliError> {
    if let Some(home) = home_of(name) {
        return Ok(home);
    }
    let path = names::path_of(name)?;
    let shown = printable(path.as_os_str().as_bytes());
    Err(CliError::Sentence(match path.exists() {
        true => format!(
            "{shown} is not a durable table; the name of one is the path of a directory, which \
             'tavola create --durable DIR' creates"
        ),
        false => format!(
            "there is no directory {shown}; check the path, or create a durable table: \
             tavola create --durable DIR"
        ),
    }))
}

/// Refuses a name that is no path, and prints a warning if the directory would be on a file system
/// that loses it.
pub fn check_home(name: &OsStr) -> Result<(), CliError> {
    if !name.as_bytes().contains(&b'/') {
        let name = printable(name.as_bytes());
        return Err(CliError::Sentence(format!(
            "the name of a durable table is the path of a directory: write ./{name}, or \
             /var/lib/{name}"
        )));
    }
    warn_of_home(Path::new(name));
    Ok(())
}

/// Prints a warning if the directory is on a file system that loses it.
pub fn warn_of_home(home: &Path) {
    if let Some(warning) = tavola::durable::warning(home) {
        eprintln!("{}: warning: {warning}", crate::NAME);
    }
}

/// Reads `commit`, `os` or a time.
pub fn parse_policy(text: &str) -> Result<Durability, String> {
    match text {
        "commit" => return Ok(Durability::Commit),
        "os" => return Ok(Durability::Os),
        _ => {}
    }
    match parse_time(text) {
        Ok(time) if (Duration::from_millis(1)..=MOST).contains(&time) => {
            Ok(Durability::Within(time))
        }
        _ => Err(format!(
            "'{text}' is neither commit nor os nor a time from 1ms to 1h, such as 50ms"
        )),
    }
}

/// Writes a policy as [`parse_policy`] reads it.
pub fn policy(policy: Durability) -> String {
    match policy {
        Durability::Commit => "commit".to_owned(),
        Durability::Os => "os".to_owned(),
        Durability::Within(time) if time.as_millis() % 1000 == 0 => {
            format!("{}s", time.as_secs())
        }
        Durability::Within(time) => format!("{}ms", time.as_millis()),
        _ => "other".to_owned(),
    }
}

/// Returns the name of a listed table: that of its file, or the path of its directory if it is
/// durable. `None` if it is the memory of a durable table whose directory is gone.
pub fn name_of(path: &Path) -> Option<OsString> {
    let name = short_name(path);
    if !name.as_bytes().starts_with(MEMORY) {
        return Some(name.to_os_string());
    }
    match options()
        .open_read_only(path)
        .and_then(|t| t.durable_stats())
    {
        Ok(Some(_)) => None,
        _ => Some(name.to_os_string()),
    }
}

/// Returns the name under which people know an open table that was listed.
pub fn label_of(table: &Table, path: &Path) -> OsString {
    let name = short_name(path);
    match name
        .as_bytes()
        .starts_with(MEMORY)
        .then(|| table.durable_stats())
    {
        Some(Ok(Some(stats))) if !stats.home.as_os_str().is_empty() => stats.home.into_os_string(),
        _ => name.to_os_string(),
    }
}

/// Returns the name of a file in the directory of tables. Other tables are known by their paths.
pub fn short_name(path: &Path) -> &OsStr {
    match path.file_name() {
        Some(name) if path.parent() == Some(&names::directory()) => name,
        _ => path.as_os_str(),
    }
}

/// Returns the state of a journal, in lines with a title each. The memory of the table was made at
/// `made_unix_s`.
pub fn describe(stats: &DurableStats, made_unix_s: u64) -> Vec<(&'static str, String)> {
    let sync = policy(stats.policy);
    let unsynced = match stats.unsynced_bytes {
        0 => "all of it on disk".to_owned(),
        bytes => format!("{} not on disk yet", size(bytes)),
    };
    vec![
        (
            "durable",
            format!("--sync {sync}, in {}", stats.home.display()),
        ),
        ("state", state(stats)),
        (
            "journal",
            format!(
                "{} since the last snapshot, {unsynced}",
                size(stats.journal_bytes)
            ),
        ),
        ("syncs", syncs(stats, made_unix_s)),
        ("snapshot", snapshot(stats)),
    ]
}

/// Returns whether the journal takes changes, and if not, why.
pub fn state(stats: &DurableStats) -> String {
    match stats.failed {
        None => "good".to_owned(),
        Some(errno) => format!(
            "failed ({}): writes are refused until 'tavola snapshot' succeeds",
            std::io::Error::from_raw_os_error(errno)
        ),
    }
}

/// Returns how many syncs there were since the memory of the table was made, how many that is a
/// second, and how long one took.
pub fn syncs(stats: &DurableStats, made_unix_s: u64) -> String {
    let mean = stats.mean_sync().map_or(String::new(), |time| {
        format!(", {} on average", in_ms(time))
    });
    let a_second = syncs_per_s(stats, made_unix_s);
    format!("{} ({a_second:.2}/s){mean}", count(stats.syncs))
}

/// Returns the mean rate of syncs since the memory of the table was made.
pub fn syncs_per_s(stats: &DurableStats, made_unix_s: u64) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let since_s = now
        .unwrap_or_default()
        .as_secs()
        .saturating_sub(made_unix_s);
    stats.syncs as f64 / since_s.max(1) as f64
}

/// Returns the size and the age of the last snapshot.
pub fn snapshot(stats: &DurableStats) -> String {
    match stats.snapshot {
        None => "none yet".to_owned(),
        Some((made, bytes)) => {
            let since = SystemTime::now().duration_since(made).unwrap_or_default();
            format!("{}, {} ago", size(bytes), age(since.as_secs()))
        }
    }
}

/// A time as milliseconds, with as many digits as say something.
pub fn in_ms(time: Duration) -> String {
    match time.as_secs_f64() * 1000.0 {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_written_alike() {
        for text in ["commit", "os", "50ms", "1s", "1500ms"] {
            assert_eq!(policy(parse_policy(text).unwrap()), text);
        }
        assert_eq!(
            parse_policy("0.05"),
            Ok(Durability::Within(Duration::from_millis(50)))
        );
        for wrong in ["", "0", "2h", "always", "-1", "COMMIT"] {
            assert!(parse_policy(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_digits_that_say_something() {
        assert_eq!(in_ms(Duration::from_micros(84)), "0.08 ms");
        assert_eq!(in_ms(Duration::from_millis(120)), "120 ms");
    }
}
