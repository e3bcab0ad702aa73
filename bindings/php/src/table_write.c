/* Writing keys. */

#include "php_tavola.h"

bool tavola_encode_for(const tavola_php_table *table, tavola_encoded *out, zval *value)
{
	if (!tavola_encode(out, value, table->serializer)) {
		return false;
	}
	if (UNEXPECTED(table->handle->is_fixed && out->flags != TAVOLA_KIND_BYTES)) {
		tavola_encoded_free(out);
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a table with fixed lengths stores strings only; convert the value to a string");
		return false;
	}
	return true;
}

tavola_status tavola_write_encoded(
	const tavola_php_table *table, zend_string *key, const tavola_encoded *value,
	const tavola_writing *how)
{
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	tavola_store_options options = TAVOLA_INIT(tavola_store_options);
	attributes.ttl_ms = how->ttl_ms;
	attributes.flags = value->flags;
	options.condition = how->condition;
	options.token = how->token;
	options.tags = how->tags;
	options.keep = how->keeps;
	options.attributes = how->keeps ? NULL : &attributes;
	return tavola_store(table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key),
		value->bytes, value->len, &options, NULL);
}

/* Encodes and writes a value. */
static tavola_status write_value(
	const tavola_php_table *table, zend_string *key, zval *value, const tavola_writing *how)
{
	tavola_encoded encoded;
	if (!tavola_encode_for(table, &encoded, value)) {
		return TAVOLA_OK;
	}
	tavola_status status = tavola_write_encoded(table, key, &encoded, how);
	tavola_encoded_free(&encoded);
	return status;
}

/* `set`, `add` and `replace`. */
static void write_if(INTERNAL_FUNCTION_PARAMETERS, tavola_condition condition)
{
	zend_string *key;
	zval *value, *ttl = NULL, *tags = NULL;
	tavola_tags room = TAVOLA_INIT(tavola_tags);
	tavola_writing how = {.condition = condition};
	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_ZVAL(tags)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_ttl_ms(ttl, &how.ttl_ms)
			|| (tags && !tavola_tags_argument(self, 4, tags, &room, &how.tags))) {
		RETURN_THROWS();
	}
	bool is_done = tavola_answered(write_value(self, key, value, &how));
	if (UNEXPECTED(EG(exception))) {
		RETURN_THROWS();
	}
	RETURN_BOOL(is_done);
}

ZEND_METHOD(Tavola_Table, set)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_ALWAYS);
}

ZEND_METHOD(Tavola_Table, add)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_ABSENT);
}

ZEND_METHOD(Tavola_Table, replace)
{
	write_if(INTERNAL_FUNCTION_PARAM_PASSTHRU, TAVOLA_CONDITION_PRESENT);
}

ZEND_METHOD(Tavola_Table, setBytes)
{
	zend_string *key, *bytes;
	zend_long flags = 0;
	zval *ttl = NULL, *tags = NULL;
	tavola_tags room = TAVOLA_INIT(tavola_tags);
	tavola_writing how = {.condition = TAVOLA_CONDITION_ALWAYS};
	ZEND_PARSE_PARAMETERS_START(2, 5)
		Z_PARAM_STR(key)
		Z_PARAM_STR(bytes)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(flags)
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_ZVAL(tags)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (flags < 0 || flags > (zend_long)UINT32_MAX) {
		zend_argument_value_error(3, "must be a number of 32 bits");
		RETURN_THROWS();
	}
	if (!tavola_ttl_ms(ttl, &how.ttl_ms)
			|| (tags && !tavola_tags_argument(self, 5, tags, &room, &how.tags))) {
		RETURN_THROWS();
	}
	tavola_encoded encoded = {
		.bytes = ZSTR_VAL(bytes), .len = ZSTR_LEN(bytes), .flags = (uint32_t)flags};
	RETURN_BOOL(tavola_answered(tavola_write_encoded(self, key, &encoded, &how)));
}

ZEND_METHOD(Tavola_Table, cas)
{
	zend_string *key;
	zend_long token;
	zval *value, *ttl = NULL;
	tavola_writing how = {.condition = TAVOLA_CONDITION_TOKEN};
	ZEND_PARSE_PARAMETERS_START(3, 4)
		Z_PARAM_STR(key)
		Z_PARAM_LONG(token)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(ttl)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	how.token = (uint64_t)token;
	if (!tavola_ttl_ms(ttl, &how.ttl_ms)) {
		RETURN_THROWS();
	}
	bool is_done = tavola_answered(write_value(self, key, value, &how));
	if (!EG(exception)) {
		RETURN_BOOL(is_done);
	}
}

ZEND_METHOD(Tavola_Table, append)
{
	zend_string *key, *bytes;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_STR(bytes)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(tavola_append(self->handle->table,
		ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(bytes), ZSTR_LEN(bytes))));
}

ZEND_METHOD(Tavola_Table, prepend)
{
	zend_string *key, *bytes;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_STR(bytes)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(tavola_prepend(self->handle->table,
		ZSTR_VAL(key), ZSTR_LEN(key), ZSTR_VAL(bytes), ZSTR_LEN(bytes))));
}

ZEND_METHOD(Tavola_Table, delete)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(
		tavola_remove(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key))));
}

/* Reads a key, and changes it if it still has this value, until no other process came between. The
 * library's own `take` and `swap` do not return the flags, which say what the value is. */
ZEND_METHOD(Tavola_Table, take)
{
	zend_string *key;
	zval *fallback = NULL;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	uint64_t token;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(fallback)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	while (tavola_answered(tavola_read_value(self, key, return_value, &has, &token))) {
		tavola_status status = tavola_compare_and_remove(
			self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), token);
		if (tavola_answered(status)) {
			return;
		}
		zval_ptr_dtor(return_value);
		ZVAL_NULL(return_value);
		if (EG(exception)) {
			RETURN_THROWS();
		}
	}
	if (fallback && !EG(exception)) {
		RETURN_COPY(fallback);
	}
}

/* Stores an encoded value and reads the old one. Returns false if there was none. */
static bool swap_value(
	const tavola_php_table *table, zend_string *key, const tavola_encoded *value, zval *old)
{
	for (;;) {
		tavola_attributes has = TAVOLA_INIT(tavola_attributes);
		tavola_writing how = {.condition = TAVOLA_CONDITION_TOKEN};
		tavola_status status = tavola_read_value(table, key, old, &has, &how.token);
		bool is_there = tavola_answered(status);
		if (EG(exception)) {
			return false;
		}
		if (!is_there) {
			how.condition = TAVOLA_CONDITION_ABSENT;
			how.token = 0;
		}
		if (tavola_answered(tavola_write_encoded(table, key, value, &how))) {
			return is_there;
		}
		if (is_there) {
			zval_ptr_dtor(old);
			ZVAL_NULL(old);
		}
		if (EG(exception)) {
			return false;
		}
	}
}

ZEND_METHOD(Tavola_Table, swap)
{
	zend_string *key;
	zval *value, *fallback = NULL;
	tavola_encoded encoded;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(key)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(fallback)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_encode_for(self, &encoded, value)) {
		RETURN_THROWS();
	}
	bool is_there = swap_value(self, key, &encoded, return_value);
	tavola_encoded_free(&encoded);
	if (!is_there && fallback && !EG(exception)) {
		RETURN_COPY(fallback);
	}
}

/* Calls the function of `update` with the old value. Returns false if it threw. */
static bool ask(zend_fcall_info *call, zend_fcall_info_cache *cache, zval *old, zval *now)
{
	ZVAL_UNDEF(now);
	call->retval = now;
	call->params = old;
	call->param_count = 1;
	return zend_call_function(call, cache) == SUCCESS && !EG(exception) && !Z_ISUNDEF_P(now);
}

/* Stores what the function returned, or removes the key if that is null. */
static tavola_status change_to(
	const tavola_php_table *table, zend_string *key, zval *now, bool is_there, uint64_t token)
{
	tavola_writing how = {.condition = TAVOLA_CONDITION_ABSENT};
	if (is_there) {
		how.condition = TAVOLA_CONDITION_TOKEN;
		how.token = token;
	}
	if (Z_TYPE_P(now) == IS_NULL) {
		return is_there
			? tavola_compare_and_remove(
				table->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), token)
			: TAVOLA_OK;
	}
	return write_value(table, key, now, &how);
}

ZEND_METHOD(Tavola_Table, update)
{
	zend_string *key;
	zend_fcall_info call;
	zend_fcall_info_cache cache;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_FUNC(call, cache)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	for (;;) {
		tavola_attributes has = TAVOLA_INIT(tavola_attributes);
		uint64_t token = 0;
		zval old, now;
		ZVAL_NULL(&old);
		bool is_there = tavola_answered(tavola_read_value(self, key, &old, &has, &token));
		bool is_asked = !EG(exception) && ask(&call, &cache, &old, &now);
		zval_ptr_dtor(&old);
		if (!is_asked) {
			RETURN_THROWS();
		}
		bool is_done = tavola_answered(change_to(self, key, &now, is_there, token));
		if (is_done && !EG(exception)) {
			RETURN_COPY_VALUE(&now);
		}
		zval_ptr_dtor(&now);
		if (EG(exception)) {
			RETURN_THROWS();
		}
	}
}

/* {{{ Times */

ZEND_METHOD(Tavola_Table, touch)
{
	zend_string *key;
	zval *ttl;
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(key)
		Z_PARAM_NUMBER_OR_NULL(ttl)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_ttl_ms(ttl, &attributes.ttl_ms)) {
		RETURN_THROWS();
	}
	if (ttl == NULL) {
		attributes.ttl_ms = TAVOLA_TTL_NEVER;
	}
	RETURN_BOOL(tavola_answered(tavola_touch(
		self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), &attributes)));
}

ZEND_METHOD(Tavola_Table, persist)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	RETURN_BOOL(tavola_answered(
		tavola_persist(self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key))));
}

/* }}} */
