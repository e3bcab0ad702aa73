//! Sections of numbers: keys and memory, rates, processes, shards.

use std::time::{SystemTime, UNIX_EPOCH};

use tavola::{Participant, Recent};

use super::section::{Section, Tint, fine_percent, percent, rate, signed};
use super::watch::{Snapshot, View};
use crate::durable::{in_ms, snapshot, state};
use crate::units::{age, count, counted, keys_in_words, size};
use crate::{beside, output};

/// Keys, memory, and some of the logs beside the table.
pub fn totals(label: &str, view: &View<'_>, most_logs: usize) -> Section {
    let stats = &view.now.stats;
    let kind = match view.now.is_cache() {
        true => "a cache",
        false => "a table",
    };
    let made = age(now_unix_s().saturating_sub(stats.created_unix_s));
    let shards = counted(stats.shards.into(), "shard");
    let mut section = Section::new(format!(
        "tavola top: {label}  {kind} of {shards}, made {made} ago"
    ));
    let growth = signed(view.growth(|stats| stats.keys), |n| rate(Some(n)));
    section.line(
        Tint::Plain,
        format!(
            "keys    {}{growth}, {} of keys and values",
            keys_in_words(&view.now.keys),
            size(stats.payload_bytes)
        ),
    );
    let growth = view.growth(|stats| stats.resident_bytes);
    let growth = signed(growth, |bytes| size(bytes as u64));
    let kinds = [
        ("index", stats.index_bytes),
        ("small", stats.slab_bytes),
        ("large", stats.large_bytes),
        ("uids", stats.uid_bytes),
        ("queues, logs", stats.queue_and_log_bytes),
        ("spare", stats.free_bytes),
    ];
    let kinds = kinds.iter().filter(|(_, bytes)| *bytes > 0);
    let kinds: Vec<String> = kinds
        .map(|(what, n)| format!("{what} {}", size(*n)))
        .collect();
    section.line(
        Tint::Plain,
        format!(
            "memory  {}{growth} of {}: {}",
            size(stats.resident_bytes),
            size(stats.capacity.unwrap_or(stats.max_size)),
            kinds.join(", ")
        ),
    );
    put_journal(&mut section, view);
    for holder in &view.now.holders {
        let line = format!("locked  {} by {holder}", holder.lock);
        section.line(Tint::Bad, line);
    }
    for depth in view.now.depths.iter().take(most_logs) {
        let elements = counted(depth.elements, "element");
        section.line(Tint::Plain, format!("{}  {elements}", depth.label()));
    }
    for (name, stats) in view.now.logs.iter().take(most_logs) {
        let tint = if stats.dropped > 0 {
            Tint::Bad
        } else {
            Tint::Plain
        };
        let line = format!("{}  {}", beside::label(name), beside::describe_log(stats));
        section.line(tint, line);
    }
    section
}

/// Puts the state of the journal of a durable table.
fn put_journal(section: &mut Section, view: &View<'_>) {
    if let Some(durable) = &view.now.durable {
        let syncs = rate(view.rate(Snapshot::syncs));
        let mean = durable.mean_sync().map_or("-".to_owned(), in_ms);
        let line = format!(
            "journal {} since the last snapshot, {} not on disk; {syncs} syncs/s of {mean}",
            size(durable.journal_bytes),
            size(durable.unsynced_bytes)
        );
        section.line(Tint::Plain, line);
        let tint = match durable.failed {
            None => Tint::Plain,
            Some(_) => Tint::Bad,
        };
        let (snapshot, state) = (snapshot(durable), state(durable));
        section.line(tint, format!("durable snapshot {snapshot}; state {state}"));
    }
}

/// Operations a second, now and in the last while, and how many there were in all.
pub fn rates(view: &View<'_>) -> Section {
    let stats = &view.now.stats;
    let recent = &stats.recent[1..];
    if !view.now.is_cache() {
        let row = |name: &str, now: Option<f64>, all: u64| {
            format!("{name:<9}{:>8}{:>8}", rate(now), rate(Some(all as f64)))
        };
        let mut section = Section::new(format!("{:<9}{:>8}{:>8}", "", "now", "in all"));
        let changes = row(
            "changes/s",
            view.rate(Snapshot::changes),
            view.now.changes(),
        );
        let expired = row(
            "expired/s",
            view.rate(|snapshot| snapshot.stats.expired),
            stats.expired,
        );
        section.line(Tint::Plain, changes);
        section.line(Tint::Plain, expired);
        return section;
    }
    let row = |name: &str, now: Option<f64>, of: fn(&Recent) -> u64, all: u64| {
        let late = |at: usize| rate(recent.get(at).and_then(|recent| in_a_second(recent, of)));
        let (now, all) = (rate(now), rate(Some(all as f64)));
        format!("{name:<9}{now:>8}{:>8}{:>8}{all:>8}", late(0), late(1))
    };
    let reads = |snapshot: &Snapshot| snapshot.stats.hits.wrapping_add(snapshot.stats.misses);
    let evicted = |snapshot: &Snapshot| {
        snapshot
            .stats
            .evicted_new
            .wrapping_add(snapshot.stats.evicted_old)
    };
    let head = ["now", "10 s", "60 s", "in all"].map(|head| format!("{head:>8}"));
    let mut section = Section::new(format!("{:<9}{}", "", head.concat()));
    let lines = [
        row(
            "reads/s",
            view.rate(reads),
            |r| r.hits + r.misses,
            reads(view.now),
        ),
        hit_ratios(view),
        row(
            "writes/s",
            view.rate(|snapshot| snapshot.stats.writes),
            |r| r.writes,
            stats.writes,
        ),
        row(
            "evicted/s",
            view.rate(evicted),
            |r| r.evicted,
            evicted(view.now),
        ),
        row(
            "expired/s",
            view.rate(|snapshot| snapshot.stats.expired),
            |r| r.expired,
            stats.expired,
        ),
    ];
    lines
        .into_iter()
        .for_each(|line| section.line(Tint::Plain, line));
    section
}

fn in_a_second(recent: &Recent, of: fn(&Recent) -> u64) -> Option<f64> {
    let seconds = recent.spanned.as_secs_f64();
    (seconds > 0.0).then(|| of(recent) as f64 / seconds)
}

fn hit_ratios(view: &View<'_>) -> String {
    let stats = &view.now.stats;
    let [_, ten, sixty] = &stats.recent;
    let reads = stats.hits as f64 + stats.misses as f64;
    let all = (reads > 0.0).then(|| stats.hits as f64 / reads);
    let now = view.points.back().copied().flatten();
    let ratios = [now, ten.hit_ratio(), sixty.hit_ratio(), all];
    let cells = ratios.map(|ratio| format!("{:>8}", ratio.map_or("-".to_owned(), fine_percent)));
    format!("{:<9}{}", "hit ratio", cells.concat())
}

/// The processes that write, the busiest first.
pub fn participants(view: &View<'_>, rows: usize) -> Section {
    let mut all: Vec<(&Participant, Option<(f64, f64)>)> = (view.now.participants.iter())
        .map(|one| (one, view.rates_of(one)))
        .collect();
    let busy = |rates: &Option<(f64, f64)>| rates.map_or(0.0, |(reads, writes)| reads + writes);
    all.sort_by(|(_, a), (_, b)| busy(b).total_cmp(&busy(a)));
    let dead = all.iter().filter(|(one, _)| !one.alive).count();
    let dead = if dead > 0 {
        format!(", {dead} dead")
    } else {
        String::new()
    };
    let title = match all.len() {
        1 => format!("1 process{dead}"),
        many => format!("{} processes{dead}", count(many as u64)),
    };
    let is_cache = view.now.is_cache();
    let mut section = match is_cache {
        true => Section::new(format!(
            "{:>8}{:>9}{:>9}  {title}",
            "pid", "reads/s", "writes/s"
        )),
        false => Section::new(format!("{:>8}{:>12}  {title}", "pid", "for")),
    };
    for (one, rates) in all.into_iter().take(rows) {
        let pid = one.pid;
        let command = match (one.alive, one.command.as_deref()) {
            (false, _) => "(dead; 'tavola maintain' removes it)".to_owned(),
            (true, _) if !one.is_local => one.process_label() + &clients(one),
            (true, command) => short(command.unwrap_or("?")) + &clients(one),
        };
        let stopped = if one.is_stopped { " (stopped)" } else { "" };
        let is_well = one.alive && !one.is_stopped;
        let tint = if is_well { Tint::Plain } else { Tint::Bad };
        let (reads, writes) = (rates.map(|rates| rates.0), rates.map(|rates| rates.1));
        let numbers = match is_cache {
            true => format!("{:>9}{:>9}", rate(reads), rate(writes)),
            false => {
                let since = age(now_unix_s().saturating_sub(one.attached_unix_s));
                format!("{since:>12}")
            }
        };
        section.line(tint, format!("{pid:>8}{numbers}  {command}{stopped}"));
    }
    section
}

/// Of a server, its connections.
fn clients(one: &Participant) -> String {
    one.serving.map_or(String::new(), |serving| {
        let connections = counted(serving.connections, "connection");
        format!(" ({connections})")
    })
}

/// A command line without the directory of the program, which would fill the line.
fn short(command: &str) -> String {
    let program = command.split(' ').next().unwrap_or_default();
    let directory = match program.starts_with('/') {
        true => program.rfind('/').map_or(0, |at| at + 1),
        false => 0,
    };
    output::printable(&command.as_bytes()[directory..]).into_owned()
}

/// The shards with the most writes.
pub fn shards(view: &View<'_>, rows: usize) -> Section {
    let title = format!(
        "{:>5}{:>9}{:>8}{:>8}{:>10}",
        "shard", "writes/s", "of all", "keys", "evicted/s"
    );
    let mut section = Section::new(title);
    let all = view.rate(Snapshot::changes).unwrap_or(0.0).max(1e-9);
    for (shard, writes, evicted) in view.hot_shards().into_iter().take(rows) {
        let [number, keys] = [shard.number.to_string(), rate(Some(shard.keys as f64))];
        let [writes, part, evicted] = [
            rate(Some(writes)),
            percent(writes / all),
            rate(Some(evicted)),
        ];
        let line = format!("{number:>5}{writes:>9}{part:>8}{keys:>8}{evicted:>10}");
        section.line(Tint::Plain, line);
    }
    section
}

fn now_unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_shown_without_their_directory() {
        assert_eq!(short("/usr/bin/python3 /srv/app.py"), "python3 /srv/app.py");
        assert_eq!(short("./app /x\n"), "./app /x\\x0a");
        assert_eq!(short("/usr/bin/"), "");
        assert_eq!(short("?"), "?");
    }
}
