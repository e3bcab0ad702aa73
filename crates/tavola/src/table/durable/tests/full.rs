//! A table that is full while a snapshot is made can be rebuilt.

use super::{Contents, PATH, contents, home_of, open, open_as, rebuild_on};
use crate::engine::{Files, OnDamage};
use crate::error::Error;
use crate::index::locate::Hash;
use crate::journal::Home;
use crate::sys::disk::simulated::SimulatedHome;
use crate::sys::disk::{DiskFile, HomeDir};
use crate::table::Table;
use crate::values::Durability;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What is done once, when a snapshot has so many bytes.
type Then = Arc<Mutex<Option<(u64, Box<dyn FnOnce() + Send>)>>>;

/// A directory that watches the snapshots.
struct Watching {
    home: SimulatedHome,
    then: Then,
}

struct WatchedFile {
    file: Arc<dyn DiskFile>,
    then: Then,
}

impl HomeDir for Watching {
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.home.open(name)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.home.create(name)?;
        if name != "snapshot.new" {
            return Ok(file);
        }
        let then = Arc::clone(&self.then);
        Ok(Arc::new(WatchedFile { file, then }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.home.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.home.remove(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.home.names()
    }

    fn sync(&self) -> io::Result<()> {
        self.home.sync()
    }
}

impl DiskFile for WatchedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(out, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        let end = offset + bytes.len() as u64;
        let mut then = self.then.lock().unwrap();
        if let Some((_, then)) = then.take_if(|(after, _)| end >= *after) {
            then();
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn key(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}

/// Sets keys of a shard until the table is full, and returns their numbers.
fn fill(table: &Table, shard: u32, from: u32) -> Vec<u32> {
    let region = table.core().unwrap().region();
    let mut numbers = Vec::new();
    for number in from.. {
        if Hash::of(region, &key(number)).shard() != shard {
            continue;
        }
        match table.set(key(number), [shard as u8; 1000]) {
            Ok(()) => numbers.push(number),
            Err(Error::Full { .. }) => break,
            Err(error) => panic!("{error}"),
        }
    }
    numbers
}

/// The keys of the first shard are in the snapshot before they are removed, and keys of the second
/// shard, which take their room, come after them.
#[test]
fn a_table_that_was_full_during_a_snapshot_is_rebuilt() {
    let home = SimulatedHome::new();
    let then = Then::default();
    let dir: Arc<dyn HomeDir> = Arc::new(Watching {
        home: home.clone(),
        then: Arc::clone(&then),
    });
    let created = Home {
        segment: 64 << 10,
        ..home_of()
    };
    let files = Files::new(&dir, Path::new(PATH), &created);
    files.create().unwrap();
    let table = rebuild_on(&dir, &created, OnDamage::Refuse, Durability::Os);
    let table = Arc::new(table.unwrap());
    let old = fill(&table, 0, 0);
    let bytes = 1000 * old.len() as u64;
    assert!(bytes > 1 << 20, "{bytes}");
    let replaced = Arc::new(Mutex::new(0));
    let replace: Box<dyn FnOnce() + Send> = {
        let (table, replaced) = (Arc::clone(&table), Arc::clone(&replaced));
        Box::new(move || {
            for number in old {
                assert!(table.remove(key(number)).unwrap());
            }
            *replaced.lock().unwrap() = fill(&table, 1, 1 << 24).len();
        })
    };
    *then.lock().unwrap() = Some((bytes * 3 / 4, replace));
    assert!(table.snapshot().unwrap());
    let before: Contents = contents(&table);
    let replaced = *replaced.lock().unwrap();
    assert_eq!(before.len(), replaced);
    assert!(1000 * replaced as u64 > bytes * 3 / 4, "{replaced}");
    drop(table);
    let table = open(&home, OnDamage::Refuse).unwrap();
    assert_eq!(contents(&table), before);
    // It holds what it held, and can be used.
    assert!(table.stats().unwrap().max_size > 4 << 20);
    table.set("more", "1").unwrap();
    assert!(table.check().unwrap().is_clean());
    drop(table);
    assert!(open_as(&home, Durability::Os).is_ok());
}
