//! Addresses of servers: `redis://user:password@host:6379/0`, `unix:/run/redis.sock`.
//!
//! A name without a password is that of a user; `redis://:password@host` has no user.

use crate::engine::Login;
use crate::error::{NearError, Result};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

const PORT: u16 = 6379;
/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Tcp(String, u16),
    Unix(PathBuf),
}

/// Where a server is, and as whom to log in.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    place: Place,
    pub(crate) login: Option<Login>,
    pub(crate) database: u32,
}

impl fmt::Display for Address {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Tcp(host, port) => write!(f, "redis://{host}:{port}/{}", self.database),
            Place::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

fn invalid(why: impl Into<String>) -> NearError {
    NearError::BadOption {
        option: "upstream",
        why: why.into(),
    }
}

impl Address {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path.starts_with('/') {
                true => Ok(Self {
                    place: Place::Unix(path.into()),
                    login: None,
                    database: 0,
                }),
                false => Err(invalid("unix: needs an absolute path")),
            };
        }
        let Some(rest) = text.strip_prefix("redis://") else {
            return Err(invalid(
                "an address is redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE] or unix:PATH",
            ));
        };
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(parse_login(login)), rest),
            None => (None, rest),
        };
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = match database {
            "" => 0,
            text => text
                .parse()
                .map_err(|_| invalid(format!("{text:?} is not the number of a database")))?,
        };
        let (host, port) = parse_host(host)?;
        Ok(Self {
            place: Place::Tcp(host, port),
            login,
            database,
        })
    }

    pub(crate) fn connect(&self) -> io::Result<Stream> {
        let stream = match &self.place {
            Place::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            Place::Tcp(host, port) => {
                let mut failed = io::ErrorKind::NotFound.into();
                let mut addresses = (host.as_str(), *port).to_socket_addrs()?;
                let connected = addresses.find_map(|address| {
                    TcpStream::connect_timeout(&address, PATIENCE)
                        .map_err(|error| failed = error)
                        .ok()
                });
                let stream = connected.ok_or(failed)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
        };
        stream.set_nonblocking()?;
        Ok(stream)
    }
}

fn parse_login(text: &str) -> Login {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let user = match user {
        "" => "default",
        user => user,
    };
    Login {
        user: user.to_owned(),
        password: password.to_owned(),
    }
}

fn parse_host(text: &str) -> Result<(String, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port))
            if !host.ends_with(':') && (!host.contains(':') || host.ends_with(']')) =>
        {
            let port = port.parse();
            (host, port.map_err(|_| invalid("the port is not a number"))?)
        }
        _ => (text, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host {
        "" => Err(invalid("the host is missing")),
        host => Ok((host.to_owned(), port)),
    }
}

/// A connection to a server, which does not block.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, shown) in [
            ("redis://cache", "redis://cache:6379/0"),
            ("redis://10.0.0.1:7000/2", "redis://10.0.0.1:7000/2"),
            ("redis://[::1]:7000", "redis://::1:7000/0"),
            ("redis://u:p@w@h", "redis://h:6379/0"),
            ("unix:/run/redis.sock", "unix:/run/redis.sock"),
            ("unix:///run/redis.sock", "unix:/run/redis.sock"),
        ] {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.to_string(), shown);
        }
        let login = Address::parse("redis://:secret@h").expect("one").login;
        let login = login.expect("a password");
        assert_eq!(
            (login.user.as_str(), login.password.as_str()),
            ("default", "secret")
        );
        assert!(!format!("{login:?}").contains("secret"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "h:1",
            "redis://",
            "redis://h:x",
            "redis://h/x",
            "unix:r",
            "rediss://h",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
