//! `tavola-bench queue`: arguments.

use std::path::PathBuf;

use tavola_bench::Result;
use tavola_bench::kv::Placement;
use tavola_bench::queue::{self, Config, Peer};
use tavola_program::units::parse_count;

use super::table::Printer;
use super::worker;

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

/// Elements that two processes hand each other, over queues, sockets and others
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Elements that move; K, M and G stand for thousands, millions, milliards
    #[arg(long, value_name = "N", default_value = "100K", value_parser = parse_elements)]
    elements: u32,
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
    repeat: u32,
    /// The directory for the pool [default: where tables live]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn parse_elements(text: &str) -> std::result::Result<u32, String> {
    let count = parse_count(text)?;
    u32::try_from(count).map_err(|_| format!("'{text}' is more than can move"))
}

const COLUMNS: &[&str] = &[
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

pub fn run(args: Args) -> Result<()> {
    let config = Config {
        worker: worker("player")?,
        dir: args.dir,
        elements: args.elements,
        element_bytes: args.element_bytes,
        runs: args.runs,
        peers: args.peers,
        moves: args.moves,
        seconds: args.seconds,
        placement: args.cpu.map_or(Placement::Spread, Placement::One),
        repeat: args.repeat,
    };
    Printer::new(args.json, COLUMNS).each(|emit| queue::run(&config, emit))
}
