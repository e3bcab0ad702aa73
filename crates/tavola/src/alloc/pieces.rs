//! The stream of a large item: its key and then its value. The beginning is in its block, and the
//! rest in a chain of pages.

use super::bytes;
use super::chain::next_of;
use crate::layout::{MOST_HEAD, PAGE};
use crate::region::{Block, Region};

/// Bytes of a chain that are compared at a time.
const BUFFER: usize = 4096;

/// The stream of a large item.
pub(super) struct LargeStream<'a> {
    pub(super) region: &'a Region,
    pub(super) block: Block<'a>,
    /// The offset in the block at which the stream begins, and how many bytes of it are there.
    pub(super) data: u64,
    pub(super) inline: u64,
    pub(super) first_page: u32,
    pub(super) pages: u32,
    /// Whether the chain is pinned, and the block is a copy.
    pub(super) is_pinned: bool,
}

/// Where a piece of the stream is.
#[derive(Clone, Copy)]
enum PieceAt {
    Block(u64),
    /// In pages, at this offset from the region's beginning.
    Pages(u64),
}

impl<'a> LargeStream<'a> {
    /// Returns whether the stream has these bytes after `skip` others, or `None` if the chain is
    /// broken.
    pub(super) fn equals_from(&self, skip: u64, other: &[u8]) -> Option<bool> {
        let mut rest = other;
        self.visit(skip, other.len() as u64, |at, len| {
            let (these, others) = rest.split_at(len);
            rest = others;
            if let Some(from) = self.mapped(at, len) {
                return Some(bytes::equals(from, these));
            }
            let mut buffer = [0; BUFFER];
            let PieceAt::Pages(offset) = at else {
                return None;
            };
            for (number, chunk) in these.chunks(BUFFER).enumerate() {
                let copy = &mut buffer[..chunk.len()];
                if !self.region.read(offset + (number * BUFFER) as u64, copy) {
                    return None;
                }
                if copy != chunk {
                    return Some(false);
                }
            }
            Some(true)
        })
    }

    /// Appends `len` bytes of the stream from `skip` on. Returns false if the chain is broken.
    pub(super) fn append(&self, skip: u64, len: u64, out: &mut Vec<u8>) -> bool {
        if self.is_pinned {
            out.reserve(len as usize);
        }
        let appended = self.visit(skip, len, |at, len| {
            match self.mapped(at, len) {
                Some(from) => bytes::append_from(from, len as u64, out),
                None => {
                    let end = out.len();
                    out.resize(end + len, 0);
                    return self.copy(at, &mut out[end..]).then_some(true);
                }
            }
            Some(true)
        });
        appended.is_some()
    }

    /// Copies the stream from `skip` on until `out` is full. Returns false if the chain is broken.
    pub(super) fn read(&self, skip: u64, out: &mut [u8]) -> bool {
        let mut end = 0;
        let all = out.len() as u64;
        let copied = self.visit(skip, all, |at, len| {
            let begin = end;
            end += len;
            self.copy(at, &mut out[begin..end]).then_some(true)
        });
        copied.is_some()
    }

    /// Finds `len` bytes of the stream from `skip` on, in a chain that is pinned: appends what is
    /// in the block to `head`, and the runs of pages to `runs`. Returns false if the chain is
    /// broken.
    pub(super) fn lend(
        &self,
        skip: u64,
        len: u64,
        head: &mut Vec<u8>,
        runs: &mut Vec<(u64, u64)>,
    ) -> bool {
        let lent = self.visit(skip, len, |at, len| {
            match at {
                PieceAt::Block(at) => {
                    bytes::append_from(self.block.bytes(at, len as u64), len as u64, head);
                }
                PieceAt::Pages(offset) => runs.push((offset, len as u64)),
            }
            Some(true)
        });
        lent.is_some()
    }

    /// Returns the pages in order. If the chain is broken, the last item is `None`. It is broken at
    /// a page in another state, or if the last page is not the one that ends the list (so no page
    /// comes twice).
    pub(super) fn pages(&self) -> impl Iterator<Item = Option<u32>> + use<'a> {
        let (region, first) = (self.region, self.first_page);
        let last = self.pages.saturating_sub(1);
        let mut page = self.first_page;
        let mut broken = false;
        (0..self.pages).map_while(move |number| {
            if broken {
                return None;
            }
            let this = page;
            match next_of(region, first, this) {
                Some(next) if (next == 0) == (number == last) => page = next,
                _ => broken = true,
            }
            Some((!broken).then_some(this))
        })
    }

    /// Calls `see` with the pieces of the `len` bytes of the stream from `skip` on, in order, with
    /// adjacent pages as one piece. Stops after a piece for which it returns false. Returns what
    /// `see` returned last, or `None` if it could not read a piece or the chain is broken.
    fn visit(
        &self,
        mut skip: u64,
        mut left: u64,
        mut see: impl FnMut(PieceAt, usize) -> Option<bool>,
    ) -> Option<bool> {
        debug_assert!(MOST_HEAD + self.inline <= PAGE);
        let mut part = |room: u64| {
            let skipped = skip.min(room);
            let here = (room - skipped).min(left);
            skip -= skipped;
            left -= here;
            (skipped, here, left == 0)
        };
        let (skipped, here, mut is_all) = part(self.inline);
        if here > 0 && !see(PieceAt::Block(self.data + skipped), here as usize)? {
            return Some(false);
        }
        let mut run = (0, 0);
        for page in self.pages() {
            if is_all {
                break;
            }
            let page = page?;
            let (skipped, here, is_last) = part(PAGE);
            is_all = is_last;
            let offset = u64::from(page) * PAGE + skipped;
            if run.0 + run.1 == offset {
                run.1 += here;
                continue;
            }
            if run.1 > 0 && !see(PieceAt::Pages(run.0), run.1 as usize)? {
                return Some(false);
            }
            run = (offset, here);
        }
        if run.1 > 0 && !see(PieceAt::Pages(run.0), run.1 as usize)? {
            return Some(false);
        }
        is_all.then_some(true)
    }

    /// Returns a pointer to a piece that may be read through the mapping: in the block, or in pages
    /// that are pinned. Pages that are not pinned may have been given back to the system if the
    /// reader was stopped for longer than the grace period. To read them through the mapping would
    /// allocate memory, which may be missing.
    fn mapped(&self, at: PieceAt, len: usize) -> Option<*const u8> {
        match at {
            PieceAt::Block(at) => Some(self.block.bytes(at, len as u64)),
            PieceAt::Pages(offset) if self.is_pinned => {
                Some(self.region.bytes(offset, len as u64).cast_const())
            }
            PieceAt::Pages(_) => None,
        }
    }

    /// Copies a piece. Returns false if it could not be read.
    fn copy(&self, at: PieceAt, out: &mut [u8]) -> bool {
        if let Some(from) = self.mapped(at, out.len()) {
            bytes::read(from, out);
            return true;
        }
        match at {
            PieceAt::Pages(offset) => self.region.read(offset, out),
            PieceAt::Block(_) => false,
        }
    }
}
