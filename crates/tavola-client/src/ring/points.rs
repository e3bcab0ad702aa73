//! Rings with points: a key belongs to the server of the first point from its hash on.

use super::hash::{Hash, md5_of, md5_part};
use super::sha1::sha1_head;
use super::{MOST_POINTS, Node, RingError};

/// Points of a server in libmemcached without weights, and on average with them.
const UNWEIGHTED: usize = 100;
const WEIGHTED: f32 = 160.0;
/// Points from one MD5.
const OF_MD5: usize = 4;

/// The points of all servers.
#[derive(Clone, Debug)]
pub(super) struct Points(Vec<Point>);

#[derive(Clone, Copy, Debug)]
struct Point {
    at: u32,
    server: u32,
}

/// Returns the name of a point in libmemcached. It leaves out memcached's own port.
pub(super) fn usual_name(node: &Node, number: usize) -> String {
    match node.port {
        11211 => format!("{}-{number}", node.host),
        port => format!("{}:{port}-{number}", node.host),
    }
}

/// Returns the name of a point in spymemcached.
pub(super) fn spy_name(node: &Node, number: usize) -> String {
    format!("/{}:{}-{number}", node.host, node.port)
}

impl Points {
    /// Returns the server of a hash.
    pub(super) fn server_of(&self, hash: u32) -> usize {
        let next = self.0.partition_point(|point| point.at < hash);
        let point = self.0.get(next).or(self.0.first());
        point.map_or(0, |point| point.server as usize)
    }

    /// Makes a ring of libmemcached with weights: as many points as the share of a server says,
    /// rounded as its calculation with `float` does.
    pub(super) fn ketama(
        servers: &[Node],
        name: fn(&Node, usize) -> String,
    ) -> Result<Self, RingError> {
        let total: f64 = servers.iter().map(|node| node.weight).sum();
        let mut points = Vec::new();
        for (number, node) in servers.iter().enumerate() {
            let share = node.weight as f32 / total as f32;
            let groups = share * WEIGHTED / OF_MD5 as f32 * servers.len() as f32 + 1e-10;
            let groups = groups as usize;
            check(points.len() + groups.saturating_mul(OF_MD5))?;
            for group in 0..groups {
                let md5 = md5_of(name(node, group).as_bytes());
                points.extend((0..OF_MD5).map(|part| Point {
                    at: md5_part(&md5, part),
                    server: number as u32,
                }));
            }
        }
        Ok(Self::sorted(points))
    }

    /// Makes a ring of libmemcached without weights.
    pub(super) fn consistent(servers: &[Node], hash: Hash) -> Result<Self, RingError> {
        check(servers.len() * UNWEIGHTED)?;
        let mut points = Vec::new();
        for (number, node) in servers.iter().enumerate() {
            points.extend((0..UNWEIGHTED).map(|point| Point {
                at: hash.of(usual_name(node, point).as_bytes()),
                server: number as u32,
            }));
        }
        Ok(Self::sorted(points))
    }

    /// Makes a ring of Cache::Memcached::Fast: each point is the CRC-32 of the server's name and
    /// of the point before.
    pub(super) fn fast(servers: &[Node], of_each: u32) -> Result<Self, RingError> {
        let mut points = Vec::new();
        for (number, node) in servers.iter().enumerate() {
            let count = (f64::from(of_each) * node.weight + 0.5) as usize;
            check(points.len().saturating_add(count))?;
            let mut server = crc32fast::Hasher::new();
            server.update(node.host.as_bytes());
            server.update(b"\0");
            // A Unix socket has no port, and nothing stands for it.
            if node.port != 0 {
                server.update(node.port.to_string().as_bytes());
            }
            let mut at = 0_u32;
            for _ in 0..count {
                let mut next = server.clone();
                next.update(&at.to_le_bytes());
                at = next.finalize();
                points.push(Point {
                    at,
                    server: number as u32,
                });
            }
        }
        Ok(Self::sorted(points))
    }

    /// Returns the server of the last point up to a hash.
    pub(super) fn server_before(&self, hash: u32) -> usize {
        let next = self.0.partition_point(|point| point.at <= hash);
        let point = next
            .checked_sub(1)
            .map_or(self.0.last(), |at| self.0.get(at));
        point.map_or(0, |point| point.server as usize)
    }

    /// Makes the ring of Dalli. A socket or a table is its name alone.
    pub(super) fn dalli(servers: &[Node]) -> Result<Self, RingError> {
        let total: f64 = servers.iter().map(|node| node.weight).sum();
        let mut points = Vec::new();
        for (number, node) in servers.iter().enumerate() {
            let share = servers.len() as f64 * f64::from(WEIGHTED) * node.weight / total;
            let count = share as usize;
            check(points.len().saturating_add(count))?;
            let name = match node.port {
                0 => node.host.clone(),
                port => format!("{}:{port}", node.host),
            };
            points.extend((0..count).map(|point| Point {
                at: sha1_head(format!("{name}:{point}").as_bytes()),
                server: number as u32,
            }));
        }
        Ok(Self::sorted(points))
    }

    /// Makes the parts of Cache::Memcached::Fast's continuum: each server takes its share from the
    /// ends of those before it.
    pub(super) fn parts(servers: &[Node]) -> Self {
        let (mut points, mut total) = (Vec::<Point>::new(), 0.0);
        for (number, node) in servers.iter().enumerate() {
            total += node.weight;
            let scale = node.weight / total;
            for point in &mut points {
                let at = f64::from(point.at);
                point.at = (at - at * scale) as u32;
            }
            points.push(Point {
                at: u32::MAX,
                server: number as u32,
            });
        }
        Self(points)
    }

    /// Of equal points, the one that was made first counts.
    fn sorted(mut points: Vec<Point>) -> Self {
        points.sort_by_key(|point| point.at);
        Self(points)
    }
}

fn check(points: usize) -> Result<(), RingError> {
    match points > MOST_POINTS {
        true => Err(RingError::TooManyPoints),
        false => Ok(()),
    }
}
