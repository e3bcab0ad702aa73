//! `tavola keep`: a process that stays with a durable table.

use std::io::{BufRead, BufReader};

use crate::durable::{Durable, end};
use crate::shell::wait_until;

#[test]
fn a_kept_table_is_on_disk_in_time() {
    let durable = Durable::new();
    let home = durable.create("20ms");
    let mut keeper = durable.shell.spawn(["keep", &home]);
    let mut lines = BufReader::new(keeper.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, format!("keeping {home}: 0 keys, --sync 20ms\n"));
    durable.run(&["set", &home, "k", "v"]).ok();
    let unsynced = || durable.run(&["stat", &home, "--json"]).json()["durable"].clone();
    wait_until(|| unsynced()["unsynced_bytes"] == 0);
    let in_use = durable.run(&["journal", &home, "--json"]).json();
    assert_eq!(in_use["in_use"], true);
    // As the only one who uses the memory, it rebuilds the table if that is removed.
    durable.lose_memory();
    wait_until(|| durable.memory().len() == 1);
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "v");
    assert!(end(&mut keeper).success());
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "v");
}
