/*
 * Transactions: changes of several keys that happen at once.
 *
 * PHP leaves a function by a longjmp when memory runs out, and no callback of the library may be
 * left so. So the function of the caller runs between `tavola_txn_begin` and `tavola_txn_commit`,
 * and the transaction belongs to an object, which PHP frees in any case.
 */

#include "php_tavola.h"
#include "transaction.h"

#include "zend_exceptions.h"

/* After this many conflicts, a transaction waits for its turn. */
#define CONFLICTS 8

zend_class_entry *tavola_transaction_ce;
static zend_class_entry *abort_ce;
static zend_object_handlers handlers;

/* Takes the transaction out of its object, so that it is closed once. */
static tavola_txn *end_of(tavola_php_transaction *self)
{
	tavola_txn *txn = self->txn;
	self->txn = NULL;
	return txn;
}

/* Whether the script is ending by `exit`, which PHP treats as an exception. */
static bool is_exit(void)
{
	return EG(exception)
		&& (zend_is_unwind_exit(EG(exception)) || zend_is_graceful_exit(EG(exception)));
}

/* Ends the transaction without changes. Returns whether its run counts: it saw all keys that it has
 * read at one moment, or it is not run again. If it does not count, what it did, such as throwing an
 * exception, may come from two moments, and nobody may see it. */
static bool end_without_changes(tavola_php_transaction *self)
{
	tavola_txn *txn = end_of(self);
	bool is_asked = self->reruns && !is_exit() && self->pid == getpid();
	bool counts = !is_asked || tavola_txn_validate(txn) != TAVOLA_CONFLICT;
	tavola_txn_abort(txn);
	return counts;
}

static void free_transaction(zend_object *object)
{
	tavola_php_transaction *self = TAVOLA_OBJECT(tavola_php_transaction, object);
	tavola_txn_abort(end_of(self));
	if (self->abort) {
		OBJ_RELEASE(self->abort);
	}
	zval_ptr_dtor(&self->table);
	zend_object_std_dtor(object);
}

bool tavola_is_open(const tavola_php_transaction *self)
{
	if (EXPECTED(self->txn != NULL)) {
		return true;
	}
	if (!EG(exception)) {
		tavola_throw_text(TAVOLA_ERR_NOT_HELD,
			"this transaction has ended already; use it only in the function that gets it");
	}
	return false;
}

/* {{{ Undoing */

ZEND_METHOD(Tavola_Transaction, savepoint)
{
	uint32_t savepoint = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TRANSACTION();
	if (tavola_did(tavola_txn_savepoint(self->txn, &savepoint))) {
		RETURN_LONG(savepoint);
	}
}

ZEND_METHOD(Tavola_Transaction, rollBackTo)
{
	zend_long savepoint;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(savepoint)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TRANSACTION();
	if (savepoint < 0 || savepoint > (zend_long)UINT32_MAX) {
		/* No savepoint has this number, and the library has the sentence for it. */
		savepoint = UINT32_MAX;
	}
	tavola_did(tavola_txn_roll_back_to(self->txn, (uint32_t)savepoint));
}

/* Ends the transaction at once, so that code that catches the exception cannot go on with it. */
ZEND_METHOD(Tavola_Transaction, abort)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TRANSACTION();
	self->is_stale = !end_without_changes(self);
	self->abort = zend_throw_exception(abort_ce, "the transaction was aborted", 0);
	GC_ADDREF(self->abort);
}

/* }}} */

ZEND_METHOD(Tavola_Transaction, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

/* {{{ Running */

typedef enum {
	COMMITTED,
	CONFLICT,
	/* By `abort` or by an exception. */
	ENDED,
} outcome;

/* The function of the caller. */
typedef struct {
	zval *table;
	zend_fcall_info call;
	zend_fcall_info_cache cache;
} body;

/* Commits, unless the function has aborted the transaction or thrown an exception. */
static outcome finish(tavola_php_transaction *self)
{
	if (self->txn == NULL) {
		zend_object *abort = self->abort;
		self->abort = NULL;
		if (EG(exception) && (EG(exception) == abort || (self->is_stale && !is_exit()))) {
			zend_clear_exception();
		}
		/* Its trace may hold the transaction, so the two must not hold each other. */
		OBJ_RELEASE(abort);
		return self->is_stale && !EG(exception) ? CONFLICT : ENDED;
	}
	if (EG(exception)) {
		if (end_without_changes(self)) {
			return ENDED;
		}
		zend_clear_exception();
		return CONFLICT;
	}
	if (self->pid != getpid()) {
		tavola_txn_abort(end_of(self));
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a forked child cannot commit the transaction of its parent; end the child in the "
			"function, or fork outside of it");
		return ENDED;
	}
	tavola_status status = tavola_txn_commit(end_of(self));
	if (status == TAVOLA_CONFLICT) {
		return CONFLICT;
	}
	return tavola_did(status) ? COMMITTED : ENDED;
}

/* Calls the function in a new transaction. `value` is what it returned, or null if nothing was
 * committed. */
static outcome run(body *of, int32_t how, bool reruns, zval *value)
{
	zval made;
	object_init_ex(&made, tavola_transaction_ce);
	tavola_php_transaction *self = transaction_of(&made);
	ZVAL_COPY(&self->table, of->table);
	self->pid = getpid();
	self->reruns = reruns;
	outcome outcome = ENDED;
	ZVAL_UNDEF(value);
	if (tavola_did(tavola_txn_begin(table_of(self)->handle->table, how, &self->txn))) {
		of->call.retval = value;
		of->call.params = &made;
		of->call.param_count = 1;
		zend_call_function(&of->call, &of->cache);
		outcome = finish(self);
	}
	if (Z_ISREF_P(value)) {
		zend_unwrap_reference(value);
	}
	if (outcome != COMMITTED) {
		zval dropped;
		ZVAL_COPY_VALUE(&dropped, value);
		ZVAL_NULL(value);
		zval_ptr_dtor(&dropped);
	}
	zval_ptr_dtor(&made);
	return outcome;
}

static void run_once(body *of, zval *value)
{
	if (run(of, TAVOLA_BEGIN_TURN, false, value) == CONFLICT && !EG(exception)) {
		tavola_throw_text(TAVOLA_CONFLICT,
			"another process has changed a key that the transaction has read; begin it again");
	}
}

ZEND_METHOD(Tavola_Table, transaction)
{
	body of;
	bool is_once = false;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_FUNC(of.call, of.cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(is_once)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	of.table = ZEND_THIS;
	if (is_once) {
		run_once(&of, return_value);
		return;
	}
	outcome outcome = CONFLICT;
	for (int conflicts = 0; outcome == CONFLICT && !EG(exception); conflicts++) {
		int32_t how = conflicts < CONFLICTS ? TAVOLA_BEGIN_OPTIMISTIC : TAVOLA_BEGIN_TURN;
		outcome = run(&of, how, true, return_value);
	}
}

ZEND_METHOD(Tavola_Table, readTogether)
{
	body of;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_FUNC(of.call, of.cache)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	of.table = ZEND_THIS;
	outcome outcome = CONFLICT;
	while (outcome == CONFLICT && !EG(exception)) {
		outcome = run(&of, TAVOLA_BEGIN_READ_ONLY, true, return_value);
	}
}

/* }}} */

TAVOLA_NEW_OBJECT(tavola_php_transaction, new_transaction, &handlers)

void tavola_init_transaction(void)
{
	zend_class_entry ce;
	/* An error, so that a function that catches exceptions of other calls lets it pass. */
	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TransactionAborted", NULL);
	abort_ce = zend_register_internal_class_ex(&ce, zend_ce_error);
	abort_ce->ce_flags |= ZEND_ACC_FINAL;
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_transaction, std);
	handlers.free_obj = free_transaction;
	handlers.clone_obj = NULL;
	tavola_transaction_ce->create_object = new_transaction;
}
