//! Bytes of a connection of the protocol of Redis: decoded alike however they are split.

#![cfg_attr(fuzzing, no_main)]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tavola_fuzz::resp::run(input));

#[cfg(not(fuzzing))]
fn main() {
    tavola_fuzz::replay(tavola_fuzz::resp::run);
}
