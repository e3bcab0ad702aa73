/*
 * Locks of sessions.
 *
 * There are more sessions than a table has room for named locks, so a session's lock is the lease
 * of a key that never gets a value: of all processes that ask for the key, one has the lease. The
 * library notices when the process of a lease has died, and gives the lease to the next within
 * about 10 ms. A lease lasts an hour at most, and takes no room afterwards.
 */

#include "php_tavola.h"
#include "session_lock.h"

#include <unistd.h>

#define PREFIX "\0lock\0"
#define LEASE_MS (3600 * 1000)

typedef struct {
	zval table;
	tavola_lease *lease;
	zend_object std;
} tavola_php_session_lock;

static zend_object_handlers handlers;

static tavola_php_session_lock *lock_of(zval *object)
{
	return TAVOLA_OBJECT(tavola_php_session_lock, Z_OBJ_P(object));
}

static void free_lock(zend_object *object)
{
	tavola_php_session_lock *self = TAVOLA_OBJECT(tavola_php_session_lock, object);
	tavola_lease_close(self->lease);
	zval_ptr_dtor(&self->table);
	zend_object_std_dtor(object);
}

static void *refuse_value(void *user, size_t len)
{
	(void)user;
	(void)len;
	return NULL;
}

/* Asks once for the lock. Returns the caller's own lease, or NULL; then `other` is the lease of
 * another process, or NULL if all records of leases are in use. */
static tavola_lease *try_lock(
	const tavola_table *table, zend_string *key, const tavola_lease_options *options,
	tavola_lease **other)
{
	tavola_buffer buffer = TAVOLA_BUFFER_ALLOC(refuse_value, NULL);
	tavola_leased leased = TAVOLA_INIT(tavola_leased);
	tavola_lease *lease = NULL;
	tavola_status status = tavola_get_or_lease(
		table, ZSTR_VAL(key), ZSTR_LEN(key), options, &buffer, &leased, &lease);
	*other = NULL;
	if (status == TAVOLA_ERR_STOPPED || (status == TAVOLA_OK && leased.outcome < TAVOLA_LEASE_WON)) {
		tavola_lease_close(lease);
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"the key of the lock %s has a value; remove the key or use another name",
			ZSTR_VAL(key) + sizeof(PREFIX) - 1);
		return NULL;
	}
	if (!tavola_did(status)) {
		return NULL;
	}
	if (leased.outcome == TAVOLA_LEASE_WAIT) {
		*other = lease;
		return NULL;
	}
	if (leased.outcome == TAVOLA_LEASE_WON && tavola_lease_is_recorded(lease)) {
		return lease;
	}
	tavola_lease_close(lease);
	return NULL;
}

/* Sleeps until the lock may be free. */
static void wait_for(tavola_lease *other, uint64_t slice_ms)
{
	if (other) {
		tavola_status status = tavola_lease_wait(other, slice_ms);
		tavola_lease_close(other);
		if (status < 0) {
			tavola_throw(status);
		}
		return;
	}
	usleep(1000);
}

static tavola_lease *acquire(
	const tavola_table *table, zend_string *key, const tavola_lease_options *options,
	const zval *timeout)
{
	tavola_deadline deadline = tavola_deadline_in(tavola_wait_seconds(timeout));
	for (;;) {
		tavola_lease *other;
		tavola_lease *lease = try_lock(table, key, options, &other);
		if (lease || EG(exception)) {
			return lease;
		}
		uint64_t slice_ms = tavola_next_slice_ms(&deadline);
		if (slice_ms == 0) {
			tavola_lease_close(other);
			return NULL;
		}
		wait_for(other, slice_ms);
		if (tavola_interrupted()) {
			return NULL;
		}
	}
}

tavola_lease *tavola_take_session_lock(
	const tavola_table *table, zend_string *name, const zval *timeout)
{
	tavola_lease_options options = TAVOLA_INIT(tavola_lease_options);
	options.fresh_ms = 1;
	options.lease_ms = LEASE_MS;
	zend_string *key = zend_string_concat2(
		PREFIX, sizeof(PREFIX) - 1, ZSTR_VAL(name), ZSTR_LEN(name));
	tavola_lease *lease = acquire(table, key, &options, timeout);
	zend_string_release(key);
	return lease;
}

ZEND_METHOD(Tavola_SessionLock, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Tavola_SessionLock, take)
{
	zval *table, *timeout = NULL;
	zend_string *name;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_OBJECT_OF_CLASS(table, tavola_table_ce)
		Z_PARAM_STR(name)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
	ZEND_PARSE_PARAMETERS_END();
	const tavola_php_table *of = tavola_this_table(table);
	if (UNEXPECTED(of == NULL)) {
		RETURN_THROWS();
	}
	zval made;
	object_init_ex(&made, tavola_session_lock_ce);
	tavola_php_session_lock *lock = lock_of(&made);
	ZVAL_COPY(&lock->table, table);
	lock->lease = tavola_take_session_lock(of->handle->table, name, timeout);
	if (lock->lease) {
		RETURN_COPY_VALUE(&made);
	}
	zval_ptr_dtor(&made);
}

ZEND_METHOD(Tavola_SessionLock, release)
{
	ZEND_PARSE_PARAMETERS_NONE();
	tavola_php_session_lock *self = lock_of(ZEND_THIS);
	tavola_lease_close(self->lease);
	self->lease = NULL;
}

TAVOLA_NEW_OBJECT(tavola_php_session_lock, new_lock, &handlers)

void tavola_init_session_lock(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_session_lock, std);
	handlers.free_obj = free_lock;
	handlers.clone_obj = NULL;
	tavola_session_lock_ce->create_object = new_lock;
}
