/* Values of PHP as bytes with flags, as bindings/README.md says, and reading them back. */

#ifndef TAVOLA_PHP_CODEC_H
#define TAVOLA_PHP_CODEC_H

#include "room.h"

#define TAVOLA_KIND_BYTES 0u
#define TAVOLA_KIND_TEXT 0x54010000u
#define TAVOLA_KIND_INTEGER 0x54020000u
#define TAVOLA_KIND_FLOAT 0x54030000u
#define TAVOLA_KIND_JSON 0x54040000u
#define TAVOLA_KIND_PHP 0x54110000u
#define TAVOLA_KIND_IGBINARY 0x54120000u

/* A value as it is stored. `tavola_encoded_free` releases what it holds. */
typedef struct {
	const char *bytes;
	size_t len;
	uint32_t flags;
	zend_string *owned;
	char small[40];
} tavola_encoded;

/* Encodes a value. Throws and returns false if the value cannot be stored: it is neither a scalar
 * nor JSON, and there is no serializer. */
bool tavola_encode(tavola_encoded *out, zval *value, tavola_serializer serializer);

static zend_always_inline void tavola_encoded_free(tavola_encoded *one)
{
	if (one->owned) {
		zend_string_release(one->owned);
	}
}

/* Writes a number to `small` as decimal text. */
void tavola_encode_long(tavola_encoded *out, zend_long number);

/* Decodes a value into `out`, and takes over `bytes`. Bytes that do not decode become a string. */
void tavola_decode(zval *out, zend_string *bytes, uint32_t flags, tavola_serializer serializer);

/* Reads decimal text such as "-3". Returns false if it is no integer of PHP. */
bool tavola_read_long(const char *text, size_t len, zend_long *number);

/* Appends a value as JSON. Returns false if it is not exactly JSON: there is an object, a string
 * that is not UTF-8, a number that is not finite, or a reference, unless `keeps_references` is
 * false. Then a reference becomes its value. */
bool tavola_append_json(smart_str *out, zval *value, bool keeps_references);

/* Reads the name of a serializer. Throws and returns false if there is none of this name. */
bool tavola_read_serializer(const char *name, size_t len, tavola_serializer *serializer);

/* Serializes a value in any case. Throws and returns false if that fails. */
bool tavola_serialize(zval *value, tavola_serializer serializer, zend_string **bytes);

/* A result of the library, which becomes a string of PHP. */
typedef struct {
	zend_string *string;
	size_t wanted;
} tavola_result;

/* The callback that makes the string. It returns NULL if the memory limit of PHP is near, because
 * the allocation could then end in a longjmp. */
void *tavola_make_string(void *user, size_t len);

#define TAVOLA_RESULT_BUFFER(result) TAVOLA_BUFFER_ALLOC(tavola_make_string, result)

/* Returns the string of a result that the library has filled. */
static zend_always_inline zend_string *tavola_result_string(tavola_result *result)
{
	return result->string ? result->string : ZSTR_EMPTY_ALLOC();
}

#endif
