//! What a turn came to.

use super::job::{EndLine, PhaseLine, Placement, Transport, is_cut_short};
use super::noise::Sample;

/// One peer did one case once, or did not.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) workload: String,
    pub(super) title: String,
    pub(super) peer: String,
    pub(super) repetition: u32,
    /// It does not count.
    pub(super) warm_up: bool,
    /// Keys that the trial asks for.
    pub(super) keys: u64,
    /// How its server was reached, and where that was.
    pub(super) transport: Option<Transport>,
    /// See `transport`.
    pub(super) placement: Option<Placement>,
    /// How long all of it took, with what is not timed.
    pub(super) seconds: f64,
    /// How fast the machine was just before.
    pub(super) noise: Sample,
    pub(super) phases: Vec<PhaseOfAll>,
    pub(super) end: EndLine,
    /// What its server, and the files of that, had in memory at the end.
    pub(super) server_bytes: Option<u64>,
    /// Why there is nothing.
    pub(super) failed: Option<String>,
}

impl Run {
    /// One of a single phase.
    #[cfg(test)]
    pub(super) fn of(sum: PhaseLine) -> Self {
        let phase = PhaseOfAll {
            sum,
            ..PhaseOfAll::default()
        };
        Self {
            phases: vec![phase],
            ..Self::default()
        }
    }

    /// Whether the store has fewer keys than it was to have, as its time was over.
    pub(super) fn is_cut_short(&self) -> bool {
        let mut sums = self.phases.iter().map(|phase| &phase.sum);
        sums.any(|sum| sum.phase == "put" && is_cut_short(sum.note.as_deref()))
    }
}

/// A phase of all processes together.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseOfAll {
    /// Summed up, from the common start to the end of the last.
    pub(super) sum: PhaseLine,
    /// CPU time of its server meanwhile.
    pub(super) server_cpu_seconds: Option<f64>,
    /// Each process's part of the operations.
    pub(super) shares: Vec<f64>,
    /// Operations a second in each slice, by each process or thread.
    pub(super) per_second: Vec<Vec<u64>>,
}
