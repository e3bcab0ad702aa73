//! Ctrl-C ends a command in good order; a second one ends it at once.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// Becomes true when the process is asked to end. What it was told to ignore, as by nohup, it goes
/// on ignoring.
pub fn heed() -> Result<Arc<AtomicBool>, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
    for signal in heeded.filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        let again = Arc::clone(&interrupted);
        signal_hook::flag::register_conditional_shutdown(signal, 130, again)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
            .map_err(|source| CliError::Sentence(format!("cannot heed signals ({source})")))?;
    }
    Ok(interrupted)
}

/// A bit for each signal that is ignored, the lowest for signal 1; none where the system does not
/// tell.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
