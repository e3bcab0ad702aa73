//! Servers of a test, ended with it.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tavola::Table;
use tavola_client::{Builder, Client, Protocol};
use tavola_server::memcached::{Memcached, Rules};
use tavola_server::{Address, Listen, Options, Server};

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of ours. It ends when it is stopped or dropped.
pub struct Ours {
    pub name: String,
    pub server: Option<Server>,
}

impl Ours {
    pub fn start() -> Self {
        Self::on("127.0.0.1:0")
    }

    pub fn on(address: &str) -> Self {
        Self::listening(
            Listen::Tcp(address.parse().expect("an address")),
            Rules::default(),
        )
    }

    pub fn listening(listen: Listen, rules: Rules) -> Self {
        let options = Options::new().threads(2).listen(listen);
        Self::of(options, rules)
    }

    pub fn of(options: Options, rules: Rules) -> Self {
        let table = Table::options().max_size(256 << 20).versions(true);
        let table = Arc::new(table.private().expect("a table"));
        let server = options.start(Memcached::with_rules(table, rules));
        let server = server.expect("a server");
        let name = match &server.addresses()[0] {
            Address::Tcp(address) => address.to_string(),
            Address::Unix(path) => format!("unix:{}", path.display()),
        };
        let server = Some(server);
        Self { name, server }
    }

    pub fn client(&self) -> Builder {
        Client::builder().server(&self.name, 1.0)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// memcached itself, ended with the value.
pub struct Theirs {
    child: Child,
    pub name: String,
}

impl Theirs {
    /// None where memcached is not installed.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        Self::on(free_port(), arguments)
    }

    pub fn on(port: u16, arguments: &[&str]) -> Option<Self> {
        Self::with_sasl(port, arguments, None)
    }

    /// With the folder of its configuration of SASL.
    pub fn with_sasl(port: u16, arguments: &[&str], folder: Option<&Path>) -> Option<Self> {
        let number = port.to_string();
        let child = Command::new("memcached")
            .args(["-l", "127.0.0.1", "-U", "0", "-u", "root", "-p", &number])
            .args(arguments)
            .envs(folder.map(|folder| ("SASL_CONF_PATH", folder)))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match child {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                println!("memcached is not installed");
                return None;
            }
            child => child.expect("memcached starts"),
        };
        let name = format!("127.0.0.1:{port}");
        let mut theirs = Self { child, name };
        let start = Instant::now();
        while TcpStream::connect(&theirs.name).is_err() {
            let ended = theirs.child.try_wait().expect("a child");
            let starts = ended.is_none() && start.elapsed() < PATIENCE;
            assert!(starts, "memcached does not start: {ended:?}");
            sleep(Duration::from_millis(2));
        }
        Some(theirs)
    }

    pub fn client(&self) -> Builder {
        Client::builder().server(&self.name, 1.0)
    }

    pub fn port(&self) -> u16 {
        let port = self.name.rsplit(':').next().expect("a port");
        port.parse().expect("a number")
    }

    /// Sends it a signal: `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let number = self.child.id().to_string();
        let status = Command::new("kill")
            .args([&format!("-{name}"), &number])
            .status();
        assert!(status.expect("kill runs").success());
        if name == "STOP" {
            let stat = format!("/proc/{number}/stat");
            let is_stopped = || fs::read_to_string(&stat).is_ok_and(|text| text.contains(") T"));
            wait_until("it is stopped", is_stopped);
        }
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of the loopback that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(1));
    }
}

/// A client that does not give up on a busy machine.
pub fn patient(builder: Builder) -> Client {
    let time = Duration::from_secs(20);
    let builder = builder.io_timeout(time).connect_timeout(time);
    builder.build().expect("a client")
}

/// Runs a test with every kind of server, socket and protocol, and with lines of gets. Each has
/// keys of its own.
pub fn with_each(test: impl Fn(&str, &Client, Protocol)) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let unix = |path: &Path| Listen::Unix {
        path: path.to_path_buf(),
        mode: 0o700,
    };
    let ways = [
        (Protocol::Auto, false),
        (Protocol::Auto, true),
        (Protocol::Text, false),
        (Protocol::Binary, false),
    ];
    let ours = [
        Ours::start(),
        Ours::on("[::1]:0"),
        Ours::listening(unix(&path("ours")), Rules::default()),
    ];
    let theirs_path = path("theirs");
    let theirs_path = theirs_path.to_str().expect("a path");
    let mut servers: Vec<String> = ours.iter().map(|ours| ours.name.clone()).collect();
    let theirs = Theirs::start(&[]);
    servers.extend(theirs.iter().map(|theirs| theirs.name.clone()));
    let theirs_unix = UnixTheirs::start(theirs_path);
    servers.extend(theirs_unix.iter().map(|_| format!("unix:{theirs_path}")));
    for (number, server) in servers.iter().enumerate() {
        for (protocol, in_lines) in ways {
            let way = match in_lines {
                false => format!("{protocol:?}"),
                true => format!("{protocol:?}-lines"),
            };
            let builder = Client::builder()
                .server(server, 1.0)
                .namespace(format!("{way}:"))
                .multi_key_gets(in_lines)
                .protocol(protocol);
            let name = format!("{server} ({number}), {way}");
            let start = Instant::now();
            test(&name, &patient(builder), protocol);
            println!("{name}: {:?}", start.elapsed());
        }
    }
}

/// memcached on a Unix socket.
struct UnixTheirs(Child);

impl UnixTheirs {
    fn start(path: &str) -> Option<Self> {
        let child = Command::new("memcached")
            .args(["-u", "root", "-s", path])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let theirs = Self(child.ok()?);
        let connects = || std::os::unix::net::UnixStream::connect(path).is_ok();
        wait_until("memcached listens", connects);
        Some(theirs)
    }
}

impl Drop for UnixTheirs {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
