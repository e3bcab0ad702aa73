/*
 * JSON that reads back exactly as the value was. PHP's own encoder would also accept objects, cut
 * references and drop the fraction of 1.0, and so lose what they were.
 */

#include "php_tavola.h"

#define MOST_DEPTH 500

static bool append_value(smart_str *out, zval *value, bool keeps_references, int depth);

/* Returns the length of the UTF-8 character at `at`, or 0 if there is none. */
static size_t utf8_len(const unsigned char *at, size_t left)
{
	static const struct {
		unsigned char mask, lead;
		size_t len;
		uint32_t least;
	} forms[] = {{0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};
	for (size_t i = 0; i < 3; i++) {
		if ((at[0] & forms[i].mask) != forms[i].lead) {
			continue;
		}
		if (left < forms[i].len) {
			return 0;
		}
		uint32_t code = at[0] & (unsigned char)~forms[i].mask;
		for (size_t k = 1; k < forms[i].len; k++) {
			if ((at[k] & 0xC0) != 0x80) {
				return 0;
			}
			code = code << 6 | (at[k] & 0x3F);
		}
		bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
		return code < forms[i].least || is_surrogate || code > 0x10FFFF ? 0 : forms[i].len;
	}
	return 0;
}

static void append_escaped(smart_str *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char letters[] = "\"\\bfnrt";
	const char *found = memchr(plain, c, sizeof(plain) - 1);
	smart_str_appendc(out, '\\');
	if (found) {
		smart_str_appendc(out, letters[found - plain]);
		return;
	}
	smart_str_appendl(out, "u00", 3);
	smart_str_appendc(out, digits[c >> 4]);
	smart_str_appendc(out, digits[c & 15]);
}

static bool append_string(smart_str *out, const char *text, size_t len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t done = 0;
	smart_str_appendc(out, '"');
	for (size_t i = 0; i < len;) {
		unsigned char c = bytes[i];
		if (EXPECTED(c >= 0x20 && c < 0x80 && c != '"' && c != '\\')) {
			i++;
			continue;
		}
		if (c >= 0x80) {
			size_t step = utf8_len(bytes + i, len - i);
			if (step == 0) {
				return false;
			}
			i += step;
			continue;
		}
		smart_str_appendl(out, text + done, i - done);
		append_escaped(out, c);
		done = ++i;
	}
	smart_str_appendl(out, text + done, len - done);
	smart_str_appendc(out, '"');
	return true;
}

static bool append_list(smart_str *out, HashTable *list, bool keeps_references, int depth)
{
	zval *item;
	bool is_first = true;
	smart_str_appendc(out, '[');
	ZEND_HASH_FOREACH_VAL(list, item) {
		if (!is_first) {
			smart_str_appendc(out, ',');
		}
		is_first = false;
		if (!append_value(out, item, keeps_references, depth)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	smart_str_appendc(out, ']');
	return true;
}

static bool append_map(smart_str *out, HashTable *map, bool keeps_references, int depth)
{
	zend_ulong number;
	zend_string *name;
	zval *item;
	bool is_first = true;
	smart_str_appendc(out, '{');
	ZEND_HASH_FOREACH_KEY_VAL(map, number, name, item) {
		if (!is_first) {
			smart_str_appendc(out, ',');
		}
		is_first = false;
		if (name == NULL) {
			smart_str_appendc(out, '"');
			smart_str_append_long(out, (zend_long)number);
			smart_str_appendc(out, '"');
		} else if (!append_string(out, ZSTR_VAL(name), ZSTR_LEN(name))) {
			return false;
		}
		smart_str_appendc(out, ':');
		if (!append_value(out, item, keeps_references, depth)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	smart_str_appendc(out, '}');
	return true;
}

static bool append_value(smart_str *out, zval *value, bool keeps_references, int depth)
{
	if (Z_ISREF_P(value)) {
		if (keeps_references && Z_REFCOUNT_P(value) > 1) {
			return false;
		}
		value = Z_REFVAL_P(value);
	}
	switch (Z_TYPE_P(value)) {
		case IS_NULL:
			smart_str_appendl(out, "null", 4);
			return true;
		case IS_TRUE:
			smart_str_appendl(out, "true", 4);
			return true;
		case IS_FALSE:
			smart_str_appendl(out, "false", 5);
			return true;
		case IS_LONG:
			smart_str_append_long(out, Z_LVAL_P(value));
			return true;
		case IS_DOUBLE:
			if (!zend_finite(Z_DVAL_P(value))) {
				return false;
			}
			smart_str_append_double(out, Z_DVAL_P(value), -1, true);
			return true;
		case IS_STRING:
			return append_string(out, Z_STRVAL_P(value), Z_STRLEN_P(value));
		case IS_ARRAY:
			if (depth >= MOST_DEPTH) {
				return false;
			}
			return zend_array_is_list(Z_ARRVAL_P(value))
				? append_list(out, Z_ARRVAL_P(value), keeps_references, depth + 1)
				: append_map(out, Z_ARRVAL_P(value), keeps_references, depth + 1);
		default:
			return false;
	}
}

bool tavola_append_json(smart_str *out, zval *value, bool keeps_references)
{
	return append_value(out, value, keeps_references, 0);
}
