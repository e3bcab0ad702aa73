//! A cache's file with changed bytes: used, with leases and evictions, checked and repaired.

#![cfg_attr(fuzzing, no_main)]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tavola_fuzz::caches::run(input));

#[cfg(not(fuzzing))]
fn main() {
    tavola_fuzz::replay(tavola_fuzz::caches::run);
}
