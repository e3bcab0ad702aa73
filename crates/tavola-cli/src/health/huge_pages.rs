//! Huge pages: whether `tavola maintain` can make cold reads of large tables faster.

use std::fs;
use std::path::Path;

use super::{Finding, room};

const TOPIC: &str = "huge pages";
const SHMEM_ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

/// The first kernel with `MADV_COLLAPSE`, which needs no setting.
const COLLAPSE_SINCE: (u32, u32) = (6, 1);

/// Looks at the file system, the kernel's version and its setting for shared memory.
pub fn examine(directory: &Path) -> Finding {
    if directory.exists() && !room::is_in_memory(directory) {
        let message = format!(
            "{} is not in memory: tables there have none",
            directory.display()
        );
        let advice = "nothing breaks; large tables are read up to twice as fast in memory, such as \
            /dev/shm, after 'tavola maintain'";
        return Finding::note(TOPIC, message, advice);
    }
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let setting = fs::read_to_string(SHMEM_ENABLED).ok();
    judge(&release, setting.as_deref().and_then(chosen))
}

/// The word in brackets of `always [never] force`.
fn chosen(setting: &str) -> Option<&str> {
    let (_, rest) = setting.split_once('[')?;
    Some(rest.split_once(']')?.0)
}

fn judge(release: &str, setting: Option<&str>) -> Finding {
    let Some(setting) = setting else {
        let message = format!("kernel {release} has no huge pages for shared memory");
        let advice = "nothing breaks; large tables are read up to twice as fast with a kernel \
            that has CONFIG_TRANSPARENT_HUGEPAGE";
        return Finding::note(TOPIC, message, advice);
    };
    if setting == "deny" {
        let message = "shared memory may not have huge pages (shmem_enabled is deny)";
        let advice = format!("as root: echo never > {SHMEM_ENABLED}; tavola needs no more");
        return Finding::note(TOPIC, message, advice);
    }
    if version(release).is_some_and(|version| version >= COLLAPSE_SINCE) {
        let message = format!("'tavola maintain' can make them (kernel {release})");
        return Finding::good(TOPIC, message);
    }
    if setting == "never" {
        let message = format!("kernel {release} is older than 6.1, and shmem_enabled is never");
        let advice = format!("as root: echo advise > {SHMEM_ENABLED}; or run a newer kernel");
        return Finding::note(TOPIC, message, advice);
    }
    Finding::good(
        TOPIC,
        format!("the kernel may make them by itself (shmem_enabled is {setting})"),
    )
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn the_chosen_setting_is_in_brackets() {
        assert_eq!(
            chosen("always within_size advise [never] deny force\n"),
            Some("never")
        );
        assert_eq!(chosen("nonsense"), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("6.18.44-generic"), Some((6, 18)));
        assert_eq!(version("6.1-rc1"), Some((6, 1)));
        assert_eq!(version("linux"), None);
    }

    #[test]
    fn a_new_kernel_or_a_setting_is_enough() {
        assert_eq!(judge("6.1.0", Some("never")).level, Level::Good);
        assert_eq!(judge("5.15.0", Some("advise")).level, Level::Good);
        assert_eq!(judge("5.15.0", Some("never")).level, Level::Note);
        assert_eq!(judge("6.9.0", Some("deny")).level, Level::Note);
        assert_eq!(judge("6.9.0", None).level, Level::Note);
    }
}
