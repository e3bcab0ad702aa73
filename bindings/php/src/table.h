/* The object of Tavola\Table, and reading and writing keys with the codec. */

#ifndef TAVOLA_PHP_TABLE_H
#define TAVOLA_PHP_TABLE_H

typedef struct {
	tavola_handle *handle;
	tavola_serializer serializer;
	bool is_private;
	bool is_read_only;
	zend_object std;
} tavola_php_table;

ZEND_COLD void tavola_throw_closed(void);

/* Returns the table of `$this`, or throws and returns NULL if its constructor has not run. */
static zend_always_inline tavola_php_table *tavola_this_table(zval *object)
{
	tavola_php_table *table = TAVOLA_OBJECT(tavola_php_table, Z_OBJ_P(object));
	if (UNEXPECTED(table->handle == NULL)) {
		tavola_throw_closed();
		return NULL;
	}
	return table;
}

/* Begins a method without a table: declares `self`, and returns if there is none. */
#define TAVOLA_THIS_TABLE() \
	tavola_php_table *self = tavola_this_table(ZEND_THIS); \
	if (UNEXPECTED(self == NULL)) { \
		RETURN_THROWS(); \
	}

/* What a read of a key returned beside its value. */
typedef struct {
	tavola_attributes attributes;
	uint64_t token;
} tavola_found;

/* Reads a key as it is stored. `value` is set after TAVOLA_OK only; `token` may be NULL. */
tavola_status tavola_read_bytes(
	const tavola_table *table, zend_string *key, zend_string **value,
	tavola_attributes *attributes, uint64_t *token);

/* Reads and decodes a key. */
tavola_status tavola_read_value(
	const tavola_php_table *table, zend_string *key, zval *value,
	tavola_attributes *attributes, uint64_t *token);

/* How a key is written. */
typedef struct {
	tavola_condition condition;
	uint64_t token;
	int64_t ttl_ms;
	const tavola_tags *tags;
	bool keeps;
} tavola_writing;

/* Writes a key. */
tavola_status tavola_write_encoded(
	const tavola_php_table *table, zend_string *key, const tavola_encoded *value,
	const tavola_writing *how);

/* Encodes a value and throws if it cannot be stored in this table. */
bool tavola_encode_for(const tavola_php_table *table, tavola_encoded *out, zval *value);

/* Reads an argument `array|Tags|null`. `*tags` becomes NULL for null, else `room`. Throws and
 * returns false after an error. */
bool tavola_tags_argument(
	const tavola_php_table *table, uint32_t number, zval *value, tavola_tags *room,
	const tavola_tags **tags);

/* Adds to a number. */
tavola_status tavola_add_to(
	const tavola_php_table *table, zend_string *key, int64_t by, int64_t initial, int64_t ttl_ms,
	int64_t *now);

/* Begins an iteration over the keys that begin with `prefix`, or over all if it is empty. */
void tavola_make_iterator(zval *out, zval *table, zend_string *prefix);

#endif
