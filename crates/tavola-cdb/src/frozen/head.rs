//! The head of a frozen file: what is where, and checksums.

use std::fmt::Write;
use std::mem::offset_of;

use super::{SUM_SEED, hash, secrets};
use crate::error::{Error, Result};
use crate::map::Map;

/// The first bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"TavolaFZ";
/// The version of the format.
pub(crate) const VERSION: u32 = 1;
/// The kind of a file whose keys have one length, and values, too.
pub(crate) const UNIFORM: u32 = 1;
/// The kind of any other file.
pub(crate) const VARIED: u32 = 0;

macro_rules! head {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty,)*) => {
        /// The head, as it is in a file: numbers least byte first.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Head {
            $($(#[doc = $doc])* pub(crate) $name: $type,)*
        }

        impl Head {
            /// Name, offset and length of each field, and what it is.
            const FIELDS: &'static [(&'static str, usize, usize, &'static str)] = &[$((
                stringify!($name),
                offset_of!(Head, $name),
                size_of::<$type>(),
                concat!($($doc),*),
            ),)*];

            /// Returns the bytes of the head.
            pub(crate) fn to_bytes(self) -> [u8; Head::BYTES] {
                let mut bytes = [0; Head::BYTES];
                $({
                    let at = offset_of!(Head, $name);
                    bytes[at..at + size_of::<$type>()].copy_from_slice(&self.$name.to_le_bytes());
                })*
                bytes
            }

            fn from_bytes(bytes: &[u8; Head::BYTES]) -> Head {
                let mut head = Head::default();
                $({
                    let mut field = [0; size_of::<$type>()];
                    let at = offset_of!(Head, $name);
                    field.copy_from_slice(&bytes[at..at + size_of::<$type>()]);
                    head.$name = <$type>::from_le_bytes(field);
                })*
                head
            }
        }
    };
}

head! {
    /// `TavolaFZ`
    magic: u64,
    /// version of the format, 1
    version: u32,
    /// 1 if all keys have one length, and all values; otherwise 0
    kind: u32,
    /// length of the file
    file_bytes: u64,
    /// number of keys
    keys: u64,
    /// number of groups, a multiple of 256
    groups: u64,
    /// seed of the hash of keys
    seed: u64,
    /// kind 1: length of each key
    key_bytes: u64,
    /// kind 1: length of each value
    value_bytes: u64,
    /// bytes of all keys and values
    payload_bytes: u64,
    /// where the index begins; the groups begin behind the head
    index_start: u64,
    /// where the sums begin; they end with the file
    sums_start: u64,
    /// bytes of a number of the index, 4 or 8
    offset_bytes: u32,
    /// bytes of a block with a sum of its own, the last one may be shorter
    block_bytes: u32,
    /// checksum of the sums, and so of the whole file
    whole_sum: u64,
    /// 0
    reserved: u64,
    /// 0
    reserved_too: u64,
    /// checksum of the head up to here
    head_sum: u64,
}

const _: () = assert!(size_of::<Head>() == 128, "the head has no padding");

impl Head {
    /// The length of a head.
    pub(crate) const BYTES: usize = size_of::<Head>();

    /// Returns the head with its own checksum.
    pub(crate) fn sealed(mut self) -> Head {
        self.head_sum = self.own_sum();
        self
    }

    fn own_sum(&self) -> u64 {
        let bytes = self.to_bytes();
        hash(&bytes[..offset_of!(Head, head_sum)], &secrets(SUM_SEED))
    }

    /// Reads and checks the head of a file.
    pub(crate) fn read(map: &Map) -> Result<Head> {
        let not_frozen = |why: String| Error::NotConstant {
            path: map.path().to_path_buf(),
            why,
        };
        let mut bytes = [0; Head::BYTES];
        let found = map.span(0, Head::BYTES as u64).map(|span| span.to_vec());
        match found.transpose()? {
            Some(found) if found.starts_with(&MAGIC) => bytes.copy_from_slice(&found),
            _ => return Err(not_frozen("it does not begin as a frozen file".to_string())),
        }
        let head = Head::from_bytes(&bytes);
        if head.version != VERSION {
            let found = head.version;
            let why = format!("its format has version {found}, and this program reads {VERSION}");
            return Err(not_frozen(why));
        }
        if head.head_sum != head.own_sum() {
            return Err(map.damaged("the checksum of the head is wrong", 0));
        }
        if head.file_bytes > map.len() {
            let why = format!(
                "it is cut short: {} of {} bytes",
                map.len(),
                head.file_bytes
            );
            return Err(not_frozen(why));
        }
        match head.is_consistent() {
            true => Ok(head),
            false => Err(map.damaged("what the head says does not fit together", 0)),
        }
    }

    /// Whether all parts follow each other inside the file. The head may be made by anybody.
    fn is_consistent(&self) -> bool {
        let index_bytes = self
            .groups
            .checked_add(1)
            .and_then(|numbers| numbers.checked_mul(u64::from(self.offset_bytes)));
        let index_end = index_bytes.and_then(|bytes| self.index_start.checked_add(bytes));
        let sums_end = self
            .blocks()
            .checked_mul(8)
            .and_then(|bytes| self.sums_start.checked_add(bytes));
        let stride = self.key_bytes.checked_add(self.value_bytes);
        matches!(self.kind, UNIFORM | VARIED)
            && matches!(self.offset_bytes, 4 | 8)
            && self.block_bytes.is_power_of_two()
            && (1 << 10..=1 << 24).contains(&self.block_bytes)
            && self.groups > 0
            && self.index_start >= Head::BYTES as u64
            && index_end == Some(self.sums_start)
            && sums_end == Some(self.file_bytes)
            && stride.is_some_and(|stride| stride < u64::MAX)
    }

    /// Returns the number of blocks with a sum.
    pub(crate) fn blocks(&self) -> u64 {
        let summed = self.sums_start.saturating_sub(Head::BYTES as u64);
        summed.div_ceil(u64::from(self.block_bytes.max(1)))
    }
}

/// Returns the byte tables of `docs/internals/frozen.md`, as Markdown.
pub fn format_tables() -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "### Head\n\n{} bytes, at the beginning of the file.\n",
        Head::BYTES
    );
    let _ = writeln!(out, "| offset | bytes | field | what |\n|---|---|---|---|");
    for (name, offset, bytes, what) in Head::FIELDS {
        let _ = writeln!(out, "| {offset} | {bytes} | `{name}` | {} |", what.trim());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_and_has_no_padding() {
        let head = Head {
            magic: u64::from_le_bytes(MAGIC),
            version: VERSION,
            keys: 0x0102_0304_0506_0708,
            ..Head::default()
        };
        let head = head.sealed();
        assert_eq!(Head::from_bytes(&head.to_bytes()), head);
        assert_eq!(head.head_sum, head.own_sum());
        let sum: usize = Head::FIELDS.iter().map(|(_, _, bytes, _)| bytes).sum();
        assert_eq!((sum, Head::BYTES), (Head::BYTES, 128));
        assert!(head.to_bytes().starts_with(b"TavolaFZ\x01\0\0\0"));
    }
}
