//! What each store promises: as it is run here, and as it can be. The one place for it: what
//! `results.json` says of a peer, what the page shows, who counts as having the same guarantees and
//! why another store may be ahead are all read from here.
//!
//! Each answer has two sides, since most stores trade a promise for speed by an option: LMDB is
//! durable, and is not with NOSYNC. A call that needs no option counts as run, whether a workload
//! makes it or not. The facts are in `properties/stores.txt`. Which promises are kept under a kill
//! is measured, see the torment table.

use std::sync::LazyLock;

use super::facts;
use super::peers::Peer;
use super::report::{Answer, Properties, Property};

/// A store, and when it is the one to take.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// How the names of its peers begin, such as `memcached` of `memcached-unix`.
    pub(super) begins: Vec<&'static str>,
    pub(super) properties: Properties,
    /// What it does not have to do that Tavola does, as the end of a sentence: why it may be ahead.
    /// Empty for Tavola itself.
    pub(super) spared: &'static str,
    /// "Take it when ...", one plain sentence.
    pub(super) choose: &'static str,
}

static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let entries = facts::entries(include_str!("properties/stores.txt"));
    entries
        .map(|(names, facts)| parse(names, &facts).expect(names))
        .collect()
});

/// Reads an entry; `None` if a fact of it is unknown.
fn parse(names: &'static str, facts: &[facts::Fact]) -> Option<Profile> {
    let mut profile = Profile {
        begins: names.split(' ').collect(),
        ..Profile::default()
    };
    for &(name, value) in facts {
        match name {
            "spared" => profile.spared = value,
            "choose" => profile.choose = value,
            name => *profile.properties.column(name)? = property(value)?,
        }
    }
    Some(profile)
}

/// Reads `partly, can: yes; a note`.
fn property(text: &'static str) -> Option<Property> {
    let (answers, note) = text.split_once("; ").unwrap_or((text, ""));
    let (run, can) = answers.split_once(", can: ").unwrap_or((answers, answers));
    let answer = |word| match word {
        "yes" => Some(Answer::Yes),
        "partly" => Some(Answer::Partly),
        "no" => Some(Answer::No),
        _ => None,
    };
    Some(Property {
        run: answer(run)?,
        can: answer(can)?,
        note: note.into(),
    })
}

impl Properties {
    /// The property with this name in the file of stores.
    fn column(&mut self, name: &str) -> Option<&mut Property> {
        Some(match name {
            "Durable" => &mut self.durable,
            "Shared by processes" => &mut self.shared,
            "Survives kill -9" => &mut self.survives_kill,
            "Survives a reboot" => &mut self.survives_reboot,
            "Evicts" => &mut self.evicts,
            "Ordered" => &mut self.ordered,
            "Transactions" => &mut self.transactions,
            "Over the network" => &mut self.network,
            _ => return None,
        })
    }

    /// Whether processes can share it and be killed at it: what Tavola is for, and what a fair
    /// comparison of speed asks of its peers.
    #[cfg(test)]
    fn shared_and_kill_safe(&self) -> bool {
        self.shared.run == Answer::Yes && self.survives_kill.run == Answer::Yes
    }
}

/// What a run says of a peer. Of a server that was there already, its place is not known.
pub(super) fn of(peer: &Peer, is_given: bool) -> Option<Properties> {
    let mut properties = profile(peer.name)?.properties.clone();
    if is_given {
        for property in [&mut properties.durable, &mut properties.survives_reboot] {
            property.run = Answer::Partly;
            property.note = "as the server at the address is set up".into();
        }
    }
    Some(properties)
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
    ALL.iter()
        .filter(|profile| fit(profile) > 0)
        .max_by_key(fit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::peers::{self, Place, Together};

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
        for store in ALL.iter() {
            let of = &store.properties;
            for property in [
                &of.durable,
                &of.shared,
                &of.survives_kill,
                &of.survives_reboot,
                &of.evicts,
                &of.ordered,
                &of.transactions,
                &of.network,
            ] {
                let name = store.begins[0];
                assert!(property.can >= property.run, "{name}: {property:?}");
                let has_note = !property.note.is_empty();
                let plain = property.run == property.can && property.run != Answer::Partly;
                assert!(has_note || plain, "{name}: {property:?} without a word");
            }
            assert!(store.choose.ends_with('.'), "{}", store.begins[0]);
            let begins = |word| store.spared.starts_with(word);
            let is_end = begins("which ") || begins("whose ") || store.spared.is_empty();
            assert!(
                is_end && !store.spared.ends_with('.'),
                "{}",
                store.begins[0]
            );
        }
    }

    #[test]
    fn every_peer_of_the_comparison_is_known_and_why_it_may_be_ahead() {
        for peer in peers::all() {
            let profile = profile(peer.name).expect(peer.name);
            let is_ours = peer.name.starts_with("tavola");
            assert_eq!(is_ours, profile.spared.is_empty(), "{}", peer.name);
        }
        for name in crate::compare::torment::names() {
            assert!(profile(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_in_memory_and_is_not_waited_for_is_on_no_disk() {
        for peer in peers::all() {
            let properties = of(&peer, false).expect(peer.name);
            let on_disk = peer.place == Place::Disk;
            let is_durable = peer.workloads == "j";
            assert!(
                is_durable || properties.durable.run == Answer::No,
                "{}",
                peer.name
            );
            let survives = properties.survives_reboot.run == Answer::Yes;
            assert_eq!(survives, on_disk, "{}", peer.name);
            assert!(properties.survives_reboot.run != Answer::Partly);
        }
    }

    #[test]
    fn a_store_is_shared_where_several_processes_take_turns_at_it() {
        for peer in peers::all() {
            let shared = of(&peer, false).expect(peer.name).shared.run;
            match peer.together {
                Together::Processes => assert_ne!(shared, Answer::No, "{}", peer.name),
                Together::Threads => assert_eq!(shared, Answer::No, "{}", peer.name),
                Together::Alone(_) => assert_ne!(shared, Answer::Yes, "{}", peer.name),
            }
        }
    }

    #[test]
    fn a_server_that_is_given_may_be_on_a_disk() {
        let peer = peers::all().find(|peer| peer.server == Some(peers::Server::Postgres));
        let peer = peer.expect("PostgreSQL is a peer");
        let given = of(&peer, true).expect(peer.name);
        assert_eq!(given.survives_reboot.run, Answer::Partly);
        assert!(given.durable.note.contains("address"));
    }

    #[test]
    fn a_server_is_not_what_the_library_is() {
        let of = |name| &profile(name).expect(name).properties;
        assert_eq!(of("tavola").network.run, Answer::No);
        assert_eq!(of("tavola-serve").network.run, Answer::Yes);
        assert_eq!(of("tavola-fixed"), of("tavola"));
        assert_eq!(of("tavola-huge"), of("tavola"));
    }

    #[test]
    fn names_are_given_once() {
        let mut names: Vec<_> = ALL.iter().flat_map(|s| &s.begins).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn which_peers_are_shared_and_kill_safe() {
        let is = |name| profile(name).expect(name).properties.shared_and_kill_safe();
        for name in [
            "tavola",
            "tavola-serve",
            "lmdb",
            "sqlite",
            "memcached",
            "redis",
        ] {
            assert!(is(name), "{name}");
        }
        assert!(is("postgres-tcp") && is("files-shm") && is("files-disk"));
        for name in [
            "tinycdb",
            "papaya",
            "moka",
            "apcu",
            "gdbm",
            "qdbm",
            "files-php-shm",
            "bdb",
        ] {
            assert!(!is(name), "{name}");
        }
    }
}
