/*
 * The memcached client of Tavola for C: fleets of memcached servers, and of `tavola serve`.
 *
 * A client sends each key to its server, as other clients place it, many requests at once if they
 * are prepared in a batch. It never returns the value of another key: an answer that is not
 * certain to be that of a request ends the connection. It never says that a key is missing unless
 * its server did.
 *
 * # Examples
 * ```c
 * tavola_mc_client *fleet = NULL;
 * char bytes[64];
 * tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
 * if (tavola_mc_open("10.0.0.1:11211,10.0.0.2:11211?weight=2", NULL, &fleet) != TAVOLA_MC_OK) {
 *   fprintf(stderr, "%s\n", tavola_mc_last_error());
 *   return;
 * }
 * tavola_mc_close(fleet);
 *
 * tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
 * if (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value) == TAVOLA_MC_HIT) {
 *   printf("%.*s\n", (int)value.len, bytes);
 * }
 * ```
 *
 * # Names
 * Functions that begin with `tavola_mc_batch_` work on a batch, all others on a client. The
 * constants of an enum begin with the name of the enum, except those of `tavola_mc_status`, which
 * begin with `TAVOLA_MC_`.
 *
 * # Errors
 * A function that can fail returns a `tavola_mc_status`. `TAVOLA_MC_OK`, which is 0: a call that
 * is not about a key did what it should. A number above 0 is what a server answered about a key:
 * `TAVOLA_MC_HIT`, `TAVOLA_MC_MISS`, `TAVOLA_MC_STORED` and others. A number below 0 is an error,
 * and its name begins with `TAVOLA_MC_ERR_`. Three errors are about a request:
 *
 * - `TAVOLA_MC_ERR_REFUSED`: the server, or the client itself, refused it. Nothing was changed.
 * - `TAVOLA_MC_ERR_UNSENT`: it was not sent. Nothing was changed, and it can be repeated.
 * - `TAVOLA_MC_ERR_UNKNOWN`: it was sent, and no answer came. It may have been carried out.
 *
 * The numbers never change their meaning. After an error, `tavola_mc_last_error` returns a
 * sentence that says what to do. If a pointer is NULL and must not be, the call returns
 * `TAVOLA_MC_ERR_NULL`. A bug of the library itself is `TAVOLA_MC_ERR_PANIC`; no exception leaves
 * the library. If the system refuses memory to the process, the library calls `abort`, as every
 * library in Rust does.
 *
 * # Bytes and text
 * Keys have 1 to 250 bytes with the name space, and values are any bytes. A pointer may be NULL if
 * the length is 0. `TAVOLA_MC_STR("alice")` expands to the pointer and the length of a string
 * literal. Texts are UTF-8 and end with a NUL. If the first field of a struct is `size`,
 * initialize the struct before you pass it:
 * `tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);`.
 *
 * # Ownership
 * A call of one request needs its key and value only until it returns. A batch does not copy them:
 * they must stay until it is cleared or freed, or until its last execution. Values are received
 * straight into the memory of the caller. Close each client and free each batch once.
 *
 * # Threads and processes
 * Threads may share a client. Only one thread at a time may use a batch. After a fork the child
 * makes connections of its own; fork while no other thread is inside a call. The library starts no
 * threads, installs no signal handlers, and must not be called from one.
 *
 * # Callbacks
 * The library calls a callback in the thread that made the call, before the call returns. A
 * callback may call the library, but not with the batch that called it. It must return: it must
 * not throw an exception or call `longjmp`. An exception that leaves a callback ends the process
 * by `abort`, before anything else is done with the connections. After a `longjmp` the connections
 * of that call are never used again, and count as in use as long as the client lives.
 *
 * # Static linking
 * `libtavola_client.a` has the Rust standard library in it, as `libtavola.a` has. A program that
 * needs both links one of them as a shared library.
 *
 * MIT OR Apache-2.0, at your choice.
 *
 * Made by `cargo xtask header` from crates/tavola-client-capi; change it there.
 */

#ifndef TAVOLA_CLIENT_H
#define TAVOLA_CLIENT_H

#include <stddef.h>
#include <stdint.h>

// The version of this header; `tavola_mc_version` returns that of the library.
#define TAVOLA_MC_VERSION_MAJOR 0
#define TAVOLA_MC_VERSION_MINOR 1
#define TAVOLA_MC_VERSION_PATCH 0
#define TAVOLA_MC_VERSION "0.1.0"

// Initializes a struct: sets its `size`, and all other fields to 0.
#ifdef __cplusplus
template <typename T> T tavola_mc_init() {
  T made{};
  made.size = sizeof(T);
  return made;
}
#define TAVOLA_MC_INIT(type) tavola_mc_init<type>()
#else
#define TAVOLA_MC_INIT(type) {.size = sizeof(type)}
#endif

// Expands to a string literal and its length, as two arguments, without the NUL at its end:
// `tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);`
#define TAVOLA_MC_STR(literal) ("" literal ""), (sizeof(literal) - 1)

// Initializes a tavola_mc_value: with memory of the caller, or with a callback that returns memory
// for the value.
#define TAVOLA_MC_VALUE(data, capacity) {(data), (capacity), 0, 0, 0, NULL, NULL}
#define TAVOLA_MC_VALUE_ROOM(room, user) {NULL, 0, 0, 0, 0, (room), (user)}

// What kind of failure keeps a request from being answered. Decide by it; the message is for
// people. A number is never used again for something else.
enum tavola_mc_cause
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The last error was no failure of a server.
  TAVOLA_MC_CAUSE_NONE = 0,
  // The name of the server has no address.
  TAVOLA_MC_CAUSE_UNRESOLVED = 1,
  // Nothing listens there, or there is no such socket or table: the server is down.
  TAVOLA_MC_CAUSE_REFUSED = 2,
  // Its machine cannot be reached.
  TAVOLA_MC_CAUSE_UNREACHABLE = 3,
  // It did not take a connection, or did not answer, in time.
  TAVOLA_MC_CAUSE_TIMED_OUT = 4,
  // It closed the connection.
  TAVOLA_MC_CAUSE_CLOSED = 5,
  // The connection broke.
  TAVOLA_MC_CAUSE_RESET = 6,
  // There is no TLS with it: a certificate is not accepted, or it does not speak TLS.
  TAVOLA_MC_CAUSE_TLS = 7,
  // It asks for a user and a password, or does not accept those given.
  TAVOLA_MC_CAUSE_AUTHENTICATION = 8,
  // It took the connection, and refused to serve it.
  TAVOLA_MC_CAUSE_REJECTED = 9,
  // It sent what is no answer to what it was asked.
  TAVOLA_MC_CAUSE_PROTOCOL = 10,
  // A proxy took the request, and lost the server behind it.
  TAVOLA_MC_CAUSE_PROXY = 11,
  // One of several copies refused what another carried out.
  TAVOLA_MC_CAUSE_PARTIAL = 12,
  // All connections to it are in use by others.
  TAVOLA_MC_CAUSE_BUSY = 13,
  // This process cannot do what is needed, or was forked during the call.
  TAVOLA_MC_CAUSE_LOCAL = 14,
  // A cause that this library has no number for.
  TAVOLA_MC_CAUSE_OTHER = 15,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_cause tavola_mc_cause;
#else
typedef int32_t tavola_mc_cause;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What became of a call or a request. 0 is success of a call that is not about a key, a number
// above 0 is what the server answered about a key, a number below 0 is an error. A number is never
// used again for something else.
enum tavola_mc_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The call did what it should.
  TAVOLA_MC_OK = 0,
  // The key is there.
  TAVOLA_MC_HIT = 1,
  // The key is missing. Only what the server said is a miss; a failure never is.
  TAVOLA_MC_MISS = 2,
  // The value is stored.
  TAVOLA_MC_STORED = 3,
  // The condition of add, replace, append or prepend does not hold.
  TAVOLA_MC_NOT_STORED = 4,
  // The item's unique number is another.
  TAVOLA_MC_EXISTS = 5,
  // The key was there and is removed.
  TAVOLA_MC_DELETED = 6,
  // The key is there and has its new expiry time.
  TAVOLA_MC_TOUCHED = 7,
  // There is a new number.
  TAVOLA_MC_COUNT = 8,
  // The request needs no answer, and is sent or held to be sent.
  TAVOLA_MC_QUEUED = 9,
  // A pointer is NULL and must not be.
  TAVOLA_MC_ERR_NULL = -1,
  // This is a bug of the library; please report it.
  TAVOLA_MC_ERR_PANIC = -2,
  // The value does not fit in the memory of the caller; `len` says how long it is.
  TAVOLA_MC_ERR_TOO_SMALL = -3,
  // A callback gave no memory for the value.
  TAVOLA_MC_ERR_STOPPED = -4,
  // An argument is invalid.
  TAVOLA_MC_ERR_ARGUMENT = -5,
  // A text names no server, or the servers make no ring.
  TAVOLA_MC_ERR_SERVERS = -6,
  // An option is invalid.
  TAVOLA_MC_ERR_OPTION = -7,
  // The server, or the client itself, refused the request. Nothing was changed.
  TAVOLA_MC_ERR_REFUSED = -8,
  // The request was not sent: nothing was changed, and it can be repeated.
  TAVOLA_MC_ERR_UNSENT = -9,
  // The request was sent, and no answer came: it may have been carried out or not.
  TAVOLA_MC_ERR_UNKNOWN = -10,
  // An error that this library has no number for.
  TAVOLA_MC_ERR_OTHER = -11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_status tavola_mc_status;
#else
typedef int32_t tavola_mc_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How keys are placed on servers. All clients of a fleet have to agree.
enum tavola_mc_placement
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Ketama with weights, by MD5: libmemcached's `ketama_weighted`, which php-memcached calls
  // `OPT_LIBKETAMA_COMPATIBLE`, and pylibmc `ketama`.
  TAVOLA_MC_PLACEMENT_KETAMA = 0,
  // The same with the points of spymemcached, libmemcached's `ketama_spy`.
  TAVOLA_MC_PLACEMENT_KETAMA_SPY = 1,
  // libmemcached's `consistent`: a hundred points a server, by the hash of keys.
  TAVOLA_MC_PLACEMENT_CONSISTENT = 2,
  // The hash modulo the number of servers: libmemcached's default. Weights have no effect.
  TAVOLA_MC_PLACEMENT_MODULA = 3,
  // Cache::Memcached::Fast: `points` are its `ketama_points`.
  TAVOLA_MC_PLACEMENT_FAST = 4,
  // Jump consistent hash of FNV-1a of 64 bits. Weights have no effect.
  TAVOLA_MC_PLACEMENT_JUMP = 5,
  // Dalli's ring, of Ruby. It hashes the name space with the key: set `hash_name_space`.
  TAVOLA_MC_PLACEMENT_DALLI = 6,
  // Rendezvous hashing as pymemcache's HashClient has it.
  TAVOLA_MC_PLACEMENT_RENDEZVOUS = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_placement tavola_mc_placement;
#else
typedef int32_t tavola_mc_placement;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The hash of keys, for `TAVOLA_MC_PLACEMENT_CONSISTENT` and `TAVOLA_MC_PLACEMENT_MODULA`.
enum tavola_mc_hash
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One at a time, by Bob Jenkins: the default of libmemcached.
  TAVOLA_MC_HASH_ONE_AT_A_TIME = 0,
  // The first four bytes of MD5.
  TAVOLA_MC_HASH_MD5 = 1,
  // Fifteen bits of CRC-32.
  TAVOLA_MC_HASH_CRC = 2,
  // FNV-1 of 64 bits, cut to 32.
  TAVOLA_MC_HASH_FNV1_64 = 3,
  // FNV-1a with the numbers for 64 bits, calculated in 32.
  TAVOLA_MC_HASH_FNV1A_64 = 4,
  // FNV-1 of 32 bits.
  TAVOLA_MC_HASH_FNV1_32 = 5,
  // FNV-1a of 32 bits.
  TAVOLA_MC_HASH_FNV1A_32 = 6,
  // MurmurHash2, seeded by the length.
  TAVOLA_MC_HASH_MURMUR = 7,
  // MurmurHash3 of 32 bits, seeded by the length.
  TAVOLA_MC_HASH_MURMUR3 = 8,
  // Lookup3, by Bob Jenkins.
  TAVOLA_MC_HASH_JENKINS = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_hash tavola_mc_hash;
#else
typedef int32_t tavola_mc_hash;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What happens to requests whose server is down.
enum tavola_mc_on_down
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // They fail at once as unsent. No key is ever on two servers.
  TAVOLA_MC_ON_DOWN_FAIL = 0,
  // The ring is made without the server, so its keys go to others. Other clients have to do so
  // too, and a server that comes back has old values of its keys.
  TAVOLA_MC_ON_DOWN_EJECT = 1,
  // Gets go to the next server of the list that is up; the rest fails.
  TAVOLA_MC_ON_DOWN_NEXT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_on_down tavola_mc_on_down;
#else
typedef int32_t tavola_mc_on_down;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The protocol that servers are spoken to in.
enum tavola_mc_protocol
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The meta commands if the server has them, else the classic text protocol.
  TAVOLA_MC_PROTOCOL_AUTO = 0,
  // The meta commands, of memcached 1.6 and Tavola.
  TAVOLA_MC_PROTOCOL_META = 1,
  // The classic text protocol, as old servers and proxies have it.
  TAVOLA_MC_PROTOCOL_TEXT = 2,
  // The binary protocol, which SASL needs.
  TAVOLA_MC_PROTOCOL_BINARY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_protocol tavola_mc_protocol;
#else
typedef int32_t tavola_mc_protocol;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How user and password are given to servers.
enum tavola_mc_login
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not at all; `user` and `password` are NULL.
  TAVOLA_MC_LOGIN_NO = 0,
  // By SASL's PLAIN, in the binary protocol.
  TAVOLA_MC_LOGIN_SASL = 1,
  // As servers with the option `-Y` ask for it.
  TAVOLA_MC_LOGIN_TEXT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tavola_mc_login tavola_mc_login;
#else
typedef int32_t tavola_mc_login;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Requests to be executed at once. One thread at a time may use a batch. The library does not copy
// keys and values: they must stay as they are until the batch is cleared or freed, or until its
// last execution.
typedef struct tavola_mc_batch tavola_mc_batch;

// A client of a fleet of servers. Threads may share it.
typedef struct tavola_mc_client tavola_mc_client;

// The options of a client. A field that is 0 or NULL has the default that its comment names. Begin
// with `tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);`.
typedef struct tavola_mc_options {
  // `sizeof(tavola_mc_options)`.
  size_t size;
  // One of `tavola_mc_placement`.
  int32_t placement;
  // One of `tavola_mc_hash`, for placements that have a choice.
  int32_t hash;
  // For `TAVOLA_MC_PLACEMENT_FAST`: the points of a server of weight 1. 0 is the default of
  // Cache::Memcached::Fast; clients of libketama have 150, others 160.
  uint32_t points;
  // 1: the name space has a part in the placement of keys, as in Cache::Memcached::Fast with
  // `hash_namespace`.
  uint32_t hash_name_space;
  // Bytes that are put before every key, `name_space_len` of them.
  const void *name_space;
  // The length of `name_space`.
  size_t name_space_len;
  // Two characters, such as "{}": keys are placed by what is between them, if both are there
  // with something between them.
  const char *hash_tag;
  // Bounds the time that a connection may take to be made: 250 ms.
  uint32_t connect_timeout_ms;
  // Bounds the time of a batch with all its servers, or of a call: 1000 ms.
  uint32_t io_timeout_ms;
  // How many failures in a row make a server count as down: 2. One that refuses a connection is
  // down at once.
  uint32_t max_failures;
  // How long a failure is remembered: 1000 ms.
  uint32_t failure_timeout_ms;
  // Bounds the time between two attempts to reach a server that is down and silent: 2000 ms.
  uint32_t retry_ms;
  // Bounds the connections to each server: 64.
  uint32_t pool;
  // One of `tavola_mc_on_down`.
  int32_t on_down;
  // One of `tavola_mc_protocol`. SASL chooses the binary protocol itself.
  int32_t protocol;
  // Bounds the size of a value that a server may announce: 128 MiB.
  uint64_t max_value;
  // One of `tavola_mc_login`.
  int32_t login;
  // 1: all servers are connected to by TLS; `tls_authorities` must be given.
  uint32_t tls;
  // The user's name.
  const char *user;
  // The password.
  const char *password;
  // The path of a file in PEM with the authorities to trust.
  const char *tls_authorities;
  // The path of a file in PEM with the certificate to show to servers, or NULL.
  const char *tls_certificate;
  // The path of a file in PEM with the key of that certificate, or NULL.
  const char *tls_key;
  // The name that the certificates of servers must have; NULL for the hosts as they are written.
  const char *tls_name;
  // The name of a table of this machine that keeps what gets return, in front of the servers, or
  // NULL. All processes of the machine share it.
  const char *near;
  // How long a value stays in that table; not 0 if there is one.
  uint32_t near_ttl_ms;
  // How many copies of each key there are beside the one on its server: on the next servers of
  // the list, as libmemcached has them with `NUMBER_OF_REPLICAS`.
  uint32_t replicas;
  // 1: a get asks the copies of a key in random order, as with `RANDOMIZE_REPLICA_READ`.
  uint32_t read_any;
  // 1: a batch asks a server for many keys by one line, in half the time. Answers then have the
  // key, and no number of their request: a server that repeats an old answer, out of turn, could
  // pass off an older value of the same key.
  uint32_t multi_key_gets;
} tavola_mc_options;

// What a missing counter begins with, and whether an answer is needed. Begin with
// `tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);`.
typedef struct tavola_mc_count_options {
  // `sizeof(tavola_mc_count_options)`.
  size_t size;
  // The number that a missing counter begins with, if `has_initial` is 1.
  uint64_t initial;
  // 1: a missing counter is made; 0: it stays missing.
  uint32_t has_initial;
  // When a counter that is made expires, as that of `tavola_mc_store_options`.
  int32_t exptime;
  // 1: no answer is needed, as that of `tavola_mc_store_options`.
  uint32_t no_reply;
  // 0.
  uint32_t reserved;
} tavola_mc_count_options;

// Returns memory for a value of `len` bytes, or NULL if there is none. The library calls it once,
// with the exact length, and only if the key is there; `flags` are what was stored beside the
// value.
typedef void *(*tavola_mc_value_room_fn)(void *user, size_t len, uint32_t flags);

// Says where the value of a get goes: to memory of the caller,
//
// `tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);`
//
// or to memory that `room` returns, for runtimes that create a string with its length:
//
// `tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(begin, &string);`
typedef struct tavola_mc_value {
  // The memory.
  void *data;
  // How many bytes it has room for.
  size_t capacity;
  // The call sets it to the length of the value, also if the value is longer than `capacity`
  // (`TAVOLA_MC_ERR_TOO_SMALL`) and was not copied.
  size_t len;
  // The call sets it to the item's unique number, if it was asked for.
  uint64_t cas;
  // The call sets it to what was stored beside the value.
  uint64_t flags;
  // If not NULL, the library calls it and does not use `data`.
  tavola_mc_value_room_fn room;
  // Passed to the callback.
  void *user;
} tavola_mc_value;

// What is stored beside a value. All fields except `size` may be 0. Begin with
// `tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);`.
typedef struct tavola_mc_store_options {
  // `sizeof(tavola_mc_store_options)`.
  size_t size;
  // Any number; a get returns it.
  uint32_t flags;
  // When the item expires: in so many seconds, up to 30 days; above that, seconds since 1970.
  // 0: never; below 0: at once.
  int32_t exptime;
  // 1: no answer is needed. If nothing else in the batch needs one, the request is held, and
  // leaves with the next request of this thread to the same server, by `tavola_mc_flush`, or
  // when more than 64 KiB are held. Its outcome is `TAVOLA_MC_QUEUED` then, whatever becomes of
  // it.
  uint32_t no_reply;
  // 0.
  uint32_t reserved;
} tavola_mc_store_options;

// Returns memory for the value of a request: exactly `value_len` bytes, or NULL to drop the value.
// It is called once at most for a request, and only if the key is there; `done` says whether the
// value is whole. `index` counts the requests of the batch from 0.
typedef void *(*tavola_mc_room_fn)(void *user, size_t index, size_t value_len, uint32_t flags);

// What became of a request. It is lent until the callback returns.
typedef struct tavola_mc_result {
  // `sizeof(tavola_mc_result)` of the library.
  size_t size;
  // One of `tavola_mc_status`.
  int32_t status;
  // `TAVOLA_MC_HIT`: what was stored beside the value.
  uint32_t flags;
  // `TAVOLA_MC_HIT` of a gets: the item's unique number; else 0.
  uint64_t cas;
  // `TAVOLA_MC_COUNT`: the new number.
  uint64_t number;
  // An error: a sentence that says what to do; else "".
  const char *why;
  // `TAVOLA_MC_ERR_UNSENT` and `TAVOLA_MC_ERR_UNKNOWN`: one of `tavola_mc_cause`; else 0.
  int32_t cause;
  // 0.
  uint32_t reserved;
} tavola_mc_result;

// Takes what became of a request, exactly once for each.
typedef void (*tavola_mc_done_fn)(void *user, size_t index, const struct tavola_mc_result *result);

// Where the results of a batch go. Begin with
// `tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);`.
typedef struct tavola_mc_sink {
  // `sizeof(tavola_mc_sink)`.
  size_t size;
  // Gives memory for values; values are dropped if it is NULL.
  tavola_mc_room_fn room;
  // Takes what became of each request; may be NULL.
  tavola_mc_done_fn done;
  // Passed to the callbacks.
  void *user;
} tavola_mc_sink;

// Takes what a server answered. `status` is `TAVOLA_MC_OK`, and `text` the answer, or an error,
// and `text` a sentence that says what to do. The texts are lent until it returns.
typedef void (*tavola_mc_server_fn)(void *user,
                                    size_t server,
                                    const char *name,
                                    int32_t status,
                                    const char *text);

// Takes a figure of a server: its name and its value, which are lent until it returns.
typedef void (*tavola_mc_stat_fn)(void *user, size_t server, const char *name, const char *value);

// Takes a key of a server, which is lent until it returns.
typedef void (*tavola_mc_key_fn)(void *user, size_t server, const void *key, size_t key_len);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the message of the last error of this thread, a sentence that says what to do, or "" if
// there was no error. Statuses above 0 are not errors and do not change it, and the results of a
// batch have a message each. The text stays valid until the next error of this thread or until the
// thread ends.
const char *tavola_mc_last_error(void);

// Returns the cause of the last error of this thread, one of `tavola_mc_cause`, for errors that
// are `TAVOLA_MC_ERR_UNSENT` or `TAVOLA_MC_ERR_UNKNOWN`. The results of a batch have a cause each.
//
// # Examples
// ```c
// char bytes[64];
// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
// if (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value) < 0) {
//   if (tavola_mc_last_cause() == TAVOLA_MC_CAUSE_TIMED_OUT) puts("the server is slow");
// }
// ```
tavola_mc_cause tavola_mc_last_cause(void);

// Returns the name of a status, such as "TAVOLA_MC_MISS", or "?" for an unknown number.
//
// # Examples
// ```c
// tavola_mc_status status = tavola_mc_delete(client, TAVOLA_MC_STR("nothing"), 0);
// printf("%s %s\n", tavola_mc_status_name(status), tavola_mc_version());
// ```
const char *tavola_mc_status_name(int32_t status);

// Returns the version of the library, such as "0.1.0". `TAVOLA_MC_VERSION` is that of the header.
const char *tavola_mc_version(void);

// Makes a client of servers: texts `HOST:PORT`, `[IPV6]:PORT`, `unix:/PATH`, `/PATH`, or
// `tavola:NAME` for a table of this machine, each with `?weight=NUMBER` if its share of the keys
// is not 1, with commas between them. Their order is a part of the placement of keys. `options`
// may be NULL. Nothing is connected yet.
//
// # Examples
// ```c
// tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
// tavola_mc_client *fleet = NULL;
// options.io_timeout_ms = 500;
// options.name_space = "app:";
// options.name_space_len = 4;
// const char *servers = "10.0.0.1:11211?weight=2,unix:/run/mc.sock,[::1]:11212";
// if (tavola_mc_open(servers, &options, &fleet) != TAVOLA_MC_OK) {
//   fprintf(stderr, "%s\n", tavola_mc_last_error());
//   return;
// }
// for (size_t i = 0; i < tavola_mc_server_count(fleet); i++) {
//   puts(tavola_mc_server_name(fleet, i));
// }
// size_t server = 0;
// tavola_mc_server_of(fleet, TAVOLA_MC_STR("user:1"), &server);
// printf("user:1 is on server %zu\n", server);
// tavola_mc_close(fleet);
// ```
//
// # Errors
// `TAVOLA_MC_ERR_SERVERS`: a text names no server, there is none, or a weight is not a number
// above 0. `TAVOLA_MC_ERR_OPTION`: an option is invalid, or a file for TLS cannot be used.
tavola_mc_status tavola_mc_open(const char *servers,
                                const struct tavola_mc_options *options,
                                struct tavola_mc_client **client);

// Closes a client. Requests that are held because they need no answer are sent before, and the
// connections are closed when its batches are freed, too. NULL has no effect.
void tavola_mc_close(struct tavola_mc_client *client);

// Returns the number of servers.
size_t tavola_mc_server_count(const struct tavola_mc_client *client);

// Returns the name of a server: its text without the weight, which stays valid until the client is
// closed. Returns NULL if there is no such server.
const char *tavola_mc_server_name(const struct tavola_mc_client *client, size_t server);

// Finds the place in the list of the server that has a key, whether it is up or not.
tavola_mc_status tavola_mc_server_of(const struct tavola_mc_client *client,
                                     const void *key,
                                     size_t key_len,
                                     size_t *server);

// Adds `delta` to a number, which wraps around at 2^64, and writes the new one to `number`, which
// may be NULL: `TAVOLA_MC_COUNT`. `TAVOLA_MC_MISS` if the key is missing and `how`, which may be
// NULL, has no initial number.
//
// # Examples
// ```c
// tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
// uint64_t visits = 0;
// how.has_initial = 1;
// how.initial = 1;
// tavola_mc_incr(client, TAVOLA_MC_STR("visits"), 1, &how, &visits);
// tavola_mc_incr(client, TAVOLA_MC_STR("visits"), 1, &how, &visits);
// printf("%llu visits\n", (unsigned long long)visits);
// tavola_mc_decr(client, TAVOLA_MC_STR("visits"), 1, NULL, NULL);
// ```
//
// # Errors
// As `tavola_mc_set`. `TAVOLA_MC_ERR_REFUSED`: the value is no number.
tavola_mc_status tavola_mc_incr(const struct tavola_mc_client *client,
                                const void *key,
                                size_t key_len,
                                uint64_t delta,
                                const struct tavola_mc_count_options *how,
                                uint64_t *number);

// Subtracts `delta` from a number, down to 0, as `tavola_mc_incr` adds.
//
// # Errors
// As `tavola_mc_incr`.
tavola_mc_status tavola_mc_decr(const struct tavola_mc_client *client,
                                const void *key,
                                size_t key_len,
                                uint64_t delta,
                                const struct tavola_mc_count_options *how,
                                uint64_t *number);

// Gets the value of a key. `value` is as it was, if the key is missing; the bytes of its memory
// may have changed after an error.
//
// # Examples
// ```c
// char bytes[64];
// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
// switch (tavola_mc_get(client, TAVOLA_MC_STR("user"), &value)) {
//   case TAVOLA_MC_HIT:
//     printf("%.*s\n", (int)value.len, bytes);
//     break;
//   case TAVOLA_MC_MISS:
//     puts("there is no such key");
//     break;
//   case TAVOLA_MC_ERR_TOO_SMALL:
//     printf("the value has %zu bytes\n", value.len);
//     break;
//   default:
//     fputs(tavola_mc_last_error(), stderr);
// }
// ```
//
// # Errors
// `TAVOLA_MC_MISS`: the server says that the key does not exist. `TAVOLA_MC_ERR_TOO_SMALL`:
// `value->len` says how much room the value needs. `TAVOLA_MC_ERR_STOPPED`: the callback `room`
// gave no memory. `TAVOLA_MC_ERR_REFUSED`, `TAVOLA_MC_ERR_UNSENT` and `TAVOLA_MC_ERR_UNKNOWN`:
// nothing is known about the key.
tavola_mc_status tavola_mc_get(const struct tavola_mc_client *client,
                               const void *key,
                               size_t key_len,
                               struct tavola_mc_value *value);

// Gets the value of a key and its unique number, for `tavola_mc_cas`.
//
// # Examples
// ```c
// static void *begin(void *user, size_t len, uint32_t flags) {
//   (void)flags;
//   *(char **)user = (char *)calloc(1, len + 1);
//   return *(char **)user;
// }
//
// char *text = NULL;
// tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(begin, &text);
// tavola_mc_set(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("queued"), NULL);
// if (tavola_mc_gets(client, TAVOLA_MC_STR("job"), &value) == TAVOLA_MC_HIT) {
//   puts(text);
//   if (tavola_mc_cas(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("running"), value.cas, NULL) ==
//       TAVOLA_MC_EXISTS) {
//     puts("another process was faster");
//   }
// }
// free(text);
// ```
//
// # Errors
// As `tavola_mc_get`.
tavola_mc_status tavola_mc_gets(const struct tavola_mc_client *client,
                                const void *key,
                                size_t key_len,
                                struct tavola_mc_value *value);

// Gets the value of a key and gives the key a new expiry time, as that of
// `tavola_mc_store_options`.
//
// # Errors
// As `tavola_mc_get`; the key has its new expiry time also if the value does not fit.
tavola_mc_status tavola_mc_get_and_touch(const struct tavola_mc_client *client,
                                         const void *key,
                                         size_t key_len,
                                         int32_t exptime,
                                         struct tavola_mc_value *value);

// Gets the value of a key and its unique number, and gives the key a new expiry time: both
// `tavola_mc_gets` and `tavola_mc_get_and_touch`.
//
// # Examples
// ```c
// char bytes[64];
// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
// tavola_mc_set(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("queued"), NULL);
// if (tavola_mc_gets_and_touch(client, TAVOLA_MC_STR("job"), 60, &value) == TAVOLA_MC_HIT) {
//   tavola_mc_cas(client, TAVOLA_MC_STR("job"), TAVOLA_MC_STR("running"), value.cas, NULL);
// }
// ```
//
// # Errors
// As `tavola_mc_get_and_touch`.
tavola_mc_status tavola_mc_gets_and_touch(const struct tavola_mc_client *client,
                                          const void *key,
                                          size_t key_len,
                                          int32_t exptime,
                                          struct tavola_mc_value *value);

// Stores a value. `how` may be NULL.
//
// # Examples
// ```c
// tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
// how.exptime = 60;
// if (tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), &how) < 0) {
//   fputs(tavola_mc_last_error(), stderr);
// }
//
// how.no_reply = 1;
// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("bob"), &how);
// tavola_mc_flush(client);
// ```
//
// # Errors
// `TAVOLA_MC_STORED`, or `TAVOLA_MC_QUEUED` without an answer. `TAVOLA_MC_ERR_REFUSED`: the server
// did not take it, or the key is invalid. `TAVOLA_MC_ERR_UNSENT`: nothing was changed.
// `TAVOLA_MC_ERR_UNKNOWN`: the value may have been stored.
tavola_mc_status tavola_mc_set(const struct tavola_mc_client *client,
                               const void *key,
                               size_t key_len,
                               const void *value,
                               size_t value_len,
                               const struct tavola_mc_store_options *how);

// Stores a value if the key is missing; `TAVOLA_MC_NOT_STORED` if it is there. `how` may be NULL.
//
// # Examples
// ```c
// if (tavola_mc_add(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), NULL) ==
//     TAVOLA_MC_NOT_STORED) {
//   tavola_mc_replace(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), NULL);
// }
// tavola_mc_append(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR(",c"), NULL);
// tavola_mc_prepend(client, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("a,"), NULL);
// ```
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_add(const struct tavola_mc_client *client,
                               const void *key,
                               size_t key_len,
                               const void *value,
                               size_t value_len,
                               const struct tavola_mc_store_options *how);

// Stores a value if the key is there; `TAVOLA_MC_NOT_STORED` if it is missing. `how` may be NULL.
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_replace(const struct tavola_mc_client *client,
                                   const void *key,
                                   size_t key_len,
                                   const void *value,
                                   size_t value_len,
                                   const struct tavola_mc_store_options *how);

// Puts a value behind the one that is there, whose flags and expiry time stay;
// `TAVOLA_MC_NOT_STORED` if the key is missing. `how` may be NULL; only its `no_reply` counts.
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_append(const struct tavola_mc_client *client,
                                  const void *key,
                                  size_t key_len,
                                  const void *value,
                                  size_t value_len,
                                  const struct tavola_mc_store_options *how);

// Puts a value before the one that is there, as `tavola_mc_append`.
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_prepend(const struct tavola_mc_client *client,
                                   const void *key,
                                   size_t key_len,
                                   const void *value,
                                   size_t value_len,
                                   const struct tavola_mc_store_options *how);

// Stores a value if the item's unique number is still `cas`; `TAVOLA_MC_EXISTS` if it is another,
// `TAVOLA_MC_MISS` if the key is missing. `how` may be NULL.
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_cas(const struct tavola_mc_client *client,
                               const void *key,
                               size_t key_len,
                               const void *value,
                               size_t value_len,
                               uint64_t cas,
                               const struct tavola_mc_store_options *how);

// Removes a key: `TAVOLA_MC_DELETED` or `TAVOLA_MC_MISS`. `no_reply` is 0, or 1 if no answer is
// needed, as that of `tavola_mc_store_options`.
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_delete(const struct tavola_mc_client *client,
                                  const void *key,
                                  size_t key_len,
                                  uint32_t no_reply);

// Gives a key a new expiry time, as that of `tavola_mc_store_options`: `TAVOLA_MC_TOUCHED` or
// `TAVOLA_MC_MISS`. `no_reply` is 0, or 1 if no answer is needed.
//
// # Examples
// ```c
// char bytes[64];
// tavola_mc_value value = TAVOLA_MC_VALUE(bytes, sizeof bytes);
// tavola_mc_set(client, TAVOLA_MC_STR("user"), TAVOLA_MC_STR("alice"), NULL);
// tavola_mc_touch(client, TAVOLA_MC_STR("user"), 60, 0);
// tavola_mc_get_and_touch(client, TAVOLA_MC_STR("user"), 3600, &value);
// ```
//
// # Errors
// As `tavola_mc_set`.
tavola_mc_status tavola_mc_touch(const struct tavola_mc_client *client,
                                 const void *key,
                                 size_t key_len,
                                 int32_t exptime,
                                 uint32_t no_reply);

// Makes a batch without requests. The client may be closed before it.
//
// # Examples
// ```c
// static void *room(void *user, size_t index, size_t value_len, uint32_t flags) {
//   (void)flags;
//   char **values = (char **)user;
//   values[index] = (char *)calloc(1, value_len + 1);
//   return values[index];
// }
// static void done(void *user, size_t index, const tavola_mc_result *result) {
//   char **values = (char **)user;
//   switch (result->status) {
//     case TAVOLA_MC_HIT: printf("%s\n", values[index]); break;
//     case TAVOLA_MC_MISS: puts("there is no such key"); break;
//     case TAVOLA_MC_STORED: puts("stored"); break;
//     default: fprintf(stderr, "%s\n", result->why);
//   }
//   free(values[index]);
// }
//
// char *values[3] = {NULL, NULL, NULL};
// tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
// sink.room = room;
// sink.done = done;
// sink.user = values;
// tavola_mc_batch *batch = NULL;
// tavola_mc_batch_new(client, &batch);
// tavola_mc_batch_set(batch, TAVOLA_MC_STR("fruit"), TAVOLA_MC_STR("apple"), NULL);
// tavola_mc_batch_get(batch, TAVOLA_MC_STR("fruit"));
// tavola_mc_batch_get(batch, TAVOLA_MC_STR("other"));
// printf("%zu requests\n", tavola_mc_batch_len(batch));
// tavola_mc_batch_execute(batch, &sink);
// tavola_mc_batch_free(batch);
// ```
tavola_mc_status tavola_mc_batch_new(const struct tavola_mc_client *client,
                                     struct tavola_mc_batch **batch);

// Frees a batch. NULL has no effect.
void tavola_mc_batch_free(struct tavola_mc_batch *batch);

// Drops all requests and keeps their memory. The next request has index 0 again.
//
// # Examples
// ```c
// tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
// tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
// tavola_mc_batch *batch = NULL;
// how.has_initial = 1;
// tavola_mc_batch_new(client, &batch);
// tavola_mc_batch_incr(batch, TAVOLA_MC_STR("visits"), 1, &how);
// tavola_mc_batch_decr(batch, TAVOLA_MC_STR("stock"), 1, NULL);
// tavola_mc_batch_touch(batch, TAVOLA_MC_STR("visits"), 3600, 1);
// tavola_mc_batch_get_and_touch(batch, TAVOLA_MC_STR("visits"), 3600);
// tavola_mc_batch_gets(batch, TAVOLA_MC_STR("visits"));
// tavola_mc_batch_gets_and_touch(batch, TAVOLA_MC_STR("visits"), 3600);
// tavola_mc_batch_execute(batch, &sink);
//
// tavola_mc_batch_clear(batch);
// tavola_mc_batch_delete(batch, TAVOLA_MC_STR("visits"), 0);
// tavola_mc_batch_execute(batch, &sink);
// tavola_mc_batch_free(batch);
// ```
tavola_mc_status tavola_mc_batch_clear(struct tavola_mc_batch *batch);

// Returns the number of requests, which is the index of the next one.
size_t tavola_mc_batch_len(const struct tavola_mc_batch *batch);

// Executes the requests: all servers at once, each by as few system calls as it can. `sink` gets
// what became of each request, exactly once for each, in any order. A request that failed may have
// been carried out only if its status is `TAVOLA_MC_ERR_UNKNOWN`. The batch keeps its requests and
// can be executed again. If `sink` is NULL, nothing is reported.
//
// # Errors
// `TAVOLA_MC_OK` says nothing about single requests. `TAVOLA_MC_ERR_ARGUMENT`: the size of `sink`
// is not set; nothing was sent.
tavola_mc_status tavola_mc_batch_execute(struct tavola_mc_batch *batch,
                                         const struct tavola_mc_sink *sink);

// Adds a request to get the value of a key: `TAVOLA_MC_HIT` or `TAVOLA_MC_MISS`.
tavola_mc_status tavola_mc_batch_get(struct tavola_mc_batch *batch,
                                     const void *key,
                                     size_t key_len);

// Adds a request to get the value of a key and its unique number, for `tavola_mc_batch_cas`.
tavola_mc_status tavola_mc_batch_gets(struct tavola_mc_batch *batch,
                                      const void *key,
                                      size_t key_len);

// Adds a request to get the value of a key and to give the key a new expiry time.
tavola_mc_status tavola_mc_batch_get_and_touch(struct tavola_mc_batch *batch,
                                               const void *key,
                                               size_t key_len,
                                               int32_t exptime);

// Adds a request to get the value of a key and its unique number, and to give the key a new expiry
// time.
tavola_mc_status tavola_mc_batch_gets_and_touch(struct tavola_mc_batch *batch,
                                                const void *key,
                                                size_t key_len,
                                                int32_t exptime);

// Adds a request to store a value: `TAVOLA_MC_STORED`. `how` may be NULL.
tavola_mc_status tavola_mc_batch_set(struct tavola_mc_batch *batch,
                                     const void *key,
                                     size_t key_len,
                                     const void *value,
                                     size_t value_len,
                                     const struct tavola_mc_store_options *how);

// Adds a request to store a value if the key is missing: `TAVOLA_MC_STORED` or
// `TAVOLA_MC_NOT_STORED`. `how` may be NULL.
//
// # Examples
// ```c
// tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
// tavola_mc_batch *batch = NULL;
// how.exptime = 60;
// how.no_reply = 1;
// tavola_mc_batch_new(client, &batch);
// tavola_mc_batch_add(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("b"), &how);
// tavola_mc_batch_append(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR(",c"), &how);
// tavola_mc_batch_prepend(batch, TAVOLA_MC_STR("list"), TAVOLA_MC_STR("a,"), &how);
// tavola_mc_batch_replace(batch, TAVOLA_MC_STR("other"), TAVOLA_MC_STR("x"), &how);
// tavola_mc_batch_cas(batch, TAVOLA_MC_STR("third"), TAVOLA_MC_STR("y"), 1, &how);
// tavola_mc_batch_execute(batch, NULL);
// tavola_mc_batch_free(batch);
// tavola_mc_flush(client);
// ```
tavola_mc_status tavola_mc_batch_add(struct tavola_mc_batch *batch,
                                     const void *key,
                                     size_t key_len,
                                     const void *value,
                                     size_t value_len,
                                     const struct tavola_mc_store_options *how);

// Adds a request to store a value if the key is there: `TAVOLA_MC_STORED` or
// `TAVOLA_MC_NOT_STORED`. `how` may be NULL.
tavola_mc_status tavola_mc_batch_replace(struct tavola_mc_batch *batch,
                                         const void *key,
                                         size_t key_len,
                                         const void *value,
                                         size_t value_len,
                                         const struct tavola_mc_store_options *how);

// Adds a request to put a value behind the one that is there, whose flags and expiry time stay:
// `TAVOLA_MC_STORED` or `TAVOLA_MC_NOT_STORED`. `how` may be NULL; only its `no_reply` counts.
tavola_mc_status tavola_mc_batch_append(struct tavola_mc_batch *batch,
                                        const void *key,
                                        size_t key_len,
                                        const void *value,
                                        size_t value_len,
                                        const struct tavola_mc_store_options *how);

// Adds a request to put a value before the one that is there, as `tavola_mc_batch_append`.
tavola_mc_status tavola_mc_batch_prepend(struct tavola_mc_batch *batch,
                                         const void *key,
                                         size_t key_len,
                                         const void *value,
                                         size_t value_len,
                                         const struct tavola_mc_store_options *how);

// Adds a request to store a value if the item's unique number is still `cas`: `TAVOLA_MC_STORED`,
// `TAVOLA_MC_EXISTS` or `TAVOLA_MC_MISS`. `how` may be NULL.
tavola_mc_status tavola_mc_batch_cas(struct tavola_mc_batch *batch,
                                     const void *key,
                                     size_t key_len,
                                     const void *value,
                                     size_t value_len,
                                     uint64_t cas,
                                     const struct tavola_mc_store_options *how);

// Adds a request to remove a key: `TAVOLA_MC_DELETED` or `TAVOLA_MC_MISS`. `no_reply` is 0, or 1
// if no answer is needed.
tavola_mc_status tavola_mc_batch_delete(struct tavola_mc_batch *batch,
                                        const void *key,
                                        size_t key_len,
                                        uint32_t no_reply);

// Adds a request to add `delta` to a number, which wraps around at 2^64: `TAVOLA_MC_COUNT` or
// `TAVOLA_MC_MISS`. `how` may be NULL.
tavola_mc_status tavola_mc_batch_incr(struct tavola_mc_batch *batch,
                                      const void *key,
                                      size_t key_len,
                                      uint64_t delta,
                                      const struct tavola_mc_count_options *how);

// Adds a request to subtract `delta` from a number, down to 0: `TAVOLA_MC_COUNT` or
// `TAVOLA_MC_MISS`. `how` may be NULL.
tavola_mc_status tavola_mc_batch_decr(struct tavola_mc_batch *batch,
                                      const void *key,
                                      size_t key_len,
                                      uint64_t delta,
                                      const struct tavola_mc_count_options *how);

// Adds a request to give a key a new expiry time: `TAVOLA_MC_TOUCHED` or `TAVOLA_MC_MISS`.
// `no_reply` is 0, or 1 if no answer is needed.
tavola_mc_status tavola_mc_batch_touch(struct tavola_mc_batch *batch,
                                       const void *key,
                                       size_t key_len,
                                       int32_t exptime,
                                       uint32_t no_reply);

// Sends the requests that are held because they need no answer, those of all threads, and waits
// until the servers have carried them out.
//
// # Errors
// Those of the first server that failed. What could not be sent is held on.
tavola_mc_status tavola_mc_flush(const struct tavola_mc_client *client);

// Removes all keys of all servers, after so many seconds. `each` gets the answer of each server
// with an empty text, and may be NULL.
//
// # Examples
// ```c
// if (tavola_mc_flush_all(client, 0, NULL, NULL) != TAVOLA_MC_OK) {
//   fputs(tavola_mc_last_error(), stderr);
// }
// ```
//
// # Errors
// Those of the first server that failed; the others are asked, too.
tavola_mc_status tavola_mc_flush_all(const struct tavola_mc_client *client,
                                     uint32_t delay_s,
                                     tavola_mc_server_fn each,
                                     void *user);

// Asks each server for its version, and hands it to `each`.
//
// # Examples
// ```c
// static void print(void *user, size_t server, const char *name, int32_t status,
//                   const char *text) {
//   (void)user;
//   printf("%zu %s: %s %s\n", server, name, tavola_mc_status_name(status), text);
// }
//
// tavola_mc_versions(client, print, NULL);
// ```
//
// # Errors
// Those of the first server that failed; the others are asked, too.
tavola_mc_status tavola_mc_versions(const struct tavola_mc_client *client,
                                    tavola_mc_server_fn each,
                                    void *user);

// Asks each server for figures: those of a topic, such as "items" or "detail dump", or the general
// ones if `topic` is NULL or empty. `each` gets each figure.
//
// # Examples
// ```c
// static void print(void *user, size_t server, const char *name, const char *value) {
//   (void)user;
//   printf("%zu %s %s\n", server, name, value);
// }
//
// tavola_mc_stats(client, NULL, print, NULL);
// ```
//
// # Errors
// Those of the first server that failed; `each` gets the figures of the others.
tavola_mc_status tavola_mc_stats(const struct tavola_mc_client *client,
                                 const char *topic,
                                 tavola_mc_stat_fn each,
                                 void *user);

// Lists the keys of all servers, one server after the other, wherever the keys belong by the
// placement. `each` gets each key of the name space, without the name space. A key that is stored
// or removed meanwhile may come or not. The keys come while they are received: a server may close
// the connection of a client that is slow to take them.
//
// # Examples
// ```c
// static void print(void *user, size_t server, const void *key, size_t key_len) {
//   (void)user;
//   printf("%zu %.*s\n", server, (int)key_len, (const char *)key);
// }
//
// tavola_mc_keys(client, print, NULL);
// ```
//
// # Errors
// Those of the first server that failed; `each` gets the keys of the others. A server that cannot
// list its keys refuses: it is too old, or the connection speaks the binary protocol.
tavola_mc_status tavola_mc_keys(const struct tavola_mc_client *client,
                                tavola_mc_key_fn each,
                                void *user);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // TAVOLA_CLIENT_H
