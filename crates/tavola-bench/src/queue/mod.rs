//! Elements that two processes hand each other, over a pool of queues and its peers.
//!
//! ```text
//!            ┌────────── a2b ──────────→┐
//! free ──→ starter                   returner      starter: the only one to look at the clock
//!            └←───────── b2a ───────────┘          returner: sends back what has come
//! ```
//!
//! The starter sends elements that never moved as long as there are any, then what has come back.
//! It takes and sends *runs*: what is there, at most so many. When its moves are made or its time
//! is up it sends the *end mark*, one element more than are counted; whatever was sent before
//! comes home before it. So each element that is sent once comes back once, and **the rate is that
//! of each way**: the moves of one way through the time from the common start to the return of the
//! mark. Then all elements are at home, which is checked: each once, with as many touches as the
//! two sides count.
//!
//! *Touched*, every side that takes an element reads all its bytes, checks them, changes all of
//! them and writes them back, before it sends the element on. Without, only numbers are read.
//!
//! What moves through the peers, and how a side waits:
//!
//! | peer | sides | moves | touched | waits |
//! |---|---|---|---|---|
//! | tavola | processes | numbers of elements in shared memory | in place | spins, then sleeps |
//! | array-queue | threads | numbers of elements in memory | in place | spins, then yields |
//! | socket, pipe | processes | 4 bytes an element | whole elements move | blocks in the kernel |
//! | iceoryx2 | processes | a sample an element | whole elements are copied | spins, then yields |
//!
//! A sample of iceoryx2 belongs to who sent it, so each side takes a new one to send the element
//! on; it is written in full either way, as no safe call sends one that is not.

mod case;
mod crew;
mod element;
mod home;
mod job;
mod player;
mod turns;
mod ways;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use case::{Case, LeftOut, Line, run};
pub use player::work;

use crate::kv::Placement;
use crate::{Error, Result};

/// What the elements move over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// Three queues of a pool in shared memory, two processes.
    Tavola,
    /// Two of crossbeam's bounded queues, two threads.
    ArrayQueue,
    /// A pair of connected Unix stream sockets, two processes.
    Socket,
    /// Two pipes, two processes.
    Pipe,
    /// Two of iceoryx2's publish-subscribe services, two processes.
    Iceoryx2,
}

impl Peer {
    /// All of them, in the order they run.
    pub const ALL: [Self; 5] = [
        Self::Tavola,
        Self::ArrayQueue,
        Self::Socket,
        Self::Pipe,
        Self::Iceoryx2,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tavola => "tavola",
            Self::ArrayQueue => "array-queue",
            Self::Socket => "socket",
            Self::Pipe => "pipe",
            Self::Iceoryx2 => "iceoryx2",
        }
    }

    /// Why this program cannot measure it, if it cannot.
    pub fn left_out(self) -> Option<&'static str> {
        match self {
            Self::ArrayQueue | Self::Iceoryx2 if !cfg!(feature = "peers") => Some(
                "built without it; to have it: \
                 cargo build --release --package tavola-cli --features peers",
            ),
            _ => None,
        }
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Self::ALL.into_iter().find(|peer| peer.name() == text);
        let names = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("no peer {text:?}: there are {names}"))
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Config {
    /// Program and arguments that start a worker, which calls [`work`].
    pub worker: (PathBuf, Vec<OsString>),
    /// Where the pool is made; where tables live by default when none is given.
    pub dir: Option<PathBuf>,
    /// Elements that move.
    pub elements: u32,
    /// Bytes of an element, a multiple of 8.
    pub element_bytes: u32,
    /// How many elements are taken and sent at once, at most; each is measured.
    pub runs: Vec<usize>,
    /// The peers; all when none is given.
    pub peers: Vec<Peer>,
    /// A case ends after so many moves each way.
    pub moves: u64,
    /// A case ends after so many seconds, even if moves are left.
    pub seconds: f64,
    /// The CPUs of the two sides.
    pub placement: Placement,
    /// How often everything is run, one case after the other each time; medians are reported.
    pub repeat: u32,
}

impl Config {
    const MOST_ELEMENTS: u32 = 1 << 24;
    const MOST_ELEMENT_BYTES: u32 = 1 << 16;

    /// Those that were asked for, in the order they run.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        let all = Peer::ALL.into_iter();
        all.filter(|one| self.peers.is_empty() || self.peers.contains(one))
    }

    /// # Errors
    ///
    /// `BadOption` when a number is out of bounds.
    pub fn check(&self) -> Result<()> {
        let bad = |option, why: &str| {
            Err(Error::BadOption {
                option,
                why: why.to_owned(),
            })
        };
        let bytes = self.element_bytes;
        match self {
            _ if !(1..=Self::MOST_ELEMENTS).contains(&self.elements) => {
                bad("elements", "1 to 2^24 can move")
            }
            _ if !bytes.is_multiple_of(8) || !(8..=Self::MOST_ELEMENT_BYTES).contains(&bytes) => {
                bad("element-bytes", "a multiple of 8 is needed, 65536 at most")
            }
            _ if self.runs.is_empty() => bad("runs", "at least one length is needed"),
            _ if self.runs.contains(&0) => bad("runs", "1 stands for one by one"),
            _ if self.moves == 0 => bad("moves", "at least one is needed"),
            // Touches are counted in 32 bits of each element.
            _ if self.moves > u64::from(u32::MAX) / 2 => bad("moves", "2 milliards at most"),
            _ if !(self.seconds > 0.0 && self.seconds <= 3600.0) => {
                bad("seconds", "more than none and at most an hour are needed")
            }
            _ if self.repeat == 0 => bad("repeat", "at least one run is needed"),
            _ => Ok(()),
        }
    }
}
