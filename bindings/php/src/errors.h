/* Exceptions of the extension: a class for each status of the library that a caller can act on. */

#ifndef TAVOLA_PHP_ERRORS_H
#define TAVOLA_PHP_ERRORS_H

/* Throws the exception of a status, with the sentence of the library. */
void tavola_throw(tavola_status status);

/* Throws the exception of a status with another sentence. */
void tavola_throw_text(tavola_status status, const char *format, ...)
	ZEND_ATTRIBUTE_FORMAT(printf, 2, 3);

/* Returns true after TAVOLA_OK. Throws and returns false after any other status. */
static zend_always_inline bool tavola_did(tavola_status status)
{
	if (EXPECTED(status == TAVOLA_OK)) {
		return true;
	}
	tavola_throw(status);
	return false;
}

/* Returns true after TAVOLA_OK. Throws only after an error, and not after another answer. */
static zend_always_inline bool tavola_answered(tavola_status status)
{
	if (UNEXPECTED(status < 0)) {
		tavola_throw(status);
	}
	return status == TAVOLA_OK;
}

/* Handles the signals and the time limit of PHP in the middle of a long wait. Returns true if the
 * wait must end because there is an exception. */
bool tavola_interrupted(void);

/* The longest time that a wait ignores signals and the time limit. */
#define TAVOLA_WAIT_SLICE_MS 50

/* A wait that ends at a time, or never. */
typedef struct {
	uint64_t end_ms;
	bool is_endless;
} tavola_deadline;

/* Returns the end of a wait of so many seconds; a negative number of seconds means no end. */
tavola_deadline tavola_deadline_in(double seconds);

/* Returns how long the next part of the wait is: 0 if the time has passed. */
uint64_t tavola_next_slice_ms(const tavola_deadline *deadline);

#endif
