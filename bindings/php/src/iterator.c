/* Iteration over the keys of a table. */

#include "php_tavola.h"

#include "zend_interfaces.h"

typedef struct {
	/* The table, which the iterator keeps open. */
	zval table;
	zend_string *prefix;
	tavola_iter *iter;
	zend_string *key;
	zval value;
	zend_object std;
} tavola_php_iterator;

static zend_object_handlers handlers;

static tavola_php_iterator *iterator_of(zend_object *object)
{
	return TAVOLA_OBJECT(tavola_php_iterator, object);
}

static void drop_current(tavola_php_iterator *self)
{
	if (self->key) {
		zend_string_release(self->key);
		self->key = NULL;
	}
	zval_ptr_dtor(&self->value);
	ZVAL_UNDEF(&self->value);
}

/* Reads the next key. There is none if `key` is NULL afterwards. */
static void advance(tavola_php_iterator *self)
{
	tavola_bytes key, value;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	drop_current(self);
	if (self->iter == NULL
			|| !tavola_answered(tavola_iter_next_with_attributes(self->iter, &key, &value, &has))) {
		return;
	}
	tavola_php_table *table = TAVOLA_OBJECT(tavola_php_table, Z_OBJ(self->table));
	self->key = zend_string_init(key.data ? key.data : "", key.len, false);
	zend_string *bytes = zend_string_init(value.data ? value.data : "", value.len, false);
	tavola_decode(&self->value, bytes, has.flags, table->serializer);
}

static void begin(tavola_php_iterator *self)
{
	const tavola_php_table *table = TAVOLA_OBJECT(tavola_php_table, Z_OBJ(self->table));
	drop_current(self);
	tavola_iter_close(self->iter);
	self->iter = NULL;
	tavola_status status = self->prefix
		? tavola_iter_open_prefix(table->handle->table, ZSTR_VAL(self->prefix),
			ZSTR_LEN(self->prefix), &self->iter)
		: tavola_iter_open(table->handle->table, &self->iter);
	if (tavola_did(status)) {
		advance(self);
	}
}

void tavola_make_iterator(zval *out, zval *table, zend_string *prefix)
{
	object_init_ex(out, tavola_iterator_ce);
	tavola_php_iterator *made = iterator_of(Z_OBJ_P(out));
	ZVAL_COPY(&made->table, table);
	made->prefix = ZSTR_LEN(prefix) > 0 ? zend_string_copy(prefix) : NULL;
}

static void free_iterator(zend_object *object)
{
	tavola_php_iterator *self = iterator_of(object);
	drop_current(self);
	tavola_iter_close(self->iter);
	if (self->prefix) {
		zend_string_release(self->prefix);
	}
	zval_ptr_dtor(&self->table);
	zend_object_std_dtor(object);
}

/* {{{ The methods of \Iterator */

/* Begins the iteration if it has not begun. */
static tavola_php_iterator *begun(zval *object)
{
	tavola_php_iterator *self = iterator_of(Z_OBJ_P(object));
	if (self->iter == NULL && Z_TYPE(self->table) == IS_OBJECT) {
		begin(self);
	}
	return self;
}

ZEND_METHOD(Tavola_TableIterator, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Tavola_TableIterator, rewind)
{
	ZEND_PARSE_PARAMETERS_NONE();
	begin(iterator_of(Z_OBJ_P(ZEND_THIS)));
}

ZEND_METHOD(Tavola_TableIterator, valid)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(begun(ZEND_THIS)->key != NULL);
}

ZEND_METHOD(Tavola_TableIterator, next)
{
	ZEND_PARSE_PARAMETERS_NONE();
	advance(begun(ZEND_THIS));
}

ZEND_METHOD(Tavola_TableIterator, current)
{
	ZEND_PARSE_PARAMETERS_NONE();
	tavola_php_iterator *self = begun(ZEND_THIS);
	if (self->key) {
		RETURN_COPY(&self->value);
	}
}

ZEND_METHOD(Tavola_TableIterator, key)
{
	ZEND_PARSE_PARAMETERS_NONE();
	tavola_php_iterator *self = begun(ZEND_THIS);
	if (self->key) {
		RETURN_STR_COPY(self->key);
	}
	RETURN_EMPTY_STRING();
}

/* }}} */

/* {{{ What `foreach` calls instead of the methods */

static tavola_php_iterator *inner(zend_object_iterator *iterator)
{
	return iterator_of(Z_OBJ(iterator->data));
}

static void each_free(zend_object_iterator *iterator)
{
	zval_ptr_dtor(&iterator->data);
}

static int each_valid(zend_object_iterator *iterator)
{
	return inner(iterator)->key ? SUCCESS : FAILURE;
}

static zval *each_value(zend_object_iterator *iterator)
{
	return &inner(iterator)->value;
}

static void each_key(zend_object_iterator *iterator, zval *key)
{
	ZVAL_STR_COPY(key, inner(iterator)->key);
}

static void each_next(zend_object_iterator *iterator)
{
	advance(inner(iterator));
}

static void each_rewind(zend_object_iterator *iterator)
{
	begin(inner(iterator));
}

static const zend_object_iterator_funcs each_functions = {
	.dtor = each_free,
	.valid = each_valid,
	.get_current_data = each_value,
	.get_current_key = each_key,
	.move_forward = each_next,
	.rewind = each_rewind,
};

static zend_object_iterator *get_iterator(zend_class_entry *ce, zval *object, int by_reference)
{
	(void)ce;
	if (by_reference) {
		zend_throw_error(NULL, "An iterator cannot be used with foreach by reference");
		return NULL;
	}
	zend_object_iterator *made = emalloc(sizeof(*made));
	zend_iterator_init(made);
	ZVAL_OBJ_COPY(&made->data, Z_OBJ_P(object));
	made->funcs = &each_functions;
	return made;
}

/* }}} */

/* {{{ The methods of a table */

ZEND_METHOD(Tavola_Table, getIterator)
{
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	(void)self;
	tavola_make_iterator(return_value, ZEND_THIS, ZSTR_EMPTY_ALLOC());
}

ZEND_METHOD(Tavola_Table, prefix)
{
	zend_string *prefix;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	(void)self;
	tavola_make_iterator(return_value, ZEND_THIS, prefix);
}

ZEND_METHOD(Tavola_Table, keys)
{
	zend_string *prefix = ZSTR_EMPTY_ALLOC();
	zval iterator;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR(prefix)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	(void)self;
	tavola_make_iterator(&iterator, ZEND_THIS, prefix);
	array_init(return_value);
	tavola_php_iterator *each = iterator_of(Z_OBJ(iterator));
	for (begin(each); each->key; advance(each)) {
		add_next_index_str(return_value, zend_string_copy(each->key));
	}
	zval_ptr_dtor(&iterator);
}

/* }}} */

TAVOLA_NEW_OBJECT(tavola_php_iterator, new_iterator, &handlers)

void tavola_init_iterator(void)
{
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(tavola_php_iterator, std);
	handlers.free_obj = free_iterator;
	handlers.clone_obj = NULL;
	tavola_iterator_ce->create_object = new_iterator;
	tavola_iterator_ce->get_iterator = get_iterator;
}
