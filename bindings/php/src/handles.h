/*
 * Open tables of the process.
 *
 * PHP begins each request with nothing, but a process of FPM serves many. So a table is opened once
 * for each name and set of options, and stays open when the request ends. `tavola_acquire` finds it
 * by one `stat`, which also notices that the file was removed or replaced. A table works in a
 * forked child, so nothing is done at a fork. All are closed at the end of the process.
 */

#ifndef TAVOLA_PHP_HANDLES_H
#define TAVOLA_PHP_HANDLES_H

typedef enum {
	TAVOLA_OPEN,
	TAVOLA_CREATE,
	TAVOLA_EXISTING,
	TAVOLA_READ_ONLY,
	TAVOLA_PRIVATE,
} tavola_how;

/* An open table; it is shared by all objects of this name and these options. */
typedef struct tavola_handle {
	tavola_table *table;
	/* Whether the table has fixed lengths, so that its values have no flags. */
	bool is_fixed;
	/* How long keys live, in milliseconds; 0: for ever. */
	uint64_t ttl_ms;

	/* The rest belongs to handles.c. */
	struct tavola_handle *next;
	uint32_t users;
	bool is_kept;
	uint64_t device;
	uint64_t inode;
	size_t id_len;
	char *id;
} tavola_handle;

void tavola_start_handles(void);
void tavola_end_handles(void);

/* Returns the open table, or opens it. Throws and returns NULL after an error. `name` is NULL for
 * a private table. */
tavola_handle *tavola_acquire(tavola_how how, const char *name, const tavola_options *options);

/* Ends the use of a table. NULL has no effect. */
void tavola_release(tavola_handle *handle);

/* Returns whether the name leads to another file now, or to none. */
bool tavola_has_moved(const tavola_handle *handle);

#endif
