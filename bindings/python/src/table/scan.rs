//! Iterating over all keys, in chunks that are read without the interpreter's lock.

use super::Table;
use crate::cell::LockedCell;
use crate::error::{OrRaise, exception};
use crate::text::{key_object, key_of};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;
use tavola::Cursor;

/// How many entries are read at once.
const CHUNK: usize = 256;
/// How many bytes of them, at least, end a chunk.
const CHUNK_BYTES: usize = 256 * 1024;

/// The result of an iterator for each entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Keys,
    Values,
    Items,
}

/// Entries that were read and not returned yet.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    /// The end of the key, the end of the value, and the flags.
    ends: Vec<(usize, usize, u32)>,
    next: usize,
    start: usize,
}

struct Position {
    table: Arc<tavola::Table>,
    cursor: Option<Cursor>,
    chunk: Chunk,
}

/// An iterator over the keys, values or items of a table.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct Scan {
    owner: Py<Table>,
    shape: Shape,
    prefix: Vec<u8>,
    at: LockedCell<Position>,
}

/// Reads the next chunk; an empty one means the end.
fn read(
    table: &tavola::Table,
    cursor: Cursor,
    prefix: &[u8],
    has_values: bool,
) -> tavola::Result<(Cursor, Chunk)> {
    let mut entries = table.resume(cursor);
    let mut chunk = Chunk::default();
    while chunk.ends.len() < CHUNK && chunk.bytes.len() < CHUNK_BYTES {
        let Some((key, value, attributes)) = entries.next_with_attributes()? else {
            break;
        };
        if !key.starts_with(prefix) {
            continue;
        }
        chunk.bytes.extend_from_slice(key);
        let key_end = chunk.bytes.len();
        if has_values {
            chunk.bytes.extend_from_slice(value);
        }
        chunk
            .ends
            .push((key_end, chunk.bytes.len(), attributes.flags));
    }
    Ok((entries.pause(), chunk))
}

impl Scan {
    /// Reads the next chunk if all entries were returned. Returns false at the end.
    fn fill(&self, py: Python<'_>) -> PyResult<bool> {
        let (table, cursor) = self
            .at
            .with(py, |at| match at.chunk.next < at.chunk.ends.len() {
                true => (None, None),
                false => (Some(Arc::clone(&at.table)), at.cursor.take()),
            });
        let Some(table) = table else {
            return Ok(true);
        };
        // Without a cursor the iteration is over, or another thread is reading the next chunk.
        let Some(cursor) = cursor else {
            return Ok(false);
        };
        let has_values = self.shape != Shape::Keys;
        let outcome = py.detach(|| read(&table, cursor, &self.prefix, has_values));
        let (cursor, chunk) = outcome.map_err(|error| exception(py, &error))?;
        let is_over = chunk.ends.is_empty();
        self.at.with(py, |at| {
            at.chunk = chunk;
            at.cursor = (!is_over).then_some(cursor);
        });
        Ok(!is_over)
    }
}

#[pymethods]
impl Scan {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.fill(py)? {
            return Ok(None);
        }
        let owner = self.owner.get();
        // The parts are made here, as decoding runs Python code, which may come back to this scan.
        let (key, value, flags) = self.at.with(py, |at| {
            let (chunk, shape) = (&mut at.chunk, self.shape);
            let (key_end, end, flags) = chunk.ends[chunk.next];
            let start = std::mem::replace(&mut chunk.start, end);
            chunk.next += 1;
            let key = &chunk.bytes[start..key_end];
            let key = (shape != Shape::Values).then(|| key_object(py, key, owner.has_binary_keys));
            let value = &chunk.bytes[key_end..end];
            let value = (shape != Shape::Keys).then(|| PyBytes::new(py, value));
            (key, value, flags)
        });
        let value = match value {
            Some(bytes) => {
                let decoded = owner.serializer.try_decode(py, bytes.as_bytes(), flags)?;
                Some(decoded.unwrap_or_else(|| bytes.into_any()))
            }
            None => None,
        };
        Ok(match (key, value) {
            (Some(key), Some(value)) => Some(PyTuple::new(py, [key, value])?.into_any()),
            (key, value) => key.or(value),
        })
    }
}

#[pymethods]
impl Table {
    #[pyo3(name = "_scan", signature = (shape, prefix=None))]
    fn scan(
        slf: &Bound<'_, Self>,
        shape: &str,
        prefix: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Scan> {
        let prefix = prefix.filter(|prefix| !prefix.is_none());
        Ok(Scan {
            owner: slf.clone().unbind(),
            shape: match shape {
                "values" => Shape::Values,
                "items" => Shape::Items,
                _ => Shape::Keys,
            },
            prefix: prefix.map_or(Ok(&[][..]), key_of)?.to_vec(),
            at: LockedCell::new(Position {
                table: slf.get().shared(slf.py())?,
                cursor: Some(Cursor::default()),
                chunk: Chunk::default(),
            }),
        })
    }

    /// Remove all keys with a prefix. Return how many.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set_many({"user:1": "ann", "user:2": "bob"})
    /// >>> table.delete_prefix("user:")
    /// 2
    fn delete_prefix(&self, prefix: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (py, prefix) = (prefix.py(), key_of(prefix)?);
        let table = self.shared(py)?;
        let mut cursor = Cursor::default();
        let mut count = 0;
        loop {
            let outcome = py.detach(|| remove_chunk(&table, cursor, prefix));
            let (after, removed) = outcome.or_raise(py)?;
            let Some(removed) = removed else {
                return Ok(count);
            };
            count += removed;
            cursor = after;
            py.check_signals()?;
        }
    }
}

/// Removes the keys of the next chunk. Returns how many, or `None` at the end.
fn remove_chunk(
    table: &tavola::Table,
    cursor: Cursor,
    prefix: &[u8],
) -> tavola::Result<(Cursor, Option<usize>)> {
    let (cursor, chunk) = read(table, cursor, prefix, false)?;
    if chunk.ends.is_empty() {
        return Ok((cursor, None));
    }
    let (mut start, mut count) = (0, 0);
    for (_, end, _) in &chunk.ends {
        count += usize::from(table.remove(&chunk.bytes[start..*end])?);
        start = *end;
    }
    Ok((cursor, Some(count)))
}
