/* Lists of texts that the library passes to a callback. They are kept in memory that is not PHP's,
 * and become a PHP array when the library has returned. */

#ifndef TAVOLA_PHP_LISTS_H
#define TAVOLA_PHP_LISTS_H

typedef struct {
	char *bytes;
	size_t len;
	size_t room;
} tavola_texts;

/* A callback of the library; `user` is a tavola_texts. */
void tavola_add_text(void *user, const char *text, size_t len);

/* Adds bytes of any kind. Returns false if there is no memory. */
bool tavola_add_bytes(tavola_texts *texts, const void *bytes, size_t len);

/* Appends the texts to an array, and frees them. */
void tavola_take_texts(tavola_texts *texts, zval *array);

#endif
