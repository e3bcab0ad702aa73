//! Tests of the disk: the simulated one by itself, both with the same calls, and the accused.

mod checks;
mod differential;
mod lives;
mod mistakes;
mod outcomes;
mod toy_log;
