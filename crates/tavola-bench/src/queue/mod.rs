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

use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tavola_program::units::parse_count;

pub use case::{Case, Line, run};
pub use player::work;

use crate::{Error, Result};

/// What the elements move over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
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
    /// Why this program cannot measure it, if it cannot.
    pub fn left_out(self) -> Option<&'static str> {
        match self {
            Self::ArrayQueue | Self::Iceoryx2 if !cfg!(feature = "peers") => Some(
                "built without it; to have it: \
                 cargo build --release --package tavola-bench --features peers",
            ),
            _ => None,
        }
    }
}

const HELP: &str = "\
One process sends elements over a queue to another, which sends them back over a second queue;
all come from a third, 'free'. The rate is that of each way: as many elements go there as come
back. Each side takes what there is, at most a run, and sends it on at once. A case ends after
--moves or --seconds, and when all elements are back; each must have come back once.

Peers, which do the same with as many elements of as many bytes:
  tavola        two processes; numbers of elements move, the elements stay in shared memory
  array-queue   two threads; the same over two of crossbeam's ArrayQueue, and common memory
  socket        two processes; 4 bytes an element through a pair of Unix stream sockets
  pipe          two processes; 4 bytes an element through two pipes
  iceoryx2      two processes; a loaned sample an element over two services, written in full

'touched': each side reads every byte of each element that it takes, checks it, changes it and
writes it back before it sends the element on. Then whole elements move through sockets and
pipes. The others' elements are touched in place; iceoryx2's are copied from the sample that
came into the one that goes. Runs are loops for array-queue and iceoryx2, which take and send
one element a call. As many elements are on the way as a peer has room for: all, but for
sockets and pipes.

A side spins when nothing comes and then gives its CPU away; through sockets and pipes it
blocks. The two sides stay on two different CPUs where there are two. array-queue and iceoryx2
are there in a program built with the feature 'peers'.

JSON has phase, peer, run, touched, elements, element_bytes, moves, seconds, mops_each_way (of
the repetition of median rate) and runs (the rates of all); or peer and left_out, which says why.

Examples:
  tavola-bench queue
  tavola-bench queue --peers tavola,socket --runs 32 --repeat 9
  tavola-bench queue --cpu 0                          both sides on one CPU
  tavola-bench queue --json | jq 'select(.touched) | [.peer, .run, .mops_each_way]'";

/// What people see of a line.
pub const COLUMNS: &[&str] = &[
    "peer",
    "run",
    "touched",
    "elements",
    "element_bytes",
    "moves",
    "seconds",
    "mops_each_way",
    "runs",
];

/// Elements that two processes hand each other, over queues, sockets and others
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Elements that move; K, M and G stand for thousands, millions, milliards
    #[arg(long, value_name = "N", default_value = "100K", value_parser = parse_elements)]
    pub elements: u32,
    /// Bytes of an element, a multiple of 8
    #[arg(long, value_name = "B", default_value_t = 64)]
    pub element_bytes: u32,
    /// Elements taken and sent at once, at most; several lengths with commas between
    #[arg(
        long,
        value_name = "R",
        value_delimiter = ',',
        default_value = "1000,100,1"
    )]
    pub runs: Vec<usize>,
    /// What they move over, with commas between [default: all]
    #[arg(long, value_name = "PEER", value_delimiter = ',')]
    pub peers: Vec<Peer>,
    /// A case ends after so many moves each way
    #[arg(long, value_name = "N", default_value = "200M", value_parser = parse_count)]
    pub moves: u64,
    /// A case ends after so many seconds, though moves may be left
    #[arg(long, value_name = "S", default_value_t = 1.5)]
    pub seconds: f64,
    /// Both sides stay on this CPU [default: two different ones]
    #[arg(long, value_name = "C")]
    pub cpu: Option<usize>,
    /// Run all cases so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R", default_value_t = 3)]
    pub repeat: u32,
    /// The directory for the pool [default: where tables live]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

fn parse_elements(text: &str) -> std::result::Result<u32, String> {
    let count = parse_count(text)?;
    u32::try_from(count).map_err(|_| format!("'{text}' is more than can move"))
}

impl Config {
    const MOST_ELEMENTS: u32 = 1 << 24;
    const MOST_ELEMENT_BYTES: u32 = 1 << 16;

    /// Those that were asked for, in the order they run.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        let all = Peer::value_variants().iter().copied();
        all.filter(|one| self.peers.is_empty() || self.peers.contains(one))
    }

    /// # Errors
    ///
    /// `BadOption` when a number is out of bounds.
    pub fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
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
