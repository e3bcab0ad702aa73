//! The comparison's arguments, and how results are printed.

use std::io::{self, Write};

use tavola_bench::{Error, Result};

pub mod compare;
pub mod table;

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("reports have a JSON form")
}

fn show(text: String) -> Result<()> {
    let mut out = io::stdout().lock();
    let shown = writeln!(out, "{text}").and_then(|()| out.flush());
    shown.map_err(Error::Output)
}
