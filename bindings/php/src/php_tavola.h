/*
 * Tavola for PHP: what the files of the extension share.
 *
 * A method converts its arguments, calls the library once and builds the result once. The library
 * must never be left by a longjmp, and PHP leaves a function by one when memory runs out. So no
 * callback of the library allocates PHP memory unless `tavola_has_room` says that it can.
 *
 * MIT OR Apache-2.0, at your choice.
 */

#ifndef PHP_TAVOLA_H
#define PHP_TAVOLA_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"
#include "zend_smart_str.h"
#include <tavola.h>

#define PHP_TAVOLA_VERSION TAVOLA_VERSION

extern zend_module_entry tavola_module_entry;
#define phpext_tavola_ptr &tavola_module_entry

/* How values that are neither scalars nor JSON are written. */
typedef enum {
	TAVOLA_SERIALIZER_NONE,
	TAVOLA_SERIALIZER_PHP,
	TAVOLA_SERIALIZER_IGBINARY,
} tavola_serializer;

ZEND_BEGIN_MODULE_GLOBALS(tavola)
	char *directory;
	char *serializer;
	zend_long max_idle;
	zend_long mode;
	zend_long group;
	bool apcu_compat;
	char *apcu_table;
	bool apc_enabled;
	bool apc_enable_cli;
	zend_long apc_shm_size;
	char *apc_serializer;
	char *apc_preload_path;
	/* The table of the functions of APCu, once this request has used it. */
	struct tavola_apcu *apcu;
	/* The length of the last large value that was read, and whether the one before had it, too. */
	size_t last_len;
	bool is_repeated;
	/* The innermost computation of this request. */
	struct tavola_computation *running;
ZEND_END_MODULE_GLOBALS(tavola)

ZEND_EXTERN_MODULE_GLOBALS(tavola)
#define TAVOLA_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(tavola, v)

#if defined(ZTS) && defined(COMPILE_DL_TAVOLA)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* A struct that ends with its PHP object. */
#define TAVOLA_OBJECT(type, object) \
	((type *)((char *)(object) - XtOffsetOf(type, std)))

/* A class whose objects are structs of this type. */
#define TAVOLA_NEW_OBJECT(type, name, handlers_of) \
	static zend_object *name(zend_class_entry *ce) \
	{ \
		type *made = zend_object_alloc(sizeof(type), ce); \
		zend_object_std_init(&made->std, ce); \
		object_properties_init(&made->std, ce); \
		made->std.handlers = handlers_of; \
		return &made->std; \
	}

#include "errors.h"
#include "codec.h"
#include "handles.h"
#include "options.h"
#include "table.h"

/* Classes; registered by classes.c. */
extern zend_class_entry *tavola_table_ce;
extern zend_class_entry *tavola_iterator_ce;
extern zend_class_entry *tavola_tags_ce;
extern zend_class_entry *tavola_transaction_ce;
extern zend_class_entry *tavola_lock_ce;
extern zend_class_entry *tavola_session_lock_ce;
extern zend_class_entry *tavola_watch_ce;
extern zend_class_entry *tavola_queue_ce;
extern zend_class_entry *tavola_job_ce;
extern zend_class_entry *tavola_log_ce;

void tavola_register_classes(void);
void tavola_init_table(void);
void tavola_init_iterator(void);
void tavola_init_tags(void);
void tavola_init_transaction(void);
void tavola_init_compute(void);
void tavola_init_lock(void);
void tavola_init_session_lock(void);
void tavola_init_watch(void);
void tavola_init_queue(void);
void tavola_init_log(void);

/* The functions of APCu; apcu.c. */
zend_result tavola_start_apcu(void);
void tavola_end_apcu_request(void);

/* Registers the save handler of sessions; session.c. */
void tavola_start_sessions(void);

#endif
