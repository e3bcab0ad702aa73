//! The fields an item may have between header and key, but for link and number: uid, expiry, flags,
//! version.

use super::write::{Shown, Stamp};
use super::{Item, Tags};
use crate::layout::{FLAG_CLIENT, FLAG_EXPIRY, FLAG_UID, FLAG_VERSION, Header, Hint};
use crate::sync::{Ordering, W64, fence};

impl<'a> Item<'a> {
    /// Where its uid stands, if it has one.
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

    /// A field that only items with a header have.
    fn field(&self, flag: u8) -> Option<&'a W64> {
        let at = Header::field_at(self.flags, flag);
        let has = self.flags & flag != 0;
        has.then(|| self.block.word(at))
    }

    /// When its key expires, if it has room for that: changed in place.
    pub(crate) fn expiry_word(&self) -> Option<&'a W64> {
        self.field(FLAG_EXPIRY)
    }

    /// When its key expires; 0: never.
    #[inline]
    pub(crate) fn expiry_ms(&self) -> u64 {
        self.expiry_word()
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Whether its key has expired. The clock is looked at first: a time that is changed meanwhile
    /// was changed before it had come.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.expiry_word().is_some_and(|word| {
            let now = self.region.now_ms();
            // Else the compiler or the processor might load it before the clock.
            fence(Ordering::Acquire);
            let expiry = word.load(Ordering::Relaxed);
            expiry != 0 && now >= expiry
        })
    }

    /// What its key has from the user, if it has room for that: the marks are changed in place.
    pub(crate) fn client_word(&self) -> Option<&'a W64> {
        self.field(FLAG_CLIENT)
    }

    /// Its key's version; 0: it has none.
    pub(crate) fn version(&self) -> u64 {
        self.field(FLAG_VERSION)
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// What readers are told of it.
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

    /// What it has beside key and value, its uid aside; its tags, if it has any, in `room`.
    pub(crate) fn stamp<'r>(&self, room: &'r mut Option<Tags>) -> Stamp<'r> {
        let told = self.shown();
        Stamp {
            expiry_ms: told.expiry_ms,
            client: told.client,
            marks: told.marks,
            tags: match self.tags {
                0 => &Tags::NONE,
                _ => room.insert(self.tags()),
            },
            version: told.version,
        }
    }

    /// Its uid, or none.
    #[inline(always)]
    pub(crate) fn hint(&self) -> Hint {
        self.uid_field().map_or(Hint::NONE, |word| {
            Hint::from_bits(word.load(Ordering::Relaxed))
        })
    }

    /// Repair: takes a uid off that cannot be its own.
    pub(crate) fn forget_hint(&self) {
        if let Some(word) = self.uid_field() {
            word.store(Hint::NONE.to_bits(), Ordering::Relaxed);
        }
    }
}
