//! Servers as texts write them: `host`, `host:port`, `host:port:weight`, `host:port/?weight`,
//! `[IPV6]:port`, or the path of a Unix socket.

use super::types::{HOST_BYTES, TCP, UNIX, UNKNOWN_VERSION, memcached_server_st};
use std::ffi::{c_char, c_int};

/// The port of memcached.
pub(super) const PORT: u16 = 11211;

/// A server of a host, or of a path; `None` if the name is too long.
pub(super) fn server(
    host: &[u8],
    port: u16,
    kind: c_int,
    weight: u32,
) -> Option<memcached_server_st> {
    if host.len() >= HOST_BYTES || host.contains(&0) {
        return None;
    }
    let mut hostname = [0; HOST_BYTES];
    for (place, byte) in hostname.iter_mut().zip(host) {
        *place = *byte as c_char;
    }
    Some(memcached_server_st {
        hostname,
        major_version: UNKNOWN_VERSION,
        minor_version: UNKNOWN_VERSION,
        micro_version: UNKNOWN_VERSION,
        port,
        kind,
        weight: weight.max(1),
        count: 0,
        error: 0,
        reserved: [0; 4],
    })
}

/// Reads one server.
pub(super) fn read(text: &str) -> Option<memcached_server_st> {
    let (text, weight) = match text.split_once("/?") {
        Some((text, weight)) => (text, Some(weight.parse().ok()?)),
        None => (text, None),
    };
    if text.starts_with('/') {
        return server(text.as_bytes(), 0, UNIX, weight.unwrap_or(1));
    }
    let (host, rest) = match text.strip_prefix('[') {
        Some(text) => {
            let (host, rest) = text.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, rest)) => (host, Some(rest)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return None;
    }
    let (port, behind) = match rest.map(|rest| rest.split_once(':').unwrap_or((rest, ""))) {
        None | Some(("", "")) => (PORT, ""),
        Some((port, behind)) => (port.parse().ok()?, behind),
    };
    let weight = match (weight, behind) {
        (Some(weight), _) => weight,
        (None, "") => 1,
        (None, behind) => behind.parse().ok()?,
    };
    server(host.as_bytes(), port, TCP, weight)
}

/// Reads a list with commas between the servers.
pub(super) fn read_list(text: &str) -> Option<Vec<memcached_server_st>> {
    let texts = text.split(',').map(str::trim);
    texts.filter(|text| !text.is_empty()).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fleet::host;
    use super::*;

    #[test]
    fn servers_are_read_as_they_are_written() {
        let read = |text| {
            let server = read(text).expect(text);
            (host(&server), server.port, server.weight, server.kind)
        };
        assert_eq!(read("a"), ("a".to_string(), 11211, 1, TCP));
        assert_eq!(read("a:1"), ("a".to_string(), 1, 1, TCP));
        assert_eq!(read("a:1:7"), ("a".to_string(), 1, 7, TCP));
        assert_eq!(read("a:1/?3"), ("a".to_string(), 1, 3, TCP));
        assert_eq!(read("[::1]:2"), ("::1".to_string(), 2, 1, TCP));
        assert_eq!(read("/a/b"), ("/a/b".to_string(), 0, 1, UNIX));
        assert_eq!(read("/a/b/?9"), ("/a/b".to_string(), 0, 9, UNIX));
    }

    #[test]
    fn what_names_no_server_is_refused() {
        for text in [":1", "a:b", "a:1:b", "a:70000", "[::1", "a/?b"] {
            assert!(read(text).is_none(), "{text}");
        }
        assert!(read_list("a, /b c, c:2,").is_some_and(|list| list.len() == 3));
        assert!(read_list("a, :1").is_none());
    }
}
