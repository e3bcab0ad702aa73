//! Servers of a test, ended with it.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tavola::Table;
use tavola_server::memcached::{Memcached, Rules};
use tavola_server::{Address, Listen, Options, Server};

/// How long a memcached may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two servers, of which each has a part of the keys.
pub enum Fleet {
    Ours([Server; 2]),
    Memcached([Memcache; 2]),
}

/// A memcached on a port.
pub struct Memcache {
    child: Child,
    port: u16,
}

impl Drop for Memcache {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Fleet {
    /// Two servers of ours.
    pub fn start() -> Self {
        let start = || {
            let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
            start_with(Options::new().threads(1).listen(listen), Rules::default())
        };
        Self::Ours([start(), start()])
    }

    /// Two servers of memcached; `None` if it is not installed.
    pub fn of_memcached() -> Option<Self> {
        let is_there = Command::new("memcached")
            .arg("-V")
            .stdout(Stdio::null())
            .status();
        is_there.ok()?;
        Some(Self::Memcached([start_memcached(), start_memcached()]))
    }

    /// The list of servers, as `tavola_mc_open` takes it.
    pub fn list(&self) -> String {
        match self {
            Self::Ours(servers) => servers.each_ref().map(name).join(","),
            Self::Memcached(servers) => servers
                .each_ref()
                .map(|server| format!("127.0.0.1:{}", server.port))
                .join(","),
        }
    }
}

/// A server of ours over a table of its own.
pub fn start_with(options: Options, rules: Rules) -> Server {
    let table = Table::options().max_size(64 << 20).versions(true);
    let table = Arc::new(table.private().expect("a table"));
    let server = options.start(Memcached::with_rules(table, rules));
    server.expect("a server")
}

/// Where a server listens, as the client takes it.
pub fn name(server: &Server) -> String {
    match &server.addresses()[0] {
        Address::Tcp(address) => address.to_string(),
        Address::Unix(path) => format!("unix:{}", path.display()),
    }
}

fn start_memcached() -> Memcache {
    // Another process may take the port before memcached does; then it is tried again.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let mut child = Command::new("memcached")
            .args(["-l", "127.0.0.1", "-u", "root", "-t", "1", "-p"])
            .arg(port.to_string())
            .stderr(Stdio::null())
            .spawn()
            .expect("memcached");
        while child.try_wait().expect("a child").is_none() {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Memcache { child, port };
            }
            assert!(Instant::now() < deadline, "memcached does not start");
            sleep(Duration::from_millis(10));
        }
    }
}
