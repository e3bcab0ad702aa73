//! Signals and short transfers at every system call of a real directory. The simulated disk is
//! above these: its calls are whole or fail.

use super::{Contents, SEGMENT, contents, home_of, rebuild_on};
use crate::engine::{Files, OnDamage};
use crate::journal::Home;
use crate::sys::disk::{HomeDir, RealHome};
use crate::sys::interrupt::interrupt_all;
use crate::table::Table;
use crate::values::Durability;
use std::path::Path;
use std::sync::Arc;

/// Makes calls of each kind, and the same to the contents as they should be.
fn write(table: &Table, model: &mut Contents) {
    for number in 0..40u8 {
        let (key, len) = (number % 7, usize::from(number) * 37);
        table.set([key], vec![number; len]).unwrap();
        model.insert(vec![key], vec![number; len]);
        match number % 10 {
            3 => {
                table.remove([key]).unwrap();
                model.remove(&vec![key]);
            }
            5 => {
                // In pieces.
                table.set([100], vec![number; 40_000]).unwrap();
                model.insert(vec![100], vec![number; 40_000]);
            }
            7 => {
                table
                    .transaction(|t| {
                        t.set([50], [number; 9])?;
                        t.set([51], [number; 900])
                    })
                    .unwrap();
                model.insert(vec![50], vec![number; 9]);
                model.insert(vec![51], vec![number; 900]);
            }
            9 => assert!(table.snapshot().unwrap()),
            _ => {}
        }
    }
    table.sync().unwrap();
}

#[test]
fn a_table_whose_calls_are_all_interrupted_has_everything() {
    for durability in [Durability::Commit, Durability::Os] {
        let dir = tempfile::tempdir().unwrap();
        let home: Arc<dyn HomeDir> = Arc::new(RealHome::of_mode(dir.path(), 0o600).unwrap());
        let table = Home {
            durability,
            segment: 8 * SEGMENT,
            ..home_of()
        };
        let files = Files::new(&home, Path::new("interrupted"), &table);
        let mut model = Contents::new();
        let ((), count) = interrupt_all(|| {
            files.create().unwrap();
            for _ in 0..3 {
                let table = rebuild_on(&home, &table, OnDamage::Refuse, durability).unwrap();
                assert_eq!(contents(&table), model);
                write(&table, &mut model);
                assert_eq!(contents(&table), model);
            }
        });
        assert!(count.signals > 1000 && count.short > 1000, "{count:?}");
        let table = rebuild_on(&home, &table, OnDamage::Refuse, durability).unwrap();
        assert_eq!(contents(&table), model);
    }
}
