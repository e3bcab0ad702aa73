/* Reading keys. */

#include "php_tavola.h"

/* Reads a key when memory is short: the string is made between two calls of the library, where PHP
 * may end the script. */
static tavola_status read_in_two_steps(
	const tavola_table *table, zend_string *key, size_t wanted, zend_string **value,
	tavola_attributes *attributes, uint64_t *token)
{
	for (;;) {
		zend_string *room = zend_string_alloc(wanted, false);
		tavola_buffer buffer = TAVOLA_BUFFER(ZSTR_VAL(room), wanted);
		tavola_status status = tavola_get_entry(
			table, ZSTR_VAL(key), ZSTR_LEN(key), &buffer, attributes, token);
		if (status == TAVOLA_OK) {
			ZSTR_LEN(room) = buffer.len;
			ZSTR_VAL(room)[buffer.len] = '\0';
			*value = room;
			return status;
		}
		zend_string_release(room);
		if (status != TAVOLA_ERR_TOO_SMALL) {
			return status;
		}
		wanted = buffer.len;
	}
}

/* From this length on, a second copy costs more than a wrong guess now and then. */
#define LARGE 1024

/* Reads a key whose value probably has the length of the two before it, straight into its string.
 * Through the callback, a value is copied twice: the library knows its length only when it has it.
 * Returns false if the value has another length. */
static bool read_repeated(
	const tavola_table *table, zend_string *key, zend_string **value,
	tavola_attributes *attributes, uint64_t *token, tavola_status *status)
{
	size_t len = TAVOLA_G(last_len);
	if (!tavola_has_room(len)) {
		return false;
	}
	zend_string *room = zend_string_alloc(len, false);
	tavola_buffer buffer = TAVOLA_BUFFER(ZSTR_VAL(room), len);
	*status = tavola_get_entry(table, ZSTR_VAL(key), ZSTR_LEN(key), &buffer, attributes, token);
	if (EXPECTED(*status == TAVOLA_OK && buffer.len == len)) {
		ZSTR_VAL(room)[len] = '\0';
		*value = room;
		return true;
	}
	zend_string_efree(room);
	TAVOLA_G(is_repeated) = false;
	return *status != TAVOLA_OK && *status != TAVOLA_ERR_TOO_SMALL;
}

tavola_status tavola_read_bytes(
	const tavola_table *table, zend_string *key, zend_string **value,
	tavola_attributes *attributes, uint64_t *token)
{
	tavola_status repeated;
	if (TAVOLA_G(is_repeated)
			&& read_repeated(table, key, value, attributes, token, &repeated)) {
		return repeated;
	}
	tavola_result result = {NULL, 0};
	tavola_buffer buffer = TAVOLA_RESULT_BUFFER(&result);
	tavola_status status = tavola_get_entry(
		table, ZSTR_VAL(key), ZSTR_LEN(key), &buffer, attributes, token);
	if (EXPECTED(status == TAVOLA_OK)) {
		*value = tavola_result_string(&result);
		if (UNEXPECTED(buffer.len >= LARGE)) {
			TAVOLA_G(is_repeated) = buffer.len == TAVOLA_G(last_len);
			TAVOLA_G(last_len) = buffer.len;
		}
	} else if (UNEXPECTED(status == TAVOLA_ERR_STOPPED)) {
		return read_in_two_steps(table, key, result.wanted, value, attributes, token);
	}
	return status;
}

tavola_status tavola_read_value(
	const tavola_php_table *table, zend_string *key, zval *value,
	tavola_attributes *attributes, uint64_t *token)
{
	zend_string *bytes;
	tavola_status status =
		tavola_read_bytes(table->handle->table, key, &bytes, attributes, token);
	if (status == TAVOLA_OK) {
		tavola_decode(value, bytes, attributes->flags, table->serializer);
	}
	return status;
}

/* Reads a key for the caller of a method: null if it is missing. */
static zend_always_inline bool read_for(
	const tavola_php_table *table, zend_string *key, zval *value, uint64_t *token)
{
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	return tavola_answered(tavola_read_value(table, key, value, &attributes, token));
}

ZEND_METHOD(Tavola_Table, get)
{
	zend_string *key;
	zval *fallback = NULL;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(fallback)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!read_for(self, key, return_value, NULL) && fallback) {
		RETURN_COPY(fallback);
	}
}

ZEND_METHOD(Tavola_Table, gets)
{
	zend_string *key;
	zval value;
	uint64_t token;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!read_for(self, key, &value, &token)) {
		return;
	}
	array_init_size(return_value, 2);
	add_next_index_zval(return_value, &value);
	add_next_index_long(return_value, (zend_long)token);
}

ZEND_METHOD(Tavola_Table, entry)
{
	zend_string *key;
	zval value;
	uint64_t token;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_answered(tavola_read_value(self, key, &value, &has, &token))) {
		return;
	}
	array_init_size(return_value, 5);
	add_assoc_zval(return_value, "value", &value);
	add_assoc_long(return_value, "flags", has.flags);
	if (tavola_is_for_ever(has.ttl_ms)) {
		add_assoc_null(return_value, "ttl");
		add_assoc_null(return_value, "expires");
	} else {
		add_assoc_double(return_value, "ttl", (double)has.ttl_ms / 1000);
		add_assoc_double(return_value, "expires", (double)has.expires_unix_ms / 1000);
	}
	add_assoc_long(return_value, "token", (zend_long)token);
}

ZEND_METHOD(Tavola_Table, getBytes)
{
	zend_string *key, *bytes;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (tavola_answered(tavola_read_bytes(self->handle->table, key, &bytes, NULL, NULL))) {
		RETURN_STR(bytes);
	}
}

ZEND_METHOD(Tavola_Table, exists)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(
		tavola_contains(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key))));
}

ZEND_METHOD(Tavola_Table, ttl)
{
	zend_string *key;
	int64_t ttl_ms;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (tavola_answered(
			tavola_ttl(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), &ttl_ms))
			&& !tavola_is_for_ever(ttl_ms)) {
		RETURN_LONG((ttl_ms + 999) / 1000);
	}
}

/* How many keys are fetched ahead at once. */
#define PREFETCHED 64

/* Collects up to PREFETCHED keys of an array, from `*at` on, and tells the library about them. */
static uint32_t next_keys(
	const tavola_table *table, HashTable *given, HashPosition *at, zend_string **keys)
{
	tavola_bytes bytes[PREFETCHED];
	uint32_t count = 0;
	zval *one;
	for (; count < PREFETCHED && (one = zend_hash_get_current_data_ex(given, at)) != NULL;
			zend_hash_move_forward_ex(given, at)) {
		zend_string *key = zval_try_get_string(one);
		if (key == NULL) {
			break;
		}
		keys[count] = key;
		bytes[count].data = ZSTR_VAL(key);
		bytes[count].len = ZSTR_LEN(key);
		count++;
	}
	if (count > 1) {
		tavola_prefetch(table, bytes, count);
	}
	return count;
}

static void release_keys(zend_string **keys, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		zend_string_release(keys[i]);
	}
}

static bool add_found(
	const tavola_php_table *table, zend_string *key, zval *out)
{
	zval value;
	if (read_for(table, key, &value, NULL)) {
		zend_symtable_update(Z_ARRVAL_P(out), key, &value);
	}
	return EG(exception) == NULL;
}

ZEND_METHOD(Tavola_Table, getMultiple)
{
	HashTable *given;
	zend_string *keys[PREFETCHED];
	HashPosition at;
	uint32_t count;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(given)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	array_init_size(return_value, zend_hash_num_elements(given));
	zend_hash_internal_pointer_reset_ex(given, &at);
	while ((count = next_keys(self->handle->table, given, &at, keys)) > 0 && !EG(exception)) {
		for (uint32_t i = 0; i < count && add_found(self, keys[i], return_value); i++) {
		}
		release_keys(keys, count);
		count = 0;
	}
	release_keys(keys, count);
}

ZEND_METHOD(Tavola_Table, deleteMultiple)
{
	HashTable *given;
	zend_string *keys[PREFETCHED];
	HashPosition at;
	uint32_t count;
	zend_long removed = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(given)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	zend_hash_internal_pointer_reset_ex(given, &at);
	while ((count = next_keys(self->handle->table, given, &at, keys)) > 0 && !EG(exception)) {
		for (uint32_t i = 0; i < count && !EG(exception); i++) {
			removed += tavola_answered(tavola_remove(
				self->handle->table, ZSTR_VAL(keys[i]), ZSTR_LEN(keys[i])));
		}
		release_keys(keys, count);
		count = 0;
	}
	release_keys(keys, count);
	RETVAL_LONG(removed);
}
