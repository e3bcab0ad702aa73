//! Elements that two processes hand each other, over a pool of queues and its peers.
//!
//! ```text
//!            ┌────────── a2b ──────────→┐
//!          starter                   returner      starter: the only one to look at the clock
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
//! | socket | processes | 4 bytes an element | whole elements move | blocks in the kernel |
//! | iceoryx2 | processes | a sample an element | whole elements are copied | spins, then yields |
//!
//! `turns` is what the two sides do, `channels` and `peers` what they do it over.

mod channels;
#[cfg(feature = "peers")]
mod peers;
mod turns;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tavola::{QueueOptions, QueuePool};
use tavola_program::units::parse_count;

use self::turns::{Channel, Done, Plan, Side};
use crate::crew::{Answer, Crew, WITHOUT_PEERS};
use crate::duty::{self, Lines, answer, follow, usable_cpus};
use crate::scratch::Scratch;
use crate::stats::median_run;
use crate::{Emit, Error, Result};

/// What the elements move over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Peer {
    /// Three queues of a pool in shared memory, two processes.
    Tavola,
    /// Two of crossbeam's bounded queues, two threads.
    ArrayQueue,
    /// A pair of connected Unix stream sockets, two processes.
    Socket,
    /// Two of iceoryx2's publish-subscribe services, two processes.
    Iceoryx2,
}

impl Peer {
    fn is_here(self) -> bool {
        cfg!(feature = "peers") || !matches!(self, Self::ArrayQueue | Self::Iceoryx2)
    }
}

const HELP: &str = "\
One process sends elements over a queue to another, which sends them back over a second queue.
The rate is that of each way: as many elements go there as come back. Each side takes what there
is, at most a run, and sends it on at once. A case ends after --moves or --seconds, and when all
elements are back; each must have come back once.

Peers, which do the same with as many elements of as many bytes:
  tavola        two processes; numbers of elements move, the elements stay in shared memory
  array-queue   two threads; the same over two of crossbeam's ArrayQueue, and common memory
  socket        two processes; 4 bytes an element through a pair of Unix stream sockets
  iceoryx2      two processes; a loaned sample an element over two services, written in full

'touched': each side reads every byte of each element that it takes, checks it, changes it and
writes it back before it sends the element on. Then whole elements move through sockets. The
others' elements are touched in place; iceoryx2's are copied from the sample that came into the
one that goes. Runs are loops for array-queue and iceoryx2, which take and send one element a
call. All elements are on the way at once; over sockets, as many as fit into one.

A side spins when nothing comes and then gives its CPU away; through sockets it blocks. The two
sides stay on two different CPUs where there are two. array-queue and iceoryx2 are there in a
program built with the feature 'peers'.

JSON has phase, peer, run, touched, elements, element_bytes, moves, seconds, mops_each_way (of
the repetition of median rate) and runs (the rates of all); or peer and left_out, which says why.

Examples:
  tavola-bench queue
  tavola-bench queue --peers tavola,socket --runs 32 --repeat 9
  tavola-bench queue --cpu 0                          both sides on one CPU
  tavola-bench queue --json | jq 'select(.touched) | [.peer, .run, .mops_each_way]'";

/// The columns of a line for people.
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
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Elements that move; K, M and G stand for thousands, millions, milliards
    #[arg(long, value_name = "N", default_value = "100K", value_parser = parse_count)]
    elements: u64,
    /// Bytes of an element, a multiple of 8
    #[arg(long, value_name = "B", default_value_t = 64)]
    element_bytes: u32,
    /// Elements taken and sent at once, at most; several lengths with commas between
    #[arg(
        long,
        value_name = "R",
        value_delimiter = ',',
        default_value = "1000,100,1"
    )]
    runs: Vec<usize>,
    /// What they move over, with commas between [default: all]
    #[arg(long, value_name = "PEER", value_delimiter = ',')]
    peers: Vec<Peer>,
    /// A case ends after so many moves each way
    #[arg(long, value_name = "N", default_value = "200M", value_parser = parse_count)]
    moves: u64,
    /// A case ends after so many seconds, though moves may be left
    #[arg(long, value_name = "S", default_value_t = 1.5)]
    seconds: f64,
    /// Both sides stay on this CPU [default: two different ones]
    #[arg(long, value_name = "C")]
    cpu: Option<usize>,
    /// Run all cases so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// The directory for the pool [default: where tables live]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

impl Config {
    fn check(&self) -> Result<()> {
        let bad = |option, why: &str| Err(Error::option(option, why));
        let bytes = self.element_bytes;
        match self {
            _ if !(1..=1 << 24).contains(&self.elements) => bad("elements", "1 to 2^24 can move"),
            _ if !bytes.is_multiple_of(8) || !(8..=1 << 16).contains(&bytes) => {
                bad("element-bytes", "a multiple of 8 is needed, 65536 at most")
            }
            _ if self.runs.contains(&0) => bad("runs", "1 stands for one by one"),
            // Touches are counted in 32 bits of each element.
            _ if !(1..=u64::from(u32::MAX) / 2).contains(&self.moves) => {
                bad("moves", "1 to 2 milliards")
            }
            _ if !(self.seconds > 0.0 && self.seconds <= 3600.0) => {
                bad("seconds", "more than none and at most an hour are needed")
            }
            _ => Ok(()),
        }
    }
}

/// Runs it; `emit` is given each line as soon as the last repetition of its case has run.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    config.check()?;
    let all = Peer::value_variants().iter().copied();
    let asked = all.filter(|one| config.peers.is_empty() || config.peers.contains(one));
    let (there, out): (Vec<Peer>, Vec<Peer>) = asked.partition(|peer| peer.is_here());
    for peer in out {
        emit(&json!({"phase": "queue", "peer": peer, "left_out": WITHOUT_PEERS}))?;
    }
    // Peers change fastest, so that those with the same runs stand together.
    let mut cases: Vec<(Peer, Plan, Vec<Done>)> = Vec::new();
    for touched in [false, true] {
        for &run in &config.runs {
            let plan = Plan {
                elements: config.elements as u32,
                element_bytes: config.element_bytes as usize,
                run,
                touched,
                moves: config.moves,
                limit_ns: (config.seconds * 1e9) as u64,
            };
            let each = |&peer| (peer, plan.clone(), Vec::new());
            cases.extend(there.iter().map(each));
        }
    }
    for turn in 1..=config.repeat {
        for (peer, plan, scores) in &mut cases {
            scores.push(play(config, *peer, plan)?);
            if turn < config.repeat {
                continue;
            }
            let median = median_run(scores, Done::mops);
            emit(&json!({
                "phase": "queue", "peer": peer, "run": plan.run, "touched": plan.touched,
                "elements": plan.elements, "element_bytes": plan.element_bytes,
                "moves": median.sent, "seconds": median.seconds(),
                "mops_each_way": median.mops(),
                "runs": scores.iter().map(Done::mops).collect::<Vec<_>>(),
            }))?;
        }
    }
    Ok(())
}

/// Plays a case once; what the starter did.
fn play(config: &Config, peer: Peer, plan: &Plan) -> Result<Done> {
    let cpus = cpus(config.cpu)?;
    #[cfg(feature = "peers")]
    if peer == Peer::ArrayQueue {
        return peers::over_threads(plan, cpus);
    }
    let mut pool = None;
    let at = match peer {
        Peer::Tavola => {
            let options = QueueOptions::new(plan.elements + 1, config.element_bytes);
            let options = options.queues(channels::QUEUES);
            let (scratch, made) = Scratch::create_pool(config.dir.as_deref(), &options)?;
            let at = PathBuf::from(scratch.name());
            pool = Some((scratch, made));
            at
        }
        _ => {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            format!("tavola-bench-{}-{count}", std::process::id()).into()
        }
    };
    let mut crew: Crew<u64, Done> = Crew::new("queue");
    for (side, cpu) in [Side::Starter, Side::Returner].into_iter().zip(cpus) {
        let setup = Setup {
            leader_pid: std::process::id(),
            cpu,
            side,
            peer,
            at: at.clone(),
            plan: plan.clone(),
        };
        crew.hire("player", &setup)?;
    }
    // The starter may wait for the returner.
    crew.ready(1)?;
    crew.ready(0)?;
    if let Some((scratch, _)) = &mut pool {
        scratch.unlink()?;
    }
    let start_ns = crew.start_ns();
    crew.send(0, &start_ns)?;
    crew.send(1, &start_ns)?;
    let (starter, returner) = (crew.done(0), crew.done(1));
    let done = together(starter, returner)?;
    crew.end()?;
    if let Some((_, pool)) = &pool {
        channels::check(pool)?;
    }
    Ok(done)
}

/// Checks that both sides did the same. Of two errors, returns the one about a wrong answer, as the
/// other follows from it.
fn together(starter: Result<Done>, returner: Result<Done>) -> Result<Done> {
    let (starter, returner) = match (starter, returner) {
        (Ok(starter), Ok(returner)) => (starter, returner),
        (_, Err(error @ Error::WrongAnswer { .. })) => return Err(error),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    if (starter.sent, starter.taken) != (returner.taken, returner.sent) {
        let what = format!(
            "{} elements were sent there and {} came, {} were sent back and {} came",
            starter.sent, returner.taken, returner.sent, starter.taken
        );
        return Err(Error::wrong("queue", what));
    }
    Ok(starter)
}

/// Both sides' CPUs: two different ones of those this process may use, where there are two.
fn cpus(cpu: Option<usize>) -> Result<[Option<usize>; 2]> {
    if cpu.is_some() {
        return Ok([cpu; 2]);
    }
    let usable = usable_cpus()?;
    let first = usable.first().copied();
    Ok([first, usable.get(1).copied().or(first)])
}

/// The first line a player reads: who it is, and what is played. Answered by `Ready`. The second is
/// the instant of the monotonic clock at which both begin.
#[derive(Serialize, Deserialize)]
struct Setup {
    leader_pid: u32,
    cpu: Option<usize>,
    side: Side,
    peer: Peer,
    /// The file of the pool, or a name at which the two sides meet.
    at: PathBuf,
    plan: Plan,
}

/// Does what the leader at the other end of standard input says, until that end is closed.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, lines| {
        follow(setup.leader_pid, setup.cpu)?;
        let (side, plan) = (setup.side, &setup.plan);
        let name = setup.at.to_string_lossy();
        match setup.peer {
            Peer::Tavola => {
                let pool = QueuePool::open(&setup.at)?;
                play_over(channels::Pool::open(pool, side, plan)?, &setup, lines)
            }
            Peer::Socket => play_over(channels::Socket::open(&name, side, plan)?, &setup, lines),
            #[cfg(feature = "peers")]
            Peer::Iceoryx2 => play_over(peers::Services::open(&name, side, plan)?, &setup, lines),
            _ => Err(Error::worker(WITHOUT_PEERS)),
        }
    })
}

/// The way stays open until the leader has heard both sides.
fn play_over(mut channel: impl Channel, setup: &Setup, lines: &mut Lines) -> Result<()> {
    answer(&Answer::<Done>::Ready)?;
    while let Some(start_ns) = lines.next()? {
        let done = turns::play(setup.side, &mut channel, &setup.plan, start_ns)?;
        answer(&Answer::Done(done))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(sent: u64, taken: u64) -> Result<Done> {
        Ok(Done {
            begin_ns: 1_000_000_000,
            end_ns: 3_000_000_000,
            sent,
            taken,
        })
    }

    #[test]
    fn both_sides_must_agree_and_a_wrong_answer_counts_first() {
        let all = together(done(7, 7), done(7, 7)).unwrap();
        assert_eq!((all.sent, all.seconds()), (7, 2.0));
        for (starter, returner) in [((7, 7), (7, 8)), ((7, 7), (6, 7)), ((8, 7), (7, 7))] {
            let both = (done(starter.0, starter.1), done(returner.0, returner.1));
            let error = together(both.0, both.1).unwrap_err();
            assert!(matches!(error, Error::WrongAnswer { .. }), "{error}");
        }
        let lost = || Err(Error::worker("nothing came"));
        let error = together(lost(), Err(Error::wrong("queue", "other bytes")));
        assert!(matches!(error, Err(Error::WrongAnswer { .. })));
        let error = together(lost(), done(1, 1));
        assert!(matches!(error, Err(Error::Worker { .. })));
    }
}
