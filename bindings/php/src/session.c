/*
 * The save handler of sessions, `session.save_handler=tavola`.
 *
 * `session.save_path` is the name of the table, "sessions" by default. Keys, values and locks are
 * those of the class Tavola\SessionHandler with its own defaults, so that both can be used for the
 * same sessions. A session is locked from its start to its end.
 */

#include "php_tavola.h"
#include "session_lock.h"

#if defined(__has_include)
# if __has_include("ext/session/php_session.h")
#  define HAS_SESSIONS 1
# endif
#endif

#ifndef HAS_SESSIONS

void tavola_start_sessions(void)
{
}

#else

#include "ext/session/php_session.h"

/* Both are missing if PHP runs without the extension "session"; then no handler is registered. */
#pragma weak php_session_register_module
#pragma weak php_session_create_id

#define PREFIX "session:"
#define LOCK_TIMEOUT_SECONDS 30
/* A thousand years, as for all keys. */
#define MOST_TTL_SECONDS 31536000000LL

/* The session of a request. */
typedef struct {
	tavola_handle *handle;
	tavola_lease *lock;
} session;

PS_FUNCS_UPDATE_TIMESTAMP(tavola);

static const ps_module save_handler = {PS_MOD_UPDATE_TIMESTAMP(tavola)};

static zend_string *name_of(const zend_string *id)
{
	return zend_string_concat2(PREFIX, sizeof(PREFIX) - 1, ZSTR_VAL(id), ZSTR_LEN(id));
}

static zend_result result_of(bool is_done)
{
	return is_done ? SUCCESS : FAILURE;
}

static int64_t ttl_of(zend_long maxlifetime)
{
	return MIN(MAX((int64_t)maxlifetime, 1), MOST_TTL_SECONDS) * 1000;
}

PS_CLOSE_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	if (self) {
		PS_SET_MOD_DATA(NULL);
		tavola_lease_close(self->lock);
		tavola_release(self->handle);
		efree(self);
	}
	return SUCCESS;
}

PS_OPEN_FUNC(tavola)
{
	tavola_options options = TAVOLA_INIT(tavola_options);
	tavola_serializer serializer;
	double lock_timeout = -1;
	(void)session_name;
	/* `session_reset` opens a session that is open. */
	ps_close_tavola(mod_data);
	if (!tavola_read_options(
			(HashTable *)&zend_empty_array, &options, &serializer, &lock_timeout)) {
		return FAILURE;
	}
	tavola_handle *handle = tavola_acquire(
		TAVOLA_OPEN, save_path && *save_path ? save_path : "sessions", &options);
	if (handle == NULL) {
		return FAILURE;
	}
	session *self = ecalloc(1, sizeof(*self));
	self->handle = handle;
	PS_SET_MOD_DATA(self);
	return SUCCESS;
}

PS_READ_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	zend_string *name = name_of(key);
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	zval timeout;
	bool is_read = false;
	(void)maxlifetime;
	ZVAL_LONG(&timeout, LOCK_TIMEOUT_SECONDS);
	tavola_lease_close(self->lock);
	self->lock = tavola_take_session_lock(self->handle->table, name, &timeout);
	if (self->lock) {
		tavola_status status = tavola_read_bytes(self->handle->table, name, val, &has, NULL);
		if (status == TAVOLA_NOT_FOUND) {
			*val = ZSTR_EMPTY_ALLOC();
		}
		is_read = status == TAVOLA_NOT_FOUND || tavola_did(status);
	}
	zend_string_release(name);
	return result_of(is_read);
}

PS_WRITE_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	zend_string *name = name_of(key);
	tavola_php_table table = {.handle = self->handle};
	tavola_encoded encoded = {.bytes = ZSTR_VAL(val), .len = ZSTR_LEN(val)};
	tavola_writing how = {
		.condition = TAVOLA_CONDITION_ALWAYS, .ttl_ms = ttl_of(maxlifetime)};
	bool is_written = tavola_did(tavola_write_encoded(&table, name, &encoded, &how));
	zend_string_release(name);
	return result_of(is_written);
}

PS_UPDATE_TIMESTAMP_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	zend_string *name = name_of(key);
	tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
	attributes.ttl_ms = ttl_of(maxlifetime);
	tavola_status status = tavola_touch(
		self->handle->table, ZSTR_VAL(name), ZSTR_LEN(name), &attributes);
	zend_string_release(name);
	return status == TAVOLA_NOT_FOUND
		? ps_write_tavola(mod_data, key, val, maxlifetime) : result_of(tavola_did(status));
}

PS_DESTROY_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	zend_string *name = name_of(key);
	tavola_status status = tavola_remove(
		self->handle->table, ZSTR_VAL(name), ZSTR_LEN(name));
	zend_string_release(name);
	return result_of(status == TAVOLA_NOT_FOUND || tavola_did(status));
}

/* Sessions expire by themselves. */
PS_GC_FUNC(tavola)
{
	(void)mod_data;
	(void)maxlifetime;
	*nrdels = 0;
	return 0;
}

PS_CREATE_SID_FUNC(tavola)
{
	return php_session_create_id(mod_data);
}

/* Returns whether there is a session of this id, which session.use_strict_mode asks. */
PS_VALIDATE_SID_FUNC(tavola)
{
	session *self = PS_GET_MOD_DATA();
	zend_string *name = name_of(key);
	bool is_there = tavola_answered(tavola_contains(
		self->handle->table, ZSTR_VAL(name), ZSTR_LEN(name)));
	zend_string_release(name);
	return result_of(is_there);
}

void tavola_start_sessions(void)
{
	if (php_session_register_module) {
		php_session_register_module(&save_handler);
	}
}

#endif
