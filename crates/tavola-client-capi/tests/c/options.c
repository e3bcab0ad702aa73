// Options: what is invalid is refused with a sentence that names it, the rest has its effect.

#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define S TAVOLA_MC_STR

// The error of making a client names a word.
static void refused(tavola_mc_status status, const char *list, const tavola_mc_options *options,
                    const char *word) {
  tavola_mc_client *client = NULL;
  check_is(__FILE__, __LINE__, list, status, tavola_mc_open(list, options, &client));
  CHECK(client == NULL);
  if (strstr(tavola_mc_last_error(), word) == NULL) {
    fprintf(stderr, "%s is not in: %s\n", word, tavola_mc_last_error());
    exit(1);
  }
}

#define REFUSED(field, value, word)                                       \
  do {                                                                    \
    tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);        \
    options.field = value;                                                \
    refused(TAVOLA_MC_ERR_OPTION, "10.0.0.1,10.0.0.2", &options, word);   \
  } while (0)

static void invalid_options(void) {
  refused(TAVOLA_MC_ERR_NULL, NULL, NULL, "servers");
  refused(TAVOLA_MC_ERR_SERVERS, "", NULL, "no server");
  refused(TAVOLA_MC_ERR_SERVERS, "a:0", NULL, "HOST:PORT");
  refused(TAVOLA_MC_ERR_SERVERS, "a,b?weight=-1", NULL, "weight");
  refused(TAVOLA_MC_ERR_ARGUMENT, "a\xff", NULL, "UTF-8");
  REFUSED(placement, 8, "tavola_mc_placement");
  REFUSED(hash, 10, "tavola_mc_hash");
  REFUSED(hash, TAVOLA_MC_HASH_MD5, "hash");
  REFUSED(points, 1, "points");
  REFUSED(hash_name_space, 2, "hash_name_space");
  REFUSED(on_down, -1, "tavola_mc_on_down");
  REFUSED(protocol, 4, "tavola_mc_protocol");
  REFUSED(multi_key_gets, 2, "multi_key_gets");
  REFUSED(hash_tag, "{", "hash_tag");
  REFUSED(io_timeout_ms, UINT32_MAX, "io_timeout");
  REFUSED(user, "u", "login");
  REFUSED(tls, 1, "tls_authorities");
  REFUSED(tls_name, "a", "tls");
  REFUSED(near, "front", "near_ttl_ms");
  REFUSED(near_ttl_ms, 1, "near_ttl_ms");
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  options.tls = 1;
  options.tls_authorities = "/nowhere/ca.pem";
  refused(TAVOLA_MC_ERR_OPTION, "a", &options, "/nowhere/ca.pem");
  options.tls_key = "/nowhere/key.pem";
  refused(TAVOLA_MC_ERR_OPTION, "a", &options, "tls_certificate");
  tavola_mc_options login = TAVOLA_MC_INIT(tavola_mc_options);
  login.login = TAVOLA_MC_LOGIN_SASL;
  refused(TAVOLA_MC_ERR_NULL, "a", &login, "user");
  login.user = "u";
  login.password = "p";
  login.protocol = TAVOLA_MC_PROTOCOL_META;
  refused(TAVOLA_MC_ERR_OPTION, "a", &login, "protocol");
  login.login = 3;
  refused(TAVOLA_MC_ERR_OPTION, "a", &login, "tavola_mc_login");
  tavola_mc_client *client = NULL;
  CHECK_IS(ERR_NULL, tavola_mc_open("a", NULL, NULL));
  options.size = 0;
  CHECK_IS(ERR_ARGUMENT, tavola_mc_open("a", &options, &client));
}

// The server of a key, by a placement.
static size_t place(int32_t placement, int32_t hash, uint32_t points, const char *key) {
  const char *list = "10.0.1.1:11211,10.0.1.2:11211,10.0.1.3:11211";
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *client = NULL;
  size_t server = 9;
  options.placement = placement;
  options.hash = hash;
  options.points = points;
  CHECK_IS(OK, tavola_mc_open(list, &options, &client));
  CHECK_IS(OK, tavola_mc_server_of(client, key, strlen(key), &server));
  tavola_mc_close(client);
  CHECK(server < 3);
  return server;
}

// Each placement and each hash is another one: no two of them agree about 60 keys. With equal
// weights that of Cache::Memcached (22) is the remainder of its CRC-32 (14).
static void placements(void) {
  size_t kinds = 0;
  char all[32][61] = {{0}};
  CHECK(place(TAVOLA_MC_PLACEMENT_KETAMA, 0, 0, "key:3") == 1);
  for (int32_t placement = 0; placement <= TAVOLA_MC_PLACEMENT_RENDEZVOUS; placement++) {
    bool has_hash = placement == TAVOLA_MC_PLACEMENT_MODULA ||
                    placement == TAVOLA_MC_PLACEMENT_CONSISTENT;
    bool has_points = placement == TAVOLA_MC_PLACEMENT_FAST;
    for (int32_t hash = 0; hash <= (has_hash ? TAVOLA_MC_HASH_JENKINS : 0); hash++) {
      for (uint32_t points = 0; points <= (has_points ? 150 : 0); points += 150) {
        for (int i = 0; i < 60; i++) {
          char key[16];
          snprintf(key, sizeof key, "key:%d", i);
          all[kinds][i] = (char)('0' + place(placement, hash, points, key));
        }
        for (size_t other = 0; other < kinds; other++) {
          CHECK((strcmp(all[other], all[kinds]) == 0) == (other == 14 && kinds == 22));
        }
        kinds += 1;
      }
    }
  }
  CHECK(kinds == 27);
}

// Two clients with a name space each, and one that sees both.
static void name_spaces(void) {
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *a = NULL, *b = NULL, *all = a_client();
  options.name_space = "a:";
  options.name_space_len = 2;
  options.hash_name_space = 1;
  CHECK_IS(OK, tavola_mc_open(servers(), &options, &a));
  options.name_space = "b:";
  CHECK_IS(OK, tavola_mc_open(servers(), &options, &b));
  CHECK_IS(STORED, tavola_mc_set(a, S("k"), S("of a"), NULL));
  CHECK_IS(STORED, tavola_mc_set(b, S("k"), S("of b"), NULL));
  CHECK(has(a, "k", "of a") && has(b, "k", "of b"));
  CHECK(has(all, "a:k", "of a") && has(all, "b:k", "of b") && has(all, "k", NULL));
  tavola_mc_close(a);
  tavola_mc_close(b);
  tavola_mc_close(all);
}

// Copies of a key are on its server and on the next one of the list.
static void copies(void) {
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *client = NULL, *all = a_client();
  size_t count = tavola_mc_server_count(all);
  options.replicas = (uint32_t)count;
  CHECK_IS(ERR_OPTION, tavola_mc_open(servers(), &options, &client));
  options.replicas = 1;
  options.read_any = 2;
  CHECK_IS(ERR_OPTION, tavola_mc_open(servers(), &options, &client));
  options.read_any = 1;
  CHECK_IS(OK, tavola_mc_open(servers(), &options, &client));
  CHECK_IS(STORED, tavola_mc_set(client, S("copied"), S("v"), NULL));
  CHECK(has(all, "copied", "v"));
  CHECK_IS(DELETED, tavola_mc_delete(all, S("copied"), 0));
  // The other copy is there.
  CHECK(has(client, "copied", "v"));
  CHECK_IS(DELETED, tavola_mc_delete(client, S("copied"), 0));
  CHECK(has(client, "copied", NULL) && has(all, "copied", NULL));
  tavola_mc_close(client);
  tavola_mc_close(all);
}

// Every protocol, and both of the clients that see each other's keys.
static void protocols(void) {
  tavola_mc_client *all = a_client();
  for (int32_t protocol = 0; protocol <= TAVOLA_MC_PROTOCOL_BINARY; protocol++) {
    tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
    tavola_mc_client *client = NULL;
    char value[2] = {(char)('0' + protocol), 0};
    options.protocol = protocol;
    options.hash_tag = "{}";
    CHECK_IS(OK, tavola_mc_open(servers(), &options, &client));
    size_t one = 0, other = 0;
    CHECK_IS(OK, tavola_mc_server_of(client, S("{t}1"), &one));
    CHECK_IS(OK, tavola_mc_server_of(client, S("{t}2"), &other));
    CHECK(one == other);
    CHECK_IS(STORED, tavola_mc_set(client, S("p"), value, 1, NULL));
    CHECK(has(client, "p", value) && has(all, "p", value));
    tavola_mc_close(client);
  }
  tavola_mc_close(all);
}

// A table as the server, which another table is in front of: what is stored is read from both, and
// what is removed from neither.
static void tables(void) {
  char directory[] = "/tmp/tavola-client-capi-XXXXXX";
  char behind[64], front[64], list[80];
  CHECK(mkdtemp(directory) != NULL);
  snprintf(behind, sizeof behind, "%s/behind", directory);
  snprintf(front, sizeof front, "%s/front", directory);
  snprintf(list, sizeof list, "tavola:%s", behind);
  tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
  tavola_mc_client *plain = NULL, *near = NULL;
  options.near = front;
  options.near_ttl_ms = 600000;
  CHECK_IS(OK, tavola_mc_open(list, NULL, &plain));
  CHECK_IS(OK, tavola_mc_open(list, &options, &near));
  CHECK_IS(STORED, tavola_mc_set(plain, S("k"), S("first"), NULL));
  CHECK(has(near, "k", "first"));
  CHECK_IS(STORED, tavola_mc_set(plain, S("k"), S("later"), NULL));
  CHECK(has(near, "k", "first") && has(plain, "k", "later"));
  CHECK_IS(DELETED, tavola_mc_delete(near, S("k"), 0));
  CHECK(has(near, "k", NULL) && has(plain, "k", NULL));
  tavola_mc_close(near);
  tavola_mc_close(plain);
  CHECK(unlink(behind) == 0 && unlink(front) == 0 && rmdir(directory) == 0);
}

int main(void) {
  invalid_options();
  placements();
  name_spaces();
  copies();
  protocols();
  tables();
  return 0;
}
