//! The report people look at: one HTML file, made of a template, the results as JSON, and a chart
//! library. It loads nothing, so that it can be sent to somebody and read without a network.
//!
//! All tables and charts are drawn by the template's script (`page/report.js`) from the same JSON
//! that `results.json` has.

use std::fs;
use std::path::{Path, PathBuf};

use super::report::Results;
use crate::{Error, Result};

const TEMPLATE: &str = include_str!("page/report.html");
const STYLE: &str = concat!(
    include_str!("page/vendor/uPlot.min.css"),
    include_str!("page/report.css")
);
const LIBRARY: &str = include_str!("page/vendor/uPlot.iife.min.js");
const LICENCE: &str = include_str!("page/vendor/LICENSE");
const SCRIPT: &str = include_str!("page/report.js");

/// Reads `results` (a `results.json`), also one of an earlier program.
pub fn read(results: &Path) -> Result<Results> {
    let text = fs::read(results).map_err(|why| Error::file(results, why.to_string()))?;
    serde_json::from_slice(&text).map_err(|why| Error::file(results, why.to_string()))
}

/// Writes the report of `results` to `out`, or beside it as `report.html`, and returns its path.
pub fn write(results: &Path, out: Option<&Path>) -> Result<PathBuf> {
    let page = page(&read(results)?);
    let out = out.map_or_else(|| results.with_file_name("report.html"), Path::to_owned);
    fs::write(&out, page).map_err(Error::io("writing the report"))?;
    Ok(out)
}

/// Returns the report of a run. In JSON a `<` can be written as an escape, so that no text of the
/// results ends the script element that holds them.
pub fn page(results: &Results) -> String {
    let json = serde_json::to_string(results).unwrap_or_else(|_| "{}".to_owned());
    let json = json.replace('<', "\\u003c");
    let parts = [
        ("{{style}}", STYLE),
        ("{{licence}}", LICENCE),
        ("{{results}}", &json),
        ("{{library}}", LIBRARY),
        ("{{script}}", SCRIPT),
    ];
    let mut page = String::new();
    let mut rest = TEMPLATE;
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_all_parts_and_texts_do_not_break_out() {
        let results = Results {
            tavola: "</script>{{script}}".to_owned(),
            ..Results::default()
        };
        let page = page(&results);
        assert!(page.ends_with("</html>\n"));
        assert!(page.contains("\\u003c/script>{{script}}"));
        assert_eq!(
            page.matches("{{").count(),
            1,
            "only the text of the results"
        );
        assert!(page.contains("uPlot") && page.contains("Leon Sorokin"));
    }
}
