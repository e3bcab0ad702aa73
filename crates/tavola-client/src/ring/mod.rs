//! Which server has a key: the placements of other clients, bit for bit.
//!
//! - `hash`: hashes of keys, as libhashkit has them
//! - `names`: placements and hashes as options name them
//! - `points`: rings with points of each server
//! - `rendezvous`: scores of all servers for each key
//! - `sha1`: the hash of the points of Dalli

mod hash;
mod names;
mod points;
mod rendezvous;
mod sha1;

pub use hash::Hash;
pub use names::PlacementError;

use hash::crc_15;
use points::Points;
use rendezvous::Scores;
use std::fmt;

/// A server, as far as placement is concerned.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name or the address of the host, or the path of a Unix socket. Clients agree only if
    /// they write it the same way: it is hashed, and is not looked up.
    pub host: String,
    /// The port; 0 for a Unix socket.
    pub port: u16,
    /// Its share of the keys, relative to the others. More than 0; 1 if all are equal.
    pub weight: f64,
}

/// A way to place keys on servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Ketama with weights, by MD5: libmemcached's `ketama_weighted`, which php-memcached calls
    /// `OPT_LIBKETAMA_COMPATIBLE`, and pylibmc `ketama_weighted`.
    Ketama,
    /// The same with the points of spymemcached, libmemcached's `ketama_spy`.
    KetamaSpy,
    /// libmemcached's `consistent`, and pylibmc's `ketama`: a hundred points a server, by the hash
    /// of keys. If a server has a weight of more than 1, the points are those of
    /// [`Placement::Ketama`], as there.
    Consistent(Hash),
    /// The hash modulo the number of servers: libmemcached's default. Weights have no effect.
    Modula(Hash),
    /// Cache::Memcached::Fast: so many `ketama_points` a server, times its weight. 0 is its
    /// default, and Cache::Memcached's placement: parts of one continuum.
    Fast {
        /// Points of a server of weight 1; clients of libketama have 150, others 160.
        points: u32,
    },
    /// Jump consistent hash, by Lamping and Veach, of the FNV-1a hash of 64 bits. The fewest keys
    /// move when servers are added at the end. Weights have no effect.
    Jump,
    /// pymemcache's `HashClient`, for keys of the type `str`: each server has a score for a key,
    /// and the highest counts. Weights and the order of the servers have no effect.
    Rendezvous,
    /// Dalli's ring: 160 points a server, times its share, by SHA-1; keys by CRC-32. Dalli hashes
    /// the name space with the key.
    Dalli,
}

/// Why there is no ring of some servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingError {
    /// There are none.
    NoServers,
    /// The weight of this server is not a number above 0.
    Weight {
        /// Its place in the list.
        server: usize,
    },
    /// A ring has at most 2^24 points: fewer points a server, or smaller weights.
    TooManyPoints,
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServers => write!(f, "there is no server; name at least one"),
            Self::Weight { server } => write!(
                f,
                "the weight of server {} is not a number above 0; give 1 to each if all are equal",
                server + 1
            ),
            Self::TooManyPoints => write!(
                f,
                "the servers have more than 2^24 points; give smaller weights or fewer points"
            ),
        }
    }
}

impl std::error::Error for RingError {}

/// The most points of a ring.
const MOST_POINTS: usize = 1 << 24;

/// The servers of a fleet, and which of them has a key.
///
/// # Examples
/// ```
/// use tavola_client::{Node, Placement, Ring};
///
/// let servers = ["10.0.1.1", "10.0.1.2", "10.0.1.3"].map(|host| Node {
///     host: host.to_string(),
///     port: 11211,
///     weight: 1.0,
/// });
/// let ring = Ring::new(&servers, Placement::Ketama)?;
/// assert_eq!(ring.server_of(b"key:3"), 1);
/// # Ok::<(), tavola_client::RingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ring {
    servers: usize,
    distribution: Distribution,
}

#[derive(Clone, Debug)]
enum Distribution {
    /// All keys are on one server, whatever their hash.
    One,
    Modula(Hash),
    Jump,
    Rendezvous(Scores),
    /// A key belongs to the last point up to its hash.
    PointsBefore(Points),
    Points {
        hash: KeyHash,
        points: Points,
    },
    /// Parts of a continuum, which has this length.
    Parts {
        points: Points,
        total: f64,
    },
}

#[derive(Clone, Copy, Debug)]
enum KeyHash {
    Of(Hash),
    Crc32,
}

impl Ring {
    /// Makes the ring of some servers. Their order is part of it.
    ///
    /// # Errors
    /// [`RingError`].
    pub fn new(servers: &[Node], placement: Placement) -> Result<Self, RingError> {
        let is_weight = |weight: f64| weight.is_finite() && weight > 0.0;
        if let Some(server) = servers.iter().position(|node| !is_weight(node.weight)) {
            return Err(RingError::Weight { server });
        }
        let distribution = match servers.len() {
            0 => return Err(RingError::NoServers),
            1 => Distribution::One,
            _ => Distribution::of(servers, placement)?,
        };
        Ok(Self {
            servers: servers.len(),
            distribution,
        })
    }

    /// Returns the number of servers.
    pub fn servers(&self) -> usize {
        self.servers
    }

    /// Returns the place in the list of the server that has a key.
    ///
    /// The key is hashed as it is given. libmemcached hashes the key without its prefix, unless
    /// `HASH_WITH_PREFIX_KEY` is set; Cache::Memcached::Fast with its namespace if
    /// `hash_namespace` is set.
    pub fn server_of(&self, key: &[u8]) -> usize {
        match &self.distribution {
            Distribution::One => 0,
            Distribution::Modula(hash) => hash.of(key) as usize % self.servers,
            Distribution::Jump => jump(fnv_1a(key), self.servers),
            Distribution::Rendezvous(scores) => scores.server_of(key),
            Distribution::PointsBefore(points) => points.server_before(crc32fast::hash(key)),
            Distribution::Points { hash, points } => points.server_of(match hash {
                KeyHash::Of(hash) => hash.of(key),
                KeyHash::Crc32 => crc32fast::hash(key),
            }),
            Distribution::Parts { points, total } => points.server_of(in_continuum(key, *total)),
        }
    }
}

impl Distribution {
    fn of(servers: &[Node], placement: Placement) -> Result<Self, RingError> {
        let has_weights = servers.iter().any(|node| node.weight > 1.0);
        let md5 = KeyHash::Of(Hash::Md5);
        let (hash, points) = match placement {
            Placement::Modula(hash) => return Ok(Self::Modula(hash)),
            Placement::Jump => return Ok(Self::Jump),
            Placement::Rendezvous => return Ok(Self::Rendezvous(Scores::new(servers))),
            Placement::Dalli => return Ok(Self::PointsBefore(Points::dalli(servers)?)),
            Placement::Fast { points: 0 } => {
                return Ok(Self::Parts {
                    points: Points::parts(servers),
                    total: servers.iter().map(|node| node.weight).sum(),
                });
            }
            Placement::Fast { points } => (KeyHash::Crc32, Points::fast(servers, points)?),
            Placement::Ketama => (md5, Points::ketama(servers, points::usual_name)?),
            Placement::KetamaSpy => (md5, Points::ketama(servers, points::spy_name)?),
            Placement::Consistent(hash) if has_weights => {
                let points = Points::ketama(servers, points::usual_name)?;
                (KeyHash::Of(hash), points)
            }
            Placement::Consistent(hash) => (KeyHash::Of(hash), Points::consistent(servers, hash)?),
        };
        Ok(Self::Points { hash, points })
    }
}

/// Returns the place of a key in a continuum of this length, which is stretched over 32 bits.
fn in_continuum(key: &[u8], total: f64) -> u32 {
    let place = u64::from(crc_15(key)) % ((total + 0.5) as u64).max(1);
    let stretched = place as f64 / total * f64::from(u32::MAX) + 0.5;
    (stretched as u64 + 1) as u32
}

/// FNV-1a of 64 bits.
fn fnv_1a(key: &[u8]) -> u64 {
    key.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// Jump consistent hash of a number.
fn jump(mut state: u64, servers: usize) -> usize {
    let (mut last, mut next) = (0, 0.0);
    while next < servers as f64 {
        last = next as usize;
        state = state
            .wrapping_mul(2_862_933_555_777_941_757)
            .wrapping_add(1);
        next = (last + 1) as f64 * ((1_u64 << 31) as f64 / ((state >> 33) + 1) as f64);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(weights: &[f64]) -> Vec<Node> {
        let node = |(i, weight): (usize, &f64)| Node {
            host: format!("10.0.0.{i}"),
            port: 11211,
            weight: *weight,
        };
        weights.iter().enumerate().map(node).collect()
    }

    #[test]
    fn what_makes_no_ring_is_refused() {
        let ring = |weights: &[f64], placement| Ring::new(&nodes(weights), placement).err();
        assert_eq!(ring(&[], Placement::Ketama), Some(RingError::NoServers));
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = ring(&[1.0, weight], Placement::Jump);
            assert_eq!(error, Some(RingError::Weight { server: 1 }));
        }
        let many = Placement::Fast { points: u32::MAX };
        assert_eq!(ring(&[1.0, 1.0], many), Some(RingError::TooManyPoints));
        let heavy = Placement::Fast { points: 150 };
        assert_eq!(ring(&[1.0, 1e300], heavy), Some(RingError::TooManyPoints));
        assert_eq!(ring(&[1e300, 1e-300], Placement::Ketama), None);
    }

    #[test]
    fn jump_places_numbers_and_keys_as_published() {
        for (number, servers, expected) in [
            (1, 1, 0),
            (42, 57, 43),
            (0xDEAD_10CC, 1, 0),
            (0xDEAD_10CC, 666, 361),
            (256, 1024, 520),
            (0, 100_000, 0),
            (1, 8, 6),
            (2, 1000, 338),
            (7, 57, 26),
            (10, 100_000, 32_509),
            (10, 1 << 20, 32_509),
            (100, 1 << 20, 788_940),
            (1 << 33, 1000, 993),
            (1 << 63, 57, 27),
            (u64::MAX, 3, 2),
            (u64::MAX, 1 << 20, 589_430),
        ] {
            assert_eq!(jump(number, servers), expected, "{number} of {servers}");
        }
        assert_eq!(fnv_1a(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_F739_67E8);
        let rings =
            [2, 10, 1000].map(|count| Ring::new(&nodes(&vec![1.0; count]), Placement::Jump));
        for (key, expected) in [
            (&b"a"[..], [1, 2, 163]),
            (b"foobar", [1, 5, 635]),
            (b"key:3", [1, 9, 172]),
            (b"\xFF\x80", [0, 7, 681]),
        ] {
            let places = rings
                .each_ref()
                .map(|ring| ring.as_ref().unwrap().server_of(key));
            assert_eq!(places, expected, "{key:?}");
        }
    }

    #[test]
    fn jump_moves_only_keys_to_the_new_server() {
        let rings: Vec<Ring> = (1..12)
            .map(|count| Ring::new(&nodes(&vec![1.0; count]), Placement::Jump).unwrap())
            .collect();
        for pair in rings.windows(2) {
            let new = pair[0].servers();
            let mut moved = 0;
            for number in 0..5000_u32 {
                let key = number.to_le_bytes();
                let [before, after] = [&pair[0], &pair[1]].map(|ring| ring.server_of(&key));
                assert!(before == after || after == new);
                moved += u32::from(after == new);
            }
            let expected = 5000 / (new as u32 + 1);
            assert!(
                moved.abs_diff(expected) < expected / 5 + 20,
                "{moved} of {expected}"
            );
        }
    }
}
