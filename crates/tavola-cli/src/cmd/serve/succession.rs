//! One process after another: a new one takes over listening sockets, or continues in the
//! background.
//!
//! The older process starts the newer one with a socket as its standard input. Through it goes one
//! message: a byte that says why, and for each listening socket the socket itself and a byte that
//! says whose its file is. What comes back is one byte when the newer process serves. If the
//! socket closes without, it does not, and the older one continues. It is the end of the process
//! that closes it, so that the older one, which then brings it to an end, finds that all has been
//! said.

use std::env;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::setsid;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tavola_server::Listen;

use crate::error::CliError;

/// Set for a process that another one started so.
const VARIABLE: &str = "TAVOLA_SUCCEEDS";
/// How long a process may take until it serves in the place of another.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The same for one in the background, which may restore a large table first.
const LONG_PATIENCE: Duration = Duration::from_secs(3600);
/// The most sockets of one message: what Linux takes.
const MOST: usize = 253;

const IN_BACKGROUND: u8 = b'b';
const IN_ITS_PLACE: u8 = b'p';
const OURS: u8 = b'o';
const FOREIGN: u8 = b'f';

/// Why another process is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// To do all this one was to do, without a terminal.
    InBackground,
    /// To listen instead of this one.
    InItsPlace,
}

/// How this process was started, to start another so.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    name: OsString,
}

impl Program {
    /// To be called at the start: later the file may be another one of the same name, which is what
    /// a successor is to run. A link that names the program is then followed again.
    pub fn of_this_process() -> io::Result<Program> {
        let name = env::args_os().next().unwrap_or_default();
        let named = Path::new(&name);
        let path = match named.is_absolute() && named.is_file() {
            true => PathBuf::from(&name),
            false => env::current_exe()?,
        };
        Ok(Program { path, name })
    }

    /// Starts it again with the same arguments, and hands over sockets, each with whether its
    /// file is ours.
    pub fn start(&self, reason: Reason, sockets: &[(OwnedFd, bool)]) -> io::Result<Successor> {
        let (line, end) = UnixStream::pair()?;
        line.set_read_timeout(Some(match reason {
            Reason::InBackground => LONG_PATIENCE,
            Reason::InItsPlace => PATIENCE,
        }))?;
        send(&line, reason, sockets)?;
        let child = Command::new(&self.path)
            .arg0(&self.name)
            .args(env::args_os().skip(1))
            .env(VARIABLE, "1")
            .stdin(OwnedFd::from(end))
            .spawn()?;
        Ok(Successor { child, line })
    }
}

/// A process that is starting.
#[derive(Debug)]
pub struct Successor {
    child: Child,
    line: UnixStream,
}

impl Successor {
    /// Can be read as soon as [`Successor::serves`] does not wait.
    pub fn line(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it serves, or does not, or takes too long.
    pub fn serves(&mut self) -> bool {
        matches!(self.line.read(&mut [0]), Ok(1))
    }

    /// How it ended, which it is brought to if it has not.
    pub fn end(mut self) -> io::Result<ExitStatus> {
        // One that has ended needs none.
        let _ = self.child.kill();
        self.child.wait()
    }
}

fn send(line: &UnixStream, reason: Reason, sockets: &[(OwnedFd, bool)]) -> io::Result<()> {
    if sockets.len() > MOST {
        return Err(io::Error::other("too many sockets to hand over"));
    }
    let mut bytes = vec![match reason {
        Reason::InBackground => IN_BACKGROUND,
        Reason::InItsPlace => IN_ITS_PLACE,
    }];
    bytes.extend(
        sockets
            .iter()
            .map(|(_, ours)| if *ours { OURS } else { FOREIGN }),
    );
    let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(|(one, _)| one.as_fd()).collect();
    let mut space = vec![MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let sent = sendmsg(
        line,
        &[IoSlice::new(&bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    match sent == bytes.len() {
        true => Ok(()),
        false => Err(io::Error::other(
            "only some of the sockets were handed over",
        )),
    }
}

/// The process that started this one, as [`Program::start`] does.
#[derive(Debug)]
pub struct Predecessor {
    line: ManuallyDrop<UnixStream>,
    pub reason: Reason,
    /// Listening sockets, each with whether its file is ours.
    pub sockets: Vec<(Listen, bool)>,
}

impl Predecessor {
    /// Looks for one, and takes what it hands over.
    pub fn find() -> Result<Option<Predecessor>, CliError> {
        if env::var_os(VARIABLE).is_none() {
            return Ok(None);
        }
        let taken = take().map_err(|source| {
            CliError::Sentence(format!(
                "{VARIABLE} is set, but standard input has no sockets to take over ({source}); \
                unset it"
            ))
        })?;
        Ok(Some(taken))
    }

    /// Reports to it that this process serves. It does not matter if it has ended.
    pub fn ready(self) {
        let _ = ManuallyDrop::into_inner(self.line).write(&[1]);
    }
}

fn take() -> io::Result<Predecessor> {
    let line = io::stdin().as_fd().try_clone_to_owned()?;
    let mut bytes = [0; 1 + MOST];
    let mut space = vec![MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(
        &line,
        &mut [IoSliceMut::new(&mut bytes)],
        &mut control,
        flags,
    )?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            descriptors.extend(some);
        }
    }
    let (reason, whose) = match bytes[..received.bytes].split_first() {
        Some((&IN_BACKGROUND, whose)) => (Reason::InBackground, whose),
        Some((&IN_ITS_PLACE, whose)) => (Reason::InItsPlace, whose),
        _ => return Err(io::Error::other("unknown message")),
    };
    if whose.len() != descriptors.len() {
        return Err(io::Error::other("some sockets are missing"));
    }
    let sockets = descriptors.into_iter().zip(whose).map(|(socket, whose)| {
        let ours = *whose == OURS;
        match ours {
            true => (Listen::Succeeded(socket), ours),
            false => (Listen::Descriptor(socket), ours),
        }
    });
    let sockets = sockets.collect();
    dup2_stdin(nowhere()?)?;
    if reason == Reason::InBackground {
        // Fails where this process leads a group; then it has no terminal to leave.
        let _ = setsid();
    }
    Ok(Predecessor {
        line: ManuallyDrop::new(UnixStream::from(line)),
        reason,
        sockets,
    })
}

/// Lets go of where standard output and standard error lead.
pub fn fall_silent() -> io::Result<()> {
    let nowhere = nowhere()?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    Ok(())
}

fn nowhere() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/null")
}
