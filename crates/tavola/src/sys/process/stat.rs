//! `/proc/PID/stat`, read and parsed on the stack.

use super::last_error_is;
use crate::sys::retry;
use std::ffi::CStr;
use std::io::Write as _;

/// More than any `/proc/PID/stat` has in the fields that are looked at.
pub(super) const STAT_BYTES: usize = 1024;

/// The fields of `/proc/PID/stat` that are looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) state: u8,
    pub(super) threads: u64,
    pub(super) start_time: u64,
}

pub(super) fn read_stat(pid: i32, buffer: &mut [u8]) -> Option<Stat> {
    let mut path = [0; 32];
    write!(&mut path[..], "/proc/{pid}/stat\0").ok()?;
    parse_stat(read_whole(CStr::from_bytes_until_nul(&path).ok()?, buffer)?)
}

/// The command name, in parentheses, may hold spaces, parentheses and newlines; nothing after it
/// does. Fields are numbered as in proc(5), the name being the second.
pub(super) fn parse_stat(line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let mut fields = words(&line[name_end + 1..]);
    let &[state] = fields.next()? else {
        return None;
    };
    let threads = number(fields.nth(20 - 4)?)?;
    let start_time = number(fields.nth(22 - 21)?)?;
    Some(Stat {
        state,
        threads,
        start_time,
    })
}

pub(in crate::sys) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Reads a file of /proc as far as it fits; `None` on any error.
pub(in crate::sys) fn read_whole<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: `path` is a C string that outlives the call.
    let fd = retry(|| unsafe { libc::open(path.as_ptr(), flags) }).ok()?;
    let mut len = 0;
    let whole = loop {
        let rest = &mut buffer[len..];
        // SAFETY: `rest` is a writable buffer of the length given.
        let got = unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) };
        match usize::try_from(got) {
            Ok(0) => break true,
            Ok(count) => len += count,
            Err(_) if last_error_is(libc::EINTR) => {}
            Err(_) => break false,
        }
    };
    // SAFETY: opened above, and known to nobody else.
    unsafe { libc::close(fd) };
    whole.then(|| &buffer[..len])
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_whatever_the_command_is_called() {
        let tail = " Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 5 0 987654 20 21";
        let stat = Stat {
            state: b'Z',
            threads: 5,
            start_time: 987_654,
        };
        for name in ["cat", "a b", ") R 1 (", "(()", "x\ny) S"] {
            assert_eq!(
                parse_stat(format!("42 ({name}){tail}").as_bytes()).as_ref(),
                Some(&stat)
            );
        }
        for broken in ["", "42 (cat", "42 (cat)", "42 (cat) Z 1 2", "42 (cat) ZZ 1"] {
            assert_eq!(parse_stat(broken.as_bytes()), None);
        }
    }
}
