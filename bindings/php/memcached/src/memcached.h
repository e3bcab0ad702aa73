/*
 * Tavola\Memcached: what the files of the extension share.
 *
 * The library is called only between the conversion of arguments and that of results: no PHP code
 * runs and nothing leaves by a longjmp while it works. So serializers run before it is called,
 * unserializers, callbacks and memory errors after it has returned.
 *
 * MIT OR Apache-2.0, at your choice.
 */

#ifndef TAVOLA_MEMCACHED_H
#define TAVOLA_MEMCACHED_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"
#include "zend_smart_str.h"
#include <tavola_client.h>

extern zend_module_entry tavola_memcached_module_entry;
#define phpext_tavola_memcached_ptr &tavola_memcached_module_entry

#if defined(ZTS) && defined(COMPILE_DL_TAVOLA_MEMCACHED)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

extern zend_class_entry *mc_class;

#include "constants.h"

/* {{{ Servers and options, which objects of one persistent id share */

/* A server as the program named it. A weight of 0 counts as 1, as in libmemcached. */
typedef struct {
	char *host;
	zend_long port;
	zend_long weight;
} mc_server;

/* Options that are texts. */
typedef enum {
	MC_PREFIX,
	MC_NEAR,
	MC_TLS_AUTHORITIES,
	MC_TLS_CERTIFICATE,
	MC_TLS_KEY,
	MC_TLS_NAME,
	MC_SASL_USER,
	MC_SASL_PASSWORD,
	MC_TEXTS,
} mc_text;

/* Numbers of libmemcached's behaviours, up to 37. */
#define MC_BEHAVIORS 38

typedef struct {
	zend_long behaviors[MC_BEHAVIORS];
	char *texts[MC_TEXTS];
	size_t prefix_len;
	zend_long near_ttl_ms;
	bool is_compressed;
	zend_long compression;
	zend_long serializer;
	zend_long user_flags;
	zend_long store_retries;
} mc_settings;

typedef struct {
	bool is_persistent;
	mc_server *servers;
	size_t count;
	mc_settings settings;
	/* NULL until a call needs them, and again after servers or options have changed. */
	tavola_mc_client *client;
	tavola_mc_batch *batch;
	/* A client of each server alone, for calls with a key that chooses the server. */
	tavola_mc_client **alone;
	tavola_mc_batch **alone_batches;
	/* Whether there may be requests that wait to be sent. */
	bool has_held;
} mc_fleet;

/* }}} */

/* {{{ Many keys */

/* Where the library puts a value. */
typedef struct {
	zend_string *string;
	/* The length that PHP has no memory for, or 0. */
	size_t refused;
} mc_room;

/* One of many keys. */
typedef struct {
	zend_string *key;
	mc_room room;
	uint32_t flags;
	uint64_t cas;
	/* The result; -1 before there is one. */
	zend_long result;
	tavola_mc_status status;
} mc_item;

typedef struct mc_object mc_object;

typedef struct {
	mc_object *self;
	mc_item *items;
	size_t count;
	/* The first error: its result, its status, its cause, its sentence, its key. */
	zend_long error;
	tavola_mc_status error_status;
	int32_t error_cause;
	char *why;
	zend_string *failed_key;
} mc_items;

/* }}} */

struct mc_object {
	mc_fleet *fleet;
	bool is_pristine;
	zend_long result;
	/* The sentence of the last error, or NULL. */
	zend_string *why;
	zend_long why_result;
	/* The server of the last request that failed, in `fleet->servers`, or -1. */
	zend_long failed;
	/* What getDelayed has received, the next item for fetch, and whether it has `cas`. */
	mc_items delayed;
	size_t next_delayed;
	bool has_cas;
	zend_object std;
};

static zend_always_inline mc_object *mc_object_of(zend_object *object)
{
	return (mc_object *)((char *)object - XtOffsetOf(mc_object, std));
}

/* Defines `self`; throws and returns if the constructor was not called. */
#define MC_SELF \
	mc_object *self = mc_object_of(Z_OBJ_P(ZEND_THIS)); \
	if (UNEXPECTED(self->fleet == NULL)) { \
		zend_throw_error(NULL, "Memcached constructor was not called"); \
		RETURN_THROWS(); \
	}

/* {{{ results.c */

/* Sets the result of a call that has no error of the library. Returns whether it is a success. */
bool mc_done(mc_object *self, zend_long result);

/* Sets the result alone, and keeps the sentence of the last error. */
bool mc_summed_up(mc_object *self, zend_long result);

/* Sets the result of a call by a status; after an error the library has its cause and sentence. */
bool mc_answered(mc_object *self, tavola_mc_status status, zend_string *key);

/* The same by an error whose cause and sentence are these. */
bool mc_failed(
	mc_object *self, tavola_mc_status status, int32_t cause, const char *why, zend_string *key);

/* Returns the result that a status is. */
zend_long mc_result_of(
	const mc_fleet *fleet, tavola_mc_status status, int32_t cause, const char *why);

/* Returns the message of a result. */
const char *mc_message(zend_long result);

/* }}} */

/* {{{ fleet.c */

mc_fleet *mc_new_fleet(bool is_persistent);
void mc_free_fleet(mc_fleet *fleet);

/* Closes connections; the next call makes others. */
void mc_close(mc_fleet *fleet);

/* What a call uses: a client, and a batch of it without requests. */
typedef struct {
	tavola_mc_client *client;
	tavola_mc_batch **batch;
} mc_use;

/* Finds the client for a key that chooses the server, or for all if it is NULL. Sets the result and
 * returns false if there is none. */
bool mc_client(mc_object *self, zend_string *server_key, mc_use *use);

/* Returns the batch of that client without requests, or NULL; then the result is set. */
tavola_mc_batch *mc_batch(mc_object *self, zend_string *server_key);

/* Whether a key can be one: sets the result if not. */
bool mc_is_key(mc_object *self, const char *key, size_t len);
bool mc_checked_key(mc_object *self, zend_string *key);

char *mc_copy(const char *text, size_t len, bool is_persistent);

/* }}} */

/* {{{ settings.c, connection.c */

/* libmemcached's usual time limits. */
#define MC_CONNECT_MS 4000
#define MC_POLL_MS 5000

void mc_start_settings(mc_settings *settings, bool is_persistent);
void mc_free_settings(mc_settings *settings, bool is_persistent);

/* Fills the options of the library. */
void mc_fill_options(const mc_fleet *fleet, tavola_mc_options *options);

bool mc_set_text(mc_fleet *fleet, mc_text which, const char *text, size_t len);
bool mc_set_option(mc_object *self, zend_long option, zval *value);

/* Whether stores do not wait for an answer. */
static zend_always_inline uint32_t mc_no_reply(const mc_fleet *fleet)
{
	return fleet->settings.behaviors[OPT_NOREPLY] || fleet->settings.behaviors[OPT_BUFFER_WRITES];
}

/* }}} */

/* {{{ servers.c */

bool mc_add_server(mc_fleet *fleet, const char *host, size_t len, zend_long port, zend_long weight);
void mc_remove_servers(mc_fleet *fleet);
void mc_sort_servers(mc_fleet *fleet);

/* Appends a server as the library reads it. */
void mc_write_server(smart_str *list, const mc_server *server);

/* The name of a server in the answers of getStats and getVersion. */
zend_string *mc_server_name(const mc_server *server);

/* Reads the connection string of the constructor. */
bool mc_read_connection(mc_object *self, zend_string *text);

/* }}} */

/* {{{ value.c */

typedef struct {
	zend_string *bytes;
	uint32_t flags;
} mc_encoded;

/* Sets the result and returns false if the value cannot be stored. */
bool mc_encode(mc_object *self, zval *value, mc_encoded *encoded);

/* Takes over the bytes. Sets the result and returns false if they cannot be read. */
bool mc_decode(mc_object *self, zend_string *bytes, uint32_t flags, zval *value);

/* Returns memory for a value, or NULL if PHP would run out of memory. */
void *mc_take(mc_room *room, size_t len);

/* Lets PHP report that it has no memory, if a value was refused. */
void mc_report_refused(const mc_room *room);

zend_long mc_ini_number(const char *name, zend_long otherwise);
/* A size, perhaps with K, M or G behind it. */
zend_long mc_ini_bytes(const char *name, zend_long otherwise);
const char *mc_ini_text(const char *name);

/* }}} */

/* {{{ compression.c */

/* The setting that bounds a decompressed value, and its default. */
#define MC_MOST_DECOMPRESSED "tavola_memcached.max_decompressed"
#define MC_MOST_DECOMPRESSED_BYTES (64 << 20)

/* Compresses bytes if that is worth it, and adds to the flags. Takes over the bytes. */
zend_string *mc_compress(mc_object *self, zend_string *bytes, uint32_t *flags);

/* Takes over the bytes; returns NULL if they are broken. */
zend_string *mc_decompress(zend_string *bytes, uint32_t flags);

/* Calls a function of PHP with one or two arguments. Returns false if it is missing or failed. */
bool mc_call(const char *name, size_t len, zval *arguments, uint32_t count, zval *result);

/* }}} */

/* {{{ fastlz.c */

/* Returns the length of the output, which has room for `mc_fastlz_bound(len)`. */
size_t mc_fastlz_compress(const unsigned char *in, size_t len, unsigned char *out);

#define mc_fastlz_bound(len) ((len) + (len) / 32 + 1)

/* Returns whether the input makes exactly `out_len` bytes. */
bool mc_fastlz_decompress(
	const unsigned char *in, size_t len, unsigned char *out, size_t out_len);

/* }}} */

/* {{{ get.c */

/* Copies the keys of an array. Throws and returns false if one cannot be a string. */
bool mc_read_keys(mc_object *self, HashTable *keys, mc_items *items);
void mc_free_items(mc_items *items);

/* Executes the batch: its requests are those of the items whose result is -1. */
void mc_execute(mc_items *items, tavola_mc_batch *batch);

/* Gets all keys at once. Sets the result and returns false if no request could be made. */
bool mc_get_items(mc_items *items, zend_string *server_key, bool with_cas);

/* Decodes the value of an item that was found. */
bool mc_item_value(mc_items *items, mc_item *item, bool is_extended, zval *value);

/* The expiry time as the server takes it. */
int32_t mc_expiry(zend_long expiration);

/* }}} */

/* {{{ store.c */

typedef enum {
	MC_SET,
	MC_ADD,
	MC_REPLACE,
	MC_APPEND,
	MC_PREPEND,
	MC_CAS,
} mc_store_kind;

/* What a store stores. */
typedef struct {
	zend_string *server_key;
	zend_string *key;
	mc_encoded encoded;
	zend_long expiration;
	/* The unique number that MC_CAS compares. */
	uint64_t token;
} mc_stored;

tavola_mc_status mc_store(
	mc_object *self, const tavola_mc_client *client, mc_store_kind kind, const mc_stored *stored);

/* }}} */

#endif
