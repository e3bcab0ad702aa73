//! Placements and hashes as they are written in options.

use super::{Hash, Placement};
use std::fmt;
use std::str::FromStr;

/// The hashes by the names that libmemcached's option strings have for them.
const HASHES: [(&str, Hash); 12] = [
    ("default", Hash::OneAtATime),
    ("one-at-a-time", Hash::OneAtATime),
    ("md5", Hash::Md5),
    ("crc", Hash::Crc),
    ("fnv1_64", Hash::Fnv1Of64),
    ("fnv1a_64", Hash::Fnv1aOf64),
    ("fnv1_32", Hash::Fnv1Of32),
    ("fnv1a_32", Hash::Fnv1aOf32),
    ("murmur", Hash::Murmur),
    ("murmur3", Hash::Murmur3),
    ("jenkins", Hash::Jenkins),
    ("lookup3", Hash::Jenkins),
];

/// Why a text names no placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementError {
    text: String,
    is_hash: bool,
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.is_hash {
            true => {
                let names: Vec<&str> = HASHES.iter().map(|(name, _)| *name).collect();
                write!(
                    f,
                    "\"{text}\" is not a hash; write one of {}",
                    names.join(", ")
                )
            }
            false => write!(
                f,
                "\"{text}\" is not a placement; write ketama, ketama-spy, consistent[:HASH], \
                 modula[:HASH], fast[:POINTS], jump, rendezvous or \
                 dalli"
            ),
        }
    }
}

impl std::error::Error for PlacementError {}

impl FromStr for Hash {
    type Err = PlacementError;

    /// Reads a name as libmemcached has it, in any case of letters.
    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let mut named = HASHES
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(text));
        named.next().map(|(_, hash)| *hash).ok_or(PlacementError {
            text: text.to_string(),
            is_hash: true,
        })
    }
}

impl FromStr for Placement {
    type Err = PlacementError;

    /// Reads `ketama`, `ketama-spy`, `consistent[:HASH]`, `modula[:HASH]`, `fast[:POINTS]`, `jump`
    /// `rendezvous` or `dalli`.
    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let wrong = || PlacementError {
            text: text.to_string(),
            is_hash: false,
        };
        let (name, detail) = match text.split_once(':') {
            None => (text, None),
            Some((name, detail)) => (name, Some(detail)),
        };
        let hash = || detail.map_or(Ok(Hash::default()), Hash::from_str);
        Ok(match (name, detail) {
            ("ketama", None) => Self::Ketama,
            ("ketama-spy", None) => Self::KetamaSpy,
            ("jump", None) => Self::Jump,
            ("rendezvous", None) => Self::Rendezvous,
            ("dalli", None) => Self::Dalli,
            ("consistent", _) => Self::Consistent(hash()?),
            ("modula", _) => Self::Modula(hash()?),
            ("fast", None) => Self::Fast { points: 0 },
            ("fast", Some(points)) => Self::Fast {
                points: points.parse().map_err(|_| wrong())?,
            },
            _ => return Err(wrong()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read_by_their_names() {
        let read = |text: &str| text.parse::<Placement>();
        assert_eq!(read("ketama"), Ok(Placement::Ketama));
        assert_eq!(read("ketama-spy"), Ok(Placement::KetamaSpy));
        assert_eq!(read("modula"), Ok(Placement::Modula(Hash::OneAtATime)));
        assert_eq!(read("consistent:MD5"), Ok(Placement::Consistent(Hash::Md5)));
        assert_eq!(read("fast"), Ok(Placement::Fast { points: 0 }));
        assert_eq!(read("fast:150"), Ok(Placement::Fast { points: 150 }));
        assert_eq!(read("jump"), Ok(Placement::Jump));
        assert_eq!(read("rendezvous"), Ok(Placement::Rendezvous));
        assert_eq!(read("dalli"), Ok(Placement::Dalli));
        for wrong in ["", "ring", "ketama:md5", "fast:x", "jump:3", "modula:"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let no_hash = read("modula:sha").expect_err("no hash").to_string();
        assert!(no_hash.contains("murmur3"), "{no_hash}");
    }
}
