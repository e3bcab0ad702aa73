//! Memcached's extended options: `-o NAME,NAME=VALUE`.

use std::time::Duration;

use tavola_server::Io;

use super::super::parse_spin;
use super::super::plan::SPIN;
use super::secure::Secure;
use crate::error::CliError;

pub const HELP: &str = "\
Extended options:
  maxconns_fast         refuse connections above the limit with an error (default)
  no_maxconns_fast      let connections above the limit wait
  idle_timeout=SECONDS  close connections that are idle for this long
  io=CALLS              system calls that send short replies to several clients at the same
                        time: auto (default), epoll, uring; memcached has no such option
  spin=TIME             how long a thread polls for more work before it sleeps:
                        50us (default), up to 10ms, 0 is off; memcached has no such option
  ssl_chain_cert=FILE   certificate chain of the server, in PEM
  ssl_key=FILE          private key in PEM, if it is not in the certificate file
  ssl_ca_cert=FILE      CA certificates for client certificates, in PEM
  ssl_verify_mode=NUM   client certificates: 0 off (default), 1 optional, 2 or 3 required
  ssl_min_version=NUM   2: TLS 1.2 and 1.3 (default), 3: only TLS 1.3
  The other options of memcached 1.6 are accepted without effect, except these, which are
  refused: those of external storage and of the proxy, ssl_ciphers, and
  ssl_keyformat other than 1.

Examples:
  tavola-memcached -m 1024 -c 4096 -t 8
  tavola-memcached -s /run/user/1000/cache.sock -a 770
  tavola-memcached -l 0.0.0.0 -Z -o ssl_chain_cert=host.pem,ssl_key=host.key -Y users -d
  tavola memcached -m 1024 -c 4096 -t 8  the same program under its other name
  tavola get memcached-11211 KEY         the same table, without a socket

The table and its keys stay when the server ends. Unlike memcached, which listens on all
addresses, this server listens on 127.0.0.1 by default. Addresses that other machines can
reach need TLS (-Z) and either passwords (-Y, -S) or client certificates
(ssl_verify_mode=2), or --insecure.";

/// Those that mean something here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extended {
    pub refuses: bool,
    pub idle_timeout: Option<Duration>,
    pub io: Io,
    pub spin: Duration,
    pub secure: Secure,
}

/// What is accepted, with whether a value follows. `no_` before it takes the value away.
const IDLE: [(&str, bool); 48] = [
    ("chunked_items", false),
    ("drop_privileges", false),
    ("ext_compact_under", true),
    ("ext_drop_under", true),
    ("ext_drop_unread", false),
    ("ext_io_depth", true),
    ("ext_item_age", true),
    ("ext_item_size", true),
    ("ext_low_ttl", true),
    ("ext_max_frag", true),
    ("ext_max_sleep", true),
    ("ext_page_size", true),
    ("ext_recache_rate", true),
    ("ext_threads", true),
    ("ext_wbuf_size", true),
    ("hash_algorithm", true),
    ("hashexpand", false),
    ("hashpower", true),
    ("hot_lru_pct", true),
    ("hot_max_factor", true),
    ("inline_ascii_resp", false),
    ("inline_ascii_response", false),
    ("lru_crawler", false),
    ("lru_crawler_sleep", true),
    ("lru_crawler_tocrawl", true),
    ("lru_maintainer", false),
    ("meta_response_old", false),
    ("modern", false),
    ("num_napi_ids", true),
    ("read_buf_mem_limit", true),
    ("read_obj_mem_limit", true),
    ("relaxed_privileges", false),
    ("resp_obj_mem_limit", true),
    ("slab_automove", true),
    ("slab_automove_freeratio", true),
    ("slab_automove_ratio", true),
    ("slab_automove_window", true),
    ("slab_chunk_max", true),
    ("slab_reassign", false),
    ("slab_sizes", true),
    ("sock_cookie_id", true),
    ("tail_repair_time", true),
    ("temporary_ttl", true),
    ("track_sizes", false),
    ("warm_lru_pct", true),
    ("warm_max_factor", true),
    ("watcher_logbuf_size", true),
    ("worker_logbuf_size", true),
];

impl Extended {
    /// Reads the values of all `-o`.
    pub fn read(all: &[String]) -> Result<Extended, CliError> {
        let mut read = Extended {
            refuses: true,
            idle_timeout: None,
            io: Io::Auto,
            spin: SPIN,
            secure: Secure::default(),
        };
        let options = all.iter().flat_map(|one| one.split(','));
        for option in options.filter(|option| !option.is_empty()) {
            let (name, value) = match option.split_once('=') {
                None => (option, None),
                Some((name, value)) => (name, Some(value)),
            };
            read.take(name, value).map_err(CliError::Sentence)?;
        }
        Ok(read)
    }

    fn take(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let bare = name.strip_prefix("no_").unwrap_or(name);
        match name {
            "maxconns_fast" => self.refuses = true,
            "no_maxconns_fast" => self.refuses = false,
            "idle_timeout" => {
                let seconds = value.and_then(|value| value.parse().ok());
                let seconds = seconds.ok_or(
                    "-o idle_timeout needs a number of seconds: -o \
                    idle_timeout=90",
                )?;
                self.idle_timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
            }
            "io" => {
                self.io = match value {
                    Some("auto") => Io::Auto,
                    Some("epoll") => Io::Epoll,
                    Some("uring") => Io::Uring,
                    _ => return Err("-o io is one of auto, epoll, uring".into()),
                };
            }
            "spin" => {
                let time = value.ok_or("-o spin needs a time such as 50us")?;
                self.spin = parse_spin(time)?;
            }
            "ext_path" => {
                return Err("external storage is not supported: leave out \
            ext_path"
                    .into());
            }
            _ if name.starts_with("proxy_") => {
                return Err(format!("the proxy is not supported: leave out {name}"));
            }
            _ if name.starts_with("ssl_") => self.secure.take(name, value)?,
            // Its value may be left out.
            "slab_automove" => {}
            _ => match IDLE.iter().find(|(known, _)| *known == bare) {
                None => return Err(format!("-o {name} is not an option of memcached")),
                Some((_, true)) if bare == name && value.is_none() => {
                    return Err(format!("-o {name} needs a value"));
                }
                Some(_) => {}
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Extended, String> {
        Extended::read(&[text.to_string()]).map_err(|error| error.to_string())
    }

    #[test]
    fn options_of_memcached_are_known_and_no_others() {
        let usual = Extended {
            refuses: true,
            idle_timeout: None,
            io: Io::Auto,
            spin: SPIN,
            secure: Secure::default(),
        };
        for text in [
            "",
            "modern",
            "no_modern",
            "no_lru_crawler,hash_algorithm=xxh3,hashpower=20",
            "slab_automove,slab_automove=1,slab_automove_ratio=0.8",
            "idle_timeout=0",
        ] {
            assert_eq!(read(text), Ok(usual.clone()), "{text}");
        }
        for wrong in [
            "bogus",
            "no_bogus",
            "hashpower",
            "idle_timeout",
            "idle_timeout=soon",
            "io",
            "io=select",
            "spin",
            "spin=soon",
            "spin=1",
            "ext_path=/x:1G",
            "proxy_uring",
            "ssl_bogus=x",
            "modern,bogus",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn some_options_mean_something() {
        let all = read("no_maxconns_fast,idle_timeout=60,io=epoll,spin=20us").unwrap();
        assert!(!all.refuses);
        assert_eq!(all.idle_timeout, Some(Duration::from_secs(60)));
        assert_eq!(all.io, Io::Epoll);
        assert_eq!(all.spin, Duration::from_micros(20));
        assert_eq!(read("spin=0").unwrap().spin, Duration::ZERO);
        assert!(IDLE.is_sorted());
    }
}
