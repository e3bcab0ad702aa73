//! A region in the memory of one process, for tests.

use super::{Backing, Near, Region, clock, explained, limit, pins};
use crate::layout::{Geometry, PAGE};
use crate::sync::{RecordRing, W32, W64};
use crate::sys;
use rapidhash::v3::RapidSecrets;
use std::ptr::NonNull;

impl Region {
    /// Creates a private region of zeroes on the heap, with the layout of a file's.
    pub(crate) fn heap(
        geometry: Geometry,
        seed: u64,
        path: &std::path::Path,
    ) -> crate::Result<Self> {
        // Aligned here: an allocator that aligns writes the zeroes itself, to all of the pages.
        let size = geometry.room as usize + PAGE as usize;
        let layout = std::alloc::Layout::from_size_align(size, 8)
            .expect("a geometry's size is a valid layout");
        // SAFETY: the layout's size is not zero (Geometry::new).
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        let base = match start.is_null() {
            true => start,
            // SAFETY: less than a page, by which the layout is longer than the room.
            false => unsafe { start.add(start.align_offset(PAGE as usize)) },
        };
        let none = || {
            explained(
                "allocating",
                path,
                std::io::Error::from_raw_os_error(libc::ENOMEM),
            )
        };
        let region = Self {
            base: NonNull::new(base).ok_or_else(none)?,
            len: W64::new(geometry.room),
            geometry,
            near: Near::new(base, &geometry),
            secrets: RapidSecrets::seed(seed),
            writable: true,
            backing: Backing::Heap { layout, start },
            opened: sys::process::generation(),
            clock: clock::Clock::new(),
            evictions: RecordRing::new(),
            pin_slot: pins::PinSlot::new(),
            lock_limit: limit::LockLimit::new(),
            journal: W64::new(0),
            adopted: W32::new(0),
        };
        region
            .superblock()
            .init(&geometry, geometry.room, seed, [0, 0], 0);
        Ok(region)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Backing::Heap { layout, start } = self.backing {
            // SAFETY: allocated in `heap` with this very layout.
            unsafe { std::alloc::dealloc(start, layout) };
        }
    }
}
