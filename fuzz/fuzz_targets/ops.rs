//! Operations on a table and on a map of the standard library: the answers are the same.

#![cfg_attr(fuzzing, no_main)]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tavola_fuzz::ops::run(input));

#[cfg(not(fuzzing))]
fn main() {
    tavola_fuzz::replay(tavola_fuzz::ops::run);
}
