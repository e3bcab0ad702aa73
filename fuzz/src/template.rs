//! The tables that are damaged: the same bytes in every run, except times.

use crate::image::Image;
use crate::lengths::{COUNT, Lengths, key_of, nth_fixed, value_of};
use crate::op::{Key, Value};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tavola::{Hint, Options, Table};
use tavola_model::{Fixed, Life};

/// Where they are made.
const DIR: &str = "/dev/shm";
const PREFIX: &str = "tavola-fuzz-";
/// The most a table may grow to.
const MAX_SIZE: u64 = 2 << 20;
/// Items of a table of fixed lengths, and how many bytes they may take.
const MOST_ITEMS: usize = 3000;
const MOST_BYTES: usize = 1 << 20;

/// A table whose bytes are known.
pub(crate) struct Template {
    pub(crate) image: Image,
    /// Uids of its keys.
    pub(crate) hints: Vec<Hint>,
}

/// The table of all kinds of items, made at the first call.
pub(crate) fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| build(Lengths(None), fill))
}

/// A table of fixed lengths, made when it is first asked for; the lowest bit says whether it has
/// uids.
pub(crate) fn fixed_template(number: u8) -> &'static Template {
    static TEMPLATES: [OnceLock<Template>; 2 * COUNT] = [const { OnceLock::new() }; 2 * COUNT];
    let number = usize::from(number) % TEMPLATES.len();
    let fixed = nth_fixed(number / 2, number % 2 == 1);
    TEMPLATES[number].get_or_init(|| build(Lengths(Some(fixed)), |path| fill_fixed(path, fixed)))
}

pub(crate) fn build(lengths: Lengths, fill: impl FnOnce(&Path) -> Vec<Hint>) -> Template {
    made(Table::options().shards(1), lengths, fill)
}

/// As [`build`], with other options.
pub(crate) fn made(
    options: Options,
    lengths: Lengths,
    fill: impl FnOnce(&Path) -> Vec<Hint>,
) -> Template {
    let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(DIR);
    let dir = dir.expect("a directory in shared memory");
    let path = dir.path().join("template");
    let options = lengths.options(options.max_size(MAX_SIZE));
    drop(options.create(&path).expect("a table is made"));
    // A seed that is known: keys stand in the same buckets in every run.
    let mut empty = read(&path);
    empty.set_seed(0x7A_801A);
    write(&path, &empty);
    let hints = fill(&path);
    let image = read(&path);
    assert_eq!(image.fixed(), lengths.0, "lengths stand elsewhere");
    Template { image, hints }
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
    file.set_len(image.len).expect("its length is set");
    file.write_all_at(&image.bytes, 0).expect("it is written");
}

/// All kinds of items, several pages of some, and holes where others were; of half of them the
/// uids, which are given. Some have flags, some expire, some of these have expired.
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
    for n in 60..=120 {
        let (key, value) = (Key(n).bytes(), table.get(&Key(n).bytes()));
        let value = value.expect("a key").expect("a value");
        let life = [Life::Forever, Life::Hours(1)][usize::from(n / 4 % 2)];
        table
            .set_with(&key, &value, life.with(u32::from(n % 4)))
            .expect("it fits");
    }
    for n in (0..1500u64).step_by(3) {
        table
            .remove(&(n << 32 | 1).to_le_bytes())
            .expect("it is removed");
    }
    let hint_of = |n: u8| table.uid_of(&Key(n).bytes()).expect("there is room");
    let hints = (0..=255).step_by(2).filter_map(hint_of).collect();
    // Last, and few: their items are not searched for yet.
    for n in (60..=120).filter(|n| n % 8 == 4 || n % 8 == 7) {
        let touched = table.touch(&Key(n).bytes(), Life::Gone.expiry());
        assert!(touched.expect("it fits"), "key {n}");
    }
    let report = table.check().expect("it is checked");
    assert!(report.is_clean(), "{:?}", report.problems);
    hints
}

/// More uids than a chunk has are given out and taken back: the chunk is given back, except the
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

/// Several pages of items, and holes where others were; of some the uids, which are given, if there
/// are any.
fn fill_fixed(path: &Path, fixed: Fixed) -> Vec<Hint> {
    let table = Table::open(path).expect("the table opens");
    let most = MOST_BYTES / (fixed.key + fixed.value);
    let numbers = 0..most.min(MOST_ITEMS) as u32;
    let key = |n| key_of(n, fixed.key);
    let value = |n| value_of(n, fixed.value);
    if fixed.uids {
        for n in numbers.clone() {
            table.set_uid(&key(n), &value(n)).expect("it fits");
        }
        table.clear().expect("it is cleared");
        table.compact().expect("it is compacted");
    }
    for n in numbers.clone() {
        table.set(&key(n), &value(n)).expect("it fits");
    }
    for n in numbers.clone().step_by(3) {
        table.remove(&key(n)).expect("it is removed");
    }
    let hint_of = |n: u32| table.uid_of(&key(n)).expect("there is room");
    let named = numbers.take(256).step_by(2);
    let hints = named.filter(|_| fixed.uids).filter_map(hint_of).collect();
    let report = table.check().expect("it is checked");
    assert!(report.is_clean(), "{:?}", report.problems);
    hints
}
