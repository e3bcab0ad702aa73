/* Methods that open something with a name: a table, a queue or a log. */

#include "php_tavola.h"

/* Reads the arguments of such a method. Returns false after it has thrown. */
static bool read_arguments(
	zend_execute_data *execute_data, uint32_t most, zend_string **name, HashTable **options)
{
	*options = (HashTable *)&zend_empty_array;
	ZEND_PARSE_PARAMETERS_START(1, most)
		Z_PARAM_PATH_STR(*name)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT(*options)
	ZEND_PARSE_PARAMETERS_END_EX(return false);
	return true;
}

void tavola_construct(INTERNAL_FUNCTION_PARAMETERS, tavola_open_into *open_into)
{
	zend_string *name;
	HashTable *options;
	if (!read_arguments(execute_data, 2, &name, &options)) {
		RETURN_THROWS();
	}
	open_into(ZEND_THIS, TAVOLA_OPEN, ZSTR_VAL(name), options);
}

void tavola_open_new(INTERNAL_FUNCTION_PARAMETERS, const tavola_opener *opener)
{
	zend_string *name;
	HashTable *options;
	if (!read_arguments(execute_data, opener->most, &name, &options)) {
		RETURN_THROWS();
	}
	object_init_ex(return_value, *opener->class);
	opener->open_into(return_value, opener->how, ZSTR_VAL(name), options);
}
