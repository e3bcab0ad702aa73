//! Calls that get values.

use super::write::exptime;
use super::{Ignored, MemcachedClient};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tavola_client::{Batch, GetOptions, Outcome};

/// Facts that a read asks for besides values.
#[derive(Clone, Copy, Default)]
struct Fetch {
    with_cas: bool,
    /// The new expiry time.
    touch: Option<i32>,
}

const WITH_CAS: Fetch = Fetch {
    with_cas: true,
    touch: None,
};

/// A value that was found, and the item's unique number if it was asked for.
struct Found<'py> {
    value: Bound<'py, PyAny>,
    cas: Option<u64>,
}

impl MemcachedClient {
    /// Gets the values of some keys at once, in their order.
    fn fetch<'py>(
        &self,
        py: Python<'py>,
        keys: &[Bound<'py, PyAny>],
        how: Fetch,
    ) -> PyResult<Vec<Option<Found<'py>>>> {
        let state = self.state(py)?;
        let mut options = GetOptions::default();
        options.with_cas = how.with_cas;
        let mut batch = Batch::new();
        for key in keys {
            let bytes = state.keys.bytes(key)?;
            match how.touch {
                None => batch.get(bytes, options),
                Some(exptime) => batch.get_and_touch(bytes, exptime, options),
            };
        }
        let mut answers = state.execute(py, &mut batch)?;
        let mut all = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            let outcome = answers.outcome(index);
            let found = match state.checked(py, outcome, Ignored::Reads)? {
                Some(Outcome::Hit { flags, cas }) => {
                    let bytes = answers.value(py, index)?;
                    let value = state.values.decode(key, bytes, flags)?;
                    Some(Found { value, cas })
                }
                _ => None,
            };
            all.push(found);
        }
        Ok(all)
    }

    fn fetch_one<'py>(&self, key: &Bound<'py, PyAny>, how: Fetch) -> PyResult<Option<Found<'py>>> {
        let found = self.fetch(key.py(), std::slice::from_ref(key), how)?;
        Ok(found.into_iter().next().flatten())
    }

    fn fetch_dict<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        how: Fetch,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (py, found) = (keys.py(), PyDict::new(keys.py()));
        let keys: Vec<_> = keys.try_iter()?.collect::<PyResult<_>>()?;
        for (key, value) in keys.iter().zip(self.fetch(py, &keys, how)?) {
            match value {
                None => {}
                Some(Found { value, cas: None }) => found.set_item(key, value)?,
                Some(Found { value, cas }) => found.set_item(key, (value, cas))?,
            }
        }
        Ok(found)
    }
}

/// Returns a value with its number, or what takes their places.
fn pair<'py>(
    py: Python<'py>,
    found: Option<Found<'py>>,
    default: Option<Bound<'py, PyAny>>,
    cas_default: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    match found {
        Some(Found { value, cas }) => (value, cas).into_pyobject(py),
        None => (default, cas_default).into_pyobject(py),
    }
}

#[pymethods]
impl MemcachedClient {
    /// Return the value of a key, or the default if it is missing.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("fruit", "apple")
    /// True
    /// >>> client.get("fruit"), client.get("other", b"none")
    /// (b'apple', b'none')
    #[pyo3(signature = (key, default=None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.fetch_one(key, Fetch::default())?;
        Ok(found.map(|found| found.value).or(default))
    }

    /// Return the value of a key and the unique number of the item, for :meth:`cas`, or the
    /// defaults if it is missing.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("fruit", "apple")
    /// True
    /// >>> value, number = client.gets("fruit")
    /// >>> client.cas("fruit", "pear", number), client.cas("fruit", "plum", number)
    /// (True, False)
    #[pyo3(signature = (key, default=None, cas_default=None))]
    fn gets<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        cas_default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.fetch_one(key, WITH_CAS)?;
        pair(key.py(), found, default, cas_default)
    }

    /// Return the value of a key and give it a new expiry time, or return the default.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("session", "s", expire=60)
    /// True
    /// >>> client.gat("session", 3600)
    /// b's'
    #[pyo3(signature = (key, expire=None, default=None))]
    fn gat<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        expire: Option<&Bound<'py, PyAny>>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let touch = Some(exptime(expire)?);
        let how = Fetch {
            touch,
            ..Fetch::default()
        };
        Ok(self
            .fetch_one(key, how)?
            .map(|found| found.value)
            .or(default))
    }

    /// Return what :meth:`gets` does, and give the key a new expiry time.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.gats("session", 3600)
    /// (None, None)
    #[pyo3(signature = (key, expire=None, default=None, cas_default=None))]
    fn gats<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        expire: Option<&Bound<'py, PyAny>>,
        default: Option<Bound<'py, PyAny>>,
        cas_default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let touch = Some(exptime(expire)?);
        let found = self.fetch_one(key, Fetch { touch, ..WITH_CAS })?;
        pair(key.py(), found, default, cas_default)
    }

    /// Return a dict of those keys that exist, with their values. All servers are asked at once.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set_many({"a": "1", "b": "2"})
    /// []
    /// >>> client.get_many(["a", "b", "c"])
    /// {'a': b'1', 'b': b'2'}
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.fetch_dict(keys, Fetch::default())
    }

    /// Return a dict of those keys that exist, with pairs as :meth:`gets` returns them.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.set("a", "1")
    /// True
    /// >>> client.gets_many(["a", "b"]) == {"a": client.gets("a")}
    /// True
    fn gets_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        self.fetch_dict(keys, WITH_CAS)
    }
}
