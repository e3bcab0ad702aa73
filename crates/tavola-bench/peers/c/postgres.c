// PostgreSQL, asked by libpq: a table of keys and values, MERGE and SELECT, each prepared when it is
// first asked, a commit each; many keys a call are one SELECT. Bytes go as they are, in binary, and
// values are not compressed.
//
// The address is HOST:PORT or the folder of a socket, as the user postgres; or a URL,
// postgres://USER:PASSWORD@HOST:PORT/DATABASE, of a server that is there already. In there is one
// table more while a program runs, which it takes away at its end.
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#include "harness.h"

#define TABLE "tavola_compared"
// Of bytea, among the types of the server.
#define BYTES_TYPE 17

enum statement { PUT, GET, GET_MANY, REMOVE, STATEMENTS };

static const struct {
  const char *name, *text;
} statements[STATEMENTS] = {
    {"put", "MERGE INTO " TABLE " AS t USING (SELECT $1::bytea AS k, $2::bytea AS v) AS n"
            " ON t.k = n.k WHEN MATCHED THEN UPDATE SET v = n.v"
            " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (n.k, n.v)"},
    {"get", "SELECT v FROM " TABLE " WHERE k = $1::bytea"},
    {"get_many", "SELECT n.at, t.v FROM unnest($1::bytea[]) WITH ORDINALITY AS n(k, at)"
                 " JOIN " TABLE " AS t ON t.k = n.k"},
    {"remove", "DELETE FROM " TABLE " WHERE k = $1::bytea"},
};

struct postgres {
  PGconn *server;
  bool prepared[STATEMENTS];
  // The answer that a value is lent from.
  PGresult *lent;
};

static const struct job *made_by;
static char server_version[64];

// What the server says of itself is told where nobody else knows it.
static const char *version(void) {
  static char text[128];
  int number = PQlibVersion();
  snprintf(text, sizeof text, "%slibpq %d.%d", server_version, number / 10000, number % 10000);
  return text;
}

// The first line of what went wrong.
static _Noreturn void fail_with(const char *what) {
  fail("PostgreSQL: %.*s", (int)strcspn(what, "\n"), what);
}

static PGresult *checked(struct postgres *own, PGresult *answer) {
  ExecStatusType status = PQresultStatus(answer);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    const char *what = PQresultErrorMessage(answer);
    fail_with(*what ? what : PQerrorMessage(own->server));
  }
  return answer;
}

static void run(struct postgres *own, const char *text) {
  PQclear(checked(own, PQexec(own->server, text)));
}

static PGconn *connection(const char *address) {
  char host[2048];
  if (strstr(address, "://")) return PQconnectdb(address);
  strcpy(host, address);
  char *colon = strrchr(host, ':');
  if (host[0] != '/' && !colon) fail("no address: %s", host);
  if (host[0] != '/') *colon = 0;
  const char *names[] = {"host", "port", "user", "dbname", "sslmode", "gssencmode", NULL};
  const char *values[] = {host,       host[0] == '/' ? "5432" : colon + 1, "postgres", "postgres",
                          "disable", "disable",                           NULL};
  return PQconnectdbParams(names, values, 0);
}

static void no_notices(void *user, const char *text) { (void)user, (void)text; }

// The program that made the table takes it away when it ends.
static void unmake(void) {
  PGconn *server = connection(made_by->address);
  if (PQstatus(server) == CONNECTION_OK)
    PQclear(PQexec(server, "DROP TABLE IF EXISTS " TABLE));
  PQfinish(server);
}

static void make(struct postgres *own, const struct job *job) {
  run(own, "DROP TABLE IF EXISTS " TABLE);
  if (!made_by) atexit(unmake);
  made_by = job;
}

// A table that is there stays as it is: to alter it is to wait for all who read it.
static void make_table(struct postgres *own) {
  PGresult *answer = checked(own, PQexec(own->server, "SELECT to_regclass('" TABLE "')"));
  bool there = !PQgetisnull(answer, 0, 0);
  PQclear(answer);
  if (!there)
    run(own, "CREATE TABLE " TABLE " (k bytea PRIMARY KEY, v bytea NOT NULL);"
             "ALTER TABLE " TABLE " ALTER v SET STORAGE EXTERNAL");
}

static void *open_store(const struct job *job, enum mode mode) {
  static struct postgres own;
  own = (struct postgres){.server = connection(job->address)};
  if (PQstatus(own.server) != CONNECTION_OK) fail_with(PQerrorMessage(own.server));
  PQsetNoticeProcessor(own.server, no_notices, NULL);
  if (strstr(job->address, "://"))
    snprintf(server_version, sizeof server_version, "%.40s, ",
             PQparameterStatus(own.server, "server_version"));
  if (mode == MAKE) make(&own, job);
  if (mode != READ) make_table(&own);
  return &own;
}

static void let_go(struct postgres *own) {
  PQclear(own->lent);
  own->lent = NULL;
}

static void close_store(void *store) {
  struct postgres *own = store;
  let_go(own);
  PQfinish(own->server);
}

static PGresult *ask(struct postgres *own, enum statement which, int count,
                     const char *const *values, const int *lens) {
  static const int binary[] = {1, 1};
  const char *name = statements[which].name;
  if (!own->prepared[which]) {
    PQclear(checked(own, PQprepare(own->server, name, statements[which].text, 0, NULL)));
    own->prepared[which] = true;
  }
  return PQexecPrepared(own->server, name, count, values, lens, binary, 1);
}

static bool is_there_already(const PGresult *answer) {
  const char *state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
  return state && strcmp(state, "23505") == 0;
}

static void put(void *store, struct span key, struct span value) {
  const char *values[] = {key.data, value.data};
  const int lens[] = {key.len, value.len};
  PGresult *answer = ask(store, PUT, 2, values, lens);
  // Of two that insert a key at once one is refused by MERGE, and then finds it.
  while (is_there_already(answer)) {
    PQclear(answer);
    answer = ask(store, PUT, 2, values, lens);
  }
  if (strcmp(PQcmdTuples(checked(store, answer)), "1")) fail("PostgreSQL: a MERGE changed nothing");
  PQclear(answer);
}

static bool get(void *store, struct span key, struct span *value) {
  struct postgres *own = store;
  let_go(own);
  const char *values[] = {key.data};
  const int lens[] = {key.len};
  own->lent = checked(own, ask(own, GET, 1, values, lens));
  if (PQntuples(own->lent) == 0) return false;
  *value = (struct span){PQgetvalue(own->lent, 0, 0), PQgetlength(own->lent, 0, 0)};
  return true;
}

static bool remove_key(void *store, struct span key) {
  const char *values[] = {key.data};
  const int lens[] = {key.len};
  PGresult *answer = checked(store, ask(store, REMOVE, 1, values, lens));
  bool was = strcmp(PQcmdTuples(answer), "1") == 0;
  PQclear(answer);
  return was;
}

static char *add_number(char *to, uint32_t number) {
  number = htobe32(number);
  memcpy(to, &number, sizeof number);
  return to + sizeof number;
}

// An array of bytea, in the server's binary form.
static size_t array_of(struct room *room, const struct span *keys, size_t count) {
  size_t size = 5 * 4;
  for (size_t at = 0; at < count; at++) size += 4 + keys[at].len;
  make_room(room, size);
  // One dimension, no NULL, the type; so many, counted from 1.
  const uint32_t head[] = {1, 0, BYTES_TYPE, count, 1};
  char *end = room->data;
  for (size_t at = 0; at < sizeof head / sizeof *head; at++) end = add_number(end, head[at]);
  for (size_t at = 0; at < count; at++) {
    end = add_number(end, keys[at].len);
    memcpy(end, keys[at].data, keys[at].len);
    end += keys[at].len;
  }
  return size;
}

// In the array, from 1.
static uint64_t place_of(const PGresult *answer, int row) {
  uint64_t place;
  if (PQgetlength(answer, row, 0) != sizeof place) fail("PostgreSQL: a place of another size");
  memcpy(&place, PQgetvalue(answer, row, 0), sizeof place);
  return be64toh(place);
}

static void get_many(void *store, const struct span *keys, size_t count, each_value each,
                     void *user) {
  static struct room room;
  const int lens[] = {array_of(&room, keys, count)};
  const char *const values[] = {room.data};
  PGresult *answer = checked(store, ask(store, GET_MANY, 1, values, lens));
  bool found[count];
  memset(found, 0, sizeof found);
  for (int row = 0; row < PQntuples(answer); row++) {
    uint64_t at = place_of(answer, row) - 1;
    if (at >= count || found[at]) fail("PostgreSQL: an answer to no question");
    found[at] = true;
    each(user, at, PQgetvalue(answer, row, 1), PQgetlength(answer, row, 1));
  }
  for (size_t at = 0; at < count; at++)
    if (!found[at]) each(user, at, NULL, 0);
  PQclear(answer);
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
    .get_many = get_many,
};
