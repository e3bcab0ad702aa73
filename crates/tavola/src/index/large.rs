//! Reading a large item without a lock. Copying its chain of pages takes so long that writers could
//! invalidate every copy, so the reader first pins the chain (see `region::pins`).

use super::read::{Examined, ShardView, is_unchanged};
use super::sought::Sought;
use super::want::Want;
use crate::alloc::Item;
use crate::layout::Bucket;

impl<S: Sought> ShardView<'_, S> {
    /// Takes what is wanted of a large item. It pins the chain and copies the item's block, then
    /// rechecks the bucket: if that has not changed, what is taken afterwards is valid whatever is
    /// written meanwhile. Returns [`Examined::Large`] if the chain could not be pinned.
    #[cold]
    #[inline(never)]
    pub(super) fn read_large(
        &self,
        bucket: &Bucket,
        version: u32,
        item_ref: u64,
        key: &[u8],
        want: &mut impl Want,
    ) -> Examined {
        let Some(item) = Item::at(self.region, item_ref) else {
            return Examined::Impossible;
        };
        let Some(pin) = self.region.pin(item.first_page) else {
            return match self.may_spoil {
                true => self.read_unpinned(&item, key, want),
                false => Examined::Large,
            };
        };
        let block = item.copied_block();
        // The layout first: the bucket's segment may be gone.
        if !is_unchanged(self.head, self.layout) || !self.recheck(bucket, version) {
            return Examined::Moved;
        }
        match self.take_whole(&item.pinned(&block), key, want) {
            Examined::Found => {
                want.keep(pin);
                Examined::Taken
            }
            examined => examined,
        }
    }

    /// Takes what is wanted without a pin. The copy takes so long that many readers are interrupted
    /// in it. So the layout is checked before the bucket, whose segment may be gone; and the item's
    /// block is not read any more once its pages are.
    fn read_unpinned(&self, item: &Item<'_>, key: &[u8], want: &mut impl Want) -> Examined {
        let examined = self.take_whole(item, key, want);
        match is_unchanged(self.head, self.layout) {
            true => examined,
            false => Examined::Moved,
        }
    }
}
