use super::*;
use crate::sys::file;
use crate::sys::testing::{Child, TempDir, create_named};
use std::os::fd::{AsFd, OwnedFd};

fn file_of(len: u64) -> (TempDir, OwnedFd) {
    let dir = TempDir::new();
    let fd = create_named(&dir.path("table"), 0o600).unwrap();
    file::set_len(fd.as_fd(), len).unwrap();
    (dir, fd)
}

#[test]
fn every_mapping_is_aligned_and_sees_the_same_file() {
    let len = 64 << 20;
    let (_dir, fd) = file_of(len as u64);
    file::write_at(fd.as_fd(), b"hello", 5_000_000).unwrap();
    for round in 0..3 {
        let several: Vec<_> = (0..4)
            .map(|i| Mapping::shared(fd.as_fd(), len - i * 5000, true).unwrap())
            .collect();
        for mapping in &several {
            assert!(is_aligned(mapping.base()), "round {round}");
            // SAFETY: inside the mapping and inside the file; no other process maps it.
            let byte = unsafe { mapping.base().add(5_000_000).read_volatile() };
            assert_eq!(byte, b'h');
        }
    }
    let small = Mapping::shared(fd.as_fd(), 4096, false).unwrap();
    assert_eq!(small.len(), 4096);
}

#[test]
fn a_hint_that_is_taken_costs_nothing_but_time() {
    let (_dir, fd) = file_of(8 << 20);
    let first = Mapping::shared(fd.as_fd(), 8 << 20, true).unwrap();
    let mut several = Vec::new();
    for i in 0..8 {
        VACATED.store(first.base().addr(), Relaxed);
        let mapping = Mapping::shared(fd.as_fd(), (8 << 20) - i * 4096, true).unwrap();
        assert!(is_aligned(mapping.base()));
        several.push(mapping);
    }
}

/// Whether a page is mapped, asked of the kernel.
fn is_mapped(page: *mut u8) -> bool {
    let mut resident = 0u8;
    // SAFETY: one byte is written for one page; `page` itself is not touched.
    unsafe { libc::mincore(page.cast(), 1, &raw mut resident) == 0 }
}

/// What is mapped now, from where to where.
fn mapped() -> Vec<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let range = |line: &str| {
        let (from, rest) = line.split_once('-')?;
        let until = rest.split(' ').next()?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(from)?, number(until)?))
    };
    maps.lines().map(|line| range(line).unwrap()).collect()
}

#[test]
fn nothing_of_the_reservation_is_left() {
    let (_dir, fd) = file_of(8 << 20);
    // In a child, where no other thread maps anything next to it meanwhile. What stood there
    // before is no part of the reservation.
    let child = Child::fork(|| {
        let len = 5 << 20;
        let old = mapped();
        let Ok(base) = map_aligned(fd.as_fd(), len, true) else {
            return 1;
        };
        let is_new = |page: *mut u8| {
            let stood = |&(from, until): &(usize, usize)| (from..until).contains(&page.addr());
            is_mapped(page) && !old.iter().any(stood)
        };
        let inside = is_new(base) && is_new(base.wrapping_add(len - page_bytes()));
        let before = is_new(base.wrapping_sub(page_bytes()));
        let after = is_new(base.wrapping_add(len));
        i32::from(!inside) * 2 + i32::from(before) * 4 + i32::from(after) * 8
    });
    assert_eq!(child.exit_code(), 0);
}

#[test]
fn unmapping_and_failing_leave_nothing_behind() {
    let (dir, fd) = file_of(64 << 20);
    let name = dir.path("table").display().to_string();
    let lines = |needle: &str| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().filter(|line| line.contains(needle)).count()
    };
    let mapping = Mapping {
        base: map_aligned(fd.as_fd(), 8 << 20, true).unwrap(),
        len: AtomicUsize::new(8 << 20),
        most: 8 << 20,
        writable: true,
        in_core_dumps: AtomicBool::new(false),
    };
    assert_eq!(lines(&name), 1);
    drop(mapping);
    assert_eq!(lines(&name), 0);
    assert!(Mapping::shared(fd.as_fd(), usize::MAX & !4095, true).is_err());
    let read_only = file::open(&dir.path("table"), false).unwrap();
    assert!(Mapping::shared(read_only.as_fd(), 8 << 20, true).is_err());
    assert!(Mapping::shared(read_only.as_fd(), 8 << 20, false).is_ok());
}

fn allocated(fd: &OwnedFd) -> u64 {
    file::len_and_blocks(fd.as_fd()).unwrap().allocated_bytes
}

/// Pages that this thread had to have mapped by touching them.
fn faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: a valid place for the answer, which any bytes are a value of.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_minflt
    }
}

#[test]
fn populated_pages_are_backed_and_written_without_a_fault() {
    let len = 4 << 20;
    let (_dir, fd) = file_of(len as u64);
    let mapping = Mapping::shared(fd.as_fd(), len, true).unwrap();
    let zeros = std::fs::File::open("/dev/zero").unwrap();
    let is_known = populate(mapping.base(), len).unwrap();
    assert_eq!(is_known, allocated(&fd) == len as u64);
    let before = faults();
    for at in (0..len).step_by(4096) {
        // By the kernel: a sanitizer would touch pages of its own for a write that it sees.
        // SAFETY: a byte within the mapping, which nobody else writes.
        let read = unsafe {
            let to = mapping.base().add(at);
            libc::syscall(libc::SYS_read, zeros.as_raw_fd(), to, 1)
        };
        assert_eq!(read, 1);
    }
    if !is_known {
        eprintln!("not tested: this kernel maps pages by their first write only");
    } else {
        // A few of the thread's own; there would be a thousand.
        assert!(faults() - before < 100, "{} faults", faults() - before);
    }
    remove(mapping.base(), len / 2).unwrap();
    assert_eq!(allocated(&fd), len as u64 / if is_known { 2 } else { 1 });
}

#[test]
fn collapsing_keeps_the_contents() {
    let len = 4 << 20;
    let (_dir, fd) = file_of(len as u64);
    let mapping = Mapping::shared(fd.as_fd(), len, true).unwrap();
    file::allocate(fd.as_fd(), 0, len as u64).unwrap();
    assert!(file::len_and_blocks(fd.as_fd()).unwrap().allocated_bytes >= len as u64);
    file::write_at(fd.as_fd(), b"kept", 3_000_000).unwrap();
    if let Err(error) = collapse(mapping.base(), len) {
        let advice = [libc::EINVAL, libc::EAGAIN, libc::EBUSY, libc::ENOMEM];
        assert!(advice.contains(&error.raw_os_error().unwrap()), "{error}");
    }
    let mut back = [0; 4];
    file::read_at(fd.as_fd(), &mut back, 3_000_000).unwrap();
    assert_eq!(&back, b"kept");
    assert!(collapse(mapping.base().wrapping_add(1), 4096).is_err());
}
