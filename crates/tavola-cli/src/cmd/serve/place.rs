//! Where a server listens: addresses as people write them.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The port of memcached.
pub const PORT: u16 = 11211;
/// The port of Redis.
pub const REDIS_PORT: u16 = 6379;

/// What memcached takes before an address and Tavola does not.
const PREFIXES: [&str; 4] = ["proto[", "tag[", "btls:", "mtls:"];

/// One address or path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Tcp(SocketAddr),
    /// The same without TLS, also where others have it.
    Plain(SocketAddr),
    Unix(PathBuf),
}

impl Place {
    /// This machine alone, at a port.
    pub fn loopback(port: u16) -> Place {
        Place::Tcp(SocketAddr::from(([127, 0, 0, 1], port)))
    }
}

/// Whether only this machine can reach it.
pub fn is_of_this_machine(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Reads `ADDRESS:PORT`, `ADDRESS`, `[ADDRESS]:PORT`, `NAME:PORT`, `unix:PATH` or a path that
/// begins with a slash. A name may stand for several addresses. Before them may be `notls:`, which
/// says what goes without saying for paths.
pub fn read(text: &str, port: u16) -> Result<Vec<Place>, CliError> {
    if let Some(prefix) = PREFIXES.iter().find(|prefix| text.starts_with(**prefix)) {
        return Err(CliError::Sentence(format!(
            "'{text}' begins with {prefix}, which is not supported: all addresses accept the \
            same protocols; only TLS can be turned off for one (notls:)"
        )));
    }
    let (text, place): (_, fn(SocketAddr) -> Place) = match text.strip_prefix("notls:") {
        Some(text) => (text, Place::Plain),
        None => (text, Place::Tcp),
    };
    if let Some(path) = text.strip_prefix("unix:") {
        return Ok(vec![Place::Unix(PathBuf::from(path))]);
    }
    if text.starts_with('/') {
        return Ok(vec![Place::Unix(PathBuf::from(text))]);
    }
    let tcp = tcp(text, port).map_err(|why| {
        CliError::Sentence(format!(
            "'{text}' is not an address to listen on ({why}); write 127.0.0.1:{port}, \
            [::1]:{port} or unix:/path"
        ))
    })?;
    Ok(tcp.into_iter().map(place).collect())
}

fn tcp(text: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = text.parse() {
        return Ok(vec![address]);
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(ip) = bare.unwrap_or(text).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let (name, port) = match text.rsplit_once(':') {
        None => (text, port),
        Some((name, digits)) => (name, digits.parse().map_err(io::Error::other)?),
    };
    let mut found: Vec<SocketAddr> = (name, port).to_socket_addrs()?.collect();
    found.sort();
    found.dedup();
    if found.len() > 1 {
        // `localhost` has an address that a machine without IPv6 cannot listen on.
        found.retain(|address| TcpListener::bind((address.ip(), 0)).is_ok());
    }
    match found.is_empty() {
        true => Err(io::Error::other("it has no address of this machine")),
        false => Ok(found),
    }
}

/// Reads the mode of a Unix socket, as for chmod.
pub fn read_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err(format!(
            "'{text}' is not a mode of a socket; write 700 or 770, for example"
        )),
    }
}

/// The name without folders, for what is called after a socket.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let tcp = |text: &str| vec![Place::Tcp(text.parse().unwrap())];
        for (text, address) in [
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("127.0.0.1", "127.0.0.1:7"),
            ("[::1]:1", "[::1]:1"),
            ("::1", "[::1]:7"),
            ("[::1]", "[::1]:7"),
            ("0.0.0.0:0", "0.0.0.0:0"),
        ] {
            assert_eq!(read(text, 7).unwrap(), tcp(address), "{text}");
        }
        let named = read("localhost:5", 7).unwrap();
        assert!(named.contains(&Place::loopback(5)), "{named:?}");
        let unix = vec![Place::Unix("/x/y".into())];
        assert_eq!(read("unix:/x/y", 7).unwrap(), unix);
        assert_eq!(read("/x/y", 7).unwrap(), unix);
        assert_eq!(read("notls:unix:/x/y", 7).unwrap(), unix);
        let plain = vec![Place::Plain("127.0.0.1:1".parse().unwrap())];
        assert_eq!(read("notls:127.0.0.1:1", 7).unwrap(), plain);
        for wrong in [
            "",
            "notls:",
            "tls:127.0.0.1",
            "proto[ascii]:127.0.0.1",
            "127.0.0.1:many",
            "127.0.0.1:70000",
            "1.2.3.4.5",
        ] {
            assert!(read(wrong, 7).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_loopback_is_of_this_machine() {
        let here = |text: &str| is_of_this_machine(&text.parse().unwrap());
        assert!(here("127.0.0.1:1") && here("127.9.9.9:1") && here("[::1]:1"));
        assert!(here("[::ffff:127.0.0.1]:1"));
        assert!(!here("0.0.0.0:1") && !here("[::]:1") && !here("192.0.2.1:1"));
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(read_mode("770"), Ok(0o770));
        assert_eq!(read_mode("0700"), Ok(0o700));
        for wrong in ["", "9", "1777", "rw"] {
            assert!(read_mode(wrong).is_err(), "{wrong}");
        }
    }
}
