//! Reading a large item without a lock: its chain is pinned, see `region::pins`.

use super::read::{Look, View, is_unchanged};
use super::want::Want;
use crate::alloc::Item;
use crate::layout::Bucket;

impl View<'_> {
    /// As [`View::look`], of a large item: its chain is pinned and its block copied, then the
    /// bucket looked at, and if that has not changed, what is taken afterwards is good whatever is
    /// written meanwhile. [`Look::Large`]: it could not be pinned.
    #[cold]
    #[inline(never)]
    pub(super) fn read_large(
        &self,
        (bucket, version): (&Bucket, u32),
        item_ref: u64,
        key: &[u8],
        want: &mut impl Want,
    ) -> Look {
        let Some(item) = Item::at(self.region, item_ref) else {
            return Look::Impossible;
        };
        let Some(pin) = self.region.pin(item.first_page) else {
            return match self.may_spoil {
                true => self.read_unpinned(&item, key, want),
                false => Look::Large,
            };
        };
        let block = item.copied_block();
        // The layout first: the bucket's segment may be gone.
        if !is_unchanged(self.head, self.layout) || !self.recheck(bucket, version) {
            return Look::Moved;
        }
        match self.take_whole(&item.pinned(&block), key, want) {
            Look::Found => {
                want.keep(pin);
                Look::Taken
            }
            look => look,
        }
    }

    /// The same without a pin. Copying it takes so long that many a reader is stopped there: so the
    /// layout is looked at before the bucket, whose segment may be gone meanwhile, and the item's
    /// block is touched no more once its pages are.
    fn read_unpinned(&self, item: &Item<'_>, key: &[u8], want: &mut impl Want) -> Look {
        let look = self.take_whole(item, key, want);
        match is_unchanged(self.head, self.layout) {
            true => look,
            false => Look::Moved,
        }
    }
}
