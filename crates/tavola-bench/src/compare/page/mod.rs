//! The report people look at: one HTML page, made of a [`Results`] and nothing else.
//!
//! The page holds all it needs: no file beside it, nothing from a network. Its tables are plain
//! HTML, made here; the charts are drawn from the same figures by a script when it is opened, so
//! that a page without scripts lacks the charts and nothing else. What is computed (who is
//! faster, by how much, what counts as level) is computed here, once.

use std::fs;
use std::path::{Path, PathBuf};

use super::cut;
use super::report::Results;
use crate::{Error, Result};

mod charts;
mod contests;
mod sections;
mod stores;
mod words;
mod workloads;

/// Reads `results` (a `results.json`), also one of an earlier program.
pub fn read(results: &Path) -> Result<Results> {
    let error = |why: String| Error::Results {
        path: results.to_owned(),
        why,
    };
    let text = fs::read(results).map_err(|source| error(source.to_string()))?;
    let parsed = serde_json::from_slice(&text);
    let mut parsed: Results = parsed.map_err(|source| error(source.to_string()))?;
    cut::mark(&mut parsed.rows);
    Ok(parsed)
}

/// Writes the page of what is in `results` to `out`, or beside it as `report.html`; says where.
pub fn write(results: &Path, out: Option<&Path>) -> Result<PathBuf> {
    let page = page(&read(results)?);
    let out = out.map_or_else(|| results.with_file_name("report.html"), Path::to_owned);
    fs::write(&out, page).map_err(Error::io("writing the report"))?;
    Ok(out)
}

/// The page of a run.
pub fn page(results: &Results) -> String {
    let stores = stores::stores(results);
    let contests = contests::contests(results, &stores);
    let run = sections::Run {
        results,
        stores: &stores,
        contests: &contests,
    };
    // A text may hold what no page may, such as the zero bytes of a program's last words.
    sections::document(&run)
        .into_string()
        .replace('\0', "\u{fffd}")
}
