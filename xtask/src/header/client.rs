//! The header of the client: one file with all declarations, in the order of cbindgen.

use super::{Declared, Header, declared, top};
use crate::failure::Failure;
use std::path::Path;

const CRATE: &str = "crates/tavola-client-capi";
pub(super) const INCLUDE: &str = "crates/tavola-client-capi/include";
pub(super) const NAME: &str = "tavola_client.h";

pub(super) fn made(root: &Path) -> Result<Header, Failure> {
    let folder = root.join(CRATE);
    let Declared {
        declarations,
        macros,
    } = declared(&folder, "TAVOLA_MC")?;
    let head = top(&folder, CRATE)?;
    let (macros, declarations) = (macros.trim(), declarations.trim());
    let text = format!(
        "{head}\n#ifndef TAVOLA_CLIENT_H\n#define TAVOLA_CLIENT_H\n\n#include <stddef.h>\n\
         #include <stdint.h>\n\n{macros}\n\n{declarations}\n\n#endif  // TAVOLA_CLIENT_H\n"
    );
    Ok(Header {
        name: NAME,
        include: INCLUDE,
        text,
    })
}
