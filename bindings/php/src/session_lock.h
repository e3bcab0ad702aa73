/* Locks of sessions, for the save handler. */

#ifndef TAVOLA_PHP_SESSION_LOCK_H
#define TAVOLA_PHP_SESSION_LOCK_H

/* Waits for the lock of a session. Returns its lease, which `tavola_lease_close` releases, or NULL
 * if the time has passed or after an exception. `timeout` is as for `tavola_wait_seconds`. */
tavola_lease *tavola_take_session_lock(
	const tavola_table *table, zend_string *name, const zval *timeout);

#endif
