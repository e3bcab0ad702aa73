//! Which peers take part in a run, which do not and why, and the facts about each.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;

use super::found::Workshop;
use super::given::Given;
use super::peers::{self, Found, Peer, Server};
use super::report::PeerRow;
use super::workloads::LETTERS;
use super::{Config, properties, sources, torment};
use crate::{Error, Result, command, crew};

/// The folders of a run, gone at its end.
pub(super) struct Folders {
    /// For stores in memory.
    pub(super) memory: TempDir,
    /// For those on a disk, and the peers' programs.
    pub(super) disk: TempDir,
}

impl Folders {
    pub(super) fn make(config: &Config) -> Result<Self> {
        let make = |place: &Path| {
            let place = std::path::absolute(place)?;
            std::fs::create_dir_all(&place)?;
            tempfile::Builder::new()
                .prefix("tavola-compare-")
                .tempdir_in(place)
        };
        let memory = config.dir.as_deref().unwrap_or(Path::new("/dev/shm"));
        Ok(Self {
            memory: make(memory).map_err(Error::io("making the folder for stores"))?,
            disk: make(&config.out()).map_err(Error::io("making the folder for results"))?,
        })
    }
}

/// The peers that take part and those that do not, with the reason.
pub fn list(config: &Config) -> Result<Vec<PeerRow>> {
    check(config)?;
    let folders = Folders::make(config)?;
    let (found, skipped) = find(config, &folders)?;
    Ok(peer_rows(config, &found, &skipped, &BTreeMap::new()))
}

/// Whether what is asked for can be.
pub(super) fn check(config: &Config) -> Result<()> {
    let letters = config.letters();
    if let Some(letter) = letters.chars().find(|&letter| !LETTERS.contains(letter)) {
        return Err(Error::option(
            "only",
            format!("there is no workload {letter}; letters are {LETTERS}"),
        ));
    }
    let mut known: Vec<&str> = peers::all().map(|peer| peer.name).collect();
    if config.torments() {
        known.extend(torment::names().filter(|name| peers::all().all(|peer| peer.name != *name)));
    }
    if let Some(name) = config
        .peers
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        return Err(Error::option(
            "peers",
            format!("there is no {name}; there are {}", known.join(", ")),
        ));
    }
    if config.repeat == Some(0) {
        return Err(Error::option("repeat", "at least 1"));
    }
    Ok(())
}

/// Where their programs are made.
pub(super) fn workshop(folders: &Folders, config: &Config) -> Result<Workshop> {
    Ok(Workshop {
        sources: folders.disk.path().join("peers"),
        program: crew::program()?,
        tavola: command::find(config.tavola.as_deref())?,
        given: config.given.clone(),
    })
}

/// Which peers are here, and which are not.
#[expect(clippy::type_complexity, reason = "a pair of lists is what it is")]
pub(super) fn find(
    config: &Config,
    folders: &Folders,
) -> Result<(Vec<Found>, Vec<(Peer, String)>)> {
    let workshop = workshop(folders, config)?;
    sources::unpack(&workshop.sources)?;
    let wanted =
        |peer: &Peer| config.peers.is_empty() || config.peers.iter().any(|name| name == peer.name);
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    for peer in peers::all().filter(wanted) {
        match workshop.find(peer) {
            Ok(here) => found.push(here),
            Err(why) => skipped.push((peer, why)),
        }
    }
    Ok((found, skipped))
}

/// What results say of them.
pub(super) fn peer_rows(
    config: &Config,
    found: &[Found],
    skipped: &[(Peer, String)],
    versions: &BTreeMap<String, String>,
) -> Vec<PeerRow> {
    let here = found.iter().map(|found| (found.peer, None));
    let absent = skipped.iter().map(|(peer, why)| (*peer, Some(why.clone())));
    here.chain(absent)
        .map(|(peer, why)| PeerRow {
            version: versions.get(peer.name).cloned().unwrap_or_default(),
            skipped: why,
            ..peer_row(&peer, &config.given)
        })
        .collect()
}

fn peer_row(peer: &Peer, given: &Given) -> PeerRow {
    let is_given = peer
        .server
        .is_some_and(|kind| given.address(kind).is_some());
    let server = match (peer.server, is_given) {
        (Some(Server::Postgres), true) => "; the server of the address that was given",
        (Some(Server::Postgres), false) => "; the server's files in memory",
        _ => "",
    };
    let profile = properties::profile(peer.name);
    PeerRow {
        name: peer.name.to_owned(),
        title: peer.title.to_owned(),
        configuration: format!("{}{server}", peer.configuration),
        language: peer.language.to_owned(),
        properties: properties::of(peer, is_given),
        choose: profile.map_or("", |profile| profile.choose).into(),
        spared: profile.map_or("", |profile| profile.spared).into(),
        ..PeerRow::default()
    }
}
