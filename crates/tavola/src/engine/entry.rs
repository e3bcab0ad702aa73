//! Reading a value with all that stands beside it.

use super::core::Core;
use crate::alloc::Shown;
use crate::error::Result;
use crate::index::{Hash, Stamped, ToSlice, Want, read_by_uid_seated};
use crate::layout::Hint;
use crate::values::{Details, Entry};

/// Which key is read.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    Key(&'a [u8]),
    Uid(Hint),
}

impl Which<'_> {
    fn read(self, core: &Core, want: &mut impl Want) -> Result<bool> {
        match self {
            Self::Key(key) => core.read(key, Hash::of(core.region(), key), want),
            Self::Uid(hint) => read_by_uid_seated(core.region(), hint, want, core),
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

    pub(crate) fn details(&self, told: Shown) -> Details {
        Details {
            attributes: self.attributes(told),
            version: told.version,
            marks: told.marks,
        }
    }

    pub(crate) fn entry_into(
        &self,
        which: Which<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Details>> {
        out.clear();
        let mut found = Stamped::of(&mut *out);
        let is_there = which.read(self, &mut found);
        let told = found.told;
        if !matches!(is_there, Ok(true)) {
            out.clear();
        }
        Ok(is_there?.then(|| self.details(told)))
    }

    pub(crate) fn entry_to_slice(
        &self,
        which: Which<'_>,
        out: &mut [u8],
    ) -> Result<Option<(usize, Details)>> {
        let mut found = Stamped::of(ToSlice::new(out, 0));
        let is_there = which.read(self, &mut found);
        let len = found.value.end(is_there)?;
        Ok(len.map(|len| (len, self.details(found.told))))
    }
}
