//! Calls about servers, not keys.

use crate::client::tavola_mc_client;
use crate::entry::{Answer, OK, entry};
use crate::given::given;
use crate::status::{c_text, status_of, tavola_mc_status};
use std::ffi::{CString, c_char, c_void};
use tavola_client_core::Error;

/// Takes what a server answered. `status` is `TAVOLA_MC_OK`, and `text` the answer, or an error,
/// and `text` a sentence that says what to do. The texts are lent until it returns.
pub type tavola_mc_server_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        server: usize,
        name: *const c_char,
        status: i32,
        text: *const c_char,
    ),
>;

/// Takes a figure of a server: its name and its value, which are lent until it returns.
pub type tavola_mc_stat_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        server: usize,
        name: *const c_char,
        value: *const c_char,
    ),
>;

/// Takes a key of a server, which is lent until it returns.
pub type tavola_mc_key_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        server: usize,
        key: *const c_void,
        key_len: usize,
    ),
>;

/// Hands what each server answered to a callback. Fails as the first server did that failed.
fn report(
    client: &tavola_mc_client,
    answers: impl IntoIterator<Item = Result<String, Error>>,
    each: tavola_mc_server_fn,
    user: *mut c_void,
) -> Answer {
    let mut first = OK;
    for (server, answer) in answers.into_iter().enumerate() {
        let (status, text): (tavola_mc_status, CString) = match &answer {
            Ok(text) => (tavola_mc_status::TAVOLA_MC_OK, c_text(text)),
            Err(error) => (status_of(error), c_text(&error.to_string())),
        };
        if let Some(each) = each {
            let name = client.name(server);
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, server, name, status as i32, text.as_ptr()) };
        }
        if let (Err(error), Ok(_)) = (answer, &first) {
            first = Err(error.into());
        }
    }
    first
}

/// Sends the requests that are held because they need no answer, those of all threads, and waits
/// until the servers have carried them out.
///
/// # Errors
/// Those of the first server that failed. What could not be sent is held on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_flush(client: *const tavola_mc_client) -> tavola_mc_status {
    entry(|| {
        given!(handle client).client.flush()?;
        OK
    })
}

/// Removes all keys of all servers, after so many seconds. `each` gets the answer of each server
/// with an empty text, and may be NULL.
///
/// # Examples
/// ```c
/// if (tavola_mc_flush_all(client, 0, NULL, NULL) != TAVOLA_MC_OK) {
///   fputs(tavola_mc_last_error(), stderr);
/// }
/// ```
///
/// # Errors
/// Those of the first server that failed; the others are asked, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_flush_all(
    client: *const tavola_mc_client,
    delay_s: u32,
    each: tavola_mc_server_fn,
    user: *mut c_void,
) -> tavola_mc_status {
    entry(|| {
        let client = given!(handle client);
        let answers = client.client.flush_all(delay_s);
        let done = |answer: Result<(), Error>| answer.map(|()| String::new());
        report(client, answers.into_iter().map(done), each, user)
    })
}

/// Asks each server for its version, and hands it to `each`.
///
/// # Examples
/// ```c
/// static void print(void *user, size_t server, const char *name, int32_t status,
///                   const char *text) {
///   (void)user;
///   printf("%zu %s: %s %s\n", server, name, tavola_mc_status_name(status), text);
/// }
///
/// tavola_mc_versions(client, print, NULL);
/// ```
///
/// # Errors
/// Those of the first server that failed; the others are asked, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_versions(
    client: *const tavola_mc_client,
    each: tavola_mc_server_fn,
    user: *mut c_void,
) -> tavola_mc_status {
    entry(|| {
        let client = given!(handle client);
        report(client, client.client.versions(), each, user)
    })
}

/// Asks each server for figures: those of a topic, such as "items" or "detail dump", or the general
/// ones if `topic` is NULL or empty. `each` gets each figure.
///
/// # Examples
/// ```c
/// static void print(void *user, size_t server, const char *name, const char *value) {
///   (void)user;
///   printf("%zu %s %s\n", server, name, value);
/// }
///
/// tavola_mc_stats(client, NULL, print, NULL);
/// ```
///
/// # Errors
/// Those of the first server that failed; `each` gets the figures of the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_stats(
    client: *const tavola_mc_client,
    topic: *const c_char,
    each: tavola_mc_stat_fn,
    user: *mut c_void,
) -> tavola_mc_status {
    entry(|| {
        let (client, topic) = (given!(handle client), given!(maybe_text topic));
        let mut first = OK;
        for (server, figures) in client.client.stats(topic).into_iter().enumerate() {
            match (figures, each) {
                (Ok(figures), Some(each)) => {
                    for figure in figures {
                        let [name, value] =
                            figure.map(|bytes| c_text(&String::from_utf8_lossy(&bytes)));
                        // SAFETY: the caller's function, called as its type says.
                        unsafe { each(user, server, name.as_ptr(), value.as_ptr()) };
                    }
                }
                (Ok(_), None) => {}
                (Err(error), _) if first.is_ok() => first = Err(error.into()),
                (Err(_), _) => {}
            }
        }
        first
    })
}

/// Lists the keys of all servers, one server after the other, wherever the keys belong by the
/// placement. `each` gets each key of the name space, without the name space. A key that is stored
/// or removed meanwhile may come or not. The keys come while they are received: a server may close
/// the connection of a client that is slow to take them.
///
/// # Examples
/// ```c
/// static void print(void *user, size_t server, const void *key, size_t key_len) {
///   (void)user;
///   printf("%zu %.*s\n", server, (int)key_len, (const char *)key);
/// }
///
/// tavola_mc_keys(client, print, NULL);
/// ```
///
/// # Errors
/// Those of the first server that failed; `each` gets the keys of the others. A server that cannot
/// list its keys refuses: it is too old, or the connection speaks the binary protocol.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_keys(
    client: *const tavola_mc_client,
    each: tavola_mc_key_fn,
    user: *mut c_void,
) -> tavola_mc_status {
    entry(|| {
        let client = &given!(handle client).client;
        let mut first = OK;
        for server in 0..client.servers().len() {
            let listed = client.keys(server, &mut |key| {
                if let Some(each) = each {
                    // SAFETY: the caller's function, called as its type says.
                    unsafe { each(user, server, key.as_ptr().cast(), key.len()) };
                }
            });
            if let (Err(error), Ok(_)) = (listed, &first) {
                first = Err(error.into());
            }
        }
        first
    })
}
