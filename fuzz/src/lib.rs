//! What the fuzz targets do with an input; the targets themselves are a line each.

#![forbid(unsafe_code)]

mod answers;
pub mod caches;
mod change;
pub mod client;
pub mod constant;
pub mod durable;
mod image;
mod lengths;
mod memory;
mod op;
pub mod ops;
pub mod protocol;
pub mod queues;
pub mod region;
pub mod resp;
pub mod saved;
mod template;
mod watch;

/// Runs inputs kept in files, those named on the command line: for builds without the fuzzer.
///
/// # Panics
/// At the first input that finds something, or that cannot be read.
pub fn replay(run: fn(&[u8])) {
    for path in std::env::args_os().skip(1) {
        let input = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        eprintln!("{}: {} bytes", path.display(), input.len());
        run(&input);
    }
}
