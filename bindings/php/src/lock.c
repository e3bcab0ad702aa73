/* Named locks of a table: of all processes one holds a lock, or several share it. */

#include "php_tavola.h"

#include <unistd.h>

typedef struct {
	zval table;
	/* NULL after its release. */
	tavola_lock *lock;
	/* The process that holds it; a forked child does not. */
	pid_t pid;
	bool is_shared;
	bool owner_died;
	zend_object std;
} tavola_php_lock;

static zend_object_handlers handlers;

static tavola_php_lock *lock_of(zval *object)
{
	return TAVOLA_OBJECT(tavola_php_lock, Z_OBJ_P(object));
}

/* In a forked child, this has no effect on the lock of its parent. */
static void close_lock(tavola_php_lock *self)
{
	tavola_lock_close(self->lock);
	self->lock = NULL;
}

static void free_lock(zend_object *object)
{
	tavola_php_lock *self = TAVOLA_OBJECT(tavola_php_lock, object);
	close_lock(self);
	zval_ptr_dtor(&self->table);
	zend_object_std_dtor(object);
}

/* Waits for the lock. Returns false if the time has passed or after an exception. */
static bool take(tavola_php_lock *self, const zval *timeout)
{
	tavola_deadline deadline = tavola_deadline_in(tavola_wait_seconds(timeout));
	for (;;) {
		uint64_t slice_ms = tavola_next_slice_ms(&deadline);
		tavola_status status = self->is_shared ? tavola_lock_shared_wait(self->lock, slice_ms)
			: tavola_lock_wait(self->lock, slice_ms);
		self->pid = getpid();
		if (status == TAVOLA_OWNER_DIED) {
			/* After a death it is held exclusively. */
			self->owner_died = true;
			self->is_shared = false;
			return true;
		}
		if (status != TAVOLA_TIMEOUT) {
			return tavola_did(status);
		}
		if (slice_ms == 0 || tavola_interrupted()) {
			return false;
		}
	}
}

ZEND_METHOD(Tavola_Table, lock)
{
	zend_string *name;
	zval *timeout = NULL;
	bool is_shared = false;
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_PATH_STR(name)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
		Z_PARAM_BOOL(is_shared)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	zval made;
	object_init_ex(&made, tavola_lock_ce);
	tavola_php_lock *lock = lock_of(&made);
	ZVAL_COPY(&lock->table, ZEND_THIS);
	lock->is_shared = is_shared;
	if (tavola_did(tavola_lock_open(self->handle->table, ZSTR_VAL(name), &lock->lock))
			&& take(lock, timeout)) {
		RETURN_COPY_VALUE(&made);
	}
	zval_ptr_dtor(&made);
}

ZEND_METHOD(Tavola_Lock, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

static bool is_held(const tavola_php_lock *self)
{
	return self->lock && self->pid == getpid();
}

ZEND_METHOD(Tavola_Lock, isHeld)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(is_held(lock_of(ZEND_THIS)));
}

ZEND_METHOD(Tavola_Lock, isShared)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(lock_of(ZEND_THIS)->is_shared);
}

ZEND_METHOD(Tavola_Lock, ownerDied)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(lock_of(ZEND_THIS)->owner_died);
}

ZEND_METHOD(Tavola_Lock, release)
{
	ZEND_PARSE_PARAMETERS_NONE();
	tavola_php_lock *self = lock_of(ZEND_THIS);
	bool was_held = is_held(self);
	close_lock(self);
	RETURN_BOOL(was_held);
}

TAVOLA_NEW_OBJECT(tavola_php_lock, new_lock, &handlers)

void tavola_init_lock(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_lock, std);
	handlers.free_obj = free_lock;
	handlers.clone_obj = NULL;
	tavola_lock_ce->create_object = new_lock;
}
