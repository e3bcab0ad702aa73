//! Rendezvous hashing: a key belongs to the server that has the highest score for it.
//!
//! The score is that of pymemcache, the MurmurHash3 of `HOST:PORT-KEY`. It hashes the characters of
//! a text, each cut to eight bits; so keys that are UTF-8 are hashed by their characters here.

use super::Node;
use super::hash::murmur3;

/// What is hashed of each server.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    names: Vec<String>,
}

impl Scores {
    pub(super) fn new(servers: &[Node]) -> Self {
        let name = |node: &Node| match node.port {
            // A socket or a table is its name alone.
            0 => node.host.clone(),
            port => format!("{}:{port}", node.host),
        };
        Self {
            names: servers.iter().map(name).collect(),
        }
    }

    /// Returns the server of a key. Of equal scores, that of the last name counts.
    pub(super) fn server_of(&self, key: &[u8]) -> usize {
        let mut text = Vec::with_capacity(key.len() + 64);
        let mut best = (0, 0, "");
        for (server, name) in self.names.iter().enumerate() {
            text.clear();
            append(&mut text, name.as_bytes());
            text.push(b'-');
            append(&mut text, key);
            let score = murmur3(&text, 0);
            if server == 0 || (score, name.as_str()) > (best.1, best.2) {
                best = (server, score, name);
            }
        }
        best.0
    }
}

/// Appends the characters of a text, each cut to eight bits, or bytes that are no text.
fn append(text: &mut Vec<u8>, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(characters) if !characters.is_ascii() => {
            text.extend(characters.chars().map(|character| character as u8));
        }
        _ => text.extend_from_slice(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: u16) -> Node {
        Node {
            host: host.to_string(),
            port,
            weight: 1.0,
        }
    }

    /// What pymemcache 4.0.0 answers.
    #[test]
    fn keys_are_where_pymemcache_places_them() {
        let servers = [
            node("10.0.0.1", 11211),
            node("cache.example", 11212),
            node("/run/mc.sock", 0),
        ];
        let scores = Scores::new(&servers);
        let keys = KEYS.map(|key| scores.server_of(key.as_bytes()));
        assert_eq!(keys, PLACES);
    }

    #[test]
    fn of_equal_scores_that_of_the_last_name_counts() {
        let same = [node("a", 1), node("b", 1), node("b", 1), node("a", 1)];
        let places = KEYS.map(|key| Scores::new(&same).server_of(key.as_bytes()));
        assert!(
            places.iter().all(|place| [0, 1].contains(place)),
            "{places:?}"
        );
        // The names are cut to eight bits for the hash, so their scores are the same.
        let cut = [node("a", 1), node("\u{161}", 1)];
        assert_eq!(
            KEYS.map(|key| Scores::new(&cut).server_of(key.as_bytes())),
            [1; 16]
        );
    }

    const KEYS: [&str; 16] = [
        "a",
        "key:1",
        "key:2",
        "key:3",
        "key:4",
        "12345678901",
        "ab",
        "abc",
        "été",
        "こんにちは",
        "my☃",
        "naïve",
        "日本",
        "žluť",
        "пять",
        "größe",
    ];
    const PLACES: [usize; 16] = [0, 0, 2, 2, 0, 2, 2, 2, 0, 2, 0, 0, 0, 2, 1, 2];
}
