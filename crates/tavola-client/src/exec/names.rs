//! Keys as servers have them: behind the namespace.

use crate::batch::{Action, Reply, Request};
use crate::options::{Protocol, Settings};
use tavola_proto::{KEY_BYTES, is_word};

/// Makes keys as servers have them, and compares them.
#[derive(Debug)]
pub(super) struct Names<'c> {
    namespace: &'c [u8],
    has_text: bool,
    whole: Vec<u8>,
}

impl<'c> Names<'c> {
    pub(super) fn new(settings: &'c Settings) -> Self {
        Self {
            namespace: &settings.namespace,
            has_text: settings.protocol != Protocol::Binary,
            whole: Vec::new(),
        }
    }

    /// Returns the key with the namespace.
    pub(super) fn whole<'k>(&'k mut self, key: &'k [u8]) -> &'k [u8] {
        if self.namespace.is_empty() {
            return key;
        }
        self.whole.clear();
        self.whole.extend_from_slice(self.namespace);
        self.whole.extend_from_slice(key);
        &self.whole
    }

    /// Returns the namespace and the key.
    pub(super) fn parts<'k>(&'k self, key: &'k [u8]) -> [&'k [u8]; 2] {
        [self.namespace, key]
    }

    /// Whether `whole` is the key with the namespace.
    pub(super) fn is(&self, whole: &[u8], key: &[u8]) -> bool {
        match self.namespace.is_empty() {
            true => whole == key,
            false => whole.strip_prefix(self.namespace) == Some(key),
        }
    }

    /// Whether a line can have the key as it is.
    pub(super) fn is_word(&self, key: &[u8]) -> bool {
        is_word(self.namespace) && is_word(key)
    }

    /// Whether the key is one at all, and not too long behind the namespace.
    pub(super) fn fits(&self, key: &[u8]) -> bool {
        !key.is_empty() && self.namespace.len() + key.len() <= KEY_BYTES
    }

    /// Whether a request is carried out without an answer, whatever becomes of it.
    pub(super) fn is_silent(&self, request: &Request<'_>) -> bool {
        if request.reply != Reply::None || !self.has_text {
            return false;
        }
        let has_form = match request.action {
            Action::Get { .. } => false,
            Action::Count { initial, .. } => initial.is_none(),
            _ => true,
        };
        has_form && self.is_word(request.key)
    }
}
