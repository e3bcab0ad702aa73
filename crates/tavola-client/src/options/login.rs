//! The user and the password of a client.

/// The user that the client is, with the password.
#[derive(Clone)]
pub(crate) enum Login {
    /// By `-Y` of memcached.
    Text { user: Vec<u8>, password: Vec<u8> },
    /// By SASL's PLAIN.
    Sasl { user: Vec<u8>, password: Vec<u8> },
}

impl Login {
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        match self {
            Self::Text { user, password } | Self::Sasl { user, password } => (user, password),
        }
    }
}

impl std::fmt::Debug for Login {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Login").field(&self.parts().0).finish()
    }
}
