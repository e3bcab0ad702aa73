//! The two most frequent calls, `get` and `set`, without a tuple for their arguments.
//!
//! PyO3 uses the fast calling convention only for Python 3.10 and later, where it is in the stable
//! ABI. CPython 3.9 has it as well, with the same number and signature.

use super::Table;
use crate::text::key_of;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tavola::Condition;

const METH_FASTCALL: c_int = 0x0080;

/// The arguments of a call, as the interpreter lays them out.
struct Arguments<'py> {
    py: Python<'py>,
    values: *const *mut PyObject,
    count: usize,
    names: Option<Bound<'py, PyTuple>>,
}

impl<'py> Arguments<'py> {
    /// # Safety
    /// The pointers are those of a call by the fast convention, and the thread has the lock.
    #[inline(always)]
    unsafe fn new(
        py: Python<'py>,
        values: *const *mut PyObject,
        count: ffi::Py_ssize_t,
        names: *mut PyObject,
    ) -> Self {
        // SAFETY: the caller's promise: NULL or a tuple.
        let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, names) };
        Self {
            py,
            values,
            count: count as usize,
            // SAFETY: the interpreter passes a tuple of names.
            names: names.map(|names| unsafe { names.cast_into_unchecked() }),
        }
    }

    /// # Safety
    /// `number` is below the number of all arguments.
    #[inline(always)]
    unsafe fn at(&self, number: usize) -> Bound<'py, PyAny> {
        // SAFETY: the caller's promise.
        unsafe { Bound::from_borrowed_ptr(self.py, *self.values.add(number)) }
    }

    /// Returns the arguments by position, of which the first `needed` must be given.
    #[inline(always)]
    fn take<const N: usize>(
        &self,
        function: &str,
        parameters: [&str; N],
        needed: usize,
    ) -> PyResult<[Option<Bound<'py, PyAny>>; N]> {
        let mut found = [const { None }; N];
        if self.count > N {
            return Err(wrong(format!(
                "{function}() takes at most {N} arguments, not {}",
                self.count
            )));
        }
        for (number, place) in found.iter_mut().enumerate().take(self.count) {
            // SAFETY: it is one of the arguments by position.
            *place = Some(unsafe { self.at(number) });
        }
        if let Some(names) = &self.names {
            self.take_named(function, &parameters, names, &mut found)?;
        }
        if let Some(missing) = found.iter().take(needed).position(Option::is_none) {
            return Err(wrong(format!(
                "{function}() misses the argument {}",
                parameters[missing]
            )));
        }
        Ok(found)
    }

    #[cold]
    fn take_named(
        &self,
        function: &str,
        parameters: &[&str],
        names: &Bound<'py, PyTuple>,
        found: &mut [Option<Bound<'py, PyAny>>],
    ) -> PyResult<()> {
        for (number, name) in names.iter().enumerate() {
            let name: String = name.extract()?;
            let place = parameters.iter().position(|parameter| *parameter == name);
            match place.map(|place| &mut found[place]) {
                // SAFETY: the named arguments follow those by position.
                Some(free @ None) => *free = Some(unsafe { self.at(self.count + number) }),
                Some(_) => {
                    return Err(wrong(format!("{function}() got the argument {name} twice")));
                }
                None => {
                    return Err(wrong(format!("{function}() has no argument {name}")));
                }
            }
        }
        Ok(())
    }
}

#[cold]
fn wrong(sentence: String) -> PyErr {
    PyTypeError::new_err(sentence)
}

/// Calls `act` with the table, and hands on its result or its exception.
///
/// # Safety
/// `slf` is a `Table`, and the thread has the lock.
#[inline(always)]
unsafe fn enter(
    slf: *mut PyObject,
    act: impl for<'py> FnOnce(Python<'py>, &Table) -> PyResult<Bound<'py, PyAny>>,
) -> *mut PyObject {
    // SAFETY: the interpreter calls methods with its lock held.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the method descriptor has checked the type, and the caller keeps the object.
    let table = unsafe { Bound::<PyAny>::ref_from_ptr(py, &slf).cast_unchecked::<Table>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| act(py, table.get())));
    match outcome {
        Ok(Ok(object)) => object.into_ptr(),
        Ok(Err(error)) => {
            error.restore(py);
            std::ptr::null_mut()
        }
        Err(_) => {
            let panic = pyo3::exceptions::PySystemError::new_err("tavola panicked; this is a bug");
            panic.restore(py);
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn get(
    slf: *mut PyObject,
    values: *const *mut PyObject,
    count: ffi::Py_ssize_t,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the interpreter calls it by the fast convention.
    unsafe {
        enter(slf, |py, table| {
            let arguments = Arguments::new(py, values, count, names);
            let [key, default] = arguments.take("get", ["key", "default"], 1)?;
            let key = key.expect("it was checked to be there");
            match table.find(py, key_of(&key)?)? {
                Some(value) => Ok(value),
                None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
            }
        })
    }
}

unsafe extern "C" fn set(
    slf: *mut PyObject,
    values: *const *mut PyObject,
    count: ffi::Py_ssize_t,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the interpreter calls it by the fast convention.
    unsafe {
        enter(slf, |py, table| {
            let arguments = Arguments::new(py, values, count, names);
            let [key, value, ttl, tags] =
                arguments.take("set", ["key", "value", "ttl", "tags"], 2)?;
            let key = key.expect("it was checked to be there");
            let value = value.expect("it was checked to be there");
            match (&ttl, &tags) {
                (None, None) => table.put(&key, &value)?,
                (ttl, tags) => {
                    let (ttl, tags) = (ttl.as_ref(), tags.as_ref());
                    table.store_object(&key, &value, ttl, tags, Condition::Always)?;
                }
            }
            Ok(py.None().into_bound(py))
        })
    }
}

/// The fast convention: self, the values, how many are by position, and the names of the rest.
type FastMethod = unsafe extern "C" fn(
    *mut PyObject,
    *const *mut PyObject,
    ffi::Py_ssize_t,
    *mut PyObject,
) -> *mut PyObject;

/// A static definition of a method.
struct Definition(ffi::PyMethodDef);

// SAFETY: the interpreter only reads it, and it points to static functions and text.
unsafe impl Sync for Definition {}

const fn definition(name: &'static CStr, method: FastMethod, doc: &'static CStr) -> Definition {
    Definition(ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            // SAFETY: only the interpreter calls it, and the flags tell it the true signature.
            PyCFunctionWithKeywords: unsafe {
                std::mem::transmute::<FastMethod, ffi::PyCFunctionWithKeywords>(method)
            },
        },
        ml_flags: METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: doc.as_ptr(),
    })
}

static GET: Definition = definition(
    c"get",
    get,
    c"get($self, key, default=None)\n--\n
Return the value of a key, or the default if it is missing.

>>> import tavola
>>> table = tavola.open(\"doc\")
>>> table[\"alice\"] = 3
>>> table.get(\"alice\"), table.get(\"bob\"), table.get(\"bob\", 0)
(3, None, 0)
",
);
static SET: Definition = definition(
    c"set",
    set,
    c"set($self, key, value, ttl=None, tags=None)\n--\n
Set a key, whether or not it exists; its old TTL and tags are gone.

ttl: seconds, or a ``timedelta``; ``None`` is the default of the table, ``tavola.NEVER`` is never.
tags: a name, several names, or handles from ``tags``.

>>> import tavola
>>> table = tavola.open(\"doc\")
>>> table.set(\"page\", \"<p>hello</p>\", ttl=60, tags=[\"news\"])
>>> table[\"page\"]
'<p>hello</p>'
",
);

/// Adds the fast calls to the class.
pub fn add_fast_calls(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<Table>();
    for method in [&GET, &SET] {
        // SAFETY: the definition is static; a new reference or NULL comes back.
        let made = unsafe {
            let definition = &raw const method.0;
            let made = ffi::PyDescr_NewMethod(class.as_type_ptr(), definition.cast_mut());
            Bound::from_owned_ptr_or_err(py, made)?
        };
        class.setattr(
            made.getattr("__name__")?.cast::<pyo3::types::PyString>()?,
            made,
        )?;
    }
    Ok(())
}
