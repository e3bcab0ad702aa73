/* APCUIterator: an iteration in chunks over the keys that match a pattern or a list. */

#include "php_tavola.h"
#include "apcu.h"

#include "ext/pcre/php_pcre.h"
#include "ext/standard/php_string.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#define APC_LIST_ACTIVE 1
#define APC_LIST_DELETED 2
#define APC_ITER_ALL 0xffffffffL
#define DEFAULT_CHUNK 100

/* The members of an item, in APCu's order. */
enum {
	ITER_TYPE = 1 << 0,
	ITER_KEY = 1 << 1,
	ITER_VALUE = 1 << 2,
	ITER_NUM_HITS = 1 << 3,
	ITER_MTIME = 1 << 4,
	ITER_CTIME = 1 << 5,
	ITER_DTIME = 1 << 6,
	ITER_ATIME = 1 << 7,
	ITER_REFCOUNT = 1 << 8,
	ITER_MEM_SIZE = 1 << 9,
	ITER_TTL = 1 << 10,
};

typedef struct {
	bool is_initialized;
	bool has_totals;
	zend_long format;
	zend_long list;
	size_t chunk_size;
	/* What is looked for: at most one of the two. */
	pcre_cache_entry *pattern;
	HashTable *names;
	/* The iteration over the table; NULL before it has begun. */
	tavola_iter *iter;
	/* The items of this chunk by their keys, and the current one. */
	HashTable items;
	HashPosition at;
	zend_long size;
	zend_long count;
	zend_object std;
} apcu_iterator;

static zend_object_handlers handlers;
static zend_class_entry *iterator_ce;

static apcu_iterator *iterator_of(zend_object *object)
{
	return TAVOLA_OBJECT(apcu_iterator, object);
}

#define THIS_ITERATOR() \
	apcu_iterator *self = iterator_of(Z_OBJ_P(ZEND_THIS)); \
	if (!self->is_initialized) { \
		zend_throw_error(NULL, "Trying to use uninitialized APCUIterator"); \
		RETURN_THROWS(); \
	}

static void free_iterator(zend_object *object)
{
	apcu_iterator *self = iterator_of(object);
	tavola_iter_close(self->iter);
	if (self->pattern) {
		php_pcre_pce_decref(self->pattern);
	}
	if (self->names) {
		zend_array_release(self->names);
	}
	if (self->is_initialized) {
		zend_hash_destroy(&self->items);
	}
	zend_object_std_dtor(object);
}

/* {{{ Finding keys */

static bool matches(const apcu_iterator *self, const tavola_bytes *key)
{
	if (self->pattern) {
		pcre2_code *code = php_pcre_pce_re(self->pattern);
		pcre2_match_data *data = php_pcre_create_match_data(0, code);
		int found = data == NULL ? -1 : pcre2_match(code,
			(PCRE2_SPTR)(key->data ? key->data : ""), key->len, 0, 0, data, php_pcre_mctx());
		if (data) {
			php_pcre_free_match_data(data);
		}
		return found >= 0;
	}
	return self->names == NULL
		|| zend_hash_str_exists(self->names, key->data ? key->data : "", key->len);
}

static void put_item(
	const apcu_iterator *self, const tavola_php_table *table, zval *item, zend_string *key,
	const tavola_bytes *value, const tavola_attributes *has)
{
	zend_long now = (zend_long)time(NULL);
	const struct {
		zend_long bit;
		const char *name;
		zend_long number;
	} numbers[] = {
		{ITER_NUM_HITS, "num_hits", 0}, {ITER_MTIME, "mtime", now},
		{ITER_CTIME, "creation_time", now}, {ITER_DTIME, "deletion_time", 0},
		{ITER_ATIME, "access_time", now}, {ITER_REFCOUNT, "ref_count", 0},
		{ITER_MEM_SIZE, "mem_size", (zend_long)(ZSTR_LEN(key) + value->len)},
		{ITER_TTL, "ttl", tavola_apcu_ttl(has)},
	};
	array_init(item);
	if (self->format & ITER_TYPE) {
		add_assoc_string(item, "type", "user");
	}
	if (self->format & ITER_KEY) {
		add_assoc_str(item, "key", zend_string_copy(key));
	}
	if (self->format & ITER_VALUE) {
		zval decoded;
		zend_string *bytes = zend_string_init(value->data ? value->data : "", value->len, false);
		tavola_decode(&decoded, bytes, has->flags, table->serializer);
		add_assoc_zval(item, "value", &decoded);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (self->format & numbers[i].bit) {
			add_assoc_long(item, numbers[i].name, numbers[i].number);
		}
	}
}

static int by_key(Bucket *a, Bucket *b)
{
	return strnatcmp_ex(ZSTR_VAL(a->key), ZSTR_LEN(a->key), ZSTR_VAL(b->key), ZSTR_LEN(b->key), 0);
}

/* Reads the next chunk. Its items are in the natural order of their keys. Returns how many. */
static size_t fetch(apcu_iterator *self)
{
	tavola_bytes key, value;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	const tavola_php_table *table = tavola_apcu_table();
	zend_hash_clean(&self->items);
	if (table == NULL || self->list == APC_LIST_DELETED) {
		return 0;
	}
	if (self->iter == NULL && tavola_iter_open(table->handle->table, &self->iter) != TAVOLA_OK) {
		return 0;
	}
	while (zend_hash_num_elements(&self->items) < self->chunk_size
			&& tavola_iter_next_with_attributes(self->iter, &key, &value, &has) == TAVOLA_OK) {
		if (matches(self, &key)) {
			zval item;
			zend_string *name = zend_string_init(key.data ? key.data : "", key.len, false);
			put_item(self, table, &item, name, &value, &has);
			zend_hash_update(&self->items, name, &item);
			zend_string_release(name);
		}
	}
	zend_hash_sort(&self->items, by_key, false);
	zend_hash_internal_pointer_reset_ex(&self->items, &self->at);
	return zend_hash_num_elements(&self->items);
}

/* Returns the current item, after the next chunk if this one has ended, or NULL. */
static zval *current(apcu_iterator *self)
{
	zval *item = zend_hash_get_current_data_ex(&self->items, &self->at);
	if (item == NULL && fetch(self) > 0) {
		item = zend_hash_get_current_data_ex(&self->items, &self->at);
	}
	return item;
}

/* }}} */

/* {{{ Methods */

static bool read_search(apcu_iterator *self, zval *search)
{
	zval *name, yes;
	if (search && Z_TYPE_P(search) == IS_STRING && Z_STRLEN_P(search) > 0) {
		self->pattern = pcre_get_compiled_regex_cache(Z_STR_P(search));
		if (self->pattern == NULL) {
			return false;
		}
		php_pcre_pce_incref(self->pattern);
	} else if (search && Z_TYPE_P(search) == IS_ARRAY) {
		ZVAL_TRUE(&yes);
		self->names = zend_new_array(zend_hash_num_elements(Z_ARRVAL_P(search)));
		ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(search), name) {
			ZVAL_DEREF(name);
			if (Z_TYPE_P(name) == IS_STRING) {
				zend_hash_update(self->names, Z_STR_P(name), &yes);
			} else if (Z_TYPE_P(name) == IS_LONG) {
				zend_string *text = zend_long_to_str(Z_LVAL_P(name));
				zend_hash_update(self->names, text, &yes);
				zend_string_release(text);
			}
		} ZEND_HASH_FOREACH_END();
	}
	return true;
}

ZEND_METHOD(APCUIterator, __construct)
{
	zval *search = NULL;
	zend_long format = APC_ITER_ALL, chunk_size = 0, list = APC_LIST_ACTIVE;
	apcu_iterator *self = iterator_of(Z_OBJ_P(ZEND_THIS));
	ZEND_PARSE_PARAMETERS_START(0, 4)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL_OR_NULL(search)
		Z_PARAM_LONG(format)
		Z_PARAM_LONG(chunk_size)
		Z_PARAM_LONG(list)
	ZEND_PARSE_PARAMETERS_END();
	if (self->is_initialized) {
		return;
	}
	if (!tavola_apcu_is_enabled()) {
		zend_throw_error(NULL, "APC must be enabled to use APCUIterator");
		RETURN_THROWS();
	}
	if (chunk_size < 0) {
		php_error_docref(NULL, E_WARNING, "APCUIterator chunk size must be 0 or greater");
		return;
	}
	if (format > APC_ITER_ALL) {
		php_error_docref(NULL, E_WARNING, "APCUIterator format is invalid");
		return;
	}
	if (list != APC_LIST_ACTIVE && list != APC_LIST_DELETED) {
		php_error_docref(NULL, E_WARNING, "APCUIterator invalid list type");
		return;
	}
	if (!read_search(self, search)) {
		php_error_docref(NULL, E_WARNING, "Could not compile regular expression");
		return;
	}
	self->format = format;
	self->list = list;
	self->chunk_size = chunk_size == 0 ? DEFAULT_CHUNK : (size_t)chunk_size;
	zend_hash_init(&self->items, 8, NULL, ZVAL_PTR_DTOR, false);
	zend_hash_internal_pointer_reset_ex(&self->items, &self->at);
	self->is_initialized = true;
}

ZEND_METHOD(APCUIterator, rewind)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	tavola_iter_close(self->iter);
	self->iter = NULL;
	fetch(self);
}

ZEND_METHOD(APCUIterator, valid)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	RETURN_BOOL(current(self) != NULL);
}

ZEND_METHOD(APCUIterator, current)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	zval *item = current(self);
	if (item == NULL) {
		zend_throw_error(NULL, "Cannot call current() on invalid iterator");
		RETURN_THROWS();
	}
	RETURN_COPY(item);
}

ZEND_METHOD(APCUIterator, key)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	if (current(self) == NULL) {
		zend_throw_error(NULL, "Cannot call key() on invalid iterator");
		RETURN_THROWS();
	}
	zend_hash_get_current_key_zval_ex(&self->items, return_value, &self->at);
}

ZEND_METHOD(APCUIterator, next)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	zend_hash_move_forward_ex(&self->items, &self->at);
}

/* Counts what matches, once for an iterator. */
static void find_totals(apcu_iterator *self)
{
	tavola_bytes key, value;
	tavola_iter *iter = NULL;
	const tavola_php_table *table = tavola_apcu_table();
	if (self->has_totals || table == NULL
			|| tavola_iter_open(table->handle->table, &iter) != TAVOLA_OK) {
		return;
	}
	while (tavola_iter_next(iter, &key, &value) == TAVOLA_OK) {
		if (matches(self, &key)) {
			self->count++;
			self->size += (zend_long)(key.len + value.len);
		}
	}
	tavola_iter_close(iter);
	self->has_totals = true;
}

ZEND_METHOD(APCUIterator, getTotalHits)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	(void)self;
	/* A table does not count the hits of a single key. */
	RETURN_LONG(0);
}

ZEND_METHOD(APCUIterator, getTotalSize)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	find_totals(self);
	RETURN_LONG(self->size);
}

ZEND_METHOD(APCUIterator, getTotalCount)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_ITERATOR();
	find_totals(self);
	RETURN_LONG(self->count);
}

/* }}} */

bool tavola_apcu_remove_found(zval *object)
{
	if (!instanceof_function(Z_OBJCE_P(object), iterator_ce)) {
		php_error_docref(NULL, E_WARNING,
			"apc_delete object argument must be instance of APCUIterator.");
		return false;
	}
	apcu_iterator *self = iterator_of(Z_OBJ_P(object));
	if (!self->is_initialized) {
		zend_throw_error(NULL, "Trying to use uninitialized APCUIterator");
		return false;
	}
	const tavola_php_table *table = tavola_apcu_table();
	while (current(self) != NULL) {
		zend_string *key;
		zend_ulong number;
		zend_hash_get_current_key_ex(&self->items, &key, &number, &self->at);
		tavola_apcu_remove(table, key);
		zend_hash_move_forward_ex(&self->items, &self->at);
	}
	return true;
}

TAVOLA_NEW_OBJECT(apcu_iterator, new_iterator, &handlers)

void tavola_init_apcu_iterator(zend_class_entry *ce)
{
	iterator_ce = ce;
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(apcu_iterator, std);
	handlers.free_obj = free_iterator;
	handlers.clone_obj = NULL;
	ce->create_object = new_iterator;
}
