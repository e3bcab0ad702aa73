//! Prints the byte tables of `docs/internals/format.md` from the structures themselves.

use super::*;
use std::fmt::Write;

/// Sizes and offsets of every shared structure, for the fingerprint.
pub(super) const ALL_OFFSETS: &[u64] = &collect();

const TOTAL: usize = count::<Superblock>()
    + count::<Pool>()
    + count::<ShardHead>()
    + count::<ClassHead>()
    + count::<Participant>()
    + count::<Bucket>()
    + count::<SlabPage>()
    + count::<UidPage>()
    + count::<Extent>()
    + count::<QueuePoolHead>()
    + count::<QueueHead>()
    + count::<LogHead>()
    + count::<SheetHead>()
    + count::<JournalHead>()
    + count::<LocksHead>()
    + count::<LockRecord>()
    + count::<AreaHead>()
    + count::<LeaseRecord>()
    + count::<WatchRecord>()
    + count::<CacheSample>()
    + count::<Timing>()
    + 2;

const fn count<T: Described>() -> usize {
    T::FIELDS.len() + 1
}

const fn push<T: Described>(mut all: [u64; TOTAL], at: usize) -> ([u64; TOTAL], usize) {
    all[at] = T::SIZE as u64;
    let mut i = 0;
    while i < T::FIELDS.len() {
        all[at + 1 + i] = T::FIELDS[i].1 as u64;
        i += 1;
    }
    (all, at + 1 + i)
}

const fn collect() -> [u64; TOTAL] {
    let (all, at) = push::<Superblock>([0; TOTAL], 0);
    let (all, at) = push::<Pool>(all, at);
    let (all, at) = push::<ShardHead>(all, at);
    let (all, at) = push::<ClassHead>(all, at);
    let (all, at) = push::<Participant>(all, at);
    let (all, at) = push::<Bucket>(all, at);
    let (all, at) = push::<SlabPage>(all, at);
    let (all, at) = push::<UidPage>(all, at);
    let (all, at) = push::<Extent>(all, at);
    let (all, at) = push::<QueuePoolHead>(all, at);
    let (all, at) = push::<QueueHead>(all, at);
    let (all, at) = push::<LogHead>(all, at);
    let (all, at) = push::<SheetHead>(all, at);
    let (all, at) = push::<JournalHead>(all, at);
    let (all, at) = push::<LocksHead>(all, at);
    let (all, at) = push::<LockRecord>(all, at);
    let (all, at) = push::<AreaHead>(all, at);
    let (all, at) = push::<LeaseRecord>(all, at);
    let (all, at) = push::<WatchRecord>(all, at);
    let (all, at) = push::<CacheSample>(all, at);
    let (mut all, at) = push::<Timing>(all, at);
    all[at] = PAGE;
    all[at + 1] = CLASSES as u64;
    all
}

fn table<T: Described>(out: &mut String, name: &str, place: &str) {
    let _ = writeln!(out, "### {name}\n\n{} bytes, {place}.\n", T::SIZE);
    let _ = writeln!(out, "| offset | bytes | field |\n|---|---|---|");
    for (i, (field, offset)) in T::FIELDS.iter().enumerate() {
        let end = T::FIELDS.get(i + 1).map_or(T::SIZE, |next| next.1);
        let _ = writeln!(out, "| {offset} | {} | `{field}` |", end - offset);
    }
    out.push('\n');
}

fn areas(out: &mut String) {
    let _ = writeln!(out, "### Areas by `room`\n");
    let _ = writeln!(
        out,
        "| `room` | 1 GiB | 64 GiB | 4 TiB |\n|---|---|---|---|"
    );
    let rooms = [(1 << 30, 4), (64 << 30, 5), (MAX_SIZE, 8)];
    let all = rooms.map(|(room, shards_log2)| Geometry::new(room, shards_log2));
    let mut row = |name: &str, of: &dyn Fn(&Geometry) -> String| {
        let cells = all
            .iter()
            .flatten()
            .map(|geometry| format!(" {} |", of(geometry)));
        let _ = writeln!(out, "| {name} |{}", cells.collect::<String>());
    };
    row("shards", &|g| g.shards().to_string());
    row("shard heads at", &|g| g.shards_off.to_string());
    row("participants at", &|g| g.participants_off.to_string());
    row("samples at", &|g| g.samples_off.to_string());
    row("page table at", &|g| g.page_table_off.to_string());
    row("directories at", &|g| g.dirs_off.to_string());
    row("entries of each", &|g| format!("2^{}", g.dir_log2));
    row("uid directories at", &|g| g.uids_off.to_string());
    row("chunks of each", &|g| format!("2^{}", g.uid_dir_log2));
    row("lease records at", &|g| g.leases_off.to_string());
    row("watch records at", &|g| g.watches_off.to_string());
    let first_page = |g: &Geometry| (u64::from(g.first_page) * PAGE).to_string();
    row("first page at", &first_page);
}

fn classes(out: &mut String) {
    let _ = writeln!(out, "\n### Size classes\n");
    let _ = writeln!(
        out,
        "| class | block bytes | blocks a page | first block at |"
    );
    let _ = writeln!(out, "|---|---|---|---|");
    for (number, class) in (0..CLASSES as u32).filter_map(|n| Some((n, Class::get(n)?))) {
        let _ = writeln!(
            out,
            "| {number} | {} | {} | {} |",
            class.block, class.blocks, class.first
        );
    }
}

/// Returns the byte tables of the format as Markdown; `docs/internals/format.md` holds exactly this
/// text.
pub fn tables() -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "Format version {FORMAT}, fingerprint `{:#018x}`.\n",
        fingerprint()
    );
    table::<Superblock>(&mut out, "Superblock", "at offset 0");
    table::<Pool>(&mut out, "Pool", "in the superblock at offset 1024");
    table::<ShardHead>(&mut out, "Shard head", "one a shard");
    table::<ClassHead>(
        &mut out,
        "Class head",
        "one a size class in each shard head",
    );
    table::<Participant>(&mut out, "Participant", "one a participant slot");
    table::<CacheSample>(&mut out, "Sample", "64, behind the participants");
    table::<Timing>(&mut out, "Times", "8, behind the samples");
    table::<Bucket>(&mut out, "Bucket", "256 a segment");
    table::<SlabPage>(
        &mut out,
        "Slab head",
        "at most; the bitmap is as long as the class needs",
    );
    table::<UidPage>(&mut out, "Uid chunk head", "before the entries of a chunk");
    table::<Extent>(
        &mut out,
        "Extent",
        "16 in the superblock from offset 2048 on",
    );
    table::<QueuePoolHead>(
        &mut out,
        "Queue pool head",
        "at the beginning of its extent",
    );
    table::<QueueHead>(
        &mut out,
        "Queue head",
        "one a queue, behind the head of its pool",
    );
    table::<LogHead>(&mut out, "Log head", "at the beginning of its extent");
    table::<SheetHead>(
        &mut out,
        "Sheet head",
        "one a sheet, behind the head of its log",
    );
    table::<JournalHead>(
        &mut out,
        "Journal head",
        "at the beginning of the extent of a durable table's journal",
    );
    table::<LocksHead>(&mut out, "Locks head", "at the beginning of its extent");
    table::<LockRecord>(
        &mut out,
        "Lock record",
        "one a named lock or semaphore, from offset 512 of its extent on",
    );
    table::<AreaHead>(&mut out, "Area head", "at the beginning of its extent");
    table::<LeaseRecord>(&mut out, "Lease record", "16 a shard");
    table::<WatchRecord>(&mut out, "Watch record", "9 a shard");
    areas(&mut out);
    classes(&mut out);
    out
}
