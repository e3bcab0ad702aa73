//! JSON of exactly those objects that come back equal: `None`, booleans, numbers, `str`, and lists
//! and dicts of them with `str` keys.
//!
//! A tuple or a key that is a number would come back as another object, so such a value is not
//! JSON here.

use crate::text::bytes_of;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// How deep lists and dicts may be nested.
const DEEPEST: u32 = 500;

/// Writes the JSON of an object. Returns false if it is not JSON.
pub fn encode(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<bool> {
    write(object, out, DEEPEST)
}

fn write(object: &Bound<'_, PyAny>, out: &mut Vec<u8>, deeper: u32) -> PyResult<bool> {
    if object.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(truth) = object.cast_exact::<PyBool>() {
        let word: &[u8] = if truth.is_true() { b"true" } else { b"false" };
        out.extend_from_slice(word);
    } else if object.cast_exact::<PyString>().is_ok() {
        return write_text(object, out);
    } else if let Ok(number) = object.cast_exact::<PyInt>() {
        out.extend_from_slice(number.str()?.to_string().as_bytes());
    } else if let Ok(number) = object.cast_exact::<PyFloat>() {
        if !number.value().is_finite() {
            return Ok(false);
        }
        out.extend_from_slice(number.repr()?.to_string().as_bytes());
    } else if deeper == 0 {
        return Ok(false);
    } else if let Ok(list) = object.cast_exact::<PyList>() {
        return write_list(list, out, deeper - 1);
    } else if let Ok(dict) = object.cast_exact::<PyDict>() {
        return write_dict(dict, out, deeper - 1);
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn write_list(list: &Bound<'_, PyList>, out: &mut Vec<u8>, deeper: u32) -> PyResult<bool> {
    out.push(b'[');
    for (number, item) in list.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        if !write(&item, out, deeper)? {
            return Ok(false);
        }
    }
    out.push(b']');
    Ok(true)
}

fn write_dict(dict: &Bound<'_, PyDict>, out: &mut Vec<u8>, deeper: u32) -> PyResult<bool> {
    out.push(b'{');
    for (number, (key, value)) in dict.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        if key.cast_exact::<PyString>().is_err() || !write_text(&key, out)? {
            return Ok(false);
        }
        out.push(b':');
        if !write(&value, out, deeper)? {
            return Ok(false);
        }
    }
    out.push(b'}');
    Ok(true)
}

/// Writes a JSON string. Returns false for a `str` that has no UTF-8 form.
fn write_text(text: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<bool> {
    let Ok(Some(bytes)) = bytes_of(text) else {
        return Ok(false);
    };
    out.push(b'"');
    for byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    Ok(true)
}

static DECODER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns the object of a JSON text; fails if it is not JSON.
pub fn decode<'py>(text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let decode = DECODER.get_or_try_init(py, || {
        let found = py.import("tavola._codec")?.getattr("decode_json")?;
        PyResult::Ok(found.unbind())
    })?;
    decode.bind(py).call1((text,))
}
