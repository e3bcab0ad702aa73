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

use std::ffi::OsString;
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
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// How this program becomes a worker; a job follows as the last argument.
    pub worker: (PathBuf, Vec<OsString>),
    /// The command `tavola`, to serve a table. Without it, peers that need a server of it are left
    /// out.
    pub tavola: Option<PathBuf>,
    /// Less of everything: done in some three minutes.
    pub quick: bool,
    /// 100 million keys, too.
    pub full: bool,
    /// Letters of the workloads.
    pub only: String,
    /// How this program becomes a process of the torment table; none: the table is not made.
    pub torment: Option<torment::Program>,
    /// Names of the peers; all when none is given.
    pub peers: Vec<String>,
    /// How often each trial is done, for all of them.
    pub repeat: Option<u32>,
    /// Where results go.
    pub out: PathBuf,
    /// Where stores in memory are.
    pub dir: Option<PathBuf>,
    /// The file of workload a; one like it is made when none is given.
    pub company_file: Option<PathBuf>,
    /// Go on with the run that is in `out`.
    pub resume: bool,
    /// Servers that are there already, and are to be asked.
    pub given: Given,
    /// Becomes true when the run is to end.
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
