//! Huge pages: `maintain` has the kernel lay the table on them, where it can, and says how much.

use crate::support::{Dir, assert_clean};
use std::fs;
use std::path::Path;
use tavola::Table;

/// Bytes of a file that this process has mapped by huge pages, as the kernel reports.
fn on_huge_pages(path: &Path) -> u64 {
    let name = path.to_str().unwrap();
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut is_its = false;
    let mut bytes = 0;
    for line in maps.lines() {
        if let Some(kib) = line.strip_prefix("ShmemPmdMapped:") {
            let kib: u64 = kib.trim().trim_end_matches(" kB").parse().unwrap();
            bytes += if is_its { kib << 10 } else { 0 };
        } else if line
            .split(' ')
            .next()
            .is_some_and(|word| word.contains('-'))
        {
            is_its = line.ends_with(name);
        }
    }
    bytes
}

/// Whether there is memory in one piece for a huge page just now.
fn has_huge_page() -> bool {
    const HUGE: usize = 2 << 20;
    const MADV_COLLAPSE: i32 = 25;
    let mut memory = vec![0u8; 2 * HUGE];
    memory.fill(1);
    let at = memory
        .as_mut_ptr()
        .wrapping_add(memory.as_ptr().align_offset(HUGE));
    // SAFETY: changes nothing but how the kernel keeps bytes of `memory`.
    unsafe { libc::madvise(at.cast(), HUGE, MADV_COLLAPSE) == 0 }
}

#[test]
fn maintain_lays_the_table_on_huge_pages_where_the_kernel_can() {
    let dir = Dir::new();
    drop(Table::create(dir.table("t")).unwrap());
    // Mapped by its name: the kernel reports a new one's mapping without a name.
    let table = Table::open(dir.table("t")).unwrap();
    let keys = || (0..300_000u32).map(u32::to_le_bytes);
    for key in keys() {
        table.set(key, [7; 80]).unwrap();
    }
    let before = on_huge_pages(&dir.table("t"));
    let mut collapsed = 0;
    let (mut done, mut supported) = (false, true);
    while !done {
        let did = table.maintain(4 << 20).unwrap();
        assert!(did.collapsed_bytes <= 4 << 20);
        collapsed += did.collapsed_bytes;
        (done, supported) = (did.done, did.huge_pages_supported);
        done |= !supported;
    }
    let after = on_huge_pages(&dir.table("t"));
    if supported {
        if collapsed == 0 {
            assert!(!has_huge_page(), "the kernel can, and did not");
            eprintln!("not tested: there is no memory in one piece");
        }
        // It may have laid them there by itself before.
        assert!(
            after >= collapsed.max(before),
            "{before} bytes, {collapsed}, {after}"
        );
    } else {
        eprintln!("not tested: this kernel does not collapse pages (Linux 6.1 or newer does)");
        assert_eq!(collapsed, 0);
    }
    for key in keys() {
        assert_eq!(table.get(key).unwrap().as_deref(), Some(&[7; 80][..]));
    }
    assert_clean(&table);
}
