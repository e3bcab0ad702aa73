//! A constant file with changed bytes: refused, or read as a plain reader reads it.

#![cfg_attr(fuzzing, no_main)]
#![forbid(unsafe_code)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| tavola_fuzz::constant::run(input));

#[cfg(not(fuzzing))]
fn main() {
    tavola_fuzz::replay(tavola_fuzz::constant::run);
}
