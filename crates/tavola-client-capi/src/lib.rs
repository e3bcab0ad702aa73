//! The memcached client of Tavola for C: fleets of memcached servers, and of `tavola serve`.
//!
//! A client sends each key to its server, as other clients place it, many requests at once if they
//! are prepared in a batch. It never returns the value of another key: an answer that is not
//! certain to be that of a request ends the connection. It never says that a key is missing unless
//! its server did.
//!
//! # Examples
//! ```c
//! tavola_mc_client *fleet = NULL;
//! char bytes[64];
//! tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
//! if (tavola_mc_open("10.0.0.1:11211,10.0.0.2:11211?weight=2", NULL, &fleet) != TAVOLA_MC_OK) {
//!   fprintf(stderr, "%s\n", tavola_mc_last_error());
//!   return;
//! }
//! tavola_mc_close(fleet);
//!
//! tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
//! if (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value) == TAVOLA_MC_HIT) {
//!   printf("%.*s\n", (int)value.len, bytes);
//! }
//! ```
//!
//! # Names
//! Functions that begin with `tavola_mc_batch_` work on a batch, all others on a client. The
//! constants of an enum begin with the name of the enum, except those of `tavola_mc_status`, which
//! begin with `TAVOLA_MC_`.
//!
//! # Errors
//! A function that can fail returns a `tavola_mc_status`. `TAVOLA_MC_OK`, which is 0: a call that
//! is not about a key did what it should. A number above 0 is what a server answered about a key:
//! `TAVOLA_MC_HIT`, `TAVOLA_MC_MISS`, `TAVOLA_MC_STORED` and others. A number below 0 is an error,
//! and its name begins with `TAVOLA_MC_ERR_`. Three errors are about a request:
//!
//! - `TAVOLA_MC_ERR_REFUSED`: the server, or the client itself, refused it. Nothing was changed.
//! - `TAVOLA_MC_ERR_UNSENT`: it was not sent. Nothing was changed, and it can be repeated.
//! - `TAVOLA_MC_ERR_UNKNOWN`: it was sent, and no answer came. It may have been carried out.
//!
//! The numbers never change their meaning. After an error, `tavola_mc_last_error` returns a
//! sentence that says what to do. If a pointer is NULL and must not be, the call returns
//! `TAVOLA_MC_ERR_NULL`. A bug of the library itself is `TAVOLA_MC_ERR_PANIC`; no exception leaves
//! the library. If the system refuses memory to the process, the library calls `abort`, as every
//! library in Rust does.
//!
//! # Bytes and text
//! Keys have 1 to 250 bytes with the name space, and values are any bytes. A pointer may be NULL if
//! the length is 0. `TAVOLA_MC_STR("alice")` expands to the pointer and the length of a string
//! literal. Texts are UTF-8 and end with a NUL. If the first field of a struct is `size`,
//! initialize the struct before you pass it:
//! `tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);`.
//!
//! # Ownership
//! A call of one request needs its key and value only until it returns. A batch does not copy them:
//! they must stay until it is cleared or freed, or until its last execution. Values are received
//! straight into the memory of the caller. Close each client and free each batch once.
//!
//! # Threads and processes
//! Threads may share a client. Only one thread at a time may use a batch. After a fork the child
//! makes connections of its own; fork while no other thread is inside a call. The library starts no
//! threads, installs no signal handlers, and must not be called from one.
//!
//! # Callbacks
//! The library calls a callback in the thread that made the call, before the call returns. A
//! callback may call the library, but not with the batch that called it. It must return: it must
//! not throw an exception or call `longjmp`. An exception that leaves a callback ends the process
//! by `abort`, before anything else is done with the connections. After a `longjmp` the connections
//! of that call are never used again, and count as in use as long as the client lives.
//!
//! # Static linking
//! `libtavola_client.a` has the Rust standard library in it, as `libtavola.a` has. A program that
//! needs both links one of them as a shared library.

#![allow(
    non_camel_case_types,
    reason = "types and constants have the names they have in the header"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the caller's duties are the same everywhere, and are described above"
)]

/// cbindgen:ignore
mod compat;
mod entry;
mod given;

// In this order they are in the header.
mod status;

mod options;

mod client;

mod calls;

mod request;

mod batch;

mod outcome;

mod control;
