//! The fields that an item may have between header and key: uid, expiry, flags, version. (The link
//! of a large item and the number of a counter are read in `item`.)

use super::write::{Shown, Stamp};
use super::{Item, Tags};
use crate::layout::{FLAG_CLIENT, FLAG_EXPIRY, FLAG_UID, FLAG_VERSION, Header, Hint};
use crate::sync::{Ordering, W64, fence};

impl<'a> Item<'a> {
    /// Returns the word of its uid, if it has one.
    #[inline(always)]
    fn uid_field(&self) -> Option<&'a W64> {
        if self.flags & FLAG_UID == 0 {
            return None;
        }
        if self.flags == FLAG_UID && self.data == 16 {
            return Some(self.block.second_word());
        }
        let at = match self.region.fixed() {
            None => Header::field_at(self.flags, FLAG_UID),
            Some(fixed) => fixed.uid_at(),
        };
        Some(self.block.word(at))
    }

    /// Returns a field that only items with a header have.
    fn field(&self, flag: u8) -> Option<&'a W64> {
        let at = Header::field_at(self.flags, flag);
        let has = self.flags & flag != 0;
        has.then(|| self.block.word(at))
    }

    /// Returns the word of its key's expiry, which is changed in place, if it has that field.
    pub(crate) fn expiry_word(&self) -> Option<&'a W64> {
        self.field(FLAG_EXPIRY)
    }

    /// Returns when its key expires, or 0 if it never does.
    #[inline]
    pub(crate) fn expiry_ms(&self) -> u64 {
        self.expiry_word()
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Returns whether its key has expired. The clock is read first: so if the time is changed
    /// meanwhile, the old time had not come yet.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.expiry_word().is_some_and(|word| {
            let now = self.region.now_ms();
            // Otherwise the compiler or the processor might load the time before the clock.
            fence(Ordering::Acquire);
            let expiry = word.load(Ordering::Relaxed);
            expiry != 0 && now >= expiry
        })
    }

    /// Returns the word of the client flags and marks, if it has that field. The marks are changed
    /// in place.
    pub(crate) fn client_word(&self) -> Option<&'a W64> {
        self.field(FLAG_CLIENT)
    }

    /// Returns its key's version, or 0 if it has none.
    pub(crate) fn version(&self) -> u64 {
        self.field(FLAG_VERSION)
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Returns what a read of the value also returns of it.
    #[inline]
    pub(crate) fn shown(&self) -> Shown {
        let client = self.client_word();
        let client = client.map_or(0, |word| word.load(Ordering::Relaxed));
        Shown {
            expiry_ms: self.expiry_ms(),
            client: client as u32,
            marks: (client >> 40) as u32,
            version: self.version(),
        }
    }

    /// Returns what it has beside key, value and uid. If it has tags, they are put into `room`.
    pub(crate) fn stamp<'r>(&self, room: &'r mut Option<Tags>) -> Stamp<'r> {
        let shown = self.shown();
        Stamp {
            expiry_ms: shown.expiry_ms,
            client: shown.client,
            marks: shown.marks,
            tags: match self.tags {
                0 => &Tags::NONE,
                _ => room.insert(self.tags()),
            },
            version: shown.version,
        }
    }

    /// Returns its uid, or [`Hint::NONE`].
    #[inline(always)]
    pub(crate) fn hint(&self) -> Hint {
        self.uid_field().map_or(Hint::NONE, |word| {
            Hint::from_bits(word.load(Ordering::Relaxed))
        })
    }

    /// Removes, for repair, a uid that cannot be its own.
    pub(crate) fn forget_hint(&self) {
        if let Some(word) = self.uid_field() {
            word.store(Hint::NONE.to_bits(), Ordering::Relaxed);
        }
    }
}
