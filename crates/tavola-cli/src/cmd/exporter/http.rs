//! A small server of pages that are only read, for clients of any intent.
//!
//! One thread waits for all visitors at once. Each may ask once, in so many bytes and so much time;
//! there are so many visitors at most, and when one more comes the one that is there longest has
//! to go. So neither slow nor many nor endless requests take memory or hold up others.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Visitors at a time.
const VISITORS: usize = 64;
/// New ones before those that are there are seen to.
const AT_ONCE: usize = VISITORS / 4;
/// Bytes of a request; and what is read and thrown away after the answer.
const REQUEST_BYTES: usize = 8 << 10;
const DISCARDED_BYTES: usize = 64 << 10;
/// Headers of a request.
const HEADERS: usize = 64;
/// From the first to the last byte of a visit.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take to notice that the process is to end, in nanoseconds.
const TICK_NS: i64 = 100_000_000;
/// After a visitor could not be let in, as descriptors ran out or the like.
const PAUSE: Duration = Duration::from_millis(20);

/// What is answered to a request.
pub struct Answer {
    /// The status with its reason: `200 OK`.
    pub status: &'static str,
    pub content_type: &'static str,
    pub body: String,
}

impl Answer {
    pub fn plain(status: &'static str, text: &str) -> Answer {
        Answer {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{text}\n"),
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        let Answer {
            status,
            content_type,
            body,
        } = self;
        let allow = match status.starts_with("405") {
            true => "Allow: GET\r\n",
            false => "",
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
             {allow}X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }
}

/// Serves until `ended`. `find` returns the answer for a path, or `None` if there is nothing.
pub fn serve(
    listener: &TcpListener,
    ended: &AtomicBool,
    mut find: impl FnMut(&str) -> Option<Answer>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut visitors: Vec<Visitor> = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        wait(listener, &visitors)?;
        let_in(listener, &mut visitors);
        visitors.retain_mut(|one| one.since.elapsed() < PATIENCE && one.see_to(&mut find));
    }
    Ok(())
}

/// Until somebody comes, or something can be read or written, or a while has passed.
fn wait(listener: &TcpListener, visitors: &[Visitor]) -> io::Result<()> {
    let come = PollFd::new(listener, PollFlags::IN);
    let visits = visitors.iter().map(|one| {
        let flags = match one.stage {
            Stage::Answers { .. } => PollFlags::OUT,
            Stage::Asks { .. } | Stage::Leaves { .. } => PollFlags::IN,
        };
        PollFd::new(&one.stream, flags)
    });
    let mut all: Vec<PollFd<'_>> = [come].into_iter().chain(visits).collect();
    let tick = Timespec {
        tv_sec: 0,
        tv_nsec: TICK_NS,
    };
    match poll(&mut all, Some(&tick)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn let_in(listener: &TcpListener, visitors: &mut Vec<Visitor>) {
    for _ in 0..AT_ONCE {
        match listener.accept() {
            Ok((stream, _)) => {
                if visitors.len() == VISITORS {
                    visitors.remove(0);
                }
                visitors.extend(Visitor::new(stream).ok());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(_) => {
                if !visitors.is_empty() {
                    visitors.remove(0);
                }
                return thread::sleep(PAUSE);
            }
        }
    }
}

struct Visitor {
    stream: TcpStream,
    since: Instant,
    stage: Stage,
}

enum Stage {
    /// The part of the request that has been read.
    Asks { request: Vec<u8> },
    /// The number of bytes of the answer that have been sent.
    Answers { bytes: Vec<u8>, gone: usize },
    /// All has gone. To close now would take the answer from a visitor that still sends.
    Leaves { discarded: usize },
}

impl Visitor {
    fn new(stream: TcpStream) -> io::Result<Visitor> {
        stream.set_nonblocking(true)?;
        Ok(Visitor {
            stream,
            since: Instant::now(),
            stage: Stage::Asks {
                request: Vec::new(),
            },
        })
    }

    /// Continues as far as possible without waiting, and returns whether the visit lasts.
    fn see_to(&mut self, find: &mut impl FnMut(&str) -> Option<Answer>) -> bool {
        loop {
            match self.step(find) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    /// One step; says whether there is another.
    fn step(&mut self, find: &mut impl FnMut(&str) -> Option<Answer>) -> io::Result<bool> {
        let mut piece = [0; 1024];
        match &mut self.stage {
            Stage::Asks { request } => {
                let count = self.stream.read(&mut piece)?;
                request.extend_from_slice(&piece[..count]);
                if let Some(answer) = answer_to(request, find) {
                    let (bytes, gone) = (answer.into_bytes(), 0);
                    self.stage = Stage::Answers { bytes, gone };
                    return Ok(true);
                }
                Ok(count > 0)
            }
            Stage::Answers { bytes, gone } => {
                *gone += self.stream.write(&bytes[*gone..])?;
                if *gone == bytes.len() {
                    self.stream.shutdown(Shutdown::Write)?;
                    self.stage = Stage::Leaves { discarded: 0 };
                }
                Ok(true)
            }
            Stage::Leaves { discarded } => {
                let count = self.stream.read(&mut piece)?;
                *discarded += count;
                Ok(count > 0 && *discarded < DISCARDED_BYTES)
            }
        }
    }
}

/// What is answered to a request; `None` while it is not whole.
fn answer_to(request: &[u8], find: &mut impl FnMut(&str) -> Option<Answer>) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let too_long = || {
        Answer::plain(
            "431 Request Header Fields Too Large",
            "the request is too long",
        )
    };
    match parsed.parse(request) {
        Ok(httparse::Status::Partial) if request.len() < REQUEST_BYTES => None,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => Some(too_long()),
        Err(_) => Some(Answer::plain(
            "400 Bad Request",
            "the request is not HTTP/1.1",
        )),
        Ok(httparse::Status::Complete(_)) => {
            let target = parsed.path.unwrap_or_default();
            let path = target.split('?').next().unwrap_or_default();
            if parsed.method != Some("GET") {
                return Some(Answer::plain(
                    "405 Method Not Allowed",
                    "only GET is supported",
                ));
            }
            let found = find(path);
            Some(found.unwrap_or_else(|| Answer::plain("404 Not Found", "see /metrics")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> Option<&'static str> {
        let mut find = |path: &str| (path == "/x").then(|| Answer::plain("200 OK", "here"));
        answer_to(request, &mut find).map(|answer| answer.status)
    }

    #[test]
    fn whole_requests_are_answered_and_parts_of_them_are_not() {
        let whole = b"GET /x?a=b HTTP/1.1\r\nHost: a\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(status(&whole[..end]), None, "{end}");
        }
        assert_eq!(status(whole), Some("200 OK"));
        assert_eq!(status(b"GET /x HTTP/1.0\r\n\r\n"), Some("200 OK"));
    }

    #[test]
    fn what_is_no_get_of_a_page_is_refused() {
        let refused: [(&[u8], &str); 6] = [
            (b"GET /y HTTP/1.1\r\n\r\n", "404 Not Found"),
            (b"POST /y HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            (b"POST /x HTTP/1.1\r\n\r\nbody", "405 Method Not Allowed"),
            (b"HEAD /x HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            (b"\x16\x03\x01\x02\x00", "400 Bad Request"),
            (b"GET /x HTTP/9.9\r\n\r\n", "400 Bad Request"),
        ];
        for (request, expected) in refused {
            assert_eq!(status(request), Some(expected));
        }
    }

    #[test]
    fn requests_have_bounds() {
        let many = format!("GET /x HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS + 1));
        let long = format!("GET /x HTTP/1.1\r\na: {}", "b".repeat(REQUEST_BYTES));
        for request in [many, long] {
            let refused = status(request.as_bytes());
            assert_eq!(refused, Some("431 Request Header Fields Too Large"));
        }
    }
}
