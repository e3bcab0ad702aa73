/*
 * The calls of libmemcachedutil by the client of Tavola: see <libmemcached/memcached.h>.
 *
 * Written from libmemcached's documentation. MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_COMPAT_LIBMEMCACHED_UTIL_H
#define TAVOLA_COMPAT_LIBMEMCACHED_UTIL_H

#include "memcached.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct memcached_pool_st memcached_pool_st;

// A pool of handles, which threads share.
memcached_pool_st *memcached_pool(
    const char *option_string, size_t option_string_length) TAVOLA_COMPAT(memcached_pool);
memcached_pool_st *memcached_pool_create(
    memcached_st *mmc, uint32_t initial, uint32_t max) TAVOLA_COMPAT(memcached_pool_create);
memcached_st *memcached_pool_destroy(memcached_pool_st *pool) TAVOLA_COMPAT(memcached_pool_destroy);
memcached_st *memcached_pool_fetch(
    memcached_pool_st *pool, struct timespec *relative_time, memcached_return_t *rc)
    TAVOLA_COMPAT(memcached_pool_fetch);
memcached_st *memcached_pool_pop(
    memcached_pool_st *pool, bool block, memcached_return_t *rc) TAVOLA_COMPAT(memcached_pool_pop);
memcached_return_t memcached_pool_push(
    memcached_pool_st *pool, memcached_st *mmc) TAVOLA_COMPAT(memcached_pool_push);
memcached_return_t memcached_pool_behavior_set(
    memcached_pool_st *pool, memcached_behavior_t flag, uint64_t data)
    TAVOLA_COMPAT(memcached_pool_behavior_set);
memcached_return_t memcached_pool_behavior_get(
    memcached_pool_st *pool, memcached_behavior_t flag, uint64_t *value)
    TAVOLA_COMPAT(memcached_pool_behavior_get);

// Calls to one server, without a handle.
bool libmemcached_util_ping(
    const char *hostname, in_port_t port, memcached_return_t *ret)
    TAVOLA_COMPAT(libmemcached_util_ping);
bool libmemcached_util_ping2(
    const char *hostname, in_port_t port, const char *username, const char *password,
    memcached_return_t *ret) TAVOLA_COMPAT(libmemcached_util_ping2);
bool libmemcached_util_flush(
    const char *hostname, in_port_t port, memcached_return_t *ret)
    TAVOLA_COMPAT(libmemcached_util_flush);
pid_t libmemcached_util_getpid(
    const char *hostname, in_port_t port, memcached_return_t *ret)
    TAVOLA_COMPAT(libmemcached_util_getpid);
pid_t libmemcached_util_getpid2(
    const char *hostname, in_port_t port, const char *username, const char *password,
    memcached_return_t *ret) TAVOLA_COMPAT(libmemcached_util_getpid2);
bool libmemcached_util_version_check(
    memcached_st *memc, uint8_t major_version, uint8_t minor_version, uint8_t micro_version)
    TAVOLA_COMPAT(libmemcached_util_version_check);

static inline memcached_return_t memcached_pool_release(memcached_pool_st *pool,
                                                        memcached_st *mmc) {
  return memcached_pool_push(pool, mmc);
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TAVOLA_COMPAT_LIBMEMCACHED_UTIL_H
