//! Objects beside a table, or in a file of their own, are created and opened in one way.

use super::{Options, Table};
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::layout::{ExtentName, Geometry, MAX_SIZE, MIN_SIZE, PAGE};
use crate::lock::PATIENCE;
use std::ffi::OsStr;

/// How often what another process is making is looked for, [`PATIENCE`] apart: half a minute.
const TRIES: u32 = 3000;
/// The name of what has a file of its own.
pub(super) const ALONE: &str = "";

/// Options of something that is created in an extent.
pub(super) trait SideObject {
    /// As its users hold it.
    type Made;

    /// Bytes of its extent.
    fn len(&self) -> Result<u64>;

    /// The mode of its file, if it has one of its own.
    fn mode(&self) -> u32;

    /// The group of its file, if it has one of its own.
    fn group(&self) -> Option<u32>;

    /// Whether its file may belong to any user, see [`Options::any_owner`].
    fn any_owner(&self) -> bool;

    /// Makes it.
    fn build(&self, core: &Core, name: &str) -> Result<()>;

    /// Opens it; [`Error::NotThere`] if it is not there.
    fn find(table: &Table, name: &str) -> Result<Self::Made>;
}

/// Opens it in a file of its own.
pub(super) fn open_existing<B: SideObject>(name: &OsStr) -> Result<B::Made> {
    B::find(&Options::new().open_existing(name)?, ALONE)
}

/// Opens it in a file of its own, making it when it is not there.
pub(super) fn open<B: SideObject>(options: &B, name: &OsStr) -> Result<B::Made> {
    let existing = Options::new().any_owner(options.any_owner());
    let open_existing = || B::find(&existing.open_existing(name)?, ALONE);
    for _ in 0..TRIES {
        match open_existing() {
            Err(Error::NotFound { .. }) => {}
            outcome => return outcome,
        }
        match create(options, name) {
            Err(Error::AlreadyExists { .. }) => {}
            outcome => return outcome,
        }
    }
    open_existing()
}

/// Makes it in a file of its own, which is a table as well, without room for keys.
pub(super) fn create<B: SideObject>(options: &B, name: &OsStr) -> Result<B::Made> {
    let file = file(options.len()?)?.mode(options.mode());
    let file = file.any_owner(options.any_owner());
    let file = match options.group() {
        Some(gid) => file.group(gid),
        None => file,
    };
    let table = file.create_with(name, |core| options.build(core, ALONE))?;
    B::find(&table, ALONE)
}

/// Opens it beside a table, making it when it is not there.
pub(super) fn open_in<B: SideObject>(options: &B, table: &Table, name: &str) -> Result<B::Made> {
    check_name(name)?;
    match B::find(table, name) {
        Err(Error::NotThere { .. }) => {}
        outcome => return outcome,
    }
    match make(options, table, name) {
        Err(Error::AlreadyThere { .. }) => B::find(table, name),
        outcome => outcome,
    }
}

/// Makes it beside a table.
pub(super) fn create_in<B: SideObject>(options: &B, table: &Table, name: &str) -> Result<B::Made> {
    check_name(name)?;
    make(options, table, name)
}

fn check_name(name: &str) -> Result<()> {
    match !name.is_empty() && ExtentName::fits(name.as_bytes()) {
        true => Ok(()),
        false => Err(Error::BadName {
            name: format!("{name:?}"),
            why: "a queue pool, log or area has a name of 1 to 96 bytes, without zero bytes",
        }),
    }
}

/// Makes it. One that somebody is just making is waited for.
fn make<B: SideObject>(options: &B, table: &Table, name: &str) -> Result<B::Made> {
    let core = table.core()?;
    let mut made = options.build(core, name);
    for _ in 0..TRIES {
        let is_taken = matches!(made, Err(Error::AlreadyThere { .. }));
        if !is_taken || !matches!(B::find(table, name), Err(Error::NotThere { .. })) {
            break;
        }
        std::thread::sleep(PATIENCE);
        made = options.build(core, name);
    }
    made.and_then(|()| B::find(table, name))
}

/// A file with room for an extent of so many bytes and nothing else.
fn file(len: u64) -> Result<Options> {
    match file_len(len) {
        Some(size) => Ok(Options::new().max_size(size).shards(1)),
        None => Err(Error::BadOption {
            option: "size",
            why: format!("a file for {len} bytes exceeds 4 TiB"),
        }),
    }
}

fn file_len(len: u64) -> Option<u64> {
    let pages = len.div_ceil(PAGE);
    // The rest of the file is far less than these, or than 2 MiB.
    let mut size = (pages * PAGE + MIN_SIZE).max(MIN_SIZE);
    while size <= MAX_SIZE {
        if let Some(geometry) = Geometry::new(size, 0)
            && u64::from(geometry.max_pages - geometry.first_page) >= pages
        {
            return Some(size);
        }
        size += (size / 256).next_multiple_of(PAGE);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_room_for_what_is_in_it_and_not_much_more() {
        for pages in [1, 5, 1000, 1 << 20, 1 << 27] {
            let size = file_len(pages * PAGE).unwrap();
            let made = Geometry::new(size, 0).unwrap();
            assert!(u64::from(made.max_pages - made.first_page) >= pages);
            assert!(size <= pages * PAGE + MIN_SIZE + (2 << 20) + size / 64);
        }
        assert!(file(MAX_SIZE).is_err());
    }
}
