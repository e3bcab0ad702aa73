//! Tavola beside the other stores there are: the same work for all of them, in one run.
//!
//! A *peer* is a store as one program uses it ([`peers`]). A *trial* is one case of a workload; all
//! peers that can do it take turns, as often as it is repeated, so that what changes on the machine
//! meanwhile meets all. In each turn the peer's program is started on its CPU with a [`Job`], does
//! it, and says what it came to, a line a phase ([`job`]); everything that is timed is timed within
//! the program, by the same loops for all programs of a language. Every answer of a store is
//! compared with what it should be.
//!
//! What a turn came to is written to `rows.jsonl` at once; [`Results`] are made of that in the end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

mod behind;
mod company;
mod cut;
mod facts;
mod figure;
mod folders;
mod found;
mod gather;
mod given;
pub mod inproc;
pub mod job;
mod journal;
mod leader;
mod machine;
pub mod markdown;
mod measured;
mod noise;
pub mod page;
pub mod peers;
mod program;
mod properties;
pub mod report;
mod roster;
pub(crate) mod servers;
mod sources;
mod supply;
pub mod torment;
mod turn;
mod usage;
mod workloads;

pub use given::Given;
pub use job::Job;
pub use leader::run;
pub use report::Results;
pub use roster::list;
pub use workloads::LETTERS;

/// What is to be compared.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Config {
    /// The program tavola whose server is compared [default: beside this one, else in PATH]
    #[arg(long, value_name = "PROGRAM")]
    pub tavola: Option<PathBuf>,
    /// Less of everything: done in three minutes
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// 100 million keys, too
    #[arg(long)]
    pub full: bool,
    /// Letters of the workloads.
    #[arg(skip)]
    pub only: String,
    /// Whether the torment table is made.
    #[arg(skip)]
    pub torment: bool,
    /// Names of the stores, with commas between [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub peers: Vec<String>,
    /// Do everything so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R")]
    pub repeat: Option<u32>,
    /// Where results go.
    #[arg(skip)]
    pub out: PathBuf,
    /// The folder for stores in memory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The file of workload a: lines of five fields with tabs between, the third the key, the fifth
    /// the value [default: one like it is made]
    #[arg(long, value_name = "PATH")]
    pub company_file: Option<PathBuf>,
    /// Go on with the run in --out; turns that failed are taken again
    #[arg(long)]
    pub resume: bool,
    /// Servers that are there already, and are to be asked.
    #[command(flatten)]
    pub given: Given,
    /// Becomes true when the run is to end.
    #[arg(skip)]
    pub interrupted: Arc<AtomicBool>,
}

impl Config {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// What goes on.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A peer takes no part.
    Skipped {
        /// Its short name.
        peer: String,
        /// Why.
        why: String,
    },
    /// A trial begins.
    Trial {
        /// The workload's letter.
        workload: char,
        /// What it is.
        title: String,
        /// Which of all it is, from 1.
        at: usize,
        /// How many there are.
        of: usize,
    },
    /// A trial of the torment table is over.
    Tormented(report::TormentRow),
    /// A peer's turn is over.
    Turn {
        /// Its short name.
        peer: String,
        /// Why it has no figures.
        failed: Option<String>,
    },
}
