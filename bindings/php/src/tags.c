/* Tags: groups of keys that are invalidated together. */

#include "php_tavola.h"

typedef struct {
	tavola_tags tags;
	/* The table that the handles belong to. */
	zval table;
	zend_object std;
} tavola_php_tags;

static zend_object_handlers handlers;

static void free_tags(zend_object *object)
{
	zval_ptr_dtor(&TAVOLA_OBJECT(tavola_php_tags, object)->table);
	zend_object_std_dtor(object);
}

/* Fetches the handles of these names. Throws and returns false after an error. */
static bool fetch(const tavola_php_table *table, zval *names, uint32_t count, tavola_tags *out)
{
	tavola_bytes bytes[TAVOLA_MOST_TAGS] = {{NULL, 0}};
	zend_string *strings[TAVOLA_MOST_TAGS];
	uint32_t ready = 0;
	if (count > TAVOLA_MOST_TAGS) {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"the option tag is invalid: a key has at most %d tags", TAVOLA_MOST_TAGS);
		return false;
	}
	for (; ready < count; ready++) {
		strings[ready] = zval_try_get_string(&names[ready]);
		if (strings[ready] == NULL) {
			break;
		}
		bytes[ready].data = ZSTR_VAL(strings[ready]);
		bytes[ready].len = ZSTR_LEN(strings[ready]);
	}
	bool is_done = ready == count
		&& tavola_did(tavola_fetch_tags(table->handle->table, bytes, count, out));
	for (uint32_t i = 0; i < ready; i++) {
		zend_string_release(strings[i]);
	}
	return is_done;
}

static bool fetch_array(const tavola_php_table *table, HashTable *names, tavola_tags *out)
{
	zval list[TAVOLA_MOST_TAGS + 1];
	uint32_t count = 0;
	zval *name;
	ZEND_HASH_FOREACH_VAL(names, name) {
		ZVAL_DEREF(name);
		ZVAL_COPY_VALUE(&list[count], name);
		if (++count > TAVOLA_MOST_TAGS) {
			break;
		}
	} ZEND_HASH_FOREACH_END();
	return fetch(table, list, count, out);
}

bool tavola_tags_argument(
	const tavola_php_table *table, uint32_t number, zval *value, tavola_tags *room,
	const tavola_tags **tags)
{
	*tags = NULL;
	if (Z_TYPE_P(value) == IS_NULL) {
		return true;
	}
	if (Z_TYPE_P(value) == IS_ARRAY) {
		if (zend_hash_num_elements(Z_ARRVAL_P(value)) == 0) {
			return true;
		}
		*tags = room;
		return fetch_array(table, Z_ARRVAL_P(value), room);
	}
	if (Z_TYPE_P(value) != IS_OBJECT || Z_OBJCE_P(value) != tavola_tags_ce) {
		zend_argument_type_error(number, "must be of type Tavola\\Tags|array|null, %s given",
			zend_zval_type_name(value));
		return false;
	}
	const tavola_php_tags *given = TAVOLA_OBJECT(tavola_php_tags, Z_OBJ_P(value));
	const tavola_php_table *owner = TAVOLA_OBJECT(tavola_php_table, Z_OBJ(given->table));
	if (owner->handle->table != table->handle->table) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"these tags belong to another table; fetch them with tags() of this table");
		return false;
	}
	*tags = &given->tags;
	return true;
}

ZEND_METHOD(Tavola_Tags, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Tavola_Table, tags)
{
	zval *names;
	uint32_t count;
	ZEND_PARSE_PARAMETERS_START(0, -1)
		Z_PARAM_VARIADIC('*', names, count)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	object_init_ex(return_value, tavola_tags_ce);
	tavola_php_tags *made = TAVOLA_OBJECT(tavola_php_tags, Z_OBJ_P(return_value));
	made->tags.size = sizeof(made->tags);
	ZVAL_COPY(&made->table, ZEND_THIS);
	fetch(self, names, count, &made->tags);
}

ZEND_METHOD(Tavola_Table, invalidateTag)
{
	zval *names;
	uint32_t count;
	bool was_there = false;
	ZEND_PARSE_PARAMETERS_START(0, -1)
		Z_PARAM_VARIADIC('*', names, count)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	for (uint32_t i = 0; i < count; i++) {
		zend_string *name = zval_try_get_string(&names[i]);
		if (name == NULL) {
			RETURN_THROWS();
		}
		was_there |= tavola_answered(tavola_invalidate_tag(
			self->handle->table, ZSTR_VAL(name), ZSTR_LEN(name)));
		zend_string_release(name);
		if (EG(exception)) {
			RETURN_THROWS();
		}
	}
	RETURN_BOOL(was_there);
}

/* The names of a key's tags, in memory that is not PHP's. */
typedef struct {
	char *bytes;
	size_t lens[TAVOLA_MOST_TAGS];
	size_t len;
	uint32_t count;
} tag_names;

static void add_name(void *user, const void *name, size_t len)
{
	tag_names *names = user;
	char *more = realloc(names->bytes, names->len + len + 1);
	if (more == NULL || names->count == TAVOLA_MOST_TAGS) {
		return;
	}
	names->bytes = more;
	if (len > 0) {
		memcpy(more + names->len, name, len);
	}
	names->len += len;
	names->lens[names->count++] = len;
}

ZEND_METHOD(Tavola_Table, tagsOf)
{
	zend_string *key;
	tag_names names = {NULL, {0}, 0, 0};
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	tavola_status status = tavola_tags_of(
		self->handle->table, ZSTR_VAL(key), ZSTR_LEN(key), add_name, &names);
	if (tavola_answered(status)) {
		const char *at = names.bytes;
		array_init_size(return_value, names.count);
		for (uint32_t i = 0; i < names.count; i++) {
			add_next_index_stringl(return_value, at, names.lens[i]);
			at += names.lens[i];
		}
	}
	free(names.bytes);
}

TAVOLA_NEW_OBJECT(tavola_php_tags, new_tags, &handlers)

void tavola_init_tags(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_tags, std);
	handlers.free_obj = free_tags;
	handlers.clone_obj = NULL;
	tavola_tags_ce->create_object = new_tags;
}
