/* The object of Tavola\Transaction. */

#ifndef TAVOLA_PHP_TRANSACTION_H
#define TAVOLA_PHP_TRANSACTION_H

#include <unistd.h>

typedef struct {
	/* NULL after the end of the transaction. */
	tavola_txn *txn;
	zval table;
	/* The process that began it; a forked child does not commit it. */
	pid_t pid;
	/* Whether the function is called again if its run does not count. */
	bool reruns;
	/* Whether `abort` found that the run does not count. */
	bool is_stale;
	/* What `abort` threw. */
	zend_object *abort;
	zend_object std;
} tavola_php_transaction;

static inline tavola_php_transaction *transaction_of(zval *object)
{
	return TAVOLA_OBJECT(tavola_php_transaction, Z_OBJ_P(object));
}

static inline const tavola_php_table *table_of(const tavola_php_transaction *self)
{
	return TAVOLA_OBJECT(tavola_php_table, Z_OBJ(self->table));
}

/* Throws and returns false if the transaction has ended. Code of the caller that runs while a value
 * is converted may end it, so this comes after the conversion, too. */
bool tavola_is_open(const tavola_php_transaction *self);

/* Begins a method: declares `self`, and returns if the transaction has ended. */
#define TAVOLA_THIS_TRANSACTION() \
	tavola_php_transaction *self = transaction_of(ZEND_THIS); \
	if (UNEXPECTED(!tavola_is_open(self))) { \
		RETURN_THROWS(); \
	}

#endif
