//! Tables by their names, and the codec without a table.

use crate::codec::serializer;
use crate::error::OrRaise;
use crate::text::name_of;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use tavola::{Table, names};

#[pyfunction]
pub fn list_tables(py: Python<'_>) -> PyResult<Vec<OsString>> {
    let paths = py.detach(names::list).or_raise(py)?;
    Ok(paths.into_iter().map(OsString::from).collect())
}

#[pyfunction]
#[pyo3(signature = (name, any_owner=false))]
pub fn remove(
    py: Python<'_>,
    #[pyo3(from_py_with = name_of)] name: OsString,
    any_owner: bool,
) -> PyResult<()> {
    let options = Table::options().any_owner(any_owner);
    py.detach(|| options.remove(&name)).or_raise(py)
}

#[pyfunction]
#[pyo3(signature = (old, new, any_owner=false))]
pub fn rename(
    py: Python<'_>,
    #[pyo3(from_py_with = name_of)] old: OsString,
    #[pyo3(from_py_with = name_of)] new: OsString,
    any_owner: bool,
) -> PyResult<()> {
    let options = Table::options().any_owner(any_owner);
    py.detach(|| options.rename(&old, &new)).or_raise(py)
}

#[pyfunction]
pub fn path_of(
    py: Python<'_>,
    #[pyo3(from_py_with = name_of)] name: OsString,
) -> PyResult<OsString> {
    names::path_of(&name).map(OsString::from).or_raise(py)
}

/// Returns the bytes and flags of a value, or, with flags, the value of bytes.
#[pyfunction]
#[pyo3(signature = (value, serializer_name=None, flags=None))]
pub fn codec_pair<'py>(
    value: &Bound<'py, PyAny>,
    serializer_name: Option<&Bound<'py, PyAny>>,
    flags: Option<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let serializer = serializer(py, serializer_name)?;
    match flags {
        Some(flags) => serializer.decode(py, value.cast::<PyBytes>()?.as_bytes(), flags),
        None => {
            let (encoded, flags) = serializer.encode(value)?;
            let bytes = PyBytes::new(py, encoded.as_slice(py));
            Ok((bytes, flags).into_pyobject(py)?.into_any())
        }
    }
}
