//! The ways between the two sides, one a file.

#[cfg(feature = "peers")]
pub(super) mod array;
#[cfg(feature = "peers")]
pub(super) mod iceoryx;
pub(super) mod pool;
pub(super) mod stream;

/// Numbers of elements that never moved, for ways that have no place where they stand.
struct Fresh {
    next: u32,
    elements: u32,
}

impl Fresh {
    fn new(elements: u32) -> Self {
        Self { next: 0, elements }
    }

    fn fill(&mut self, out: &mut [u32]) -> usize {
        let count = out.len().min((self.elements - self.next) as usize);
        for (slot, element) in out[..count].iter_mut().zip(self.next..) {
            *slot = element;
        }
        self.next += count as u32;
        count
    }
}
