// A program for the C client of Cache::Memcached::Fast, as articles of 2009 show it: client_execute
// has one argument.
#include <arpa/inet.h>
#include <client.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                      \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

enum { KEYS = 20 };

struct results {
  char *values[KEYS];
  struct meta_object metas[KEYS];
  long done[KEYS];
};

static int live;

static void *alloc_value(value_size_type size, void **opaque) {
  char *value = (char *)calloc(1, size + 1);
  live++;
  *opaque = value;
  return value;
}

static void free_value(void *opaque) {
  live--;
  free(opaque);
}

static void store_value(void *arg, void *opaque, int key_index, void *meta) {
  struct results *results = (struct results *)arg;
  results->values[key_index] = (char *)opaque;
  if (meta != NULL) results->metas[key_index] = *(struct meta_object *)meta;
}

static void store_done(void *arg, void *opaque, int key_index, void *meta) {
  CHECK(meta == NULL);
  ((struct results *)arg)->done[key_index] = opaque != NULL ? 1 : -1;
}

static void drop(struct results *results) {
  for (int i = 0; i < KEYS; i++) {
    if (results->values[i] != NULL) free_value(results->values[i]);
  }
  memset(results, 0, sizeof *results);
}

static void add_servers(struct client *c, const char *list) {
  while (*list != 0) {
    size_t length = strcspn(list, ","), host = strcspn(list, ":");
    CHECK(client_add_server(c, list, host, list + host + 1, length - host - 1, 1.0, 0) ==
          MEMCACHED_SUCCESS);
    list += length + (list[length] == ',');
  }
}

static struct results got;
static struct result_object values = {alloc_value, store_value, free_value, &got};
static struct result_object flags = {NULL, store_done, NULL, &got};

static void batch(struct client *c) {
  static char keys[KEYS][16];
  client_reset(c, &flags, 0);
  for (int i = 0; i < KEYS; i++) {
    int length = snprintf(keys[i], sizeof keys[i], "key%d", i);
    CHECK(client_prepare_set(c, CMD_SET, i, keys[i], (size_t)length, (flags_type)i, 0, keys[i],
                             (size_t)length) == MEMCACHED_SUCCESS);
  }
  CHECK(client_execute(c) == MEMCACHED_SUCCESS);
  for (int i = 0; i < KEYS; i++) CHECK(got.done[i] == 1);
  drop(&got);

  client_reset(c, &values, 0);
  for (int i = 0; i < KEYS; i++) {
    client_prepare_get(c, i % 2 ? CMD_GETS : CMD_GET, i, keys[i], strlen(keys[i]));
  }
  CHECK(client_execute(c, 2) == MEMCACHED_SUCCESS);
  for (int i = 0; i < KEYS; i++) {
    CHECK(strcmp(got.values[i], keys[i]) == 0 && got.metas[i].flags == (flags_type)i);
    CHECK(got.metas[i].use_cas == i % 2 && (got.metas[i].cas != 0) == (i % 2 == 1));
  }
  cas_type cas = got.metas[1].cas;
  drop(&got);

  client_reset(c, &flags, 0);
  client_prepare_cas(c, 0, keys[1], strlen(keys[1]), cas, 0, 0, "new", 3);
  client_prepare_set(c, CMD_ADD, 1, keys[0], strlen(keys[0]), 0, 0, "x", 1);
  client_prepare_touch(c, 2, keys[2], strlen(keys[2]), 100);
  client_prepare_delete(c, 3, "nothing", 7);
  client_prepare_delete(c, 4, keys[4], strlen(keys[4]));
  CHECK(client_execute(c) == MEMCACHED_SUCCESS);
  CHECK(got.done[0] == 1 && got.done[1] == -1 && got.done[2] == 1 && got.done[3] == -1);
  CHECK(got.done[4] == 1);
  drop(&got);
}

static void numbers(struct client *c) {
  client_reset(c, &flags, 0);
  client_prepare_set(c, CMD_SET, 0, "n", 1, 0, 0, "40", 2);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS);
  client_reset(c, &values, 0);
  client_prepare_incr(c, CMD_INCR, 0, "n", 1, 2);
  client_prepare_incr(c, CMD_INCR, 1, "nothing", 7, 2);
  client_prepare_get(c, CMD_GET, 2, "nothing", 7);
  client_prepare_gat(c, CMD_GAT, 3, "n", 1, "100", 3);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS);
  CHECK(strcmp(got.values[0], "42") == 0 && strcmp(got.values[1], "") == 0);
  CHECK(got.values[2] == NULL && strcmp(got.values[3], "42") == 0);
  drop(&got);
  client_reset(c, &values, 0);
  client_prepare_incr(c, CMD_DECR, 0, "n", 1, 50);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS && strcmp(got.values[0], "0E0") == 0);
  drop(&got);
}

static void others(struct client *c) {
  size_t length = 9;
  CHECK(client_set_prefix(c, "app:", 4) == MEMCACHED_SUCCESS);
  CHECK(strcmp(client_get_prefix(c, &length), "app:") == 0 && length == 4);
  client_reset(c, &values, 0);
  client_prepare_get(c, CMD_GET, 0, "key0", 4);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS && got.values[0] == NULL);
  client_set_prefix(c, "", 0);
  CHECK(client_server_versions(c, &values) == MEMCACHED_SUCCESS);
  CHECK(strlen(got.values[0]) > 0 && strlen(got.values[1]) > 0);
  drop(&got);

  // Without answers nothing is stored, and the push carries it out.
  client_set_nowait(c, 1);
  client_reset(c, &flags, 1);
  client_prepare_set(c, CMD_SET, 0, "quiet", 5, 0, 0, "x", 1);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS && got.done[0] == 0);
  CHECK(client_nowait_push(c) == MEMCACHED_SUCCESS);
  client_set_nowait(c, 0);
  client_reinit(c);
  client_reset(c, &values, 0);
  client_prepare_get(c, CMD_GET, 0, "quiet", 5);
  CHECK(client_execute(c) == MEMCACHED_SUCCESS && strcmp(got.values[0], "x") == 0);
  drop(&got);

  CHECK(client_flush_all(c, 0, &flags, 0) == MEMCACHED_SUCCESS);
  CHECK(got.done[0] == 1 && got.done[1] == 1);
  drop(&got);
}

// Nobody serves there: nothing is stored, and that is no miss.
static void failures(void) {
  struct client *c = client_init();
  CHECK(client_add_server(c, "127.0.0.1", 9, "1", 1, 0.0, 0) == MEMCACHED_FAILURE);
  client_reset(c, &flags, 0);
  CHECK(client_prepare_delete(c, 0, "k", 1) == MEMCACHED_FAILURE);
  CHECK(client_add_server(c, "127.0.0.1", 9, "1", 1, 1.5, 0) == MEMCACHED_SUCCESS);
  client_set_connect_timeout(c, 200);
  client_set_io_timeout(c, 200);
  client_reset(c, &flags, 0);
  client_prepare_delete(c, 0, "k", 1);
  CHECK(client_execute(c) == MEMCACHED_CLOSED && got.done[0] == 0);
  client_destroy(c);
}

// A server that takes a request and closes in place of an answer: it may have been carried out.
static void an_answer_that_is_missing(void) {
  struct sockaddr_in address;
  socklen_t len = sizeof address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 9) == 0);
  CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
  pid_t server = fork();
  CHECK(server >= 0);
  while (server == 0) {
    char bytes[1000];
    int conn = accept(fd, NULL, NULL);
    // The first request asks whether it knows the meta commands.
    if (read(conn, bytes, sizeof bytes) > 0 && write(conn, "MN\r\n", 4) == 4) {
      if (read(conn, bytes, sizeof bytes) < 0) _exit(1);
    }
    close(conn);
  }
  char port[8];
  struct client *c = client_init();
  snprintf(port, sizeof port, "%d", ntohs(address.sin_port));
  CHECK(client_add_server(c, "127.0.0.1", 9, port, strlen(port), 1.0, 0) == MEMCACHED_SUCCESS);
  client_reset(c, &flags, 0);
  client_prepare_delete(c, 0, "k", 1);
  CHECK(client_execute(c) == MEMCACHED_UNKNOWN && got.done[0] == 0);
  client_destroy(c);
  CHECK(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server);
  close(fd);
}

int main(void) {
  struct client *c = client_init();
  client_set_ketama_points(c, 150);
  client_set_hash_namespace(c, 1);
  client_set_max_failures(c, 3);
  client_set_failure_timeout(c, 2);
  client_set_close_on_error(c, 1);
  add_servers(c, getenv("TAVOLA_MC_SERVERS"));
  batch(c);
  numbers(c);
  others(c);
  failures();
  an_answer_that_is_missing();
  client_destroy(c);
  CHECK(live == 0);
  return 0;
}
