//! Clients, and the servers they have.

use crate::entry::{OK, entry, entry_or};
use crate::given::{self, given};
use crate::options::{apply, tavola_mc_options};
use crate::status::{Failure, c_text, tavola_mc_status};
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use tavola_client_core::{BuildError, Client, Server};

/// A client of a fleet of servers. Threads may share it.
pub struct tavola_mc_client {
    pub(crate) client: Client,
    /// The names of the servers, which are lent to the caller.
    names: Vec<CString>,
}

/// Threads share a client.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<tavola_mc_client>();
};

impl tavola_mc_client {
    pub(crate) fn name(&self, server: usize) -> *const c_char {
        self.names
            .get(server)
            .map_or(ptr::null(), |name| name.as_ptr())
    }
}

/// The servers of a list: texts with commas between them.
fn servers_of(list: &str) -> Result<Vec<Server>, Failure> {
    let texts = list
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty());
    texts
        .map(|text| text.parse().map_err(|error| BuildError::from(error).into()))
        .collect()
}

/// Makes a client of servers: texts `HOST:PORT`, `[IPV6]:PORT`, `unix:/PATH`, `/PATH`, or
/// `tavola:NAME` for a table of this machine, each with `?weight=NUMBER` if its share of the keys
/// is not 1, with commas between them. Their order is a part of the placement of keys. `options`
/// may be NULL. Nothing is connected yet.
///
/// # Examples
/// ```c
/// tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
/// tavola_mc_client *fleet = NULL;
/// options.io_timeout_ms = 500;
/// options.name_space = "app:";
/// options.name_space_len = 4;
/// const char *servers = "10.0.0.1:11211?weight=2,unix:/run/mc.sock,[::1]:11212";
/// if (tavola_mc_open(servers, &options, &fleet) != TAVOLA_MC_OK) {
///   fprintf(stderr, "%s\n", tavola_mc_last_error());
///   return;
/// }
/// for (size_t i = 0; i < tavola_mc_server_count(fleet); i++) {
///   puts(tavola_mc_server_name(fleet, i));
/// }
/// size_t server = 0;
/// tavola_mc_server_of(fleet, TAVOLA_MC_STR("user:1"), &server);
/// printf("user:1 is on server %zu\n", server);
/// tavola_mc_close(fleet);
/// ```
///
/// # Errors
/// `TAVOLA_MC_ERR_SERVERS`: a text names no server, there is none, or a weight is not a number
/// above 0. `TAVOLA_MC_ERR_OPTION`: an option is invalid, or a file for TLS cannot be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_open(
    servers: *const c_char,
    options: *const tavola_mc_options,
    client: *mut *mut tavola_mc_client,
) -> tavola_mc_status {
    entry(|| {
        let (list, client) = (given!(text servers), given!(exclusive client));
        let builder = Client::builder().servers(servers_of(list)?);
        let made = apply(builder, options)?.build()?;
        let names = made.servers().iter().map(|server| c_text(server.name()));
        *client = Box::into_raw(Box::new(tavola_mc_client {
            names: names.collect(),
            client: made,
        }));
        OK
    })
}

/// Closes a client. Requests that are held because they need no answer are sent before, and the
/// connections are closed when its batches are freed, too. NULL has no effect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_close(client: *mut tavola_mc_client) {
    // SAFETY: the caller's promise.
    unsafe { given::close(client) }
}

/// Returns the number of servers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_server_count(client: *const tavola_mc_client) -> usize {
    entry_or(0, || Ok(given!(handle client).names.len()))
}

/// Returns the name of a server: its text without the weight, which stays valid until the client is
/// closed. Returns NULL if there is no such server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_server_name(
    client: *const tavola_mc_client,
    server: usize,
) -> *const c_char {
    entry_or(ptr::null(), || Ok(given!(handle client).name(server)))
}

/// Finds the place in the list of the server that has a key, whether it is up or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_server_of(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    server: *mut usize,
) -> tavola_mc_status {
    entry(|| {
        let (client, server) = (given!(handle client), given!(exclusive server));
        *server = client.client.server_of(given!(bytes key, key_len));
        OK
    })
}
