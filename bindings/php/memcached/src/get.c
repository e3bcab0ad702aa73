/* Reading one key, and many at once. */

#include "memcached.h"
#include "value_flags.h"

#include "zend_exceptions.h"

int32_t mc_expiry(zend_long expiration)
{
	if (expiration < 0) {
		return -1;
	}
	return expiration > INT32_MAX ? INT32_MAX : (int32_t)expiration;
}

/* {{{ One key */

static void *room_of_one(void *user, size_t len, uint32_t flags)
{
	(void)flags;
	return mc_take(user, len);
}

/* Makes the array of GET_EXTENDED, which takes over the value. */
static void extend(zval *result, zval *value, uint64_t cas, uint32_t flags)
{
	array_init_size(result, 3);
	add_assoc_zval(result, "value", value);
	add_assoc_long(result, "cas", (zend_long)cas);
	add_assoc_long(result, "flags", (zend_long)(flags >> USER_SHIFT));
}

/* Asks the program for the value of a missing key. Returns whether it gave one. */
static bool call_back(
	zval *object, zend_fcall_info *call, zend_fcall_info_cache *cache, zend_string *key,
	bool is_extended, zval *value, zend_long *expiration)
{
	zval arguments[4], answer;
	ZVAL_COPY(&arguments[0], object);
	ZVAL_STR_COPY(&arguments[1], key);
	ZVAL_NEW_EMPTY_REF(&arguments[2]);
	ZVAL_NULL(Z_REFVAL(arguments[2]));
	ZVAL_NEW_EMPTY_REF(&arguments[3]);
	ZVAL_NULL(Z_REFVAL(arguments[3]));
	ZVAL_UNDEF(&answer);
	call->retval = &answer;
	call->params = arguments;
	call->param_count = is_extended ? 3 : 4;
	bool is_given = zend_call_function(call, cache) == SUCCESS && !EG(exception)
		&& zend_is_true(&answer);
	if (is_given) {
		ZVAL_COPY(value, Z_REFVAL(arguments[2]));
		*expiration = zval_get_long(Z_REFVAL(arguments[3]));
	}
	zval_ptr_dtor(&answer);
	for (int i = 0; i < 4; i++) {
		zval_ptr_dtor(&arguments[i]);
	}
	return is_given;
}

/* Stores what the program gave for a missing key. In the extended form it is an array that has
 * `value`, and perhaps `expiration`. */
static void read_through(
	mc_object *self, zval *object, zend_fcall_info *call, zend_fcall_info_cache *cache,
	zend_string *server_key, zend_string *key, bool is_extended, zval *return_value)
{
	zval value;
	mc_stored stored = {.server_key = server_key, .key = key};
	mc_use use;
	ZVAL_FALSE(return_value);
	if (!call_back(object, call, cache, key, is_extended, &value, &stored.expiration)) {
		if (!EG(exception)) {
			mc_done(self, RES_NOTFOUND);
		}
		return;
	}
	zval *payload = &value;
	if (is_extended) {
		bool is_array = Z_TYPE(value) == IS_ARRAY;
		zval *time = is_array ? zend_hash_str_find(Z_ARRVAL(value), ZEND_STRL("expiration")) : NULL;
		payload = is_array ? zend_hash_str_find(Z_ARRVAL(value), ZEND_STRL("value")) : NULL;
		stored.expiration = time ? zval_get_long(time) : 0;
	}
	if (payload == NULL) {
		mc_done(self, RES_PAYLOAD_FAILURE);
	} else if (mc_encode(self, payload, &stored.encoded)) {
		if (mc_client(self, server_key, &use)) {
			tavola_mc_status status = mc_store(self, use.client, MC_SET, &stored);
			mc_answered(self, status, key);
		}
		zend_string_release(stored.encoded.bytes);
		ZVAL_COPY(return_value, &value);
	}
	zval_ptr_dtor(&value);
}

static void get(
	INTERNAL_FUNCTION_PARAMETERS, zend_string *server_key, zend_string *key,
	zend_fcall_info *call, zend_fcall_info_cache *cache, zend_long get_flags)
{
	mc_use use;
	MC_SELF;
	RETVAL_FALSE;
	if (!mc_checked_key(self, key) || !mc_client(self, server_key, &use)) {
		return;
	}
	mc_room room = {NULL, 0};
	tavola_mc_value got = TAVOLA_MC_VALUE_ROOM(room_of_one, &room);
	bool is_extended = get_flags & GET_EXTENDED;
	tavola_mc_status status = is_extended
		? tavola_mc_gets(use.client, ZSTR_VAL(key), ZSTR_LEN(key), &got)
		: tavola_mc_get(use.client, ZSTR_VAL(key), ZSTR_LEN(key), &got);
	if (UNEXPECTED(status != TAVOLA_MC_HIT)) {
		if (room.string) {
			zend_string_release(room.string);
		}
		mc_answered(self, status, server_key ? server_key : key);
		mc_report_refused(&room);
		if (status == TAVOLA_MC_MISS && call) {
			read_through(
				self, ZEND_THIS, call, cache, server_key, key, is_extended, return_value);
		}
		return;
	}
	mc_done(self, RES_SUCCESS);
	zval value;
	if (!mc_decode(self, room.string, (uint32_t)got.flags, &value)) {
		return;
	}
	if (is_extended) {
		extend(return_value, &value, got.cas, (uint32_t)got.flags);
	} else {
		ZVAL_COPY_VALUE(return_value, &value);
	}
}

ZEND_METHOD(Tavola_Memcached, get)
{
	zend_string *key;
	zend_fcall_info call = empty_fcall_info;
	zend_fcall_info_cache cache = empty_fcall_info_cache;
	zend_long get_flags = 0;
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_FUNC_OR_NULL(call, cache)
		Z_PARAM_LONG(get_flags)
	ZEND_PARSE_PARAMETERS_END();
	get(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL, key,
		ZEND_FCI_INITIALIZED(call) ? &call : NULL, &cache, get_flags);
}

ZEND_METHOD(Tavola_Memcached, getByKey)
{
	zend_string *server_key, *key;
	zend_fcall_info call = empty_fcall_info;
	zend_fcall_info_cache cache = empty_fcall_info_cache;
	zend_long get_flags = 0;
	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(server_key)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_FUNC_OR_NULL(call, cache)
		Z_PARAM_LONG(get_flags)
	ZEND_PARSE_PARAMETERS_END();
	get(INTERNAL_FUNCTION_PARAM_PASSTHRU, server_key, key,
		ZEND_FCI_INITIALIZED(call) ? &call : NULL, &cache, get_flags);
}

/* }}} */

/* {{{ Many keys */

bool mc_read_keys(mc_object *self, HashTable *keys, mc_items *items)
{
	zval *key;
	*items = (mc_items) {.self = self, .error = RES_SUCCESS};
	items->items = safe_emalloc(zend_hash_num_elements(keys) + 1, sizeof(mc_item), 0);
	ZEND_HASH_FOREACH_VAL(keys, key) {
		zend_string *text = zval_try_get_string(key);
		if (text == NULL) {
			mc_free_items(items);
			return false;
		}
		mc_item *item = &items->items[items->count++];
		*item = (mc_item) {.key = text, .result = -1};
		if (!mc_is_key(self, ZSTR_VAL(text), ZSTR_LEN(text))) {
			item->result = RES_BAD_KEY_PROVIDED;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

void mc_free_items(mc_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		zend_string_release(items->items[i].key);
		if (items->items[i].room.string) {
			zend_string_release(items->items[i].room.string);
		}
	}
	if (items->items) {
		efree(items->items);
	}
	free(items->why);
	items->items = NULL;
	items->why = NULL;
	items->count = 0;
}

/* Passed to the callbacks of the library, which count the requests, not the items. */
typedef struct {
	mc_items *items;
	size_t *of_request;
} executed;

static void *room_of_many(void *user, size_t index, size_t len, uint32_t flags)
{
	const executed *run = user;
	(void)flags;
	return mc_take(&run->items->items[run->of_request[index]].room, len);
}

static void done_of_many(void *user, size_t index, const tavola_mc_result *result)
{
	const executed *run = user;
	mc_items *items = run->items;
	mc_item *item = &items->items[run->of_request[index]];
	item->flags = result->flags;
	item->cas = result->cas;
	item->status = result->status;
	tavola_mc_status status = result->status;
	const char *why = result->why;
	if (UNEXPECTED(item->room.refused)) {
		/* The library knows that the key is there; its value is lost. */
		status = TAVOLA_MC_ERR_STOPPED;
		why = "the value does not fit in PHP's memory; raise memory_limit";
	}
	item->result = mc_result_of(items->self->fleet, status, result->cause, why);
	if (status < 0 && items->why == NULL) {
		/* Without PHP's memory, which may run out. */
		items->why = strdup(why);
		items->failed_key = item->key;
		items->error = item->result;
		items->error_status = status;
		items->error_cause = result->cause;
	}
}

void mc_execute(mc_items *items, tavola_mc_batch *batch)
{
	executed run = {items, safe_emalloc(items->count + 1, sizeof(size_t), 0)};
	tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
	size_t requests = 0;
	for (size_t i = 0; i < items->count; i++) {
		if (items->items[i].result < 0) {
			run.of_request[requests++] = i;
		}
	}
	sink.room = room_of_many;
	sink.done = done_of_many;
	sink.user = &run;
	tavola_mc_batch_execute(batch, &sink);
	tavola_mc_batch_clear(batch);
	efree(run.of_request);
	if (items->why) {
		mc_failed(items->self, items->error_status, items->error_cause, items->why,
			items->failed_key);
	}
	for (size_t i = 0; i < items->count; i++) {
		mc_report_refused(&items->items[i].room);
	}
}

bool mc_get_items(mc_items *items, zend_string *server_key, bool with_cas)
{
	tavola_mc_batch *batch = mc_batch(items->self, server_key);
	if (batch == NULL) {
		return false;
	}
	for (size_t i = 0; i < items->count; i++) {
		mc_item *item = &items->items[i];
		if (item->result >= 0) {
			continue;
		}
		if (with_cas) {
			tavola_mc_batch_gets(batch, ZSTR_VAL(item->key), ZSTR_LEN(item->key));
		} else {
			tavola_mc_batch_get(batch, ZSTR_VAL(item->key), ZSTR_LEN(item->key));
		}
	}
	mc_execute(items, batch);
	return true;
}

bool mc_item_value(mc_items *items, mc_item *item, bool is_extended, zval *value)
{
	/* Code of the program may free the item meanwhile. */
	mc_item taken = *item;
	zval plain;
	item->room.string = NULL;
	if (!mc_decode(items->self, taken.room.string, taken.flags, &plain)) {
		return false;
	}
	if (is_extended) {
		extend(value, &plain, taken.cas, taken.flags);
	} else {
		ZVAL_COPY_VALUE(value, &plain);
	}
	return true;
}

/* Returns how many keys were found, or -1 if a value could not be read. */
static int64_t collect(mc_items *items, zend_long get_flags, zval *found)
{
	int64_t count = 0;
	array_init_size(found, (uint32_t)items->count);
	for (size_t i = 0; i < items->count; i++) {
		mc_item *item = &items->items[i];
		zval value;
		if (item->result == RES_SUCCESS && item->room.string) {
			if (!mc_item_value(items, item, get_flags & GET_EXTENDED, &value)) {
				return -1;
			}
			count++;
		} else if (get_flags & GET_PRESERVE_ORDER) {
			ZVAL_NULL(&value);
		} else {
			continue;
		}
		zend_symtable_update(Z_ARRVAL_P(found), item->key, &value);
	}
	return count;
}

static void get_multi(
	INTERNAL_FUNCTION_PARAMETERS, zend_string *server_key, HashTable *keys, zend_long get_flags)
{
	mc_items items;
	MC_SELF;
	if (!mc_read_keys(self, keys, &items)) {
		RETURN_THROWS();
	}
	RETVAL_FALSE;
	if (!mc_get_items(&items, server_key, get_flags & GET_EXTENDED)) {
		mc_free_items(&items);
		return;
	}
	int64_t count = collect(&items, get_flags, return_value);
	if (count < 0 || (count == 0 && items.error != RES_SUCCESS)) {
		zval_ptr_dtor(return_value);
		RETVAL_FALSE;
	} else if (items.error != RES_SUCCESS) {
		mc_summed_up(self, RES_SOME_ERRORS);
	} else {
		mc_done(self, count > 0 ? RES_SUCCESS : RES_NOTFOUND);
	}
	mc_free_items(&items);
}

ZEND_METHOD(Tavola_Memcached, getMulti)
{
	HashTable *keys;
	zend_long get_flags = 0;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(get_flags)
	ZEND_PARSE_PARAMETERS_END();
	get_multi(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL, keys, get_flags);
}

ZEND_METHOD(Tavola_Memcached, getMultiByKey)
{
	zend_string *server_key;
	HashTable *keys;
	zend_long get_flags = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(server_key)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(get_flags)
	ZEND_PARSE_PARAMETERS_END();
	get_multi(INTERNAL_FUNCTION_PARAM_PASSTHRU, server_key, keys, get_flags);
}

/* }}} */
