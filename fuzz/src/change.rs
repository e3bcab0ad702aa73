//! Changes of a file's bytes, as an input tells them; where they are, each target says.

use crate::image::Image;
use arbitrary::Arbitrary;

/// A part of a file that damage can be aimed at.
pub(crate) trait Aim: Copy {
    /// Where the byte of that number stands in it; of an image that is whole.
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
