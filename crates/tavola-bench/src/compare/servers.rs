//! Servers: started for one turn on a free port of loopback or a socket in the store's folder,
//! stopped by their number.

use std::ffi::OsString;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde::{Deserialize, Serialize};

use super::job::Transport;
use super::peers::Server;
use super::program::{in_path, on_cpus};
use super::usage;

mod postgres;

pub(super) use postgres::{is_there as postgres_is_there, table_bytes as postgres_table_bytes};

/// How long a server may take until it accepts connections.
const START: Duration = Duration::from_secs(20);
/// What it may take.
const MEMORY_MIB: u64 = 1024;
/// How long it may take to end when asked to, before it is killed.
const END: Duration = Duration::from_secs(5);

/// A server that runs.
pub(crate) struct Running {
    child: Child,
    /// What it is ended with.
    signal: Signal,
    /// Where clients reach it.
    pub(super) address: String,
    pub(super) version: String,
}

/// Starts a server on a CPU and waits until it serves.
pub(super) fn start(
    kind: Server,
    transport: Transport,
    cpu: usize,
    dir: &Path,
    tavola: &Path,
) -> Result<Running, String> {
    if kind == Server::Postgres {
        return postgres::start(transport, cpu, dir, None);
    }
    start_again(kind, transport, cpu, dir, tavola)
}

/// The same for one whose data is to be in another folder, where it has its data in one.
pub(super) fn start_within(
    kind: Server,
    transport: Transport,
    cpu: usize,
    dir: &Path,
    room: &Path,
) -> Result<Running, String> {
    match kind {
        Server::Postgres => postgres::start(transport, cpu, dir, Some(room)),
        _ => Err("its data is in no folder".to_owned()),
    }
}

/// Starts one that has ended, on what it has left behind in the folder.
pub(super) fn start_again(
    kind: Server,
    transport: Transport,
    cpu: usize,
    dir: &Path,
    tavola: &Path,
) -> Result<Running, String> {
    if kind == Server::Postgres {
        return postgres::start_again(transport, cpu, dir);
    }
    let place = Listening::choose(transport, dir, "s")?;
    let (program, args) = match kind {
        Server::Memcached => (found("memcached")?, memcached(&place, 1, MEMORY_MIB)),
        Server::Redis => (found("redis-server")?, redis(&place, dir, None)),
        Server::RedisAlways => (found("redis-server")?, redis(&place, dir, Some("always"))),
        Server::RedisEverysec => {
            let args = redis(&place, dir, Some("everysec"));
            (found("redis-server")?, args)
        }
        Server::Odbc => return Err("what ODBC reaches is there already".to_owned()),
        _ => (tavola.to_owned(), serve(&[&place], 1, MEMORY_MIB)),
    };
    let version = version(kind, &program);
    let command = bound(&program);
    let mut running = launch(command, &args, &[cpu], dir, place, version)?;
    if kind == Server::Memcached {
        // It has nothing to bring to an end, and takes a second for it when it is asked to.
        running.signal = Signal::KILL;
    }
    Ok(running)
}

/// A program that dies with this one, where the system has a way to say so.
pub(crate) fn bound(program: &Path) -> Command {
    match in_path("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

pub(crate) fn launch(
    mut command: Command,
    args: &[OsString],
    cpus: &[usize],
    dir: &Path,
    place: Listening,
    version: String,
) -> Result<Running, String> {
    let errors = std::fs::File::create(dir.with_extension("server.err"));
    let errors = errors.map_err(|error| error.to_string())?;
    command
        .args(args)
        .env("TAVOLA_DIR", dir)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    let child = on_cpus(cpus, || command.spawn()).map_err(|error| error.to_string())?;
    let mut running = Running {
        child,
        signal: Signal::TERM,
        address: place.address(),
        version,
    };
    running.wait_until(|| place.is_open())?;
    Ok(running)
}

fn found(name: &str) -> Result<PathBuf, String> {
    in_path(name).ok_or_else(|| format!("there is no {name}"))
}

/// Where a server is to listen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Listening {
    Port(u16),
    Socket(PathBuf),
}

impl Listening {
    /// A port that was free a moment ago, or a file in the folder.
    pub(crate) fn choose(transport: Transport, dir: &Path, file: &str) -> Result<Self, String> {
        match transport {
            Transport::Unix => Ok(Self::Socket(dir.join(file))),
            Transport::Tcp => TcpListener::bind("127.0.0.1:0")
                .and_then(|listener| listener.local_addr())
                .map(|address| Self::Port(address.port()))
                .map_err(|error| format!("there is no free port ({error})")),
        }
    }

    pub(crate) fn address(&self) -> String {
        match self {
            Self::Port(port) => format!("127.0.0.1:{port}"),
            Self::Socket(path) => path.display().to_string(),
        }
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Port(port) => TcpStream::connect(("127.0.0.1", *port)).is_ok(),
            Self::Socket(path) => UnixStream::connect(path).is_ok(),
        }
    }
}

pub(crate) fn memcached(place: &Listening, threads: usize, mib: u64) -> Vec<OsString> {
    let (threads, mib) = (threads.to_string(), mib.to_string());
    let args = ["-t", &threads, "-m", &mib, "-U", "0"];
    let mut args: Vec<OsString> = args.map(Into::into).into();
    match place {
        Listening::Port(port) => {
            args.extend(["-l", "127.0.0.1", "-p"].map(Into::into));
            args.push(port.to_string().into());
        }
        Listening::Socket(path) => args.extend(["-s".into(), path.into()]),
    }
    if geteuid().is_root() {
        args.extend(["-u", "root"].map(Into::into));
    }
    args
}

/// `syncs`: when its log of commands is synced, if it has one.
fn redis(place: &Listening, dir: &Path, syncs: Option<&str>) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["--dir".into(), dir.into()];
    args.extend(["--save", "", "--appendonly"].map(Into::into));
    match syncs {
        Some(when) => args.extend(["yes", "--appendfsync", when].map(Into::into)),
        None => args.push("no".into()),
    }
    args.push("--port".into());
    match place {
        Listening::Port(port) => {
            args.push(port.to_string().into());
            args.extend(["--bind", "127.0.0.1"].map(Into::into));
        }
        Listening::Socket(path) => args.extend(["0".into(), "--unixsocket".into(), path.into()]),
    }
    args
}

pub(crate) fn serve(places: &[&Listening], threads: usize, mib: u64) -> Vec<OsString> {
    let (threads, capacity) = (threads.to_string(), format!("{mib}M"));
    let args = [
        "serve",
        "compared",
        "--threads",
        &threads,
        "--capacity",
        &capacity,
    ];
    let mut args: Vec<OsString> = args.map(Into::into).into();
    for place in places {
        let listen = match place {
            Listening::Port(port) => format!("127.0.0.1:{port}"),
            Listening::Socket(path) => format!("unix:{}", path.display()),
        };
        args.extend(["--listen".into(), listen.into()]);
    }
    args
}

/// The last word of what it says of itself that begins with a digit.
fn version(kind: Server, program: &Path) -> String {
    let flag = match kind {
        Server::Memcached => "-V",
        _ => "--version",
    };
    let output = Command::new(program)
        .arg(flag)
        .stdin(Stdio::null())
        .output();
    let said = output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let number = |word: &str| {
        let word = word.strip_prefix("v=").unwrap_or(word);
        word.starts_with(|c: char| c.is_ascii_digit())
            .then(|| word.to_owned())
    };
    said.split_whitespace().find_map(number).unwrap_or_default()
}

impl Running {
    /// CPU time of all its processes since it was started.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        usage::cpu_seconds(self.child.id())
    }

    /// What its processes have in memory, except mapped files below the folder.
    pub(crate) fn memory_bytes(&self, folder: &Path) -> Option<u64> {
        usage::memory_bytes(self.child.id(), folder)
    }

    fn wait_until(&mut self, serves: impl Fn() -> bool) -> Result<(), String> {
        let until = Instant::now() + START;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("its server ended with {status}"));
            }
            if serves() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err("its server does not accept connections".to_owned())
    }
}

impl Running {
    /// By SIGKILL; what it has written stays.
    pub(super) fn kill(mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }

    /// What it has in memory.
    pub(super) fn resident_bytes(&self) -> u64 {
        let file = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        let pid = Pid::from_child(&self.child);
        let _ = kill_process(pid, self.signal);
        let until = Instant::now() + END;
        while Instant::now() < until {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
