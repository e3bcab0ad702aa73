/*
 * Tavola for C: key-value tables, queues and logs in shared memory, which all processes of a
 * machine use at once and which any of them may leave killed at any instruction.
 *
 * # Errors
 * A function that can fail returns a `tavola_status`. `TAVOLA_OK` is 0: done. Above 0 are the
 * other answers (`TAVOLA_NOT_FOUND`: there is no such key), below 0 the errors; their numbers
 * never change their meaning. After an error, `tavola_last_error` has a sentence that says what to
 * do. What a function writes through its pointers, it writes only when it returns `TAVOLA_OK`,
 * unless it says otherwise. A NULL where there must be none is `TAVOLA_ERR_NULL`, no crash. A bug
 * of the library itself is `TAVOLA_ERR_PANIC`; nothing unwinds into the caller. Where the system
 * refuses memory to the process, it is ended (`abort`), as by any library in Rust.
 *
 * # Ownership
 * Bytes that are handed in are copied before the call returns. Bytes that are lent say until when.
 * Handles come through the last argument of a function that opens, and each is closed once, by the
 * function that closes its kind; NULL is closed without effect. Handles may be closed in any
 * order: a walk, a lease, a queue or a drain keeps the file open that it belongs to. A struct
 * whose first field is `size` is set to zero and its size before it is handed in:
 * `tavola_stats stats = TAVOLA_INIT(tavola_stats);`.
 *
 * # Results
 * Results go where a `tavola_buffer` says: into memory of the caller's, or through a callback,
 * `alloc` or `store`. A callback is called once a call, with the result's exact length, after all
 * else that may fail, and not at all where there is no result. What it gets is copied from memory
 * that the thread keeps for that, up to 1 MiB: so reading keys asks the system for memory only
 * where a result is longer than those before. Where `alloc` gives NULL (for an empty result it
 * may), or `store` refuses, the call ends with `TAVOLA_ERR_STOPPED`. It has done then what it was
 * to do, and nothing is lost: what was read is still there, and what `tavola_take` and
 * `tavola_swap` took away, `tavola_last_taken` gives again. Memory of the caller's that is too
 * small, `TAVOLA_ERR_TOO_SMALL`, is found before anything is done, but by `tavola_get_and_touch`
 * and `tavola_get_or_compute`.
 *
 * # Bytes and text
 * Keys and values are any bytes, with their length; a pointer may be NULL where the length is 0.
 * Names and paths end with a NUL.
 *
 * # Threads
 * Threads share tables, pools, queues, watches and logs freely. Walks, batches, leases, drains,
 * readers and buffers are for one thread at a time. A handle is closed when nobody uses it any
 * more.
 *
 * # Fork
 * Handles work in a forked child, which becomes a participant of its own; it holds no element of a
 * queue that its parent holds, and leases and drains stay its parent's. Threads are not forked: a
 * table with background work does none in the child, and a watch is to be made anew. Fork while no
 * other thread is inside a call.
 *
 * # Signals
 * No function may be called from a signal handler, as they allocate memory, but one:
 * `tavola_log_line`, if its thread has written a line to that log before, and none to four others
 * since. It allocates only where it fails; so the log has room for a piece more than there are
 * threads that write. Where it is `TAVOLA_OVERLOAD_BLOCK`, the handler waits for the drain, and
 * must not have interrupted it. A write to a table that interrupts a write of its own thread is
 * refused with `TAVOLA_ERR_REENTRANT` and does no harm. The library installs no handlers.
 *
 * # Callbacks
 * Called by the thread that made the call, before it returns, holding no lock: they may call the
 * library again, but not with the walk, batch, lease, drain or reader that called them. They
 * return; they do not throw, and not jump out (`longjmp`).
 *
 * # Crash
 * A process may be killed in any call. The others go on; what had returned is there, and of a call
 * that had not, all or nothing is done.
 *
 * MIT OR Apache-2.0, at your choice.
 *
 * Made by `cargo xtask header` from crates/tavola-capi; change it there.
 */

#ifndef TAVOLA_H
#define TAVOLA_H

#include <tavola_table.h>
#include <tavola_stats.h>
#include <tavola_queue.h>
#include <tavola_log.h>

#endif  // TAVOLA_H
