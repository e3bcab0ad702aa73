//! References to samples and latency histograms, which are backed by memory from the beginning.

use super::{Region, Words};
use crate::layout::{CacheSample, SAMPLES, TIMINGS, Timing};

impl Region {
    /// Returns a place in the ring of samples. Numbers wrap, so that every place lies in the
    /// region.
    pub(crate) fn sample(&self, number: u32) -> &CacheSample {
        let size = size_of::<CacheSample>() as u64;
        self.at(self.geometry.samples_off + u64::from(number % SAMPLES) * size)
    }

    /// Returns the latency histograms of a participant's slot.
    pub(crate) fn timing(&self, slot: u32) -> &Timing {
        let size = size_of::<Timing>() as u64;
        self.at(self.geometry.timings_off + u64::from(slot % TIMINGS) * size)
    }
}

// SAFETY: words, held to their layout by assert_layout!.
unsafe impl Words for CacheSample {}
// SAFETY: as above.
unsafe impl Words for Timing {}
