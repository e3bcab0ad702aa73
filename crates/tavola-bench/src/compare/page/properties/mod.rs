//! What each store promises: as it is run here, and as it can be.
//!
//! Each answer has two sides, since most stores trade a promise for speed by an option: LMDB is
//! durable, and is not with NOSYNC. The facts themselves are in [`stores`]; this file is their
//! form. Which promises are kept under a kill is measured, see the torment table.

mod stores;

/// An answer that is not always yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// Not at all.
    No,
    /// With what the note says.
    Partly,
    /// Without conditions.
    Yes,
}

/// One property of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Property {
    /// As it is run here.
    pub(super) run: Answer,
    /// With the options or the place that favour it.
    pub(super) can: Answer,
    /// What it takes, or what is left out; empty where there is nothing to say.
    pub(super) note: &'static str,
}

/// What people choose a store by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Properties {
    /// A write that has returned survives a power failure.
    pub(super) durable: Property,
    /// Processes that know nothing of each other read and write at the same time.
    pub(super) shared: Property,
    /// `kill -9` of a process that uses it leaves the others working, and the data whole.
    pub(super) survives_kill: Property,
    /// The data is there after an orderly restart of the machine.
    pub(super) survives_reboot: Property,
    /// Makes room by itself when it is full.
    pub(super) evicts: Property,
    /// Walks in the order of the keys.
    pub(super) ordered: Property,
    /// Several keys change together or not at all.
    pub(super) transactions: Property,
    /// Other machines can use it.
    pub(super) network: Property,
}

impl Properties {
    /// Whether processes can share it and be killed at it: what Tavola is for, and what a fair
    /// comparison of speed asks of its peers.
    pub(super) fn shared_and_kill_safe(&self) -> bool {
        self.shared.run == Answer::Yes && self.survives_kill.run == Answer::Yes
    }

    /// All of them, in the order of the columns, with their headings.
    pub(super) fn columns(&self) -> [(&'static str, &Property); 8] {
        [
            ("Durable", &self.durable),
            ("Shared by processes", &self.shared),
            ("Survives kill -9", &self.survives_kill),
            ("Survives a reboot", &self.survives_reboot),
            ("Evicts", &self.evicts),
            ("Ordered", &self.ordered),
            ("Transactions", &self.transactions),
            ("Over the network", &self.network),
        ]
    }

    /// The same without headings, to be changed.
    pub(super) fn each_mut(&mut self) -> [&mut Property; 8] {
        [
            &mut self.durable,
            &mut self.shared,
            &mut self.survives_kill,
            &mut self.survives_reboot,
            &mut self.evicts,
            &mut self.ordered,
            &mut self.transactions,
            &mut self.network,
        ]
    }
}

const NOTHING: Property = Property {
    run: Answer::No,
    can: Answer::No,
    note: "",
};

/// Of a store that nothing is known about.
pub(super) const UNKNOWN: Properties = Properties {
    durable: NOTHING,
    shared: NOTHING,
    survives_kill: NOTHING,
    survives_reboot: NOTHING,
    evicts: NOTHING,
    ordered: NOTHING,
    transactions: NOTHING,
    network: NOTHING,
};

/// A store, and when it is the one to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    /// How the names of its peers begin, such as `memcached` of `memcached-unix`.
    pub(super) begins: &'static [&'static str],
    pub(super) properties: Properties,
    /// "Take it when ...", one plain sentence.
    pub(super) choose: &'static str,
}

/// What is known about the store behind the peer `name`; of two that fit, the longer name.
pub(super) fn profile(name: &str) -> Option<&'static Profile> {
    let fits = |begin: &str| {
        name.strip_prefix(begin)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', ' ', '.']))
    };
    let fit = |profile: &&Profile| {
        let lengths = profile.begins.iter().filter(|begin| fits(begin));
        lengths.map(|begin| begin.len()).max().unwrap_or(0)
    };
    stores::ALL
        .iter()
        .filter(|profile| fit(profile) > 0)
        .max_by_key(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_name_wins() {
        let of = |name| profile(name).map(|profile| profile.begins[0]);
        assert_eq!(of("memcached-unix"), Some("memcached"));
        assert_eq!(of("qdbm-villa"), Some("qdbm-villa"));
        assert_eq!(of("qdbm"), Some("qdbm-depot"));
        assert_eq!(of("pstore-files"), Some("pstore-files"));
        assert_eq!(of("memcachedb"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn what_is_run_can_be() {
        for store in stores::ALL {
            for (column, property) in store.properties.columns() {
                let name = store.begins[0];
                assert!(property.can >= property.run, "{name}, {column}");
                let told = !property.note.is_empty();
                let plain = property.run == property.can && property.run != Answer::Partly;
                assert!(told || plain, "{name}, {column}: partly, without a word");
            }
            assert!(store.choose.ends_with('.'), "{}", store.begins[0]);
        }
    }

    #[test]
    fn every_peer_of_the_comparison_is_known() {
        for peer in crate::compare::peers::all() {
            assert!(profile(peer.name).is_some(), "{}", peer.name);
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut names: Vec<_> = stores::ALL.iter().flat_map(|s| s.begins).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn who_is_shared_and_kill_safe() {
        let is = |name| profile(name).expect(name).properties.shared_and_kill_safe();
        for name in ["tavola", "lmdb", "sqlite", "memcached", "redis", "postgres"] {
            assert!(is(name), "{name}");
        }
        for name in ["tinycdb", "papaya", "moka", "apcu", "gdbm", "qdbm", "files"] {
            assert!(!is(name), "{name}");
        }
    }
}
