/* Values as php-memcached stores them, and the strings that the library writes to. */

#include "memcached.h"
#include "value_flags.h"
#include "room.h"

#include "ext/json/php_json.h"
#include "ext/standard/php_var.h"
#include "zend_exceptions.h"

zend_long mc_ini_number(const char *name, zend_long otherwise)
{
	zend_string *text = zend_ini_get_value(zend_string_init_interned(name, strlen(name), true));
	return text && ZSTR_LEN(text) ? ZEND_STRTOL(ZSTR_VAL(text), NULL, 10) : otherwise;
}

zend_long mc_ini_bytes(const char *name, zend_long otherwise)
{
	zend_string *key = zend_string_init_interned(name, strlen(name), true);
	zend_string *text = zend_ini_get_value(key);
	if (text == NULL || ZSTR_LEN(text) == 0) {
		return otherwise;
	}
#if PHP_VERSION_ID >= 80200
	return zend_ini_parse_quantity_warn(text, key);
#else
	return zend_atol(ZSTR_VAL(text), ZSTR_LEN(text));
#endif
}

const char *mc_ini_text(const char *name)
{
	const char *text = zend_ini_string_ex(name, strlen(name), false, NULL);
	return text ? text : "";
}

/* {{{ Strings */

void *mc_take(mc_room *room, size_t len)
{
	if (UNEXPECTED(!tavola_has_room(len))) {
		room->refused = len;
		return NULL;
	}
	room->string = zend_string_alloc(len, false);
	ZSTR_VAL(room->string)[len] = '\0';
	return ZSTR_VAL(room->string);
}

void mc_report_refused(const mc_room *room)
{
	if (UNEXPECTED(room->refused)) {
		zend_string_efree(zend_string_alloc(room->refused, false));
	}
}

/* }}} */

/* {{{ Writing */

static bool refuse(mc_object *self)
{
	if (!EG(exception)) {
		php_error_docref(NULL, E_WARNING, "could not serialize value");
	}
	return mc_done(self, RES_PAYLOAD_FAILURE);
}

static zend_string *double_text(double number)
{
	smart_str text = {0};
	if (zend_isnan(number)) {
		return zend_string_init("NaN", 3, false);
	}
	if (zend_isinf(number)) {
		const char *infinity = number > 0 ? "Infinity" : "-Infinity";
		return zend_string_init(infinity, strlen(infinity), false);
	}
	/* The shortest text that reads back equal. */
	smart_str_append_double(&text, number, -1, false);
	smart_str_0(&text);
	return text.s;
}

static zend_string *by_php(zval *value)
{
	smart_str text = {0};
	php_serialize_data_t data;
	PHP_VAR_SERIALIZE_INIT(data);
	php_var_serialize(&text, value, &data);
	PHP_VAR_SERIALIZE_DESTROY(data);
	if (EG(exception)) {
		smart_str_free(&text);
		return NULL;
	}
	smart_str_0(&text);
	return text.s;
}

static zend_string *by_json(zval *value)
{
	smart_str text = {0};
	if (php_json_encode(&text, value, 0) != SUCCESS || EG(exception)) {
		smart_str_free(&text);
		return NULL;
	}
	smart_str_0(&text);
	return text.s;
}

static zend_string *by_function(const char *name, size_t len, zval *value)
{
	zval result;
	if (!mc_call(name, len, value, 1, &result)) {
		return NULL;
	}
	if (Z_TYPE(result) != IS_STRING) {
		zval_ptr_dtor(&result);
		return NULL;
	}
	return Z_STR(result);
}

static zend_string *serialize(zend_long serializer, zval *value, uint32_t *flags)
{
	switch (serializer) {
		case SERIALIZER_PHP:
			*flags = TYPE_SERIALIZED;
			return by_php(value);
		case SERIALIZER_IGBINARY:
			*flags = TYPE_IGBINARY;
			return by_function(ZEND_STRL("igbinary_serialize"), value);
		case SERIALIZER_MSGPACK:
			*flags = TYPE_MSGPACK;
			return by_function(ZEND_STRL("msgpack_pack"), value);
		case SERIALIZER_NONE:
			return NULL;
		default:
			*flags = TYPE_JSON;
			return by_json(value);
	}
}

static zend_string *plain(zval *value, uint32_t *flags)
{
	switch (Z_TYPE_P(value)) {
		case IS_STRING:
			*flags = TYPE_STRING;
			return zend_string_copy(Z_STR_P(value));
		case IS_LONG:
			*flags = TYPE_LONG;
			return zend_long_to_str(Z_LVAL_P(value));
		case IS_DOUBLE:
			*flags = TYPE_DOUBLE;
			return double_text(Z_DVAL_P(value));
		case IS_TRUE:
		case IS_FALSE:
			*flags = TYPE_BOOL;
			return Z_TYPE_P(value) == IS_TRUE ? zend_string_init("1", 1, false) : ZSTR_EMPTY_ALLOC();
		default:
			return NULL;
	}
}

bool mc_encode(mc_object *self, zval *value, mc_encoded *encoded)
{
	const mc_settings *settings = &self->fleet->settings;
	ZVAL_DEREF(value);
	encoded->flags = 0;
	encoded->bytes = plain(value, &encoded->flags);
	if (encoded->bytes == NULL && Z_TYPE_P(value) != IS_RESOURCE) {
		encoded->bytes = serialize(settings->serializer, value, &encoded->flags);
	}
	if (encoded->bytes == NULL) {
		return refuse(self);
	}
	encoded->bytes = mc_compress(self, encoded->bytes, &encoded->flags);
	if (settings->user_flags >= 0) {
		encoded->flags |= (uint32_t)settings->user_flags << USER_SHIFT;
	}
	return true;
}

/* }}} */

/* {{{ Reading */

/* Reads a double: all of the text, as `prepend` may have made it anything. */
static bool read_double(zend_string *text, zval *value)
{
	const char *end = NULL;
	double number;
	if (zend_string_equals_literal(text, "NaN")) {
		number = ZEND_NAN;
	} else if (zend_string_equals_literal(text, "Infinity")) {
		number = ZEND_INFINITY;
	} else if (zend_string_equals_literal(text, "-Infinity")) {
		number = -ZEND_INFINITY;
	} else {
		number = zend_strtod(ZSTR_VAL(text), &end);
		if (end != ZSTR_VAL(text) + ZSTR_LEN(text) || ZSTR_LEN(text) == 0) {
			return false;
		}
	}
	ZVAL_DOUBLE(value, number);
	return true;
}

/* A counter of the server may have spaces behind it, after it was decremented. */
static bool read_long(zend_string *text, zval *value)
{
	char *end = NULL;
	errno = 0;
	zend_long number = ZEND_STRTOL(ZSTR_VAL(text), &end, 10);
	while (*end == ' ') {
		end++;
	}
	if (errno != 0 || ZSTR_LEN(text) == 0 || end != ZSTR_VAL(text) + ZSTR_LEN(text)) {
		return false;
	}
	ZVAL_LONG(value, number);
	return true;
}

static bool read_php(zend_string *text, zval *value)
{
	const unsigned char *at = (const unsigned char *)ZSTR_VAL(text);
	php_unserialize_data_t data;
	ZVAL_NULL(value);
	PHP_VAR_UNSERIALIZE_INIT(data);
	bool is_read = php_var_unserialize(value, &at, at + ZSTR_LEN(text), &data);
	PHP_VAR_UNSERIALIZE_DESTROY(data);
	if (!is_read) {
		zval_ptr_dtor(value);
		return false;
	}
	if (Z_ISREF_P(value)) {
		zend_unwrap_reference(value);
	}
	return true;
}

static bool read_by_function(const char *name, size_t len, zend_string *text, zval *value)
{
	zval argument;
	ZVAL_STR(&argument, text);
	return mc_call(name, len, &argument, 1, value);
}

/* Reads bytes that are not a string. */
static bool read_kind(const mc_settings *settings, zend_string *bytes, uint32_t type, zval *value)
{
	bool may_run_code = settings->serializer != SERIALIZER_NONE;
	switch (type) {
		case TYPE_LONG:
			return read_long(bytes, value);
		case TYPE_DOUBLE:
			return read_double(bytes, value);
		case TYPE_BOOL:
			ZVAL_BOOL(value, ZSTR_LEN(bytes) > 0 && ZSTR_VAL(bytes)[0] == '1');
			return true;
		case TYPE_SERIALIZED:
			return may_run_code && read_php(bytes, value);
		case TYPE_IGBINARY:
			return may_run_code && read_by_function(ZEND_STRL("igbinary_unserialize"), bytes, value);
		case TYPE_MSGPACK:
			return may_run_code && read_by_function(ZEND_STRL("msgpack_unpack"), bytes, value);
		case TYPE_JSON:
			php_json_decode_ex(value, ZSTR_VAL(bytes), ZSTR_LEN(bytes),
				settings->serializer == SERIALIZER_JSON ? 0 : PHP_JSON_OBJECT_AS_ARRAY,
				PHP_JSON_PARSER_DEFAULT_DEPTH);
			return JSON_G(error_code) == PHP_JSON_ERROR_NONE;
		default:
			return false;
	}
}

bool mc_decode(mc_object *self, zend_string *bytes, uint32_t flags, zval *value)
{
	if (flags & FLAG_COMPRESSED) {
		bytes = mc_decompress(bytes, flags);
		if (bytes == NULL) {
			php_error_docref(NULL, E_WARNING, "could not decompress value");
			return mc_done(self, RES_PAYLOAD_FAILURE);
		}
	}
	if (EXPECTED((flags & TYPE_MASK) == TYPE_STRING)) {
		ZVAL_STR(value, bytes);
		return true;
	}
	bool is_read = read_kind(&self->fleet->settings, bytes, flags & TYPE_MASK, value)
		&& !EG(exception);
	zend_string_release(bytes);
	if (!is_read) {
		ZVAL_UNDEF(value);
		if ((flags & TYPE_MASK) >= TYPE_SERIALIZED) {
			php_error_docref(NULL, E_WARNING, "could not unserialize value");
		}
		return mc_done(self, RES_PAYLOAD_FAILURE);
	}
	return true;
}

/* }}} */
