/* Many keys in one call. */

#include "php_tavola.h"

/* {{{ Reading */

/* How many keys are fetched ahead at once. */
#define PREFETCHED 64

/* Collects up to PREFETCHED keys of an array, from `*at` on, and tells the library about them. */
static uint32_t next_keys(
	const tavola_table *table, HashTable *given, HashPosition *at, zend_string **keys)
{
	tavola_bytes bytes[PREFETCHED];
	uint32_t count = 0;
	zval *one;
	for (; count < PREFETCHED && (one = zend_hash_get_current_data_ex(given, at)) != NULL;
			zend_hash_move_forward_ex(given, at)) {
		zend_string *key = zval_try_get_string(one);
		if (key == NULL) {
			break;
		}
		keys[count] = key;
		bytes[count].data = ZSTR_VAL(key);
		bytes[count].len = ZSTR_LEN(key);
		count++;
	}
	if (count > 1) {
		tavola_prefetch(table, bytes, count);
	}
	return count;
}

static void release_keys(zend_string **keys, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		zend_string_release(keys[i]);
	}
}

static bool add_found(
	const tavola_php_table *table, zend_string *key, zval *out)
{
	zval value;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	if (tavola_answered(tavola_read_value(table, key, &value, &has, NULL))) {
		zend_symtable_update(Z_ARRVAL_P(out), key, &value);
	}
	return EG(exception) == NULL;
}

ZEND_METHOD(Tavola_Table, getMultiple)
{
	HashTable *given;
	zend_string *keys[PREFETCHED];
	HashPosition at;
	uint32_t count;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(given)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	array_init_size(return_value, zend_hash_num_elements(given));
	zend_hash_internal_pointer_reset_ex(given, &at);
	while ((count = next_keys(self->handle->table, given, &at, keys)) > 0 && !EG(exception)) {
		for (uint32_t i = 0; i < count && add_found(self, keys[i], return_value); i++) {
		}
		release_keys(keys, count);
		count = 0;
	}
	release_keys(keys, count);
}

/* }}} */

/* {{{ Removing */

/* The keys of an array as strings. */
typedef struct {
	uint32_t count;
	zend_string **strings;
	tavola_bytes *bytes;
} key_list;

/* Reads the keys of an array. Throws and returns false if one cannot be a string. */
static bool list_keys(key_list *list, HashTable *given)
{
	uint32_t most = zend_hash_num_elements(given);
	zval *one;
	list->count = 0;
	list->strings = safe_emalloc(most, sizeof(*list->strings), 0);
	list->bytes = safe_emalloc(most, sizeof(*list->bytes), 0);
	ZEND_HASH_FOREACH_VAL(given, one) {
		zend_string *key = zval_try_get_string(one);
		if (key == NULL) {
			return false;
		}
		list->strings[list->count] = key;
		list->bytes[list->count].data = ZSTR_VAL(key);
		list->bytes[list->count].len = ZSTR_LEN(key);
		list->count++;
	} ZEND_HASH_FOREACH_END();
	return true;
}

static void free_keys(key_list *list)
{
	release_keys(list->strings, list->count);
	efree(list->strings);
	efree(list->bytes);
}

ZEND_METHOD(Tavola_Table, deleteMultiple)
{
	HashTable *given;
	key_list list;
	uint64_t removed = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(given)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (list_keys(&list, given)) {
		tavola_did(tavola_remove_many(
			self->handle->table, list.bytes, list.count, &removed));
	}
	free_keys(&list);
	RETVAL_LONG((zend_long)removed);
}

/* }}} */

/* {{{ Writing */

/* A key with its value, as the library takes them. The entry points into the rest. */
typedef struct {
	zend_string *key;
	tavola_encoded value;
	tavola_attributes attributes;
} pair;

/* All of one call. */
typedef struct {
	uint32_t count;
	pair *pairs;
	tavola_entry *entries;
} pair_list;

/* Encodes the values of an array. Throws and returns false if one cannot be stored. */
static bool list_pairs(
	const tavola_php_table *table, pair_list *list, HashTable *values, int64_t ttl_ms)
{
	uint32_t most = zend_hash_num_elements(values);
	zend_ulong number;
	zend_string *name;
	zval *value;
	list->count = 0;
	list->pairs = safe_emalloc(most, sizeof(*list->pairs), 0);
	list->entries = safe_emalloc(most, sizeof(*list->entries), 0);
	ZEND_HASH_FOREACH_KEY_VAL(values, number, name, value) {
		pair *one = &list->pairs[list->count];
		tavola_entry *entry = &list->entries[list->count];
		if (!tavola_encode_for(table, &one->value, value)) {
			return false;
		}
		one->key = name ? zend_string_copy(name) : zend_long_to_str((zend_long)number);
		one->attributes = (tavola_attributes)TAVOLA_INIT(tavola_attributes);
		one->attributes.ttl_ms = ttl_ms;
		one->attributes.flags = one->value.flags;
		entry->key = (tavola_bytes){ZSTR_VAL(one->key), ZSTR_LEN(one->key)};
		entry->value = (tavola_bytes){one->value.bytes, one->value.len};
		entry->attributes = &one->attributes;
		list->count++;
	} ZEND_HASH_FOREACH_END();
	return true;
}

static void free_pairs(pair_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		zend_string_release(list->pairs[i].key);
		tavola_encoded_free(&list->pairs[i].value);
	}
	efree(list->pairs);
	efree(list->entries);
}

ZEND_METHOD(Tavola_Table, setMultiple)
{
	HashTable *values;
	zval *ttl = NULL, *tags = NULL;
	int64_t ttl_ms = 0;
	tavola_tags room = TAVOLA_INIT(tavola_tags);
	const tavola_tags *given = NULL;
	pair_list list;
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ARRAY_HT(values)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_ZVAL(tags)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	if (!tavola_ttl_ms(ttl, &ttl_ms)
			|| (tags && !tavola_tags_argument(self, 3, tags, &room, &given))) {
		RETURN_THROWS();
	}
	if (list_pairs(self, &list, values, ttl_ms)) {
		const tavola_table *table = self->handle->table;
		tavola_did(given
			? tavola_set_many_tagged(table, list.entries, list.count, given)
			: tavola_set_many_entries(table, list.entries, list.count));
	}
	free_pairs(&list);
	RETVAL_TRUE;
}

/* }}} */
