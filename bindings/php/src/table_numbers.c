/* Counters: signed numbers that are decimal text. */

#include "php_tavola.h"

/* Adds to a key that begins with `initial`. The library's own call begins with 0, so this one reads
 * and stores until no other process came between. */
static tavola_status add_from(
	const tavola_php_table *table, zend_string *key, int64_t by, const tavola_writing *creation,
	int64_t initial, int64_t *now)
{
	for (;;) {
		tavola_writing how = *creation;
		tavola_attributes has = TAVOLA_INIT(tavola_attributes);
		tavola_encoded encoded;
		zend_string *bytes;
		zend_long number = initial;
		tavola_status status = tavola_read_bytes(
			table->handle->table, key, &bytes, &has, &how.token);
		how.condition = TAVOLA_CONDITION_ABSENT;
		if (status == TAVOLA_OK) {
			bool is_number = tavola_read_long(ZSTR_VAL(bytes), ZSTR_LEN(bytes), &number);
			zend_string_release(bytes);
			if (!is_number) {
				/* The library refuses it, too, and has the sentence for it. */
				return tavola_add_number(
					table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), by, now);
			}
			how.condition = TAVOLA_CONDITION_TOKEN;
			how.keeps = true;
		} else if (status == TAVOLA_NOT_FOUND) {
			how.token = 0;
		} else {
			return status;
		}
		if (__builtin_add_overflow(number, by, now)) {
			tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
				"the sum is not a number of 64 bits with sign; the counter stays as it is");
			return TAVOLA_OK;
		}
		tavola_encode_long(&encoded, *now);
		status = tavola_write_encoded(table, key, &encoded, &how);
		if (status <= 0) {
			return status;
		}
	}
}

tavola_status tavola_add_to(
	const tavola_php_table *table, zend_string *key, int64_t by, int64_t initial, int64_t ttl_ms,
	int64_t *now)
{
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	tavola_number_options options = TAVOLA_INIT(tavola_number_options);
	if (initial != 0) {
		tavola_writing creation = {.ttl_ms = ttl_ms};
		return add_from(table, key, by, &creation, initial, now);
	}
	attributes.flags = TAVOLA_KIND_INTEGER;
	attributes.ttl_ms = ttl_ms;
	options.attributes = &attributes;
	return tavola_add_number_with(
		table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), by, &options, now);
}

static void count_by(INTERNAL_FUNCTION_PARAMETERS, bool is_down)
{
	zend_string *key;
	zend_long by = 1, initial = 0;
	zval *ttl = NULL;
	int64_t ttl_ms, now = 0;
	ZEND_PARSE_PARAMETERS_START(1, 4)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(by)
		Z_PARAM_LONG(initial)
		Z_PARAM_NUMBER_OR_NULL(ttl)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_ttl_ms(ttl, &ttl_ms)) {
		RETURN_THROWS();
	}
	if (is_down && by == ZEND_LONG_MIN) {
		zend_argument_value_error(2, "must be greater than PHP_INT_MIN");
		RETURN_THROWS();
	}
	if (tavola_did(tavola_add_to(self, key, is_down ? -by : by, initial, ttl_ms, &now))) {
		RETURN_LONG(now);
	}
}

ZEND_METHOD(Tavola_Table, inc)
{
	count_by(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Table, dec)
{
	count_by(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}
