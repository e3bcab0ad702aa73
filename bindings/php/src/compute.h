/* Computing a missing value once for all processes. */

#ifndef TAVOLA_PHP_COMPUTE_H
#define TAVOLA_PHP_COMPUTE_H

/* What the caller of `compute` wants. */
typedef struct tavola_computation {
	tavola_php_table *table;
	zend_string *key;
	zend_fcall_info call;
	zend_fcall_info_cache cache;
	tavola_lease_options options;
	/* How long no process tries again after a failure; 0: the next call tries at once. */
	uint64_t back_off_ms;
	/* NULL, or the argument that names the tags. */
	zval *tags;
	/* Whether the function may ask for the same key, which then calls it again. */
	bool may_nest;
	/* The computation whose function has begun this one. */
	struct tavola_computation *outer;
} tavola_computation;

/* Returns the value, or computes and stores it. Throws after an error. */
void tavola_compute(tavola_computation *with, zval *value);

#endif
