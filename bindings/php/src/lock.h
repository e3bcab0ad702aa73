/* Locks over processes, for the other files. */

#ifndef TAVOLA_PHP_LOCK_H
#define TAVOLA_PHP_LOCK_H

/* Waits for the lock of a name. Returns its lease, which `tavola_lease_close` releases, or NULL if
 * the time has passed or after an exception. `timeout` is as for `tavola_wait_seconds`. */
tavola_lease *tavola_take_lock(
	const tavola_table *table, zend_string *name, uint64_t lease_ms, const zval *timeout);

#endif
