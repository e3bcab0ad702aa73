//! How a table is made and opened.

use super::Table;
use super::durable::{durability, waits};
use crate::cell::LockedCell;
use crate::codec::serializer;
use crate::error::{OrRaise, bad_option};
use crate::text::name_of;
use crate::time::duration;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tavola::Options;

/// What `open` was given beside the name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Given<'py> {
    capacity: Option<u64>,
    ttl: Option<Bound<'py, PyAny>>,
    max_size: Option<u64>,
    versions: bool,
    uids: bool,
    fixed: Option<(u32, u32)>,
    shards: Option<u32>,
    mode: Option<u32>,
    group: Option<u32>,
    background: bool,
    core_dumps: bool,
    any_owner: bool,
    create: Bound<'py, PyAny>,
    read_only: bool,
    private: bool,
    serializer: Option<Bound<'py, PyAny>>,
    binary_keys: bool,
    lock_timeout: Option<Bound<'py, PyAny>>,
    durable: Option<Bound<'py, PyAny>>,
}

impl Given<'_> {
    fn options(&self) -> PyResult<Options> {
        let mut options = tavola::Table::options()
            .versions(self.versions)
            .uids(self.uids)
            .background(self.background)
            .core_dumps(self.core_dumps)
            .any_owner(self.any_owner);
        if let Some(bytes) = self.capacity {
            options = options.capacity(bytes);
        }
        if let Some(bytes) = self.max_size {
            options = options.max_size(bytes);
        }
        if let Some((key, value)) = self.fixed {
            options = options.fixed(key, value);
        }
        if let Some(count) = self.shards {
            options = options.shards(count);
        }
        if let Some(mode) = self.mode {
            options = options.mode(mode);
        }
        if let Some(gid) = self.group {
            options = options.group(gid);
        }
        if let Some(ttl) = &self.ttl
            && let Some(ttl) = duration("ttl", ttl)?
        {
            options = options.ttl(ttl);
        }
        if let Some(given) = &self.durable {
            options = options.durable(durability(given)?);
        }
        Ok(options)
    }

    fn open(&self, py: Python<'_>, name: &OsString) -> PyResult<tavola::Table> {
        let options = self.options()?;
        let is_new = self
            .create
            .extract::<String>()
            .is_ok_and(|how| how == "new");
        if !is_new && !self.create.is_instance_of::<pyo3::types::PyBool>() {
            return Err(bad_option(py, "create", "it is True, False or \"new\""));
        }
        let creates = is_new || self.create.is_truthy()?;
        let read_only = self.read_only;
        let private = self.private;
        let opened = py.detach(|| match (private, read_only, creates) {
            (true, _, _) => options.private(),
            (_, true, _) => options.open_read_only(name),
            (_, _, false) => options.open_existing(name),
            _ if is_new => options.create(name),
            _ => options.open(name),
        });
        opened.or_raise(py)
    }
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (name, **options))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] name: OsString,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let empty = PyDict::new(py);
        let given: Given<'_> = options.unwrap_or(&empty).extract()?;
        let table = given.open(py, &name)?;
        if let Some(limit) = &given.lock_timeout {
            let limit = duration("lock_timeout", limit)?;
            table.set_lock_timeout(limit).or_raise(py)?;
        }
        Ok(Self {
            waits_for_disk: AtomicBool::new(waits(&table)),
            shared: LockedCell::new(Some(Arc::new(table))),
            serializer: serializer(py, given.serializer.as_ref())?,
            has_binary_keys: given.binary_keys,
            has_no_flags: AtomicBool::new(given.fixed.is_some()),
            is_private: given.private,
        })
    }
}
