//! Who took part, as the page shows them.

use std::collections::BTreeMap;

use super::properties::{Answer, Profile, Properties, profile};
use crate::compare::report::{self, PeerRow, Results};

/// A peer of the run, with what is known about its store.
#[derive(Debug)]
pub(super) struct Store<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    /// How the run describes it; a row may name a peer that no entry describes.
    pub(super) peer: Option<&'a PeerRow>,
    pub(super) profile: Option<&'static Profile>,
    pub(super) properties: Option<Properties>,
    /// One of Tavola's own.
    pub(super) ours: bool,
    /// Processes share it, and may be killed at it.
    pub(super) same: bool,
    /// Which colour of the page it has.
    pub(super) colour: usize,
}

/// All stores, by name.
pub(super) type Stores<'a> = BTreeMap<&'a str, Store<'a>>;

/// The stores of a run, also those that only a row or a trial names.
pub(super) fn stores(results: &Results) -> Stores<'_> {
    let described = results.peers.iter().map(|peer| (&*peer.name, Some(peer)));
    let rows = results.rows.iter().map(|row| &*row.peer);
    let trials = results.torment.iter().map(|trial| &*trial.peer);
    let named = rows.chain(trials).map(|name| (name, None));
    let mut stores = Stores::new();
    let mut colour = 0;
    for (name, peer) in described.chain(named) {
        if name.is_empty() || stores.contains_key(name) {
            continue;
        }
        let store = store(name, peer, colour);
        colour += usize::from(!store.ours);
        stores.insert(name, store);
    }
    stores
}

fn store<'a>(name: &'a str, peer: Option<&'a PeerRow>, colour: usize) -> Store<'a> {
    let profile = profile(name);
    let told = peer.and_then(|peer| peer.properties);
    let known = profile.map(|profile| profile.properties);
    let properties = match (known, told) {
        (Some(known), Some(told)) => Some(as_run(known, told)),
        (None, Some(told)) => Some(plain(told)),
        (known, None) => known,
    };
    let title = peer.map_or("", |peer| &peer.title);
    Store {
        name,
        title: if title.is_empty() { name } else { title },
        peer,
        profile,
        ours: name == "tavola" || name.starts_with("tavola-") || name.ends_with("-tavola"),
        same: properties
            .as_ref()
            .is_some_and(Properties::shared_and_kill_safe),
        properties,
        colour,
    }
}

/// Whether processes share a store and may be killed at it depends on how a program uses it, which
/// the run knows better. All else is told of the store, as it can be: there the table knows more.
fn as_run(mut known: Properties, told: report::Properties) -> Properties {
    let depends = [
        (&mut known.shared, told.shared),
        (&mut known.survives_kill, told.survives_kill),
    ];
    for (property, told) in depends {
        property.run = match (told, property.run) {
            (true, Answer::No) => Answer::Yes,
            (true, run) => run.max(property.can),
            (false, run) => run.min(Answer::Partly),
        };
        property.can = property.can.max(property.run);
    }
    known
}

fn plain(told: report::Properties) -> Properties {
    let mut properties = super::properties::UNKNOWN;
    for (property, told) in properties.each_mut().into_iter().zip(told.in_order()) {
        property.run = if told { Answer::Yes } else { Answer::No };
        property.can = property.run;
    }
    properties
}

impl report::Properties {
    /// In the order of [`Properties::columns`].
    fn in_order(self) -> [bool; 8] {
        [
            self.durable,
            self.shared,
            self.survives_kill,
            self.survives_reboot,
            self.evicts,
            self.ordered,
            self.transactions,
            self.network,
        ]
    }
}

impl Store<'_> {
    /// Why it promises less than Tavola does, in a few words.
    pub(super) fn lacks(&self) -> Option<String> {
        let properties = self.properties.as_ref()?;
        let lacking = |property: &super::properties::Property, plain: &str| {
            (property.run != Answer::Yes).then(|| match property.note {
                "" => plain.to_owned(),
                note => note.to_owned(),
            })
        };
        lacking(&properties.shared, "not shared by processes")
            .or_else(|| lacking(&properties.survives_kill, "does not survive a kill"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::report::{Row, TormentRow};

    fn named(name: &str, properties: Option<report::Properties>) -> Results {
        Results {
            peers: vec![PeerRow {
                name: name.to_owned(),
                properties,
                ..PeerRow::default()
            }],
            ..Results::default()
        }
    }

    #[test]
    fn a_run_knows_better_how_a_store_was_run() {
        let alone = report::Properties::default();
        let results = named("lmdb", Some(alone));
        assert!(!stores(&results)["lmdb"].same);
        assert!(stores(&named("lmdb", None))["lmdb"].same);
        let both = report::Properties {
            shared: true,
            survives_kill: true,
            ..alone
        };
        assert!(stores(&named("novelty", Some(both)))["novelty"].same);
        // Known to be built by one and then only read, whatever a run says.
        assert!(!stores(&named("tinycdb", Some(both)))["tinycdb"].same);
        // Files are torn unless they are written beside and renamed.
        assert!(stores(&named("files-shm", Some(both)))["files-shm"].same);
        assert!(!stores(&named("files-shm", Some(alone)))["files-shm"].same);
    }

    #[test]
    fn who_only_a_row_or_a_trial_names_is_there() {
        let mut results = named("tavola", None);
        results.rows.push(Row {
            peer: "newdb".to_owned(),
            ..Row::default()
        });
        results.torment.push(TormentRow {
            peer: "gdbm".to_owned(),
            ..TormentRow::default()
        });
        let stores = stores(&results);
        assert_eq!(
            stores.keys().copied().collect::<Vec<_>>(),
            ["gdbm", "newdb", "tavola"]
        );
        assert!(stores["tavola"].ours && stores["tavola"].same && !stores["newdb"].same);
        assert_ne!(stores["gdbm"].colour, stores["newdb"].colour);
        assert_eq!(
            stores["gdbm"].lacks().as_deref(),
            Some("several readers or one writer at a time")
        );
    }
}
