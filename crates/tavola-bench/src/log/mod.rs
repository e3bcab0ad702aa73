//! Lines that processes log, until each is where its way puts it, over a log and its peers.
//!
//! ```text
//! texts ──→ the writer's call ──→ who carries lines on ──→ place, where lines are counted
//!           └── writer_ns ──┘                              ↑
//!           └────────────────── all_mlps ──────────────────┘
//! ```
//!
//! Each of so many threads of so many processes logs its share of the lines. Formatting a text is
//! kept out: 256 of them are made before, and logged in turn. What a way must do to give a line its
//! time, its level and its writer counts.
//!
//! | way | the writer's call | who carries it on | place |
//! |---|---|---|---|
//! | tavola-flight | `Log::line` | nobody: no drain, nothing shown | the log: the last |
//! | tavola-block | `Log::line`, waits when the log is full | a drain, another process | a file |
//! | tavola-drop | `Log::line`, drops the oldest when full | a drain, another process | a file |
//! | write | stamp, write(2) | | a file |
//! | syslog | stamp, send(2) to a Unix socket, as syslog(3) | another process | a file |
//! | tracing-appender | stamp, `NonBlocking`, not lossy | a thread, a write(2) each | a file |
//! | tracing-buffered | the same | a thread, 256 KiB at a time | a file |
//! | tracing | an event of `tracing`, its subscriber `fmt` | as tracing-appender | a file |
//!
//! All but `tracing`, which has its own, print a line by the same code, tavola's `LogText`: drain
//! and receiver write 256 KiB at a time.
//!
//! Afterwards every line is read at its place, and is one of the texts. Of a way that loses
//! nothing each text is there as often as it was logged; tavola-drop's lines and those that it says
//! were dropped are all together; tavola-flight's are each writer's last.

mod case;
mod config;
mod crew;
mod game;
mod job;
mod logger;
mod pen;
mod tally;
mod texts;
mod ways;

pub use case::{Case, Line, run};
pub use config::{COLUMNS, Config, Way};
pub use logger::work;
