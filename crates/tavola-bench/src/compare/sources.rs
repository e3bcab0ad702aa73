//! The peers' programs, which this one carries along: an installed binary needs no checkout.

use std::fs;
use std::path::Path;

use crate::{Error, Result};

/// Pairs of path and content of files below the folder of the peers.
macro_rules! peer_files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../peers/", $path)))),*]
    };
}

const C: &[(&str, &str)] = peer_files!["c/harness.h", "c/harness.c", "c/tavola.c",];

/// Those of scripts.
const SCRIPTS: &[(&str, &str)] = peer_files![];

/// The header of the library for C, for its adapter.
const HEADER: (&str, &str) = (
    "c/tavola.h",
    include_str!("../../../tavola-capi/include/tavola.h"),
);

/// Writes all of them below `folder`.
pub(super) fn unpack(folder: &Path) -> Result<()> {
    let header = [HEADER];
    for (path, content) in C.iter().chain(SCRIPTS).chain(&header) {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::io("making a folder for the peers"))?;
        fs::write(&file, content).map_err(Error::io("writing a peer's program"))?;
    }
    Ok(())
}
