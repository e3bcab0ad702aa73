/*
 * The calls of libmemcached by the client of Tavola: a program for libmemcached is compiled with
 *
 *     cc program.c $(pkg-config --cflags --libs tavola_libmemcached)
 *
 * Each call leads to a function of libtavola_client whose name begins with tavola_compat_, so a
 * process that has loaded libmemcached as well never mixes the two. The layout of the structs is
 * not that of libmemcached: a library that was compiled against libmemcached cannot be handed one.
 * docs/guide/coming-from-libmemcached.md says what differs.
 *
 * Written from libmemcached's documentation. MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_COMPAT_LIBMEMCACHED_MEMCACHED_H
#define TAVOLA_COMPAT_LIBMEMCACHED_MEMCACHED_H

#include "tavola_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The symbol of a function in libtavola_client.
#ifndef TAVOLA_COMPAT
#define TAVOLA_COMPAT(name) __asm__("tavola_compat_" #name)
#endif

// Handles.
memcached_st *memcached(const char *string, size_t string_length) TAVOLA_COMPAT(memcached);
memcached_return_t libmemcached_check_configuration(
    const char *option_string, size_t length, char *error_buffer, size_t error_buffer_size)
    TAVOLA_COMPAT(libmemcached_check_configuration);
memcached_st *memcached_create(memcached_st *ptr) TAVOLA_COMPAT(memcached_create);
memcached_st *memcached_clone(
    memcached_st *destination, const memcached_st *source) TAVOLA_COMPAT(memcached_clone);
void memcached_free(memcached_st *ptr) TAVOLA_COMPAT(memcached_free);
memcached_return_t memcached_reset(memcached_st *ptr) TAVOLA_COMPAT(memcached_reset);
void memcached_quit(memcached_st *ptr) TAVOLA_COMPAT(memcached_quit);
const char *memcached_lib_version(void) TAVOLA_COMPAT(memcached_lib_version);
void *memcached_get_user_data(const memcached_st *ptr) TAVOLA_COMPAT(memcached_get_user_data);
void *memcached_set_user_data(memcached_st *ptr, void *data) TAVOLA_COMPAT(memcached_set_user_data);
memcached_return_t memcached_set_memory_allocators(
    memcached_st *ptr, memcached_malloc_fn mem_malloc, memcached_free_fn mem_free,
    memcached_realloc_fn mem_realloc, memcached_calloc_fn mem_calloc, void *context)
    TAVOLA_COMPAT(memcached_set_memory_allocators);
void memcached_get_memory_allocators(
    const memcached_st *ptr, memcached_malloc_fn *mem_malloc, memcached_free_fn *mem_free,
    memcached_realloc_fn *mem_realloc, memcached_calloc_fn *mem_calloc)
    TAVOLA_COMPAT(memcached_get_memory_allocators);
void *memcached_get_memory_allocators_context(
    const memcached_st *ptr) TAVOLA_COMPAT(memcached_get_memory_allocators_context);

// Behaviours and callbacks.
memcached_return_t memcached_behavior_set(
    memcached_st *ptr, memcached_behavior_t flag, uint64_t data)
    TAVOLA_COMPAT(memcached_behavior_set);
uint64_t memcached_behavior_get(
    memcached_st *ptr, memcached_behavior_t flag) TAVOLA_COMPAT(memcached_behavior_get);
memcached_return_t memcached_behavior_set_distribution(
    memcached_st *ptr, memcached_server_distribution_t type)
    TAVOLA_COMPAT(memcached_behavior_set_distribution);
memcached_server_distribution_t memcached_behavior_get_distribution(
    memcached_st *ptr) TAVOLA_COMPAT(memcached_behavior_get_distribution);
memcached_return_t memcached_behavior_set_key_hash(
    memcached_st *ptr, memcached_hash_t type) TAVOLA_COMPAT(memcached_behavior_set_key_hash);
memcached_hash_t memcached_behavior_get_key_hash(
    memcached_st *ptr) TAVOLA_COMPAT(memcached_behavior_get_key_hash);
memcached_return_t memcached_behavior_set_distribution_hash(
    memcached_st *ptr, memcached_hash_t type)
    TAVOLA_COMPAT(memcached_behavior_set_distribution_hash);
memcached_hash_t memcached_behavior_get_distribution_hash(
    memcached_st *ptr) TAVOLA_COMPAT(memcached_behavior_get_distribution_hash);
memcached_return_t memcached_bucket_set(
    memcached_st *ptr, const uint32_t *host_map, const uint32_t *forward_map, uint32_t buckets,
    uint32_t replicas) TAVOLA_COMPAT(memcached_bucket_set);
const char *libmemcached_string_behavior(
    memcached_behavior_t flag) TAVOLA_COMPAT(libmemcached_string_behavior);
memcached_return_t memcached_callback_set(
    memcached_st *ptr, memcached_callback_t flag, const void *data)
    TAVOLA_COMPAT(memcached_callback_set);
void *memcached_callback_get(
    memcached_st *ptr, memcached_callback_t flag, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_callback_get);

// User and password by SASL's PLAIN. Values are not encrypted: memcached_set_encoding_key refuses.
memcached_return_t memcached_set_sasl_auth_data(
    memcached_st *ptr, const char *username, const char *password)
    TAVOLA_COMPAT(memcached_set_sasl_auth_data);
memcached_return_t memcached_destroy_sasl_auth_data(
    memcached_st *ptr) TAVOLA_COMPAT(memcached_destroy_sasl_auth_data);
memcached_return_t memcached_set_encoding_key(
    memcached_st *ptr, const char *key, size_t length) TAVOLA_COMPAT(memcached_set_encoding_key);

// What codes mean, and the last failure of a handle.
const char *memcached_strerror(
    const memcached_st *ptr, memcached_return_t rc) TAVOLA_COMPAT(memcached_strerror);
memcached_return_t memcached_last_error(
    const memcached_st *ptr) TAVOLA_COMPAT(memcached_last_error);
const char *memcached_last_error_message(
    const memcached_st *ptr) TAVOLA_COMPAT(memcached_last_error_message);
int memcached_last_error_errno(const memcached_st *ptr) TAVOLA_COMPAT(memcached_last_error_errno);

// Servers.
uint32_t memcached_server_count(const memcached_st *ptr) TAVOLA_COMPAT(memcached_server_count);
memcached_return_t memcached_server_add_with_weight(
    memcached_st *ptr, const char *hostname, in_port_t port, uint32_t weight)
    TAVOLA_COMPAT(memcached_server_add_with_weight);
memcached_return_t memcached_server_add_unix_socket_with_weight(
    memcached_st *ptr, const char *filename, uint32_t weight)
    TAVOLA_COMPAT(memcached_server_add_unix_socket_with_weight);
memcached_return_t memcached_server_add_udp_with_weight(
    memcached_st *ptr, const char *hostname, in_port_t port, uint32_t weight)
    TAVOLA_COMPAT(memcached_server_add_udp_with_weight);
memcached_return_t memcached_server_push(
    memcached_st *ptr, memcached_server_list_st list) TAVOLA_COMPAT(memcached_server_push);
void memcached_servers_reset(memcached_st *ptr) TAVOLA_COMPAT(memcached_servers_reset);
memcached_server_instance_st memcached_server_by_key(
    memcached_st *ptr, const char *key, size_t key_length, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_server_by_key);
memcached_server_instance_st memcached_server_instance_by_position(
    const memcached_st *ptr, uint32_t position)
    TAVOLA_COMPAT(memcached_server_instance_by_position);
memcached_server_instance_st memcached_server_get_last_disconnect(
    const memcached_st *ptr) TAVOLA_COMPAT(memcached_server_get_last_disconnect);
memcached_return_t memcached_server_cursor(
    const memcached_st *ptr, const memcached_server_fn *callback, void *context,
    uint32_t number_of_callbacks) TAVOLA_COMPAT(memcached_server_cursor);
const char *memcached_server_name(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_name);
in_port_t memcached_server_port(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_port);
memcached_connection_t memcached_server_type(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_type);
uint8_t memcached_server_major_version(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_major_version);
uint8_t memcached_server_minor_version(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_minor_version);
uint8_t memcached_server_micro_version(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_micro_version);
memcached_return_t memcached_server_error_return(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_error_return);
const char *memcached_server_error(
    memcached_server_instance_st server) TAVOLA_COMPAT(memcached_server_error);
memcached_server_list_st memcached_servers_parse(
    const char *server_strings) TAVOLA_COMPAT(memcached_servers_parse);
memcached_server_list_st memcached_server_list_append_with_weight(
    memcached_server_list_st list, const char *hostname, in_port_t port, uint32_t weight,
    memcached_return_t *error) TAVOLA_COMPAT(memcached_server_list_append_with_weight);
uint32_t memcached_server_list_count(
    memcached_server_list_st list) TAVOLA_COMPAT(memcached_server_list_count);
void memcached_server_list_free(
    memcached_server_list_st list) TAVOLA_COMPAT(memcached_server_list_free);

// Stores.
memcached_return_t memcached_set(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags) TAVOLA_COMPAT(memcached_set);
memcached_return_t memcached_set_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags)
    TAVOLA_COMPAT(memcached_set_by_key);
memcached_return_t memcached_add(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags) TAVOLA_COMPAT(memcached_add);
memcached_return_t memcached_add_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags)
    TAVOLA_COMPAT(memcached_add_by_key);
memcached_return_t memcached_replace(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags) TAVOLA_COMPAT(memcached_replace);
memcached_return_t memcached_replace_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags)
    TAVOLA_COMPAT(memcached_replace_by_key);
memcached_return_t memcached_append(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags) TAVOLA_COMPAT(memcached_append);
memcached_return_t memcached_append_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags)
    TAVOLA_COMPAT(memcached_append_by_key);
memcached_return_t memcached_prepend(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags) TAVOLA_COMPAT(memcached_prepend);
memcached_return_t memcached_prepend_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags)
    TAVOLA_COMPAT(memcached_prepend_by_key);
memcached_return_t memcached_cas(
    memcached_st *ptr, const char *key, size_t key_length, const char *value, size_t value_length,
    time_t expiration, uint32_t flags, uint64_t cas) TAVOLA_COMPAT(memcached_cas);
memcached_return_t memcached_cas_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, const char *value, size_t value_length, time_t expiration, uint32_t flags,
    uint64_t cas) TAVOLA_COMPAT(memcached_cas_by_key);

// Removals, expiry times, counters.
memcached_return_t memcached_delete(
    memcached_st *ptr, const char *key, size_t key_length, time_t expiration)
    TAVOLA_COMPAT(memcached_delete);
memcached_return_t memcached_delete_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, time_t expiration) TAVOLA_COMPAT(memcached_delete_by_key);
memcached_return_t memcached_touch(
    memcached_st *ptr, const char *key, size_t key_length, time_t expiration)
    TAVOLA_COMPAT(memcached_touch);
memcached_return_t memcached_touch_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, time_t expiration) TAVOLA_COMPAT(memcached_touch_by_key);
memcached_return_t memcached_exist(
    memcached_st *ptr, const char *key, size_t key_length) TAVOLA_COMPAT(memcached_exist);
memcached_return_t memcached_exist_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length) TAVOLA_COMPAT(memcached_exist_by_key);
memcached_return_t memcached_increment(
    memcached_st *ptr, const char *key, size_t key_length, uint32_t offset, uint64_t *value)
    TAVOLA_COMPAT(memcached_increment);
memcached_return_t memcached_increment_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, uint32_t offset, uint64_t *value) TAVOLA_COMPAT(memcached_increment_by_key);
memcached_return_t memcached_increment_with_initial(
    memcached_st *ptr, const char *key, size_t key_length, uint64_t offset, uint64_t initial,
    time_t expiration, uint64_t *value) TAVOLA_COMPAT(memcached_increment_with_initial);
memcached_return_t memcached_increment_with_initial_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, uint64_t offset, uint64_t initial, time_t expiration, uint64_t *value)
    TAVOLA_COMPAT(memcached_increment_with_initial_by_key);
memcached_return_t memcached_decrement(
    memcached_st *ptr, const char *key, size_t key_length, uint32_t offset, uint64_t *value)
    TAVOLA_COMPAT(memcached_decrement);
memcached_return_t memcached_decrement_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, uint32_t offset, uint64_t *value) TAVOLA_COMPAT(memcached_decrement_by_key);
memcached_return_t memcached_decrement_with_initial(
    memcached_st *ptr, const char *key, size_t key_length, uint64_t offset, uint64_t initial,
    time_t expiration, uint64_t *value) TAVOLA_COMPAT(memcached_decrement_with_initial);
memcached_return_t memcached_decrement_with_initial_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, uint64_t offset, uint64_t initial, time_t expiration, uint64_t *value)
    TAVOLA_COMPAT(memcached_decrement_with_initial_by_key);

// Gets. The caller frees what memcached_get and memcached_fetch return.
char *memcached_get(
    memcached_st *ptr, const char *key, size_t key_length, size_t *value_length, uint32_t *flags,
    memcached_return_t *error) TAVOLA_COMPAT(memcached_get);
char *memcached_get_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *key,
    size_t key_length, size_t *value_length, uint32_t *flags, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_get_by_key);
char *tavola_compat_memcached_get_int(
    memcached_st *ptr, const char *key, size_t key_length, int *value_length, uint32_t *flags,
    memcached_return_t *error);
memcached_return_t memcached_mget(
    memcached_st *ptr, const char *const *keys, const size_t *key_length, size_t number_of_keys)
    TAVOLA_COMPAT(memcached_mget);
memcached_return_t memcached_mget_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *const *keys,
    const size_t *key_length, size_t number_of_keys) TAVOLA_COMPAT(memcached_mget_by_key);
char *memcached_fetch(
    memcached_st *ptr, char *key, size_t *key_length, size_t *value_length, uint32_t *flags,
    memcached_return_t *error) TAVOLA_COMPAT(memcached_fetch);
memcached_result_st *memcached_fetch_result(
    memcached_st *ptr, memcached_result_st *result, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_fetch_result);
memcached_return_t memcached_fetch_execute(
    memcached_st *ptr, memcached_execute_fn *callback, void *context,
    uint32_t number_of_callbacks) TAVOLA_COMPAT(memcached_fetch_execute);
memcached_return_t memcached_mget_execute(
    memcached_st *ptr, const char *const *keys, const size_t *key_length, size_t number_of_keys,
    memcached_execute_fn *callback, void *context, uint32_t number_of_callbacks)
    TAVOLA_COMPAT(memcached_mget_execute);
memcached_return_t memcached_mget_execute_by_key(
    memcached_st *ptr, const char *group_key, size_t group_key_length, const char *const *keys,
    const size_t *key_length, size_t number_of_keys, memcached_execute_fn *callback,
    void *context, uint32_t number_of_callbacks) TAVOLA_COMPAT(memcached_mget_execute_by_key);

// Results.
memcached_result_st *memcached_result_create(
    const memcached_st *ptr, memcached_result_st *result) TAVOLA_COMPAT(memcached_result_create);
void memcached_result_reset(memcached_result_st *result) TAVOLA_COMPAT(memcached_result_reset);
void memcached_result_free(memcached_result_st *result) TAVOLA_COMPAT(memcached_result_free);
const char *memcached_result_key_value(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_key_value);
size_t memcached_result_key_length(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_key_length);
const char *memcached_result_value(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_value);
char *memcached_result_take_value(
    memcached_result_st *result) TAVOLA_COMPAT(memcached_result_take_value);
size_t memcached_result_length(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_length);
uint32_t memcached_result_flags(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_flags);
uint64_t memcached_result_cas(
    const memcached_result_st *result) TAVOLA_COMPAT(memcached_result_cas);
memcached_return_t memcached_result_set_value(
    memcached_result_st *result, const char *value, size_t length)
    TAVOLA_COMPAT(memcached_result_set_value);
void memcached_result_set_flags(
    memcached_result_st *result, uint32_t flags) TAVOLA_COMPAT(memcached_result_set_flags);
void memcached_result_set_expiration(
    memcached_result_st *result, time_t expiration) TAVOLA_COMPAT(memcached_result_set_expiration);

// Calls about servers, and what is held because of MEMCACHED_BEHAVIOR_BUFFER_REQUESTS.
memcached_return_t memcached_flush(
    memcached_st *ptr, time_t expiration) TAVOLA_COMPAT(memcached_flush);
memcached_return_t memcached_flush_buffers(
    memcached_st *ptr) TAVOLA_COMPAT(memcached_flush_buffers);
memcached_return_t memcached_version(memcached_st *ptr) TAVOLA_COMPAT(memcached_version);
memcached_return_t memcached_verbosity(
    memcached_st *ptr, uint32_t verbosity) TAVOLA_COMPAT(memcached_verbosity);
memcached_return_t memcached_dump(
    memcached_st *ptr, memcached_dump_fn *function, void *context, uint32_t number_of_callbacks)
    TAVOLA_COMPAT(memcached_dump);
uint32_t memcached_generate_hash(
    const memcached_st *ptr, const char *key, size_t key_length)
    TAVOLA_COMPAT(memcached_generate_hash);
uint32_t memcached_generate_hash_value(
    const char *key, size_t key_length, memcached_hash_t hash_algorithm)
    TAVOLA_COMPAT(memcached_generate_hash_value);

// Figures of servers.
memcached_stat_st *memcached_stat(
    memcached_st *ptr, char *args, memcached_return_t *error) TAVOLA_COMPAT(memcached_stat);
memcached_return_t memcached_stat_servername(
    memcached_stat_st *stat, char *args, const char *hostname, in_port_t port)
    TAVOLA_COMPAT(memcached_stat_servername);
char *memcached_stat_get_value(
    const memcached_st *ptr, memcached_stat_st *stat, const char *key, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_stat_get_value);
char **memcached_stat_get_keys(
    memcached_st *ptr, memcached_stat_st *stat, memcached_return_t *error)
    TAVOLA_COMPAT(memcached_stat_get_keys);
memcached_return_t memcached_stat_execute(
    memcached_st *ptr, const char *args, memcached_stat_fn func, void *context)
    TAVOLA_COMPAT(memcached_stat_execute);
void memcached_stat_free(
    const memcached_st *ptr, memcached_stat_st *stat) TAVOLA_COMPAT(memcached_stat_free);

static inline bool memcached_success(memcached_return_t rc) {
  return rc == MEMCACHED_SUCCESS || rc == MEMCACHED_BUFFERED || rc == MEMCACHED_STORED ||
         rc == MEMCACHED_DELETED || rc == MEMCACHED_END || rc == MEMCACHED_ITEM ||
         rc == MEMCACHED_STAT || rc == MEMCACHED_VALUE;
}

static inline bool memcached_failed(memcached_return_t rc) {
  return rc != MEMCACHED_AUTH_CONTINUE && rc != MEMCACHED_NOTFOUND && !memcached_success(rc);
}

static inline bool memcached_continue(memcached_return_t rc) {
  return rc == MEMCACHED_IN_PROGRESS;
}

static inline bool memcached_fatal(memcached_return_t rc) {
  return memcached_failed(rc) && rc != MEMCACHED_DATA_EXISTS && rc != MEMCACHED_NOTSTORED &&
         rc != MEMCACHED_DATA_DOES_NOT_EXIST && rc != MEMCACHED_E2BIG &&
         rc != MEMCACHED_IN_PROGRESS;
}

static inline memcached_return_t memcached_server_add(memcached_st *ptr, const char *hostname,
                                                      in_port_t port) {
  return memcached_server_add_with_weight(ptr, hostname, port, 1);
}

static inline memcached_return_t memcached_server_add_unix_socket(memcached_st *ptr,
                                                                  const char *filename) {
  return memcached_server_add_unix_socket_with_weight(ptr, filename, 1);
}

static inline memcached_return_t memcached_server_add_udp(memcached_st *ptr, const char *hostname,
                                                          in_port_t port) {
  return memcached_server_add_udp_with_weight(ptr, hostname, port, 1);
}

static inline memcached_server_list_st memcached_server_list_append(memcached_server_list_st list,
                                                                    const char *hostname,
                                                                    in_port_t port,
                                                                    memcached_return_t *error) {
  return memcached_server_list_append_with_weight(list, hostname, port, 1, error);
}

// The name that it had before.
#define memcached_server_free(list) memcached_server_list_free(list)

#ifdef __cplusplus
}  // extern "C"

// Takes an int as the length of the value, too.
static inline char *memcached_get(memcached_st *ptr, const char *key, size_t key_length,
                                  int *value_length, uint32_t *flags,
                                  memcached_return_t *error) {
  return tavola_compat_memcached_get_int(ptr, key, key_length, value_length, flags, error);
}
#elif defined(__GNUC__)
#define memcached_get(ptr, key, key_length, value_length, flags, error)         \
  (__extension__ _Generic((value_length),                                       \
      int *: tavola_compat_memcached_get_int,                                   \
      default: memcached_get))((ptr), (key), (key_length), (value_length), (flags), (error))
#endif

#endif  // TAVOLA_COMPAT_LIBMEMCACHED_MEMCACHED_H
