//! What is measured: the cases of each workload, and who takes part in which.

use std::path::Path;

use tavola_program::units::count as thousands;

use super::job::{Case, Placement, Reply, Transport};
use super::peers::{Peer, Together};

/// The letters of all workloads.
pub const LETTERS: &str = "abcdefghij";

/// One case, which all peers that can do it do in turn.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) workload: char,
    pub(super) title: String,
    pub(super) case: Case,
    pub(super) unit: &'static str,
    /// How often it is done; the medians count.
    pub(super) repeat: u32,
}

impl Trial {
    /// Returns `None` if it is not for this peer. An error says why the peer cannot do it.
    pub(super) fn takes(&self, peer: &Peer) -> Option<Result<(), String>> {
        let case = &self.case;
        if !peer.workloads.contains(self.workload) || case.batch.is_some() && !peer.batches {
            return None;
        }
        if self.workload == 'd' {
            let served = peer.server.is_some() == case.transport.is_some();
            let over = peer.transport.is_none() || peer.transport == case.transport;
            // Other words than the plain ones of a server are for clients that can be set so.
            let plain = case.protocol.as_deref().is_none_or(|word| word == "text")
                && case.reply != Some(Reply::Noreply);
            if !served || !over || !plain && !peer.protocols {
                return None;
            }
        }
        Some(self.can(peer))
    }

    fn can(&self, peer: &Peer) -> Result<(), String> {
        let case = &self.case;
        if let (Together::Alone(why), true) = (peer.together, case.procs > 1) {
            return Err(format!("one process at a time: {why}"));
        }
        if case.keys > peer.most_keys {
            return Err(format!("not tried with more than {} keys", peer.most_keys));
        }
        if case.value_bytes > peer.most_value_bytes {
            let most = peer.most_value_bytes;
            return Err(format!("its values have at most {most} bytes"));
        }
        Ok(())
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) quick: bool,
    /// 100 million keys, too.
    pub(super) full: bool,
    pub(super) repeat: Option<u32>,
    pub(super) cpus: usize,
}

impl Extent {
    fn either<T>(self, quick: T, normal: T) -> T {
        if self.quick { quick } else { normal }
    }

    fn repeat(self, quick: u32, normal: u32) -> u32 {
        self.repeat.unwrap_or(self.either(quick, normal))
    }

    /// The limit of a phase.
    fn limit_ms(self) -> u64 {
        self.either(180, 6_000)
    }

    fn trial(self, workload: char, title: String, unit: &'static str, case: Case) -> Trial {
        Trial {
            workload,
            title,
            case,
            unit,
            repeat: self.repeat(1, 3),
        }
    }

    fn base(self, phases: &[&str]) -> Case {
        Case {
            key_bytes: 8,
            value_bytes: 8,
            procs: 1,
            limit_ms: Some(self.limit_ms()),
            phases: phases.iter().map(|&phase| phase.to_owned()).collect(),
            ..Case::default()
        }
    }
}

/// All cases of the letters that are wanted, in their order. `file` is that of workload a.
pub(super) fn plan(only: &str, extent: Extent, file: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for letter in LETTERS.chars().filter(|&letter| only.contains(letter)) {
        match letter {
            'a' => trials.push(company(extent, file)),
            'b' => trials.extend([10, 100, 1_000].map(|keys| records(extent, keys))),
            'c' => trials.extend([1, 4_096].map(|bytes| loops(extent, bytes))),
            'd' => trials.extend(pairs(extent)),
            'e' => trials.extend(many_keys(extent)),
            'f' => trials.push(latencies(extent)),
            'g' => trials.extend(growth(extent)),
            'h' => trials.extend(value_sizes(extent)),
            'i' => trials.extend(more_processes(extent)),
            _ => trials.extend(durable(extent)),
        }
    }
    trials
}

fn company(extent: Extent, file: &Path) -> Trial {
    let loops = extent.either(3, 100);
    let (phase, opens) = extent.either(("open_read_1000", "1,000"), ("open_read_10000", "10,000"));
    let title = format!(
        "company file: {loops} × write all, {loops} × read all, 100 and {opens} × open and read \
         one key"
    );
    let case = Case {
        loops: Some(loops),
        file: Some(file.to_owned()),
        limit_ms: None,
        ..extent.base(&["write_all", "read_all", "open_read_100", phase])
    };
    extent.trial('a', title, "s", case)
}

fn records(extent: Extent, keys: u64) -> Trial {
    let loops = extent.either(1_000, 10_000);
    let title = format!(
        "{} records of 8 KB, {} loops",
        thousands(keys),
        thousands(loops)
    );
    let case = Case {
        keys,
        value_bytes: 8_192,
        loops: Some(loops),
        ..extent.base(&["put", "get"])
    };
    extent.trial('b', title, "us/op", case)
}

fn loops(extent: Extent, value_bytes: usize) -> Trial {
    let keys = 10_000;
    let title = format!("{} keys, values of {}", thousands(keys), bytes(value_bytes));
    let case = Case {
        keys,
        value_bytes,
        loops: Some(keys),
        ..extent.base(&["write", "read"])
    };
    extent.trial('c', title, "us/op", case)
}

fn pairs(extent: Extent) -> Vec<Trial> {
    let loops = extent.either(1_500, 30_000);
    let trial = |title: String, case: Case| {
        let title = format!("{} set + get pairs, 3 bytes, {title}", thousands(loops));
        extent.trial('d', title, "us/op", case)
    };
    let base = Case {
        keys: 1_000,
        value_bytes: 3,
        loops: Some(loops),
        ..extent.base(&["pairs"])
    };
    let mut all = vec![trial("no server".to_owned(), base.clone())];
    for placement in [Placement::One, Placement::Two] {
        for transport in [Transport::Tcp, Transport::Unix] {
            for (protocol, reply) in [
                ("text", Reply::Waits),
                ("binary", Reply::Waits),
                ("text", Reply::Noreply),
            ] {
                let title = format!(
                    "{}, {}, {protocol}, {}",
                    transport.name(),
                    placement.name(),
                    match reply {
                        Reply::Waits => "set waits",
                        Reply::Noreply => "set noreply",
                    }
                );
                let case = Case {
                    transport: Some(transport),
                    placement: Some(placement),
                    protocol: Some(protocol.to_owned()),
                    reply: Some(reply),
                    ..base.clone()
                };
                all.push(trial(title, case));
            }
        }
    }
    if extent.cpus < 2 {
        all.retain(|trial| trial.case.placement != Some(Placement::Two));
    }
    all
}

fn many_keys(extent: Extent) -> Vec<Trial> {
    let counts: &[u64] = extent.either(&[1_000_000], &[100_000, 1_000_000, 10_000_000]);
    let mut all = Vec::new();
    for &keys in counts {
        let trial = |case: Case, what: &str| {
            let (keys_of, procs) = (keys_of(keys), processes(case.procs));
            let title = format!("{keys_of}, {procs}, 8+8 bytes{what}");
            extent.trial('e', title, "ops/s", Case { keys, ..case })
        };
        let phases = ["put", "mix", "get", "miss"];
        let mixes = |case: Case| Case {
            mix_ms: Some(extent.either(180, 2_000)),
            slice_ms: Some(extent.either(20, 200)),
            ..case
        };
        let mut counts = extent.either(vec![1], vec![1, extent.cpus as u32]);
        if keys == 1_000_000 && !extent.quick {
            counts.push(4 * extent.cpus as u32);
        }
        counts.dedup();
        for procs in counts {
            let case = mixes(extent.base(&phases));
            all.push(trial(Case { procs, ..case }, ""));
        }
        let case = Case {
            batch: Some(32),
            ..extent.base(&["put_batch", "get_batch"])
        };
        all.push(trial(case, ", 32 keys a call"));
    }
    all
}

fn latencies(extent: Extent) -> Trial {
    let keys = extent.either(100_000, 1_000_000);
    let title = format!("{}, 1 process, each call timed", keys_of(keys));
    let case = Case {
        keys,
        timed: true,
        ..extent.base(&["put", "get"])
    };
    extent.trial('f', title, "ops/s", case)
}

fn growth(extent: Extent) -> Vec<Trial> {
    let mut counts = vec![10_000, 100_000];
    if !extent.quick {
        counts.extend([1_000_000, 10_000_000]);
    }
    if extent.full {
        counts.push(100_000_000);
    }
    let trial = |keys| {
        let case = Case {
            keys,
            limit_ms: Some(match keys {
                100_000_000.. => 40_000,
                _ => extent.limit_ms(),
            }),
            ..extent.base(&["put", "get"])
        };
        let title = format!("{}, 1 process", keys_of(keys));
        Trial {
            repeat: extent.repeat(1, if keys > 1_000_000 { 1 } else { 3 }),
            ..extent.trial('g', title, "ops/s", case)
        }
    };
    counts.into_iter().map(trial).collect()
}

fn value_sizes(extent: Extent) -> Vec<Trial> {
    let total: u64 = extent.either(16 << 20, 256 << 20);
    let sizes: &[usize] = extent.either(
        &[16, 1_024, 65_536],
        &[16, 100, 1_024, 8_192, 65_536, 1_000_000],
    );
    let trial = |&value_bytes: &usize| {
        let keys = (total / value_bytes as u64).clamp(16, extent.either(20_000, 100_000));
        let title = format!("values of {}, {}", bytes(value_bytes), keys_of(keys));
        let case = Case {
            keys,
            value_bytes,
            ..extent.base(&["put", "get"])
        };
        extent.trial('h', title, "ops/s", case)
    };
    sizes.iter().map(trial).collect()
}

fn more_processes(extent: Extent) -> Vec<Trial> {
    let keys = extent.either(100_000, 1_000_000);
    let most = extent.either(extent.cpus, 2 * extent.cpus) as u32;
    let trial = |procs| {
        let title = format!("{}, {}", keys_of(keys), processes(procs));
        let case = Case {
            keys,
            procs,
            mix_ms: Some(extent.either(180, 1_000)),
            slice_ms: Some(extent.either(20, 100)),
            ..extent.base(&["put", "mix", "get"])
        };
        extent.trial('i', title, "ops/s", case)
    };
    (1..=most).map(trial).collect()
}

/// On a disk. A batch is a transaction.
fn durable(extent: Extent) -> Vec<Trial> {
    let keys = extent.either(2_000, 200_000);
    let trial = |procs: u32, batch: Option<u32>| {
        let phases: &[&str] = match batch {
            Some(_) => &["put_batch"],
            None => &["put", "get"],
        };
        let what = match batch {
            Some(count) => format!("transactions of {count} keys"),
            None => "a key a call".to_owned(),
        };
        let title = format!(
            "values of 100 bytes on a disk, {}, {what}",
            processes(procs)
        );
        let case = Case {
            keys,
            value_bytes: 100,
            procs,
            batch,
            limit_ms: Some(extent.either(40, 400)),
            ..extent.base(phases)
        };
        extent.trial('j', title, "ops/s", case)
    };
    let both = |procs| [trial(procs, None), trial(procs, Some(2))];
    [1, extent.either(2, 16)]
        .into_iter()
        .flat_map(both)
        .collect()
}

pub(super) fn processes(count: u32) -> String {
    match count {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    }
}

fn keys_of(count: u64) -> String {
    match count {
        1_000_000.. if count.is_multiple_of(1_000_000) => format!("{} M keys", count / 1_000_000),
        10_000.. if count.is_multiple_of(1_000) => format!("{} K keys", count / 1_000),
        count => format!("{} keys", thousands(count)),
    }
}

fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        1_000_000 => "1 MB".to_owned(),
        count if count >= 1_024 && count % 1_024 == 0 => format!("{} KB", count / 1_024),
        count => format!("{count} bytes"),
    }
}

#[cfg(test)]
pub(super) const QUICK: Extent = Extent {
    quick: true,
    full: false,
    repeat: None,
    cpus: 2,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::peers;

    fn peer(name: &str) -> Peer {
        peers::all().find(|peer| peer.name == name).unwrap()
    }

    #[test]
    fn all_letters_have_cases_with_titles_of_their_own() {
        for quick in [false, true] {
            let extent = Extent { quick, ..QUICK };
            let trials = plan(LETTERS, extent, Path::new("f"));
            let mut titles: Vec<_> = trials
                .iter()
                .map(|trial| (trial.workload, &trial.title))
                .collect();
            titles.sort();
            let count = titles.len();
            titles.dedup();
            assert_eq!(titles.len(), count);
            for letter in LETTERS.chars() {
                assert!(trials.iter().any(|trial| trial.workload == letter));
            }
        }
        let only = plan("e", QUICK, Path::new("f"));
        assert!(only.iter().all(|trial| trial.workload == 'e'));
    }

    #[test]
    fn as_often_as_is_said_goes_for_all() {
        let extent = Extent {
            quick: false,
            full: true,
            repeat: Some(2),
            ..QUICK
        };
        let trials = plan(LETTERS, extent, Path::new("f"));
        assert!(trials.iter().all(|trial| trial.repeat == 2));
        let of_few = Extent {
            repeat: None,
            ..extent
        };
        let often: Vec<_> = growth(of_few).iter().map(|trial| trial.repeat).collect();
        assert_eq!(often, [3, 3, 3, 1, 1]);
    }

    #[test]
    fn unable_peers_are_left_out_with_a_reason_and_unselected_ones_silently() {
        let crowd = Trial {
            case: Case {
                procs: 2,
                ..QUICK.base(&["put"])
            },
            ..latencies(QUICK)
        };
        assert!(
            matches!(crowd.takes(&peer("gdbm")), Some(Err(why)) if why.contains("one process"))
        );
        assert_eq!(crowd.takes(&peer("lmdb")), Some(Ok(())));
        assert_eq!(crowd.takes(&peer("memcached")), None);
        let served = pairs(QUICK).pop().unwrap();
        assert_eq!(served.takes(&peer("memcached")), Some(Ok(())));
        assert_eq!(served.takes(&peer("redis")), None, "it has no noreply");
        assert_eq!(served.takes(&peer("lmdb")), None);
    }

    #[test]
    fn counts_are_written_as_people_do() {
        assert_eq!(keys_of(1_000_000), "1 M keys");
        assert_eq!(keys_of(20_000), "20 K keys");
        assert_eq!(keys_of(16), "16 keys");
        assert_eq!(bytes(65_536), "64 KB");
    }
}
