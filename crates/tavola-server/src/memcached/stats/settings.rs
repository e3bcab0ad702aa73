//! `stats settings`.

use std::fmt::Display;
use std::sync::atomic::Ordering::Relaxed;

use tavola::Result;
use tavola_proto::Protocol;

use super::{Tell, limit};
use crate::memcached::watch::WAITING_BYTES;
use crate::memcached::work::Work;
use crate::net::{Address, TLS_OUTPUT_BYTES};

/// How the server and the table are set up. What is set at memcached alone is told as off, as 0,
/// or as a list of which nothing is there.
pub(in crate::memcached) fn settings(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    listening(work, tell)?;
    serving(work, tell)?;
    keeping(work, tell);
    tls(work, tell);
    tell("num_napi_ids", &0);
    tell("memory_file", &work.table().path().display());
    tell("client_flags_size", &size_of::<u32>());
    Ok(())
}

fn listening(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    let setup = work.meter.setup();
    let tcp = setup.addresses.iter().find_map(|address| match address {
        Address::Tcp(address) => Some(address),
        Address::Unix(_) => None,
    });
    let unix = setup.addresses.iter().find_map(|address| match address {
        Address::Unix(path) => Some(path.display().to_string()),
        Address::Tcp(_) => None,
    });
    tell("maxbytes", &limit(&stats));
    tell("maxconns", &setup.max_connections);
    tell("tcpport", &tcp.map_or(0, |address| address.port()));
    tell("udpport", &0);
    match tcp.map(|address| address.ip()) {
        Some(ip) if !ip.is_unspecified() => tell("inter", &ip),
        _ => tell("inter", &"NULL"),
    }
    tell("verbosity", &work.shared.verbosity.load(Relaxed));
    tell("oldest", &0);
    tell("evictions", &on(stats.capacity.is_some()));
    tell("domain_socket", &unix.as_deref().unwrap_or("NULL"));
    let mode = setup.socket_mode.unwrap_or(0o700);
    tell("umask", &format_args!("{mode:o}"));
    tell(
        "shutdown_command",
        &yes(work.shared.rules.shutdown.is_some()),
    );
    // Blocks become an eighth larger from class to class.
    tell("growth_factor", &"1.12");
    tell("chunk_size", &8);
    Ok(())
}

fn serving(work: &Work, tell: &mut Tell<'_>) -> Result<()> {
    let setup = work.meter.setup();
    tell("num_threads", &work.shared.tallies.threads());
    tell("num_threads_per_udp", &0);
    tell("stat_key_prefix", &work.shared.prefixes.delimiter());
    tell("detail_enabled", &yes(work.shared.prefixes.is_on()));
    tell("reqs_per_event", &work.shared.rules.requests);
    // Without versions the unique number is a hash of the value.
    tell("cas_enabled", &yes(work.table().stats()?.has_versions));
    tell("tcp_backlog", &setup.backlog);
    let protocol = work.shared.rules.protocol;
    let spoken = match protocol {
        None => "auto-negotiate",
        Some(Protocol::Text) => "ascii",
        Some(Protocol::Binary) => "binary",
    };
    tell("binding_protocol", &spoken);
    let asks = work.shared.rules.users.is_some();
    tell(
        "auth_enabled_sasl",
        &yes(asks && protocol != Some(Protocol::Text)),
    );
    tell(
        "auth_enabled_ascii",
        &yes(asks && protocol != Some(Protocol::Binary)),
    );
    tell("item_size_max", &work.shared.rules.value_bytes);
    tell("maxconns_fast", &yes(setup.refuses));
    tell("hashpower_init", &0);
    Ok(())
}

/// What memcached does to its memory, and what it is told of.
fn keeping(work: &Work, tell: &mut Tell<'_>) {
    let crawler = &work.shared.crawler;
    let idle_s = work
        .meter
        .setup()
        .idle_timeout
        .map_or(0, |time| time.as_secs());
    let figures: [(&str, &dyn Display); 26] = [
        ("slab_reassign", &"no"),
        ("slab_automove", &0),
        ("slab_automove_ratio", &"0.00"),
        ("slab_automove_window", &0),
        ("slab_chunk_max", &16_352),
        ("lru_crawler", &yes(crawler.is_on())),
        ("lru_crawler_sleep", &crawler.sleep_us.load(Relaxed)),
        ("lru_crawler_tocrawl", &crawler.to_crawl.load(Relaxed)),
        ("tail_repair_time", &0),
        ("flush_enabled", &yes(work.shared.rules.flush)),
        ("dump_enabled", &yes(work.shared.rules.dumps)),
        ("hash_algorithm", &"rapidhash"),
        ("lru_maintainer_thread", &"no"),
        ("lru_segmented", &"no"),
        ("hot_lru_pct", &0),
        ("warm_lru_pct", &0),
        ("hot_max_factor", &"0.00"),
        ("warm_max_factor", &"0.00"),
        ("temp_lru", &"no"),
        ("temporary_ttl", &0),
        ("idle_timeout", &idle_s),
        ("watcher_logbuf_size", &WAITING_BYTES),
        ("worker_logbuf_size", &0),
        ("read_buf_mem_limit", &0),
        ("track_sizes", &"no"),
        ("inline_ascii_response", &"no"),
    ];
    for (name, value) in figures {
        tell(name, value);
    }
}

fn tls(work: &Work, tell: &mut Tell<'_>) {
    let tls = work.meter.setup().tls();
    let files = tls.map(|tls| tls.files());
    let chain = files.map(|files| files.certificates.display());
    let key = files.map(|files| files.key.display());
    let clients = files.and_then(|files| files.clients.as_ref());
    // As OpenSSL numbers them: asked for is 1, without which nobody comes 2 more.
    let verifies = files.map_or(0, |files| match &files.clients {
        None => 0,
        Some(_) if files.is_optional => 1,
        Some(_) => 3,
    });
    let least = match files.is_some_and(|files| files.is_newest_only) {
        true => "tlsv1.3",
        false => "tlsv1.2",
    };
    tell("ssl_enabled", &yes(tls.is_some()));
    told_or(tell, "ssl_chain_cert", chain, "(null)");
    told_or(tell, "ssl_key", key, "(null)");
    tell("ssl_verify_mode", &verifies);
    // PEM.
    tell("ssl_keyformat", &1);
    tell("ssl_ciphers", &"NULL");
    told_or(
        tell,
        "ssl_ca_cert",
        clients.map(|path| path.display()),
        "NULL",
    );
    tell("ssl_wbuf_size", &TLS_OUTPUT_BYTES);
    tell("ssl_session_cache", &yes(tls.is_some()));
    tell("ssl_kernel_tls", &"no");
    tell("ssl_min_version", &least);
}

fn told_or(tell: &mut Tell<'_>, name: &str, value: Option<impl Display>, none: &str) {
    match value {
        Some(value) => tell(name, &value),
        None => tell(name, &none),
    }
}

fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
