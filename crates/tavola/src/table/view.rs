//! Values lent where they stand.

use super::Table;
use crate::alloc::Item;
use crate::engine::Core;
use crate::error::Result;
use crate::index::locate::{Hash, Want};
use crate::region::{Pin, Pinned};

/// A view of a value that is not copied; from [`Table::get_view`].
///
/// The bytes do not change while the view exists, whatever is written to the key. A value that does
/// not fit in one page of a table (16 KiB) is in several pages: the view has one piece for each run
/// of adjacent pages. A shorter value, and up to 16 KiB of a longer one, is copied.
pub struct View<'t> {
    core: &'t Core,
    lent: Lent,
}

/// The copied part of a value, and the places of the rest in the region, which is pinned.
#[derive(Default)]
struct Lent {
    head: Vec<u8>,
    /// Offsets and lengths.
    runs: Vec<(u64, u64)>,
    pin: Option<Pin>,
}

impl Want for Lent {
    fn take(&mut self, item: &Item<'_>) -> bool {
        self.forget();
        item.lend_value(&mut self.head, &mut self.runs)
    }

    fn keep(&mut self, pin: Pinned<'_>) {
        self.pin = pin.keep();
    }

    fn forget(&mut self) {
        self.head.clear();
        self.runs.clear();
    }
}

impl View<'_> {
    /// Returns the length of the value in bytes.
    pub fn len(&self) -> usize {
        self.pieces().map(<[u8]>::len).sum()
    }

    /// Returns whether the value is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pieces of the value in order. No piece is empty.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let head = Some(&self.lent.head[..]).filter(|head| !head.is_empty());
        let region = self.core.region();
        let runs = self.lent.runs.iter();
        head.into_iter()
            .chain(runs.map(|(offset, len)| region.lent(*offset, *len)))
    }

    /// Returns the value if it is in one piece.
    pub fn as_slice(&self) -> Option<&[u8]> {
        let mut pieces = self.pieces();
        match (pieces.next(), pieces.next()) {
            (None, _) => Some(&[]),
            (Some(piece), None) => Some(piece),
            _ => None,
        }
    }

    /// Returns a copy of the value.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len());
        self.pieces().for_each(|piece| out.extend_from_slice(piece));
        out
    }

    /// Returns whether the view borrows pages of the table; if not, the value is a copy.
    pub fn is_lent(&self) -> bool {
        self.lent.pin.is_some()
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        if let Some(pin) = self.lent.pin.take() {
            self.core.region().unpin(pin);
        }
    }
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("len", &self.len())
            .field("is_lent", &self.is_lent())
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Returns a view of the value of a key without a copy, or `None` if the key is missing.
    ///
    /// Values of up to about 16 KB are copied. All values are copied if the table is open
    /// read-only, if the process cannot attach, or if six views and reads of large values are
    /// active through this `Table`.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(8 << 20).private()?;
    /// table.set(b"film", &vec![7; 1 << 20])?;
    /// let film = table.get_view(b"film")?.expect("it was just set");
    /// table.set(b"film", b"another")?;
    /// assert_eq!(film.len(), 1 << 20);
    /// assert!(film.pieces().all(|piece| piece.iter().all(|byte| *byte == 7)));
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    ///
    /// # Concurrency
    /// As [`Table::get`]. The process attaches, and records which pages it reads. Writers are not
    /// delayed: pages of a value that is overwritten, removed or evicted stay in use until the view
    /// is dropped, and the next write frees them. Do not use the view in a forked child: its pages
    /// stay valid only as long as the parent has them.
    ///
    /// # Crash
    /// Pages in views of a dead process are reclaimed with its other resources.
    pub fn get_view(&self, key: impl AsRef<[u8]>) -> Result<Option<View<'_>>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut view = View {
            core,
            lent: Lent::default(),
        };
        let found = core.read(key, Hash::of(core.region(), key), &mut view.lent)?;
        Ok(found.then_some(view))
    }
}
