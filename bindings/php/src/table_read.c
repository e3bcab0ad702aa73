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

/* The string is made before the library reads, because PHP may end the script when memory is short.
 * If the value grows between the two calls, the part may be shorter than asked. */
ZEND_METHOD(Tavola_Table, getRange)
{
	zend_string *key;
	zend_long start, most;
	size_t len = 0;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_STR(key)
		Z_PARAM_LONG(start)
		Z_PARAM_LONG(most)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (start < 0 || most < 0) {
		zend_argument_value_error(start < 0 ? 2 : 3, "must not be negative");
		RETURN_THROWS();
	}
	const tavola_table *table = self->handle->table;
	if (!tavola_answered(tavola_value_len(table, ZSTR_VAL(key), ZSTR_LEN(key), &len))) {
		return;
	}
	size_t left = (size_t)start < len ? len - (size_t)start : 0;
	size_t room = MIN(left, (size_t)most);
	zend_string *part = zend_string_alloc(room, false);
	tavola_buffer buffer = TAVOLA_BUFFER(ZSTR_VAL(part), room);
	if (!tavola_answered(tavola_get_range(table, ZSTR_VAL(key), ZSTR_LEN(key),
			(uint64_t)start, room, &buffer))) {
		zend_string_release(part);
		return;
	}
	ZSTR_LEN(part) = buffer.len;
	ZSTR_VAL(part)[buffer.len] = '\0';
	RETURN_STR(part);
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
