//! Tavola for C: key-value tables, queues and logs in shared memory, for all processes of a
//! machine. A process may be killed at any moment; the others go on.
//!
//! Begin with the marked functions at the top of `tavola_table.h`. The other headers are
//! `tavola_queue.h`, `tavola_lock.h`, `tavola_log.h`, `tavola_cdb.h` (constant files) and
//! `tavola_stats.h`. This header includes all of them.
//!
//! # Examples
//! ```c
//! tavola_table *users = NULL;
//! char bytes[64];
//! tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
//! if (tavola_open("users", NULL, &users) != TAVOLA_OK) {
//!   fprintf(stderr, "%s\n", tavola_last_error());
//!   return;
//! }
//! tavola_set(users, TAVOLA_STR("alice"), TAVOLA_STR("admin"));
//! if (tavola_get(users, TAVOLA_STR("alice"), &value) == TAVOLA_OK) {
//!   printf("%.*s\n", (int)value.len, bytes);
//! }
//! tavola_close(users);
//! tavola_names_remove("users");
//! ```
//!
//! # Names
//! A function without the name of a kind of handle works on a table: `tavola_set`, `tavola_len`.
//! Every other kind of handle has its own prefix: `tavola_pool_`, `tavola_queue_`,
//! `tavola_queue_watch_`, `tavola_lock_`, `tavola_sem_`, `tavola_area_`, `tavola_log_`,
//! `tavola_log_drain_`, `tavola_log_reader_`, `tavola_iter_`, `tavola_view_`, `tavola_lease_`,
//! `tavola_batch_`, `tavola_cdb_`, `tavola_cdb_find_`, `tavola_cdb_iter_`, `tavola_cdb_writer_`. A
//! function that ends in `_with` takes attributes or options; one that ends in `_in` works on a
//! pool or log in the file of a table. The constants of an enum begin with the name of the enum,
//! except those of `tavola_status` and of `tavola_lease_outcome`, which begin with `TAVOLA_LEASE_`.
//!
//! # Errors
//! A function that can fail returns a `tavola_status`:
//!
//! - `TAVOLA_OK`, which is 0: the call did what it should.
//! - A number above 0 is an answer and not an error. `TAVOLA_NOT_FOUND`: there is no such key (or
//!   uid, or tag). `TAVOLA_EXISTS`: the key exists already. `TAVOLA_CHANGED`: the key has another
//!   value or token than the expected one. `TAVOLA_OWNER_DIED`: the lock is held, but its last
//!   holder died with it.
//! - A number below 0 is an error, and its name begins with `TAVOLA_ERR_`. An error names what is
//!   missing or exists: `TAVOLA_ERR_NO_TABLE` and `TAVOLA_ERR_TABLE_EXISTS` are about a file by its
//!   name, `TAVOLA_ERR_NO_OBJECT` and `TAVOLA_ERR_OBJECT_EXISTS` about a pool, queue or log in a
//!   file.
//!
//! The numbers never change their meaning. After an error, `tavola_last_error` returns a sentence
//! that says what to do. A function writes through its pointers only if it returns `TAVOLA_OK`,
//! unless its description says otherwise. If a pointer is NULL and must not be, the call returns
//! `TAVOLA_ERR_NULL`. A bug of the library itself is `TAVOLA_ERR_PANIC`; no exception leaves the
//! library. If the system refuses memory to the process, the library calls `abort`, as every
//! library in Rust does.
//!
//! # Ownership
//! The library copies the bytes that you pass before the call returns. If it lends bytes to you,
//! the function says for how long. A function that opens something returns the handle through its
//! last argument. Close each handle once, with the function that closes its kind; to close NULL has
//! no effect. You may close handles in any order: an iterator, a view, a lease, a queue or a drain
//! keeps the file open that it belongs to. If the first field of a struct is `size`, initialize the
//! struct before you pass it: `tavola_stats stats = TAVOLA_INIT(tavola_stats);`.
//!
//! # Results
//! A `tavola_buffer` says where a result goes: to memory of the caller, or to a callback (`alloc`
//! or `write`). The library calls the callback once in a call, with the exact length of the result,
//! after everything else that can fail. It does not call it if there is no result. Each thread
//! keeps up to 1 MiB of memory for such results, so a read allocates only if its result is longer
//! than all before. If `alloc` returns NULL (which it may for an empty result) or `write` refuses
//! the result, the call returns `TAVOLA_ERR_STOPPED`. The call has then done its work and nothing
//! is lost: a value that was read is still in the table, and `tavola_last_taken` returns what
//! `tavola_take` or `tavola_swap` removed. If the memory of the caller is too small, the call
//! returns `TAVOLA_ERR_TOO_SMALL` before it changes anything, except `tavola_get_and_touch` and
//! `tavola_get_or_compute`.
//!
//! # Bytes and text
//! Keys and values are any bytes, with their length. A pointer may be NULL if the length is 0.
//! `TAVOLA_STR("alice")` stands for the pointer and the length of a string literal. Names and paths
//! end with a NUL.
//!
//! # Threads
//! Threads may share tables, pools, queues, watches, logs and constant files. Only one thread at a
//! time may use an iterator, view, batch, lease, drain, reader, writer or buffer. Close a handle
//! when no thread uses it any more.
//!
//! # Fork
//! Handles work in a forked child, which becomes a participant of its own. The child does not hold
//! the elements of queues that its parent holds, and it does not have its parent's leases and
//! drains. `fork` does not copy threads: the background thread of a table does not run in the
//! child, and the child must open its own watches. Fork while no other thread is inside a call.
//!
//! # Signals
//! Do not call the library from a signal handler, because it allocates memory. The only exception
//! is `tavola_log_line`, if its thread has written a line to this log before and has not written to
//! four other logs since. It allocates only if it fails. Create the log with room for one piece
//! more than there are threads that write. With `TAVOLA_OVERLOAD_BLOCK` the handler waits for the
//! drain, so it must not have interrupted the drain. If a handler interrupts a write to a table and
//! writes itself, the library refuses this with `TAVOLA_ERR_REENTRANT`, and no harm is done. The
//! library installs no signal handlers, except one of SIGBUS when it maps the first constant file
//! of more than 32 KiB. It passes on signals that do not concern such files.
//!
//! # Callbacks
//! The library calls a callback in the thread that made the call, before the call returns, and
//! while it holds no lock. A callback may call the library, but not with the iterator, batch,
//! lease, drain or reader that called it. It must return: it must not throw an exception or call
//! `longjmp`.
//!
//! # Crash
//! If a process is killed during a call, the other processes go on. The effects of calls that had
//! returned are kept; a call that had not returned is done completely or not at all.

#![allow(
    non_camel_case_types,
    reason = "types and constants have the names they have in the header"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the caller's duties are the same everywhere, and are described above"
)]

mod buffer;
mod entry;
mod given;
mod lists;

// In this order they stand in the header.
mod status;

mod names;

mod options;

mod attributes;

mod table;

mod batch;

mod leases;

mod queues;

mod locks;

mod logs;

mod constant;

mod barrier;

#[cfg(test)]
mod c_layout;
