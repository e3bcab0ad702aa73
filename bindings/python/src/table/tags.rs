//! Tags: keys that are invalidated together.

use super::Table;
use crate::text::{bytes_of, key_of};
use pyo3::prelude::*;
use tavola::Tags;

/// The tags of a table at one moment; from `Table.tags`.
///
/// >>> import tavola
/// >>> tags = tavola.open("doc").tags("news", "cart")
/// >>> isinstance(tags, tavola.Tags), len(tags)
/// (True, 2)
#[pyclass(frozen, module = "tavola", name = "Tags")]
pub struct TagHandles {
    tags: Tags,
}

impl TagHandles {
    /// Returns the handles of what a call was given: a name, names, or handles from before.
    pub fn of(table: &Table, given: &Bound<'_, PyAny>) -> PyResult<Tags> {
        if given.is_none() {
            return Ok(Tags::NONE);
        }
        if let Ok(handles) = given.cast::<TagHandles>() {
            return Ok(handles.get().tags);
        }
        let py = given.py();
        if let Some(name) = bytes_of(given)? {
            return table.change(py, |table| table.fetch_tags(&[name]));
        }
        let names: Vec<Bound<'_, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
        let names: Vec<&[u8]> = names.iter().map(key_of).collect::<PyResult<_>>()?;
        table.change(py, |table| table.fetch_tags(&names))
    }
}

#[pymethods]
impl TagHandles {
    fn __len__(&self) -> usize {
        self.tags.len()
    }

    fn __repr__(&self) -> String {
        format!("<tavola.Tags of {} tags>", self.tags.len())
    }
}

#[pymethods]
impl Table {
    #[pyo3(name = "_fetch_tags")]
    fn fetch_tags(&self, names: &Bound<'_, PyAny>) -> PyResult<TagHandles> {
        let tags = TagHandles::of(self, names)?;
        Ok(TagHandles { tags })
    }

    /// Make all keys that have a tag missing, in one step for all processes, however many they are.
    /// Return whether there was such a tag.
    ///
    /// >>> import tavola
    /// >>> table = tavola.open("doc")
    /// >>> table.set("page:1", "<p>", tags=["news"])
    /// >>> table.invalidate("news"), table.get("page:1")
    /// (True, None)
    fn invalidate(&self, tag: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, name) = (tag.py(), key_of(tag)?);
        self.change(py, |table| table.invalidate_tag(name))
    }
}
