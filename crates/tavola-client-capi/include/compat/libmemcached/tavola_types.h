/*
 * The constants, structs and callbacks of libmemcached, for <libmemcached/memcached.h>.
 *
 * Written from libmemcached's documentation. MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_COMPAT_LIBMEMCACHED_TYPES_H
#define TAVOLA_COMPAT_LIBMEMCACHED_TYPES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// Programs that log in by SASL also call libsasl2, which libtavola_client does not need.
#if defined(__has_include)
#if __has_include(<sasl/sasl.h>)
#include <sasl/sasl.h>
#define LIBMEMCACHED_WITH_SASL_SUPPORT 1
#endif
#endif

// The version of libmemcached that the calls are those of.
#define LIBMEMCACHED_VERSION_STRING "1.1.4"
#define LIBMEMCACHED_VERSION_HEX 0x01001004

#define MEMCACHED_DEFAULT_PORT 11211
// The longest key, with a NUL.
#define MEMCACHED_MAX_KEY 251
#define MEMCACHED_MAX_NAMESPACE 128
#define MEMCACHED_PREFIX_KEY_MAX_SIZE 128
#define MEMCACHED_NI_MAXHOST 1025
#define MEMCACHED_NI_MAXSERV 32
#define MEMCACHED_MAX_BUFFER 8196
#define MEMCACHED_DEFAULT_TIMEOUT 5000
#define MEMCACHED_DEFAULT_CONNECT_TIMEOUT 4000
#define MEMCACHED_VERSION_STRING_LENGTH 24
// An expiration of memcached_increment_with_initial: a missing counter stays missing.
#define MEMCACHED_EXPIRATION_NOT_ADD 0xffffffffU

typedef enum memcached_return_t {
  MEMCACHED_SUCCESS = 0,
  MEMCACHED_FAILURE = 1,
  MEMCACHED_HOST_LOOKUP_FAILURE = 2,
  MEMCACHED_CONNECTION_FAILURE = 3,
  MEMCACHED_CONNECTION_BIND_FAILURE = 4,
  MEMCACHED_WRITE_FAILURE = 5,
  MEMCACHED_READ_FAILURE = 6,
  MEMCACHED_UNKNOWN_READ_FAILURE = 7,
  MEMCACHED_PROTOCOL_ERROR = 8,
  MEMCACHED_CLIENT_ERROR = 9,
  MEMCACHED_SERVER_ERROR = 10,
  MEMCACHED_ERROR = 11,
  MEMCACHED_CONNECTION_SOCKET_CREATE_FAILURE = MEMCACHED_ERROR,
  MEMCACHED_DATA_EXISTS = 12,
  MEMCACHED_DATA_DOES_NOT_EXIST = 13,
  MEMCACHED_NOTSTORED = 14,
  MEMCACHED_STORED = 15,
  MEMCACHED_NOTFOUND = 16,
  MEMCACHED_MEMORY_ALLOCATION_FAILURE = 17,
  MEMCACHED_PARTIAL_READ = 18,
  MEMCACHED_SOME_ERRORS = 19,
  MEMCACHED_NO_SERVERS = 20,
  MEMCACHED_END = 21,
  MEMCACHED_DELETED = 22,
  MEMCACHED_VALUE = 23,
  MEMCACHED_STAT = 24,
  MEMCACHED_ITEM = 25,
  MEMCACHED_ERRNO = 26,
  MEMCACHED_FAIL_UNIX_SOCKET = 27,
  MEMCACHED_NOT_SUPPORTED = 28,
  MEMCACHED_NO_KEY_PROVIDED = 29,
  MEMCACHED_FETCH_NOTFINISHED = 30,
  MEMCACHED_TIMEOUT = 31,
  MEMCACHED_BUFFERED = 32,
  MEMCACHED_BAD_KEY_PROVIDED = 33,
  MEMCACHED_INVALID_HOST_PROTOCOL = 34,
  MEMCACHED_SERVER_MARKED_DEAD = 35,
  MEMCACHED_UNKNOWN_STAT_KEY = 36,
  MEMCACHED_E2BIG = 37,
  MEMCACHED_INVALID_ARGUMENTS = 38,
  MEMCACHED_KEY_TOO_BIG = 39,
  MEMCACHED_AUTH_PROBLEM = 40,
  MEMCACHED_AUTH_FAILURE = 41,
  MEMCACHED_AUTH_CONTINUE = 42,
  MEMCACHED_PARSE_ERROR = 43,
  MEMCACHED_PARSE_USER_ERROR = 44,
  MEMCACHED_DEPRECATED = 45,
  MEMCACHED_IN_PROGRESS = 46,
  MEMCACHED_SERVER_TEMPORARILY_DISABLED = 47,
  MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE = 48,
  MEMCACHED_MAXIMUM_RETURN = 49,
} memcached_return_t;

typedef enum memcached_behavior_t {
  MEMCACHED_BEHAVIOR_NO_BLOCK = 0,
  MEMCACHED_BEHAVIOR_TCP_NODELAY = 1,
  MEMCACHED_BEHAVIOR_HASH = 2,
  MEMCACHED_BEHAVIOR_KETAMA = 3,
  MEMCACHED_BEHAVIOR_SOCKET_SEND_SIZE = 4,
  MEMCACHED_BEHAVIOR_SOCKET_RECV_SIZE = 5,
  MEMCACHED_BEHAVIOR_CACHE_LOOKUPS = 6,
  MEMCACHED_BEHAVIOR_SUPPORT_CAS = 7,
  MEMCACHED_BEHAVIOR_POLL_TIMEOUT = 8,
  MEMCACHED_BEHAVIOR_DISTRIBUTION = 9,
  MEMCACHED_BEHAVIOR_BUFFER_REQUESTS = 10,
  MEMCACHED_BEHAVIOR_USER_DATA = 11,
  MEMCACHED_BEHAVIOR_SORT_HOSTS = 12,
  MEMCACHED_BEHAVIOR_VERIFY_KEY = 13,
  MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT = 14,
  MEMCACHED_BEHAVIOR_RETRY_TIMEOUT = 15,
  MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED = 16,
  MEMCACHED_BEHAVIOR_KETAMA_HASH = 17,
  MEMCACHED_BEHAVIOR_BINARY_PROTOCOL = 18,
  MEMCACHED_BEHAVIOR_SND_TIMEOUT = 19,
  MEMCACHED_BEHAVIOR_RCV_TIMEOUT = 20,
  MEMCACHED_BEHAVIOR_SERVER_FAILURE_LIMIT = 21,
  MEMCACHED_BEHAVIOR_IO_MSG_WATERMARK = 22,
  MEMCACHED_BEHAVIOR_IO_BYTES_WATERMARK = 23,
  MEMCACHED_BEHAVIOR_IO_KEY_PREFETCH = 24,
  MEMCACHED_BEHAVIOR_HASH_WITH_PREFIX_KEY = 25,
  MEMCACHED_BEHAVIOR_NOREPLY = 26,
  MEMCACHED_BEHAVIOR_USE_UDP = 27,
  MEMCACHED_BEHAVIOR_AUTO_EJECT_HOSTS = 28,
  MEMCACHED_BEHAVIOR_NUMBER_OF_REPLICAS = 29,
  MEMCACHED_BEHAVIOR_RANDOMIZE_REPLICA_READ = 30,
  MEMCACHED_BEHAVIOR_CORK = 31,
  MEMCACHED_BEHAVIOR_TCP_KEEPALIVE = 32,
  MEMCACHED_BEHAVIOR_TCP_KEEPIDLE = 33,
  MEMCACHED_BEHAVIOR_LOAD_FROM_FILE = 34,
  MEMCACHED_BEHAVIOR_REMOVE_FAILED_SERVERS = 35,
  MEMCACHED_BEHAVIOR_DEAD_TIMEOUT = 36,
  MEMCACHED_BEHAVIOR_SERVER_TIMEOUT_LIMIT = 37,
  MEMCACHED_BEHAVIOR_MAX = 38,
} memcached_behavior_t;

typedef enum memcached_server_distribution_t {
  MEMCACHED_DISTRIBUTION_MODULA = 0,
  MEMCACHED_DISTRIBUTION_CONSISTENT = 1,
  MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA = 2,
  MEMCACHED_DISTRIBUTION_RANDOM = 3,
  MEMCACHED_DISTRIBUTION_CONSISTENT_KETAMA_SPY = 4,
  MEMCACHED_DISTRIBUTION_CONSISTENT_WEIGHTED = 5,
  MEMCACHED_DISTRIBUTION_VIRTUAL_BUCKET = 6,
  MEMCACHED_DISTRIBUTION_CONSISTENT_MAX = 7,
} memcached_server_distribution_t;

typedef enum memcached_hash_t {
  MEMCACHED_HASH_DEFAULT = 0,
  MEMCACHED_HASH_MD5 = 1,
  MEMCACHED_HASH_CRC = 2,
  MEMCACHED_HASH_FNV1_64 = 3,
  MEMCACHED_HASH_FNV1A_64 = 4,
  MEMCACHED_HASH_FNV1_32 = 5,
  MEMCACHED_HASH_FNV1A_32 = 6,
  MEMCACHED_HASH_HSIEH = 7,
  MEMCACHED_HASH_MURMUR = 8,
  MEMCACHED_HASH_JENKINS = 9,
  MEMCACHED_HASH_MURMUR3 = 10,
  MEMCACHED_HASH_CUSTOM = 11,
  MEMCACHED_HASH_MAX = 12,
} memcached_hash_t;

typedef enum memcached_callback_t {
  MEMCACHED_CALLBACK_NAMESPACE = 0,
  MEMCACHED_CALLBACK_PREFIX_KEY = 0,
  MEMCACHED_CALLBACK_USER_DATA = 1,
  MEMCACHED_CALLBACK_CLEANUP_FUNCTION = 2,
  MEMCACHED_CALLBACK_CLONE_FUNCTION = 3,
  MEMCACHED_CALLBACK_GET_FAILURE = 7,
  MEMCACHED_CALLBACK_DELETE_TRIGGER = 8,
  MEMCACHED_CALLBACK_MAX = 9,
} memcached_callback_t;

typedef enum memcached_connection_t {
  MEMCACHED_CONNECTION_TCP = 0,
  MEMCACHED_CONNECTION_UDP = 1,
  MEMCACHED_CONNECTION_UNIX_SOCKET = 2,
} memcached_connection_t;

// The names that these types had before.
typedef memcached_return_t memcached_return;
typedef memcached_behavior_t memcached_behavior;
typedef memcached_server_distribution_t memcached_server_distribution;
typedef memcached_hash_t memcached_hash;
typedef memcached_callback_t memcached_callback;
typedef memcached_connection_t memcached_connection;

// A client. Make it with memcached_create or memcached(); its fields belong to the library.
typedef struct memcached_st {
  void *tavola_handle;
  size_t tavola_is_allocated;
  size_t tavola_reserved[6];
} memcached_st;

// A server: an element of a list, and what callbacks get. Read it by memcached_server_name and the
// other functions.
typedef struct memcached_server_st {
  char hostname[MEMCACHED_NI_MAXHOST];
  uint8_t major_version;
  uint8_t minor_version;
  uint8_t micro_version;
  in_port_t port;
  memcached_connection_t type;
  uint32_t weight;
  uint32_t tavola_count;
  int tavola_error;
  size_t tavola_reserved[4];
} memcached_server_st;

typedef memcached_server_st memcached_instance_st;
typedef const memcached_server_st *memcached_server_instance_st;
typedef memcached_server_st *memcached_server_list_st;

// A value that was found. Make it with memcached_result_create; its fields belong to the library.
typedef struct memcached_result_st {
  memcached_st *tavola_root;
  char *tavola_value;
  size_t tavola_value_length;
  size_t tavola_key_length;
  uint64_t tavola_cas;
  int64_t tavola_expiration;
  uint32_t tavola_flags;
  uint32_t tavola_is_allocated;
  char tavola_key[256];
  size_t tavola_reserved[4];
} memcached_result_st;

// The general figures of a server.
typedef struct memcached_stat_st {
  unsigned long connection_structures;
  unsigned long curr_connections;
  unsigned long curr_items;
  unsigned long pointer_size;
  unsigned long rusage_system_microseconds;
  unsigned long rusage_system_seconds;
  unsigned long rusage_user_microseconds;
  unsigned long rusage_user_seconds;
  unsigned long threads;
  unsigned long time;
  unsigned long total_connections;
  unsigned long total_items;
  unsigned long uptime;
  unsigned long long bytes;
  unsigned long long bytes_read;
  unsigned long long bytes_written;
  unsigned long long cmd_get;
  unsigned long long cmd_set;
  unsigned long long evictions;
  unsigned long long get_hits;
  unsigned long long get_misses;
  unsigned long long limit_maxbytes;
  int pid;
  char version[MEMCACHED_VERSION_STRING_LENGTH];
} memcached_stat_st;

// Callbacks. They must return: they must not throw an exception or call longjmp.
typedef void *(*memcached_malloc_fn)(const memcached_st *ptr, const size_t size, void *context);
typedef void (*memcached_free_fn)(const memcached_st *ptr, void *mem, void *context);
typedef void *(*memcached_realloc_fn)(const memcached_st *ptr, void *mem, const size_t size,
                                      void *context);
typedef void *(*memcached_calloc_fn)(const memcached_st *ptr, size_t nelem, const size_t elsize,
                                     void *context);
typedef memcached_return_t (*memcached_clone_fn)(memcached_st *destination,
                                                 const memcached_st *source);
typedef memcached_return_t (*memcached_cleanup_fn)(const memcached_st *ptr);
typedef memcached_return_t (*memcached_execute_fn)(const memcached_st *ptr,
                                                   memcached_result_st *result, void *context);
typedef memcached_return_t (*memcached_server_fn)(const memcached_st *ptr,
                                                  const memcached_instance_st *server,
                                                  void *context);
typedef memcached_return_t (*memcached_stat_fn)(const memcached_instance_st *server,
                                                const char *key, size_t key_length,
                                                const char *value, size_t value_length,
                                                void *context);
typedef memcached_return_t (*memcached_dump_fn)(const memcached_st *ptr, const char *key,
                                                size_t key_length, void *context);
typedef memcached_return_t (*memcached_trigger_key)(const memcached_st *ptr, const char *key,
                                                    size_t key_length,
                                                    memcached_result_st *result);
typedef memcached_return_t (*memcached_trigger_delete_key)(const memcached_st *ptr,
                                                           const char *key, size_t key_length);
typedef memcached_trigger_key memcached_trigger_key_fn;
typedef memcached_trigger_delete_key memcached_trigger_delete_key_fn;

// The names that they had before.
typedef memcached_malloc_fn memcached_malloc_function;
typedef memcached_free_fn memcached_free_function;
typedef memcached_realloc_fn memcached_realloc_function;
typedef memcached_calloc_fn memcached_calloc_function;
typedef memcached_clone_fn memcached_clone_func;
typedef memcached_cleanup_fn memcached_cleanup_func;
typedef memcached_execute_fn memcached_execute_function;
typedef memcached_server_fn memcached_server_function;
typedef memcached_dump_fn memcached_dump_func;

#endif  // TAVOLA_COMPAT_LIBMEMCACHED_TYPES_H
