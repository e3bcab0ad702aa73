// A server of SQL, asked by a driver of ODBC: a table of keys and values, MERGE and SELECT, prepared
// when they are first asked, a commit each. The address is what the manager of drivers takes,
// `DSN=...` or `Driver=...;Server=...`. The server has one table more while a program runs, which
// the program takes away at its end.
//
// MERGE is the same for all; what differs, the names of types and what is selected from when there
// is no table, is chosen by what the server says it is. PostgreSQL is tried by the tests; Oracle's
// words are those of its manual.
#include <sql.h>
#include <sqlext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define TABLE "tavola_compared"

// How a server of SQL says it.
struct dialect {
  const char *server;
  // Of columns.
  const char *key_type, *value_type;
  // Of a parameter of a column's type.
  const char *parameter;
  const char *from_nothing;
};

static const struct dialect dialects[] = {
    {"PostgreSQL", "BYTEA", "BYTEA", "CAST(? AS BYTEA)", ""},
    {"Oracle", "RAW(1000)", "BLOB", "?", " FROM dual"},
};

enum statement { PUT, GET, REMOVE, STATEMENTS };

struct odbc {
  SQLHDBC server;
  SQLHSTMT statements[STATEMENTS];
  const struct dialect *dialect;
};

static SQLHENV environment;
static const struct job *made_by;
static char server_version[128];

static const char *version(void) { return server_version; }

// What the driver says went wrong.
static _Noreturn void fail_with(SQLSMALLINT kind, SQLHANDLE handle) {
  SQLCHAR state[6] = "", text[400] = "";
  SQLGetDiagRec(kind, handle, 1, state, NULL, text, sizeof text, NULL);
  fail("ODBC: %s %.*s", state, (int)strcspn((char *)text, "\n"), (char *)text);
}

static void check(SQLRETURN status, SQLSMALLINT kind, SQLHANDLE handle) {
  if (!SQL_SUCCEEDED(status)) fail_with(kind, handle);
}

static SQLHANDLE made(SQLSMALLINT kind, SQLHANDLE of, SQLSMALLINT kind_of) {
  SQLHANDLE handle;
  check(SQLAllocHandle(kind, of, &handle), kind_of, of);
  return handle;
}

static void connect_to(struct odbc *own, const char *address) {
  if (!environment) {
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment)))
      fail("ODBC: no environment");
    check(SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0),
          SQL_HANDLE_ENV, environment);
  }
  own->server = made(SQL_HANDLE_DBC, environment, SQL_HANDLE_ENV);
  SQLCHAR text[2048];
  strcpy((char *)text, address);
  check(SQLDriverConnect(own->server, NULL, text, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT),
        SQL_HANDLE_DBC, own->server);
}

static void info(struct odbc *own, SQLUSMALLINT what, char *text, SQLSMALLINT size) {
  check(SQLGetInfo(own->server, what, text, size, NULL), SQL_HANDLE_DBC, own->server);
}

static void choose_dialect(struct odbc *own) {
  char name[64], version[64];
  info(own, SQL_DBMS_NAME, name, sizeof name);
  info(own, SQL_DBMS_VER, version, sizeof version);
  snprintf(server_version, sizeof server_version, "%.40s %.40s, unixODBC", name, version);
  for (size_t at = 0; at < sizeof dialects / sizeof *dialects; at++)
    if (strncmp(name, dialects[at].server, strlen(dialects[at].server)) == 0)
      own->dialect = &dialects[at];
  if (!own->dialect) fail("how %s is told to MERGE is not known here", name);
}

// Whether the server took it.
static bool took(struct odbc *own, const char *text) {
  SQLHSTMT statement = made(SQL_HANDLE_STMT, own->server, SQL_HANDLE_DBC);
  bool took = SQL_SUCCEEDED(SQLExecDirect(statement, (SQLCHAR *)text, SQL_NTS));
  SQLFreeHandle(SQL_HANDLE_STMT, statement);
  return took;
}

static void disconnect(struct odbc *own) {
  SQLDisconnect(own->server);
  SQLFreeHandle(SQL_HANDLE_DBC, own->server);
}

// The program that made the table takes it away when it ends.
static void unmake(void) {
  struct odbc own = {0};
  connect_to(&own, made_by->address);
  took(&own, "DROP TABLE " TABLE);
  disconnect(&own);
}

static void make(struct odbc *own, const struct job *job) {
  // That there is none is no fault.
  took(own, "DROP TABLE " TABLE);
  char text[256];
  snprintf(text, sizeof text,
           "CREATE TABLE " TABLE " (k %s NOT NULL PRIMARY KEY, v %s NOT NULL)",
           own->dialect->key_type, own->dialect->value_type);
  SQLHSTMT statement = made(SQL_HANDLE_STMT, own->server, SQL_HANDLE_DBC);
  check(SQLExecDirect(statement, (SQLCHAR *)text, SQL_NTS), SQL_HANDLE_STMT, statement);
  SQLFreeHandle(SQL_HANDLE_STMT, statement);
  if (strcmp(own->dialect->server, "PostgreSQL") == 0)
    took(own, "ALTER TABLE " TABLE " ALTER v SET STORAGE EXTERNAL");
  if (!made_by) atexit(unmake);
  made_by = job;
}

static void *open_store(const struct job *job, enum mode mode) {
  static struct odbc own;
  own = (struct odbc){0};
  connect_to(&own, job->address);
  choose_dialect(&own);
  if (mode == MAKE) make(&own, job);
  return &own;
}

static void close_store(void *store) {
  struct odbc *own = store;
  for (int at = 0; at < STATEMENTS; at++)
    if (own->statements[at]) SQLFreeHandle(SQL_HANDLE_STMT, own->statements[at]);
  disconnect(own);
}

static void write_text(const struct dialect *by, enum statement which, char *text, size_t size) {
  const char *any = by->parameter;
  if (which == GET)
    snprintf(text, size, "SELECT v FROM " TABLE " WHERE k = %s", any);
  else if (which == REMOVE)
    snprintf(text, size, "DELETE FROM " TABLE " WHERE k = %s", any);
  else
    // The value comes twice: not every server lets one that is long go through a SELECT.
    snprintf(text, size,
             "MERGE INTO " TABLE " t USING (SELECT %s AS k%s) n ON (t.k = n.k)"
             " WHEN MATCHED THEN UPDATE SET v = %s"
             " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (n.k, %s)",
             any, by->from_nothing, any, any);
}

static SQLHSTMT prepared(struct odbc *own, enum statement which) {
  SQLHSTMT *statement = &own->statements[which];
  if (!*statement) {
    char text[400];
    write_text(own->dialect, which, text, sizeof text);
    *statement = made(SQL_HANDLE_STMT, own->server, SQL_HANDLE_DBC);
    check(SQLPrepare(*statement, (SQLCHAR *)text, SQL_NTS), SQL_HANDLE_STMT, *statement);
  }
  return *statement;
}

static void bind(SQLHSTMT statement, int at, struct span span, SQLLEN *len) {
  // No driver asks for a length of 0 of a parameter.
  SQLULEN size = span.len ? span.len : 1;
  SQLSMALLINT type = span.len > 1000 ? SQL_LONGVARBINARY : SQL_VARBINARY;
  *len = span.len;
  check(SQLBindParameter(statement, at, SQL_PARAM_INPUT, SQL_C_BINARY, type, size, 0,
                         (SQLPOINTER)span.data, size, len),
        SQL_HANDLE_STMT, statement);
}

// How many rows it changed.
static SQLLEN changed(SQLHSTMT statement) {
  SQLLEN rows = 0;
  SQLRETURN status = SQLExecute(statement);
  if (status == SQL_NO_DATA) return 0;
  check(status, SQL_HANDLE_STMT, statement);
  check(SQLRowCount(statement, &rows), SQL_HANDLE_STMT, statement);
  return rows;
}

static void put(void *store, struct span key, struct span value) {
  SQLHSTMT statement = prepared(store, PUT);
  SQLLEN lens[3];
  bind(statement, 1, key, &lens[0]);
  bind(statement, 2, value, &lens[1]);
  bind(statement, 3, value, &lens[2]);
  if (changed(statement) != 1) fail("ODBC: a MERGE changed nothing");
}

// The value of the row that was fetched, in as many parts as its length asks for.
static struct span value_of(SQLHSTMT statement) {
  static struct room room;
  make_room(&room, 8192);
  size_t done = 0;
  for (;;) {
    SQLLEN left = 0;
    SQLRETURN status =
        SQLGetData(statement, 1, SQL_C_BINARY, room.data + done, room.size - done, &left);
    if (status == SQL_NO_DATA) return (struct span){room.data, done};
    check(status, SQL_HANDLE_STMT, statement);
    if (status == SQL_SUCCESS) return (struct span){room.data, done + left};
    done = room.size;
    size_t more = left == SQL_NO_TOTAL ? 2 * done : done + left;
    char *larger = realloc(room.data, more);
    if (!larger) fail("no memory for a value");
    room = (struct room){larger, more};
  }
}

static bool get(void *store, struct span key, struct span *value) {
  SQLHSTMT statement = prepared(store, GET);
  SQLLEN len;
  bind(statement, 1, key, &len);
  check(SQLExecute(statement), SQL_HANDLE_STMT, statement);
  SQLRETURN status = SQLFetch(statement);
  if (status != SQL_NO_DATA) {
    check(status, SQL_HANDLE_STMT, statement);
    *value = value_of(statement);
  }
  SQLFreeStmt(statement, SQL_CLOSE);
  return status != SQL_NO_DATA;
}

static bool remove_key(void *store, struct span key) {
  SQLHSTMT statement = prepared(store, REMOVE);
  SQLLEN len;
  bind(statement, 1, key, &len);
  return changed(statement) == 1;
}

const struct adapter adapter = {
    .version = version,
    .open = open_store,
    .close = close_store,
    .put = put,
    .get = get,
    .remove = remove_key,
};
