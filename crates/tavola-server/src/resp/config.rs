//! CONFIG GET: the settings that clients ask for.

use tavola_proto::resp::answer;

use super::call::{Call, Done, is};
use super::connection::unknown_subcommand;
use super::glob::is_match;
use super::refusal::Refusal;

pub(super) fn config(call: &mut Call<'_>) -> Done {
    let word = call.args.get(1).unwrap_or_default();
    if !is(word, "get") {
        return Err(unknown_subcommand(word, "CONFIG"));
    }
    if call.args.len() < 3 {
        return Err(Refusal::arity("config|get"));
    }
    let mut found = settings(call)?;
    found.retain(|(name, _)| {
        let mut patterns = call.args.after(2);
        patterns.any(|pattern| is_match(pattern, name.as_bytes(), true))
    });
    let mut reply = Vec::new();
    answer::map(&mut reply, call.version(), found.len());
    for (name, value) in found {
        answer::bulk(&mut reply, name.as_bytes());
        answer::bulk(&mut reply, value.as_bytes());
    }
    call.push(reply)
}

/// Returns the settings of Redis that have a counterpart.
fn settings(call: &Call<'_>) -> Result<Vec<(&'static str, String)>, Refusal> {
    let shared = &call.work.shared;
    let setup = call.work.meter.setup();
    let capacity = shared.table.capacity()?;
    let timeout_s = setup.idle_timeout.map_or(0, |timeout| timeout.as_secs());
    let threads = call.work.meter.threads().len();
    Ok(vec![
        ("appendonly", "no".to_string()),
        ("databases", "1".to_string()),
        ("io-threads", threads.to_string()),
        ("maxclients", setup.max_connections.to_string()),
        ("maxmemory", capacity.unwrap_or(0).to_string()),
        ("maxmemory-policy", policy(capacity.is_some()).to_string()),
        ("notify-keyspace-events", String::new()),
        ("proto-max-bulk-len", shared.rules.value_bytes.to_string()),
        ("save", String::new()),
        ("tcp-backlog", setup.backlog.to_string()),
        ("timeout", timeout_s.to_string()),
    ])
}

/// Returns the policy of Redis that is nearest to what a table does: a cache keeps keys that are
/// read, and knows one queue more than that.
pub(super) fn policy(is_cache: bool) -> &'static str {
    match is_cache {
        true => "allkeys-lru",
        false => "noeviction",
    }
}
