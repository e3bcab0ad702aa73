//! Lists, whose elements go one by one to a callback.

use crate::entry::{Answer, OK};
use crate::status::Failure;
use std::ffi::{CString, c_char, c_void};

/// Called with a name, path or sentence: `len` bytes and a NUL, which are lent until it returns.
pub type tavola_each_text =
    Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize)>;

/// Calls the callback, which must be there, with each element of a list.
pub(crate) fn call_each<T: Into<Vec<u8>>>(
    each: tavola_each_text,
    user: *mut c_void,
    list: impl FnOnce() -> Result<Vec<T>, Failure>,
) -> Answer {
    each.ok_or_else(|| Failure::null("each"))?;
    list()?
        .into_iter()
        .for_each(|text| pass_text(each, user, text));
    OK
}

/// Calls the callback with a text. NUL bytes, which names cannot have, would end it.
pub(crate) fn pass_text(each: tavola_each_text, user: *mut c_void, text: impl Into<Vec<u8>>) {
    let (Some(each), Ok(text)) = (each, CString::new(text)) else {
        return;
    };
    // SAFETY: the caller's function, called as its type says.
    unsafe { each(user, text.as_ptr(), text.as_bytes().len()) };
}
