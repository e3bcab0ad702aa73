//! The peers' programs, which this one carries along: an installed binary needs no checkout.

use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::{Error, Result};

static PEERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/peers");
/// Those of the library for C, for its adapter.
static HEADERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../tavola-capi/include");

/// Writes all of them below `folder`.
pub(super) fn unpack(folder: &Path) -> Result<()> {
    let doing = || Error::io("writing the peers' programs");
    std::fs::create_dir_all(folder).map_err(doing())?;
    PEERS.extract(folder).map_err(doing())?;
    HEADERS.extract(folder.join("c")).map_err(doing())
}
