//! A server of the test's own, and a client for it.

use crate::wait_until;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// `redis-server`, ended with the value.
pub struct Server {
    child: Child,
    pub port: u16,
    arguments: Vec<String>,
    directory: tempfile::TempDir,
}

/// Between the choice of a free port and its use, no other test chooses one.
static PORT: Mutex<()> = Mutex::new(());

impl Server {
    /// Returns `None` if redis-server is not installed.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let _guard = PORT.lock().unwrap_or_else(PoisonError::into_inner);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let directory = tempfile::tempdir().expect("a directory");
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let child = spawn(port, directory.path(), &arguments)?;
        let server = Self {
            child,
            port,
            arguments,
            directory,
        };
        wait_until("the server listens", || Client::connect(port).is_ok());
        Some(server)
    }

    pub fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the path of its Unix socket.
    pub fn socket(&self) -> String {
        let path = self.directory.path().join("socket");
        path.display().to_string()
    }

    pub fn client(&self) -> Client {
        Client::connect(self.port).expect("it listens")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it and starts it again, without its keys.
    pub fn restart(&mut self) {
        self.end();
        let path = self.directory.path();
        self.child = spawn(self.port, path, &self.arguments).expect("it was installed");
        let port = self.port;
        wait_until("the server listens again", || Client::connect(port).is_ok());
    }

    fn end(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn spawn(port: u16, directory: &Path, arguments: &[String]) -> Option<Child> {
    let spawned = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(directory)
        .arg("--unixsocket")
        .arg(directory.join("socket"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match spawned {
        Ok(child) => Some(child),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            println!("redis-server is not installed");
            None
        }
        Err(error) => panic!("redis-server does not start: {error}"),
    }
}

/// A client of RESP2 for the test.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Returns the reply as text: that of an error begins with "-".
    pub fn call(&mut self, words: &[&[u8]]) -> io::Result<String> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend(format!("${}\r\n", word.len()).into_bytes());
            request.extend(*word);
            request.extend(b"\r\n");
        }
        self.stream.get_mut().write_all(&request)?;
        self.reply()
    }

    fn reply(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        if !line.ends_with("\r\n") {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        let Some(len) = line.strip_prefix('$') else {
            return Ok(line.trim_start_matches(['+', ':']).to_owned());
        };
        let Ok(len) = len.parse::<usize>() else {
            return Ok("nil".to_owned());
        };
        let mut value = vec![0; len + 2];
        self.stream.read_exact(&mut value)?;
        value.truncate(len);
        Ok(String::from_utf8_lossy(&value).into_owned())
    }

    pub fn set(&mut self, key: &str, value: &[u8]) {
        let reply = self.call(&[b"SET", key.as_bytes(), value]);
        assert_eq!(reply.expect("a reply"), "OK");
    }
}
