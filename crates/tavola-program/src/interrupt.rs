//! Ctrl-C sets a flag, so that a program ends in good order; a second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Installs the signal handlers. The flag that it returns becomes true when the process is asked
/// to end. A hangup that the process ignores, as under nohup, stays ignored.
///
/// # Errors
///
/// The system refuses a handler.
pub fn install_handlers() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let hangup = (!ignores_hangup()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        let again = Arc::clone(&interrupted);
        signal_hook::flag::register_conditional_shutdown(signal, 130, again)?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// Returns whether a hangup is ignored, as under nohup; false if the system does not say.
pub fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 1)
}
