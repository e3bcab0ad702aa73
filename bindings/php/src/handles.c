#include "php_tavola.h"

#include <sys/stat.h>
#include <unistd.h>

#ifdef ZTS
static MUTEX_T handles_mutex;
# define LOCK() tsrm_mutex_lock(handles_mutex)
# define UNLOCK() tsrm_mutex_unlock(handles_mutex)
#else
# define LOCK()
# define UNLOCK()
#endif

/* All kept handles, last used first. Their memory is not PHP's, because it outlives requests. */
static tavola_handle *kept;

void tavola_start_handles(void)
{
#ifdef ZTS
	handles_mutex = tsrm_mutex_alloc();
#endif
	kept = NULL;
}

static void destroy(tavola_handle *handle)
{
	tavola_close(handle->table);
	free(handle->id);
	free(handle);
}

void tavola_end_handles(void)
{
	while (kept) {
		tavola_handle *next = kept->next;
		destroy(kept);
		kept = next;
	}
#ifdef ZTS
	tsrm_mutex_free(handles_mutex);
#endif
}

/* Reads which file a path leads to. A durable table is a directory, which may be the same when
 * another table is made in it; so its file `table` counts. */
static bool find_file(const char *path, uint64_t *device, uint64_t *inode)
{
	struct stat found;
	char file[MAXPATHLEN];
	if (stat(path, &found) != 0) {
		return false;
	}
	if (S_ISDIR(found.st_mode)) {
		snprintf(file, sizeof(file), "%s/table", path);
		if (stat(file, &found) != 0) {
			return false;
		}
	}
	*device = (uint64_t)found.st_dev;
	*inode = (uint64_t)found.st_ino;
	return true;
}

static bool is_at(const tavola_handle *handle, const char *path)
{
	uint64_t device, inode;
	return find_file(path, &device, &inode)
		&& device == handle->device && inode == handle->inode;
}

bool tavola_has_moved(const tavola_handle *handle)
{
	return !is_at(handle, tavola_path(handle->table));
}

/* Takes a handle out of the list. */
static void forget(tavola_handle *handle)
{
	tavola_handle **at = &kept;
	while (*at != handle) {
		at = &(*at)->next;
	}
	*at = handle->next;
	handle->is_kept = false;
	if (handle->users == 0) {
		destroy(handle);
	}
}

/* Finds a kept handle whose file is still the one of its name, and moves it to the front. */
static tavola_handle *find_kept(const char *id, size_t id_len)
{
	for (tavola_handle **at = &kept; *at; at = &(*at)->next) {
		tavola_handle *one = *at;
		if (one->id_len != id_len || memcmp(one->id, id, id_len) != 0) {
			continue;
		}
		if (tavola_has_moved(one)) {
			forget(one);
			return NULL;
		}
		*at = one->next;
		one->next = kept;
		kept = one;
		one->users++;
		return one;
	}
	return NULL;
}

/* Closes the handles that were not used for the longest time, if there are too many. */
static void drop_idle(void)
{
	zend_long idle = 0;
	for (tavola_handle *one = kept, *next; one; one = next) {
		next = one->next;
		if (one->users == 0 && ++idle > TAVOLA_G(max_idle)) {
			forget(one);
		}
	}
}

static tavola_status open_table(
	tavola_how how, const char *name, const tavola_options *options, tavola_table **table)
{
	switch (how) {
		case TAVOLA_CREATE:
			return tavola_create(name, options, table);
		case TAVOLA_EXISTING:
			return tavola_open_existing(name, options, table);
		case TAVOLA_READ_ONLY:
			return tavola_open_read_only(name, options, table);
		case TAVOLA_PRIVATE:
			return tavola_open_private(options, table);
		default:
			return tavola_open(name, options, table);
	}
}

/* Opens the table, and makes sure that `device` and `inode` are those of the file that is open, and
 * not of one that replaced it at this moment. */
static bool open_file(
	tavola_handle *made, tavola_how how, const char *name, const tavola_options *options)
{
	for (int tries = 0;; tries++) {
		uint64_t device = 0, inode = 0;
		bool was_there = how == TAVOLA_OPEN && find_file(name, &device, &inode);
		if (!tavola_did(open_table(how, name, options, &made->table))) {
			return false;
		}
		if (how == TAVOLA_PRIVATE) {
			return true;
		}
		if (!find_file(tavola_path(made->table), &made->device, &made->inode)) {
			/* It is gone again. The handle is used, and not kept. */
			return true;
		}
		bool is_same = was_there && device == made->device && inode == made->inode;
		if (is_same || how != TAVOLA_OPEN || tries == 2) {
			return true;
		}
		tavola_close(made->table);
	}
}

static tavola_handle *make(tavola_how how, const char *name, const tavola_options *options)
{
	tavola_handle *made = pecalloc(1, sizeof(*made), true);
	tavola_stats stats = TAVOLA_INIT(tavola_stats);
	if (!open_file(made, how, name, options)) {
		free(made);
		return NULL;
	}
	if (!tavola_did(tavola_get_stats(made->table, &stats))) {
		destroy(made);
		return NULL;
	}
	made->is_fixed = stats.fixed_key != 0;
	made->ttl_ms = stats.ttl_ms;
	made->users = 1;
	return made;
}

/* Keeps a handle that was opened, for later requests. If another thread has opened the same table
 * meanwhile, this one is not kept. */
static void keep_handle(tavola_handle *made, const char *id, size_t id_len)
{
	for (tavola_handle *one = kept; one; one = one->next) {
		if (one->id_len == id_len && memcmp(one->id, id, id_len) == 0) {
			return;
		}
	}
	made->id = pemalloc(id_len, true);
	memcpy(made->id, id, id_len);
	made->id_len = id_len;
	made->is_kept = true;
	made->next = kept;
	kept = made;
	drop_idle();
}

/* The identity of an open table: how it was opened, all options, and the path. */
static zend_string *id_of(tavola_how how, const char *path, const tavola_options *options)
{
	uint32_t numbers[2] = {how == TAVOLA_READ_ONLY, (uint32_t)geteuid()};
	smart_str id = {0};
	smart_str_appendl(&id, (const char *)numbers, sizeof(numbers));
	smart_str_appendl(&id, (const char *)options, sizeof(*options));
	smart_str_appends(&id, path);
	return smart_str_extract(&id);
}

/* Returns the path that a name stands for, or NULL after an error. */
static char *path_of(const char *name)
{
	char text[MAXPATHLEN];
	tavola_buffer buffer = TAVOLA_BUFFER(text, sizeof(text) - 1);
	if (strchr(name, '/') != NULL) {
		char *path = expand_filepath(name, NULL);
		if (path == NULL || php_check_open_basedir(path)) {
			tavola_throw_text(TAVOLA_ERR_PERMISSION,
				"%s is outside of open_basedir; use a path inside of it", name);
			if (path) {
				efree(path);
			}
			return NULL;
		}
		return path;
	}
	if (!tavola_did(tavola_names_path_of(name, &buffer))) {
		return NULL;
	}
	text[buffer.len] = '\0';
	return estrdup(text);
}

tavola_handle *tavola_acquire(tavola_how how, const char *name, const tavola_options *options)
{
	if (how == TAVOLA_PRIVATE) {
		return make(how, NULL, options);
	}
	char *path = path_of(name);
	if (path == NULL) {
		return NULL;
	}
	zend_string *id = id_of(how, path, options);
	tavola_handle *found = NULL;
	if (how != TAVOLA_CREATE) {
		LOCK();
		found = find_kept(ZSTR_VAL(id), ZSTR_LEN(id));
		UNLOCK();
	}
	if (found == NULL) {
		found = make(how, path, options);
		if (found && found->inode != 0) {
			LOCK();
			keep_handle(found, ZSTR_VAL(id), ZSTR_LEN(id));
			UNLOCK();
		}
	}
	zend_string_release(id);
	efree(path);
	return found;
}

void tavola_release(tavola_handle *handle)
{
	if (handle == NULL) {
		return;
	}
	LOCK();
	if (--handle->users == 0 && !handle->is_kept) {
		destroy(handle);
	} else if (handle->users == 0) {
		drop_idle();
	}
	UNLOCK();
}
