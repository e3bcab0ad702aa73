//! What `tavola doctor` looks at. Each look gives findings, each finding says what to do.

mod cgroup;
pub mod directory;
pub mod durable;
pub mod huge_pages;
pub mod limits;
pub mod logout;
pub mod room;
mod shared;
pub mod tables;

use std::path::{Path, PathBuf};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be.
    Good,
    /// Works, but could be better.
    Note,
    /// Should be seen to.
    Attention,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Good => "good",
            Level::Note => "note",
            Level::Attention => "attention",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Finding {
    pub level: Level,
    /// What was looked at, in one or two words.
    pub topic: &'static str,
    /// What is the case.
    pub message: String,
    /// What to do about it; empty when nothing is to be done.
    pub advice: String,
}

impl Finding {
    pub fn good(topic: &'static str, message: impl Into<String>) -> Finding {
        Finding {
            level: Level::Good,
            topic,
            message: message.into(),
            advice: String::new(),
        }
    }

    pub fn note(
        topic: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        let (message, advice) = (message.into(), advice.into());
        Finding {
            level: Level::Note,
            topic,
            message,
            advice,
        }
    }

    pub fn attention(
        topic: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Finding {
        let (message, advice) = (message.into(), advice.into());
        Finding {
            level: Level::Attention,
            topic,
            message,
            advice,
        }
    }
}

/// Everything, in the order in which it is best read. `homes` are directories of durable tables, in
/// addition to those whose memory is in the directory.
pub fn examine(directory: &Path, homes: &[PathBuf]) -> Vec<Finding> {
    let mut findings = directory::examine(directory);
    findings.extend(logout::examine(directory));
    findings.extend(room::examine(directory));
    findings.extend(limits::examine());
    findings.push(huge_pages::examine(directory));
    findings.extend(tables::examine(directory));
    findings.extend(durable::examine(directory, homes));
    findings
}
