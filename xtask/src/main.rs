//! The chores of this repository, run as `cargo xtask <chore>`.
//!
//! - `tidy` holds the rules of the house style that a machine can hold.
//! - `layout` writes the byte tables of the pages about formats from the layout in the code;
//!   with `--check` it only compares.
//! - `header` writes the header of the C interface from its crate; with `--check` it only compares.
//! - `man` writes the man pages of that header into a directory.
//! - `wrap` breaks the prose of pages at 100 columns.
#![forbid(unsafe_code)]

mod failure;
mod header;
mod layout;
mod man;
mod tidy;
mod wrap;

use failure::Failure;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo xtask tidy | layout [--check] | header [--check] | man DIR | wrap PAGE...";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["tidy"] => root().and_then(|root| tidy::run(&root)),
        ["layout"] => root().and_then(|root| layout::write(&root)),
        ["layout", "--check"] => root().and_then(|root| layout::check(&root)),
        ["header"] => root().and_then(|root| header::write(&root)),
        ["header", "--check"] => root().and_then(|root| header::check(&root)),
        ["man", directory] => root().and_then(|root| man::write(&root, Path::new(directory))),
        ["wrap", ref pages @ ..] if !pages.is_empty() => {
            root().and_then(|root| wrap::run(&root, pages))
        }
        _ => Err(Failure::Usage(USAGE)),
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the repository: the folder above this crate, which cargo names when it runs us.
fn root() -> Result<PathBuf, Failure> {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").ok_or(Failure::Usage(USAGE))?;
    let mut root = PathBuf::from(manifest_dir);
    root.pop();
    Ok(root)
}
