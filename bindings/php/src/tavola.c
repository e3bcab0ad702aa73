/* The module: its settings, its beginning and its end. */

#include "php_tavola.h"

#include "ext/standard/info.h"
#include "php_ini.h"

ZEND_DECLARE_MODULE_GLOBALS(tavola)

const zend_function_entry *tavola_functions(void);

/* A mode such as 0660: octal, with or without the 0. */
static PHP_INI_MH(on_mode)
{
	char *end = NULL;
	zend_long mode = new_value ? ZEND_STRTOL(ZSTR_VAL(new_value), &end, 8) : 0;
	(void)entry;
	(void)stage;
	if ((end && *end != '\0') || mode < 0 || mode > 07777) {
		return FAILURE;
	}
	*(zend_long *)ZEND_INI_GET_ADDR() = mode;
	return SUCCESS;
}

PHP_INI_BEGIN()
	STD_PHP_INI_ENTRY("tavola.directory", "", PHP_INI_SYSTEM,
		OnUpdateString, directory, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("tavola.serializer", "", PHP_INI_ALL,
		OnUpdateString, serializer, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("tavola.mode", "0", PHP_INI_SYSTEM,
		on_mode, mode, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("tavola.group", "0", PHP_INI_SYSTEM,
		OnUpdateLong, group, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("tavola.max_idle", "64", PHP_INI_SYSTEM,
		OnUpdateLongGEZero, max_idle, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_BOOLEAN("tavola.apcu_compat", "0", PHP_INI_SYSTEM,
		OnUpdateBool, apcu_compat, zend_tavola_globals, tavola_globals)
	STD_PHP_INI_ENTRY("tavola.apcu_table", "apcu", PHP_INI_SYSTEM,
		OnUpdateStringUnempty, apcu_table, zend_tavola_globals, tavola_globals)
PHP_INI_END()

/* The directory of tables: the setting, else the environment at the start of the process. */
static char *start_directory;

static void remember_directory(void)
{
	const char *directory = TAVOLA_G(directory);
	if (directory == NULL || directory[0] == '\0') {
		directory = getenv("TAVOLA_DIR");
	}
	start_directory = directory ? pestrdup(directory, true) : NULL;
	if (directory) {
		setenv("TAVOLA_DIR", directory, 1);
	}
}

/* php-fpm removes the environment of its workers (`clear_env`), which the library asks. */
static void restore_directory(void)
{
	if (start_directory && getenv("TAVOLA_DIR") == NULL) {
		setenv("TAVOLA_DIR", start_directory, 1);
	}
}

static PHP_GINIT_FUNCTION(tavola)
{
#if defined(COMPILE_DL_TAVOLA) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	memset(tavola_globals, 0, sizeof(*tavola_globals));
}

static PHP_MINIT_FUNCTION(tavola)
{
	REGISTER_INI_ENTRIES();
	remember_directory();
	tavola_start_handles();
	tavola_register_classes();
	tavola_start_sessions();
	zend_register_functions(NULL, tavola_functions(), NULL, type);
	return TAVOLA_G(apcu_compat) ? tavola_start_apcu() : SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(tavola)
{
	(void)type;
	tavola_end_handles();
	free(start_directory);
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(tavola)
{
	(void)type;
	(void)module_number;
#if defined(COMPILE_DL_TAVOLA) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	restore_directory();
	TAVOLA_G(running) = NULL;
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(tavola)
{
	(void)type;
	(void)module_number;
	tavola_end_apcu_request();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(tavola)
{
	char path[MAXPATHLEN];
	tavola_buffer buffer = TAVOLA_BUFFER(path, sizeof(path) - 1);
	php_info_print_table_start();
	php_info_print_table_row(2, "Tavola", "enabled");
	php_info_print_table_row(2, "Version of the extension", PHP_TAVOLA_VERSION);
	php_info_print_table_row(2, "Version of the library", tavola_version());
	if (tavola_names_directory(&buffer) == TAVOLA_OK) {
		path[buffer.len] = '\0';
		php_info_print_table_row(2, "Directory of tables", path);
	}
	php_info_print_table_row(2, "Functions of APCu",
		TAVOLA_G(apcu_compat) ? "asked for" : "not asked for");
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

ZEND_FUNCTION(Tavola_version)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_STRING(tavola_version());
}

static const zend_module_dep dependencies[] = {
	ZEND_MOD_REQUIRED("json")
	ZEND_MOD_REQUIRED("pcre")
	ZEND_MOD_REQUIRED("spl")
	ZEND_MOD_REQUIRED("standard")
	ZEND_MOD_OPTIONAL("igbinary")
	ZEND_MOD_OPTIONAL("apcu")
	ZEND_MOD_OPTIONAL("session")
	ZEND_MOD_END
};

zend_module_entry tavola_module_entry = {
	STANDARD_MODULE_HEADER_EX,
	NULL,
	dependencies,
	"tavola",
	NULL,
	PHP_MINIT(tavola),
	PHP_MSHUTDOWN(tavola),
	PHP_RINIT(tavola),
	PHP_RSHUTDOWN(tavola),
	PHP_MINFO(tavola),
	PHP_TAVOLA_VERSION,
	PHP_MODULE_GLOBALS(tavola),
	PHP_GINIT(tavola),
	NULL,
	NULL,
	STANDARD_MODULE_PROPERTIES_EX
};

#ifdef COMPILE_DL_TAVOLA
# ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
# endif
ZEND_GET_MODULE(tavola)
#endif
