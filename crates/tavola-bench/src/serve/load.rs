//! What is asked of a server.

use serde::{Deserialize, Serialize};

/// A kind of requests, and how many of them go at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// One get after the other over one connection.
    Get,
    /// The same over 50 connections of one client.
    #[serde(rename = "get-50")]
    Get50,
    /// Ten gets at once.
    #[serde(rename = "pipe-10")]
    Pipe10,
    /// A hundred.
    #[serde(rename = "pipe-100")]
    Pipe100,
    /// One get of a hundred keys.
    Multiget,
    /// A hundred meta gets (`mg KEY k v`).
    Meta,
    /// A hundred quiet binary gets and a no-op.
    Binary,
    /// One set after the other.
    Set,
    /// A hundred sets at once, each answered.
    SetPipe,
    /// A hundred sets at once, of which the last alone is answered.
    SetNoreply,
}

impl Load {
    /// All of them, in the order they run.
    pub const ALL: [Self; 10] = [
        Self::Get,
        Self::Get50,
        Self::Pipe10,
        Self::Pipe100,
        Self::Multiget,
        Self::Meta,
        Self::Binary,
        Self::Set,
        Self::SetPipe,
        Self::SetNoreply,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Get50 => "get-50",
            Self::Pipe10 => "pipe-10",
            Self::Pipe100 => "pipe-100",
            Self::Multiget => "multiget",
            Self::Meta => "meta",
            Self::Binary => "binary",
            Self::Set => "set",
            Self::SetPipe => "set-pipe",
            Self::SetNoreply => "set-noreply",
        }
    }

    /// What a trip is.
    pub fn what(self) -> &'static str {
        match self {
            Self::Get => "one get a trip, one connection",
            Self::Get50 => "one get a trip, 50 connections of one client",
            Self::Pipe10 => "10 gets a trip",
            Self::Pipe100 => "100 gets a trip",
            Self::Multiget => "one get of 100 keys a trip",
            Self::Meta => "100 of 'mg KEY k v' a trip",
            Self::Binary => "100 binary getq and a noop a trip",
            Self::Set => "one set a trip, answered",
            Self::SetPipe => "100 sets a trip, each answered",
            Self::SetNoreply => "100 sets a trip, the last alone answered (noreply)",
        }
    }

    /// Connections of the client.
    pub fn connections(self) -> usize {
        match self {
            Self::Get50 => 50,
            _ => 1,
        }
    }

    /// Keys of a trip.
    pub fn depth(self) -> usize {
        match self {
            Self::Get | Self::Get50 | Self::Set => 1,
            Self::Pipe10 => 10,
            _ => 100,
        }
    }

    /// Whether keys are set.
    pub fn sets(self) -> bool {
        matches!(self, Self::Set | Self::SetPipe | Self::SetNoreply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_json_and_in_arguments() {
        for load in Load::ALL {
            assert_eq!(serde_json::to_value(load).unwrap(), load.name());
        }
    }
}
