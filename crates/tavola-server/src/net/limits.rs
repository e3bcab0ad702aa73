//! How many files this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::net::error::{Error, Result};

/// Files that are open beside connections: listeners, epolls, a table and what it reads.
const BESIDE: u64 = 64;

/// Raises the soft limit of open files, so that this process may have `connections` connections
/// open. [`crate::Options::start`] calls this.
///
/// # Errors
///
/// [`Error::FileLimit`] if the hard limit is lower.
pub fn raise_file_limit(connections: usize) -> Result<()> {
    let needed = (connections as u64).saturating_add(BESIDE);
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if allowed < needed {
        return Err(Error::FileLimit { needed, allowed });
    }
    let wanted = Rlimit {
        current: Some(needed),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, wanted).map_err(Error::system("raising the limit of open files"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hard_limit_allows_is_raised_and_no_more() {
        let limit = getrlimit(Resource::Nofile);
        raise_file_limit(1).expect("a few are always allowed");
        assert_eq!(getrlimit(Resource::Nofile).maximum, limit.maximum);
        if let Some(allowed) = limit.maximum {
            let found = raise_file_limit(allowed as usize);
            assert!(matches!(found, Err(Error::FileLimit { needed, .. }) if needed > allowed));
        }
    }
}
