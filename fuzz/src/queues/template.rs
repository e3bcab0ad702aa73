//! The table that is damaged: some keys, and two pools of queues beside them.

use super::place::Pool;
use crate::lengths::Lengths;
use crate::op::Key;
use crate::template::build;
use std::path::Path;
use std::sync::OnceLock;
use tavola::{Queue, QueueOptions, Table};

/// A pool on three pages.
const LARGE: Pool = Pool {
    name: "jobs",
    elements: 50,
    bytes: 700,
    queues: &["free", "todo", "done"],
    base: 0,
};
/// One whose elements are numbers and nothing else.
const SMALL: Pool = Pool {
    name: "turns",
    elements: 5,
    bytes: 0,
    queues: &["all"],
    base: 0,
};

pub(super) struct Template {
    pub(super) image: crate::image::Image,
    pub(super) pools: [Pool; 2],
}

/// The table, made at the first call.
pub(super) fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let image = build(Lengths(None), |path| {
            fill(path);
            Vec::new()
        })
        .image;
        let pools = [LARGE, SMALL].map(|pool| pool.found_in(&image));
        Template { image, pools }
    })
}

/// Elements stand in every queue, two positions are past the end of a ring, and of both pools
/// somebody who is gone holds some.
fn fill(path: &Path) {
    let table = Table::open(path).expect("the table opens");
    for n in 0..20 {
        table.set(&Key(n).bytes(), b"value").expect("it fits");
    }
    let [free, todo, done, all] = queues_of(&table);
    for _ in 0..3 {
        move_on(&free, &todo, 20);
        move_on(&todo, &done, 15);
        move_on(&done, &free, 10);
    }
    move_on(&all, &all, 2);
    let mut held = [0; 4];
    for queue in [&free, &done, &all] {
        let count = queue.pop_many(&mut held).expect("it is popped");
        assert!(count == 4, "fewer elements than that");
    }
    let report = table.check().expect("it is checked");
    assert!(report.is_clean(), "{:?}", report.problems);
}

fn queues_of(table: &Table) -> [Queue; 4] {
    let [large, small] = [LARGE, SMALL].map(|pool| {
        let options = QueueOptions::new(pool.elements, pool.bytes);
        let options = options.queues(pool.queues.iter().copied());
        options.create_in(table, pool.name).expect("there is room")
    });
    let queue = |name| large.queue(name).expect("it is there");
    let all = small.queue("all").expect("it is there");
    [queue("free"), queue("todo"), queue("done"), all]
}

fn move_on(from: &Queue, to: &Queue, count: usize) {
    assert_eq!(from.pass(to, count).expect("they are passed"), count);
}
