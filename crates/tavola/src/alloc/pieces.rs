//! The stream of a large item, its key and value: a part in its block, the rest in pages.

use super::bytes;
use super::chain::next_of;
use crate::layout::{MOST_HEAD, PAGE};
use crate::region::{Block, Region};

/// Bytes of a chain compared at once.
const BUFFER: usize = 4096;

/// The stream of a large item.
pub(super) struct Pieces<'a> {
    pub(super) region: &'a Region,
    pub(super) block: Block<'a>,
    /// Where in the block the stream begins, and how many bytes of it are there.
    pub(super) data: u64,
    pub(super) inline: u64,
    pub(super) first_page: u32,
    pub(super) pages: u32,
    /// Whether the chain is pinned, and the block is a copy.
    pub(super) is_pinned: bool,
}

/// Where a piece of the stream stands.
#[derive(Clone, Copy)]
enum At {
    Block(u64),
    /// In pages, so many bytes from the region's beginning.
    Pages(u64),
}

impl<'a> Pieces<'a> {
    /// Whether the stream goes on with these bytes after `skip` others; `None`: the chain is
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
            let At::Pages(offset) = at else { return None };
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

    /// Appends `len` bytes of the stream from `skip` on; false: the chain is broken.
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

    /// Copies the stream from `skip` on until `out` is full; false: the chain is broken.
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

    /// Of a chain that is pinned: where the stream stands from `skip` on, what is in the block
    /// appended to `head`, runs of pages to `runs`; false: the chain is broken.
    pub(super) fn lend(
        &self,
        skip: u64,
        len: u64,
        (head, runs): (&mut Vec<u8>, &mut Vec<(u64, u64)>),
    ) -> bool {
        let lent = self.visit(skip, len, |at, len| {
            match at {
                At::Block(at) => {
                    bytes::append_from(self.block.bytes(at, len as u64), len as u64, head);
                }
                At::Pages(offset) => runs.push((offset, len as u64)),
            }
            Some(true)
        });
        lent.is_some()
    }

    /// The pages in order; `None` and the end where the chain is broken: a page in another state,
    /// or a last page that is followed by one more (so no page comes twice).
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

    /// Shows where the `len` bytes of the stream from `skip` on stand, piece by piece, pages that
    /// adjoin as one, as long as `see` says to go on, and says what it said last; `None`: it could
    /// not see, or the chain is broken.
    fn visit(
        &self,
        mut skip: u64,
        mut left: u64,
        mut see: impl FnMut(At, usize) -> Option<bool>,
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
        if here > 0 && !see(At::Block(self.data + skipped), here as usize)? {
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
            if run.1 > 0 && !see(At::Pages(run.0), run.1 as usize)? {
                return Some(false);
            }
            run = (offset, here);
        }
        if run.1 > 0 && !see(At::Pages(run.0), run.1 as usize)? {
            return Some(false);
        }
        is_all.then_some(true)
    }

    /// A pointer to a piece, where it may be read through the mapping: in the block, and in pages
    /// that are pinned. Else a reader that is stopped for longer than the grace of freed pages may
    /// come back to pages that were given to the system, and must not need memory to find that out.
    fn mapped(&self, at: At, len: usize) -> Option<*const u8> {
        match at {
            At::Block(at) => Some(self.block.bytes(at, len as u64)),
            At::Pages(offset) if self.is_pinned => {
                Some(self.region.bytes(offset, len as u64).cast_const())
            }
            At::Pages(_) => None,
        }
    }

    /// Copies a piece; false: it could not be read.
    fn copy(&self, at: At, out: &mut [u8]) -> bool {
        if let Some(from) = self.mapped(at, out.len()) {
            bytes::read(from, out);
            return true;
        }
        match at {
            At::Pages(offset) => self.region.read(offset, out),
            At::Block(_) => false,
        }
    }
}
