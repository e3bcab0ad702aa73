#include "php_tavola.h"

#include "ext/json/php_json.h"
#include "ext/json/php_json_parser.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/php_var.h"

void *tavola_make_string(void *user, size_t len)
{
	tavola_result *result = user;
	result->wanted = len;
	if (len == 0) {
		return NULL;
	}
	if (UNEXPECTED(!tavola_has_room(len))) {
		return NULL;
	}
	result->string = zend_string_alloc(len, false);
	ZSTR_VAL(result->string)[len] = '\0';
	return ZSTR_VAL(result->string);
}

/* {{{ Writing */

void tavola_encode_long(tavola_encoded *out, zend_long number)
{
	char *end = out->small + sizeof(out->small) - 1;
	char *start = zend_print_long_to_buf(end, number);
	out->bytes = start;
	out->len = (size_t)(end - start);
	out->flags = TAVOLA_KIND_INTEGER;
	out->owned = NULL;
}

static void encode_double(tavola_encoded *out, double number)
{
	const char *special = zend_isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
	out->flags = TAVOLA_KIND_FLOAT;
	if (!zend_finite(number)) {
		out->bytes = special;
		out->len = strlen(special);
		return;
	}
	smart_str text = {0};
	smart_str_append_double(&text, number, -1, true);
	out->owned = smart_str_extract(&text);
	out->bytes = ZSTR_VAL(out->owned);
	out->len = ZSTR_LEN(out->owned);
}

static void keep(tavola_encoded *out, zend_string *string, uint32_t flags)
{
	out->owned = string;
	out->bytes = ZSTR_VAL(string);
	out->len = ZSTR_LEN(string);
	out->flags = flags;
}

static bool encode_php(tavola_encoded *out, zval *value)
{
	smart_str text = {0};
	php_serialize_data_t data;
	/* A state of its own, also within `__serialize` of an object. */
	BG(serialize_lock)++;
	PHP_VAR_SERIALIZE_INIT(data);
	php_var_serialize(&text, value, &data);
	PHP_VAR_SERIALIZE_DESTROY(data);
	BG(serialize_lock)--;
	if (EG(exception)) {
		smart_str_free(&text);
		return false;
	}
	keep(out, smart_str_extract(&text), TAVOLA_KIND_PHP);
	return true;
}

/* Calls a function of the igbinary extension, which has no link-time interface that is stable. */
static bool call_igbinary(const char *name, size_t len, zval *argument, zval *result)
{
	zend_function *function = zend_hash_str_find_ptr(EG(function_table), name, len);
	if (function == NULL) {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"the serializer igbinary needs the extension igbinary, which is not loaded; load it "
			"or open the table with another serializer");
		return false;
	}
	ZVAL_UNDEF(result);
	zend_call_known_function(function, NULL, NULL, result, 1, argument, NULL);
	return EG(exception) == NULL && Z_TYPE_P(result) != IS_UNDEF;
}

static bool encode_igbinary(tavola_encoded *out, zval *value)
{
	zval result;
	if (!call_igbinary(ZEND_STRL("igbinary_serialize"), value, &result)) {
		return false;
	}
	if (Z_TYPE(result) != IS_STRING) {
		zval_ptr_dtor(&result);
		tavola_throw_text(TAVOLA_ERR_ARGUMENT, "igbinary cannot serialize this value");
		return false;
	}
	keep(out, Z_STR(result), TAVOLA_KIND_IGBINARY);
	return true;
}

static ZEND_COLD bool refuse(zval *value)
{
	if (Z_TYPE_P(value) == IS_ARRAY) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"this array is not JSON: it holds an object, a resource, a number that is not finite, "
			"a string that is not UTF-8, or too many levels; open the table with "
			"'serializer' => 'php' to store it");
	} else {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a value of type %s cannot be stored without a serializer; open the table with "
			"'serializer' => 'php' to store it", zend_zval_type_name(value));
	}
	return false;
}

static bool encode_other(tavola_encoded *out, zval *value, tavola_serializer serializer)
{
	if (Z_TYPE_P(value) != IS_OBJECT && Z_TYPE_P(value) != IS_RESOURCE) {
		smart_str text = {0};
		if (tavola_append_json(&text, value, serializer != TAVOLA_SERIALIZER_NONE)) {
			keep(out, smart_str_extract(&text), TAVOLA_KIND_JSON);
			return true;
		}
		smart_str_free(&text);
	}
	if (Z_TYPE_P(value) != IS_RESOURCE && serializer == TAVOLA_SERIALIZER_PHP) {
		return encode_php(out, value);
	}
	if (Z_TYPE_P(value) != IS_RESOURCE && serializer == TAVOLA_SERIALIZER_IGBINARY) {
		return encode_igbinary(out, value);
	}
	return refuse(value);
}

bool tavola_serialize(zval *value, tavola_serializer serializer, zend_string **bytes)
{
	tavola_encoded encoded;
	if (Z_TYPE_P(value) == IS_RESOURCE) {
		return refuse(value);
	}
	bool is_done = serializer == TAVOLA_SERIALIZER_PHP
		? encode_php(&encoded, value)
		: encode_igbinary(&encoded, value);
	*bytes = is_done ? encoded.owned : NULL;
	return is_done;
}

bool tavola_encode(tavola_encoded *out, zval *value, tavola_serializer serializer)
{
	ZVAL_DEREF(value);
	out->owned = NULL;
	if (EXPECTED(Z_TYPE_P(value) == IS_STRING)) {
		out->bytes = Z_STRVAL_P(value);
		out->len = Z_STRLEN_P(value);
		out->flags = TAVOLA_KIND_BYTES;
		return true;
	}
	if (Z_TYPE_P(value) == IS_LONG) {
		tavola_encode_long(out, Z_LVAL_P(value));
		return true;
	}
	if (Z_TYPE_P(value) == IS_DOUBLE) {
		encode_double(out, Z_DVAL_P(value));
		return true;
	}
	return encode_other(out, value, serializer);
}

/* }}} */

/* {{{ Reading */

bool tavola_read_long(const char *text, size_t len, zend_long *number)
{
	bool is_negative = len > 0 && text[0] == '-';
	size_t i = is_negative ? 1 : 0;
	zend_ulong limit = is_negative ? (zend_ulong)ZEND_LONG_MAX + 1 : (zend_ulong)ZEND_LONG_MAX;
	zend_ulong sum = 0;
	if (i == len) {
		return false;
	}
	for (; i < len; i++) {
		unsigned digit = (unsigned char)text[i] - (unsigned)'0';
		if (digit > 9 || sum > (limit - digit) / 10) {
			return false;
		}
		sum = sum * 10 + digit;
	}
	*number = is_negative ? (zend_long)(0 - sum) : (zend_long)sum;
	return true;
}

static bool read_double(zend_string *text, double *number)
{
	const char *end = NULL;
	if (zend_string_equals_literal(text, "nan")) {
		*number = ZEND_NAN;
		return true;
	}
	if (zend_string_equals_literal(text, "inf") || zend_string_equals_literal(text, "-inf")) {
		*number = ZSTR_VAL(text)[0] == '-' ? -ZEND_INFINITY : ZEND_INFINITY;
		return true;
	}
	char first = ZSTR_VAL(text)[0];
	if (first != '-' && first != '.' && (first < '0' || first > '9')) {
		return false;
	}
	*number = zend_strtod(ZSTR_VAL(text), &end);
	return end == ZSTR_VAL(text) + ZSTR_LEN(text);
}

static bool read_json(zval *out, zend_string *text)
{
	php_json_parser parser;
	php_json_parser_init(&parser, out, ZSTR_VAL(text), ZSTR_LEN(text),
		PHP_JSON_OBJECT_AS_ARRAY, PHP_JSON_PARSER_DEFAULT_DEPTH);
	return php_json_parse(&parser) == 0;
}

static bool read_php(zval *out, zend_string *text)
{
	const unsigned char *at = (const unsigned char *)ZSTR_VAL(text);
	php_unserialize_data_t data;
	bool is_read;
	ZVAL_NULL(out);
	BG(serialize_lock)++;
	PHP_VAR_UNSERIALIZE_INIT(data);
	is_read = php_var_unserialize(out, &at, at + ZSTR_LEN(text), &data)
		&& at == (const unsigned char *)ZSTR_VAL(text) + ZSTR_LEN(text);
	PHP_VAR_UNSERIALIZE_DESTROY(data);
	BG(serialize_lock)--;
	if (!is_read) {
		zval_ptr_dtor(out);
	} else if (Z_ISREF_P(out)) {
		zend_unwrap_reference(out);
	}
	return is_read;
}

static bool read_igbinary(zval *out, zend_string *text)
{
	zval argument, result;
	ZVAL_STR(&argument, text);
	/* Broken bytes are returned as they are, without a warning. */
	int reporting = EG(error_reporting);
	EG(error_reporting) = 0;
	bool is_read = call_igbinary(ZEND_STRL("igbinary_unserialize"), &argument, &result);
	EG(error_reporting) = reporting;
	if (!is_read) {
		return false;
	}
	ZVAL_COPY_VALUE(out, &result);
	/* The values false and null are stored as JSON, so here they mean that it failed. */
	return Z_TYPE(result) > IS_FALSE;
}

/* Decodes a value that is not bytes. Returns false if it does not decode. */
static bool decode_kind(zval *out, zend_string *bytes, uint32_t kind, tavola_serializer serializer)
{
	zend_long number;
	double real;
	switch (kind) {
		case TAVOLA_KIND_INTEGER:
			if (!tavola_read_long(ZSTR_VAL(bytes), ZSTR_LEN(bytes), &number)) {
				return false;
			}
			ZVAL_LONG(out, number);
			return true;
		case TAVOLA_KIND_FLOAT:
			if (!read_double(bytes, &real)) {
				return false;
			}
			ZVAL_DOUBLE(out, real);
			return true;
		case TAVOLA_KIND_JSON:
			return read_json(out, bytes);
		case TAVOLA_KIND_PHP:
			return serializer != TAVOLA_SERIALIZER_NONE && read_php(out, bytes);
		case TAVOLA_KIND_IGBINARY:
			return serializer != TAVOLA_SERIALIZER_NONE && read_igbinary(out, bytes);
		default:
			return false;
	}
}

void tavola_decode(zval *out, zend_string *bytes, uint32_t flags, tavola_serializer serializer)
{
	if (EXPECTED(flags == TAVOLA_KIND_BYTES) || flags >> 24 != 0x54
			|| !decode_kind(out, bytes, flags & 0xFFFF0000u, serializer)) {
		ZVAL_STR(out, bytes);
		return;
	}
	zend_string_release(bytes);
}

/* }}} */

static bool is_name(const char *name, size_t len, const char *other)
{
	return len == strlen(other) && memcmp(name, other, len) == 0;
}

bool tavola_read_serializer(const char *name, size_t len, tavola_serializer *serializer)
{
	if (len == 0) {
		*serializer = TAVOLA_SERIALIZER_NONE;
	} else if (is_name(name, len, "php")) {
		*serializer = TAVOLA_SERIALIZER_PHP;
	} else if (is_name(name, len, "igbinary")) {
		*serializer = TAVOLA_SERIALIZER_IGBINARY;
	} else {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"there is no serializer %.*s; use 'php', 'igbinary' or null", (int)len, name);
		return false;
	}
	return true;
}
