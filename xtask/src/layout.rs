//! The byte tables of the pages about formats, made from the layout in the code.
//!
//! The example `layout` of a crate prints them as Markdown. They stand between two marker lines;
//! what is around the markers is prose and is left alone.

use crate::failure::Failure;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page, and the crate whose example prints its tables.
struct Page {
    path: &'static str,
    package: &'static str,
}

const PAGES: [Page; 2] = [
    Page {
        path: "docs/internals/format.md",
        package: "tavola",
    },
    Page {
        path: "docs/internals/frozen.md",
        package: "tavola-cdb",
    },
];
const BEGIN: &str = "<!-- layout:begin -->";
const END: &str = "<!-- layout:end -->";

/// What is wrong with the page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoMarkers(&'static str),
    NoTables(&'static str),
    Stale {
        path: &'static str,
        line: usize,
        page: String,
        code: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMarkers(path) => write!(
                f,
                "{path} needs one line `{BEGIN}` and, after it, one line `{END}`"
            ),
            Self::NoTables(path) => write!(f, "the example `layout` printed nothing for {path}"),
            Self::Stale {
                path,
                line,
                page,
                code,
            } => write!(
                f,
                "{path}:{line} differs from the layout in the code\n  \
                 page: {page}\n  code: {code}\nrun `cargo xtask layout` and read what changed"
            ),
        }
    }
}

/// Brings the pages up to date.
pub(crate) fn write(root: &Path) -> Result<String, Failure> {
    let mut written = Vec::new();
    for page in &PAGES {
        let (path, text) = page.read(root)?;
        let fresh = page
            .splice(&text, &page.tables(root)?)
            .map_err(Failure::Layout)?;
        if fresh != text {
            std::fs::write(&path, fresh).map_err(|source| Failure::File { path, source })?;
            written.push(page.path);
        }
    }
    Ok(match written.is_empty() {
        true => "layout: the pages were up to date".to_owned(),
        false => format!("layout: {} written", written.join(", ")),
    })
}

/// Says whether the pages are up to date.
pub(crate) fn check(root: &Path) -> Result<String, Failure> {
    for page in &PAGES {
        let (_, text) = page.read(root)?;
        let fresh = page
            .splice(&text, &page.tables(root)?)
            .map_err(Failure::Layout)?;
        if let Some(fault) = page.first_difference(&text, &fresh) {
            return Err(Failure::Layout(fault));
        }
    }
    Ok("layout: the pages match the code".to_owned())
}

impl Page {
    fn read(&self, root: &Path) -> Result<(PathBuf, String), Failure> {
        let path = root.join(self.path);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok((path, text)),
            Err(source) => Err(Failure::File { path, source }),
        }
    }

    fn tables(&self, root: &Path) -> Result<String, Failure> {
        let out = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([
                "run",
                "--quiet",
                "--package",
                self.package,
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

    /// Returns the page with `tables` between its markers.
    fn splice(&self, page: &str, tables: &str) -> Result<String, Fault> {
        if tables.trim().is_empty() {
            return Err(Fault::NoTables(self.path));
        }
        let no_markers = Fault::NoMarkers(self.path);
        let Some((head, rest)) = page.split_once(BEGIN) else {
            return Err(no_markers);
        };
        let Some((_, tail)) = rest.split_once(END) else {
            return Err(no_markers);
        };
        if head.contains(END) || tail.contains(BEGIN) || tail.contains(END) {
            return Err(no_markers);
        }
        Ok(format!("{head}{BEGIN}\n{}\n{END}{tail}", tables.trim_end()))
    }

    fn first_difference(&self, page: &str, fresh: &str) -> Option<Fault> {
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
                    path: self.path,
                    line,
                    page: text(page),
                    code: text(code),
                });
            }
            line += 1;
        }
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
        let fresh = PAGES[0].splice(&page_with("| old |"), "| new |\n| row |\n");
        assert_eq!(fresh, Ok(page_with("| new |\n| row |")));
    }

    #[test]
    fn an_up_to_date_page_stays_as_it_is() {
        let page = page_with("| a |");
        let fresh = PAGES[0]
            .splice(&page, "| a |\n")
            .expect("the page has its markers");
        assert_eq!(PAGES[0].first_difference(&page, &fresh), None);
    }

    #[test]
    fn names_the_first_line_that_differs() {
        let page = page_with("| a |\n| b |");
        let fresh = PAGES[0]
            .splice(&page, "| a |\n| c |")
            .expect("the page has its markers");
        let expected = Fault::Stale {
            path: PAGES[0].path,
            line: 5,
            page: "| b |".into(),
            code: "| c |".into(),
        };
        assert_eq!(PAGES[0].first_difference(&page, &fresh), Some(expected));
    }

    #[test]
    fn refuses_a_page_without_its_markers() {
        assert_eq!(
            PAGES[0].splice("prose", "| a |"),
            Err(Fault::NoMarkers(PAGES[0].path))
        );
        assert_eq!(
            PAGES[0].splice(&format!("{END}\n{BEGIN}\n"), "| a |"),
            Err(Fault::NoMarkers(PAGES[0].path))
        );
        let twice = page_with("x").repeat(2);
        assert_eq!(
            PAGES[0].splice(&twice, "| a |"),
            Err(Fault::NoMarkers(PAGES[0].path))
        );
    }

    #[test]
    fn refuses_empty_tables() {
        assert_eq!(
            PAGES[0].splice(&page_with("| a |"), " \n"),
            Err(Fault::NoTables(PAGES[0].path))
        );
    }
}
