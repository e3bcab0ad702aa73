//! Calls for many keys at once. More than 64 keys are read and written without the interpreter's
//! lock.

use super::{Table, TagHandles};
use crate::codec::Encoded;
use crate::error::OrRaise;
use crate::text::key_of;
use crate::time::expiry;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tavola::Attributes;

/// Batches up to this number of keys keep the interpreter's lock.
const SHORT: usize = 64;
/// How many keys are looked up before their objects are made.
const CHUNK: usize = 1024;

fn collected<'py>(items: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.try_iter()?.collect()
}

fn bytes_of_all<'a>(keys: &'a [Bound<'_, PyAny>]) -> PyResult<Vec<&'a [u8]>> {
    keys.iter().map(key_of).collect()
}

pub type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Returns the pairs of a dict, of another mapping, or of an iterable of pairs.
pub fn pairs_of<'py>(values: &Bound<'py, PyAny>) -> PyResult<Vec<Pair<'py>>> {
    if let Ok(dict) = values.cast_exact::<PyDict>() {
        return Ok(dict.iter().collect());
    }
    let pairs = match values.hasattr("items")? {
        true => values.call_method0("items")?,
        false => values.clone(),
    };
    pairs.try_iter()?.map(|pair| pair?.extract()).collect()
}

/// Values that were read without the interpreter's lock.
#[derive(Default)]
struct Found {
    bytes: Vec<u8>,
    /// The position of the key, the end of its value, and its flags.
    ends: Vec<(usize, usize, u32)>,
}

impl Table {
    fn read_chunk<'py>(
        &self,
        table: &tavola::Table,
        keys: &[Bound<'py, PyAny>],
        into: &Bound<'py, PyDict>,
    ) -> PyResult<()> {
        let py = into.py();
        let slices = bytes_of_all(keys)?;
        let mut found = Found::default();
        let mut read = || {
            table.get_many_entries(&slices, |number, entry| {
                if let Some((value, details)) = entry {
                    found.bytes.extend_from_slice(value);
                    let end = found.bytes.len();
                    found.ends.push((number, end, details.attributes.flags));
                }
            })
        };
        match slices.len() > SHORT {
            true => py.detach(read),
            false => read(),
        }
        .or_raise(py)?;
        let mut start = 0;
        for (number, end, flags) in found.ends {
            let value = self
                .serializer
                .decode(py, &found.bytes[start..end], flags)?;
            into.set_item(&keys[number], value)?;
            start = end;
        }
        Ok(())
    }
}

#[pymethods]
impl Table {
    /// Return a dict of those keys that exist, with their values.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_many({"a": 1, "b": 2})
    /// >>> table.get_many(["a", "b", "c"])
    /// {'a': 1, 'b': 2}
    fn get_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let py = keys.py();
        let (table, keys, found) = (self.shared(py)?, collected(keys)?, PyDict::new(py));
        for keys in keys.chunks(CHUNK) {
            self.read_chunk(&table, keys, &found)?;
        }
        Ok(found)
    }

    /// Set many keys, from a mapping or pairs. All get this TTL and these tags. In a durable table,
    /// this waits for the disk once.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_many({"a": 1, "b": 2}, ttl=60)
    /// >>> table["b"]
    /// 2
    #[pyo3(signature = (values, ttl=None, tags=None))]
    fn set_many(
        &self,
        values: &Bound<'_, PyAny>,
        ttl: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = values.py();
        let (table, expiry) = (self.shared(py)?, expiry(ttl)?);
        let tags = tags.map_or(Ok(tavola::Tags::NONE), |tags| TagHandles::of(self, tags))?;
        let pairs = pairs_of(values)?;
        let encoded: Vec<(Encoded<'_>, u32)> = pairs
            .iter()
            .map(|(_, value)| self.serializer.encode(value))
            .collect::<PyResult<_>>()?;
        let mut entries = Vec::with_capacity(pairs.len());
        for ((key, _), (value, flags)) in pairs.iter().zip(&encoded) {
            let flags = *flags;
            let attributes = Attributes { expiry, flags };
            entries.push((key_of(key)?, value.as_slice(py), attributes));
        }
        match entries.len() > SHORT || self.waits_for_disk() {
            true => py.detach(|| self.write_all(&table, entries, &tags)),
            false => self.write_all(&table, entries, &tags),
        }
        .or_raise(py)
    }

    /// Remove many keys. Return how many existed.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_many({"a": 1, "b": 2})
    /// >>> table.delete_many(["a", "b", "c"])
    /// 2
    fn delete_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = keys.py();
        let (table, keys) = (self.shared(py)?, collected(keys)?);
        let slices = bytes_of_all(&keys)?;
        let remove = || {
            table.wait_once(|| {
                let mut count = 0;
                for slices in slices.chunks(SHORT) {
                    table.prefetch(slices)?;
                    for key in slices {
                        count += usize::from(table.remove(key)?);
                    }
                }
                Ok::<_, tavola::Error>(count)
            })
        };
        match slices.len() > SHORT || self.waits_for_disk() {
            true => py.detach(remove),
            false => remove(),
        }
        .or_raise(py)
    }
}

type Entry<'a> = (&'a [u8], &'a [u8], Attributes);

impl Table {
    fn write_all(
        &self,
        table: &tavola::Table,
        mut entries: Vec<Entry<'_>>,
        tags: &tavola::Tags,
    ) -> tavola::Result<()> {
        let flags = entries
            .iter()
            .fold(0, |all, (_, _, attributes)| all | attributes.flags);
        self.with_flags(table, flags, |flags| {
            if flags == 0 {
                entries
                    .iter_mut()
                    .for_each(|(_, _, attributes)| attributes.flags = 0);
            }
            if tags.is_empty() {
                return table.set_many_entries(&entries);
            }
            table.wait_once(|| {
                entries.iter().try_for_each(|(key, value, attributes)| {
                    table.set_tagged(key, value, *attributes, tags)
                })
            })
        })
    }
}
