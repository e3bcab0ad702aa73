//! Areas: bytes of a program's own beside the keys.

use crate::alloc::{build_extent, extent_names, find_extent};
use crate::engine::Core;
use crate::error::{Error, Result, corrupt};
use crate::layout::{AREA_DATA, ExtentKind, area_len};
use crate::sync::UserWord;
use crate::table::Table;
use crate::table::beside::{self, SideObject};
use std::fmt;
use std::sync::Arc;

/// Bytes that all processes share, in the file of a table. They are zero at first, begin at a page
/// of the system, and never move: pointers into them are valid while the handle is open, and
/// offsets into them always, in all processes. Programs agree among themselves about what the
/// bytes mean and who may change them, with a [`NamedLock`](crate::NamedLock) for example.
///
/// # Examples
/// ```
/// # let dir = std::env::temp_dir().join(format!("tavola-area-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("jobs");
/// use std::sync::atomic::Ordering;
/// use tavola::Table;
///
/// let table = Table::open(&path)?;
/// let counts = table.area("counts", 4096)?;
/// counts.words()[0].fetch_add(1, Ordering::Relaxed);
/// assert_eq!(table.area("counts", 4096)?.words()[0].load(Ordering::Relaxed), 1);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Area {
    core: Arc<Core>,
    /// The offset of its bytes.
    place: u64,
    bytes: u64,
}

impl Table {
    /// Opens the area of that name in the file of this table, and creates it with that size if it
    /// is missing. It counts towards the table's `max_size`, and stays as long as the table. A
    /// table can have 16 areas, queue pools and logs.
    ///
    /// # Errors
    /// [`Error::BadOption`] if there is one of another size; [`Error::BadName`] if the name does
    /// not have 1 to 96 bytes; [`Error::ReadOnly`]; [`Error::Full`] if the table has too few
    /// adjacent unused pages, or the file system has no space; [`Error::Corrupt`].
    ///
    /// # Crash
    /// The area appears completely or not at all.
    pub fn area(&self, name: &str, bytes: u64) -> Result<Area> {
        let area = beside::open_in(&AreaOptions { bytes }, self, name)?;
        match area.bytes == bytes {
            true => Ok(area),
            false => Err(Error::BadOption {
                option: "bytes",
                why: format!("the area {name:?} has {} bytes", area.bytes),
            }),
        }
    }

    /// Opens the area of that name, whatever its size.
    ///
    /// # Errors
    /// [`Error::NotThere`]; [`Error::Corrupt`].
    pub fn existing_area(&self, name: &str) -> Result<Area> {
        AreaOptions::find(self, name)
    }

    /// Returns the names of the areas in the file of this table.
    ///
    /// # Errors
    /// Those of mapping the table.
    pub fn areas(&self) -> Result<Vec<String>> {
        let names = extent_names(self.core()?.region(), ExtentKind::Area);
        let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        Ok(names.iter().map(text).collect())
    }
}

impl Area {
    /// Returns its size in bytes.
    #[allow(clippy::len_without_is_empty, reason = "no area is empty")]
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Returns a pointer to its bytes, valid while this handle is open. If the table is open
    /// read-only, writing ends the process with a signal.
    pub fn as_ptr(&self) -> *mut u8 {
        self.core.region().bytes(self.place, self.bytes)
    }

    /// Returns its bytes as words (`AtomicU64`), for access without `unsafe`; the last word is
    /// complete, whatever the size. A write to a table that is open read-only ends the process with
    /// a signal.
    pub fn words(&self) -> &[UserWord] {
        let count = self.bytes.div_ceil(8);
        self.core.region().user_words(self.place, count)
    }
}

impl fmt::Debug for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Area")
            .field("table", &self.core.path())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// How an area is created.
struct AreaOptions {
    bytes: u64,
}

impl SideObject for AreaOptions {
    type Made = Area;

    fn len(&self) -> Result<u64> {
        area_len(self.bytes).ok_or_else(|| Error::BadOption {
            option: "bytes",
            why: format!("{} is not between 1 and 4 TiB", self.bytes),
        })
    }

    fn mode(&self) -> u32 {
        0o600
    }

    fn group(&self) -> Option<u32> {
        None
    }

    fn any_owner(&self) -> bool {
        false
    }

    fn build(&self, core: &Core, name: &str) -> Result<()> {
        let (region, me, len) = (core.region(), core.writer()?, self.len()?);
        let building = build_extent(region, me, ExtentKind::Area, name.as_bytes(), len)?;
        let (base, _) = region.span_of(building.run);
        // Pages above the high-water mark were never written, so the bytes are zero; the head comes
        // last, see `alloc/extent.rs`.
        region.area_head(base).init(self.bytes);
        building.publish();
        Ok(())
    }

    fn find(table: &Table, name: &str) -> Result<Area> {
        let core = table.lazy.get()?;
        let found = find_extent(core.region(), ExtentKind::Area, name.as_bytes())?;
        let Some((base, len)) = found else {
            return Err(Error::NotThere {
                what: ExtentKind::Area.what(),
                name: name.to_owned(),
            });
        };
        let bytes = core.region().area_head(base).verify();
        match bytes.filter(|bytes| area_len(*bytes).is_some_and(|need| need <= len)) {
            Some(bytes) => Ok(Area {
                core: Arc::clone(core),
                place: base + AREA_DATA,
                bytes,
            }),
            None => corrupt("the head of an area"),
        }
    }
}
