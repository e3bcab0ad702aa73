//! The headers of the C interface, made from the crate `tavola-capi`.
//!
//! `tavola.h` has the head comment of the crate and includes the other headers; `parts` divides the
//! declarations among these.

mod parts;

use crate::failure::Failure;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CRATE: &str = "crates/tavola-capi";
const INCLUDE: &str = "crates/tavola-capi/include";

/// A header: its file name and its text.
pub(crate) struct Header {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

impl Header {
    fn path(&self, root: &Path) -> PathBuf {
        root.join(INCLUDE).join(self.name)
    }
}

/// Brings the headers up to date.
pub(crate) fn write(root: &Path) -> Result<String, Failure> {
    let mut written = Vec::new();
    for header in made(root)? {
        let path = header.path(root);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == header.text) {
            continue;
        }
        std::fs::write(&path, header.text).map_err(|source| Failure::File { path, source })?;
        written.push(header.name);
    }
    Ok(match written.is_empty() {
        true => format!("header: the headers in {INCLUDE} were up to date"),
        false => format!("header: {} written", written.join(", ")),
    })
}

/// Reports whether the headers are up to date.
pub(crate) fn check(root: &Path) -> Result<String, Failure> {
    let fresh = made(root)?;
    for (old, new) in read(root)?.iter().zip(&fresh) {
        let differs = |(_, (old, new)): &(usize, (&str, &str))| old != new;
        let mut lines = old.text.lines().zip(new.text.lines()).enumerate();
        if old.text != new.text {
            let at = lines.find(differs);
            return Err(Failure::StaleHeader {
                path: format!("{INCLUDE}/{}", old.name),
                line: at.map_or(old.text.lines().count(), |(line, _)| line + 1),
            });
        }
    }
    Ok(format!("header: the headers in {INCLUDE} match the code"))
}

/// Returns the headers as they are now. A header that does not exist is empty.
pub(crate) fn read(root: &Path) -> Result<Vec<Header>, Failure> {
    let read = |name| {
        let mut header = Header {
            name,
            text: String::new(),
        };
        let path = header.path(root);
        match std::fs::read_to_string(&path) {
            Ok(text) => header.text = text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(Failure::File { path, source }),
        }
        Ok(header)
    };
    std::iter::once(parts::WHOLE)
        .chain(parts::PARTS.iter().map(|part| part.name))
        .map(read)
        .collect()
}

fn made(root: &Path) -> Result<Vec<Header>, Failure> {
    let folder = root.join(CRATE);
    let failed = |error: &dyn std::fmt::Display| Failure::Header(error.to_string());
    let mut config = cbindgen::Config::from_root_or_default(&folder);
    let macros = version() + &config.after_includes.take().unwrap_or_default();
    let bindings = cbindgen::Builder::new()
        .with_crate(&folder)
        .with_config(config)
        .generate()
        .map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    let declared = String::from_utf8(bytes).map_err(|error| failed(&error))?;
    let mut headers = vec![Header {
        name: parts::WHOLE,
        text: top(&folder)? + &parts::whole(),
    }];
    headers.extend(parts::divided(&folder, &declared, &macros)?);
    Ok(headers)
}

/// The version of all crates, for the preprocessor.
fn version() -> String {
    let whole = env!("CARGO_PKG_VERSION");
    let mut lines =
        "// The version of this header; `tavola_version` returns that of the library.\n".to_owned();
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
    let head: String = lines.map(|line| format!(" *{line}\n")).collect();
    Ok(format!(
        "/*\n{head} *\n * MIT OR Apache-2.0, at your choice.\n *\n \
         * Made by `cargo xtask header` from {CRATE}; change it there.\n */\n"
    ))
}
