//! A durable table on the simulated disk.

mod arbitrary;
mod damage;
mod each_call;
mod faults;
mod full;
mod full_disk;
#[cfg(not(any(miri, feature = "torture")))]
mod in_time;
#[cfg(not(miri))]
mod interrupts;
mod power;
mod remains;

use super::open::after_cut;
use crate::engine::{Core, UidPolicy};
use crate::engine::{Files, OnDamage};
use crate::error::Result;
use crate::journal::{Home, TABLE};
use crate::region::Region;
use crate::sys::disk::HomeDir;
use crate::sys::disk::simulated::SimulatedHome;
use crate::table::lazy::Lazy;
use crate::table::{Options, Table};
use crate::values::Durability;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PATH: &str = "simulated";

/// Bytes of a file of the journal: two sectors, so that records cross files.
const SEGMENT: u64 = 1024;

fn options() -> Options {
    Options::new().max_size(4 << 20).shards(2)
}

fn home_of() -> Home {
    Home {
        id: 0x5EED,
        max_size: 4 << 20,
        segment: SEGMENT,
        shards: 2,
        has_versions: false,
        fixed: None,
        ttl_ms: 0,
        durability: Durability::Commit,
        mode: 0o600,
    }
}

/// Creates a durable table's files, and opens it.
fn create(home: &SimulatedHome) -> Result<Table> {
    create_as(home, Durability::Commit)
}

/// The same, with a policy.
pub(crate) fn create_as(home: &SimulatedHome, durability: Durability) -> Result<Table> {
    create_of(home, &home_of(), durability)
}

fn create_of(home: &SimulatedHome, table: &Home, durability: Durability) -> Result<Table> {
    let dir: Arc<dyn HomeDir> = Arc::new(home.clone());
    let files = Files::new(&dir, Path::new(PATH), table);
    files.create()?;
    rebuild_from(&files, OnDamage::Refuse, durability)
}

/// Rebuilds a table from its files, for handles with this policy.
pub(crate) fn open_as(home: &SimulatedHome, durability: Durability) -> Result<Table> {
    rebuild(home, OnDamage::Refuse, durability)
}

/// Rebuilds a table from its files.
fn open(home: &SimulatedHome, damage: OnDamage) -> Result<Table> {
    rebuild(home, damage, Durability::Commit)
}

fn rebuild(home: &SimulatedHome, damage: OnDamage, durability: Durability) -> Result<Table> {
    let dir: Arc<dyn HomeDir> = Arc::new(home.clone());
    let image = home.image();
    let table = Home::decode(image.get(TABLE).expect("the table exists")).expect("it is whole");
    rebuild_on(&dir, &table, damage, durability)
}

fn rebuild_on(
    dir: &Arc<dyn HomeDir>,
    table: &Home,
    damage: OnDamage,
    durability: Durability,
) -> Result<Table> {
    rebuild_from(&Files::new(dir, Path::new(PATH), table), damage, durability)
}

fn rebuild_from(files: &Files<'_>, damage: OnDamage, durability: Durability) -> Result<Table> {
    let options = options().of_home(files.table).durable(Durability::Commit);
    let path = PathBuf::from(PATH);
    let make = |max_size| {
        let (geometry, _) = options.clone().max_size(max_size).geometry(None)?;
        let region = Region::heap(geometry, 0x7A70_1A00, &path)?;
        Ok((Core::new(region, path.clone(), UidPolicy::Keep), ()))
    };
    let (mut core, ()) = files.rebuild_in(damage, make)?;
    core.durability = durability;
    let lazy = Lazy::shared(Arc::new(core), path);
    let table = Table::of(lazy, options);
    if damage == OnDamage::Cut {
        after_cut(&table)?;
    }
    Ok(table)
}

/// All keys and values of a table.
pub(crate) type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) fn contents(table: &Table) -> Contents {
    let mut all = Contents::new();
    let mut entries = table.iter();
    while let Some((key, value)) = entries.next_entry().unwrap() {
        all.insert(key.to_vec(), value.to_vec());
    }
    all
}
