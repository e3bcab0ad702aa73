//! [`Log`]: a log that all processes write lines to, its drain and its readers.

mod drain;
mod drain_thread;
mod draining;
mod hands;
mod line;
mod options;
mod overload;
mod place;
mod print;
mod reader;
mod ring;
mod rotating;
mod stats;
mod text;

pub use drain::{LogDrain, LogSink};
pub use drain_thread::DrainThread;
pub use line::{Level, LogLine};
pub use options::LogOptions;
pub use overload::Overload;
pub use reader::LogReader;
pub use ring::Log;
pub use rotating::RotatingFile;
pub use stats::LogStats;
pub use text::LogText;
