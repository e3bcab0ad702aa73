/* Writing one key, and many at once; removing. */

#include "memcached.h"

#include "zend_exceptions.h"

tavola_mc_status mc_store(
	mc_object *self, const tavola_mc_client *client, mc_store_kind kind, const mc_stored *stored)
{
	tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
	const char *key = ZSTR_VAL(stored->key), *bytes = ZSTR_VAL(stored->encoded.bytes);
	size_t key_len = ZSTR_LEN(stored->key), len = ZSTR_LEN(stored->encoded.bytes);
	how.flags = stored->encoded.flags;
	how.exptime = mc_expiry(stored->expiration);
	how.no_reply = kind != MC_CAS && mc_no_reply(self->fleet);
	self->fleet->has_held |= how.no_reply;
	switch (kind) {
		case MC_SET:
			return tavola_mc_set(client, key, key_len, bytes, len, &how);
		case MC_ADD:
			return tavola_mc_add(client, key, key_len, bytes, len, &how);
		case MC_REPLACE:
			return tavola_mc_replace(client, key, key_len, bytes, len, &how);
		case MC_APPEND:
			return tavola_mc_append(client, key, key_len, bytes, len, &how);
		case MC_PREPEND:
			return tavola_mc_prepend(client, key, key_len, bytes, len, &how);
		default:
			return tavola_mc_cas(client, key, key_len, bytes, len, stored->token, &how);
	}
}

/* Stores a value that is encoded, and frees it. Only a request that was not sent is repeated. */
static bool store(mc_object *self, mc_store_kind kind, const mc_stored *stored)
{
	mc_use use;
	bool is_stored = false;
	if (mc_client(self, stored->server_key, &use)) {
		tavola_mc_status status = mc_store(self, use.client, kind, stored);
		zend_long retries = self->fleet->settings.store_retries;
		for (; status == TAVOLA_MC_ERR_UNSENT && retries > 0; retries--) {
			status = mc_store(self, use.client, kind, stored);
		}
		is_stored = mc_answered(
			self, status, stored->server_key ? stored->server_key : stored->key);
	}
	zend_string_release(stored->encoded.bytes);
	return is_stored;
}

/* Encodes a value and stores it. */
static bool store_encoded(mc_object *self, mc_store_kind kind, mc_stored *stored, zval *value)
{
	return mc_checked_key(self, stored->key) && mc_encode(self, value, &stored->encoded)
		&& store(self, kind, stored);
}

/* {{{ set, add, replace */

static void store_value(INTERNAL_FUNCTION_PARAMETERS, mc_store_kind kind, bool by_key)
{
	mc_stored stored = {0};
	zval *value;
	ZEND_PARSE_PARAMETERS_START(2 + by_key, 3 + by_key)
		if (by_key) {
			Z_PARAM_STR(stored.server_key)
		}
		Z_PARAM_STR(stored.key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(stored.expiration)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	RETURN_BOOL(store_encoded(self, kind, &stored, value));
}

#define STORE_METHOD(name, kind, by_key) \
	ZEND_METHOD(Tavola_Memcached, name) \
	{ \
		store_value(INTERNAL_FUNCTION_PARAM_PASSTHRU, kind, by_key); \
	}

STORE_METHOD(set, MC_SET, false)
STORE_METHOD(setByKey, MC_SET, true)
STORE_METHOD(add, MC_ADD, false)
STORE_METHOD(addByKey, MC_ADD, true)
STORE_METHOD(replace, MC_REPLACE, false)
STORE_METHOD(replaceByKey, MC_REPLACE, true)

/* }}} */

/* {{{ append, prepend */

static void join(INTERNAL_FUNCTION_PARAMETERS, mc_store_kind kind, bool by_key)
{
	mc_stored stored = {0};
	ZEND_PARSE_PARAMETERS_START(2 + by_key, 2 + by_key)
		if (by_key) {
			Z_PARAM_STR(stored.server_key)
		}
		Z_PARAM_STR(stored.key)
		Z_PARAM_STR(stored.encoded.bytes)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_checked_key(self, stored.key)) {
		RETURN_FALSE;
	}
	if (self->fleet->settings.is_compressed) {
		php_error_docref(NULL, E_WARNING, "cannot append/prepend with compression turned on");
		RETURN_NULL();
	}
	zend_string_addref(stored.encoded.bytes);
	RETURN_BOOL(store(self, kind, &stored));
}

#define JOIN_METHOD(name, kind, by_key) \
	ZEND_METHOD(Tavola_Memcached, name) \
	{ \
		join(INTERNAL_FUNCTION_PARAM_PASSTHRU, kind, by_key); \
	}

JOIN_METHOD(append, MC_APPEND, false)
JOIN_METHOD(appendByKey, MC_APPEND, true)
JOIN_METHOD(prepend, MC_PREPEND, false)
JOIN_METHOD(prependByKey, MC_PREPEND, true)

/* }}} */

/* {{{ cas */

/* The token is an integer of GET_EXTENDED, which is negative above 2^63, or its text. */
static uint64_t token_of(zval *token)
{
	ZVAL_DEREF(token);
	if (Z_TYPE_P(token) == IS_STRING && Z_STRVAL_P(token)[0] != '-') {
		return ZEND_STRTOUL(Z_STRVAL_P(token), NULL, 10);
	}
	return (uint64_t)zval_get_long(token);
}

static void compare_and_store(INTERNAL_FUNCTION_PARAMETERS, bool by_key)
{
	mc_stored stored = {0};
	zval *token, *value;
	ZEND_PARSE_PARAMETERS_START(3 + by_key, 4 + by_key)
		Z_PARAM_ZVAL(token)
		if (by_key) {
			Z_PARAM_STR(stored.server_key)
		}
		Z_PARAM_STR(stored.key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(stored.expiration)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	stored.token = token_of(token);
	RETURN_BOOL(store_encoded(self, MC_CAS, &stored, value));
}

ZEND_METHOD(Tavola_Memcached, cas)
{
	compare_and_store(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Memcached, casByKey)
{
	compare_and_store(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

/* }}} */

/* The result of the first item that is no success. */
static zend_long first_failure(const mc_items *items)
{
	zend_long result = RES_SUCCESS;
	for (size_t i = 0; i < items->count && result == RES_SUCCESS; i++) {
		result = items->items[i].result;
	}
	return result;
}

/* {{{ setMulti */

/* Copies keys and encodes values: serializers may run code of the program, and the library must
 * not be in use then. Returns false after a failure. */
static bool encode_all(
	mc_object *self, HashTable *values, mc_items *items, mc_encoded *encoded)
{
	zend_string *name;
	zend_ulong number;
	zval *value;
	ZEND_HASH_FOREACH_KEY_VAL(values, number, name, value) {
		mc_item *item = &items->items[items->count];
		*item = (mc_item) {.result = -1};
		item->key = name ? zend_string_copy(name) : zend_long_to_str((zend_long)number);
		encoded[items->count] = (mc_encoded) {NULL, 0};
		items->count++;
		if (!mc_is_key(self, ZSTR_VAL(item->key), ZSTR_LEN(item->key))) {
			item->result = RES_BAD_KEY_PROVIDED;
		} else if (!mc_encode(self, value, &encoded[items->count - 1])) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool store_all(
	mc_items *items, const mc_encoded *encoded, zend_string *server_key, zend_long expiration)
{
	mc_object *self = items->self;
	tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
	tavola_mc_batch *batch = mc_batch(self, server_key);
	if (batch == NULL) {
		return false;
	}
	how.exptime = mc_expiry(expiration);
	how.no_reply = mc_no_reply(self->fleet);
	self->fleet->has_held |= how.no_reply;
	for (size_t i = 0; i < items->count; i++) {
		if (items->items[i].result < 0) {
			zend_string *key = items->items[i].key, *bytes = encoded[i].bytes;
			how.flags = encoded[i].flags;
			tavola_mc_batch_set(batch, ZSTR_VAL(key), ZSTR_LEN(key),
				ZSTR_VAL(bytes), ZSTR_LEN(bytes), &how);
		}
	}
	mc_execute(items, batch);
	zend_long result = first_failure(items);
	return items->error == RES_SUCCESS ? mc_done(self, result) : mc_summed_up(self, result);
}

static void set_multi(
	INTERNAL_FUNCTION_PARAMETERS, zend_string *server_key, HashTable *values, zend_long expiration)
{
	MC_SELF;
	uint32_t most = zend_hash_num_elements(values);
	mc_items items = {.self = self, .error = RES_SUCCESS};
	items.items = safe_emalloc(most + 1, sizeof(mc_item), 0);
	mc_encoded *encoded = safe_emalloc(most + 1, sizeof(mc_encoded), 0);
	RETVAL_BOOL(encode_all(self, values, &items, encoded)
		&& store_all(&items, encoded, server_key, expiration));
	for (size_t i = 0; i < items.count; i++) {
		if (encoded[i].bytes) {
			zend_string_release(encoded[i].bytes);
		}
	}
	efree(encoded);
	mc_free_items(&items);
}

ZEND_METHOD(Tavola_Memcached, setMulti)
{
	HashTable *values;
	zend_long expiration = 0;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY_HT(values)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(expiration)
	ZEND_PARSE_PARAMETERS_END();
	set_multi(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL, values, expiration);
}

ZEND_METHOD(Tavola_Memcached, setMultiByKey)
{
	zend_string *server_key;
	HashTable *values;
	zend_long expiration = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(server_key)
		Z_PARAM_ARRAY_HT(values)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(expiration)
	ZEND_PARSE_PARAMETERS_END();
	set_multi(INTERNAL_FUNCTION_PARAM_PASSTHRU, server_key, values, expiration);
}

/* }}} */

/* {{{ delete */

static void remove_one(INTERNAL_FUNCTION_PARAMETERS, bool by_key)
{
	zend_string *server_key = NULL, *key;
	zend_long time = 0;
	mc_use use;
	ZEND_PARSE_PARAMETERS_START(1 + by_key, 2 + by_key)
		if (by_key) {
			Z_PARAM_STR(server_key)
		}
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(time)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_checked_key(self, key)) {
		RETURN_FALSE;
	}
	/* Servers have no time of a removal any more. */
	if (time != 0) {
		RETURN_BOOL(mc_done(self, RES_INVALID_ARGUMENTS));
	}
	if (!mc_client(self, server_key, &use)) {
		RETURN_FALSE;
	}
	uint32_t no_reply = mc_no_reply(self->fleet);
	self->fleet->has_held |= no_reply;
	tavola_mc_status status =
		tavola_mc_delete(use.client, ZSTR_VAL(key), ZSTR_LEN(key), no_reply);
	RETURN_BOOL(mc_answered(self, status, server_key ? server_key : key));
}

ZEND_METHOD(Tavola_Memcached, delete)
{
	remove_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Memcached, deleteByKey)
{
	remove_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

static bool remove_items(mc_items *items, zend_string *server_key)
{
	mc_object *self = items->self;
	tavola_mc_batch *batch = mc_batch(self, server_key);
	if (batch == NULL) {
		return false;
	}
	uint32_t no_reply = mc_no_reply(self->fleet);
	self->fleet->has_held |= no_reply;
	for (size_t i = 0; i < items->count; i++) {
		zend_string *key = items->items[i].key;
		if (items->items[i].result < 0) {
			tavola_mc_batch_delete(batch, ZSTR_VAL(key), ZSTR_LEN(key), no_reply);
		}
	}
	mc_execute(items, batch);
	return true;
}

static void remove_many(
	INTERNAL_FUNCTION_PARAMETERS, zend_string *server_key, HashTable *keys, zend_long time)
{
	mc_items items;
	MC_SELF;
	zend_long result = RES_SUCCESS;
	if (!mc_read_keys(self, keys, &items)) {
		RETURN_THROWS();
	}
	if (time != 0) {
		result = RES_INVALID_ARGUMENTS;
	} else if (!remove_items(&items, server_key)) {
		result = self->result;
	}
	array_init(return_value);
	for (size_t i = 0; i < items.count; i++) {
		zend_long one = items.items[i].result >= 0 && result == RES_SUCCESS
			? items.items[i].result : result;
		zval removed;
		if (one == RES_SUCCESS || one == RES_BUFFERED) {
			ZVAL_TRUE(&removed);
		} else {
			ZVAL_LONG(&removed, one);
		}
		zend_symtable_update(Z_ARRVAL_P(return_value), items.items[i].key, &removed);
	}
	result = result == RES_SUCCESS ? first_failure(&items) : result;
	if (items.error == RES_SUCCESS && result != self->result) {
		mc_done(self, result);
	} else {
		mc_summed_up(self, result);
	}
	mc_free_items(&items);
}

ZEND_METHOD(Tavola_Memcached, deleteMulti)
{
	HashTable *keys;
	zend_long time = 0;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(time)
	ZEND_PARSE_PARAMETERS_END();
	remove_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL, keys, time);
}

ZEND_METHOD(Tavola_Memcached, deleteMultiByKey)
{
	zend_string *server_key;
	HashTable *keys;
	zend_long time = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(server_key)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(time)
	ZEND_PARSE_PARAMETERS_END();
	remove_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, server_key, keys, time);
}

/* }}} */
