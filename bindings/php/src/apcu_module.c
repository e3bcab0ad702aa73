/*
 * The module "apcu", which stands in for APCu if that is absent: its settings, and its table.
 *
 * Programs ask `extension_loaded('apcu')` and read the setting `apc.enabled`, so the functions
 * belong to a module of that name.
 */

#include "php_tavola.h"
#include "apcu.h"

#include "SAPI.h"
#include "ext/standard/info.h"
#include "ext/standard/php_var.h"
#include "ext/standard/basic_functions.h"
#include "php_ini.h"
#include "php_scandir.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "apcu_arginfo.h"

#define APCU_VERSION "5.1.22"

static PHP_INI_MH(on_shm_size)
{
	uint64_t bytes;
#if PHP_VERSION_ID >= 80200
	zend_long size = zend_ini_parse_quantity_warn(new_value, entry->name);
#else
	zend_long size = zend_atol(ZSTR_VAL(new_value), ZSTR_LEN(new_value));
#endif
	(void)entry;
	(void)stage;
	if (size <= 0) {
		return FAILURE;
	}
	bytes = (uint64_t)size;
	if (bytes < 1 << 20) {
		php_error_docref(NULL, E_WARNING,
			"apc.shm_size now uses M/G suffixes, please update your ini files");
		bytes <<= 20;
	}
	*(zend_long *)ZEND_INI_GET_ADDR() = (zend_long)bytes;
	return SUCCESS;
}

static PHP_INI_MH(on_shm_segments)
{
	(void)entry;
	(void)stage;
	if (ZEND_STRTOL(ZSTR_VAL(new_value), NULL, 10) != 1) {
		php_error_docref(NULL, E_WARNING, "apc.shm_segments setting ignored in MMAP mode");
	}
	return SUCCESS;
}

/* The settings without a member have no counterpart in a table, and are accepted. */
PHP_INI_BEGIN()
	STD_PHP_INI_BOOLEAN("apc.enabled", "1", PHP_INI_SYSTEM,
		OnUpdateBool, apc_enabled, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_BOOLEAN("apc.enable_cli", "0", PHP_INI_SYSTEM,
		OnUpdateBool, apc_enable_cli, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("apc.shm_size", "32M", PHP_INI_SYSTEM,
		on_shm_size, apc_shm_size, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("apc.serializer", "php", PHP_INI_SYSTEM,
		OnUpdateStringUnempty, apc_serializer, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("apc.preload_path", NULL, PHP_INI_SYSTEM,
		OnUpdateString, apc_preload_path, zend_tavola_globals, tavola_globals)
	PHP_INI_ENTRY("apc.shm_segments", "1", PHP_INI_SYSTEM, on_shm_segments)
	PHP_INI_ENTRY("apc.entries_hint", "4096", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.gc_ttl", "3600", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.ttl", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.smart", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.mmap_file_mask", NULL, PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.slam_defense", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.coredump_unmap", "0", PHP_INI_SYSTEM, NULL)
	PHP_INI_ENTRY("apc.use_request_time", "0", PHP_INI_ALL, NULL)
PHP_INI_END()

static void register_constants(int module_number)
{
	static const char *const items[] = {"TYPE", "KEY", "VALUE", "NUM_HITS", "MTIME", "CTIME",
		"DTIME", "ATIME", "REFCOUNT", "MEM_SIZE", "TTL"};
	char name[32];
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		int len = snprintf(name, sizeof(name), "APC_ITER_%s", items[i]);
		zend_register_long_constant(
			name, (size_t)len, (zend_long)1 << i, CONST_PERSISTENT | CONST_CS, module_number);
	}
	REGISTER_LONG_CONSTANT("APC_ITER_NONE", 0, CONST_PERSISTENT | CONST_CS);
	REGISTER_LONG_CONSTANT("APC_ITER_ALL", 0xffffffffL, CONST_PERSISTENT | CONST_CS);
	REGISTER_LONG_CONSTANT("APC_LIST_ACTIVE", 1, CONST_PERSISTENT | CONST_CS);
	REGISTER_LONG_CONSTANT("APC_LIST_DELETED", 2, CONST_PERSISTENT | CONST_CS);
}

static PHP_MINIT_FUNCTION(apcu)
{
	(void)type;
	REGISTER_INI_ENTRIES();
	register_constants(module_number);
	tavola_init_apcu_iterator(register_class_APCUIterator(zend_ce_iterator));
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(apcu)
{
	(void)type;
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(apcu)
{
	(void)zend_module;
	php_info_print_table_start();
	php_info_print_table_row(2, "APCu Support", tavola_apcu_is_enabled() ? "Enabled" : "Disabled");
	php_info_print_table_row(2, "Version", APCU_VERSION " (the functions of tavola)");
	php_info_print_table_row(2, "Table", TAVOLA_G(apcu_table));
	php_info_print_table_row(2, "Serialization Support", "php, igbinary");
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static zend_module_entry apcu_module = {
	STANDARD_MODULE_HEADER,
	"apcu",
	ext_functions,
	PHP_MINIT(apcu),
	PHP_MSHUTDOWN(apcu),
	NULL,
	NULL,
	PHP_MINFO(apcu),
	APCU_VERSION,
	STANDARD_MODULE_PROPERTIES
};

zend_result tavola_start_apcu(void)
{
	if (zend_hash_str_exists(&module_registry, ZEND_STRL("apcu"))) {
		/* APCu itself is here, and its functions stay. */
		return SUCCESS;
	}
	return zend_startup_module(&apcu_module);
}

bool tavola_apcu_is_enabled(void)
{
	bool is_cli = strcmp(sapi_module.name, "cli") == 0;
	return TAVOLA_G(apc_enabled) && (!is_cli || TAVOLA_G(apc_enable_cli));
}

/* {{{ The table */

/* Adds the value of a file of `apc.preload_path`: the output of `serialize`. */
static void preload_file(const tavola_php_table *table, const char *path, const char *name)
{
	php_stream *stream = php_stream_open_wrapper(path, "rb", IGNORE_URL, NULL);
	tavola_encoded encoded;
	zval value;
	if (stream == NULL) {
		return;
	}
	zend_string *text = php_stream_copy_to_mem(stream, PHP_STREAM_COPY_ALL, false);
	/* Editors add a newline to a file. */
	while (ZSTR_LEN(text) > 0 && ZSTR_VAL(text)[ZSTR_LEN(text) - 1] == '\n') {
		text = zend_string_truncate(text, ZSTR_LEN(text) - 1, false);
	}
	zend_string *key = zend_string_init(name, (size_t)(strrchr(name, '.') - name), false);
	php_stream_close(stream);
	/* Bytes that do not decode come back as the same string. */
	zend_string_addref(text);
	tavola_decode(&value, text, TAVOLA_KIND_PHP, TAVOLA_SERIALIZER_PHP);
	bool is_broken = Z_TYPE(value) == IS_STRING && Z_STR(value) == text;
	if (!is_broken && tavola_encode(&encoded, &value, table->serializer)) {
		tavola_writing how = {.condition = TAVOLA_CONDITION_ABSENT};
		tavola_write_encoded(table, key, &encoded, &how);
		tavola_encoded_free(&encoded);
	}
	zend_string_release(key);
	zend_string_release(text);
	zval_ptr_dtor(&value);
}

/* Adds the values of `apc.preload_path`, once for a process. Those that exist stay. */
static void preload(const tavola_php_table *table)
{
	static bool is_done;
	struct dirent **names = NULL;
	const char *directory = TAVOLA_G(apc_preload_path);
	if (is_done || directory == NULL || directory[0] == '\0') {
		return;
	}
	is_done = true;
	int count = php_scandir(directory, &names, NULL, php_alphasort);
	for (int i = 0; i < count; i++) {
		const char *dot = strrchr(names[i]->d_name, '.');
		if (dot && strcmp(dot, ".data") == 0) {
			char *path;
			spprintf(&path, 0, "%s/%s", directory, names[i]->d_name);
			preload_file(table, path, names[i]->d_name);
			efree(path);
		}
		free(names[i]);
	}
	free(names);
}

/* Opens the table. An exception becomes a warning, as the functions of APCu throw none. */
static tavola_handle *open_table(void)
{
	tavola_options options = TAVOLA_INIT(tavola_options);
	options.capacity = (uint64_t)TAVOLA_G(apc_shm_size);
	options.max_size = MAX(2 * options.capacity, 16 << 20);
	options.mode = (uint32_t)TAVOLA_G(mode);
	options.group_id = (uint32_t)TAVOLA_G(group);
	tavola_handle *handle = tavola_acquire(TAVOLA_OPEN, TAVOLA_G(apcu_table), &options);
	if (handle == NULL) {
		zend_clear_exception();
		php_error_docref(NULL, E_WARNING,
			"The table of the APCu functions cannot be opened: %s", tavola_last_error());
	}
	return handle;
}

tavola_php_table *tavola_apcu_table(void)
{
	tavola_apcu *apcu = TAVOLA_G(apcu);
	if (EXPECTED(apcu != NULL)) {
		return apcu->table.handle ? &apcu->table : NULL;
	}
	if (!tavola_apcu_is_enabled()) {
		return NULL;
	}
	apcu = ecalloc(1, sizeof(*apcu));
	TAVOLA_G(apcu) = apcu;
	apcu->table.handle = open_table();
	apcu->table.serializer = strcmp(TAVOLA_G(apc_serializer), "igbinary") == 0
		? TAVOLA_SERIALIZER_IGBINARY : TAVOLA_SERIALIZER_PHP;
	if (apcu->table.handle == NULL) {
		return NULL;
	}
	preload(&apcu->table);
	return &apcu->table;
}

void tavola_end_apcu_request(void)
{
	tavola_apcu *apcu = TAVOLA_G(apcu);
	if (apcu) {
		TAVOLA_G(apcu) = NULL;
		tavola_release(apcu->table.handle);
		efree(apcu);
	}
}

/* }}} */
