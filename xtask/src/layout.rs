//! The byte tables of `docs/internals/format.md`, made from the layout in the code.
//!
//! The core's example `layout` prints them as Markdown. They stand between two marker lines; what
//! is around the markers is prose and is left alone.

use crate::failure::Failure;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

const BEGIN: &str = "<!-- layout:begin -->";
const END: &str = "<!-- layout:end -->";

/// What is wrong with the page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoMarkers,
    NoTables,
    Stale {
        line: usize,
        page: String,
        code: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMarkers => write!(
                f,
                "docs/internals/format.md needs one line `{BEGIN}` and, after it, one line `{END}`"
            ),
            Self::NoTables => f.write_str("the example `layout` of the core printed nothing"),
            Self::Stale { line, page, code } => write!(
                f,
                "docs/internals/format.md:{line} differs from the layout in the code\n  \
                 page: {page}\n  code: {code}\nrun `cargo xtask layout` and read what changed"
            ),
        }
    }
}

/// Brings the page up to date.
pub(crate) fn write(root: &Path) -> Result<String, Failure> {
    let (path, page) = page(root)?;
    let fresh = splice(&page, &tables(root)?).map_err(Failure::Layout)?;
    if fresh == page {
        return Ok("layout: docs/internals/format.md was up to date".to_owned());
    }
    std::fs::write(&path, fresh).map_err(|source| Failure::File { path, source })?;
    Ok("layout: docs/internals/format.md written".to_owned())
}

/// Says whether the page is up to date.
pub(crate) fn check(root: &Path) -> Result<String, Failure> {
    let (_, page) = page(root)?;
    let fresh = splice(&page, &tables(root)?).map_err(Failure::Layout)?;
    match first_difference(&page, &fresh) {
        None => Ok("layout: docs/internals/format.md matches the code".to_owned()),
        Some(fault) => Err(Failure::Layout(fault)),
    }
}

fn page(root: &Path) -> Result<(PathBuf, String), Failure> {
    let path = root.join("docs/internals/format.md");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok((path, text)),
        Err(source) => Err(Failure::File { path, source }),
    }
}

fn tables(root: &Path) -> Result<String, Failure> {
    let out = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "run",
            "--quiet",
            "--package",
            "tavola",
            "--example",
            "layout",
        ])
        .current_dir(root)
        .output()
        .map_err(|source| Failure::Spawn {
            program: "cargo",
            source,
        })?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    Err(Failure::Exit {
        program: "cargo run --example layout",
        stderr,
    })
}

/// The page with `tables` between its markers.
fn splice(page: &str, tables: &str) -> Result<String, Fault> {
    if tables.trim().is_empty() {
        return Err(Fault::NoTables);
    }
    let (head, rest) = page.split_once(BEGIN).ok_or(Fault::NoMarkers)?;
    let (_, tail) = rest.split_once(END).ok_or(Fault::NoMarkers)?;
    if head.contains(END) || tail.contains(BEGIN) || tail.contains(END) {
        return Err(Fault::NoMarkers);
    }
    Ok(format!("{head}{BEGIN}\n{}\n{END}{tail}", tables.trim_end()))
}

fn first_difference(page: &str, fresh: &str) -> Option<Fault> {
    if page == fresh {
        return None;
    }
    let mut old = page.lines();
    let mut new = fresh.lines();
    let mut line = 1;
    loop {
        let (page, code) = (old.next(), new.next());
        if page != code || page.is_none() {
            let text = |side: Option<&str>| side.unwrap_or("(end of the page)").to_owned();
            return Some(Fault::Stale {
                line,
                page: text(page),
                code: text(code),
            });
        }
        line += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_with(tables: &str) -> String {
        format!("# Format\n\n{BEGIN}\n{tables}\n{END}\n\nprose\n")
    }

    #[test]
    fn replaces_what_is_between_the_markers() {
        let fresh = splice(&page_with("| old |"), "| new |\n| row |\n");
        assert_eq!(fresh, Ok(page_with("| new |\n| row |")));
    }

    #[test]
    fn an_up_to_date_page_stays_as_it_is() {
        let page = page_with("| a |");
        let fresh = splice(&page, "| a |\n").expect("the page has its markers");
        assert_eq!(first_difference(&page, &fresh), None);
    }

    #[test]
    fn names_the_first_line_that_differs() {
        let page = page_with("| a |\n| b |");
        let fresh = splice(&page, "| a |\n| c |").expect("the page has its markers");
        let expected = Fault::Stale {
            line: 5,
            page: "| b |".into(),
            code: "| c |".into(),
        };
        assert_eq!(first_difference(&page, &fresh), Some(expected));
    }

    #[test]
    fn refuses_a_page_without_its_markers() {
        assert_eq!(splice("prose", "| a |"), Err(Fault::NoMarkers));
        assert_eq!(
            splice(&format!("{END}\n{BEGIN}\n"), "| a |"),
            Err(Fault::NoMarkers)
        );
        let twice = page_with("x").repeat(2);
        assert_eq!(splice(&twice, "| a |"), Err(Fault::NoMarkers));
    }

    #[test]
    fn refuses_empty_tables() {
        assert_eq!(splice(&page_with("| a |"), " \n"), Err(Fault::NoTables));
    }
}
