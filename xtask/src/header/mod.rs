//! The headers of the C interfaces, made from the crates `tavola-capi` and `tavola-client-capi`.
//!
//! `tavola.h` has the head comment of its crate and includes the other headers; `parts` divides the
//! declarations among these. The client has one header, which `client` makes.

mod client;
mod parts;

use crate::failure::Failure;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const CRATE: &str = "crates/tavola-capi";
const INCLUDE: &str = "crates/tavola-capi/include";

/// A header: its file name and its text.
pub(crate) struct Header {
    pub(crate) name: &'static str,
    /// The directory that it is in.
    include: &'static str,
    pub(crate) text: String,
}

impl Header {
    fn path(&self, root: &Path) -> PathBuf {
        root.join(self.include).join(self.name)
    }
}

/// Brings the headers up to date.
pub(crate) fn write(root: &Path) -> Result<String, Failure> {
    let mut written = Vec::new();
    for header in all_made(root)? {
        let path = header.path(root);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == header.text) {
            continue;
        }
        std::fs::write(&path, header.text).map_err(|source| Failure::File { path, source })?;
        written.push(header.name);
    }
    Ok(match written.is_empty() {
        true => "header: the headers were up to date".to_owned(),
        false => format!("header: {} written", written.join(", ")),
    })
}

/// Reports whether the headers are up to date.
pub(crate) fn check(root: &Path) -> Result<String, Failure> {
    let fresh = all_made(root)?;
    let mut there = read(root)?;
    there.push(read_client(root)?);
    for (old, new) in there.iter().zip(&fresh) {
        let differs = |(_, (old, new)): &(usize, (&str, &str))| old != new;
        let mut lines = old.text.lines().zip(new.text.lines()).enumerate();
        if old.text != new.text {
            let at = lines.find(differs);
            return Err(Failure::StaleHeader {
                path: format!("{}/{}", old.include, old.name),
                line: at.map_or(old.text.lines().count(), |(line, _)| line + 1),
            });
        }
    }
    Ok("header: the headers match the code".to_owned())
}

/// Returns the headers of the table as they are now. A header that does not exist is empty.
pub(crate) fn read(root: &Path) -> Result<Vec<Header>, Failure> {
    std::iter::once(parts::WHOLE)
        .chain(parts::PARTS.iter().map(|part| part.name))
        .map(|name| read_one(root, INCLUDE, name))
        .collect()
}

/// Returns the header of the client as it is now.
pub(crate) fn read_client(root: &Path) -> Result<Header, Failure> {
    read_one(root, client::INCLUDE, client::NAME)
}

fn read_one(root: &Path, include: &'static str, name: &'static str) -> Result<Header, Failure> {
    let mut header = Header {
        name,
        include,
        text: String::new(),
    };
    let path = header.path(root);
    match std::fs::read_to_string(&path) {
        Ok(text) => header.text = text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(Failure::File { path, source }),
    }
    Ok(header)
}

/// The headers as the code has them: those of the table, then that of the client.
fn all_made(root: &Path) -> Result<Vec<Header>, Failure> {
    let mut all = made(root)?;
    all.push(client::made(root)?);
    Ok(all)
}

/// What cbindgen made of a crate.
struct Declared {
    declarations: String,
    macros: String,
}

fn declared(folder: &Path, prefix: &str) -> Result<Declared, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Header(error.to_string());
    let mut config = cbindgen::Config::from_root_or_default(folder);
    let macros = version(prefix) + &config.after_includes.take().unwrap_or_default();
    let bindings = cbindgen::Builder::new()
        .with_crate(folder)
        .with_config(config)
        .generate()
        .map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    let declarations = String::from_utf8(bytes).map_err(|error| failed(&error))?;
    Ok(Declared {
        declarations,
        macros,
    })
}

fn made(root: &Path) -> Result<Vec<Header>, Failure> {
    let folder = root.join(CRATE);
    let Declared {
        declarations,
        macros,
    } = declared(&folder, "TAVOLA")?;
    let mut headers = vec![Header {
        name: parts::WHOLE,
        include: INCLUDE,
        text: top(&folder, CRATE)? + &parts::whole(),
    }];
    headers.extend(parts::divided(&folder, &declarations, &macros)?);
    Ok(headers)
}

/// The version of all crates, for the preprocessor.
fn version(prefix: &str) -> String {
    let whole = env!("CARGO_PKG_VERSION");
    let function = prefix.to_lowercase();
    let mut lines = format!(
        "// The version of this header; `{function}_version` returns that of the library.\n"
    );
    for (part, number) in [
        ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ] {
        let _ = writeln!(lines, "#define {prefix}_VERSION_{part} {number}");
    }
    let _ = writeln!(lines, "#define {prefix}_VERSION \"{whole}\"");
    lines
}

/// The head of the crate as a comment of C.
fn top(folder: &Path, name: &str) -> Result<String, Failure> {
    let path = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&path).map_err(|source| Failure::File { path, source })?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let head: String = lines.map(|line| format!(" *{line}\n")).collect();
    Ok(format!(
        "/*\n{head} *\n * MIT OR Apache-2.0, at your choice.\n *\n \
         * Made by `cargo xtask header` from {name}; change it there.\n */\n"
    ))
}
