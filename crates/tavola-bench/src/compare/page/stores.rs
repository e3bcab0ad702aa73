//! Who took part, as the page shows them.

use std::collections::BTreeMap;

use crate::compare::properties::{Profile, profile};
use crate::compare::report::{Answer, PeerRow, Properties, Property, Results};

/// A peer of the run, with what is known about its store.
#[derive(Debug)]
pub(super) struct Store<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    /// How the run describes it; a row may name a peer that no entry describes.
    pub(super) peer: Option<&'a PeerRow>,
    pub(super) profile: Option<&'static Profile>,
    /// As the run tells them, else as they are known.
    pub(super) properties: Option<&'a Properties>,
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
    let told = peer.and_then(|peer| peer.properties.as_ref());
    let properties = told.or(profile.map(|profile| &profile.properties));
    let title = peer.map_or("", |peer| &peer.title);
    Store {
        name,
        title: if title.is_empty() { name } else { title },
        peer,
        profile,
        ours: name == "tavola" || name.starts_with("tavola-") || name.ends_with("-tavola"),
        same: properties.is_some_and(Properties::shared_and_kill_safe),
        properties,
        colour,
    }
}

impl Store<'_> {
    /// What it does not have to do that Tavola does, as the end of a sentence.
    pub(super) fn spared(&self) -> Option<&'static str> {
        let spared = self.profile?.spared;
        (!spared.is_empty()).then_some(spared)
    }

    /// Why it promises less than Tavola does, in a few words.
    pub(super) fn lacks(&self) -> Option<String> {
        let properties = self.properties?;
        let lacking = |property: &Property, plain: &str| {
            (property.run != Answer::Yes).then(|| match &*property.note {
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

    fn named(name: &str, properties: Option<Properties>) -> Results {
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
    fn what_a_run_tells_of_a_store_counts_and_else_what_is_known() {
        let alone = Properties::default();
        assert!(!stores(&named("lmdb", Some(alone.clone())))["lmdb"].same);
        assert!(stores(&named("lmdb", None))["lmdb"].same);
        let yes = Property {
            run: Answer::Yes,
            can: Answer::Yes,
            ..Property::default()
        };
        let both = Properties {
            shared: yes.clone(),
            survives_kill: yes,
            ..alone
        };
        assert!(stores(&named("novelty", Some(both)))["novelty"].same);
        // Files are torn unless they are written beside and renamed.
        assert!(stores(&named("files-shm", None))["files-shm"].same);
        assert!(!stores(&named("files-php-shm", None))["files-php-shm"].same);
    }

    #[test]
    fn results_of_the_first_schema_tell_nothing_of_properties() {
        let text = r#"{"schema": 1, "peers": [{"name": "sqlite", "properties":
            {"durable": false, "shared": false, "survives_reboot": true}}]}"#;
        let results: Results = serde_json::from_str(text).expect("it is read");
        assert_eq!(results.peers[0].properties, None);
        assert!(stores(&results)["sqlite"].same);
        let text = serde_json::to_string(&named("x", Some(Properties::default())));
        let again: Results = serde_json::from_str(&text.expect("JSON")).expect("it is read");
        assert_eq!(again.peers[0].properties, Some(Properties::default()));
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
