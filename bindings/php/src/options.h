/* The array of options that opens a table, a queue or a log, and times and sizes in it. */

#ifndef TAVOLA_PHP_OPTIONS_H
#define TAVOLA_PHP_OPTIONS_H

/* A reader of options, which notices the ones that nobody asked for. */
typedef struct {
	HashTable *given;
	uint32_t known;
} tavola_reader;

/* Each returns false after it has thrown. A missing option, or null, changes nothing. */
bool tavola_read_size(tavola_reader *reader, const char *name, uint64_t *bytes);
bool tavola_read_number(tavola_reader *reader, const char *name, uint64_t most, uint64_t *number);
bool tavola_read_flag(tavola_reader *reader, const char *name, uint32_t *flag);
bool tavola_read_seconds(tavola_reader *reader, const char *name, double *seconds);
zend_string *tavola_read_text(tavola_reader *reader, const char *name);

/* Throws and returns false if there are options of other names. */
bool tavola_read_all(tavola_reader *reader);

/* Opens a table, a queue or a log into an object that is new. */
typedef void tavola_open_into(
	zval *object, tavola_how how, const char *name, HashTable *options);

/* How a static method opens one. */
typedef struct {
	zend_class_entry *const *class;
	tavola_open_into *open_into;
	tavola_how how;
	/* The most arguments: 2 if there are options. */
	uint32_t most;
} tavola_opener;

/* A constructor, and such a static method; open.c. */
void tavola_construct(INTERNAL_FUNCTION_PARAMETERS, tavola_open_into *open_into);
void tavola_open_new(INTERNAL_FUNCTION_PARAMETERS, const tavola_opener *opener);

/* Defines a constructor by the function `open_into` of the file. */
#define TAVOLA_CONSTRUCTOR(name) \
	ZEND_METHOD(name, __construct) \
	{ \
		tavola_construct(INTERNAL_FUNCTION_PARAM_PASSTHRU, open_into); \
	}

/* Defines a static method that opens an object of the class `ce`, also by `open_into`. */
#define TAVOLA_OPENER(name, method, ce, how, most) \
	ZEND_METHOD(name, method) \
	{ \
		static const tavola_opener opener = {&ce, open_into, how, most}; \
		tavola_open_new(INTERNAL_FUNCTION_PARAM_PASSTHRU, &opener); \
	}

/* The options of a table. */
bool tavola_read_options(
	HashTable *given, tavola_options *options, tavola_serializer *serializer, double *lock_timeout);

/* Reads a size such as 64 or "64M". */
bool tavola_size_of(zend_string *text, zend_long number, const char *what, uint64_t *bytes);

/* Reads an argument `int|float|null`, which is NULL for null, as the TTL of a key. Throws and
 * returns false if the number is no TTL. */
bool tavola_ttl_ms(const zval *seconds, int64_t *ttl_ms);

/* Whether a TTL of the library is for ever. A lease has a thousand years instead of that. */
bool tavola_is_for_ever(int64_t ttl_ms);

/* Reads such an argument as a time to wait: a negative number, without an end, for null. */
double tavola_wait_seconds(const zval *seconds);

/* Reads a number of seconds that must not be negative, as milliseconds. Throws and returns false
 * otherwise. */
bool tavola_duration_ms(const zval *seconds, const char *what, uint64_t *ms);

#endif
