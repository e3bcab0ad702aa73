//! The servers of a fleet, as they are written.

use crate::ring::Node;
#[cfg(feature = "table")]
use crate::table::TableSite;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The port of memcached.
const PORT: u16 = 11211;

/// A server of a fleet: where it listens, and its share of the keys.
///
/// With the feature `table`, `tavola:NAME` is a table of this machine: what `tavola serve NAME`
/// would do with a request is done by the thread that asks, without a socket. The table is made if
/// it is missing; NAME is a name in `TAVOLA_DIR` or a path, as `Options::open` of the crate tavola
/// takes it.
///
/// # Examples
/// ```
/// use tavola_client::Server;
///
/// let server: Server = "10.0.0.1:11211?weight=2".parse()?;
/// assert_eq!((server.name(), server.weight()), ("10.0.0.1:11211", 2.0));
/// for text in ["cache.example", "[::1]:11212", "unix:/run/mc.sock", "/run/mc.sock"] {
///     assert_eq!(text.parse::<Server>()?.weight(), 1.0);
/// }
/// # Ok::<(), tavola_client::ServerError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    name: String,
    endpoint: Endpoint,
    weight: f64,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Tcp {
        host: String,
        port: u16,
    },
    Unix(PathBuf),
    /// A table of this machine.
    #[cfg(feature = "table")]
    Table(TableSite),
}

/// Why a text names no server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    text: String,
    why: &'static str,
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" names no server: {}; write HOST:PORT, [IPV6]:PORT, unix:/PATH or tavola:TABLE, \
             perhaps with ?weight=NUMBER",
            self.text, self.why
        )
    }
}

impl std::error::Error for ServerError {}

impl Server {
    /// Returns its name: the text without the weight.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its share of the keys, relative to the others.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Gives it another share of the keys.
    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn node(&self) -> Node {
        let (host, port) = match &self.endpoint {
            Endpoint::Tcp { host, port } => (host.clone(), *port),
            Endpoint::Unix(path) => (path.display().to_string(), 0),
            #[cfg(feature = "table")]
            Endpoint::Table(_) => (self.name.clone(), 0),
        };
        Node {
            host,
            port,
            weight: self.weight,
        }
    }
}

impl FromStr for Server {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let wrong = |why| ServerError {
            text: text.to_string(),
            why,
        };
        let (name, weight) = match text.split_once('?') {
            None => (text, 1.0),
            Some((name, options)) => (name, read_weight(options).map_err(wrong)?),
        };
        let endpoint = read_endpoint(name).map_err(wrong)?;
        Ok(Self {
            name: name.to_string(),
            endpoint,
            weight,
        })
    }
}

fn read_weight(options: &str) -> Result<f64, &'static str> {
    let number = options.strip_prefix("weight=");
    let number = number.ok_or("the one option is weight")?;
    match number.parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
        _ => Err("its weight is not a number above 0"),
    }
}

#[cfg(feature = "table")]
fn read_table(name: &str) -> Result<Endpoint, &'static str> {
    match name {
        "" => Err("the name of the table is missing"),
        name => Ok(Endpoint::Table(TableSite::new(name))),
    }
}

#[cfg(not(feature = "table"))]
fn read_table(_name: &str) -> Result<Endpoint, &'static str> {
    Err("this program is built without the feature table of tavola-client")
}

fn read_endpoint(name: &str) -> Result<Endpoint, &'static str> {
    if let Some(path) = name.strip_prefix("unix:") {
        return match Path::new(path).is_absolute() {
            true => Ok(Endpoint::Unix(path.into())),
            false => Err("the path of a Unix socket begins with /"),
        };
    }
    if let Some(table) = name.strip_prefix("tavola:") {
        return read_table(table);
    }
    if name.starts_with('/') {
        return Ok(Endpoint::Unix(name.into()));
    }
    let (host, port) = if let Some(rest) = name.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or("a ] is missing")?;
        match rest.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if rest.is_empty() => (host, None),
            None => return Err("only a port may follow the ]"),
        }
    } else {
        match name.split_once(':') {
            None => (name, None),
            Some((_, rest)) if rest.contains(':') => {
                return Err("an IPv6 address is in square brackets");
            }
            Some((host, port)) => (host, Some(port)),
        }
    };
    if host.is_empty() {
        return Err("the host is missing");
    }
    let port = match port.map(u16::from_str) {
        None => PORT,
        Some(Ok(port)) if port > 0 => port,
        Some(_) => return Err("its port is not a number from 1 to 65535"),
    };
    Ok(Endpoint::Tcp {
        host: host.to_string(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        text.parse::<Server>().expect(text).endpoint
    }

    fn tcp(host: &str, port: u16) -> Endpoint {
        Endpoint::Tcp {
            host: host.to_string(),
            port,
        }
    }

    #[test]
    fn servers_are_read_as_they_are_written() {
        assert_eq!(endpoint("10.0.0.1:1"), tcp("10.0.0.1", 1));
        assert_eq!(endpoint("cache"), tcp("cache", 11211));
        assert_eq!(endpoint("[::1]:2"), tcp("::1", 2));
        assert_eq!(endpoint("[::1]"), tcp("::1", 11211));
        assert_eq!(endpoint("unix:/a b"), Endpoint::Unix("/a b".into()));
        assert_eq!(endpoint("/a?weight=0.5"), Endpoint::Unix("/a".into()));
        assert_eq!("a?weight=0.5".parse::<Server>().map(|s| s.weight), Ok(0.5));
    }

    #[test]
    fn what_names_no_server_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "host"),
            (":11211", "host"),
            ("a:0", "port"),
            ("a:65536", "port"),
            ("a:b", "port"),
            ("::1", "brackets"),
            ("[::1", "]"),
            ("[::1]x", "]"),
            ("unix:a", "begins with /"),
            ("a?weight=0", "weight"),
            ("a?weight=inf", "weight"),
            ("a?size=1", "weight"),
        ] {
            let error = text.parse::<Server>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
