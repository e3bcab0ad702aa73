//! The terminal while a program has the whole of it: taken, drawn on, and given back as it was.
//!
//! Keys are read here and not by the library's reader of events, which never ends when the
//! terminal is gone.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal};
use std::os::fd::AsFd;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Between two looks at the size and at what asks the process to end.
const TICK: Duration = Duration::from_millis(100);

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The time has come.
    Time,
    Key(u8),
    Resized,
    /// The process is to end, or the terminal is gone.
    End,
}

/// A terminal that is ours.
pub struct Screen {
    saved: Arc<SavedTerminal>,
    keys: Option<File>,
    /// Keys that were typed and are not handled yet.
    typed: VecDeque<u8>,
    tty: File,
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
    area: Rect,
}

/// How the terminal was, to make it so again, once.
struct SavedTerminal {
    tty: File,
    modes: Termios,
    is_gone: AtomicBool,
}

impl SavedTerminal {
    /// Errors cannot be reported any more.
    fn restore(&self) {
        if !self.is_gone.swap(true, Ordering::Relaxed) {
            let _ = execute!(&self.tty, Show, LeaveAlternateScreen);
            let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.modes);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // So that it does not show the cursor again where it is not ours any more.
        let _ = self.terminal.show_cursor();
        self.saved.restore();
    }
}

impl Screen {
    /// Whether there is a terminal that can be drawn on.
    pub fn is_there() -> bool {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        io::stdout().is_terminal() && !dumb
    }

    /// Takes the terminal of this process. A panic gives it back before it says why.
    pub fn take() -> io::Result<Screen> {
        let stdin = io::stdin();
        let keys = match stdin.is_terminal() {
            true => Some(File::from(stdin.as_fd().try_clone_to_owned()?)),
            // Standard input is a file or a pipe, but there may be somebody.
            false => File::open("/dev/tty").ok(),
        };
        let tty = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let screen = Screen::on(tty, keys)?;
        let saved = Arc::clone(&screen.saved);
        let say_why = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            saved.restore();
            say_why(why);
        }));
        Ok(screen)
    }

    fn on(tty: File, keys: Option<File>) -> io::Result<Screen> {
        let modes = tcgetattr(&tty)?;
        let mut raw = modes.clone();
        raw.make_raw();
        let saved = Arc::new(SavedTerminal {
            tty: tty.try_clone()?,
            modes,
            is_gone: AtomicBool::new(false),
        });
        let area = size_of(&tty)?;
        let mut screen = Screen {
            saved,
            keys,
            typed: VecDeque::new(),
            terminal: terminal_on(&tty, area)?,
            tty,
            area,
        };
        tcsetattr(&screen.tty, OptionalActions::Now, &raw)?;
        execute!(&screen.tty, EnterAlternateScreen, Hide)?;
        screen.restart()?;
        Ok(screen)
    }

    /// Draws what has changed since the last time.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Waits for the next event, until then at most.
    pub fn wait(&mut self, then: Instant, ended: &AtomicBool) -> io::Result<Event> {
        loop {
            if ended.load(Ordering::Relaxed) {
                return Ok(Event::End);
            }
            if size_of(&self.tty)? != self.area {
                self.restart()?;
                return Ok(Event::Resized);
            }
            let left = then.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Event::Time);
            }
            if let Some(event) = self.key(left.min(TICK))? {
                return Ok(event);
            }
        }
    }

    /// Begins with an empty screen of the size that it has now.
    fn restart(&mut self) -> io::Result<()> {
        self.area = size_of(&self.tty)?;
        execute!(&self.tty, Clear(ClearType::All))?;
        self.terminal = terminal_on(&self.tty, self.area)?;
        Ok(())
    }

    /// The next key, if one is pressed in that time.
    fn key(&mut self, within: Duration) -> io::Result<Option<Event>> {
        if let Some(key) = self.typed.pop_front() {
            return Ok(Some(Event::Key(key)));
        }
        let Some(keys) = &mut self.keys else {
            thread::sleep(within);
            return Ok(None);
        };
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: within.subsec_nanos().into(),
        };
        let mut all = [PollFd::new(keys, PollFlags::IN)];
        match poll(&mut all, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut piece = [0; 64];
        match io::Read::read(keys, &mut piece) {
            Ok(count @ 1..) => {
                self.typed.extend(keys_of(&piece[..count]));
                Ok(self.typed.pop_front().map(Event::Key))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            // Nobody is there any more.
            Ok(0) | Err(_) => Ok(Some(Event::End)),
        }
    }
}

/// Bytes that are a key each. Arrows and the like, which are several, mean nothing here.
fn keys_of(bytes: &[u8]) -> Vec<u8> {
    let (mut keys, mut bytes) = (Vec::new(), bytes.iter());
    while let Some(&byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (0x1b, Some(b'[' | b'O')) => {
                bytes.next();
                bytes.find(|byte| (0x40..=0x7e).contains(*byte));
            }
            (0x1b, _) => {}
            _ => keys.push(byte),
        }
    }
    keys
}

/// At least one cell, whatever the terminal says.
fn size_of(tty: &File) -> io::Result<Rect> {
    let size = tcgetwinsize(tty)?;
    let (columns, rows) = match (size.ws_col, size.ws_row) {
        (0, 0) => (80, 24),
        (columns, rows) => (columns.max(1), rows.max(1)),
    };
    Ok(Rect::new(0, 0, columns, rows))
}

fn terminal_on(tty: &File, area: Rect) -> io::Result<Terminal<CrosstermBackend<BufWriter<File>>>> {
    let out = BufWriter::with_capacity(16 << 10, tty.try_clone()?);
    let viewport = Viewport::Fixed(area);
    Terminal::with_options(CrosstermBackend::new(out), TerminalOptions { viewport })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::panic::AssertUnwindSafe;

    fn pair() -> (OwnedFd, File) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let near = openpt(flags).unwrap();
        grantpt(&near).unwrap();
        unlockpt(&near).unwrap();
        let name = ptsname(&near, Vec::new()).unwrap();
        let name = name.to_str().unwrap();
        let far = File::options().read(true).write(true).open(name).unwrap();
        (near, far)
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let (near, far) = pair();
        let modes = |tty: &File| {
            let modes = tcgetattr(tty).unwrap();
            (modes.local_modes, modes.input_modes, modes.output_modes)
        };
        let before = modes(&far);
        let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
            let _screen = Screen::on(far.try_clone().unwrap(), None).unwrap();
            assert_ne!(modes(&far), before);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(modes(&far), before);
        let (mut near, mut seen, mut piece) = (File::from(near), Vec::new(), [0; 4096]);
        while !seen.ends_with(b"\x1b[?1049l") {
            let count = near.read(&mut piece).unwrap();
            seen.extend_from_slice(&piece[..count]);
        }
        let seen = String::from_utf8_lossy(&seen);
        assert!(
            seen.starts_with("\x1b[?1049h") && seen.contains("\x1b[?25h"),
            "{seen:?}"
        );
    }

    #[test]
    fn arrows_are_no_keys() {
        assert_eq!(keys_of(b"a\x1b[A\x1b[1;5pq\x1bOP p\x1b"), b"aq p");
        assert_eq!(keys_of(b"\x1b["), b"");
    }

    #[test]
    fn keys_come_one_by_one_and_end_with_the_terminal() {
        let (near, far) = pair();
        let mut screen = Screen::on(far.try_clone().unwrap(), Some(far)).unwrap();
        let (never, soon) = (AtomicBool::new(false), Instant::now());
        let later = soon + Duration::from_secs(3600);
        assert_eq!(screen.wait(soon, &never).unwrap(), Event::Time);
        rustix::io::write(&near, b"pq").unwrap();
        assert_eq!(screen.wait(later, &never).unwrap(), Event::Key(b'p'));
        assert_eq!(screen.wait(later, &never).unwrap(), Event::Key(b'q'));
        assert_eq!(
            screen.wait(later, &AtomicBool::new(true)).unwrap(),
            Event::End
        );
        drop(near);
        assert_eq!(screen.key(TICK).unwrap(), Some(Event::End));
    }
}
