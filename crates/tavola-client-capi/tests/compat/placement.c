// Prints which server has a key, by many behaviours: compiled with libmemcached and with ours. No
// server is needed.
#include <libmemcached/memcached.h>
#include <stdio.h>

static const int hashes[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10};
enum { HASHES = sizeof hashes / sizeof *hashes };

static void show(memcached_st *memc, const char *how, int hash) {
  printf("%s %d:", how, hash);
  for (int i = 0; i < 40; i++) {
    char key[32];
    size_t length = (size_t)snprintf(key, sizeof key, "key:%d", i * i);
    memcached_return_t rc = MEMCACHED_FAILURE;
    const memcached_instance_st *server = memcached_server_by_key(memc, key, length, &rc);
    printf(" %d", server != NULL ? (int)memcached_server_port(server) : -(int)rc);
    printf("/%u", memcached_generate_hash(memc, key, length));
  }
  puts("");
}

static memcached_st *fleet(const uint32_t *weights) {
  memcached_st *memc = memcached_create(NULL);
  for (int i = 0; i < 4; i++) {
    char host[16];
    snprintf(host, sizeof host, "10.0.0.%d", 9 - i);
    memcached_server_add_with_weight(memc, host, (in_port_t)(11211 + i), weights[i]);
  }
  return memc;
}

int main(void) {
  const uint32_t equal[] = {1, 1, 1, 1}, heavy[] = {1, 3, 2, 1};
  for (int i = 0; i < HASHES; i++) {
    printf("hash %u\n", memcached_generate_hash_value("some key", 8, (memcached_hash_t)hashes[i]));
    memcached_st *memc = fleet(equal);
    memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_HASH, (uint64_t)hashes[i]);
    show(memc, "modula", hashes[i]);
    memcached_free(memc);
    memc = fleet(equal);
    memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_HASH, (uint64_t)hashes[i]);
    show(memc, "weighted", hashes[i]);
    memcached_free(memc);
  }
  memcached_st *memc = fleet(equal);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_DISTRIBUTION, MEMCACHED_DISTRIBUTION_CONSISTENT);
  show(memc, "consistent", 0);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_KETAMA, 1);
  show(memc, "ketama", 1);
  memcached_free(memc);
  memc = fleet(heavy);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  show(memc, "heavy", 1);
  memcached_callback_set(memc, MEMCACHED_CALLBACK_NAMESPACE, "name:");
  show(memc, "name space", 1);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_HASH_WITH_PREFIX_KEY, 1);
  show(memc, "hashed name space", 1);
  memcached_free(memc);
  memc = fleet(equal);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_SORT_HOSTS, 1);
  memcached_server_add(memc, "10.0.0.1", 11300);
  show(memc, "sorted", 0);
  memcached_free(memc);
  return 0;
}
