//! Tests of the disk: the simulated one by itself, and both with the same calls.

mod checks;
mod differential;
mod outcomes;
