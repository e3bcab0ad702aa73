//! Behaviours, by their numbers, and what they mean for a client.

use super::codes;
use super::fault::Fault;
use std::time::Duration;
use tavola_client_core::{Builder, Hash, OnDown, Placement, Protocol, SocketOptions};

macro_rules! behaviors {
    ($($name:ident = $number:literal,)*) => {
        $(
            #[allow(dead_code, reason = "the list is that of the header")]
            pub(super) const $name: usize = $number;
        )*

        /// The names of behaviours, as the header has them.
        pub(super) const NAMES: &[&std::ffi::CStr] = &[$(
            match std::ffi::CStr::from_bytes_with_nul(
                concat!("MEMCACHED_BEHAVIOR_", stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => panic!("a name without NUL bytes"),
            },
        )*];
    };
}

behaviors! {
    NO_BLOCK = 0,
    TCP_NODELAY = 1,
    HASH = 2,
    KETAMA = 3,
    SOCKET_SEND_SIZE = 4,
    SOCKET_RECV_SIZE = 5,
    CACHE_LOOKUPS = 6,
    SUPPORT_CAS = 7,
    POLL_TIMEOUT = 8,
    DISTRIBUTION = 9,
    BUFFER_REQUESTS = 10,
    USER_DATA = 11,
    SORT_HOSTS = 12,
    VERIFY_KEY = 13,
    CONNECT_TIMEOUT = 14,
    RETRY_TIMEOUT = 15,
    KETAMA_WEIGHTED = 16,
    KETAMA_HASH = 17,
    BINARY_PROTOCOL = 18,
    SND_TIMEOUT = 19,
    RCV_TIMEOUT = 20,
    SERVER_FAILURE_LIMIT = 21,
    IO_MSG_WATERMARK = 22,
    IO_BYTES_WATERMARK = 23,
    IO_KEY_PREFETCH = 24,
    HASH_WITH_PREFIX_KEY = 25,
    NOREPLY = 26,
    USE_UDP = 27,
    AUTO_EJECT_HOSTS = 28,
    NUMBER_OF_REPLICAS = 29,
    RANDOMIZE_REPLICA_READ = 30,
    CORK = 31,
    TCP_KEEPALIVE = 32,
    TCP_KEEPIDLE = 33,
    LOAD_FROM_FILE = 34,
    REMOVE_FAILED_SERVERS = 35,
    DEAD_TIMEOUT = 36,
    SERVER_TIMEOUT_LIMIT = 37,
}

/// How many behaviours there are.
const COUNT: usize = 38;
/// Those that are off or on.
const FLAGS: [usize; 18] = [
    NO_BLOCK,
    TCP_NODELAY,
    KETAMA,
    SUPPORT_CAS,
    BUFFER_REQUESTS,
    SORT_HOSTS,
    VERIFY_KEY,
    KETAMA_WEIGHTED,
    BINARY_PROTOCOL,
    HASH_WITH_PREFIX_KEY,
    NOREPLY,
    USE_UDP,
    AUTO_EJECT_HOSTS,
    RANDOMIZE_REPLICA_READ,
    TCP_KEEPALIVE,
    REMOVE_FAILED_SERVERS,
    CACHE_LOOKUPS,
    CORK,
];

pub(super) const MODULA: u64 = 0;
pub(super) const CONSISTENT: u64 = 1;
pub(super) const CONSISTENT_KETAMA: u64 = 2;
pub(super) const RANDOM: u64 = 3;
pub(super) const CONSISTENT_KETAMA_SPY: u64 = 4;
pub(super) const CONSISTENT_WEIGHTED: u64 = 5;
pub(super) const VIRTUAL_BUCKET: u64 = 6;
const DEFAULT_HASH: u64 = 0;
const MD5: u64 = 1;

/// Virtual buckets: the server of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    pub(super) servers: Vec<u32>,
}

/// All that makes a client except its servers.
#[derive(Clone)]
pub(super) struct Settings {
    values: [u64; COUNT],
    pub(super) namespace: Vec<u8>,
    pub(super) login: Option<[Vec<u8>; 2]>,
    pub(super) buckets: Option<Buckets>,
}

impl Default for Settings {
    fn default() -> Self {
        let mut values = [0; COUNT];
        for (behavior, value) in [
            (CACHE_LOOKUPS, 1),
            (POLL_TIMEOUT, 5000),
            (CONNECT_TIMEOUT, 4000),
            (RETRY_TIMEOUT, 2),
            (SERVER_FAILURE_LIMIT, 5),
            (IO_MSG_WATERMARK, 500),
            (IO_BYTES_WATERMARK, 65 * 1024),
            (CORK, 1),
        ] {
            values[behavior] = value;
        }
        Self {
            values,
            namespace: Vec::new(),
            login: None,
            buckets: None,
        }
    }
}

impl Settings {
    pub(super) fn is_on(&self, behavior: usize) -> bool {
        self.values[behavior] != 0
    }

    pub(super) fn value(&self, behavior: usize) -> Option<u64> {
        self.values.get(behavior).copied()
    }

    /// Sets a behaviour.
    pub(super) fn set(&mut self, behavior: usize, value: u64) -> Result<(), Fault> {
        let refused = |why: &str| Err(Fault::new(codes::NOT_SUPPORTED, why));
        match behavior {
            COUNT.. => return Err(Fault::arguments("there is no such behaviour")),
            USER_DATA => {
                let why = "this behaviour is deprecated and has no effect; leave it out";
                return Err(Fault::new(codes::DEPRECATED, why));
            }
            LOAD_FROM_FILE => {
                let why = "give the file by the option --CONFIGURE-FILE of memcached()";
                return Err(Fault::arguments(why));
            }
            USE_UDP if value != 0 => return refused("there is no UDP; use TCP or a Unix socket"),
            SERVER_FAILURE_LIMIT if value == 0 => {
                return Err(Fault::arguments("SERVER_FAILURE_LIMIT is 1 or more"));
            }
            HASH | KETAMA_HASH => drop(hash(value)?),
            DISTRIBUTION => return self.set_distribution(value),
            KETAMA | KETAMA_WEIGHTED => {
                let distribution = match (behavior, value) {
                    (KETAMA, 0) => MODULA,
                    (KETAMA, _) | (_, 0) => CONSISTENT_KETAMA,
                    _ => CONSISTENT_WEIGHTED,
                };
                // As there, and not as its documentation says, KETAMA leaves the hash of keys.
                if behavior == KETAMA_WEIGHTED && value != 0 {
                    (self.values[HASH], self.values[KETAMA_HASH]) = (MD5, MD5);
                }
                return self.set_distribution(distribution);
            }
            _ => {}
        }
        self.values[behavior] = match FLAGS.contains(&behavior) {
            true => u64::from(value != 0),
            false => value,
        };
        Ok(())
    }

    fn set_distribution(&mut self, value: u64) -> Result<(), Fault> {
        if value > VIRTUAL_BUCKET {
            return Err(Fault::arguments("there is no such distribution"));
        }
        self.values[DISTRIBUTION] = value;
        let is_weighted = value == CONSISTENT_WEIGHTED;
        let is_ketama = is_weighted || value == CONSISTENT_KETAMA;
        self.values[KETAMA] = is_ketama.into();
        self.values[KETAMA_WEIGHTED] = is_weighted.into();
        Ok(())
    }

    /// Sets the hash of the points of a ring.
    pub(super) fn set_points_hash(&mut self, value: u64) -> Result<(), Fault> {
        self.set(KETAMA_HASH, value)
    }

    /// The hash of keys.
    pub(super) fn key_hash(&self) -> Result<Hash, Fault> {
        hash(self.values[HASH])
    }

    /// How keys are placed, and by how much the weights of servers are multiplied before.
    ///
    /// The points of a weighted ring depend on the shares alone, and a weight of more than 1 makes
    /// a ring weighted: so twice the weights choose a weighted ring with any hash of keys.
    pub(super) fn placement(&self) -> Result<(Placement, f64), Fault> {
        let hash = self.key_hash()?;
        Ok(match self.values[DISTRIBUTION] {
            CONSISTENT_WEIGHTED => match hash {
                Hash::Md5 => (Placement::Ketama, 1.0),
                hash => (Placement::Consistent(hash), 2.0),
            },
            CONSISTENT | CONSISTENT_KETAMA => {
                let points = self.values[KETAMA_HASH];
                if points != self.values[HASH] && points != DEFAULT_HASH {
                    let why = "KETAMA_HASH is another hash than HASH; give both the same";
                    return Err(Fault::new(codes::NOT_SUPPORTED, why));
                }
                (Placement::Consistent(hash), 1.0)
            }
            CONSISTENT_KETAMA_SPY => (Placement::KetamaSpy, 1.0),
            _ => (Placement::Modula(hash), 1.0),
        })
    }

    /// Gives a builder of so many servers all except the servers and their placement.
    pub(super) fn apply(&self, builder: Builder, servers: usize) -> Builder {
        let ms = |behavior: usize| match self.values[behavior] as i32 {
            // A negative time is no bound.
            ..0 => Duration::from_secs(24 * 60 * 60),
            0 => Duration::from_millis(1),
            ms => Duration::from_millis(ms as u64).min(Duration::from_secs(24 * 60 * 60)),
        };
        let mut io = ms(POLL_TIMEOUT);
        for behavior in [SND_TIMEOUT, RCV_TIMEOUT] {
            if self.is_on(behavior) {
                io = io.min(Duration::from_micros(self.values[behavior].max(1000)));
            }
        }
        let replicas = usize::try_from(self.values[NUMBER_OF_REPLICAS]).unwrap_or(usize::MAX);
        let builder = builder
            .namespace(self.namespace.clone())
            .hash_namespace(self.is_on(HASH_WITH_PREFIX_KEY))
            .connect_timeout(ms(CONNECT_TIMEOUT))
            .io_timeout(io)
            .max_failures(self.failures())
            .retry(self.retry())
            .socket_options(self.socket_options())
            .replicas(replicas.min(servers - 1))
            .read_any(self.is_on(RANDOMIZE_REPLICA_READ))
            // As libmemcached asks.
            .multi_key_gets(true)
            .on_down(match self.is_ejected() {
                true => OnDown::Eject,
                false => OnDown::Fail,
            });
        match &self.login {
            Some([user, password]) => builder.sasl(user.clone(), password.clone()),
            None if self.is_on(BINARY_PROTOCOL) => builder.protocol(Protocol::Binary),
            None => builder,
        }
    }

    fn is_ejected(&self) -> bool {
        self.is_on(AUTO_EJECT_HOSTS) || self.is_on(REMOVE_FAILED_SERVERS)
    }

    /// The failures until a server is down. The client counts time-outs as failures, so the smaller
    /// limit is that of both.
    fn failures(&self) -> u32 {
        let limits = [SERVER_FAILURE_LIMIT, SERVER_TIMEOUT_LIMIT].map(|limit| self.values[limit]);
        let least = limits.into_iter().filter(|limit| *limit != 0).min();
        u32::try_from(least.unwrap_or(1)).unwrap_or(u32::MAX)
    }

    /// The longest pause before a server that is down is asked again.
    fn retry(&self) -> Duration {
        let behavior = match self.is_ejected() && self.is_on(DEAD_TIMEOUT) {
            true => DEAD_TIMEOUT,
            false => RETRY_TIMEOUT,
        };
        Duration::from_secs(self.values[behavior].clamp(1, 24 * 60 * 60))
    }

    fn socket_options(&self) -> SocketOptions {
        let given = |behavior: usize| Some(self.values[behavior]).filter(|value| *value != 0);
        let bytes = |behavior: usize| {
            let most = given(behavior)?.min(i32::MAX as u64);
            usize::try_from(most).ok()
        };
        let mut options = SocketOptions::default();
        options.send_buffer_bytes = bytes(SOCKET_SEND_SIZE);
        options.receive_buffer_bytes = bytes(SOCKET_RECV_SIZE);
        options.keepalive = given(TCP_KEEPIDLE).map(Duration::from_secs);
        options
    }

    /// Whether the binary protocol is spoken, whose codes differ a little.
    pub(super) fn is_binary(&self) -> bool {
        self.is_on(BINARY_PROTOCOL) || self.login.is_some()
    }
}

/// The hash of a number.
pub(super) fn hash(number: u64) -> Result<Hash, Fault> {
    Ok(match number {
        DEFAULT_HASH => Hash::OneAtATime,
        MD5 => Hash::Md5,
        2 => Hash::Crc,
        3 => Hash::Fnv1Of64,
        4 => Hash::Fnv1aOf64,
        5 => Hash::Fnv1Of32,
        6 => Hash::Fnv1aOf32,
        8 => Hash::Murmur,
        9 => Hash::Jenkins,
        10 => Hash::Murmur3,
        7 | 11 => {
            let why = "this hash is not available; choose one of the other ones";
            return Err(Fault::new(codes::NOT_SUPPORTED, why));
        }
        _ => return Err(Fault::arguments("there is no such hash")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(settings: &mut Settings, behaviors: &[(usize, u64)]) {
        for (behavior, value) in behaviors {
            settings.set(*behavior, *value).unwrap();
        }
    }

    #[test]
    fn the_smaller_limit_makes_a_server_down() {
        let mut settings = Settings::default();
        assert_eq!(settings.failures(), 5);
        set(&mut settings, &[(SERVER_TIMEOUT_LIMIT, 2)]);
        assert_eq!(settings.failures(), 2);
        set(&mut settings, &[(SERVER_FAILURE_LIMIT, 1)]);
        assert_eq!(settings.failures(), 1);
    }

    #[test]
    fn a_server_that_was_ejected_has_a_pause_of_its_own() {
        let mut settings = Settings::default();
        set(&mut settings, &[(RETRY_TIMEOUT, 3), (DEAD_TIMEOUT, 40)]);
        assert_eq!(settings.retry(), Duration::from_secs(3));
        set(&mut settings, &[(REMOVE_FAILED_SERVERS, 1)]);
        assert_eq!(settings.retry(), Duration::from_secs(40));
        set(&mut settings, &[(DEAD_TIMEOUT, 0)]);
        assert_eq!(settings.retry(), Duration::from_secs(3));
    }
}
