//! How objects become bytes with flags, and bytes become objects; see `bindings/README.md`.

use crate::error::refused;
use crate::json;
use crate::text::{bytes_of, decoded};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString};

pub const BYTES: u32 = 0;
pub const TEXT: u32 = 0x5401_0000;
const INTEGER: u32 = 0x5402_0000;
const FLOAT: u32 = 0x5403_0000;
const JSON: u32 = 0x5404_0000;
const PICKLE: u32 = 0x5410_0000;

/// The bits of the flags that say of which kind a value is.
const KIND: u32 = 0xffff_0000;

/// The kind of a counter that `incr` creates.
pub const COUNTER: u32 = INTEGER;

/// The bytes of a value on the way into a table.
pub enum Encoded<'a> {
    /// They are kept by the object that was given.
    Lent(&'a [u8]),
    /// They were made for this call.
    Made(Vec<u8>),
    /// They are those of a `bytes` object that was made for this call.
    Object(Py<PyBytes>),
}

impl Encoded<'_> {
    #[inline]
    pub fn as_slice<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Made(bytes) => bytes,
            Self::Object(object) => object.as_bytes(py),
        }
    }
}

/// How a table treats objects that are not text, bytes or numbers.
pub enum Serializer {
    /// JSON, and nothing else.
    Json,
    /// JSON where it is exact, otherwise pickle.
    Pickle { dumps: Py<PyAny>, loads: Py<PyAny> },
    /// Functions of the user, marked by flags of the user.
    Custom {
        dumps: Py<PyAny>,
        loads: Py<PyAny>,
        flags: u32,
    },
}

/// Returns the serializer that `open` was given.
pub fn serializer(py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Serializer> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(Serializer::Json);
    };
    if let Ok(name) = given.extract::<String>() {
        return match name.as_str() {
            "pickle" => {
                let pickle = py.import("tavola._codec")?;
                Ok(Serializer::Pickle {
                    dumps: pickle.getattr("dumps_pickle")?.unbind(),
                    loads: pickle.getattr("loads_pickle")?.unbind(),
                })
            }
            "json" => Ok(Serializer::Json),
            other => Err(refused(
                py,
                "BAD_OPTION",
                format!(
                    "the option serializer is invalid: {other:?} is unknown; give None, \
                    \"pickle\", or an object with dumps, loads and flags"
                ),
            )),
        };
    }
    let flags: u32 = given.getattr("flags")?.extract()?;
    if flags == 0 || flags >> 24 == 0x54 {
        return Err(refused(
            py,
            "BAD_OPTION",
            format!(
                "the option serializer is invalid: its flags are {flags:#x}; give a number that \
                is not 0 and whose high byte is not 0x54"
            ),
        ));
    }
    Ok(Serializer::Custom {
        dumps: given.getattr("dumps")?.unbind(),
        loads: given.getattr("loads")?.unbind(),
        flags,
    })
}

impl Serializer {
    /// Returns the bytes and flags of an object.
    #[inline]
    pub fn encode<'a>(&self, value: &'a Bound<'_, PyAny>) -> PyResult<(Encoded<'a>, u32)> {
        // SAFETY: the types are those of the interpreter.
        unsafe {
            let class = ffi::Py_TYPE(value.as_ptr());
            if class == &raw mut ffi::PyBytes_Type {
                let bytes = value.cast_unchecked::<PyBytes>().as_bytes();
                return Ok((Encoded::Lent(bytes), BYTES));
            }
            if class == &raw mut ffi::PyUnicode_Type
                && let Some(text) = self.text(value)?
            {
                return Ok((Encoded::Lent(text), TEXT));
            }
        }
        self.encode_other(value)
    }

    /// Returns the UTF-8 of a `str`. One with lone surrogates has none: it is pickled, or refused.
    fn text<'a>(&self, value: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a [u8]>> {
        match bytes_of(value) {
            Ok(text) => Ok(text),
            Err(_) if matches!(self, Self::Pickle { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn encode_other<'a>(&self, value: &'a Bound<'_, PyAny>) -> PyResult<(Encoded<'a>, u32)> {
        if let Ok(number) = value.cast_exact::<PyInt>() {
            let text = match number.extract::<i64>() {
                Ok(small) => small.to_string(),
                Err(_) => number.str()?.to_string(),
            };
            return Ok((Encoded::Made(text.into_bytes()), INTEGER));
        }
        if let Ok(number) = value.cast_exact::<PyFloat>() {
            let text = number.repr()?.to_string();
            return Ok((Encoded::Made(text.into_bytes()), FLOAT));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let class = value.py().get_type::<PyBytes>();
            let copy = class.call1((value,))?.cast_into::<PyBytes>()?;
            return Ok((Encoded::Object(copy.unbind()), BYTES));
        }
        match self {
            Self::Custom { dumps, flags, .. } => Ok((self.dumped(dumps, value)?, *flags)),
            Self::Json => json_of(value)?.map_or_else(|| self.encode_subclass(value), Ok),
            Self::Pickle { dumps, .. } => match json_of(value)? {
                Some(json) => Ok(json),
                None => Ok((self.dumped(dumps, value)?, PICKLE)),
            },
        }
    }

    fn dumped(&self, dumps: &Py<PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Encoded<'static>> {
        let py = value.py();
        let dumped = dumps.bind(py).call1((value,))?;
        match dumped.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(Encoded::Object(bytes.unbind())),
            Err(_) => Err(PyTypeError::new_err(
                "the function dumps of the serializer did not return bytes",
            )),
        }
    }

    /// Encodes an object of a subclass of a scalar type, such as an `IntEnum`, as that scalar.
    #[cold]
    fn encode_subclass<'a>(&self, value: &'a Bound<'_, PyAny>) -> PyResult<(Encoded<'a>, u32)> {
        if let Some(bytes) = bytes_of(value)? {
            let is_text = value.is_instance_of::<PyString>();
            return Ok((Encoded::Lent(bytes), if is_text { TEXT } else { BYTES }));
        }
        let py = value.py();
        let plain = match value {
            value if value.is_instance_of::<PyBool>() => None,
            value if value.is_instance_of::<PyInt>() => Some(py.get_type::<PyInt>()),
            value if value.is_instance_of::<PyFloat>() => Some(py.get_type::<PyFloat>()),
            _ => None,
        };
        let Some(plain) = plain else {
            return Err(not_storable(value));
        };
        let plain = plain.call1((value,))?;
        let (encoded, flags) = self.encode_other(&plain)?;
        Ok((Encoded::Made(encoded.as_slice(py).to_vec()), flags))
    }

    /// Returns the object of bytes with these flags. Bytes that do not decode are returned as
    /// `bytes`.
    #[inline]
    pub fn decode<'py>(
        &self,
        py: Python<'py>,
        bytes: &[u8],
        flags: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.try_decode(py, bytes, flags)? {
            Some(value) => Ok(value),
            None => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }

    /// Returns the object, or `None` if it is the bytes themselves.
    #[inline]
    pub fn try_decode<'py>(
        &self,
        py: Python<'py>,
        bytes: &[u8],
        flags: u32,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if flags == BYTES {
            return Ok(None);
        }
        if flags >> 24 != 0x54 {
            return match self {
                Self::Custom {
                    loads, flags: own, ..
                } if is_own(*own, flags) => loaded(py, loads, bytes),
                _ => Ok(None),
            };
        }
        match flags & KIND {
            TEXT => Ok(decoded(py, bytes)),
            INTEGER => integer(py, bytes),
            FLOAT => Ok(float(py, bytes)),
            JSON => json_object(py, bytes),
            PICKLE => match self {
                Self::Pickle { loads, .. } => loaded(py, loads, bytes),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// Returns whether a value with these flags is one of the serializer with the flags `own`. With
/// `early`, a lease stores in the low 16 bits how long the value took to compute, if they are free.
fn is_own(own: u32, flags: u32) -> bool {
    match own & !KIND {
        0 => own == flags & KIND,
        _ => own == flags,
    }
}

fn json_of<'a>(value: &Bound<'_, PyAny>) -> PyResult<Option<(Encoded<'a>, u32)>> {
    let mut text = Vec::with_capacity(64);
    let is_json = json::encode(value, &mut text)?;
    Ok(is_json.then_some((Encoded::Made(text), JSON)))
}

static NOT_STORABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

#[cold]
fn not_storable(value: &Bound<'_, PyAny>) -> PyErr {
    let py = value.py();
    let made = NOT_STORABLE
        .get_or_try_init(py, || {
            let found = py.import("tavola._codec")?.getattr("not_storable")?;
            PyResult::Ok(found.unbind())
        })
        .and_then(|make| make.bind(py).call1((value,)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns what a function of a serializer makes of the bytes. An ordinary exception means that the
/// bytes are not of its kind; an exit or a signal is raised.
fn loaded<'py>(
    py: Python<'py>,
    loads: &Py<PyAny>,
    bytes: &[u8],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match loads.bind(py).call1((PyBytes::new(py, bytes),)) {
        Ok(object) => Ok(Some(object)),
        Err(error) => ordinary(py, error),
    }
}

fn ordinary<T>(py: Python<'_>, error: PyErr) -> PyResult<Option<T>> {
    match error.is_instance_of::<pyo3::exceptions::PyException>(py) {
        true => Ok(None),
        false => Err(error),
    }
}

fn integer<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Ok(None);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Ok(None);
    };
    if let Ok(number) = text.parse::<i64>() {
        return Ok(Some(number.into_pyobject(py)?.into_any()));
    }
    match py.get_type::<PyInt>().call1((text,)) {
        Ok(number) => Ok(Some(number)),
        Err(error) => ordinary(py, error),
    }
}

fn float<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    let number: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    Some(PyFloat::new(py, number).into_any())
}

fn json_object<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    // The three words need no parser.
    match bytes {
        b"null" => return Ok(Some(py.None().into_bound(py))),
        b"true" => return Ok(Some(PyBool::new(py, true).to_owned().into_any())),
        b"false" => return Ok(Some(PyBool::new(py, false).to_owned().into_any())),
        _ => {}
    }
    let Some(text) = decoded(py, bytes) else {
        return Ok(None);
    };
    match json::decode(&text) {
        Ok(object) => Ok(Some(object)),
        Err(error) => ordinary(py, error),
    }
}
