/* getDelayed and fetch: the values are received at once, and taken one by one. */

#include "memcached.h"

/* Finds the next value that was received, as the array that fetch returns. Returns false at the
 * end, and after a value that cannot be read. */
static bool next_entry(mc_object *self, zval *entry)
{
	mc_items *items = &self->delayed;
	zval value;
	while (self->next_delayed < items->count) {
		mc_item *item = &items->items[self->next_delayed++];
		if (item->result != RES_SUCCESS || item->room.string == NULL) {
			continue;
		}
		/* The item may be gone when the value was read: that may run code of the program. */
		zend_string *key = zend_string_copy(item->key);
		bool has_cas = self->has_cas;
		if (!mc_item_value(items, item, has_cas, &value)) {
			zend_string_release(key);
			return false;
		}
		array_init(entry);
		add_assoc_str(entry, "key", key);
		if (has_cas) {
			zend_hash_extend(Z_ARRVAL_P(entry), 4, false);
			zend_hash_merge(Z_ARRVAL_P(entry), Z_ARRVAL(value), zval_add_ref, true);
			zval_ptr_dtor(&value);
		} else {
			add_assoc_zval(entry, "value", &value);
		}
		mc_done(self, RES_SUCCESS);
		return true;
	}
	return false;
}

/* Ends the reading: the result says whether all was received and could be read. */
static bool end_of_delayed(mc_object *self, bool has_found)
{
	bool has_begun = self->delayed.items != NULL;
	zend_long error = self->delayed.error;
	bool is_broken = self->result == RES_PAYLOAD_FAILURE && has_begun;
	mc_free_items(&self->delayed);
	self->next_delayed = 0;
	if (is_broken) {
		return false;
	}
	if (has_begun && error != RES_SUCCESS) {
		return mc_summed_up(self, error);
	}
	return mc_done(self, has_found ? RES_SUCCESS : has_begun ? RES_END : RES_NOTFOUND);
}

/* Calls the program with each entry, until it throws. Returns whether all were received. */
static bool call_each(
	zval *object, mc_object *self, zend_fcall_info *call, zend_fcall_info_cache *cache)
{
	zval arguments[2], answer;
	while (next_entry(self, &arguments[1])) {
		ZVAL_COPY(&arguments[0], object);
		ZVAL_UNDEF(&answer);
		call->retval = &answer;
		call->params = arguments;
		call->param_count = 2;
		zend_call_function(call, cache);
		zval_ptr_dtor(&answer);
		zval_ptr_dtor(&arguments[0]);
		zval_ptr_dtor(&arguments[1]);
		if (EG(exception)) {
			break;
		}
	}
	return end_of_delayed(self, true);
}

static void get_delayed(
	INTERNAL_FUNCTION_PARAMETERS, zend_string *server_key, HashTable *keys, bool with_cas,
	zend_fcall_info *call, zend_fcall_info_cache *cache)
{
	mc_items items;
	MC_SELF;
	if (!mc_read_keys(self, keys, &items)) {
		RETURN_THROWS();
	}
	if (items.count == 0) {
		mc_free_items(&items);
		RETURN_BOOL(mc_done(self, RES_NOTFOUND));
	}
	if (!mc_get_items(&items, server_key, with_cas)) {
		mc_free_items(&items);
		RETURN_FALSE;
	}
	mc_free_items(&self->delayed);
	self->delayed = items;
	self->next_delayed = 0;
	self->has_cas = with_cas;
	if (call) {
		RETURN_BOOL(call_each(ZEND_THIS, self, call, cache));
	}
	RETURN_BOOL(mc_summed_up(self, RES_SUCCESS));
}

ZEND_METHOD(Tavola_Memcached, getDelayed)
{
	HashTable *keys;
	bool with_cas = false;
	zend_fcall_info call = empty_fcall_info;
	zend_fcall_info_cache cache = empty_fcall_info_cache;
	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(with_cas)
		Z_PARAM_FUNC_OR_NULL(call, cache)
	ZEND_PARSE_PARAMETERS_END();
	get_delayed(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL, keys, with_cas,
		ZEND_FCI_INITIALIZED(call) ? &call : NULL, &cache);
}

ZEND_METHOD(Tavola_Memcached, getDelayedByKey)
{
	zend_string *server_key;
	HashTable *keys;
	bool with_cas = false;
	zend_fcall_info call = empty_fcall_info;
	zend_fcall_info_cache cache = empty_fcall_info_cache;
	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(server_key)
		Z_PARAM_ARRAY_HT(keys)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(with_cas)
		Z_PARAM_FUNC_OR_NULL(call, cache)
	ZEND_PARSE_PARAMETERS_END();
	get_delayed(INTERNAL_FUNCTION_PARAM_PASSTHRU, server_key, keys, with_cas,
		ZEND_FCI_INITIALIZED(call) ? &call : NULL, &cache);
}

ZEND_METHOD(Tavola_Memcached, fetch)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	self->result = RES_SUCCESS;
	if (!next_entry(self, return_value)) {
		end_of_delayed(self, false);
		RETURN_FALSE;
	}
}

ZEND_METHOD(Tavola_Memcached, fetchAll)
{
	zval list, entry;
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	self->result = RES_SUCCESS;
	array_init(&list);
	while (next_entry(self, &entry)) {
		add_next_index_zval(&list, &entry);
	}
	bool has_found = zend_hash_num_elements(Z_ARRVAL(list)) > 0;
	end_of_delayed(self, has_found);
	if (!has_found || EG(exception)) {
		zval_ptr_dtor(&list);
		RETURN_FALSE;
	}
	RETURN_COPY_VALUE(&list);
}
