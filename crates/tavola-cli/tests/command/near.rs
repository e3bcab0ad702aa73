//! `tavola near`: a cache before a Redis server, if one is installed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::shell::{Shell, wait_until};

/// `redis-server` on a free port, ended with the value.
struct Redis {
    child: Child,
    port: u16,
    _directory: tempfile::TempDir,
}

impl Redis {
    fn start() -> Option<Redis> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let directory = tempfile::tempdir().expect("a directory");
        let spawned = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .args(["--requirepass", "secret", "--save", "", "--dir"])
            .arg(directory.path())
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = spawned else {
            println!("redis-server is not installed");
            return None;
        };
        wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Redis {
            child,
            port,
            _directory: directory,
        })
    }

    /// Runs a command that is answered with OK.
    fn run(&self, line: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let lines = format!("AUTH secret\r\n{line}\r\n");
        stream.write_all(lines.as_bytes()).expect("sent");
        let mut answers = [0; 10];
        stream.read_exact(&mut answers).expect("answers");
        assert_eq!(&answers, b"+OK\r\n+OK\r\n");
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }
}

#[test]
fn a_daemon_fills_a_cache_that_others_read() {
    let shell = Shell::new();
    let none = shell.run(["near", "n", "--get", "k"]);
    assert_eq!(none.code, 2);
    let Some(redis) = Redis::start() else {
        return;
    };
    let upstream = format!("redis://127.0.0.1:{}", redis.port);
    let refused = shell.run(["near", "other", "--upstream", &upstream]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("NOAUTH"), "{}", refused.err);
    let password = shell.file("password", "secret\n");
    let password = password.to_str().expect("a path");
    let daemon = [
        "near",
        "n",
        "--upstream",
        &upstream,
        "--password-file",
        password,
    ];
    let mut child = shell.spawn(
        daemon
            .into_iter()
            .chain(["--capacity", "8M", "--prefix", "k"]),
    );
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert_eq!(next(), "tavola: this daemon works now");
    assert_eq!(next(), "tavola: connected to the server");
    assert_eq!(shell.run(["near", "n", "--get", "k"]).code, 1);
    redis.run("SET k v1");
    assert_eq!(shell.run(["near", "n", "--get", "k"]).text(), "v1");
    redis.run("SET k v2");
    wait_until(|| shell.run(["near", "n", "--get", "k"]).text() == "v2");
    // A machine that is slow lets trust end for a moment.
    wait_until(|| {
        let status = shell.run(["near", "n", "--status"]);
        status.code == 0 && status.out.starts_with(b"state       values are served\n")
    });
    // The table of another server.
    let other = shell.run(["near", "n", "--upstream", "redis://127.0.0.1:1"]);
    let other = other.error();
    assert!(other.contains("another server"), "{other}");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).expect("it runs");
    assert!(child.wait().expect("it ends").success());
    wait_until(|| shell.run(["near", "n", "--status"]).code == 1);
    assert_eq!(shell.run(["near", "n", "--get", "k"]).code, 2);
}
