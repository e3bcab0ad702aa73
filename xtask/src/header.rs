//! The header of the C interface, made from the crate `tavola-capi`.
//!
//! What stands at its top is the head of that crate; each comment is the one in the code.

use crate::failure::Failure;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CRATE: &str = "crates/tavola-capi";
const HEADER: &str = "crates/tavola-capi/include/tavola.h";

/// Brings the header up to date.
pub(crate) fn write(root: &Path) -> Result<String, Failure> {
    let (path, header) = read(root)?;
    let fresh = made(root)?;
    if fresh == header {
        return Ok(format!("header: {HEADER} was up to date"));
    }
    std::fs::write(&path, fresh).map_err(|source| Failure::File { path, source })?;
    Ok(format!("header: {HEADER} written"))
}

/// Says whether the header is up to date.
pub(crate) fn check(root: &Path) -> Result<String, Failure> {
    let (_, header) = read(root)?;
    let fresh = made(root)?;
    let differs = |(_, (old, new)): &(usize, (&str, &str))| old != new;
    let mut lines = header.lines().zip(fresh.lines()).enumerate();
    match lines.find(differs) {
        _ if header == fresh => Ok(format!("header: {HEADER} tells what the code has")),
        at => Err(Failure::StaleHeader {
            path: HEADER,
            line: at.map_or(header.lines().count(), |(line, _)| line + 1),
        }),
    }
}

/// The header as it stands; one that is not there yet is empty.
pub(crate) fn read(root: &Path) -> Result<(PathBuf, String), Failure> {
    let path = root.join(HEADER);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((path, String::new())),
        Err(source) => Err(Failure::File { path, source }),
    }
}

fn made(root: &Path) -> Result<String, Failure> {
    let folder = root.join(CRATE);
    let failed = |error: &dyn std::fmt::Display| Failure::Header(error.to_string());
    let mut config = cbindgen::Config::from_root_or_default(&folder);
    config.header = Some(top(&folder)?);
    let rest = config.after_includes.unwrap_or_default();
    config.after_includes = Some(version() + &rest);
    let bindings = cbindgen::Builder::new()
        .with_crate(&folder)
        .with_config(config)
        .generate()
        .map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    String::from_utf8(bytes).map_err(|error| failed(&error))
}

/// The version of all crates, for the preprocessor.
fn version() -> String {
    let whole = env!("CARGO_PKG_VERSION");
    let mut lines =
        "\n// The version of this header; `tavola_version` has the library's.\n".to_owned();
    for (part, number) in [
        ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ] {
        let _ = writeln!(lines, "#define TAVOLA_VERSION_{part} {number}");
    }
    let _ = writeln!(lines, "#define TAVOLA_VERSION \"{whole}\"");
    lines
}

/// The head of the crate as a comment of C.
fn top(folder: &Path) -> Result<String, Failure> {
    let path = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&path).map_err(|source| Failure::File { path, source })?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let told: String = lines.map(|line| format!(" *{line}\n")).collect();
    Ok(format!(
        "/*\n{told} *\n * MIT OR Apache-2.0, at your choice.\n *\n \
         * Made by `cargo xtask header` from {CRATE}; change it there.\n */\n"
    ))
}
