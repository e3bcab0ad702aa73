/*
 * The calls of the client in C of Cache::Memcached::Fast, by the client of Tavola: a program for it
 * is compiled with
 *
 *     cc program.c $(pkg-config --cflags --libs tavola_memcached_client)
 *
 * Each call leads to a function of libtavola_client whose name begins with tavola_compat_.
 * docs/guide/coming-from-libmemcached.md says what differs.
 *
 * Written without its source. MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_COMPAT_CLIENT_H
#define TAVOLA_COMPAT_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The symbol of a function in libtavola_client.
#ifndef TAVOLA_COMPAT
#define TAVOLA_COMPAT(name) __asm__("tavola_compat_" #name)
#endif

typedef uint32_t flags_type;
typedef int32_t exptime_type;
typedef uint32_t delay_type;
typedef size_t value_size_type;
typedef uint64_t cas_type;
typedef uint64_t arith_type;

// What became of a call.
enum {
  // It was carried out; what became of each request is what `store` got.
  MEMCACHED_SUCCESS = 0,
  // An argument is invalid, or there is no memory.
  MEMCACHED_FAILURE = 1,
  MEMCACHED_EAGAIN = 2,
  // A server refused a request.
  MEMCACHED_ERROR = 3,
  // It is not known what became of a request.
  MEMCACHED_UNKNOWN = 4,
  // A server could not be reached.
  MEMCACHED_CLOSED = 5
};

enum set_cmd_e { CMD_SET, CMD_ADD, CMD_REPLACE, CMD_APPEND, CMD_PREPEND, CMD_CAS };
enum get_cmd_e { CMD_GET, CMD_GETS };
enum gat_cmd_e { CMD_GAT, CMD_GATS };
enum arith_cmd_e { CMD_INCR, CMD_DECR };
enum delete_cmd_e { CMD_DELETE, CMD_REMOVE };

// What is known of a value beside its bytes.
struct meta_object {
  flags_type flags;
  int use_cas;
  cas_type cas;
};

typedef void *(*alloc_value_func)(value_size_type value_size, void **opaque);
typedef void (*invalidate_value_func)(void *opaque);
typedef void (*store_value_func)(void *arg, void *opaque, int key_index, void *meta);

// Where the results of requests go.
struct result_object {
  // Returns memory for a value, and sets `opaque` to what stands for it.
  alloc_value_func alloc;
  store_value_func store;
  // Takes a value back that is not stored.
  invalidate_value_func free;
  // Passed to `store`.
  void *arg;
};

struct client;

// A client. All functions that return an int return one of MEMCACHED_SUCCESS and the others.
struct client *client_init(void) TAVOLA_COMPAT(client_init);
void client_destroy(struct client *c) TAVOLA_COMPAT(client_destroy);

// Closes the connections, as after a fork.
void client_reinit(struct client *c) TAVOLA_COMPAT(client_reinit);

// Adds a server. If `port` is NULL, `host` is the path of a Unix socket.
int client_add_server(
    struct client *c, const char *host, size_t host_len, const char *port, size_t port_len,
    double weight, int noreply) TAVOLA_COMPAT(client_add_server);

// 0 points are the placement of Cache::Memcached; others make a ring.
int client_set_ketama_points(
    struct client *c, int ketama_points) TAVOLA_COMPAT(client_set_ketama_points);
void client_set_hash_namespace(
    struct client *c, int enable) TAVOLA_COMPAT(client_set_hash_namespace);
int client_set_prefix(
    struct client *c, const char *ns, size_t ns_len) TAVOLA_COMPAT(client_set_prefix);
const char *client_get_prefix(struct client *c, size_t *ns_len) TAVOLA_COMPAT(client_get_prefix);

// Times in milliseconds.
void client_set_connect_timeout(struct client *c, int to) TAVOLA_COMPAT(client_set_connect_timeout);
void client_set_io_timeout(struct client *c, int to) TAVOLA_COMPAT(client_set_io_timeout);
void client_set_max_failures(struct client *c, int f) TAVOLA_COMPAT(client_set_max_failures);

// In seconds.
void client_set_failure_timeout(struct client *c, int to) TAVOLA_COMPAT(client_set_failure_timeout);
void client_set_close_on_error(
    struct client *c, int enable) TAVOLA_COMPAT(client_set_close_on_error);
void client_set_nowait(struct client *c, int enable) TAVOLA_COMPAT(client_set_nowait);

// Begins to prepare requests. Keys and values must stay until client_execute returns. If `noreply`
// is not 0, servers with `noreply`, and all servers after client_set_nowait, do not answer: nothing
// is stored, and requests may be held until the next ones or client_nowait_push.
void client_reset(
    struct client *c, struct result_object *object, int noreply) TAVOLA_COMPAT(client_reset);
int client_prepare_set(
    struct client *c, enum set_cmd_e cmd, int key_index, const char *key, size_t key_len,
    flags_type flags, exptime_type exptime, const void *value, value_size_type value_size)
    TAVOLA_COMPAT(client_prepare_set);
int client_prepare_cas(
    struct client *c, int key_index, const char *key, size_t key_len, cas_type cas,
    flags_type flags, exptime_type exptime, const void *value, value_size_type value_size)
    TAVOLA_COMPAT(client_prepare_cas);
int client_prepare_get(
    struct client *c, enum get_cmd_e cmd, int key_index, const char *key, size_t key_len)
    TAVOLA_COMPAT(client_prepare_get);
int client_prepare_gat(
    struct client *c, enum gat_cmd_e cmd, int key_index, const char *key, size_t key_len,
    const char *exptime, size_t exptime_len) TAVOLA_COMPAT(client_prepare_gat);
int client_prepare_incr(
    struct client *c, enum arith_cmd_e cmd, int key_index, const char *key, size_t key_len,
    arith_type arg) TAVOLA_COMPAT(client_prepare_incr);
int client_prepare_delete(
    struct client *c, int key_index, const char *key, size_t key_len)
    TAVOLA_COMPAT(client_prepare_delete);
int client_prepare_touch(
    struct client *c, int key_index, const char *key, size_t key_len, exptime_type exptime)
    TAVOLA_COMPAT(client_prepare_touch);

// Sends the requests, and hands what became of them to `store`.
int client_execute(struct client *c, int key_iov_index) TAVOLA_COMPAT(client_execute);
int client_flush_all(
    struct client *c, delay_type delay, struct result_object *object, int noreply)
    TAVOLA_COMPAT(client_flush_all);
int client_nowait_push(struct client *c) TAVOLA_COMPAT(client_nowait_push);
int client_server_versions(
    struct client *c, struct result_object *object) TAVOLA_COMPAT(client_server_versions);

// client_execute has one argument or two; the second one has no effect.
#define TAVOLA_COMPAT_EXECUTE(c, ignored, ...) (client_execute)((c), 2)
#define client_execute(...) TAVOLA_COMPAT_EXECUTE(__VA_ARGS__, 2, 2)

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_COMPAT_CLIENT_H
