//! What the classic commands ask for.

use super::tokens::Words;

/// A classic command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request<'a> {
    /// Values of keys.
    Get(Get<'a>),
    /// A value for a key.
    Store(Store<'a>),
    /// More or less in a value that is a number.
    Count(Count<'a>),
    /// A new expiry time for a key.
    Touch {
        /// The key.
        key: &'a [u8],
        /// As the client sent it, relative or absolute.
        exptime: i32,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// No value any more for a key.
    Delete {
        /// The key.
        key: &'a [u8],
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// All that is there now expires.
    FlushAll {
        /// When: as an expiry time; at once for zero and less.
        delay: i32,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// The server's version.
    Version,
    /// How much the server logs.
    Verbosity {
        /// More for larger ones.
        level: u32,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// Figures about the server.
    Stats(Stats<'a>),
    /// The end of the connection.
    Quit,
    /// The end of the server.
    Shutdown {
        /// How it is to end.
        mode: Shutdown,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// How much memory the items may take.
    CacheMemlimit {
        /// In mebibytes.
        mebibytes: u32,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// Certificates of TLS, to be read again. It is answered whether the client wants that or not.
    RefreshCerts,
    /// What the crawler is to do.
    LruCrawler {
        /// What it is.
        command: LruCrawler<'a>,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// Events as they happen, on this connection from now on.
    Watch(Watched),
    /// Settings of memcached's own memory.
    Tune(Tune<'a>),
    /// The name and password of the client, from a decoder that asks for them.
    Authenticate {
        /// Its name.
        name: &'a [u8],
        /// What it knows.
        password: &'a [u8],
    },
}

/// `get`, `gets`, `gat`, `gats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Get<'a> {
    /// The keys, at least one and none too long.
    pub keys: Words<'a>,
    /// Whether the client wants the items' unique numbers too.
    pub with_cas: bool,
    /// The new expiry time of what is found, as the client sent it.
    pub touch: Option<i32>,
}

impl<'a> Get<'a> {
    /// The key, if there is but one.
    pub fn only_key(&self) -> Option<&'a [u8]> {
        let mut keys = self.keys.clone();
        let first = keys.next()?;
        keys.next().is_none().then_some(first)
    }
}

/// `set` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store<'a> {
    /// Under which condition, and what becomes of the old value.
    pub verb: StoreVerb,
    /// The key.
    pub key: &'a [u8],
    /// What the client wants to find beside the value.
    pub flags: u32,
    /// As the client sent it, relative or absolute.
    pub exptime: i32,
    /// The value.
    pub data: &'a [u8],
    /// Whether the client wants no answer.
    pub noreply: bool,
}

/// What a request to store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreVerb {
    /// Stores in any case.
    Set,
    /// Stores where there is nothing.
    Add,
    /// Stores where there is something.
    Replace,
    /// Puts the data behind what is there.
    Append,
    /// Puts the data before what is there.
    Prepend,
    /// Stores where the item's unique number is this one.
    Cas(u64),
}

/// `incr` and `decr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count<'a> {
    /// The key.
    pub key: &'a [u8],
    /// By how much.
    pub delta: u64,
    /// Whether the number is to become smaller; not below 0.
    pub down: bool,
    /// Whether the client wants no answer.
    pub noreply: bool,
}

/// What `stats` is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stats<'a> {
    /// The figures of the server.
    General,
    /// To begin counting again.
    Reset,
    /// Figures by prefixes of keys.
    Detail(Detail),
    /// How the server is set up.
    Settings,
    /// Keys of a class of items.
    Cachedump {
        /// The class, below 64.
        class: u32,
        /// How many, all for 0.
        limit: u32,
    },
    /// The connections.
    Connections,
    /// Figures of the items by class.
    Items,
    /// Figures of the memory by class.
    Slabs,
    /// How many items there are by size.
    Sizes,
    /// A word that names no topic of memcached's, which answers `ERROR`.
    Other(&'a [u8]),
}

/// What `stats detail` is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Count by prefixes from now on.
    On,
    /// No longer.
    Off,
    /// Return the counts.
    Dump,
}

/// How the server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// As by SIGINT.
    Normal,
    /// As by SIGUSR1: requests that are under way are answered.
    Graceful,
    /// A way that there is not: refused, but only where the command is allowed at all.
    Unknown,
}

/// What the crawler is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LruCrawler<'a> {
    /// Look for expired items in these classes: numbers with commas, `all`.
    Crawl(&'a [u8]),
    /// Return facts about the items of these classes, a line each; `hash` for those of the index.
    Metadump(&'a [u8]),
    /// Return the keys of these classes, as `mg` commands.
    Mgdump(&'a [u8]),
    /// How many items to look at in a class; all for 0.
    Tocrawl(u32),
    /// How long to rest between items, in microseconds, one second at most.
    Sleep(u32),
    /// To work.
    Enable,
    /// To stop.
    Disable,
}

/// A kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// Commands as they came.
    Rawcmds,
    /// Items that made room for others.
    Evictions,
    /// Gets and what they found.
    Fetchers,
    /// Items stored.
    Mutations,
    /// What the server does for itself.
    Sysevents,
    /// Connections that come and go.
    Connevents,
    /// Requests through memcached's proxy.
    Proxyreqs,
    /// What its proxy does.
    Proxyevents,
    /// What the scripts of its proxy log.
    Proxyuser,
    /// Items deleted.
    Deletions,
}

/// The kinds of events that a connection receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched(u16);

impl Watched {
    /// These and events of one more kind.
    #[must_use]
    pub fn with(mut self, event: Event) -> Self {
        self.add(event);
        self
    }

    pub(super) fn add(&mut self, event: Event) {
        self.0 |= 1 << event as u8;
    }

    /// Whether events of this kind are among them.
    pub fn has(self, event: Event) -> bool {
        self.0 & 1 << event as u8 != 0
    }
}

/// `slabs` and `lru`, whose words the server reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tune<'a> {
    /// Which of them.
    pub command: Tuned,
    /// The words after the command.
    pub arguments: Words<'a>,
    /// Whether the client wants no answer.
    pub noreply: bool,
}

/// What is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tuned {
    /// `slabs`: the memory of classes.
    Slabs,
    /// `lru`: the order in which items go.
    Lru,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_is_the_only_one_and_two_are_not() {
        let only = |text| {
            let get = Get {
                keys: Words::new(text),
                with_cas: false,
                touch: None,
            };
            get.only_key()
        };
        assert_eq!(only(b"a"), Some(&b"a"[..]));
        assert_eq!(only(b"a  "), Some(&b"a"[..]));
        assert_eq!(only(b"a b"), None);
    }
}
