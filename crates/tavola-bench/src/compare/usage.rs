//! What a server uses meanwhile: the CPU time and the memory of all its processes.
//!
//! CPU time is that of the living by the scheduler's own count, to the nanosecond where the kernel
//! keeps it, and of those that have ended by what their parents got. Memory is each process's
//! proportional share of what is mapped (PSS), so that nothing shared counts twice. Of programs and
//! libraries, only pages that were written count: the others are the page cache's, and a process's
//! share of them changes whenever another one starts the same program.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How often the processes are listed again if one came or went meanwhile.
const ATTEMPTS: usize = 8;

/// Returns the CPU time of a process and its descendants, in seconds, or `None` if the system does
/// not show it.
pub(super) fn cpu_seconds(pid: u32) -> Option<f64> {
    let mut before = family(pid)?;
    for _ in 0..ATTEMPTS {
        let sum = before.iter().filter_map(|&pid| cpu_seconds_of(pid)).sum();
        let now = family(pid)?;
        if now == before {
            return Some(sum);
        }
        before = now;
    }
    None
}

/// What a process and all who descend from it have in memory, except mapped files below `folder`.
pub(super) fn memory_bytes(pid: u32, folder: &Path) -> Option<u64> {
    // A folder may be gone while its files are still mapped.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let of = |pid| fs::read_to_string(format!("/proc/{pid}/smaps"));
    let first = of(pid).ok()?;
    let others = family(pid)?.into_iter().filter(|&other| other != pid);
    let others: u64 = others
        .filter_map(|pid| Some(mapped_bytes(&of(pid).ok()?, &folder)))
        .sum();
    Some(mapped_bytes(&first, &folder) + others)
}

/// Itself, then its children and theirs.
fn family(pid: u32) -> Option<Vec<u32>> {
    let mut all = vec![pid];
    let mut at = 0;
    while at < all.len() {
        let tasks = fs::read_dir(format!("/proc/{}/task", all[at]));
        match tasks {
            Ok(tasks) => {
                for task in tasks.flatten() {
                    let Ok(children) = fs::read_to_string(task.path().join("children")) else {
                        continue;
                    };
                    all.extend(children.split_whitespace().filter_map(parsed::<u32>));
                }
            }
            // A child may be gone by now.
            Err(_) if at > 0 => {}
            Err(_) => return None,
        }
        at += 1;
    }
    // A kernel without this file would hide children.
    fs::metadata(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    Some(all)
}

fn parsed<T: std::str::FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

/// Of one process, and of those of its children that have ended.
fn cpu_seconds_of(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let [user, system, user_of_ended, system_of_ended] = ticks(&stat)?;
    let second = rustix::param::clock_ticks_per_second() as f64;
    let seconds = (user + system) as f64 / second;
    let ended = (user_of_ended + system_of_ended) as f64 / second;
    // What the scheduler counts is finer, but does not have threads that have ended.
    Some(seconds.max(scheduled_seconds(pid)) + ended)
}

/// CPU time of all threads, by the scheduler; 0 where it does not count.
fn scheduled_seconds(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let nanoseconds: u64 = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| {
            let line = fs::read_to_string(task.path().join("schedstat")).ok()?;
            parsed::<u64>(line.split_whitespace().next()?)
        })
        .sum();
    nanoseconds as f64 / 1e9
}

/// Times of a line of `/proc/PID/stat`: user and system, then the same of children that have ended.
fn ticks(stat: &str) -> Option<[u64; 4]> {
    // The name before it may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().skip(11).take(4).collect();
    let times: Vec<u64> = fields.into_iter().filter_map(parsed).collect();
    times.try_into().ok()
}

/// The sum over mappings, except those of files below the folder.
fn mapped_bytes(smaps: &str, folder: &Path) -> u64 {
    let (mut counted, mut kib) = ("Pss:", 0);
    for line in smaps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name, size, ..] if name == counted => kib += size.parse().unwrap_or(0),
            [_, rights, _, _, inode, ref path @ ..] if rights.len() == 4 => {
                let path = path.first().map(Path::new);
                counted = match path {
                    Some(path) if path.starts_with(folder) => "nothing",
                    Some(_) if rights.ends_with('p') && inode != "0" => "Private_Dirty:",
                    _ => "Pss:",
                };
            }
            _ => {}
        }
    }
    kib * 1024
}

/// What the files below a folder take.
pub(super) fn file_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => file_bytes(&entry.path()),
            Ok(meta) => meta.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_times() {
        let stat = "7 (a) b)) S 1 7 7 0 -1 4194560 1 2 3 4 15 25 35 45 20 0 1 0 1 2";
        assert_eq!(ticks(stat), Some([15, 25, 35, 45]));
        assert_eq!(ticks("7 (a) S 1"), None);
    }

    #[test]
    fn files_of_the_folder_are_counted_as_files_only() {
        let smaps = "7f00-7f10 rw-s 00000000 00:1b 77  /dev/shm/x/store/table\n\
                     Rss: 500 kB\nPss: 400 kB\n\
                     7f20-7f30 rw-p 00000000 00:00 0\nPss: 30 kB\nSwapPss: 9 kB\n\
                     VmFlags: rd wr mr mw me ac sd\n\
                     7f30-7f40 rw-p 00000000 00:00 0  [heap]\nPss: 7 kB\nPrivate_Dirty: 6 kB\n";
        assert_eq!(mapped_bytes(smaps, Path::new("/dev/shm/x/store")), 37 << 10);
        assert_eq!(mapped_bytes(smaps, Path::new("/elsewhere")), 437 << 10);
    }

    #[test]
    fn of_a_program_only_what_it_wrote_counts() {
        let smaps = "7f40-7f50 r-xp 00000000 08:01 9  /usr/bin/server\n\
                     Pss: 700 kB\nPrivate_Clean: 700 kB\nPrivate_Dirty: 0 kB\n\
                     7f50-7f60 rw-p 00010000 08:01 9  /usr/bin/server\n\
                     Pss: 9 kB\nPrivate_Dirty: 5 kB\n\
                     7f60-7f70 rw-s 00000000 00:01 9  /dev/zero (deleted)\n\
                     Pss: 60 kB\nPrivate_Dirty: 4 kB\n";
        assert_eq!(mapped_bytes(smaps, Path::new("/elsewhere")), 65 << 10);
    }

    /// Ended however the test does.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn the_work_of_children_counts_and_so_does_that_of_the_ended() {
        let mut shell = Command::new("/bin/sh");
        // One child ends; another, which a line announces, waits for its end. What is in the
        // background reads nothing of the shell's own input.
        let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done";
        let script = format!("exec 3<&0; ({busy}); ({busy}; echo done; read line <&3) & wait");
        shell
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let child = Ended(child);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let seconds = cpu_seconds(child.0.id()).unwrap();
        let own = cpu_seconds_of(child.0.id()).unwrap();
        assert!(
            seconds > own && own > 0.0,
            "{seconds} of all, {own} of the shell"
        );
        assert!(memory_bytes(child.0.id(), Path::new("/tmp")).unwrap() > 10 << 10);
    }

    #[test]
    fn nothing_is_reported_of_a_missing_process() {
        assert_eq!(cpu_seconds(u32::MAX), None);
        assert_eq!(memory_bytes(u32::MAX, Path::new("/tmp")), None);
    }

    #[test]
    fn files_are_counted_as_they_take_memory() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/file"), [1; 10_000]).unwrap();
        let sparse = fs::File::create(dir.path().join("sparse")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        assert!((8_192..1 << 20).contains(&file_bytes(dir.path())));
    }
}
