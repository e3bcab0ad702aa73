/* The functions of APCu over a table, for programs that use APCu. */

#ifndef TAVOLA_PHP_APCU_H
#define TAVOLA_PHP_APCU_H

/* The table of the functions, as long as a request uses it. */
typedef struct tavola_apcu {
	tavola_php_table table;
} tavola_apcu;

/* Returns the table, and opens it when the request needs it first. Returns NULL if the functions
 * are disabled, or after a warning if the table cannot be opened. */
tavola_php_table *tavola_apcu_table(void);

/* Whether the settings enable the functions in this kind of PHP. */
bool tavola_apcu_is_enabled(void);

/* Removes a key. Returns whether it existed. */
bool tavola_apcu_remove(const tavola_php_table *table, const zend_string *key);

/* Removes what an APCUIterator finds. Returns false if the object is none. */
bool tavola_apcu_remove_found(zval *object);

/* What APCu reports as `ttl` and times of a key: the seconds that are left, from now on. */
zend_long tavola_apcu_ttl(const tavola_attributes *has);

void tavola_init_apcu_iterator(zend_class_entry *ce);

#endif
