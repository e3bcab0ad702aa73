//! How a client is made.

mod login;

use crate::client::Client;
use crate::conn::SocketOptions;
#[cfg(feature = "tls")]
use crate::conn::Tls;
use crate::error::BuildError;
#[cfg(feature = "table")]
use crate::near::{Near, NearOption};
use crate::ring::{Placement, Ring};
use crate::server::{Server, ServerError};
pub(crate) use login::Login;
use std::time::Duration;

/// The protocol that servers are spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The meta commands if the server has them, else the classic text protocol. Each connection
    /// finds out.
    #[default]
    Auto,
    /// The meta commands, of memcached 1.6 and Tavola.
    Meta,
    /// The classic text protocol, as old servers and proxies have it.
    Text,
    /// The binary protocol, which SASL needs.
    Binary,
}

/// What happens to requests whose server is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDown {
    /// They fail at once as unsent. No key is ever on two servers.
    #[default]
    Fail,
    /// The ring is made without the server, so its keys go to others. Other clients have to do so
    /// too, and a server that comes back has old values of its keys.
    Eject,
    /// Gets go to the next server of the list that is up; the rest fails.
    Next,
}

/// No timeout is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Makes a [`Client`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use tavola_client::{Client, Placement};
///
/// let client = Client::builder()
///     .server("10.0.0.1:11211", 2.0)
///     .server("unix:/run/memcached.sock", 1.0)
///     .placement(Placement::Ketama)
///     .namespace("app:")
///     .io_timeout(Duration::from_millis(500))
///     .build()?;
/// assert_eq!(client.servers().len(), 2);
/// # Ok::<(), tavola_client::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    servers: Vec<Server>,
    wrong_server: Option<ServerError>,
    placement: Placement,
    settings: Settings,
    #[cfg(feature = "table")]
    near: Option<NearOption>,
}

/// All options except the servers' ring.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) namespace: Vec<u8>,
    pub(crate) hash_namespace: bool,
    pub(crate) hash_tag: Option<[u8; 2]>,
    pub(crate) connect_timeout: Duration,
    pub(crate) io_timeout: Duration,
    pub(crate) max_failures: u32,
    pub(crate) failure_timeout: Duration,
    pub(crate) retry: Duration,
    pub(crate) on_down: OnDown,
    pub(crate) protocol: Protocol,
    pub(crate) login: Option<Login>,
    pub(crate) replicas: usize,
    pub(crate) is_read_any: bool,
    pub(crate) has_multi_key_gets: bool,
    pub(crate) most_connections: usize,
    pub(crate) max_value: usize,
    pub(crate) socket: SocketOptions,
    #[cfg(feature = "table")]
    pub(crate) near: Option<Near>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Tls>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            wrong_server: None,
            placement: Placement::Ketama,
            settings: Settings {
                namespace: Vec::new(),
                hash_namespace: false,
                hash_tag: None,
                connect_timeout: Duration::from_millis(250),
                io_timeout: Duration::from_secs(1),
                max_failures: 2,
                failure_timeout: Duration::from_secs(1),
                retry: Duration::from_secs(2),
                on_down: OnDown::Fail,
                protocol: Protocol::Auto,
                login: None,
                replicas: 0,
                is_read_any: false,
                has_multi_key_gets: false,
                most_connections: 64,
                max_value: 128 << 20,
                socket: SocketOptions::default(),
                #[cfg(feature = "table")]
                near: None,
                #[cfg(feature = "tls")]
                tls: None,
            },
            #[cfg(feature = "table")]
            near: None,
        }
    }
}

impl Builder {
    /// Adds a server, `HOST:PORT`, `[IPV6]:PORT`, `unix:/PATH` or `/PATH`, and its share of the
    /// keys: 1 if all are equal. [`Builder::build`] says if the text names no server.
    #[must_use]
    pub fn server(mut self, text: &str, weight: f64) -> Self {
        match text.parse::<Server>() {
            Ok(server) => self.servers.push(server.with_weight(weight)),
            Err(error) => self.wrong_server = self.wrong_server.or(Some(error)),
        }
        self
    }

    /// Adds servers. Their order is part of the ring.
    #[must_use]
    pub fn servers(mut self, servers: impl IntoIterator<Item = Server>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Chooses how keys are placed on servers: [`Placement::Ketama`] unless given. All clients of
    /// a fleet have to agree.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Puts these bytes before every key.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Vec<u8>>) -> Self {
        self.settings.namespace = namespace.into();
        self
    }

    /// Chooses whether the namespace has a part in the placement of keys: not unless given, as in
    /// libmemcached. It has in Cache::Memcached::Fast with `hash_namespace`.
    #[must_use]
    pub fn hash_namespace(mut self, is_hashed: bool) -> Self {
        self.settings.hash_namespace = is_hashed;
        self
    }

    /// Places keys by what is between two characters alone, such as `{` and `}`, if both are there
    /// with something between them. Such keys are on one server.
    #[must_use]
    pub fn hash_tag(mut self, start: u8, end: u8) -> Self {
        self.settings.hash_tag = Some([start, end]);
        self
    }

    /// Bounds the time that a connection may take to be made: 250 ms unless given.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = timeout;
        self
    }

    /// Bounds the time of a batch with all its servers, or of a call: 1 s unless given. To look up
    /// a name for a new connection takes as long as the system's resolver waits, perhaps longer.
    #[must_use]
    pub fn io_timeout(mut self, timeout: Duration) -> Self {
        self.settings.io_timeout = timeout;
        self
    }

    /// Chooses how many failures in a row make a server count as down: 2 unless given. One that
    /// refuses a connection is down at once.
    #[must_use]
    pub fn max_failures(mut self, count: u32) -> Self {
        self.settings.max_failures = count;
        self
    }

    /// Chooses how long a failure is remembered: 1 s unless given.
    #[must_use]
    pub fn failure_timeout(mut self, time: Duration) -> Self {
        self.settings.failure_timeout = time;
        self
    }

    /// Bounds the pause before a server that is down and silent, or does not accept this client, is
    /// asked again: 2 s unless given. One that refuses or ends connections is asked each 100 ms.
    #[must_use]
    pub fn retry(mut self, time: Duration) -> Self {
        self.settings.retry = time;
        self
    }

    /// Chooses what happens to requests whose server is down: [`OnDown::Fail`] unless given.
    #[must_use]
    pub fn on_down(mut self, on_down: OnDown) -> Self {
        self.settings.on_down = on_down;
        self
    }

    /// Keeps so many further copies of each key, on the servers that follow the key's own in the
    /// list, as `NUMBER_OF_REPLICAS` of libmemcached does. 0 unless given.
    ///
    /// - A get asks the key's server, and the next copy if the key is missing there or the server
    ///   fails. It is a miss only if all copies miss it. What is found on a later copy is added to
    ///   those that missed it, with its flags and the time it has left; this needs servers with
    ///   the meta commands.
    /// - A set, a delete and a touch go to all copies. A delete goes to them a second time, because
    ///   a get may repair a copy meanwhile.
    /// - Any other write is decided by the key's server alone. The value of an add or a replace is
    ///   then stored on the other copies. After cas, append, prepend and counters the other copies
    ///   are removed, because only the key's server has the new value.
    /// - A get of a unique number asks the key's server alone, as the number is that server's.
    ///
    /// A write that some copies carried out and others did not is [`Outcome::Unknown`]: a later
    /// get may find the older value. [`Outcome::Unsent`] is reported only if no copy was changed.
    /// All writes wait for their answer, also with [`Reply::None`](crate::Reply::None). Each step
    /// may take the `io_timeout`.
    ///
    /// [`Outcome::Unknown`]: crate::Outcome::Unknown
    /// [`Outcome::Unsent`]: crate::Outcome::Unsent
    #[must_use]
    pub fn replicas(mut self, further: usize) -> Self {
        self.settings.replicas = further;
        self
    }

    /// Chooses whether a get asks the copies of a key in random order, as
    /// `RANDOMIZE_REPLICA_READ` of libmemcached does. Not unless given: the key's server is first.
    #[must_use]
    pub fn read_any(mut self, is_any: bool) -> Self {
        self.settings.is_read_any = is_any;
        self
    }

    /// Chooses whether a batch asks a server for several keys by one line, `get KEY KEY...`, and
    /// not by a meta command for each. Not unless given. A server answers it in about half the
    /// time. Its answers have the key, which is compared, but no number of the request: a server
    /// that repeats an old answer, out of turn, could pass off an older value of the same key.
    #[must_use]
    pub fn multi_key_gets(mut self, is_wanted: bool) -> Self {
        self.settings.has_multi_key_gets = is_wanted;
        self
    }

    /// Chooses the protocol: [`Protocol::Auto`] unless given.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// Gives user and password by SASL's PLAIN, and speaks the binary protocol, which it needs.
    #[must_use]
    pub fn sasl(mut self, user: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        let (user, password) = (user.into(), password.into());
        self.settings.login = Some(Login::Sasl { user, password });
        self.settings.protocol = Protocol::Binary;
        self
    }

    /// Gives user and password as servers with the option `-Y` ask for it.
    #[must_use]
    pub fn text_auth(mut self, user: impl Into<Vec<u8>>, password: impl Into<Vec<u8>>) -> Self {
        let (user, password) = (user.into(), password.into());
        self.settings.login = Some(Login::Text { user, password });
        self
    }

    /// Connects to all TCP servers and Unix sockets by TLS.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.settings.tls = Some(tls);
        self
    }

    /// Bounds the connections to each server: 64 unless given. A call that needs one more waits
    /// for one until its time is over.
    #[must_use]
    pub fn pool(mut self, most: usize) -> Self {
        self.settings.most_connections = most;
        self
    }

    /// Bounds the size of a value that a server may announce: 128 MiB unless given.
    #[must_use]
    pub fn max_value(mut self, bytes: usize) -> Self {
        self.settings.max_value = bytes;
        self
    }

    /// Chooses the sizes of sockets' buffers, and when an idle connection is probed: the system's
    /// own unless given.
    #[must_use]
    pub fn socket_options(mut self, options: SocketOptions) -> Self {
        self.settings.socket = options;
        self
    }

    /// Puts a table of this machine in front of the fleet, which all processes share that name it:
    /// gets find values there for `ttl` after they were fetched. It is made as a cache of 64 MiB
    /// if it is missing. Give each fleet, and each way to write its servers, a table of its own.
    ///
    /// What a get may return is at most so old as `ttl` and the time of the get that fetched it.
    /// After a write has returned, no process that uses the table gets an older value from it;
    /// writes by other machines, and the expiry of keys, are seen when `ttl` is over. If many ask
    /// for a key that is not in the table, one of them asks the server, the others wait for it.
    ///
    /// Gets of unique numbers or of times left, and batches that also write, ask the servers. All
    /// writes wait for their answer, with [`Reply::None`](crate::Reply::None) as well. A process
    /// that is killed during a write may leave the older value in the table, for `ttl` at most.
    #[cfg(feature = "table")]
    #[must_use]
    pub fn near(mut self, name: &str, ttl: Duration) -> Self {
        self.near = Some(NearOption {
            name: name.to_string(),
            ttl,
        });
        self
    }

    /// Makes the client. Nothing is connected yet.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(self) -> Result<Client, BuildError> {
        if let Some(error) = self.wrong_server {
            return Err(error.into());
        }
        let ring = Ring::new(&nodes(&self.servers), self.placement)?;
        self.settings.check(self.servers.len())?;
        let settings = self.settings;
        #[cfg(feature = "table")]
        let settings = match &self.near {
            None => settings,
            Some(near) => Settings {
                near: Some(near.open(&settings)?),
                ..settings
            },
        };
        Ok(Client::new(self.servers, ring, self.placement, settings))
    }
}

impl Settings {
    fn check(&self, servers: usize) -> Result<(), BuildError> {
        let wrong = |name, why| Err(BuildError::Option { name, why });
        if self.namespace.len() >= tavola_proto::KEY_BYTES {
            return wrong(
                "namespace",
                "no key fits behind it; give less than 250 bytes",
            );
        }
        if self.io_timeout.is_zero() {
            return wrong("io_timeout", "no request can be answered in no time");
        }
        if self.connect_timeout.is_zero() {
            return wrong("connect_timeout", "no connection can be made in no time");
        }
        for (name, time) in [
            ("io_timeout", self.io_timeout),
            ("connect_timeout", self.connect_timeout),
            ("failure_timeout", self.failure_timeout),
            ("retry", self.retry),
        ] {
            if time > LONGEST {
                return wrong(name, "it is longer than a day; give a shorter time");
            }
        }
        if self.max_failures == 0 {
            return wrong("max_failures", "give 1 if the first failure counts");
        }
        if self.most_connections == 0 {
            return wrong("pool", "a client needs at least 1 connection");
        }
        if self.replicas >= servers {
            return wrong(
                "replicas",
                "there are not so many other servers; give at most one less than there are servers",
            );
        }
        if self.replicas > 0 && self.on_down != OnDown::Fail {
            return wrong(
                "on_down",
                "with replicas, gets use the other copies anyway; leave on_down out",
            );
        }
        match (&self.login, self.protocol) {
            (Some(Login::Text { .. }), Protocol::Binary) => wrong(
                "text_auth",
                "the binary protocol has none; give sasl instead",
            ),
            (Some(Login::Sasl { .. }), Protocol::Auto | Protocol::Meta | Protocol::Text) => wrong(
                "protocol",
                "sasl needs the binary protocol; leave protocol out",
            ),
            _ => Ok(()),
        }
    }
}

/// The servers as their ring sees them.
pub(crate) fn nodes(servers: &[Server]) -> Vec<crate::ring::Node> {
    servers.iter().map(Server::node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_cannot_work_are_refused_by_name() {
        let none = Duration::ZERO;
        let one = || Client::builder().server("a", 1.0);
        let cases = [
            ("namespace", one().namespace(vec![b'a'; 250])),
            ("io_timeout", one().io_timeout(none)),
            ("connect_timeout", one().connect_timeout(none)),
            ("io_timeout", one().io_timeout(Duration::MAX)),
            ("connect_timeout", one().connect_timeout(Duration::MAX)),
            ("failure_timeout", one().failure_timeout(Duration::MAX)),
            ("retry", one().retry(Duration::MAX)),
            ("max_failures", one().max_failures(0)),
            ("pool", one().pool(0)),
            ("replicas", one().replicas(1)),
            ("replicas", one().server("b", 1.0).replicas(2)),
            (
                "on_down",
                { one().server("b", 1.0) }
                    .replicas(1)
                    .on_down(OnDown::Eject),
            ),
            (
                "text_auth",
                one().text_auth("u", "p").protocol(Protocol::Binary),
            ),
            ("protocol", one().sasl("u", "p").protocol(Protocol::Meta)),
        ];
        for (option, builder) in cases {
            let error = builder.build().expect_err(option);
            assert!(matches!(error, BuildError::Option { name, .. } if name == option));
        }
        let wrong = Client::builder().server("a:0", 1.0).build();
        assert!(matches!(wrong, Err(BuildError::Server(_))));
        let no_server = Client::builder().build();
        assert!(matches!(no_server, Err(BuildError::Ring(_))));
        let heavy = Client::builder().server("a", -1.0).build();
        assert!(matches!(heavy, Err(BuildError::Ring(_))));
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = format!("{:?}", Client::builder().sasl("user", "AAAA"));
        assert!(
            !shown.contains("AAAA") && !shown.contains("65, 65"),
            "{shown}"
        );
    }
}
