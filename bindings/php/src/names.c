/* The names of tables. */

#include "php_tavola.h"
#include "lists.h"

/* Calls a function that returns a path or a sentence, and returns its status. */
#define READ_TEXT(text, call) \
	char text[MAXPATHLEN + 1024]; \
	tavola_buffer buffer = TAVOLA_BUFFER(text, sizeof(text)); \
	tavola_status status = call

ZEND_METHOD(Tavola_Names, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

/* Durable tables are named by their paths, others by the names of their files. */
ZEND_METHOD(Tavola_Names, list)
{
	tavola_texts paths = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	READ_TEXT(text, tavola_names_directory(&buffer));
	if (tavola_did(status) && tavola_did(tavola_names_list(tavola_add_text, &paths))) {
		zval all, *path;
		array_init(&all);
		tavola_take_texts(&paths, &all);
		array_init(return_value);
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL(all), path) {
			const char *name = Z_STRVAL_P(path);
			bool is_inside = strncmp(name, text, buffer.len) == 0 && name[buffer.len] == '/';
			bool is_file = is_inside && strchr(name + buffer.len + 1, '/') == NULL;
			add_next_index_string(return_value, is_file ? name + buffer.len + 1 : name);
		} ZEND_HASH_FOREACH_END();
		zval_ptr_dtor(&all);
	}
	free(paths.bytes);
}

ZEND_METHOD(Tavola_Names, directory)
{
	ZEND_PARSE_PARAMETERS_NONE();
	READ_TEXT(text, tavola_names_directory(&buffer));
	if (tavola_did(status)) {
		RETURN_STRINGL(text, buffer.len);
	}
}

ZEND_METHOD(Tavola_Names, path)
{
	zend_string *name;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_PATH_STR(name)
	ZEND_PARSE_PARAMETERS_END();
	READ_TEXT(text, tavola_names_path_of(ZSTR_VAL(name), &buffer));
	if (tavola_did(status)) {
		RETURN_STRINGL(text, buffer.len);
	}
}

ZEND_METHOD(Tavola_Names, warning)
{
	zend_string *name;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_PATH_STR(name)
	ZEND_PARSE_PARAMETERS_END();
	READ_TEXT(text, tavola_names_warning(ZSTR_VAL(name), &buffer));
	if (tavola_answered(status)) {
		RETURN_STRINGL(text, buffer.len);
	}
}

/* Returns whether the script may change the file of this name. */
static bool is_allowed(zend_string *name)
{
	if (strchr(ZSTR_VAL(name), '/') == NULL || !php_check_open_basedir(ZSTR_VAL(name))) {
		return true;
	}
	tavola_throw_text(TAVOLA_ERR_PERMISSION,
		"%s is outside of open_basedir; use a path inside of it", ZSTR_VAL(name));
	return false;
}

ZEND_METHOD(Tavola_Names, remove)
{
	zend_string *name;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_PATH_STR(name)
	ZEND_PARSE_PARAMETERS_END();
	if (!is_allowed(name)) {
		RETURN_THROWS();
	}
	tavola_status status = tavola_names_remove(ZSTR_VAL(name));
	if (status == TAVOLA_ERR_NO_TABLE) {
		RETURN_FALSE;
	}
	RETURN_BOOL(tavola_did(status));
}

ZEND_METHOD(Tavola_Names, rename)
{
	zend_string *from, *to;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_PATH_STR(from)
		Z_PARAM_PATH_STR(to)
	ZEND_PARSE_PARAMETERS_END();
	if (is_allowed(from) && is_allowed(to)) {
		tavola_did(tavola_names_rename(ZSTR_VAL(from), ZSTR_VAL(to)));
	}
}
