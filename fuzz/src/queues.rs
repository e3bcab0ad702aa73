//! Pools of queues in a file with changed bytes: whatever they say, no panic, no access outside, no
//! endless loop; and once repaired, each pool that is there has each of its elements once.

mod op;
mod place;
mod template;
mod whole;

use crate::image::Image;
use crate::memory::file;
use crate::template::write_to;
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use op::{Op, Player, tolerate};
use place::{Damage, Which, disown_buildings, free_locks, seal};
use tavola::Table;
use template::template;
use whole::{are_whole, assert_repaired, assert_unharmed};

const MOST_CHANGES: usize = 24;
const MOST_OPS: usize = 40;

/// Damages the pools as the input says, uses them, repairs them and uses them again.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let template = template();
    let image = damaged(&mut source);
    let is_damaged = image.bytes != template.image.bytes;
    let (file, path) = file();
    write_to(file, &image);
    within_limit(|| {
        let table = Table::open(path).expect("what says that it is a table is whole");
        let mut player = Player::new(&table);
        for _ in 0..MOST_OPS {
            let input = <(Which, Op)>::arbitrary(&mut source);
            let Ok((which, op)) = input else {
                break;
            };
            tolerate(player.play(which, &op));
            if source.is_empty() {
                break;
            }
        }
        if !is_damaged {
            assert_unharmed(&table, &player.pools);
        }
        repair(&table, &player);
    });
}

fn damaged(source: &mut Unstructured) -> Image {
    let count = usize::from(u8::arbitrary(source).unwrap_or(0));
    let template = template();
    let mut image = template.image.clone();
    for _ in 0..count % MOST_CHANGES {
        let Ok(damage) = Damage::arbitrary(source) else {
            break;
        };
        damage.apply(&mut image, &template.image);
    }
    if count >= 128 {
        // As somebody would who wants to be believed.
        seal(&mut image, &template.pools);
    }
    free_locks(&mut image);
    disown_buildings(&mut image);
    image
}

fn repair(table: &Table, player: &Player) {
    let open = || {
        let names = template().pools.map(|pool| pool.name);
        names.map(|name| tolerate(table.pool(name)))
    };
    let before = open();
    table.repair().expect("a repair");
    assert_repaired(table);
    let after = open();
    for (before, after) in before.iter().zip(&after) {
        assert!(before.is_none() || after.is_some(), "a pool is gone");
    }
    // A handle that had a pool open stays usable.
    let held = player.pools.iter().map(|held| held.pool.as_ref());
    for (old, new) in held.zip(&after) {
        if let Some(new) = new {
            are_whole(old.unwrap_or(new), new);
        }
    }
    assert_repaired(table);
}
