//! Calls that change keys.

use super::failure::illegal;
use super::{Ignored, MemcachedClient, State};
use crate::table::pairs_of;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use tavola_client::{Batch, CountOptions, Outcome, Reply, StoreOptions};

/// Returns an expiry time as memcached has it; 0 if none is given.
pub fn exptime(expire: Option<&Bound<'_, PyAny>>) -> PyResult<i32> {
    let Some(given) = expire else {
        return Ok(0);
    };
    let read = given.cast::<PyInt>().ok().and_then(|n| n.extract().ok());
    read.ok_or_else(|| {
        illegal(
            given.py(),
            "expire is invalid: it is a whole number of seconds, up to 30 days, or of seconds \
             since 1970",
        )
    })
}

/// How a value is stored.
#[derive(Clone, Copy)]
enum Verb {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// The arguments that all stores have beside key and value.
#[derive(Clone, Copy)]
struct How<'a, 'py> {
    expire: Option<&'a Bound<'py, PyAny>>,
    noreply: Option<bool>,
    flags: Option<u32>,
}

fn how<'a, 'py>(
    expire: Option<&'a Bound<'py, PyAny>>,
    noreply: Option<bool>,
    flags: Option<u32>,
) -> How<'a, 'py> {
    How {
        expire,
        noreply,
        flags,
    }
}

impl State {
    fn is_silent(&self, noreply: Option<bool>) -> bool {
        noreply.unwrap_or(self.default_noreply)
    }

    fn reply(&self, is_silent: bool) -> Reply {
        match is_silent && self.holds_noreply {
            true => Reply::None,
            false => Reply::Wait,
        }
    }

    /// Executes a batch of one request. Returns its outcome; `None` if it failed and is ignored.
    fn outcome_of(&self, py: Python<'_>, batch: &mut Batch<'_>) -> PyResult<Option<Outcome>> {
        let outcome = self.execute(py, batch)?.outcome(0);
        self.checked(py, outcome, Ignored::All)
    }

    /// Executes a batch. Returns the indices of the requests that failed and are ignored.
    fn failed(&self, py: Python<'_>, batch: &mut Batch<'_>) -> PyResult<Vec<usize>> {
        let mut answers = self.execute(py, batch)?;
        let mut failed = Vec::new();
        for index in 0..batch.len() {
            let outcome = answers.outcome(index);
            if self.checked(py, outcome, Ignored::All)?.is_none() {
                failed.push(index);
            }
        }
        Ok(failed)
    }
}

/// Returns the unique number of an item: an `int`, or its digits.
fn unique_number(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let digits = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse().ok();
    let read = if let Ok(text) = given.cast::<PyString>() {
        digits(text.to_string_lossy().as_bytes())
    } else if let Ok(bytes) = given.cast::<PyBytes>() {
        digits(bytes.as_bytes())
    } else {
        given.extract().ok()
    };
    read.ok_or_else(|| {
        illegal(
            given.py(),
            "cas is invalid: give the number that gets returned",
        )
    })
}

impl MemcachedClient {
    /// Stores a value. Returns whether it is stored; `None` if the key of a `cas` is missing.
    fn store(
        &self,
        verb: Verb,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        how: How<'_, '_>,
    ) -> PyResult<Option<bool>> {
        let py = key.py();
        let state = self.state(py)?;
        let bytes = state.keys.bytes(key)?;
        let (encoded, flags) = state.values.encode(key, value)?;
        let value = encoded.as_slice(py);
        let is_silent = state.is_silent(how.noreply);
        let mut options = StoreOptions::ttl(exptime(how.expire)?);
        options.flags = how.flags.unwrap_or(flags);
        options.reply = state.reply(is_silent);
        let mut batch = Batch::new();
        match verb {
            Verb::Set => batch.set(bytes, value, options),
            Verb::Add => batch.add(bytes, value, options),
            Verb::Replace => batch.replace(bytes, value, options),
            Verb::Append => batch.append(bytes, value, options.reply),
            Verb::Prepend => batch.prepend(bytes, value, options.reply),
            Verb::Cas(number) => batch.cas(bytes, value, number, options),
        };
        Ok(match state.outcome_of(py, &mut batch)? {
            None => Some(false),
            Some(_) if is_silent => Some(true),
            Some(Outcome::NotStored | Outcome::Exists) => Some(false),
            Some(Outcome::Miss) => None,
            Some(_) => Some(true),
        })
    }

    /// Asks for a change of a key. Returns whether it was carried out, or needs no answer.
    fn change(
        &self,
        key: &Bound<'_, PyAny>,
        noreply: Option<bool>,
        prepare: impl for<'k> FnOnce(&mut Batch<'k>, &'k [u8], Reply) -> usize,
    ) -> PyResult<bool> {
        let py = key.py();
        let state = self.state(py)?;
        let is_silent = state.is_silent(noreply);
        let mut batch = Batch::new();
        prepare(&mut batch, state.keys.bytes(key)?, state.reply(is_silent));
        let outcome = state.outcome_of(py, &mut batch)?;
        Ok(outcome.is_some_and(|outcome| is_silent || outcome != Outcome::Miss))
    }

    fn count(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        noreply: bool,
        is_down: bool,
    ) -> PyResult<Option<u64>> {
        let py = key.py();
        let state = self.state(py)?;
        let bytes = state.keys.bytes(key)?;
        let by: u64 = value.extract().map_err(|_| {
            let why = "value is invalid: counters change by whole numbers from 0 to 2^64 - 1";
            illegal(py, why)
        })?;
        let mut options = CountOptions::by(by);
        options.reply = state.reply(noreply);
        let mut batch = Batch::new();
        match is_down {
            false => batch.incr(bytes, options),
            true => batch.decr(bytes, options),
        };
        Ok(match state.outcome_of(py, &mut batch)? {
            Some(Outcome::Count(count)) if !noreply => Some(count),
            _ => None,
        })
    }
}

#[pymethods]
impl MemcachedClient {
    /// Set a key. Return True, or raise an exception.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("fruit", "apple", expire=60)
    /// True
    #[pyo3(signature = (key, value, expire=None, noreply=None, flags=None))]
    fn set(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        self.store(Verb::Set, key, value, how(expire, noreply, flags))
    }

    /// Set a key if it is missing. Return whether it was.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc", default_noreply=False)
    /// >>> client.add("fruit", "apple"), client.add("fruit", "pear")
    /// (True, False)
    #[pyo3(signature = (key, value, expire=None, noreply=None, flags=None))]
    fn add(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        self.store(Verb::Add, key, value, how(expire, noreply, flags))
    }

    /// Set a key if it exists. Return whether it did.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.replace("fruit", "apple", noreply=False)
    /// False
    #[pyo3(signature = (key, value, expire=None, noreply=None, flags=None))]
    fn replace(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        self.store(Verb::Replace, key, value, how(expire, noreply, flags))
    }

    /// Put a value behind the one of a key, whose flags and expiry time stay. Return whether the
    /// key exists.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc", default_noreply=False)
    /// >>> client.append("log", "a")
    /// False
    #[pyo3(signature = (key, value, expire=None, noreply=None, flags=None))]
    fn append(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        self.store(Verb::Append, key, value, how(expire, noreply, flags))
    }

    /// Put a value before the one of a key, whose flags and expiry time stay. Return whether the
    /// key exists.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc", default_noreply=False)
    /// >>> client.set("log", "b"), client.prepend("log", "a"), client.get("log")
    /// (True, True, b'ab')
    #[pyo3(signature = (key, value, expire=None, noreply=None, flags=None))]
    fn prepend(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        self.store(Verb::Prepend, key, value, how(expire, noreply, flags))
    }

    /// Set a key if it still has the unique number that :meth:`gets` returned. Return True, False
    /// if it has another, or ``None`` if it is missing.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> print(client.cas("fruit", "apple", 1))
    /// None
    #[pyo3(signature = (key, value, cas, expire=None, noreply=false, flags=None))]
    fn cas(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        cas: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Option<bool>> {
        let verb = Verb::Cas(unique_number(cas)?);
        self.store(verb, key, value, how(expire, noreply, flags))
    }

    /// Set many keys at once, of a dict or pairs. Return a list of the keys that failed, which is
    /// empty unless ``ignore_exc`` lets them fail.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set_many({"a": "1", "b": "2"}, expire=60)
    /// []
    #[pyo3(signature = (values, expire=None, noreply=None, flags=None))]
    fn set_many<'py>(
        &self,
        values: &Bound<'py, PyAny>,
        expire: Option<&Bound<'py, PyAny>>,
        noreply: Option<bool>,
        flags: Option<u32>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = values.py();
        let state = self.state(py)?;
        let pairs = pairs_of(values)?;
        let encode = |(key, value)| state.values.encode(key, value);
        let encoded = pairs.iter().map(|(key, value)| encode((key, value)));
        let encoded: Vec<_> = encoded.collect::<PyResult<_>>()?;
        let mut options = StoreOptions::ttl(exptime(expire)?);
        options.reply = state.reply(state.is_silent(noreply));
        let mut batch = Batch::new();
        for ((key, _), (value, own_flags)) in pairs.iter().zip(&encoded) {
            options.flags = flags.unwrap_or(*own_flags);
            batch.set(state.keys.bytes(key)?, value.as_slice(py), options);
        }
        let failed = state.failed(py, &mut batch)?;
        Ok(failed
            .into_iter()
            .map(|index| pairs[index].0.clone())
            .collect())
    }

    /// Remove a key. Return whether it existed.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc", default_noreply=False)
    /// >>> client.set("fruit", "apple"), client.delete("fruit"), client.delete("fruit")
    /// (True, True, False)
    #[pyo3(signature = (key, noreply=None))]
    fn delete(&self, key: &Bound<'_, PyAny>, noreply: Option<bool>) -> PyResult<bool> {
        self.change(key, noreply, |batch, key, reply| batch.delete(key, reply))
    }

    /// Remove many keys at once. Return True.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.delete_many(["a", "b"])
    /// True
    #[pyo3(signature = (keys, noreply=None))]
    fn delete_many(&self, keys: &Bound<'_, PyAny>, noreply: Option<bool>) -> PyResult<bool> {
        let py = keys.py();
        let state = self.state(py)?;
        let keys: Vec<_> = keys.try_iter()?.collect::<PyResult<_>>()?;
        let reply = state.reply(state.is_silent(noreply));
        let mut batch = Batch::new();
        for key in &keys {
            batch.delete(state.keys.bytes(key)?, reply);
        }
        Ok(state.failed(py, &mut batch)?.is_empty())
    }

    /// Add to a number. Return the new one, or ``None`` if the key is missing.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("visits", 5), client.incr("visits", 2), client.incr("other", 1)
    /// (True, 7, None)
    #[pyo3(signature = (key, value, noreply=None))]
    fn incr(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        noreply: Option<bool>,
    ) -> PyResult<Option<u64>> {
        self.count(key, value, noreply.unwrap_or(false), false)
    }

    /// Subtract from a number, down to 0. Return the new one, or ``None`` if the key is missing.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("left", 5), client.decr("left", 7)
    /// (True, 0)
    #[pyo3(signature = (key, value, noreply=None))]
    fn decr(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        noreply: Option<bool>,
    ) -> PyResult<Option<u64>> {
        self.count(key, value, noreply.unwrap_or(false), true)
    }

    /// Give a key a new expiry time. Return whether it exists.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.touch("fruit", 60, noreply=False)
    /// False
    #[pyo3(signature = (key, expire=None, noreply=None))]
    fn touch(
        &self,
        key: &Bound<'_, PyAny>,
        expire: Option<&Bound<'_, PyAny>>,
        noreply: Option<bool>,
    ) -> PyResult<bool> {
        let exptime = exptime(expire)?;
        self.change(key, noreply, |batch, key, reply| {
            batch.touch(key, exptime, reply)
        })
    }
}
