//! The extension module `tavola._tavola`: tables, leases, locks, queues, logs and constant files
//! for Python, and a client of memcached.
//!
//! Code that needs speed or the library is here; the rest is in `python/tavola`.

mod cell;
mod codec;
mod constant;
mod error;
mod json;
mod lease;
mod lock;
mod log;
#[cfg(feature = "client")]
mod memcached;
mod names;
mod queue;
mod table;
mod text;
mod time;
mod watch;

use pyo3::prelude::*;

/// Makes the module. It relies on the interpreter's lock, see `LockedCell`.
#[pymodule(gil_used = true)]
fn _tavola(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<table::Table>()?;
    module.add_class::<table::Scan>()?;
    module.add_class::<table::TagHandles>()?;
    module.add_class::<table::LentValue>()?;
    module.add_class::<table::Transaction>()?;
    module.add_class::<lease::Lease>()?;
    module.add_class::<lease::Pending>()?;
    module.add_class::<lock::NativeLock>()?;
    module.add_class::<watch::KeyWatch>()?;
    module.add_class::<constant::ConstantFile>()?;
    module.add_class::<constant::ConstantScan>()?;
    module.add_class::<constant::ConstantWriter>()?;
    module.add_class::<queue::JobPool>()?;
    module.add_class::<log::NativeLog>()?;
    module.add_class::<log::NativeReader>()?;
    module.add_class::<log::NativeDrain>()?;
    #[cfg(feature = "client")]
    module.add_class::<memcached::MemcachedClient>()?;
    module.add_function(wrap_pyfunction!(names::list_tables, module)?)?;
    module.add_function(wrap_pyfunction!(names::remove, module)?)?;
    module.add_function(wrap_pyfunction!(names::rename, module)?)?;
    module.add_function(wrap_pyfunction!(names::path_of, module)?)?;
    module.add_function(wrap_pyfunction!(names::codec_pair, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    table::add_fast_calls(module.py())
}
