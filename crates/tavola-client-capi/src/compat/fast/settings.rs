//! A client, its servers and options.

use super::object::Kind;
use super::{FAILURE, SUCCESS};
use crate::entry::entry_or;
use crate::given::{self, given};
use crate::status::Failure;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::time::Duration;
use tavola_client_core::{Batch, Client, Placement, Server};

/// A client, for one thread at a time.
pub struct client {
    servers: Vec<FastServer>,
    points: u32,
    hash_namespace: bool,
    /// With a NUL behind it, as it is lent.
    prefix: Vec<u8>,
    connect_timeout_ms: u64,
    io_timeout_ms: u64,
    max_failures: u32,
    failure_timeout_s: u64,
    nowait: bool,
    /// Made by the first request.
    made: Option<Client>,
    pub(super) requests: Batch<'static>,
    pub(super) kinds: Vec<Kind>,
    pub(super) object: *mut super::object::result_object,
    pub(super) noreply: bool,
}

struct FastServer {
    server: Server,
    noreply: bool,
}

/// No time is longer.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl client {
    fn new() -> Self {
        Self {
            servers: Vec::new(),
            points: 0,
            hash_namespace: false,
            prefix: vec![0],
            connect_timeout_ms: 250,
            io_timeout_ms: 1000,
            max_failures: 0,
            failure_timeout_s: 10,
            nowait: false,
            made: None,
            requests: Batch::new(),
            kinds: Vec::new(),
            object: ptr::null_mut(),
            noreply: false,
        }
    }

    /// The client, which is made if it was not.
    pub(super) fn made(&mut self) -> Result<&Client, Failure> {
        if self.made.is_none() {
            let servers = self.servers.iter().map(|server| server.server.clone());
            // No bound is 0 there, and at least 1 here.
            let failures = if self.max_failures == 0 {
                u32::MAX
            } else {
                self.max_failures
            };
            let time = |ms: u64| match ms {
                0 => DAY,
                ms => Duration::from_millis(ms).min(DAY),
            };
            let again = Duration::from_secs(self.failure_timeout_s.max(1)).min(DAY);
            let points = self.points;
            let builder = Client::builder()
                .servers(servers)
                .placement(Placement::Fast { points })
                .namespace(self.prefix[..self.prefix.len() - 1].to_vec())
                .hash_namespace(self.hash_namespace)
                .connect_timeout(time(self.connect_timeout_ms))
                .io_timeout(time(self.io_timeout_ms))
                .max_failures(failures)
                .failure_timeout(again)
                .retry(again)
                // As that client asks.
                .multi_key_gets(true);
            self.made = Some(builder.build()?);
        }
        let none = || Failure::argument("there is no client; add a server first");
        self.made.as_ref().ok_or_else(none)
    }

    /// Whether requests to a server that need no answer are not answered.
    pub(super) fn is_silent(&self, server: usize) -> bool {
        self.noreply && self.is_quiet(server)
    }

    pub(super) fn is_quiet(&self, server: usize) -> bool {
        self.nowait
            || self
                .servers
                .get(server)
                .is_some_and(|server| server.noreply)
    }

    /// Changes options: the connections are made again.
    fn change(&mut self, change: impl FnOnce(&mut Self)) {
        change(self);
        self.made = None;
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn tavola_compat_client_init() -> *mut client {
    entry_or(ptr::null_mut(), || {
        Ok(Box::into_raw(Box::new(client::new())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_destroy(c: *mut client) {
    // SAFETY: the caller's promise.
    unsafe { given::close(c) }
}

/// Closes the connections.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_reinit(c: *mut client) {
    entry_or((), || {
        given!(exclusive c).made = None;
        Ok(())
    });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_add_server(
    c: *mut client,
    host: *const c_void,
    host_len: usize,
    port: *const c_void,
    port_len: usize,
    weight: f64,
    noreply: c_int,
) -> c_int {
    entry_or(FAILURE, || {
        let (c, host) = (given!(exclusive c), given!(bytes host, host_len));
        let host = String::from_utf8_lossy(host);
        let text = match port.is_null() {
            true => format!("unix:{host}"),
            false => {
                let port = String::from_utf8_lossy(given!(bytes port, port_len));
                match host.contains(':') {
                    true => format!("[{host}]:{port}"),
                    false => format!("{host}:{port}"),
                }
            }
        };
        let server = text.parse::<Server>();
        let server = server.map_err(tavola_client_core::BuildError::from)?;
        if !(weight.is_finite() && weight > 0.0) {
            return Err(Failure::argument("the weight is not a number above 0"));
        }
        let added = FastServer {
            server: server.with_weight(weight),
            noreply: noreply != 0,
        };
        c.change(|c| c.servers.push(added));
        Ok(SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_set_ketama_points(
    c: *mut client,
    points: c_int,
) -> c_int {
    entry_or(FAILURE, || {
        let points = u32::try_from(points);
        let points = points.map_err(|_| Failure::argument("there are less than 0 points"))?;
        given!(exclusive c).change(|c| c.points = points);
        Ok(SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_set_prefix(
    c: *mut client,
    ns: *const c_void,
    ns_len: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let mut prefix = given!(bytes ns, ns_len).to_vec();
        prefix.push(0);
        given!(exclusive c).change(|c| c.prefix = prefix);
        Ok(SUCCESS)
    })
}

/// The prefix, which is lent until the next change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_get_prefix(
    c: *mut client,
    ns_len: *mut usize,
) -> *const c_char {
    entry_or(c"".as_ptr(), || {
        let (c, len) = (given!(handle c), given!(maybe ns_len));
        if let Some(len) = len {
            *len = c.prefix.len() - 1;
        }
        Ok(c.prefix.as_ptr().cast())
    })
}

/// Setters of one field.
macro_rules! setters {
    ($($name:ident: |$c:ident, $value:ident| $set:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: *mut client, value: c_int) {
            entry_or((), || {
                let $value = value;
                given!(exclusive c).change(|$c| $set);
                Ok(())
            });
        }
    )*};
}

setters! {
    tavola_compat_client_set_hash_namespace: |c, on| c.hash_namespace = on != 0;
    tavola_compat_client_set_connect_timeout: |c, ms| c.connect_timeout_ms = ms.max(0) as u64;
    tavola_compat_client_set_io_timeout: |c, ms| c.io_timeout_ms = ms.max(0) as u64;
    tavola_compat_client_set_max_failures: |c, most| c.max_failures = most.max(0) as u32;
    tavola_compat_client_set_failure_timeout: |c, s| c.failure_timeout_s = s.max(0) as u64;
    tavola_compat_client_set_nowait: |c, on| c.nowait = on != 0;
}

/// Has no effect: a connection whose answers are not certain is always closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_set_close_on_error(_c: *mut client, _on: c_int) {}
