//! Ctrl-C ends a command in good order; a second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// Becomes true when the process is asked to end.
pub fn heed() -> Result<Arc<AtomicBool>, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let again = Arc::clone(&interrupted);
        signal_hook::flag::register_conditional_shutdown(signal, 130, again)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupted)))
            .map_err(|source| CliError::Sentence(format!("cannot heed signals ({source})")))?;
    }
    Ok(interrupted)
}
