//! The way over two bounded queues between threads of one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_queue::ArrayQueue;

use super::Fresh;
use crate::queue::element;
use crate::queue::job::{Plan, Side};
use crate::queue::turns::Way;
use crate::{Error, Result};

/// One side's queues, and the elements of both sides.
///
/// Words of elements are atomics, read and written relaxed, as the queues order who has which
/// element; that costs no more than plain words.
pub(in crate::queue) struct Array {
    from: Arc<ArrayQueue<u32>>,
    to: Arc<ArrayQueue<u32>>,
    words: Arc<Vec<AtomicU64>>,
    words_each: usize,
    fresh: Fresh,
}

impl Array {
    /// Both sides, the starter first.
    pub(in crate::queue) fn pair(plan: &Plan) -> [(Side, Self); 2] {
        let queue = || Arc::new(ArrayQueue::new(plan.elements as usize + 1));
        let (there, back) = (queue(), queue());
        let words_each = plan.element_bytes / element::WORD;
        let of_element = |element| (0..words_each).map(move |_| element::word(element, 0));
        let words = (0..=plan.elements).flat_map(of_element).map(AtomicU64::new);
        let words = Arc::new(words.collect());
        let side = |from: &Arc<_>, to: &Arc<_>| Self {
            from: Arc::clone(from),
            to: Arc::clone(to),
            words: Arc::clone(&words),
            words_each,
            fresh: Fresh::new(plan.elements),
        };
        [
            (Side::Starter, side(&back, &there)),
            (Side::Returner, side(&there, &back)),
        ]
    }

    fn is_touched(&self, element: u32) -> bool {
        let begin = element as usize * self.words_each;
        let words = &self.words[begin..begin + self.words_each];
        element::are_touched(words, element)
    }
}

impl Way for Array {
    fn fresh(&mut self, out: &mut [u32]) -> Result<usize> {
        Ok(self.fresh.fill(out))
    }

    #[inline]
    fn take(&mut self, out: &mut [u32]) -> Result<usize> {
        let mut count = 0;
        for slot in out {
            match self.from.pop() {
                Some(element) => *slot = element,
                None => break,
            }
            count += 1;
        }
        Ok(count)
    }

    fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize> {
        std::thread::yield_now();
        self.take(out)
    }

    #[inline]
    fn send(&mut self, run: &[u32]) -> Result<()> {
        for &element in run {
            self.to
                .push(element)
                .map_err(|_| Error::wrong("queue", "a queue with room for all elements is full"))?;
        }
        Ok(())
    }

    fn send_end(&mut self) -> Result<()> {
        self.send(&[self.fresh.elements])
    }

    #[inline]
    fn touch(&mut self, run: &[u32]) -> bool {
        run.iter().all(|&element| self.is_touched(element))
    }

    fn touches(&mut self, _: usize, element: u32) -> u32 {
        let first = &self.words[element as usize * self.words_each];
        element::touches(first.load(Ordering::Relaxed))
    }

    fn put_away(&mut self, _: &[u32]) -> Result<()> {
        Ok(())
    }
}
