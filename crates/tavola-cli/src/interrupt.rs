//! Ctrl-C ends a command in good order; a second one ends it at once.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// Becomes true when the process is asked to end. A hangup that it was told to ignore, as by nohup,
/// it goes on ignoring.
pub fn heed() -> Result<Arc<AtomicBool>, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let hangup = (!ignores_hangup()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        let again = Arc::clone(&interrupted);
        signal_hook::flag::register_conditional_shutdown(signal, 130, again)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
            .map_err(|source| CliError::Sentence(format!("cannot heed signals ({source})")))?;
    }
    Ok(interrupted)
}

/// False where the system does not tell.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
