//! Constant databases: files of keys and values that are written once, as a whole, and then read
//! by any number of processes. A change is a new file, renamed over the old one.
//!
//! # Formats
//!
//! - [`Format::Cdb`]: the format of D. J. Bernstein's cdb, up to 4 GiB; [TinyCDB], Postfix,
//!   djbdns and others read and write it.
//! - [`Format::Cdb64`] and [`Format::Cdb64Long`]: the same with numbers of 64 bits.
//!
//! - [`Frozen`]: a format of this project, for files of any size. It takes half the room of a cdb
//!   file for small records, is read faster, and has checksums.
//!
//! # Write and read
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("tavola-cdb-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # let path = dir.join("people.cdb");
//! use tavola_cdb::{Cdb, Put, Writer};
//!
//! let mut writer = Writer::create(&path)?;
//! writer.put("alice", "3", Put::Add)?;
//! writer.put("bob", "4", Put::Add)?;
//! writer.finish()?;
//!
//! let people = Cdb::open(&path)?;
//! assert_eq!(people.get("alice")?.as_deref(), Some(&b"3"[..]));
//! assert_eq!(people.get("carol")?, None);
//! for record in people.records() {
//!     let record = record?;
//!     println!("{:?} {:?}", record.key, record.value);
//! }
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files that others change
//!
//! [`Writer`] makes a file beside the old one and renames it, so a reader has the old file or the
//! new one, and an open [`Cdb`] keeps the file that it opened. [`Cdb::refresh`] opens the file that
//! has the name now. [`Followed`] does that once a second.
//!
//! A file that is shortened while it is open, or that somebody made to do harm, leads to an
//! [`Error`]: never to a signal, a panic, or a read outside of the file. To that end a handler of
//! SIGBUS is installed when the first file is mapped; signals that do not concern these files go
//! on to the handler that was there before.
//!
//! # Rooms
//!
//! - `error`: the one error
//! - `map`: the bytes of a file, and reads of them that cannot go wrong
//! - `output`: a new file in the place of an old one
//! - `cdb`: the cdb formats: reading, writing, and both as a stream
//! - `frozen`: the frozen format
//! - `constant`: a file of any of the formats
//! - `follow`: open files that follow a replaced one
//!
//! [TinyCDB]: https://www.corpit.ru/mjt/tinycdb.html

#![deny(unsafe_op_in_unsafe_fn)]

#[forbid(unsafe_code)]
mod cdb;
#[forbid(unsafe_code)]
mod constant;
#[forbid(unsafe_code)]
mod error;
#[forbid(unsafe_code)]
mod follow;
#[forbid(unsafe_code)]
mod frozen;
mod map;
#[forbid(unsafe_code)]
mod output;

pub use cdb::reader::{Cdb, Find, Record, Records};
pub use cdb::stream::{Slots, Stream};
pub use cdb::writer::{Put, Writer, WriterOptions};
pub use cdb::{Format, hash};
pub use constant::{Constant, ConstantFind, ConstantRecords};
pub use error::{Error, Result};
pub use follow::{Followed, Reopen};
pub use frozen::head::format_tables;
pub use frozen::reader::{Frozen, FrozenRecords};
pub use frozen::writer::{FrozenOptions, FrozenWriter, Keep};
pub use map::Span;

/// The programs of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/constant-files.md")]
struct Guide;
