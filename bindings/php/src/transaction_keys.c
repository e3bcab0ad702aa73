/* Reading and writing keys in a transaction. */

#include "php_tavola.h"
#include "transaction.h"

/* {{{ Reading */

static tavola_status read_bytes(
	tavola_txn *txn, zend_string *key, zend_string **value, tavola_attributes *attributes)
{
	tavola_result result = {NULL, 0};
	tavola_buffer buffer = TAVOLA_RESULT_BUFFER(&result);
	tavola_status status = tavola_txn_get(txn, ZSTR_VAL(key), ZSTR_LEN(key), &buffer, attributes);
	if (EXPECTED(status == TAVOLA_OK)) {
		*value = tavola_result_string(&result);
		return status;
	}
	size_t wanted = result.wanted;
	while (status == TAVOLA_ERR_STOPPED || status == TAVOLA_ERR_TOO_SMALL) {
		/* Memory is short: make the string here, where PHP may end the script. */
		zend_string *room = zend_string_alloc(wanted, false);
		buffer = (tavola_buffer)TAVOLA_BUFFER(ZSTR_VAL(room), wanted);
		status = tavola_txn_get(txn, ZSTR_VAL(key), ZSTR_LEN(key), &buffer, attributes);
		if (status == TAVOLA_OK) {
			ZSTR_LEN(room) = buffer.len;
			ZSTR_VAL(room)[buffer.len] = '\0';
			*value = room;
			return status;
		}
		zend_string_release(room);
		wanted = buffer.len;
	}
	return status;
}

/* `get` and `take`. */
static void read_key(INTERNAL_FUNCTION_PARAMETERS, bool removes)
{
	zend_string *key, *bytes;
	zval *fallback = NULL;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(fallback)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	if (!tavola_answered(read_bytes(self->txn, key, &bytes, &has))) {
		if (fallback && !EG(exception)) {
			RETURN_COPY(fallback);
		}
		return;
	}
	if (removes && !tavola_answered(
			tavola_txn_remove(self->txn, ZSTR_VAL(key), ZSTR_LEN(key)))) {
		zend_string_release(bytes);
		RETURN_THROWS();
	}
	tavola_decode(return_value, bytes, has.flags, table_of(self)->serializer);
}

ZEND_METHOD(Tavola_Transaction, get)
{
	read_key(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Transaction, take)
{
	read_key(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

ZEND_METHOD(Tavola_Transaction, exists)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	RETURN_BOOL(tavola_answered(
		tavola_txn_contains(self->txn, ZSTR_VAL(key), ZSTR_LEN(key))));
}

/* }}} */

/* {{{ Writing */

static tavola_status write_encoded(
	tavola_txn *txn, zend_string *key, const tavola_encoded *value, const tavola_writing *how)
{
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	attributes.ttl_ms = how->ttl_ms;
	attributes.flags = value->flags;
	__typeof__(tavola_txn_set_with) *write = tavola_txn_set_with;
	if (how->condition == TAVOLA_CONDITION_ABSENT) {
		write = tavola_txn_add_with;
	} else if (how->condition == TAVOLA_CONDITION_PRESENT) {
		write = tavola_txn_replace_with;
	}
	return write(txn, ZSTR_VAL(key), ZSTR_LEN(key),
		value->bytes, value->len, &attributes, how->tags);
}

/* `set`, `add` and `replace`. */
static void write_if(INTERNAL_FUNCTION_PARAMETERS, tavola_condition condition)
{
	zend_string *key;
	zval *value, *ttl = NULL, *tags = NULL;
	tavola_encoded encoded;
	tavola_tags room = TAVOLA_INIT(tavola_tags);
	tavola_writing how = {.condition = condition};
	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_ZVAL(tags)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	const tavola_php_table *table = table_of(self);
	if (!tavola_ttl_ms(ttl, &how.ttl_ms)
			|| (tags && !tavola_tags_argument(table, 4, tags, &room, &how.tags))
			|| !tavola_encode_for(table, &encoded, value)) {
		RETURN_THROWS();
	}
	bool is_done = tavola_is_open(self)
		&& tavola_answered(write_encoded(self->txn, key, &encoded, &how));
	tavola_encoded_free(&encoded);
	RETURN_BOOL(is_done);
}

ZEND_METHOD(Tavola_Transaction, set)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_ALWAYS);
}

ZEND_METHOD(Tavola_Transaction, add)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_ABSENT);
}

ZEND_METHOD(Tavola_Transaction, replace)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_PRESENT);
}

ZEND_METHOD(Tavola_Transaction, append)
{
	zend_string *key, *bytes;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_STR(bytes)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	RETURN_BOOL(tavola_answered(tavola_txn_append(self->txn,
		ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(bytes), ZSTR_LEN(bytes))));
}

ZEND_METHOD(Tavola_Transaction, delete)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	RETURN_BOOL(tavola_answered(
		tavola_txn_remove(self->txn, ZSTR_VAL(key), ZSTR_LEN(key))));
}

/* Adds to a counter. One that is missing begins with `initial`, and is created as `how` says. */
static tavola_status add_number(tavola_txn *txn, zend_string *key, int64_t by, int64_t initial,
	const tavola_writing *how, int64_t *now)
{
	tavola_encoded encoded;
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	tavola_number_options options = TAVOLA_INIT(tavola_number_options);
	if (initial != 0) {
		/* The library's own call begins with 0. */
		tavola_status there = tavola_txn_contains(txn, ZSTR_VAL(key), ZSTR_LEN(key));
		if (there == TAVOLA_NOT_FOUND && !__builtin_add_overflow(initial, by, now)) {
			tavola_encode_long(&encoded, *now);
			return write_encoded(txn, key, &encoded, how);
		}
		if (there == TAVOLA_NOT_FOUND) {
			tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
				"the sum is not a number of 64 bits with sign; the counter stays as it is");
			return TAVOLA_ERR_BAD_OPTION;
		}
		if (there < 0) {
			return there;
		}
	}
	tavola_encode_long(&encoded, 0);
	attributes.flags = encoded.flags;
	attributes.ttl_ms = how->ttl_ms;
	options.attributes = &attributes;
	return tavola_txn_add_number_with(txn, ZSTR_VAL(key), ZSTR_LEN(key), by, &options, now);
}

/* `inc` and `dec`. */
static void count_by(INTERNAL_FUNCTION_PARAMETERS, bool is_down)
{
	zend_string *key;
	zend_long by = 1, initial = 0;
	zval *ttl = NULL;
	tavola_writing how = {.condition = TAVOLA_CONDITION_ALWAYS};
	int64_t now = 0;
	ZEND_PARSE_PARAMETERS_START(1, 4)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(by)
		Z_PARAM_LONG(initial)
		Z_PARAM_NUMBER_OR_NULL(ttl)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	if (!tavola_ttl_ms(ttl, &how.ttl_ms)) {
		RETURN_THROWS();
	}
	if (is_down && by == ZEND_LONG_MIN) {
		zend_argument_value_error(2, "must be greater than PHP_INT_MIN");
		RETURN_THROWS();
	}
	by = is_down ? -by : by;
	if (tavola_did(add_number(self->txn, key, by, initial, &how, &now))) {
		RETURN_LONG(now);
	}
}

ZEND_METHOD(Tavola_Transaction, inc)
{
	count_by(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Transaction, dec)
{
	count_by(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}

/* }}} */
