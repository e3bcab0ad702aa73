//! The servers: started in a folder of their own, asked what they cost, ended by their number.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::job::Address;
use super::{Config, Side};
use crate::{Error, Result};

/// How long a server may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(20);
const TABLE: &str = "served";

/// A folder for sockets and tables, gone when dropped.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench-serve-{}-{count}", std::process::id());
        let path = tavola::names::directory().join(name);
        let mut builder = fs::DirBuilder::new();
        let made = builder.mode(0o700).recursive(true).create(&path);
        made.map_err(Error::io("making a folder for servers"))?;
        Ok(Self(path))
    }

    pub(super) fn table(&self) -> PathBuf {
        self.0.join(TABLE)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that listens on loopback and on a Unix socket, or on one of both.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    pub(super) side: Side,
    pub(super) tcp: Option<Address>,
    pub(super) unix: Option<Address>,
    /// The table, where there is one.
    table: Option<File>,
}

impl Server {
    /// `memory`: a server that may take so many MiB.
    pub(super) fn start(
        config: &Config,
        side: Side,
        over_unix: bool,
        cpus: &[usize],
        folder: &Folder,
        memory: u64,
    ) -> Result<Self> {
        match side {
            Side::Tavola => tavola(config, cpus, folder, memory),
            Side::Memcached => memcached(config, over_unix, cpus, folder, memory),
        }
    }

    /// Seconds of CPU that it has taken so far.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let stat = stat.map_err(Error::io("asking for a server's CPU time"))?;
        // Behind the name, which ends at the last parenthesis, the 12th and 13th word.
        let words = stat.rsplit(')').next().unwrap_or_default();
        let ticks = words.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|word| word.parse::<u64>().ok()).sum();
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// Bytes of memory: what the process has for itself and of files, and what it shares: of the
    /// table the memory of its file, whoever has touched it.
    pub(super) fn memory_bytes(&self) -> Result<u64> {
        let doing = "asking for a server's memory";
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.map_err(Error::io(doing))?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let digits =
                line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next());
            digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
        };
        let own: u64 = kib("RssAnon") + kib("RssFile");
        let shared = match &self.table {
            Some(table) => table.metadata().map_err(Error::io(doing))?.blocks() * 512,
            None => kib("RssShmem") * 1024,
        };
        Ok(own * 1024 + shared)
    }
}

impl Drop for Server {
    /// Asks it to end, and ends it if it does not.
    fn drop(&mut self) {
        let pid = Pid::from_raw(self.child.id() as i32);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This program as the host of another.
fn hosted(config: &Config, cpus: &[usize], program: &OsStr) -> Command {
    let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let mut command = Command::new(&config.program);
    command
        .args(&config.host)
        .args([std::process::id().to_string(), cpus.join(",")])
        .arg(program)
        .stdin(Stdio::null());
    command
}

fn tavola(config: &Config, cpus: &[usize], folder: &Folder, memory: u64) -> Result<Server> {
    let socket = folder.0.join("tavola.sock");
    let mut unix = OsString::from("unix:");
    unix.push(&socket);
    let mut command = hosted(config, cpus, config.tavola.as_os_str());
    command
        .args(["serve", TABLE, "--listen", "127.0.0.1:0", "--listen"])
        .arg(unix)
        .args(["--threads", &config.threads.to_string()])
        .args(["--capacity", &format!("{memory}M")])
        .args(&config.with)
        .env("TAVOLA_DIR", &folder.0)
        .stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(Error::io("starting tavola serve"))?;
    let output = child.stdout.take().expect("the output is piped");
    let mut line = String::new();
    let heard = BufReader::new(output).read_line(&mut line);
    heard.map_err(Error::io("hearing tavola serve"))?;
    let mut server = Server {
        child,
        side: Side::Tavola,
        tcp: None,
        unix: Some(Address::Unix(socket)),
        table: None,
    };
    let address = line.split([' ', ',']).find_map(|word| word.parse().ok());
    let address = address.ok_or_else(|| Error::Worker {
        what: format!("tavola serve did not say where it listens: {line:?}"),
    })?;
    server.tcp = Some(Address::Tcp(address));
    let table = File::open(folder.table());
    server.table = Some(table.map_err(Error::io("opening the table"))?);
    Ok(server)
}

fn memcached(
    config: &Config,
    over_unix: bool,
    cpus: &[usize],
    folder: &Folder,
    memory: u64,
) -> Result<Server> {
    let program = config.against.as_deref().unwrap_or(OsStr::new("memcached"));
    let (socket, ports) = (folder.0.join("memcached.sock"), folder.0.join("ports"));
    let mut command = hosted(config, cpus, program);
    command.args(["-U", "0", "-t", &config.threads.to_string()]);
    command.args(["-m", &memory.to_string()]);
    command.args(&config.against_with);
    if over_unix {
        command.arg("-s").arg(&socket);
    } else {
        command.args(["-l", "127.0.0.1", "-p", "-1"]);
    }
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "root"]);
    }
    command.env("MEMCACHED_PORT_FILENAME", &ports);
    command.stdout(Stdio::null());
    let child = command.spawn().map_err(Error::io("starting memcached"))?;
    let mut server = Server {
        child,
        side: Side::Memcached,
        tcp: None,
        unix: None,
        table: None,
    };
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let ended = server.child.try_wait();
        if let Some(status) = ended.map_err(Error::io("waiting for memcached"))? {
            let what = format!("memcached ended before it served: {status}");
            return Err(Error::Worker { what });
        }
        if over_unix && UnixStream::connect(&socket).is_ok() {
            server.unix = Some(Address::Unix(socket));
            return Ok(server);
        }
        if let Some(port) = port(&ports) {
            server.tcp = Some(Address::Tcp(([127, 0, 0, 1], port).into()));
            return Ok(server);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(Error::Worker {
        what: "memcached did not begin to listen".to_owned(),
    })
}

/// The port in a file that memcached writes when it listens.
fn port(file: &Path) -> Option<u16> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("TCP INET:"));
    line?.trim().parse().ok()
}
