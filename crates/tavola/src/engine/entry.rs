//! Reading a value together with its attributes, version and marks.

use super::core::Core;
use crate::alloc::Shown;
use crate::error::Result;
use crate::index::locate::{Hash, Stamped, ToSlice, Want, read_by_uid_as};
use crate::layout::Hint;
use crate::values::{Details, Entry};

/// The key to read: by its bytes or by its uid.
#[derive(Clone, Copy)]
pub(crate) enum KeyOrUid<'a> {
    Key(&'a [u8]),
    Uid(Hint),
}

impl KeyOrUid<'_> {
    fn read(self, core: &Core, want: &mut impl Want) -> Result<bool> {
        match self {
            Self::Key(key) => core.read(key, Hash::of(core.region(), key), want),
            Self::Uid(hint) => read_by_uid_as(core.region(), hint, want, core),
        }
    }
}

impl Core {
    pub(crate) fn entry(&self, value: Vec<u8>, details: Details) -> Entry {
        Entry {
            token: self.token(details.version, &value),
            attributes: details.attributes,
            marks: details.marks,
            value,
        }
    }

    pub(crate) fn details(&self, shown: Shown) -> Details {
        Details {
            attributes: self.attributes(shown),
            version: shown.version,
            marks: shown.marks,
        }
    }

    pub(crate) fn entry_into(
        &self,
        which: KeyOrUid<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        out.clear();
        let mut found = Stamped::of(&mut *out);
        let is_there = which.read(self, &mut found);
        let shown = found.shown;
        if !matches!(is_there, Ok(true)) {
            out.clear();
        }
        Ok(is_there?.then(|| self.details(shown)))
    }

    pub(crate) fn entry_to_slice(
        &self,
        which: KeyOrUid<'_>,
        out: &mut [u8],
    ) -> Result<Option<(usize, Details)>> {
        let mut found = Stamped::of(ToSlice::new(out, 0));
        let is_there = which.read(self, &mut found);
        let len = found.value.end(is_there)?;
        Ok(len.map(|len| (len, self.details(found.shown))))
    }
}
