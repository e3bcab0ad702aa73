#include "php_tavola.h"

#include "zend_operators.h"

/* A thousand years, the longest TTL of the library. */
#define MOST_SECONDS 31536e6

static zval *find(tavola_reader *reader, const char *name)
{
	zval *value = zend_hash_str_find(reader->given, name, strlen(name));
	if (value == NULL) {
		return NULL;
	}
	ZVAL_DEREF(value);
	reader->known++;
	return Z_TYPE_P(value) == IS_NULL ? NULL : value;
}

static ZEND_COLD bool refuse(const char *name, const char *wanted)
{
	tavola_throw_text(TAVOLA_ERR_BAD_OPTION, "the option '%s' must be %s", name, wanted);
	return false;
}

bool tavola_size_of(zend_string *text, zend_long number, const char *what, uint64_t *bytes)
{
	if (text) {
#if PHP_VERSION_ID >= 80200
		zend_string *error = NULL;
		number = zend_ini_parse_quantity(text, &error);
		if (error) {
			zend_string_release(error);
			number = 0;
		}
#else
		number = zend_atol(ZSTR_VAL(text), ZSTR_LEN(text));
#endif
	}
	if (number <= 0) {
		return refuse(what, "a number of bytes such as 67108864 or '64M'");
	}
	*bytes = (uint64_t)number;
	return true;
}

bool tavola_read_size(tavola_reader *reader, const char *name, uint64_t *bytes)
{
	zval *value = find(reader, name);
	if (value == NULL) {
		return true;
	}
	if (Z_TYPE_P(value) == IS_STRING) {
		return tavola_size_of(Z_STR_P(value), 0, name, bytes);
	}
	if (Z_TYPE_P(value) == IS_LONG) {
		return tavola_size_of(NULL, Z_LVAL_P(value), name, bytes);
	}
	return refuse(name, "a number of bytes such as 67108864 or '64M'");
}

bool tavola_read_number(tavola_reader *reader, const char *name, uint64_t most, uint64_t *number)
{
	zval *value = find(reader, name);
	if (value == NULL) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_LONG || Z_LVAL_P(value) < 0 || (uint64_t)Z_LVAL_P(value) > most) {
		return refuse(name, "a whole number that is not negative");
	}
	*number = (uint64_t)Z_LVAL_P(value);
	return true;
}

static bool read_u32(tavola_reader *reader, const char *name, uint32_t *number)
{
	uint64_t wide = *number;
	if (!tavola_read_number(reader, name, UINT32_MAX, &wide)) {
		return false;
	}
	*number = (uint32_t)wide;
	return true;
}

bool tavola_read_flag(tavola_reader *reader, const char *name, uint32_t *flag)
{
	zval *value = find(reader, name);
	if (value == NULL) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_TRUE && Z_TYPE_P(value) != IS_FALSE) {
		return refuse(name, "true or false");
	}
	*flag = Z_TYPE_P(value) == IS_TRUE;
	return true;
}

bool tavola_read_seconds(tavola_reader *reader, const char *name, double *seconds)
{
	zval *value = find(reader, name);
	if (value == NULL) {
		return true;
	}
	bool is_number = Z_TYPE_P(value) == IS_LONG || Z_TYPE_P(value) == IS_DOUBLE;
	if (!is_number || !(zval_get_double(value) >= 0) || zval_get_double(value) > MOST_SECONDS) {
		return refuse(name, "a number of seconds that is not negative");
	}
	*seconds = zval_get_double(value);
	return true;
}

zend_string *tavola_read_text(tavola_reader *reader, const char *name)
{
	zval *value = find(reader, name);
	if (value == NULL) {
		return NULL;
	}
	if (Z_TYPE_P(value) != IS_STRING) {
		refuse(name, "a string");
		return NULL;
	}
	return Z_STR_P(value);
}

bool tavola_read_all(tavola_reader *reader)
{
	if (EG(exception)) {
		return false;
	}
	if (reader->known != zend_hash_num_elements(reader->given)) {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"there is an unknown option; the known ones are in the reference of the extension");
		return false;
	}
	return true;
}

/* Reads the lengths of a key and of a value, such as [8, 16]. */
static bool read_fixed(tavola_reader *reader, tavola_options *options)
{
	zval *value = find(reader, "fixed");
	uint32_t lens[2];
	if (value == NULL) {
		return true;
	}
	for (zend_ulong i = 0; i < 2; i++) {
		zval *len = Z_TYPE_P(value) == IS_ARRAY
			? zend_hash_index_find(Z_ARRVAL_P(value), i) : NULL;
		if (len == NULL || Z_TYPE_P(len) != IS_LONG || Z_LVAL_P(len) < 0
				|| Z_LVAL_P(len) > (zend_long)UINT32_MAX) {
			return refuse("fixed", "the lengths of a key and of a value, such as [8, 16]");
		}
		lens[i] = (uint32_t)Z_LVAL_P(len);
	}
	options->fixed_key = lens[0];
	options->fixed_value = lens[1];
	return true;
}

/* Reads "commit", "os", or a number of seconds. */
static bool read_durable(tavola_reader *reader, tavola_options *options)
{
	zval *value = find(reader, "durable");
	if (value == NULL) {
		return true;
	}
	if (Z_TYPE_P(value) == IS_STRING && zend_string_equals_literal(Z_STR_P(value), "commit")) {
		options->durable = TAVOLA_DURABLE_COMMIT;
		return true;
	}
	if (Z_TYPE_P(value) == IS_STRING && zend_string_equals_literal(Z_STR_P(value), "os")) {
		options->durable = TAVOLA_DURABLE_OS;
		return true;
	}
	bool is_number = Z_TYPE_P(value) == IS_LONG || Z_TYPE_P(value) == IS_DOUBLE;
	double ms = is_number ? ceil(zval_get_double(value) * 1000) : 0;
	if (!(ms > 0) || ms > UINT32_MAX) {
		return refuse("durable", "'commit', 'os', or a number of seconds such as 0.05");
	}
	options->durable = TAVOLA_DURABLE_WITHIN;
	options->sync_ms = (uint32_t)ms;
	return true;
}

/* Sets the options that a table must be created with. */
static bool read_creation(tavola_reader *reader, tavola_options *options)
{
	double ttl = 0;
	uint64_t mode = (uint64_t)TAVOLA_G(mode);
	bool is_read = tavola_read_size(reader, "capacity", &options->capacity)
		&& tavola_read_size(reader, "max_size", &options->max_size)
		&& tavola_read_seconds(reader, "ttl", &ttl)
		&& tavola_read_number(reader, "mode", 07777, &mode)
		&& read_u32(reader, "group", &options->group_id)
		&& read_u32(reader, "shards", &options->shards)
		&& read_fixed(reader, options)
		&& read_durable(reader, options)
		&& tavola_read_flag(reader, "versions", &options->versions);
	options->mode = (uint32_t)mode;
	options->ttl_ms = (uint64_t)ceil(ttl * 1000);
	return is_read;
}

bool tavola_read_options(
	HashTable *given, tavola_options *options, tavola_serializer *serializer, double *lock_timeout)
{
	tavola_reader reader = {given, 0};
	const char *name = TAVOLA_G(serializer) ? TAVOLA_G(serializer) : "";
	size_t name_len = strlen(name);
	options->group_id = (uint32_t)TAVOLA_G(group);
	options->mode = (uint32_t)TAVOLA_G(mode);
	if (zend_hash_num_elements(given) == 0) {
		return tavola_read_serializer(name, name_len, serializer);
	}
	if (!read_creation(&reader, options)
			|| !tavola_read_flag(&reader, "any_owner", &options->any_owner)
			|| !tavola_read_flag(&reader, "core_dumps", &options->core_dumps)
			|| !tavola_read_seconds(&reader, "lock_timeout", lock_timeout)) {
		return false;
	}
	if (zend_hash_str_exists(given, ZEND_STRL("serializer"))) {
		zend_string *text = tavola_read_text(&reader, "serializer");
		name = text ? ZSTR_VAL(text) : "";
		name_len = text ? ZSTR_LEN(text) : 0;
	}
	return tavola_read_all(&reader) && tavola_read_serializer(name, name_len, serializer);
}

static double number_of(const zval *seconds)
{
	return Z_TYPE_P(seconds) == IS_LONG ? (double)Z_LVAL_P(seconds) : Z_DVAL_P(seconds);
}

bool tavola_ttl_ms(const zval *seconds, int64_t *ttl_ms)
{
	if (seconds == NULL) {
		*ttl_ms = TAVOLA_TTL_DEFAULT;
		return true;
	}
	double number = number_of(seconds);
	if (number == -1) {
		*ttl_ms = TAVOLA_TTL_NEVER;
		return true;
	}
	if (!(number > 0) || number > MOST_SECONDS) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a TTL must be more than 0 seconds and at most a thousand years; use "
			"Tavola\\Table::FOREVER for a key that never expires");
		return false;
	}
	*ttl_ms = (int64_t)ceil(number * 1000);
	return true;
}

bool tavola_is_for_ever(int64_t ttl_ms)
{
	return ttl_ms == TAVOLA_TTL_NEVER || ttl_ms > (int64_t)(0.98 * MOST_SECONDS * 1000);
}

double tavola_wait_seconds(const zval *seconds)
{
	return seconds == NULL ? -1 : MAX(number_of(seconds), 0.0);
}

bool tavola_duration_ms(const zval *seconds, const char *what, uint64_t *ms)
{
	double number = number_of(seconds);
	if (!(number >= 0) || number > MOST_SECONDS) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"%s must be a number of seconds from 0 to a thousand years", what);
		return false;
	}
	*ms = (uint64_t)ceil(number * 1000);
	return true;
}
