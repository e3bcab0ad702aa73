/* Whether PHP has memory for a value: callbacks of the libraries must not be left by a longjmp. */

#ifndef TAVOLA_PHP_ROOM_H
#define TAVOLA_PHP_ROOM_H

/* How near to its memory limit a script may come before results are made in a safer way. */
#define NEAR_LIMIT (4 << 20)

static inline bool tavola_has_room(size_t len)
{
	return PG(memory_limit) <= 0
		|| zend_memory_usage(true) + len + NEAR_LIMIT <= (size_t)PG(memory_limit);
}

#endif
