/* The functions of APCu, except those that report and the iterator. */

#include "php_tavola.h"
#include "apcu.h"
#include "compute.h"

/* The longest TTL that the library takes, in seconds. */
#define MOST_TTL 31536000000LL

/* Returns the TTL of APCu, where 0 is for ever, as that of a key. */
static int64_t ttl_of(const tavola_php_table *table, zend_long ttl)
{
	if (ttl <= 0) {
		return table->handle->ttl_ms ? TAVOLA_TTL_NEVER : TAVOLA_TTL_DEFAULT;
	}
	return MIN((int64_t)ttl, MOST_TTL) * 1000;
}

/* {{{ Writing */

/* Stores a value. Returns false if it was not stored. An exception is one of the value's own
 * serialization. */
static bool store(zend_string *key, zval *value, zend_long ttl, bool is_exclusive)
{
	tavola_php_table *table = tavola_apcu_table();
	tavola_encoded encoded;
	if (table == NULL) {
		return false;
	}
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) == IS_RESOURCE) {
		php_error_docref(NULL, E_WARNING, "Cannot store resources in apcu cache");
		return false;
	}
	if (!tavola_encode(&encoded, value, table->serializer)) {
		return false;
	}
	tavola_writing how = {
		.condition = is_exclusive ? TAVOLA_CONDITION_ABSENT : TAVOLA_CONDITION_ALWAYS,
		.ttl_ms = ttl_of(table, ttl),
	};
	bool is_stored = tavola_write_encoded(table, key, &encoded, &how) == TAVOLA_OK;
	tavola_encoded_free(&encoded);
	return is_stored;
}

/* Stores the pairs of an array, and returns those that were not stored. */
static void store_all(HashTable *pairs, zend_long ttl, bool is_exclusive, zval *failed)
{
	zend_ulong number;
	zend_string *name;
	zval *value, minus_one;
	ZVAL_LONG(&minus_one, -1);
	array_init(failed);
	ZEND_HASH_FOREACH_KEY_VAL(pairs, number, name, value) {
		zend_string *key = name ? zend_string_copy(name) : zend_long_to_str((zend_long)number);
		if (!store(key, value, ttl, is_exclusive)) {
			zend_symtable_update(Z_ARRVAL_P(failed), key, &minus_one);
		}
		zend_string_release(key);
	} ZEND_HASH_FOREACH_END();
}

static void store_or_add(INTERNAL_FUNCTION_PARAMETERS, bool is_exclusive)
{
	zval *key, *value = NULL;
	zend_long ttl = 0;
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ZVAL(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(value)
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();
	if (Z_TYPE_P(key) == IS_ARRAY) {
		store_all(Z_ARRVAL_P(key), ttl, is_exclusive, return_value);
	} else if (Z_TYPE_P(key) == IS_STRING) {
		RETURN_BOOL(value && store(Z_STR_P(key), value, ttl, is_exclusive));
	} else {
		php_error_docref(NULL, E_WARNING,
			"apc_store expects key parameter to be a string or an array of key/value pairs.");
		RETURN_FALSE;
	}
}

ZEND_FUNCTION(apcu_store)
{
	store_or_add(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_FUNCTION(apcu_add)
{
	store_or_add(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

bool tavola_apcu_remove(const tavola_php_table *table, const zend_string *key)
{
	return table && tavola_remove(
		table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key)) == TAVOLA_OK;
}

/* Removes the keys of an array, and returns those that did not exist. */
static void remove_all(HashTable *keys, zval *missing)
{
	zval *key;
	array_init(missing);
	ZEND_HASH_FOREACH_VAL(keys, key) {
		ZVAL_DEREF(key);
		if (Z_TYPE_P(key) != IS_STRING) {
			php_error_docref(NULL, E_WARNING,
				"apc_delete() expects a string, array of strings, or APCIterator instance");
		} else if (tavola_apcu_remove(tavola_apcu_table(), Z_STR_P(key))) {
			continue;
		}
		Z_TRY_ADDREF_P(key);
		add_next_index_zval(missing, key);
	} ZEND_HASH_FOREACH_END();
}

ZEND_FUNCTION(apcu_delete)
{
	zval *keys;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(keys)
	ZEND_PARSE_PARAMETERS_END();
	switch (Z_TYPE_P(keys)) {
		case IS_STRING:
			RETURN_BOOL(tavola_apcu_remove(tavola_apcu_table(), Z_STR_P(keys)));
		case IS_ARRAY:
			remove_all(Z_ARRVAL_P(keys), return_value);
			return;
		case IS_OBJECT:
			RETURN_BOOL(tavola_apcu_remove_found(keys));
		default:
			php_error_docref(NULL, E_WARNING,
				"apc_delete() expects a string, array of strings, or APCIterator instance");
			RETURN_FALSE;
	}
}

ZEND_FUNCTION(apcu_clear_cache)
{
	ZEND_PARSE_PARAMETERS_NONE();
	const tavola_php_table *table = tavola_apcu_table();
	if (table) {
		tavola_clear(table->handle->table);
	}
	RETURN_TRUE;
}

/* }}} */

/* {{{ Reading */

static bool fetch(zend_string *key, zval *value)
{
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	const tavola_php_table *table = tavola_apcu_table();
	return table && tavola_read_value(table, key, value, &has, NULL) == TAVOLA_OK;
}

static bool exists(const zend_string *key)
{
	const tavola_php_table *table = tavola_apcu_table();
	return table && tavola_contains(
		table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key)) == TAVOLA_OK;
}

ZEND_FUNCTION(apcu_fetch)
{
	zval *key, *success = NULL, *one;
	bool is_found = true;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ZVAL(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(success)
	ZEND_PARSE_PARAMETERS_END();
	if (Z_TYPE_P(key) == IS_ARRAY) {
		array_init(return_value);
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(key), one) {
			zval value;
			ZVAL_DEREF(one);
			if (Z_TYPE_P(one) != IS_STRING) {
				php_error_docref(NULL, E_WARNING,
					"apc_fetch() expects a string or array of strings.");
			} else if (fetch(Z_STR_P(one), &value)) {
				zend_hash_update(Z_ARRVAL_P(return_value), Z_STR_P(one), &value);
			}
		} ZEND_HASH_FOREACH_END();
	} else {
		zend_string *held, *text = zval_try_get_tmp_string(key, &held);
		if (text == NULL) {
			RETURN_THROWS();
		}
		is_found = fetch(text, return_value);
		zend_tmp_string_release(held);
	}
	if (success) {
		ZEND_TRY_ASSIGN_REF_BOOL(success, is_found);
	}
	if (!is_found && !EG(exception)) {
		RETURN_FALSE;
	}
}

ZEND_FUNCTION(apcu_exists)
{
	zval *key, *one, yes;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(key)
	ZEND_PARSE_PARAMETERS_END();
	if (Z_TYPE_P(key) != IS_ARRAY) {
		zend_string *held, *text = zval_try_get_tmp_string(key, &held);
		if (text == NULL) {
			RETURN_THROWS();
		}
		RETVAL_BOOL(exists(text));
		zend_tmp_string_release(held);
		return;
	}
	ZVAL_TRUE(&yes);
	array_init(return_value);
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(key), one) {
		ZVAL_DEREF(one);
		if (Z_TYPE_P(one) != IS_STRING) {
			php_error_docref(NULL, E_WARNING,
				"apc_exists() expects a string or array of strings.");
		} else if (exists(Z_STR_P(one))) {
			zend_hash_update(Z_ARRVAL_P(return_value), Z_STR_P(one), &yes);
		}
	} ZEND_HASH_FOREACH_END();
}

ZEND_FUNCTION(apcu_entry)
{
	tavola_computation with = {.options = TAVOLA_INIT(tavola_lease_options), .may_nest = true};
	zend_long ttl = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(with.key)
		Z_PARAM_FUNC(with.call, with.cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();
	with.table = tavola_apcu_table();
	if (with.table == NULL) {
		RETURN_NULL();
	}
	with.options.fresh_ms = ttl > 0 ? (uint64_t)ttl_of(with.table, ttl) : UINT64_MAX;
	/* APCu has no limit for the function; this is the library's longest. */
	with.options.lease_ms = 3600 * 1000;
	tavola_compute(&with, return_value);
}

/* }}} */

/* {{{ Numbers */

/* Reads a key that is an integer, and its token. APCu counts with nothing else. */
static bool read_integer(
	const tavola_php_table *table, zend_string *key, zend_long *number, uint64_t *token)
{
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	zend_string *bytes;
	if (tavola_read_bytes(table->handle->table, key, &bytes, &has, token) != TAVOLA_OK) {
		return false;
	}
	bool is_number = (has.flags & 0xFFFF0000u) == TAVOLA_KIND_INTEGER
		&& tavola_read_long(ZSTR_VAL(bytes), ZSTR_LEN(bytes), number);
	zend_string_release(bytes);
	return is_number;
}

/* Replaces a number that still has this token. */
static tavola_status replace_number(
	const tavola_php_table *table, zend_string *key, zend_long number, uint64_t token)
{
	tavola_encoded encoded;
	tavola_writing how = {
		.condition = TAVOLA_CONDITION_TOKEN, .token = token, .keeps = true};
	tavola_encode_long(&encoded, number);
	return tavola_write_encoded(table, key, &encoded, &how);
}

/* Adds to a number. A sum beyond 64 bits begins again at the other end, as in APCu. */
static bool add(zend_string *key, zend_long step, zend_long ttl, int64_t *now)
{
	const tavola_php_table *table = tavola_apcu_table();
	zend_long number;
	uint64_t token;
	if (table == NULL) {
		return false;
	}
	if (!read_integer(table, key, &number, &token) && exists(key)) {
		return false;
	}
	tavola_status status = tavola_add_to(table, key, step, 0, ttl_of(table, ttl), now);
	while (status == TAVOLA_ERR_BAD_OPTION || status == TAVOLA_CHANGED) {
		if (!read_integer(table, key, &number, &token)) {
			return false;
		}
		*now = (int64_t)((uint64_t)number + (uint64_t)step);
		status = replace_number(table, key, *now, token);
	}
	return status == TAVOLA_OK;
}

static void count(INTERNAL_FUNCTION_PARAMETERS, bool is_down)
{
	zend_string *key;
	zend_long step = 1, ttl = 0;
	zval *success = NULL;
	int64_t now = 0;
	ZEND_PARSE_PARAMETERS_START(1, 4)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(step)
		Z_PARAM_ZVAL(success)
		Z_PARAM_LONG(ttl)
	ZEND_PARSE_PARAMETERS_END();
	if (is_down) {
		step = (zend_long)(0 - (zend_ulong)step);
	}
	bool is_done = add(key, step, ttl, &now);
	if (success) {
		ZEND_TRY_ASSIGN_REF_BOOL(success, is_done);
	}
	if (is_done) {
		RETURN_LONG(now);
	}
	RETURN_FALSE;
}

ZEND_FUNCTION(apcu_inc)
{
	count(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_FUNCTION(apcu_dec)
{
	count(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

ZEND_FUNCTION(apcu_cas)
{
	zend_string *key;
	zend_long old, next, number;
	uint64_t token;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_STR(key)
		Z_PARAM_LONG(old)
		Z_PARAM_LONG(next)
	ZEND_PARSE_PARAMETERS_END();
	const tavola_php_table *table = tavola_apcu_table();
	tavola_status status = TAVOLA_CHANGED;
	while (table && status == TAVOLA_CHANGED) {
		if (!read_integer(table, key, &number, &token) || number != old) {
			break;
		}
		status = replace_number(table, key, next, token);
	}
	RETURN_BOOL(status == TAVOLA_OK);
}

/* }}} */
