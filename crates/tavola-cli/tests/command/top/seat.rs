//! A pseudo-terminal with a command at it.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::shell::{Shell, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// The command at a terminal, and what is on it.
pub struct Seat {
    pub child: Child,
    near: OwnedFd,
    /// Holds the far end open, so that its modes can be read after the command has ended.
    far: File,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

/// Starts the command at a terminal of that size; gives it, and both ends.
pub fn sit(mut command: Command, columns: u16, rows: u16) -> (Child, OwnedFd, File) {
    // No child may hold the near end open.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let near = openpt(flags).expect("a pseudo-terminal");
    grantpt(&near).expect("its far end is ours");
    unlockpt(&near).expect("its far end opens");
    let name = ptsname(&near, Vec::new()).expect("its far end has a name");
    let name = name.to_str().expect("a plain name");
    let far = OpenOptions::new().read(true).write(true).open(name);
    let far = far.expect("its far end");
    set_size(&near, columns, rows);
    let [stdin, stdout, stderr] = [(); 3].map(|()| far.try_clone().expect("a copy"));
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    (command.spawn().expect("the command starts"), near, far)
}

/// The command, for a terminal with colours and letters of all kinds.
pub fn at_terminal(shell: &Shell, args: &[&str]) -> Command {
    let mut command = shell.command(args);
    command
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8");
    command.env_remove("NO_COLOR");
    command
}

impl Seat {
    pub fn new(shell: &Shell, args: &[&str], columns: u16, rows: u16) -> Seat {
        Seat::of(at_terminal(shell, args), columns, rows)
    }

    pub fn of(command: Command, columns: u16, rows: u16) -> Seat {
        let (child, near, far) = sit(command, columns, rows);
        let screen = vt100::Parser::new(size(rows), size(columns), 0);
        let bytes = Vec::new();
        let seen = Arc::new(Mutex::new(Seen { screen, bytes }));
        let (mut reader, to) = (
            File::from(near.try_clone().expect("a copy")),
            Arc::clone(&seen),
        );
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                let mut seen = to.lock().unwrap();
                seen.bytes.extend_from_slice(&piece[..count]);
                seen.screen.process(&piece[..count]);
            }
        });
        Seat {
            child,
            near,
            far,
            seen,
        }
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let mut seen = self.seen.lock().unwrap();
        seen.screen.screen_mut().set_size(size(rows), size(columns));
        set_size(&self.near, columns, rows);
    }

    pub fn press(&self, keys: &str) {
        let written = rustix::io::write(&self.near, keys.as_bytes());
        assert_eq!(written.expect("somebody reads"), keys.len());
    }

    pub fn rows(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let text = seen.screen.screen().contents();
        text.lines().map(|row| row.trim_end().to_string()).collect()
    }

    pub fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until the screen is as it should be; gives its rows.
    #[track_caller]
    pub fn wait(&self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut rows = Vec::new();
        for _ in 0..6_000 {
            rows = self.rows();
            if is_so(&rows) {
                return rows;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{what}: never came:\n{}", rows.join("\n"));
    }

    #[track_caller]
    pub fn wait_for(&self, text: &str) -> Vec<String> {
        self.wait(text, |rows| rows.iter().any(|row| row.contains(text)))
    }

    /// The exit code; the terminal must be as it was before.
    #[track_caller]
    pub fn ends_well(mut self, before: &Termios) -> i32 {
        let mut code = None;
        wait_until(|| {
            code = self.child.try_wait().expect("a child of ours");
            code.is_some()
        });
        let code = code.and_then(|status| status.code());
        let after = tcgetattr(&self.far).expect("a terminal");
        assert_eq!(modes(&after), modes(before));
        let is_back = || {
            let seen = self.seen.lock().unwrap();
            let screen = seen.screen.screen();
            !screen.alternate_screen() && !screen.hide_cursor()
        };
        wait_until(is_back);
        code.expect("an end of its own, not by a signal")
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(&self.far).expect("a terminal")
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
    }
}

/// A test that failed leaves nothing running.
impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a size")
}

pub fn set_size(near: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(near, size).expect("a size");
}

/// What a shell depends on. (The speed of the line is written in two ways by the system.)
pub fn modes(termios: &Termios) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        termios.local_modes,
        termios.input_modes,
        termios.output_modes,
    )
}
