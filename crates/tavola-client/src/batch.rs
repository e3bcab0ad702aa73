//! Requests that are prepared one by one and executed at once, and what becomes of them.

use crate::cause::ServerFailure;

/// Whether a request is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// The outcome is that of the server.
    #[default]
    Wait,
    /// No answer is needed. If nothing else in the batch needs one, the request is held, and
    /// leaves with the next request of this thread to the same server, or when more than 64 KiB
    /// are held. Its outcome is [`Outcome::Queued`] then, whatever becomes of it; if the server is
    /// found to be down, what is held for it is dropped. A thread or a program that ends calls
    /// [`Client::flush`](crate::Client::flush) before; so does a client that is dropped. Where a
    /// protocol cannot do without an answer, it is waited for.
    None,
}

/// What a get is to return beside the value and its flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetOptions {
    /// The item's unique number, for [`Batch::cas`].
    pub with_cas: bool,
    /// The time that the item has left, which [`Sink::ttl`] gets. Only servers that speak the meta
    /// commands return it; others refuse the get.
    pub with_ttl: bool,
}

impl GetOptions {
    /// Asks for the item's unique number as well.
    pub fn with_cas() -> Self {
        Self {
            with_cas: true,
            ..Self::default()
        }
    }

    /// Asks for the time that the item has left as well.
    pub fn with_ttl() -> Self {
        Self {
            with_ttl: true,
            ..Self::default()
        }
    }
}

/// What is stored beside a value, and whether the store is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreOptions {
    /// Any number; a get returns it.
    pub flags: u32,
    /// When the item expires: in so many seconds, up to 30 days; above that, seconds since 1970.
    /// 0: never; below 0: at once.
    pub exptime: i32,
    /// Whether it is answered.
    pub reply: Reply,
}

impl StoreOptions {
    /// An item that expires in so many seconds, up to 30 days.
    pub fn ttl(seconds: i32) -> Self {
        Self {
            exptime: seconds,
            ..Self::default()
        }
    }

    /// The same without an answer.
    #[must_use]
    pub fn without_reply(self) -> Self {
        Self {
            reply: Reply::None,
            ..self
        }
    }
}

/// How a number is counted up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountOptions {
    /// By how much.
    pub delta: u64,
    /// What is stored if the key is missing; `None` leaves it missing.
    pub initial: Option<Initial>,
    /// Whether it is answered.
    pub reply: Reply,
}

impl CountOptions {
    /// Counts by so much, if the key is there.
    pub fn by(delta: u64) -> Self {
        Self {
            delta,
            initial: None,
            reply: Reply::Wait,
        }
    }

    /// Begins with this number if the key is missing.
    #[must_use]
    pub fn from(self, value: u64, exptime: i32) -> Self {
        Self {
            initial: Some(Initial { value, exptime }),
            ..self
        }
    }
}

/// The number that a missing counter begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The number.
    pub value: u64,
    /// When it expires, as [`StoreOptions::exptime`].
    pub exptime: i32,
}

/// What became of a request. Only what the server said is a miss: a failure never is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The key is there.
    Hit {
        /// What was stored beside the value.
        flags: u32,
        /// The item's unique number, if it was asked for.
        cas: Option<u64>,
    },
    /// The key is missing.
    Miss,
    /// The value is stored.
    Stored,
    /// The condition of add, replace, append or prepend does not hold.
    NotStored,
    /// The item's unique number is another.
    Exists,
    /// The key was there and is removed.
    Deleted,
    /// The key is there and has its new expiry time.
    Touched,
    /// The new number.
    Count(u64),
    /// The request needs no answer, and is sent or held to be sent.
    Queued,
    /// The server, or the client itself, refused the request; why.
    Refused(String),
    /// No byte of the request was sent to this server: nothing was changed.
    Unsent(ServerFailure),
    /// The request was sent to this server and not answered: it may have happened.
    Unknown(ServerFailure),
}

/// Takes what a batch returns.
pub trait Sink {
    /// Returns memory for the value of a request: exactly `len` bytes, or `None` to drop the
    /// value. It is called once at most for a request; [`Sink::done`] says whether the value is
    /// whole. Memory of another size drops the value too.
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]>;

    /// Takes the seconds that an item has left, `None` if it does not expire, before the room for
    /// its value is asked for. It is called if [`GetOptions::with_ttl`] asked for that.
    fn ttl(&mut self, index: usize, left_s: Option<u32>) {
        let _ = (index, left_s);
    }

    /// Takes the outcome, exactly once for each request.
    fn done(&mut self, index: usize, outcome: Outcome);
}

/// Requests to be executed at once. Each call returns the index by which the [`Sink`] gets the
/// outcome. Keys and values stay the caller's.
#[derive(Clone, Debug, Default)]
pub struct Batch<'a> {
    requests: Vec<Request<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub key: &'a [u8],
    pub action: Action<'a>,
    pub reply: Reply,
    /// The server that it goes to, if it is not to be the one that the ring has for the key.
    pub server: Option<usize>,
}

/// Whether a get asks for the time that the item has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskTtl {
    No,
    /// If the connection speaks the meta commands.
    IfPossible,
    /// Without the meta commands the get is refused.
    Yes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action<'a> {
    Get {
        with_cas: bool,
        ttl: AskTtl,
        /// The new expiry time.
        touch: Option<i32>,
    },
    Store {
        verb: Verb,
        value: &'a [u8],
        flags: u32,
        exptime: i32,
    },
    Delete,
    Count {
        is_down: bool,
        delta: u64,
        initial: Option<Initial>,
    },
    Touch {
        exptime: i32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

impl Action<'_> {
    pub(crate) fn get(options: GetOptions, touch: Option<i32>) -> Self {
        Self::Get {
            with_cas: options.with_cas,
            ttl: match options.with_ttl {
                true => AskTtl::Yes,
                false => AskTtl::No,
            },
            touch,
        }
    }
}

impl Request<'_> {
    /// Whether it changes nothing, so that it can be repeated.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self.action, Action::Get { touch: None, .. })
    }
}

impl<'a> Batch<'a> {
    /// Makes a batch without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether there are no requests.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Drops all requests and keeps their memory.
    pub fn clear(&mut self) {
        self.requests.clear();
    }

    pub(crate) fn requests(&self) -> &[Request<'a>] {
        &self.requests
    }

    /// Gets the value of a key.
    pub fn get(&mut self, key: &'a [u8], options: GetOptions) -> usize {
        self.push(key, Reply::Wait, Action::get(options, None))
    }

    /// Gets the value of a key and gives it a new expiry time.
    pub fn get_and_touch(&mut self, key: &'a [u8], exptime: i32, options: GetOptions) -> usize {
        self.push(key, Reply::Wait, Action::get(options, Some(exptime)))
    }

    /// Stores a value.
    pub fn set(&mut self, key: &'a [u8], value: &'a [u8], options: StoreOptions) -> usize {
        self.store(key, value, Verb::Set, options)
    }

    /// Stores a value if the key is missing.
    pub fn add(&mut self, key: &'a [u8], value: &'a [u8], options: StoreOptions) -> usize {
        self.store(key, value, Verb::Add, options)
    }

    /// Stores a value if the key is there.
    pub fn replace(&mut self, key: &'a [u8], value: &'a [u8], options: StoreOptions) -> usize {
        self.store(key, value, Verb::Replace, options)
    }

    /// Puts a value behind the one that is there, whose flags and expiry time stay.
    pub fn append(&mut self, key: &'a [u8], value: &'a [u8], reply: Reply) -> usize {
        let options = StoreOptions {
            reply,
            ..StoreOptions::default()
        };
        self.store(key, value, Verb::Append, options)
    }

    /// Puts a value before the one that is there, whose flags and expiry time stay.
    pub fn prepend(&mut self, key: &'a [u8], value: &'a [u8], reply: Reply) -> usize {
        let options = StoreOptions {
            reply,
            ..StoreOptions::default()
        };
        self.store(key, value, Verb::Prepend, options)
    }

    /// Stores a value if the item's unique number is still this one.
    pub fn cas(
        &mut self,
        key: &'a [u8],
        value: &'a [u8],
        cas: u64,
        options: StoreOptions,
    ) -> usize {
        self.store(key, value, Verb::Cas(cas), options)
    }

    /// Removes a key.
    pub fn delete(&mut self, key: &'a [u8], reply: Reply) -> usize {
        self.push(key, reply, Action::Delete)
    }

    /// Adds to a number. It wraps around at 2^64.
    pub fn incr(&mut self, key: &'a [u8], options: CountOptions) -> usize {
        self.count(key, false, options)
    }

    /// Subtracts from a number, down to 0.
    pub fn decr(&mut self, key: &'a [u8], options: CountOptions) -> usize {
        self.count(key, true, options)
    }

    /// Gives a key a new expiry time, as [`StoreOptions::exptime`].
    pub fn touch(&mut self, key: &'a [u8], exptime: i32, reply: Reply) -> usize {
        self.push(key, reply, Action::Touch { exptime })
    }

    fn store(
        &mut self,
        key: &'a [u8],
        value: &'a [u8],
        verb: Verb,
        options: StoreOptions,
    ) -> usize {
        let action = Action::Store {
            verb,
            value,
            flags: options.flags,
            exptime: options.exptime,
        };
        self.push(key, options.reply, action)
    }

    fn count(&mut self, key: &'a [u8], is_down: bool, options: CountOptions) -> usize {
        let action = Action::Count {
            is_down,
            delta: options.delta,
            initial: options.initial,
        };
        self.push(key, options.reply, action)
    }

    fn push(&mut self, key: &'a [u8], reply: Reply, action: Action<'a>) -> usize {
        self.requests.push(Request {
            key,
            action,
            reply,
            server: None,
        });
        self.requests.len() - 1
    }
}
