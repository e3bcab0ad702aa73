//! A value on its way from a connection to the memory of the caller.

use super::call::Call;
use crate::conn::{Broken, Conn, Wait};
use std::time::Instant;

/// Where a value goes.
pub(super) struct Target {
    pub(super) index: usize,
    pub(super) flags: u32,
    pub(super) size: usize,
}

/// Reads a number that is in the buffer.
pub(super) fn read_number(
    conn: &mut Conn,
    head: usize,
    size: usize,
    end: &[u8],
) -> Result<u64, Broken> {
    let total = head + size + end.len();
    let number = conn.input.bytes().get(head..total).and_then(|bytes| {
        let digits = bytes.strip_suffix(end)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    });
    conn.input.consume(if number.is_some() { total } else { 0 });
    number.ok_or_else(|| Broken::unexpected("it sent a number that is not one"))
}

/// Moves a value to where it is to be: from the buffer, and what is not there straight from the
/// socket.
pub(super) fn receive_value(
    conn: &mut Conn,
    call: &mut Call<'_, '_>,
    target: &Target,
    head: usize,
    end: &[u8],
) -> Result<(), Broken> {
    let (size, deadline, last) = (target.size, call.deadline, call.overdue());
    let total = head + size + end.len();
    let bytes = conn.input.bytes();
    if bytes.len() >= total {
        if !bytes[head..total].ends_with(end) {
            return Err(Broken::unexpected("it sent a value without its end"));
        }
        if let Some(room) = call.room(target.index, size, target.flags) {
            room.copy_from_slice(&conn.input.bytes()[head..head + size]);
        }
        conn.input.consume(total);
        return Ok(());
    }
    conn.input.consume(head);
    // The memory stays borrowed from the sink, so nothing else is received until it is full.
    let mut filled = 0;
    match call.room(target.index, size, target.flags) {
        Some(room) => {
            while filled < size {
                filled += fill(conn, &mut room[filled..], deadline)?;
                check_time(last)?;
            }
        }
        None => {
            while filled < size {
                filled += skip(conn, size - filled, deadline)?;
                check_time(last)?;
            }
        }
    }
    while conn.input.bytes().len() < end.len() {
        if !conn.receive(Wait::No)? {
            wait(conn, deadline)?;
        }
    }
    if !conn.input.bytes().starts_with(end) {
        return Err(Broken::unexpected("it sent a value without its end"));
    }
    conn.input.consume(end.len());
    Ok(())
}

/// Fills the beginning of `room`, first from the buffer. Returns how many bytes it got.
fn fill(conn: &mut Conn, room: &mut [u8], deadline: Instant) -> Result<usize, Broken> {
    let here = conn.input.bytes();
    if !here.is_empty() {
        let count = here.len().min(room.len());
        room[..count].copy_from_slice(&here[..count]);
        conn.input.consume(count);
        return Ok(count);
    }
    match conn.stream.receive_both(room, conn.input.room())? {
        None => {
            wait(conn, deadline)?;
            Ok(0)
        }
        Some(count) => {
            let own = count.min(room.len());
            conn.input.fill(count - own);
            Ok(own)
        }
    }
}

/// Drops at most `most` bytes. Returns how many.
fn skip(conn: &mut Conn, most: usize, deadline: Instant) -> Result<usize, Broken> {
    if conn.input.is_empty() && !conn.receive(Wait::No)? {
        wait(conn, deadline)?;
    }
    let count = conn.input.bytes().len().min(most);
    conn.input.consume(count);
    Ok(count)
}

fn check_time(last: Instant) -> Result<(), Broken> {
    match Instant::now() < last {
        true => Ok(()),
        false => Err(Broken::late()),
    }
}

/// Waits for bytes in the middle of a value, and sends what the socket takes meanwhile.
fn wait(conn: &mut Conn, deadline: Instant) -> Result<(), Broken> {
    conn.send()?;
    conn.wait(deadline)
}
