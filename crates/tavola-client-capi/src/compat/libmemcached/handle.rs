//! What is behind a `memcached_st`.

use super::codes::{self, Code};
use super::fault::Fault;
use super::fleet::Fleet;
use super::memory::Memory;
use super::settings::{self, Settings};
use super::types::{
    CleanupFn, CloneFn, DeleteTriggerFn, Found, TriggerKeyFn, memcached_server_st, memcached_st,
};
use crate::status::c_text;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use tavola_client_core::Reply;

/// The callbacks of a handle.
#[derive(Clone, Copy)]
pub(super) struct Callbacks {
    pub(super) cleanup: CleanupFn,
    pub(super) clone: CloneFn,
    pub(super) get_failure: TriggerKeyFn,
    pub(super) delete_trigger: DeleteTriggerFn,
}

/// The values that a `memcached_mget` found and that were not fetched yet.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) found: VecDeque<Found>,
    /// What is returned behind the last one.
    pub(super) end: Option<Fault>,
}

/// The last failure.
pub(super) struct Last {
    pub(super) code: Code,
    pub(super) text: CString,
}

/// What is behind a `memcached_st`.
pub(super) struct Handle {
    pub(super) settings: Settings,
    /// Each at a place of its own, as they are lent to the caller.
    #[allow(
        clippy::vec_box,
        reason = "pointers to servers stay valid when others are added"
    )]
    pub(super) servers: Vec<Box<memcached_server_st>>,
    pub(super) memory: Memory,
    pub(super) callbacks: Callbacks,
    pub(super) user_data: *mut c_void,
    pub(super) pending: Pending,
    pub(super) last: Option<Last>,
    pub(super) last_disconnect: Option<usize>,
    /// Text with a NUL, lent by `memcached_callback_get`.
    pub(super) namespace: CString,
    fleet: Option<Fleet>,
}

impl Handle {
    pub(super) fn new(owner: *const memcached_st) -> Self {
        Self {
            settings: Settings::default(),
            servers: Vec::new(),
            memory: Memory::usual(owner),
            callbacks: Callbacks {
                cleanup: None,
                clone: None,
                get_failure: None,
                delete_trigger: None,
            },
            user_data: ptr::null_mut(),
            pending: Pending::default(),
            last: None,
            last_disconnect: None,
            namespace: CString::default(),
            fleet: None,
        }
    }

    /// The same settings and servers, with connections of its own.
    pub(super) fn copy(&self, owner: *const memcached_st) -> Self {
        Self {
            settings: self.settings.clone(),
            servers: self.servers.clone(),
            memory: Memory {
                owner,
                ..self.memory
            },
            callbacks: self.callbacks,
            user_data: self.user_data,
            namespace: self.namespace.clone(),
            ..Self::new(owner)
        }
    }

    /// The clients, which are made when they are needed.
    pub(super) fn fleet(&mut self) -> Result<&mut Fleet, Fault> {
        let fleet = match self.fleet.take() {
            Some(fleet) => fleet,
            None => Fleet::new(&self.settings, &self.servers)?,
        };
        Ok(self.fleet.insert(fleet))
    }

    /// The clients, if they were made.
    pub(super) fn made_fleet(&self) -> Option<&Fleet> {
        self.fleet.as_ref()
    }

    /// Closes the connections. What is held is sent before.
    pub(super) fn disconnect(&mut self) {
        self.fleet = None;
        self.pending = Pending::default();
    }

    /// Whether a store or a removal waits for its answer.
    pub(super) fn reply(&self) -> Reply {
        match self.settings.is_on(settings::NOREPLY) {
            true => Reply::None,
            false => self.touch_reply(),
        }
    }

    /// Whether a new expiry time waits for its answer. As there, `NOREPLY` does not change that.
    pub(super) fn touch_reply(&self) -> Reply {
        match self.settings.is_on(settings::BUFFER_REQUESTS) {
            true => Reply::None,
            false => Reply::Wait,
        }
    }

    /// Keeps a failure for `memcached_last_error`. Returns its code.
    pub(super) fn note(&mut self, fault: &Fault) -> Code {
        let text = String::from_utf8_lossy(codes::text(fault.code).to_bytes());
        let text = match fault.why.is_empty() {
            true => text.into_owned(),
            false => format!("{text}, {}", fault.why),
        };
        self.last = Some(Last {
            code: fault.code,
            text: c_text(&text),
        });
        if let Some(server) = fault.server {
            self.last_disconnect = Some(server);
            if let Some(server) = self.servers.get_mut(server) {
                server.error = fault.code;
            }
        }
        fault.code
    }

    /// The text of the last failure.
    pub(super) fn last_text(&self) -> Option<&CStr> {
        self.last.as_ref().map(|last| last.text.as_c_str())
    }

    /// Checks a key as far as the client does not.
    pub(super) fn check_key(&self, key: &[u8]) -> Result<(), Fault> {
        if key.is_empty() {
            return Err(Fault::bad_key("the key is empty; give 1 byte or more"));
        }
        if key.len() + self.settings.namespace.len() > 250 {
            let why = "the key is too long; give 250 bytes at most, with the name space";
            return Err(Fault::bad_key(why));
        }
        // Without VERIFY_KEY the meta commands and the binary protocol take any bytes.
        let is_wrong = |byte: &u8| *byte <= b' ' || *byte == 0x7f;
        if self.settings.is_on(settings::VERIFY_KEY) && key.iter().any(is_wrong) {
            let why = "the key has a space or a control character; encode it";
            return Err(Fault::bad_key(why));
        }
        Ok(())
    }
}
