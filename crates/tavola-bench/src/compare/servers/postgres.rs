//! A cluster of PostgreSQL for one turn. It does not run as root: then it runs as `postgres`.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::geteuid;

use super::{Listening, Running, launch};
use crate::compare::job::Transport;
use crate::compare::program::in_path;

const USER: &str = "postgres";

/// An error says what is missing.
pub(in crate::compare) fn is_there() -> Result<(), String> {
    folder()?;
    match geteuid().is_root() && in_path("setpriv").is_none() {
        true => Err("PostgreSQL does not run as root, and there is no setpriv".to_owned()),
        false => Ok(()),
    }
}

/// Where `initdb` and `postgres` are: in `PATH`, or where Debian puts them, the newest.
fn folder() -> Result<PathBuf, String> {
    let beside = in_path("initdb").and_then(|file| file.parent().map(Path::to_owned));
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut places: Vec<PathBuf> = versions
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|place| place.join("initdb").is_file())
        .collect();
    places.sort();
    let place = beside.or(places.pop());
    place.ok_or_else(|| "there is no initdb of PostgreSQL".to_owned())
}

/// A command that runs as somebody who may.
fn command(program: &Path) -> Command {
    if !geteuid().is_root() {
        return super::bound(program);
    }
    let mut command = Command::new("setpriv");
    let user = [format!("--reuid={USER}"), format!("--regid={USER}")];
    command
        .args(user)
        .args(["--clear-groups", "--pdeathsig", "KILL", "--"]);
    command.arg(program);
    command
}

/// Makes a cluster in the folder and starts it. Its user is `postgres`, who needs no password; its
/// socket is in the folder that the address names, at port 5432.
/// Where `room` is given, tables are in there; the rest of the cluster is not.
pub(super) fn start(
    transport: Transport,
    cpu: usize,
    dir: &Path,
    room: Option<&Path>,
) -> Result<Running, String> {
    let made = made(dir.parent().unwrap_or(dir))?;
    let shelf = shelf(dir, "pg")?;
    let mut copy = command(Path::new("cp"));
    copy.arg("-a").args([made.join(DATA), shelf.join(DATA)]);
    run(copy.current_dir(&shelf))?;
    if let Some(room) = room {
        make_tablespace(&shelf, room)?;
    }
    serve(transport, cpu, dir, room.is_some())
}

const DATA: &str = "data";
/// Where tables are, if not with the rest.
const TABLESPACE: &str = "narrow";
/// Those who served clients see after a moment that their parent is gone, and hold its memory until
/// then.
const ORPHANS: Duration = Duration::from_secs(5);

/// Starts the server again, which has ended.
pub(super) fn start_again(transport: Transport, cpu: usize, dir: &Path) -> Result<Running, String> {
    let until = Instant::now() + ORPHANS;
    loop {
        match serve(transport, cpu, dir, false) {
            Err(_) if Instant::now() < until => sleep(Duration::from_millis(20)),
            done => return done,
        }
    }
}

/// The cluster is set up before it serves, as there may be nobody here who can ask it.
fn make_tablespace(shelf: &Path, room: &Path) -> Result<(), String> {
    let place = self::shelf(room, TABLESPACE)?;
    let mut single = command(&folder()?.join("postgres"));
    single.arg("--single").arg("-D").arg(shelf.join(DATA));
    single.arg("postgres").current_dir(shelf);
    single.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = single.spawn().map_err(|error| error.to_string())?;
    let place = place.display().to_string().replace('\'', "''");
    let statement = format!("CREATE TABLESPACE {TABLESPACE} LOCATION '{place}'\n");
    let written = child
        .stdin
        .take()
        .map(|mut input| input.write_all(statement.as_bytes()));
    let ended = child.wait().map_err(|error| error.to_string())?;
    match (written, ended.success()) {
        (Some(Ok(())), true) => Ok(()),
        _ => Err("PostgreSQL cannot be set up: it makes no tablespace".to_owned()),
    }
}

/// Files of tables that somebody made have numbers from here on; those of the system come before.
const FIRST_FILE: u64 = 16_384;

/// What the tables that were made in the cluster of the folder take, with their indexes.
pub(in crate::compare) fn table_bytes(dir: &Path) -> u64 {
    let base = dir.join("pg").join(DATA).join("base");
    let databases = fs::read_dir(base).into_iter().flatten().flatten();
    let files = databases.flat_map(|entry| fs::read_dir(entry.path()).into_iter().flatten());
    let of = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // `16385`, `16385_vm` or `16385.1`.
        let number = name.split(['_', '.']).next()?.parse::<u64>().ok()?;
        let is_made = number >= FIRST_FILE;
        Some(entry.metadata().ok()?.blocks() * 512).filter(|_| is_made)
    };
    files.flatten().filter_map(of).sum()
}

/// A folder that the server may write to, with its parent open to it.
fn shelf(dir: &Path, name: &str) -> Result<PathBuf, String> {
    let shelf = dir.join(name);
    fs::create_dir(&shelf).map_err(|error| error.to_string())?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).map_err(|e| e.to_string())?;
    if geteuid().is_root() {
        let mut chown = Command::new("chown");
        run(chown.arg(USER).arg(&shelf))?;
    }
    Ok(shelf)
}

/// A cluster that all others of a run are copies of: to make one takes a second.
fn made(beside: &Path) -> Result<PathBuf, String> {
    let made = beside.join("postgres-made");
    if made.join(DATA).join("PG_VERSION").is_file() {
        return Ok(made);
    }
    let shelf = shelf(beside, "postgres-made")?;
    let mut make = command(&folder()?.join("initdb"));
    make.args([
        "--no-sync",
        "--auth=trust",
        "--encoding=UTF8",
        "--no-locale",
    ]);
    make.arg(format!("--username={USER}"));
    make.arg("-D").arg(shelf.join(DATA));
    run(make.current_dir(&shelf))?;
    Ok(made)
}

/// Starts the server of the cluster that the folder has.
fn serve(transport: Transport, cpu: usize, dir: &Path, is_narrow: bool) -> Result<Running, String> {
    let shelf = dir.join("pg");
    let place = Listening::choose(transport, &shelf, ".s.PGSQL.5432")?;
    let mut args: Vec<OsString> = vec!["-D".into(), shelf.join(DATA).into()];
    args.extend(["-c", "logging_collector=off", "-k"].map(Into::into));
    args.push(shelf.clone().into());
    if is_narrow {
        args.extend([
            "-c".into(),
            format!("default_tablespace={TABLESPACE}").into(),
        ]);
    }
    match &place {
        Listening::Port(port) => {
            args.extend(["-h", "127.0.0.1", "-p"].map(Into::into));
            args.push(port.to_string().into());
        }
        Listening::Socket(_) => args.extend(["-h", ""].map(Into::into)),
    }
    let server = folder()?.join("postgres");
    let version = super::version(super::Server::Postgres, &server);
    let mut running = launch(command(&server), &args, &[cpu], dir, place, version)?;
    // It takes connections to say that it is starting up.
    running.wait_until(|| is_ready(&shelf.join(DATA)))?;
    if transport == Transport::Unix {
        // What clients take is the folder.
        running.address = shelf.display().to_string();
    }
    Ok(running)
}

/// What the server has in the last line of its file.
fn is_ready(data: &Path) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    text.lines()
        .nth(7)
        .is_some_and(|line| line.trim() == "ready")
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or("it failed");
    Err(format!("PostgreSQL cannot be set up: {last}"))
}
