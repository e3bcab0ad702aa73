//! The ways between the two sides: over a pool of queues, and through a pair of sockets.

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tavola::{Queue, QueuePool};

use super::turns::{Channel, Plan, Run, Side, fill, number};
use crate::{Error, Result};

/// Of the pool: those that no side has, on the way there, on the way back.
pub(super) const QUEUES: [&str; 3] = ["free", "a2b", "b2a"];
/// How long a side sleeps at most that nobody wakes.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// One side's queues.
pub(super) struct Pool {
    pool: QueuePool,
    free: Queue,
    from: Queue,
    to: Queue,
}

/// After a case all elements are free again, and the pool is sound.
pub(super) fn check(pool: &QueuePool) -> Result<()> {
    let wrong = |what: String| Err(Error::wrong("queue", what));
    let (free, all) = (pool.queue(QUEUES[0])?.len(), pool.elements() as usize);
    if free != all {
        return wrong(format!("{free} of {all} elements are free at the end"));
    }
    match pool.check()?.problems.first() {
        Some(problem) => wrong(problem.clone()),
        None => Ok(()),
    }
}

impl Pool {
    /// The starter takes all elements, and gives each its bytes.
    pub(super) fn open(pool: QueuePool, side: Side, plan: &Plan) -> Result<Self> {
        let [free, there, back] = QUEUES;
        let (from, to) = match side {
            Side::Starter => (back, there),
            Side::Returner => (there, back),
        };
        let channel = Self {
            free: pool.queue(free)?,
            from: pool.queue(from)?,
            to: pool.queue(to)?,
            pool,
        };
        if side == Side::Starter {
            let mut all = vec![0; plan.elements as usize + 1];
            let mut count = 0;
            while count < all.len() {
                count += match channel.free.pop_many(&mut all[count..])? {
                    0 => return Err(Error::wrong("queue", "a new pool lacks elements")),
                    more => more,
                };
            }
            let mut bytes = vec![0; plan.element_bytes];
            for element in all {
                fill(&mut bytes, element);
                channel.pool.write(element, 0, &bytes)?;
            }
        }
        Ok(channel)
    }
}

impl Channel for Pool {
    #[inline]
    fn take(&mut self, run: &mut Run, most: usize, waits: bool) -> Result<()> {
        run.numbers.resize(most, 0);
        let count = match waits {
            false => self.from.pop_many(&mut run.numbers)?,
            true => self.from.pop_many_wait(&mut run.numbers, POLL_INTERVAL)?,
        };
        run.numbers.truncate(count);
        Ok(())
    }

    #[inline]
    fn send(&mut self, run: &Run) -> Result<()> {
        Ok(self.to.push_many(&run.numbers)?)
    }

    #[inline]
    fn words(&self, element: u32) -> Option<&[AtomicU64]> {
        Some(self.pool.words(element))
    }

    fn end(&mut self, elements: &[u32]) -> Result<()> {
        Ok(self.free.push_many(elements)?)
    }
}

/// A socket's buffer holds so many bytes, and so many writes, which take up a kilobyte each.
const ROOM_BYTES: usize = 96 << 10;
const ROOM_WRITES: usize = 100;
/// How long the other side may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// One side's socket. An element is 4 bytes, its number; touched, it is all its bytes.
pub(super) struct Socket {
    stream: UnixStream,
    each: usize,
    is_whole: bool,
    window: u64,
    bytes: Vec<u8>,
    /// Bytes of an element that has not come as a whole.
    begun: Vec<u8>,
}

impl Socket {
    /// The starter listens at an abstract name, and the returner comes.
    pub(super) fn open(name: &str, side: Side, plan: &Plan) -> Result<Self> {
        let stream = SocketAddr::from_abstract_name(name).and_then(|address| match side {
            Side::Starter => Ok(UnixListener::bind_addr(&address)?.accept()?.0),
            Side::Returner => connect(&address),
        });
        let timed = stream.and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        let each = if plan.touched { plan.element_bytes } else { 4 };
        let window = (ROOM_BYTES / each).min(ROOM_WRITES.saturating_mul(plan.run));
        Ok(Self {
            stream: timed.map_err(Error::io("connecting the sockets"))?,
            each,
            is_whole: plan.touched,
            window: window.max(1) as u64,
            bytes: Vec::new(),
            begun: Vec::new(),
        })
    }
}

fn connect(address: &SocketAddr) -> std::io::Result<UnixStream> {
    let until = Instant::now() + PATIENCE;
    loop {
        match UnixStream::connect_addr(address) {
            Err(error)
                if error.kind() == std::io::ErrorKind::ConnectionRefused
                    && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome,
        }
    }
}

impl Channel for Socket {
    /// As much as fits into a socket's buffer, so that no side waits for the other to read while
    /// that waits for it.
    fn window(&self) -> u64 {
        self.window
    }

    /// Blocks until there is something.
    fn take(&mut self, run: &mut Run, most: usize, _: bool) -> Result<()> {
        let room = most * self.each;
        let bytes = if self.is_whole {
            &mut run.bytes
        } else {
            &mut self.bytes
        };
        let mut len = self.begun.len();
        bytes.resize(room, 0);
        bytes[..len].copy_from_slice(&self.begun);
        while len < self.each {
            let read = self.stream.read(&mut bytes[len..]);
            len += match read.map_err(Error::io("taking elements from a socket"))? {
                0 => return Err(Error::worker("the other side is gone")),
                some => some,
            };
        }
        let whole = len / self.each * self.each;
        self.begun.clear();
        self.begun.extend_from_slice(&bytes[whole..len]);
        bytes.truncate(whole);
        run.numbers.clear();
        let elements = bytes.chunks_exact(self.each);
        run.numbers.extend(elements.map(|bytes| match bytes {
            [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
            bytes => number(bytes),
        }));
        Ok(())
    }

    fn send(&mut self, run: &Run) -> Result<()> {
        let bytes = if self.is_whole {
            &run.bytes
        } else {
            self.bytes.clear();
            let all = run.numbers.iter().flat_map(|number| number.to_le_bytes());
            self.bytes.extend(all);
            &self.bytes
        };
        let sent = self.stream.write_all(bytes);
        sent.map_err(Error::io("sending elements through a socket"))
    }

    fn words(&self, _: u32) -> Option<&[AtomicU64]> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::turns;

    #[test]
    fn all_elements_go_round_whatever_the_lengths_of_runs() {
        for (touched, elements, run) in [(false, 70_000, 100), (true, 9_000, 7), (true, 5, 1)] {
            let plan = Plan {
                elements,
                element_bytes: 64,
                run,
                touched,
                moves: u64::from(elements) * 5,
                limit_ns: u64::MAX,
            };
            let name = format!("tavola-bench-test-{}-{elements}", std::process::id());
            let play = |side| {
                let mut channel = Socket::open(&name, side, &plan)?;
                turns::play(side, &mut channel, &plan, 0)
            };
            let (starter, returner) = std::thread::scope(|scope| {
                let starter = scope.spawn(|| play(Side::Starter));
                (play(Side::Returner), starter.join().unwrap())
            });
            let (starter, returner) = (starter.unwrap(), returner.unwrap());
            assert_eq!((starter.sent, starter.taken), (plan.moves, plan.moves));
            assert_eq!((returner.sent, returner.taken), (plan.moves, plan.moves));
        }
    }
}
