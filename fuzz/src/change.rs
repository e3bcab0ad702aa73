//! Changes of a file's bytes, as an input says them; where they are, each target says.

use crate::image::Image;
use crate::memory::file;
use crate::template::{Template, write_to};
use arbitrary::{Arbitrary, Unstructured};
use tavola::{Error, Table};

/// Changes of one input.
pub(crate) const MOST_CHANGES: usize = 24;

/// A part of a file that damage can be aimed at.
pub(crate) trait Aim: Copy {
    /// Where the byte of that number is in it; of an image that is whole.
    fn place(self, whole: &Image, number: usize) -> usize;
}

/// One change of some bytes.
#[derive(Arbitrary, Debug)]
pub(crate) struct Change<A> {
    area: A,
    at: u32,
    how: How<A>,
}

#[derive(Arbitrary, Debug)]
enum How<A> {
    Flip(u8),
    Byte(u8),
    Half(u32),
    Word(u64),
    /// Eight bytes of another place: words that mean something, where they do not belong.
    From(A, u32),
}

impl<A: Aim> Change<A> {
    pub(crate) fn apply(&self, image: &mut Image, whole: &Image) {
        let at = self.area.place(whole, self.at as usize);
        match self.how {
            How::Flip(bit) => {
                let byte = image.word32(at) as u8 ^ 1 << (bit % 8);
                image.put(at, &[byte]);
            }
            How::Byte(byte) => image.put(at, &[byte]),
            How::Half(half) => image.put(at & !3, &half.to_le_bytes()),
            How::Word(word) => image.put(at & !7, &word.to_le_bytes()),
            How::From(area, from) => {
                let from = area.place(whole, from as usize) & !7;
                image.put(at & !7, &image.word64(from).to_le_bytes());
            }
        }
    }
}

/// Writes a table's file with the changes that an input says, and gives its bytes; whether there
/// were any. `count` beyond 127: as somebody would who wants to be believed.
pub(crate) fn write_changed<'a, A: Aim + Arbitrary<'a>>(
    template: &Template,
    count: usize,
    source: &mut Unstructured<'a>,
) -> (Image, bool) {
    let mut image = template.image.clone();
    let mut is_changed = false;
    for _ in 0..count % MOST_CHANGES {
        let Ok(change) = Change::<A>::arbitrary(source) else {
            break;
        };
        change.apply(&mut image, &template.image);
        is_changed = true;
    }
    if count >= 128 {
        image.seal();
    }
    image.free_own_locks();
    write_to(&file().0, &image);
    (image, is_changed)
}

/// Returns the table in that file, or `None` if it is refused.
pub(crate) fn open_changed() -> Option<Table> {
    match Table::open(&file().1) {
        Ok(table) => Some(table),
        Err(Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}
