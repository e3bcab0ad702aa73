//! The table that is damaged: the same bytes in every run, but for times.

use crate::image::Image;
use crate::op::{Key, Value};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tavola::{Hint, Table};

/// Where it is made.
const DIR: &str = "/dev/shm";
const PREFIX: &str = "tavola-fuzz-";
/// The most the table may grow to.
const MAX_SIZE: u64 = 2 << 20;

/// The table, made at the first call.
pub(crate) fn template() -> &'static Image {
    &made().0
}

/// Uids of its keys.
pub(crate) fn hints() -> &'static [Hint] {
    &made().1
}

fn made() -> &'static (Image, Vec<Hint>) {
    static TEMPLATE: OnceLock<(Image, Vec<Hint>)> = OnceLock::new();
    TEMPLATE.get_or_init(build)
}

fn build() -> (Image, Vec<Hint>) {
    let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(DIR);
    let dir = dir.expect("a directory in shared memory");
    let path = dir.path().join("template");
    let options = Table::options().max_size(MAX_SIZE).shards(1);
    drop(options.create(&path).expect("a table is made"));
    // A seed that is known: keys stand in the same buckets in every run.
    let mut empty = read(&path);
    empty.set_seed(0x7A_801A);
    write(&path, &empty);
    let hints = fill(&path);
    (read(&path), hints)
}

fn read(path: &PathBuf) -> Image {
    Image::new(std::fs::read(path).expect("a table's file is read"))
}

/// Writes an image over a table's file.
fn write(path: &Path, image: &Image) {
    let file = File::options().write(true).open(path);
    write_to(&file.expect("the file is there"), image);
}

/// Makes a file the image: what follows its bytes is zeros.
pub(crate) fn write_to(file: &File, image: &Image) {
    file.set_len(image.bytes.len() as u64)
        .expect("the tail is cut");
    file.set_len(MAX_SIZE).expect("its length is set");
    file.write_all_at(&image.bytes, 0).expect("it is written");
}

/// All kinds of items, several pages of some, and holes where others were; of half of them the
/// uids, which are told.
fn fill(path: &Path) -> Vec<Hint> {
    let table = Table::open(path).expect("the table opens");
    wear_uids(&table);
    for n in 0..=255 {
        let size = match n % 32 {
            7 => 5000 << 3,
            9 => (700 << 3) | 1,
            _ => u16::from(n) << 3 | 3,
        };
        let value = Value { size, fill: n };
        table.set(&Key(n).bytes(), &value.bytes()).expect("it fits");
    }
    for n in 0..1500u64 {
        table
            .set(&(n << 32 | 1).to_le_bytes(), b"many")
            .expect("it fits");
    }
    for n in 40..50 {
        table.remove(&Key(n).bytes()).expect("it is removed");
        table.incr(&Key(n + 1).bytes(), 1).ok();
    }
    for n in (0..1500u64).step_by(3) {
        table
            .remove(&(n << 32 | 1).to_le_bytes())
            .expect("it is removed");
    }
    let hint_of = |n: u8| table.uid_of(&Key(n).bytes()).expect("there is room");
    let hints = (0..=255).step_by(2).filter_map(hint_of).collect();
    let report = table.check().expect("it is checked");
    assert!(report.is_clean(), "{:?}", report.problems);
    hints
}

/// More uids than a chunk has are given out and taken back: the chunk is given back, but for the
/// last.
fn wear_uids(table: &Table) {
    let keys: Vec<_> = (0..2500u64).map(|n| (n << 32 | 2).to_le_bytes()).collect();
    for key in &keys {
        table.set_uid(key, b"worn").expect("it fits");
    }
    for key in &keys {
        table.remove(key).expect("it is removed");
    }
    table.compact().expect("it is compacted");
}
