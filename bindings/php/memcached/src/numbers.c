/* Counters, and new expiry times. */

#include "memcached.h"

#include "zend_exceptions.h"

typedef tavola_mc_status count_call(
	const tavola_mc_client *client, const void *key, size_t key_len, uint64_t delta,
	const tavola_mc_count_options *how, uint64_t *number);

static void count(INTERNAL_FUNCTION_PARAMETERS, count_call *call, bool by_key)
{
	zend_string *server_key = NULL, *key;
	zend_long offset = 1, initial = 0, expiry = 0;
	uint64_t number = 0;
	mc_use use;
	ZEND_PARSE_PARAMETERS_START(1 + by_key, 4 + by_key)
		if (by_key) {
			Z_PARAM_STR(server_key)
		}
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(offset)
		Z_PARAM_LONG(initial)
		Z_PARAM_LONG(expiry)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_checked_key(self, key)) {
		RETURN_FALSE;
	}
	if (offset < 0) {
		php_error_docref(NULL, E_WARNING, "offset cannot be a negative value");
		RETURN_BOOL(mc_done(self, RES_INVALID_ARGUMENTS));
	}
	if (!mc_client(self, server_key, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
	how.has_initial = ZEND_NUM_ARGS() > 2u + by_key;
	how.initial = (uint64_t)initial;
	how.exptime = how.has_initial ? mc_expiry(expiry) : 0;
	tavola_mc_status status =
		call(use.client, ZSTR_VAL(key), ZSTR_LEN(key), (uint64_t)offset, &how, &number);
	if (!mc_answered(self, status, server_key ? server_key : key)) {
		RETURN_FALSE;
	}
	RETURN_LONG((zend_long)number);
}

#define COUNT_METHOD(name, call, by_key) \
	ZEND_METHOD(Tavola_Memcached, name) \
	{ \
		count(INTERNAL_FUNCTION_PARAM_PASSTHRU, call, by_key); \
	}

COUNT_METHOD(increment, tavola_mc_incr, false)
COUNT_METHOD(incrementByKey, tavola_mc_incr, true)
COUNT_METHOD(decrement, tavola_mc_decr, false)
COUNT_METHOD(decrementByKey, tavola_mc_decr, true)

static void touch(INTERNAL_FUNCTION_PARAMETERS, bool by_key)
{
	zend_string *server_key = NULL, *key;
	zend_long expiration = 0;
	mc_use use;
	ZEND_PARSE_PARAMETERS_START(1 + by_key, 2 + by_key)
		if (by_key) {
			Z_PARAM_STR(server_key)
		}
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(expiration)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_checked_key(self, key) || !mc_client(self, server_key, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_status status = tavola_mc_touch(
		use.client, ZSTR_VAL(key), ZSTR_LEN(key), mc_expiry(expiration), 0);
	RETURN_BOOL(mc_answered(self, status, server_key ? server_key : key));
}

ZEND_METHOD(Tavola_Memcached, touch)
{
	touch(INTERNAL_FUNCTION_PARAM_PASSTHRU, false);
}

ZEND_METHOD(Tavola_Memcached, touchByKey)
{
	touch(INTERNAL_FUNCTION_PARAM_PASSTHRU, true);
}
