/* Compressed values: the length before, in four bytes, little-endian, then the bytes. */

#include "memcached.h"
#include "value_flags.h"

bool mc_call(const char *name, size_t len, zval *arguments, uint32_t count, zval *result)
{
	zval function;
	if (!zend_hash_str_exists(EG(function_table), name, len)) {
		return false;
	}
	ZVAL_UNDEF(result);
	ZVAL_STRINGL(&function, name, len);
	bool is_done = call_user_function(NULL, NULL, &function, result, count, arguments) == SUCCESS
		&& !EG(exception) && Z_TYPE_P(result) != IS_UNDEF;
	zval_ptr_dtor(&function);
	return is_done;
}

/* Returns the compressed bytes behind room for the length, or NULL. */
static zend_string *by_zlib(zend_string *bytes)
{
	zval argument, result;
	ZVAL_STR(&argument, bytes);
	if (!mc_call(ZEND_STRL("gzcompress"), &argument, 1, &result) || Z_TYPE(result) != IS_STRING) {
		return NULL;
	}
	zend_string *made = zend_string_alloc(Z_STRLEN(result) + LENGTH_BYTES, false);
	memcpy(ZSTR_VAL(made) + LENGTH_BYTES, Z_STRVAL(result), Z_STRLEN(result) + 1);
	zval_ptr_dtor(&result);
	return made;
}

static zend_string *by_fastlz(zend_string *bytes)
{
	zend_string *made = zend_string_alloc(mc_fastlz_bound(ZSTR_LEN(bytes)) + LENGTH_BYTES, false);
	size_t len = mc_fastlz_compress((const unsigned char *)ZSTR_VAL(bytes), ZSTR_LEN(bytes),
		(unsigned char *)ZSTR_VAL(made) + LENGTH_BYTES);
	made = zend_string_truncate(made, len + LENGTH_BYTES, false);
	ZSTR_VAL(made)[ZSTR_LEN(made)] = '\0';
	return made;
}

zend_string *mc_compress(mc_object *self, zend_string *bytes, uint32_t *flags)
{
	const mc_settings *settings = &self->fleet->settings;
	size_t len = ZSTR_LEN(bytes);
	if (!settings->is_compressed || len > UINT32_MAX
			|| (zend_long)len < mc_ini_number("memcached.compression_threshold", 2000)) {
		return bytes;
	}
	bool is_zlib = settings->compression == COMPRESSION_ZLIB;
	zend_string *made = is_zlib ? by_zlib(bytes) : by_fastlz(bytes);
	double factor = zend_strtod(mc_ini_text("memcached.compression_factor"), NULL);
	if (made == NULL) {
		return bytes;
	}
	if ((double)len <= (double)(ZSTR_LEN(made) - LENGTH_BYTES) * factor) {
		zend_string_release(made);
		return bytes;
	}
	for (size_t i = 0; i < LENGTH_BYTES; i++) {
		ZSTR_VAL(made)[i] = (char)(len >> (8 * i));
	}
	*flags |= FLAG_COMPRESSED | (is_zlib ? FLAG_ZLIB : FLAG_FASTLZ);
	zend_string_release(bytes);
	return made;
}

static zend_string *from_zlib(zend_string *bytes, size_t len)
{
	zval arguments[2], result;
	int reporting = EG(error_reporting);
	ZVAL_STRINGL(&arguments[0], ZSTR_VAL(bytes) + LENGTH_BYTES, ZSTR_LEN(bytes) - LENGTH_BYTES);
	ZVAL_LONG(&arguments[1], (zend_long)len);
	/* Broken bytes are a result, not a warning. */
	EG(error_reporting) = 0;
	bool is_read = mc_call(ZEND_STRL("gzuncompress"), arguments, 2, &result);
	EG(error_reporting) = reporting;
	zval_ptr_dtor(&arguments[0]);
	if (!is_read) {
		return NULL;
	}
	if (Z_TYPE(result) != IS_STRING || Z_STRLEN(result) != len) {
		zval_ptr_dtor(&result);
		return NULL;
	}
	return Z_STR(result);
}

static zend_string *from_fastlz(zend_string *bytes, size_t len)
{
	/* No instruction makes more than 264 bytes of three in level 1, or 255 of one in level 2. */
	if (len / 264 > ZSTR_LEN(bytes)) {
		return NULL;
	}
	zend_string *made = zend_string_alloc(len, false);
	if (!mc_fastlz_decompress((const unsigned char *)ZSTR_VAL(bytes) + LENGTH_BYTES,
			ZSTR_LEN(bytes) - LENGTH_BYTES, (unsigned char *)ZSTR_VAL(made), len)) {
		zend_string_efree(made);
		return NULL;
	}
	ZSTR_VAL(made)[len] = '\0';
	return made;
}

zend_string *mc_decompress(zend_string *bytes, uint32_t flags)
{
	zend_string *made = NULL;
	if (ZSTR_LEN(bytes) > LENGTH_BYTES) {
		size_t len = 0;
		for (size_t i = 0; i < LENGTH_BYTES; i++) {
			len |= (size_t)(unsigned char)ZSTR_VAL(bytes)[i] << (8 * i);
		}
		zend_long most = mc_ini_bytes(MC_MOST_DECOMPRESSED, MC_MOST_DECOMPRESSED_BYTES);
		if (len > (size_t)MAX(most, 0)) {
			php_error_docref(NULL, E_WARNING, "the value has %zu bytes when it is decompressed, more "
				"than %s; raise that setting if those who write it are trusted",
				len, MC_MOST_DECOMPRESSED);
		} else {
			made = flags & FLAG_FASTLZ ? from_fastlz(bytes, len) : from_zlib(bytes, len);
		}
	}
	zend_string_release(bytes);
	return made;
}
