//! Bytes of Python's strings, and objects made from bytes, without copies in between.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::ffi::OsString;

unsafe extern "C" {
    // In the stable ABI from 3.10 on; CPython 3.9 exports it with the same signature.
    fn PyUnicode_AsUTF8AndSize(
        text: *mut ffi::PyObject,
        size: *mut ffi::Py_ssize_t,
    ) -> *const std::ffi::c_char;
}

/// Returns the UTF-8 bytes of a `str`, which the object keeps.
///
/// # Safety
/// The object is a `str`.
#[inline]
unsafe fn utf8<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    let mut size = 0;
    // SAFETY: the caller's promise.
    let data = unsafe { PyUnicode_AsUTF8AndSize(object.as_ptr(), &mut size) };
    if data.is_null() {
        return Err(PyErr::fetch(object.py()));
    }
    // SAFETY: the object keeps these bytes as long as it lives, and they do not change.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size as usize) })
}

/// Returns the bytes of a `str` or `bytes`, or `None` for another type.
#[inline]
pub fn bytes_of<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a [u8]>> {
    // SAFETY: the types are those of the interpreter; the casts are checked by them.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        if class == &raw mut ffi::PyUnicode_Type {
            return utf8(object).map(Some);
        }
        if class == &raw mut ffi::PyBytes_Type {
            return Ok(Some(object.cast_unchecked::<PyBytes>().as_bytes()));
        }
        if object.is_instance_of::<PyString>() {
            return utf8(object).map(Some);
        }
    }
    Ok(object.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes()))
}

/// Returns the bytes of a key.
#[inline]
pub fn key_of<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    match bytes_of(key)? {
        Some(bytes) => Ok(bytes),
        None => Err(not_a_key(key)),
    }
}

#[cold]
fn not_a_key(key: &Bound<'_, PyAny>) -> PyErr {
    let class = key.get_type();
    let name = class.name().map(|name| name.to_string());
    PyTypeError::new_err(format!(
        "a key is str or bytes, not {}; convert it first",
        name.unwrap_or_default()
    ))
}

/// Returns the name of a table: a `str`, `bytes`, or a path such as `pathlib.Path`.
pub fn name_of(name: &Bound<'_, PyAny>) -> PyResult<OsString> {
    if let Ok(text) = name.extract() {
        return Ok(text);
    }
    let os = name.py().import("os")?;
    os.call_method1("fsdecode", (name,))?.extract()
}

/// Returns a `str` of UTF-8 bytes, or `None` if they are not UTF-8.
#[inline]
pub fn decoded<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the bytes are valid for the call; a new reference or NULL comes back.
    unsafe {
        let text = ffi::PyUnicode_DecodeUTF8(
            bytes.as_ptr().cast(),
            bytes.len() as ffi::Py_ssize_t,
            std::ptr::null(),
        );
        if text.is_null() {
            drop(PyErr::take(py));
            return None;
        }
        Some(Bound::from_owned_ptr(py, text))
    }
}

/// Returns a key as Python shows it: `str` if its bytes are UTF-8, else `bytes`.
#[inline]
pub fn key_object<'py>(py: Python<'py>, key: &[u8], is_binary: bool) -> Bound<'py, PyAny> {
    let text = if is_binary { None } else { decoded(py, key) };
    text.unwrap_or_else(|| PyBytes::new(py, key).into_any())
}
