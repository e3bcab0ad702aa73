/* Waiting for a change of a key, and for other processes. */

#include "php_tavola.h"

typedef struct {
	zval table;
	tavola_key_watch *watch;
	zend_object std;
} tavola_php_watch;

static zend_object_handlers handlers;

static void free_watch(zend_object *object)
{
	tavola_php_watch *self = TAVOLA_OBJECT(tavola_php_watch, object);
	tavola_key_watch_close(self->watch);
	zval_ptr_dtor(&self->table);
	zend_object_std_dtor(object);
}

ZEND_METHOD(Tavola_Table, watch)
{
	zend_string *key;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	object_init_ex(return_value, tavola_watch_ce);
	tavola_php_watch *made = TAVOLA_OBJECT(tavola_php_watch, Z_OBJ_P(return_value));
	ZVAL_COPY(&made->table, ZEND_THIS);
	tavola_did(tavola_key_watch_open(
		self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), &made->watch));
}

ZEND_METHOD(Tavola_Watch, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Tavola_Watch, wait)
{
	zval *timeout = NULL;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
	ZEND_PARSE_PARAMETERS_END();
	tavola_php_watch *self = TAVOLA_OBJECT(tavola_php_watch, Z_OBJ_P(ZEND_THIS));
	tavola_deadline deadline = tavola_deadline_in(tavola_wait_seconds(timeout));
	for (;;) {
		uint64_t slice_ms = tavola_next_slice_ms(&deadline);
		tavola_status status = tavola_key_watch_wait(self->watch, slice_ms);
		if (status != TAVOLA_TIMEOUT) {
			RETURN_BOOL(tavola_did(status));
		}
		if (slice_ms == 0 || tavola_interrupted()) {
			RETURN_FALSE;
		}
	}
}

/* The library waits in one piece, because a caller that stops to wait no longer counts. */
ZEND_METHOD(Tavola_Table, barrier)
{
	zend_string *key;
	zend_long count;
	zval *timeout = NULL;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(key)
		Z_PARAM_LONG(count)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (count < 1 || count > (zend_long)UINT32_MAX) {
		zend_argument_value_error(2, "must be from 1 to 2^32 - 1");
		RETURN_THROWS();
	}
	double seconds = tavola_wait_seconds(timeout);
	uint64_t limit_ms = seconds < 0 ? UINT64_MAX : (uint64_t)ceil(seconds * 1000);
	RETURN_BOOL(tavola_answered(tavola_barrier_wait(self->handle->table,
		ZSTR_VAL(key), ZSTR_LEN(key), (uint32_t)count, limit_ms)));
}

TAVOLA_NEW_OBJECT(tavola_php_watch, new_watch, &handlers)

void tavola_init_watch(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_watch, std);
	handlers.free_obj = free_watch;
	handlers.clone_obj = NULL;
	tavola_watch_ce->create_object = new_watch;
}
