//! The client, and calls of one request.

use crate::batch::{
    Action, Batch, CountOptions, GetOptions, Outcome, Reply, Request, Sink, StoreOptions, Verb,
};
use crate::cause::{FailureCause, ServerFailure};
use crate::control::{self, Question};
use crate::crawl;
use crate::error::Error;
use crate::fleet::Fleet;
#[cfg(feature = "table")]
use crate::near;
use crate::options::{Builder, Settings};
use crate::replica;
use crate::ring::{Placement, Ring};
use crate::server::Server;
use smallvec::SmallVec;
use std::sync::Arc;

/// A client of a fleet of memcached servers.
///
/// It can be used by many threads at once; clones share its connections. After a fork the child
/// makes connections of its own.
#[derive(Clone, Debug)]
pub struct Client {
    fleet: Arc<Fleet>,
}

/// A value that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The value.
    pub data: Vec<u8>,
    /// What was stored beside it.
    pub flags: u32,
    /// The item's unique number, if it was asked for.
    pub cas: Option<u64>,
}

/// What became of a compare-and-store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasOutcome {
    /// The value is stored.
    Stored,
    /// Another value was stored since.
    Exists,
    /// The key is missing.
    Missing,
}

/// A name and a value of [`Client::stats`].
pub type Stat = [Vec<u8>; 2];

impl Client {
    /// Returns options to make a client.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(
        servers: Vec<Server>,
        ring: Ring,
        placement: Placement,
        settings: Settings,
    ) -> Self {
        let fleet = Arc::new(Fleet::new(servers, ring, placement, settings));
        Self { fleet }
    }

    #[cfg(test)]
    pub(crate) fn settings(&self) -> &Settings {
        &self.fleet.settings
    }

    /// Returns the servers, in their order.
    pub fn servers(&self) -> &[Server] {
        &self.fleet.servers
    }

    /// Returns the place in the list of the server that has a key, whether it is up or not.
    pub fn server_of(&self, key: &[u8]) -> usize {
        self.fleet.place_in(&self.fleet.ring, key)
    }

    /// Returns the places of the servers that have copies of a key, its own first: one more than
    /// [`Builder::replicas`] says.
    pub fn copies_of(&self, key: &[u8]) -> Vec<usize> {
        self.fleet.copies_of(key)
    }

    /// Returns why the last call to a server failed; `None` if it has succeeded since.
    ///
    /// # Panics
    /// If there is no such server.
    pub fn last_error(&self, server: usize) -> Option<String> {
        let last = self.fleet.local().sites[server].failures.last();
        last.map(|broken| broken.to_string())
    }

    /// Returns the outcome of a request, or the error that it is: with the name of the server, and
    /// the words of its last failure if they belong to this one.
    ///
    /// # Errors
    /// [`Error`] for [`Outcome::Refused`], [`Outcome::Unsent`] and [`Outcome::Unknown`].
    pub fn checked(&self, outcome: Outcome) -> Result<Outcome, Error> {
        match outcome {
            Outcome::Refused(why) => Err(Error::Refused(why)),
            Outcome::Unsent(failure) => {
                let (server, cause, why) = self.words_of(failure);
                Err(Error::Unsent { server, cause, why })
            }
            Outcome::Unknown(failure) => {
                let (server, cause, why) = self.words_of(failure);
                Err(Error::Unknown { server, cause, why })
            }
            outcome => Ok(outcome),
        }
    }

    fn words_of(&self, failure: ServerFailure) -> (String, FailureCause, String) {
        let ServerFailure { server, cause } = failure;
        let last = self.fleet.local().sites[server].failures.last();
        let last = last.filter(|broken| broken.cause == cause);
        let why = last.map_or_else(|| cause.to_string(), |broken| broken.to_string());
        (self.fleet.servers[server].name().to_string(), cause, why)
    }

    /// Executes the requests of a batch. The sink gets the outcome of each exactly once; a request
    /// that failed may have been carried out only if its outcome is [`Outcome::Unknown`].
    ///
    /// The batch keeps its requests and can be executed again.
    ///
    /// # Panics
    /// If the sink does. Then the connections in use are closed.
    pub fn execute(&self, batch: &mut Batch<'_>, sink: &mut dyn Sink) {
        self.run(batch.requests(), sink);
    }

    /// Sends the requests that are held because they need no answer, those of all threads, and
    /// waits until the servers have carried them out.
    ///
    /// # Errors
    /// The first failure. What could not be sent is held on.
    pub fn flush(&self) -> Result<(), Error> {
        control::flush(&self.fleet)
    }

    /// Gets the value of a key; `None` if it is missing.
    ///
    /// # Errors
    /// [`Error`], never for a key that is missing.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value>, Error> {
        self.read(key, GetOptions::default(), None)
    }

    /// Gets the value of a key and its unique number.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn gets(&self, key: &[u8]) -> Result<Option<Value>, Error> {
        self.read(key, GetOptions::with_cas(), None)
    }

    /// Gets the value of a key and gives it a new expiry time.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn get_and_touch(&self, key: &[u8], exptime: i32) -> Result<Option<Value>, Error> {
        self.read(key, GetOptions::default(), Some(exptime))
    }

    /// Gets the value of a key and its unique number, and gives it a new expiry time.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn gets_and_touch(&self, key: &[u8], exptime: i32) -> Result<Option<Value>, Error> {
        self.read(key, GetOptions::with_cas(), Some(exptime))
    }

    /// Gets the values of many keys at once, in their order, each with its own result.
    pub fn get_many(&self, keys: &[&[u8]]) -> Vec<Result<Option<Value>, Error>> {
        let mut batch = Batch::new();
        for key in keys {
            batch.get(key, GetOptions::default());
        }
        let mut results = Results::of(keys.len());
        self.execute(&mut batch, &mut results);
        results
            .slots
            .into_iter()
            .map(|slot| self.value(slot))
            .collect()
    }

    /// Stores a value.
    ///
    /// # Errors
    /// [`Error`].
    pub fn set(&self, key: &[u8], value: &[u8], options: StoreOptions) -> Result<(), Error> {
        self.store(key, value, Verb::Set, options).map(|_| ())
    }

    /// Stores a value if the key is missing. Returns whether it was.
    ///
    /// # Errors
    /// [`Error`].
    pub fn add(&self, key: &[u8], value: &[u8], options: StoreOptions) -> Result<bool, Error> {
        Ok(self.store(key, value, Verb::Add, options)? != Outcome::NotStored)
    }

    /// Stores a value if the key is there. Returns whether it was.
    ///
    /// # Errors
    /// [`Error`].
    pub fn replace(&self, key: &[u8], value: &[u8], options: StoreOptions) -> Result<bool, Error> {
        Ok(self.store(key, value, Verb::Replace, options)? != Outcome::NotStored)
    }

    /// Puts a value behind the one that is there. Returns whether one was.
    ///
    /// # Errors
    /// [`Error`].
    pub fn append(&self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let options = StoreOptions::default();
        Ok(self.store(key, value, Verb::Append, options)? != Outcome::NotStored)
    }

    /// Puts a value before the one that is there. Returns whether one was.
    ///
    /// # Errors
    /// [`Error`].
    pub fn prepend(&self, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let options = StoreOptions::default();
        Ok(self.store(key, value, Verb::Prepend, options)? != Outcome::NotStored)
    }

    /// Stores a value if the item's unique number, which [`Client::gets`] returns, is still this
    /// one. Without an answer it is [`CasOutcome::Stored`] when it is queued.
    ///
    /// # Errors
    /// [`Error`].
    pub fn cas(
        &self,
        key: &[u8],
        value: &[u8],
        cas: u64,
        options: StoreOptions,
    ) -> Result<CasOutcome, Error> {
        Ok(match self.store(key, value, Verb::Cas(cas), options)? {
            Outcome::Exists => CasOutcome::Exists,
            Outcome::Miss => CasOutcome::Missing,
            _ => CasOutcome::Stored,
        })
    }

    /// Removes a key. Returns whether it was there.
    ///
    /// # Errors
    /// [`Error`].
    pub fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.ask(key, Reply::Wait, Action::Delete)? == Outcome::Deleted)
    }

    /// Adds to a number and returns the new one; `None` if the key is missing.
    ///
    /// # Errors
    /// [`Error`].
    pub fn incr(&self, key: &[u8], options: CountOptions) -> Result<Option<u64>, Error> {
        self.count(key, false, options)
    }

    /// Subtracts from a number, down to 0, and returns the new one; `None` if the key is missing.
    ///
    /// # Errors
    /// [`Error`].
    pub fn decr(&self, key: &[u8], options: CountOptions) -> Result<Option<u64>, Error> {
        self.count(key, true, options)
    }

    /// Gives a key a new expiry time. Returns whether it is there.
    ///
    /// # Errors
    /// [`Error`].
    pub fn touch(&self, key: &[u8], exptime: i32) -> Result<bool, Error> {
        let action = Action::Touch { exptime };
        Ok(self.ask(key, Reply::Wait, action)? == Outcome::Touched)
    }

    /// Removes all keys of all servers, after so many seconds. Returns what each server answered.
    pub fn flush_all(&self, delay_s: u32) -> Vec<Result<(), Error>> {
        let question = Question::FlushAll { delay_s };
        let answers = self.ask_servers(question, |_| ());
        #[cfg(feature = "table")]
        if let Some(near) = &self.fleet.settings.near {
            near.clear();
        }
        answers
    }

    /// Returns the version of each server.
    pub fn versions(&self) -> Vec<Result<String, Error>> {
        let read =
            |reported: control::Reported| String::from_utf8_lossy(&reported.version).into_owned();
        self.ask_servers(Question::Version, read)
    }

    /// Returns figures of each server: those of a topic, such as `items` or `detail dump`, or the
    /// general ones for an empty topic. A topic may be several words with spaces between them.
    pub fn stats(&self, topic: &str) -> Vec<Result<Vec<Stat>, Error>> {
        let topic = topic.as_bytes();
        self.ask_servers(Question::Stats { topic }, |reported| reported.figures)
    }

    /// Calls `each` for every key of one server of the list, without the namespace; keys outside
    /// it are left out. A key that is stored or removed meanwhile may come or not.
    ///
    /// The keys come while they are received. What `each` does must not take long: the server may
    /// lose its patience.
    ///
    /// # Errors
    /// [`Error`]. [`Error::Refused`] if the server cannot list its keys: it is too old, does so
    /// for somebody else at the moment, or the connection speaks the binary protocol.
    ///
    /// # Panics
    /// If there is no such server.
    pub fn keys(&self, server: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        crawl::keys(&self.fleet, server, each)
    }

    fn run(&self, requests: &[Request<'_>], sink: &mut dyn Sink) {
        #[cfg(feature = "table")]
        if let Some(near) = &self.fleet.settings.near {
            return near::execute(&self.fleet, near, requests, sink);
        }
        replica::execute(&self.fleet, requests, sink);
    }

    fn ask_servers<T>(
        &self,
        question: Question<'_>,
        read: impl Fn(control::Reported) -> T,
    ) -> Vec<Result<T, Error>> {
        let ask = |server| control::ask(&self.fleet, server, question).map(&read);
        (0..self.fleet.servers.len()).map(ask).collect()
    }

    fn read(
        &self,
        key: &[u8],
        options: GetOptions,
        touch: Option<i32>,
    ) -> Result<Option<Value>, Error> {
        let slot = self.ask_one(key, Reply::Wait, Action::get(options, touch));
        self.value(slot)
    }

    fn store(
        &self,
        key: &[u8],
        value: &[u8],
        verb: Verb,
        options: StoreOptions,
    ) -> Result<Outcome, Error> {
        let action = Action::Store {
            verb,
            value,
            flags: options.flags,
            exptime: options.exptime,
        };
        self.ask(key, options.reply, action)
    }

    fn count(
        &self,
        key: &[u8],
        is_down: bool,
        options: CountOptions,
    ) -> Result<Option<u64>, Error> {
        let action = Action::Count {
            is_down,
            delta: options.delta,
            initial: options.initial,
        };
        Ok(match self.ask(key, options.reply, action)? {
            Outcome::Count(count) => Some(count),
            _ => None,
        })
    }

    fn ask(&self, key: &[u8], reply: Reply, action: Action<'_>) -> Result<Outcome, Error> {
        let slot = self.ask_one(key, reply, action);
        self.check(slot.outcome)
    }

    fn ask_one(&self, key: &[u8], reply: Reply, action: Action<'_>) -> Slot {
        let mut results = Results::of(1);
        let requests = [Request {
            key,
            action,
            reply,
            server: None,
        }];
        self.run(&requests, &mut results);
        results.slots.pop().unwrap_or_default()
    }

    fn value(&self, slot: Slot) -> Result<Option<Value>, Error> {
        Ok(match self.check(slot.outcome)? {
            Outcome::Hit { flags, cas } => Some(Value {
                data: slot.data,
                flags,
                cas,
            }),
            _ => None,
        })
    }

    fn check(&self, outcome: Option<Outcome>) -> Result<Outcome, Error> {
        let none = || Outcome::Refused("the request was not executed".to_string());
        self.checked(outcome.unwrap_or_else(none))
    }
}

/// Takes values into memory of their own.
struct Results {
    slots: SmallVec<[Slot; 1]>,
}

#[derive(Clone, Default)]
struct Slot {
    data: Vec<u8>,
    outcome: Option<Outcome>,
}

impl Results {
    fn of(count: usize) -> Self {
        let slots = SmallVec::from_elem(Slot::default(), count);
        Self { slots }
    }
}

impl Sink for Results {
    fn room(&mut self, index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        let data = &mut self.slots[index].data;
        data.resize(len, 0);
        Some(data)
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.slots[index].outcome = Some(outcome);
    }
}
