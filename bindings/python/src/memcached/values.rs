//! Values on their way to servers and back.

use super::failure::illegal;
use crate::codec::{Encoded, Serializer, serializer};
use crate::text::bytes_of;
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString};

/// How objects become bytes with flags, and bytes become objects.
pub struct Values {
    encoding: String,
    form: Form,
}

enum Form {
    /// Bytes both ways; texts and numbers are written as text.
    Bytes,
    /// As tables of this package store values.
    Codec(Serializer),
    /// By the methods of an object of the caller.
    Methods {
        serialize: Py<PyAny>,
        deserialize: Py<PyAny>,
    },
}

impl Values {
    pub fn new(py: Python<'_>, serde: Option<Py<PyAny>>, encoding: String) -> PyResult<Self> {
        let form = match serde.as_ref().map(|serde| serde.bind(py)) {
            None => Form::Bytes,
            Some(name) if name.is_instance_of::<PyString>() => {
                Form::Codec(serializer(py, Some(name))?)
            }
            Some(object) => Form::Methods {
                serialize: object.getattr("serialize")?.unbind(),
                deserialize: object.getattr("deserialize")?.unbind(),
            },
        };
        Ok(Self { encoding, form })
    }

    /// Returns the bytes and the flags of a value.
    pub fn encode<'a>(
        &self,
        key: &Bound<'_, PyAny>,
        value: &'a Bound<'_, PyAny>,
    ) -> PyResult<(Encoded<'a>, u32)> {
        match &self.form {
            Form::Bytes => Ok((self.plain(value)?, 0)),
            Form::Codec(codec) => codec.encode(value),
            Form::Methods { serialize, .. } => {
                let made = serialize.bind(key.py()).call1((key, value))?;
                let (made, flags): (Bound<'_, PyAny>, u32) = made.extract()?;
                let bytes = match self.plain(&made)? {
                    // The object that was made ends here.
                    Encoded::Lent(bytes) => Encoded::Object(match made.cast_exact::<PyBytes>() {
                        Ok(object) => object.clone().unbind(),
                        Err(_) => PyBytes::new(key.py(), bytes).unbind(),
                    }),
                    Encoded::Made(bytes) => Encoded::Made(bytes),
                    Encoded::Object(object) => Encoded::Object(object),
                };
                Ok((bytes, flags))
            }
        }
    }

    /// Returns the object of a value whose bytes are an object already.
    pub fn decode<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        bytes: Bound<'py, PyBytes>,
        flags: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.form {
            Form::Bytes => Ok(bytes.into_any()),
            Form::Codec(codec) => {
                let decoded = codec.try_decode(key.py(), bytes.as_bytes(), flags)?;
                Ok(decoded.unwrap_or_else(|| bytes.into_any()))
            }
            Form::Methods { deserialize, .. } => {
                deserialize.bind(key.py()).call1((key, bytes, flags))
            }
        }
    }

    /// Returns the bytes of what is stored as it is.
    fn plain<'a>(&self, value: &'a Bound<'_, PyAny>) -> PyResult<Encoded<'a>> {
        let py = value.py();
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text);
        }
        if let Some(bytes) = bytes_of(value)? {
            return Ok(Encoded::Lent(bytes));
        }
        if value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyFloat>() {
            return Ok(Encoded::Made(value.str()?.to_string().into_bytes()));
        }
        if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
            let copy = py.get_type::<PyBytes>().call1((value,))?;
            return Ok(Encoded::Object(copy.cast_into::<PyBytes>()?.unbind()));
        }
        let class = value.get_type();
        Err(illegal(
            py,
            format!(
                "a value of type {} cannot be stored; store bytes, str, int or float, or give \
                 serde=\"json\", \"pickle\", or an object with serialize and deserialize",
                class.name()?
            ),
        ))
    }

    fn text<'a>(&self, text: &'a Bound<'_, PyString>) -> PyResult<Encoded<'a>> {
        if matches!(self.encoding.as_str(), "ascii" | "utf-8" | "utf8")
            && let Ok(Some(bytes)) = bytes_of(text.as_any())
            && (self.encoding != "ascii" || bytes.is_ascii())
        {
            return Ok(Encoded::Lent(bytes));
        }
        let py = text.py();
        match text.call_method1("encode", (self.encoding.as_str(),)) {
            Ok(encoded) => Ok(Encoded::Object(encoded.cast_into::<PyBytes>()?.unbind())),
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(py) => Err(illegal(
                py,
                format!(
                    "the value cannot be stored: {}; give encoding=\"utf-8\" or bytes",
                    error.value(py)
                ),
            )),
            Err(error) => Err(error),
        }
    }
}
