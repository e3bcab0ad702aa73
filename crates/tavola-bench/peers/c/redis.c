// Redis, asked by hiredis: the client waits for every answer; many keys a call are MSET and MGET.
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

// The answer that a value is lent from.
static redisReply *lent;

static redisReply *checked(redisContext *client, redisReply *reply) {
  if (!reply) fail("hiredis: %s", client->errstr);
  if (reply->type == REDIS_REPLY_ERROR) fail("Redis: %s", reply->str);
  return reply;
}

static const char *version(void) {
  static char text[64];
  snprintf(text, sizeof text, "hiredis %d.%d.%d", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
  return text;
}

static void *open_store(const struct job *job, enum mode mode) {
  (void)mode;
  char host[2048];
  strcpy(host, job->address);
  char *colon = strrchr(host, ':');
  if (host[0] != '/' && !colon) fail("no address: %s", host);
  redisContext *client;
  if (host[0] == '/') {
    client = redisConnectUnix(host);
  } else {
    *colon = 0;
    client = redisConnect(host, atoi(colon + 1));
  }
  if (!client || client->err) fail("hiredis: %s", client ? client->errstr : "no memory");
  return client;
}

static void let_go(void) {
  if (lent) freeReplyObject(lent);
  lent = NULL;
}

static void close_store(void *store) {
  let_go();
  redisFree(store);
}

static redisReply *ask(redisContext *client, int count, const char **words, const size_t *lens) {
  return checked(client, redisCommandArgv(client, count, words, lens));
}

static void put(void *store, struct span key, struct span value) {
  const char *words[] = {"SET", key.data, value.data};
  size_t lens[] = {3, key.len, value.len};
  freeReplyObject(ask(store, 3, words, lens));
}

static bool get(void *store, struct span key, struct span *value) {
  let_go();
  const char *words[] = {"GET", key.data};
  size_t lens[] = {3, key.len};
  lent = ask(store, 2, words, lens);
  if (lent->type == REDIS_REPLY_NIL) return false;
  *value = (struct span){lent->str, lent->len};
  return true;
}

static bool remove_key(void *store, struct span key) {
  const char *words[] = {"DEL", key.data};
  size_t lens[] = {3, key.len};
  redisReply *reply = ask(store, 2, words, lens);
  bool was = reply->integer == 1;
  freeReplyObject(reply);
  return was;
}

static void put_many(void *store, const struct pair *pairs, size_t count) {
  const char *words[2 * count + 1];
  size_t lens[2 * count + 1];
  words[0] = "MSET";
  lens[0] = 4;
  for (size_t at = 0; at < count; at++) {
    words[2 * at + 1] = pairs[at].key.data;
    lens[2 * at + 1] = pairs[at].key.len;
    words[2 * at + 2] = pairs[at].value.data;
    lens[2 * at + 2] = pairs[at].value.len;
  }
  freeReplyObject(ask(store, 2 * count + 1, words, lens));
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  const char *words[count + 1];
  size_t lens[count + 1];
  words[0] = "MGET";
  lens[0] = 4;
  for (size_t at = 0; at < count; at++) {
    words[at + 1] = keys[at].data;
    lens[at + 1] = keys[at].len;
  }
  redisReply *reply = ask(store, count + 1, words, lens);
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != count)
    fail("Redis: not as many answers as keys");
  for (size_t at = 0; at < count; at++) {
    redisReply *one = reply->element[at];
    bool found = one->type == REDIS_REPLY_STRING;
    each(user, at, found ? one->str : NULL, found ? one->len : 0);
  }
  freeReplyObject(reply);
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
    .put_many = put_many,
    .get_many = get_many,
};
