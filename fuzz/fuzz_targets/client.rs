//! Bytes of a server: a client takes none of them for the value of another key.

#![cfg_attr(fuzzing, no_main)]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tavola_fuzz::client::run(input));

#[cfg(not(fuzzing))]
fn main() {
    tavola_fuzz::replay(tavola_fuzz::client::run);
}
