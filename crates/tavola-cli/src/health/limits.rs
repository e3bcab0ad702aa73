//! Limits of this process that a large sparse file, a large mapping or much memory runs into.

use rustix::process::{Resource, getrlimit};

use super::Finding;
use super::cgroup::memory_limit_bytes;
use crate::units::size;

const TOPIC: &str = "limits";

/// What a table reserves when nothing else is asked for.
const DEFAULT_MAX_SIZE: u64 = 64 << 30;

/// Looks at the limits on address space, on the size of files, and on memory.
pub fn examine() -> Vec<Finding> {
    let address_space = getrlimit(Resource::As).current;
    let file_size = getrlimit(Resource::Fsize).current;
    let mut findings = judge(address_space, file_size);
    if let Some(bytes) = memory_limit_bytes() {
        let message = format!("memory is limited to {} by a cgroup", size(bytes));
        findings.push(Finding::good(TOPIC, message));
    }
    findings
}

fn judge(address_space: Option<u64>, file_size: Option<u64>) -> Vec<Finding> {
    let too_low = |limit: &u64| *limit <= DEFAULT_MAX_SIZE;
    let mut findings = Vec::new();
    if let Some(limit) = address_space.filter(too_low) {
        let message = format!(
            "a process may use only {} of addresses: it maps small tables, and larger ones not at \
             all",
            size(limit)
        );
        let advice = "lift it (ulimit -v unlimited), or make tables with a smaller --max-size; \
            addresses cost no memory";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if let Some(limit) = file_size.filter(too_low) {
        let message = format!("files may only be {} large", size(limit));
        let advice = "lift it (ulimit -f unlimited), or make tables with a smaller --max-size";
        findings.push(Finding::attention(TOPIC, message, advice));
    }
    if findings.is_empty() {
        let message = "addresses and sizes of files are not limited too tightly";
        findings.push(Finding::good(TOPIC, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn only_limits_below_a_table_matter() {
        assert_eq!(judge(None, None)[0].level, Level::Good);
        assert_eq!(judge(Some(1 << 45), None)[0].level, Level::Good);
        assert_eq!(judge(Some(8 << 30), None)[0].level, Level::Attention);
        assert_eq!(judge(Some(8 << 30), Some(1 << 30)).len(), 2);
    }
}
