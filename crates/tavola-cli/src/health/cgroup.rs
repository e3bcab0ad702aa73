//! The memory that this process and its kin may take: the limit of its memory cgroup.
//!
//! Pages of a table on tmpfs count for the cgroup of the process that wrote to them first. At the
//! limit the kernel kills a process of the cgroup, however much room the file system has.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// What version 1 shows if there is no limit: the largest multiple of a page.
const NONE_BYTES: u64 = 1 << 60;

/// Returns the lowest limit of the cgroups that this process is in, or `None` if there is none or
/// the system does not show it.
pub fn memory_limit_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    lowest_limit(&groups, Path::new(ROOT))
}

/// The same of the lines of `/proc/PID/cgroup`, for control groups mounted at `root`.
fn lowest_limit(groups: &str, root: &Path) -> Option<u64> {
    groups.lines().filter_map(|line| limit_of(line, root)).min()
}

/// Of a line as `0::/user.slice` (version 2) or `9:memory:/docker/1` (version 1).
fn limit_of(line: &str, root: &Path) -> Option<u64> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let (top, file) = match controllers {
        "" => (root.to_path_buf(), "memory.max"),
        _ if controllers.split(',').any(|one| one == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let group = top.join(path.trim_start_matches('/'));
    let groups = group
        .ancestors()
        .take_while(|group| group.starts_with(&top));
    // In a container the path may be one of the host; the limit is at the top then.
    groups.filter_map(|group| read(&group.join(file))).min()
}

fn read(file: &PathBuf) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    // Version 2 says "max" for no limit.
    let bytes = text.trim().parse().ok()?;
    (bytes < NONE_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_from_the_group_upwards_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "2097152\n");
        write("a/b/memory.max", "max\n");
        write("memory/docker/memory.limit_in_bytes", "1048576\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let limit = |groups: &str| lowest_limit(groups, root.path());
        assert_eq!(limit("0::/a/b\n"), Some(2 << 20));
        assert_eq!(limit("0::/a\n"), Some(2 << 20));
        assert_eq!(limit("0::/\n"), None);
        assert_eq!(limit("0::/not/there\n"), None);
        assert_eq!(
            limit("5:cpu,cpuacct:/a\n4:memory:/docker\n0::/a\n"),
            Some(1 << 20)
        );
        assert_eq!(limit("4:memory:/\n"), None);
        assert_eq!(limit("nonsense\n"), None);
    }
}
