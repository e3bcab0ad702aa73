//! What is held against what.

use serde::Serialize;

use crate::kv::{Phase, Placement};

/// Processes for each CPU in [`Comparison::Crowd`].
pub(super) const CROWD: u32 = 4;

/// Two arrangements that are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// Two processes on one CPU, to one.
    OneCpu,
    /// Four processes for each CPU, to one on each.
    Crowd,
    /// A reader on each CPU, to one reader.
    Readers,
    /// The same, all reading one key.
    HotReaders,
    /// A reader of a shard that is hammered, to the reader alone.
    HotWriter,
}

impl Comparison {
    /// All of them, in the order they run.
    pub const ALL: [Self; 5] = [
        Self::OneCpu,
        Self::Crowd,
        Self::Readers,
        Self::HotReaders,
        Self::HotWriter,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneCpu => "one-cpu",
            Self::Crowd => "crowd",
            Self::Readers => "readers",
            Self::HotReaders => "hot-readers",
            Self::HotWriter => "hot-writer",
        }
    }

    /// What is compared to what.
    pub fn what(self) -> &'static str {
        match self {
            Self::OneCpu => "2 processes on one CPU, to 1 there; wanted: 0.85 or more",
            Self::Crowd => "4 processes for each CPU, to 1 pinned on each; wanted: 0.85 or more",
            Self::Readers => "get by 1 process on each CPU, to get by 1 in all",
            Self::HotReaders => {
                "get of one single key by 1 process on each CPU, to get by 1 in all"
            }
            Self::HotWriter => {
                "get while another process writes one key of the only shard, to get alone"
            }
        }
    }

    pub(super) fn phases(self) -> &'static [Phase] {
        match self {
            Self::OneCpu | Self::Crowd => &Phase::ALL,
            Self::Readers | Self::HotReaders | Self::HotWriter => &[Phase::Get],
        }
    }

    /// The arrangement that is measured, and the one it is compared to.
    pub(super) fn sides(self, cpus: u32) -> (Side, Side) {
        match self {
            Self::OneCpu => (
                Side::of(2, Placement::One(0)),
                Side::of(1, Placement::One(0)),
            ),
            Self::Crowd => (
                Side::of(CROWD * cpus, Placement::Free),
                Side::of(cpus, Placement::Spread),
            ),
            Self::Readers | Self::HotReaders => (
                Side::of(cpus, Placement::Spread),
                Side::of(1, Placement::Spread),
            ),
            Self::HotWriter => {
                // The writer comes after the reader, so it has the next CPU.
                let alone = Side::of(1, Placement::Spread);
                let hot_writer = true;
                (
                    Side {
                        hot_writer,
                        ..alone
                    },
                    alone,
                )
            }
        }
    }

    /// Why it cannot be measured.
    pub(super) fn left_out(self, cpus: u32, asked: &[Phase]) -> Option<&'static str> {
        let two_needed = !matches!(self, Self::OneCpu | Self::Crowd);
        if two_needed && cpus < 2 {
            return Some("it needs two CPUs, and there is one here");
        }
        let wanted = self.phases().iter().any(|phase| asked.contains(phase));
        (!wanted).then_some("it is about get, which is not among the phases")
    }
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) procs: u32,
    pub(super) placement: Placement,
    pub(super) hot_writer: bool,
}

impl Side {
    fn of(procs: u32, placement: Placement) -> Self {
        Self {
            procs,
            placement,
            hot_writer: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_json_and_in_arguments() {
        for one in Comparison::ALL {
            assert_eq!(serde_json::to_value(one).unwrap(), one.name());
        }
    }

    #[test]
    fn two_cpus_bear_what_one_cannot() {
        let made = |cpus| {
            let made = Comparison::ALL.into_iter();
            let made = made.filter(|one| one.left_out(cpus, &Phase::ALL).is_none());
            made.collect::<Vec<_>>()
        };
        assert_eq!(made(1), [Comparison::OneCpu, Comparison::Crowd]);
        assert_eq!(made(2), Comparison::ALL);
        let about_get = Comparison::Readers.left_out(2, &[Phase::Put]);
        assert!(about_get.is_some_and(|why| why.contains("get")));
    }

    #[test]
    fn sides_grow_with_the_machine() {
        let procs = |one: Comparison, cpus| {
            let (more, base) = one.sides(cpus);
            (more.procs, base.procs)
        };
        assert_eq!(procs(Comparison::OneCpu, 6), (2, 1));
        assert_eq!(procs(Comparison::Crowd, 2), (8, 2));
        assert_eq!(procs(Comparison::HotReaders, 6), (6, 1));
        let (more, base) = Comparison::HotWriter.sides(2);
        assert!(more.hot_writer && !base.hot_writer);
        assert_eq!((more.procs, more.placement), (base.procs, base.placement));
    }
}
