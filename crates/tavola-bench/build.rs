//! Tells the program the versions of the crates that are peers of the comparison: those that
//! Cargo.lock has, which it is built with.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("Cargo says where the crate is");
    let lock = Path::new(&root).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).unwrap_or_default();
    for (name, variable) in [("papaya", "PAPAYA_VERSION"), ("moka", "MOKA_VERSION")] {
        let version = version(&text, name).unwrap_or_default();
        println!("cargo::rustc-env={variable}={version}");
    }
}

/// Of the package of that name: a line `version = "..."` follows that of its name.
fn version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("\nname = \"{name}\"\n"))?;
    let line = after.lines().next()?;
    line.strip_prefix("version = \"")?.strip_suffix('"')
}
