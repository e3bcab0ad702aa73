//! Ctrl-C ends a command in good order; a second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tavola_program::interrupt;

use crate::error::CliError;

/// Returns a flag that becomes true when the process is asked to end.
pub fn install_handlers() -> Result<Arc<AtomicBool>, CliError> {
    interrupt::install_handlers()
        .map_err(|source| CliError::Sentence(format!("cannot handle signals ({source})")))
}
