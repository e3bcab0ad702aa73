//! The way through the kernel: a pair of sockets, or two pipes.
//!
//! An element is 4 bytes, its number; touched, it is all its bytes. A run is written by one call
//! when there is room for it, and one call reads at most a run.
//!
//! The returner blocks in both calls. The starter must not block in writing while the returner
//! does, too: when its way is full it takes what has come back into its *inbox*. So as many
//! elements are on the way as the kernel has room for, and the others wait in the inbox.
//!
//! The inbox is a ring with room for all elements:
//!
//! ```text
//! read before ──┬─ held: the run taken last ─┬─ not taken yet ─┬── room
//!               └ `held.start`               └ `held.end`      └ `end`
//! ```
//!
//! Bytes in it are counted from the first that was ever read; no run lies across the ring's seam.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};

use super::Fresh;
use crate::queue::element;
use crate::queue::job::{Plan, Side};
use crate::queue::turns::Way;
use crate::{Error, Result};

/// Bytes of a number.
const NUMBER: usize = 4;
/// How long the starter may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// One side's ends.
pub(in crate::queue) struct Stream {
    input: OwnedFd,
    output: OwnedFd,
    /// Of an element on its way.
    each: usize,
    run_bytes: usize,
    inbox: Vec<u8>,
    held: Range<usize>,
    end: usize,
    /// The run that was fresh, when that is what is held.
    made: Vec<u8>,
    fresh: Fresh,
}

impl Stream {
    /// The starter listens at an abstract name, and the returner comes.
    pub(in crate::queue) fn by_socket(name: &str, side: Side, plan: &Plan) -> Result<Self> {
        let doing = Error::io("connecting the sockets");
        let stream = SocketAddr::from_abstract_name(name).and_then(|address| match side {
            Side::Starter => Ok(UnixListener::bind_addr(&address)?.accept()?.0),
            Side::Returner => connect(&address),
        });
        let ends = stream.and_then(|stream| Ok((stream.try_clone()?.into(), stream.into())));
        let (input, output) = ends.map_err(doing)?;
        Self::new(input, output, side, plan)
    }

    /// Opens ends of pipes that the leader holds.
    pub(in crate::queue) fn by_pipes(
        (input, output): (&Path, &Path),
        side: Side,
        plan: &Plan,
    ) -> Result<Self> {
        let input = File::open(input).map_err(Error::io("opening a pipe"))?;
        let output = OpenOptions::new().write(true).open(output);
        let output = output.map_err(Error::io("opening a pipe"))?;
        Self::new(input.into(), output.into(), side, plan)
    }

    fn new(input: OwnedFd, output: OwnedFd, side: Side, plan: &Plan) -> Result<Self> {
        if side == Side::Starter {
            ioctl_fionbio(&output, true).map_err(refused)?;
        }
        let each = if plan.touched {
            plan.element_bytes
        } else {
            NUMBER
        };
        let all = (plan.elements as usize + 1) * each;
        let run_bytes = all.min(plan.run.saturating_mul(each));
        Ok(Self {
            input,
            output,
            each,
            run_bytes,
            inbox: vec![0; all],
            held: 0..0,
            end: 0,
            made: Vec::new(),
            fresh: Fresh::new(plan.elements),
        })
    }

    /// Where the bytes of a part of the inbox lie that is not across the seam.
    fn place(&self, part: &Range<usize>) -> Range<usize> {
        let start = part.start % self.inbox.len();
        start..start + part.len()
    }

    /// One call. False: nothing is there.
    fn read(&mut self) -> Result<bool> {
        let all = self.inbox.len();
        let (start, room) = (self.end % all, all - (self.end - self.held.start));
        let count = room.min(self.run_bytes).min(all - start);
        match read(&self.input, &mut self.inbox[start..start + count]) {
            // All elements together fit in, so there was room.
            Ok(0) => Err(Error::worker("the other side is gone")),
            Ok(count) => {
                self.end += count;
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(refused(error)),
        }
    }

    fn wait_for_input(&self) -> Result<()> {
        wait(&mut [PollFd::new(&self.input, PollFlags::IN)])
    }

    /// Waits until something can be written, and takes what has come meanwhile.
    fn wait_for_room(&mut self) -> Result<()> {
        let mut both = [
            PollFd::new(&self.output, PollFlags::OUT),
            PollFd::new(&self.input, PollFlags::IN),
        ];
        wait(&mut both)?;
        if !both[1].revents().is_empty() {
            self.read()?;
        }
        Ok(())
    }

    /// Sends what is held or made, and lets it go.
    fn write_all(&mut self) -> Result<()> {
        let mut left = match self.made.len() {
            0 => self.place(&self.held),
            made => 0..made,
        };
        while !left.is_empty() {
            let bytes = match self.made.len() {
                0 => &self.inbox[left.clone()],
                _ => &self.made[left.clone()],
            };
            match write(&self.output, bytes) {
                Ok(count) => left.start += count,
                Err(Errno::AGAIN) => self.wait_for_room()?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        self.held.start = self.held.end;
        Ok(())
    }

    fn make(&mut self, run: &[u32]) {
        self.made.resize(run.len() * self.each, 0);
        for (place, &element) in self.made.chunks_exact_mut(self.each).zip(run) {
            match self.each {
                NUMBER => place.copy_from_slice(&element.to_le_bytes()),
                _ => element::fill(place, element),
            }
        }
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

fn refused(error: Errno) -> Error {
    Error::Io {
        doing: "moving elements through the kernel",
        source: error.into(),
    }
}

fn wait(ends: &mut [PollFd<'_>]) -> Result<()> {
    match poll(ends, None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(refused(error)),
    }
}

fn number(bytes: &[u8]) -> u32 {
    match <[u8; NUMBER]>::try_from(bytes) {
        Ok(bytes) => u32::from_le_bytes(bytes),
        Err(_) => element::number(element::first(bytes)),
    }
}

impl Way for Stream {
    fn fresh(&mut self, out: &mut [u32]) -> Result<usize> {
        let count = self.fresh.fill(out);
        self.make(&out[..count]);
        Ok(count)
    }

    fn take(&mut self, out: &mut [u32]) -> Result<usize> {
        self.made.clear();
        self.held.start = self.held.end;
        while self.end - self.held.end < self.each {
            if !self.read()? {
                self.wait_for_input()?;
            }
        }
        let to_seam = self.inbox.len() - self.held.end % self.inbox.len();
        let there = (self.end - self.held.end).min(to_seam) / self.each;
        self.held.end += out.len().min(there) * self.each;
        let count = self.held.len() / self.each;
        let held = self.inbox[self.place(&self.held)].chunks_exact(self.each);
        for (slot, bytes) in out.iter_mut().zip(held) {
            *slot = number(bytes);
        }
        Ok(count)
    }

    fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize> {
        self.take(out)
    }

    fn send(&mut self, _: &[u32]) -> Result<()> {
        self.write_all()
    }

    fn send_end(&mut self) -> Result<()> {
        self.make(&[self.fresh.elements]);
        self.write_all()
    }

    fn touch(&mut self, run: &[u32]) -> bool {
        let place = self.place(&self.held);
        let held = &mut self.inbox[place];
        let mut both = held.chunks_exact_mut(self.each).zip(run);
        both.all(|(bytes, &element)| element::is_touched(bytes, element))
    }

    fn touches(&mut self, at: usize, _: u32) -> u32 {
        let bytes = match self.made.len() {
            0 => &self.inbox[self.place(&self.held)],
            _ => &self.made,
        };
        element::touches(element::first(&bytes[at * self.each..]))
    }

    fn put_away(&mut self, _: &[u32]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::turns;

    /// More elements than the kernel has room for, so that the inbox is used, round and round.
    #[test]
    fn all_elements_go_round_beyond_the_room_of_the_kernel() {
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
                let mut way = Stream::by_socket(&name, side, &plan)?;
                turns::play(side, &mut way, &plan, 0)
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
