/* Calls to all servers, and what this client does not have. */

#include "memcached.h"

/* Answers of servers. PHP memory is not used while the library works: they are copied, and become
 * PHP values when it has returned. */
typedef struct {
	size_t server;
	char *name;
	char *text;
} answer;

typedef struct {
	answer *all;
	size_t count;
	size_t room;
	bool is_full;
} answers;

static void keep(answers *kept, size_t server, const char *name, const char *text)
{
	if (kept->count == kept->room) {
		size_t room = kept->room ? 2 * kept->room : 64;
		answer *larger = realloc(kept->all, room * sizeof(answer));
		if (larger == NULL) {
			kept->is_full = true;
			return;
		}
		kept->all = larger;
		kept->room = room;
	}
	answer one = {server, strdup(name), strdup(text)};
	if (one.name == NULL || one.text == NULL) {
		free(one.name);
		free(one.text);
		kept->is_full = true;
		return;
	}
	kept->all[kept->count++] = one;
}

static void free_answers(answers *kept)
{
	for (size_t i = 0; i < kept->count; i++) {
		free(kept->all[i].name);
		free(kept->all[i].text);
	}
	free(kept->all);
}

static void keep_stat(void *user, size_t server, const char *name, const char *value)
{
	keep(user, server, name, value);
}

static void keep_version(
	void *user, size_t server, const char *name, int32_t status, const char *text)
{
	if (status == TAVOLA_MC_OK) {
		keep(user, server, name, text);
	}
}

/* Sets the result of a call to all servers, some of which may have answered. */
static bool ended(mc_object *self, const answers *kept, tavola_mc_status status)
{
	if (status != TAVOLA_MC_OK) {
		mc_answered(self, status, NULL);
		return mc_summed_up(self, kept->count ? RES_SOME_ERRORS : self->why_result) || kept->count;
	}
	return mc_done(self, kept->is_full ? RES_MEMORY_ALLOCATION_FAILURE : RES_SUCCESS);
}

/* A figure as a number, if it is one. */
static void figure(zval *value, const char *text)
{
	zend_long number;
	double real;
	switch (is_numeric_string(text, strlen(text), &number, &real, false)) {
		case IS_LONG:
			ZVAL_LONG(value, number);
			break;
		case IS_DOUBLE:
			ZVAL_DOUBLE(value, real);
			break;
		default:
			ZVAL_STRING(value, text);
	}
}

/* The array of a server in the result, which is made if it is missing. */
static HashTable *of_server(mc_object *self, zval *result, size_t server)
{
	zend_string *name = mc_server_name(&self->fleet->servers[server]);
	zval *found = zend_hash_find(Z_ARRVAL_P(result), name);
	if (found == NULL) {
		zval made;
		array_init(&made);
		found = zend_hash_add_new(Z_ARRVAL_P(result), name, &made);
	}
	zend_string_release(name);
	return Z_ARRVAL_P(found);
}

ZEND_METHOD(Tavola_Memcached, getStats)
{
	zend_string *type = NULL;
	mc_use use;
	answers kept = {0};
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(type)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_client(self, NULL, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_status status =
		tavola_mc_stats(use.client, type ? ZSTR_VAL(type) : NULL, keep_stat, &kept);
	RETVAL_FALSE;
	if (ended(self, &kept, status)) {
		array_init(return_value);
		for (size_t i = 0; i < kept.count; i++) {
			zval value;
			figure(&value, kept.all[i].text);
			zend_hash_str_update(of_server(self, return_value, kept.all[i].server),
				kept.all[i].name, strlen(kept.all[i].name), &value);
		}
	}
	free_answers(&kept);
}

ZEND_METHOD(Tavola_Memcached, getVersion)
{
	mc_use use;
	answers kept = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	if (!mc_client(self, NULL, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_status status = tavola_mc_versions(use.client, keep_version, &kept);
	RETVAL_FALSE;
	if (ended(self, &kept, status)) {
		array_init(return_value);
		for (size_t i = 0; i < kept.count; i++) {
			zend_string *name = mc_server_name(&self->fleet->servers[kept.all[i].server]);
			zval text;
			ZVAL_STRING(&text, kept.all[i].text);
			zend_hash_update(Z_ARRVAL_P(return_value), name, &text);
			zend_string_release(name);
		}
	}
	free_answers(&kept);
}

ZEND_METHOD(Tavola_Memcached, flush)
{
	zend_long delay = 0;
	mc_use use;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(delay)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_client(self, NULL, &use)) {
		RETURN_FALSE;
	}
	uint32_t delay_s = delay < 0 ? 0 : delay > INT32_MAX ? INT32_MAX : (uint32_t)delay;
	tavola_mc_status status = tavola_mc_flush_all(use.client, delay_s, NULL, NULL);
	RETURN_BOOL(mc_answered(self, status, NULL));
}

ZEND_METHOD(Tavola_Memcached, quit)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	mc_close(self->fleet);
	RETURN_BOOL(mc_done(self, RES_SUCCESS));
}

ZEND_METHOD(Tavola_Memcached, flushBuffers)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	mc_fleet *fleet = self->fleet;
	tavola_mc_status status = fleet->client ? tavola_mc_flush(fleet->client) : TAVOLA_MC_OK;
	for (size_t i = 0; fleet->alone && i < fleet->count; i++) {
		tavola_mc_status one = fleet->alone[i] ? tavola_mc_flush(fleet->alone[i]) : TAVOLA_MC_OK;
		status = status == TAVOLA_MC_OK ? one : status;
	}
	fleet->has_held = status != TAVOLA_MC_OK;
	RETURN_BOOL(mc_answered(self, status, NULL));
}

ZEND_METHOD(Tavola_Memcached, checkKey)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	bool is_key = mc_checked_key(self, key);
	RETURN_BOOL(is_key && mc_done(self, RES_SUCCESS));
}

/* Keys of servers, one behind the other, each behind its length. */
typedef struct {
	char *bytes;
	size_t len;
	size_t room;
	bool is_full;
} keys;

static void keep_key(void *user, size_t server, const void *key, size_t key_len)
{
	keys *kept = user;
	(void)server;
	size_t end = kept->len + sizeof(key_len) + key_len;
	if (end > kept->room) {
		size_t room = MAX(2 * kept->room, end + 4096);
		char *larger = kept->is_full ? NULL : realloc(kept->bytes, room);
		if (larger == NULL) {
			kept->is_full = true;
			return;
		}
		kept->bytes = larger;
		kept->room = room;
	}
	memcpy(kept->bytes + kept->len, &key_len, sizeof(key_len));
	memcpy(kept->bytes + kept->len + sizeof(key_len), key, key_len);
	kept->len = end;
}

static void add_keys(zval *list, const keys *kept)
{
	array_init(list);
	for (size_t at = 0; at < kept->len;) {
		size_t key_len;
		memcpy(&key_len, kept->bytes + at, sizeof(key_len));
		add_next_index_stringl(list, kept->bytes + at + sizeof(key_len), key_len);
		at += sizeof(key_len) + key_len;
	}
}

ZEND_METHOD(Tavola_Memcached, getAllKeys)
{
	mc_use use;
	keys kept = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	if (!mc_client(self, NULL, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_status status = tavola_mc_keys(use.client, keep_key, &kept);
	answers none = {.count = kept.len > 0, .is_full = kept.is_full};
	RETVAL_FALSE;
	zend_try {
		if (ended(self, &none, status)) {
			add_keys(return_value, &kept);
		}
	} zend_catch {
		/* PHP has no memory for them. */
		free(kept.bytes);
		zend_bailout();
	} zend_end_try();
	free(kept.bytes);
}

/* {{{ What there is not */

static bool not_supported(mc_object *self, const char *why)
{
	php_error_docref(NULL, E_WARNING, "%s", why);
	return mc_done(self, RES_NOT_SUPPORTED);
}

ZEND_METHOD(Tavola_Memcached, setBucket)
{
	HashTable *host_map, *forward_map;
	zend_long replicas;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_ARRAY_HT(host_map)
		Z_PARAM_ARRAY_HT_OR_NULL(forward_map)
		Z_PARAM_LONG(replicas)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	RETURN_BOOL(not_supported(self,
		"there are no virtual buckets; choose DISTRIBUTION_CONSISTENT or DISTRIBUTION_MODULA"));
}

ZEND_METHOD(Tavola_Memcached, setEncodingKey)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	RETURN_BOOL(not_supported(self,
		"values are not encrypted by the client; encrypt connections by OPT_TLS_AUTHORITIES"));
}

/* }}} */
