/* What APCu reports about its cache, from what a table knows about itself. */

#include "php_tavola.h"
#include "apcu.h"

#include <time.h>

zend_long tavola_apcu_ttl(const tavola_attributes *has)
{
	return tavola_is_for_ever(has->ttl_ms) ? 0 : (zend_long)((has->ttl_ms + 999) / 1000);
}

/* Times of a key. A table does not keep them, so they are those of this moment: then the time at
 * which the key expires follows from `creation_time` and `ttl`, as it does in APCu. */
static void put_times(zval *out, const tavola_attributes *has)
{
	zend_long now = (zend_long)time(NULL);
	add_assoc_long(out, "access_time", now);
	add_assoc_long(out, "mtime", now);
	add_assoc_long(out, "creation_time", now);
	add_assoc_long(out, "deletion_time", 0);
	add_assoc_long(out, "ttl", tavola_apcu_ttl(has));
}

ZEND_FUNCTION(apcu_enabled)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(tavola_apcu_is_enabled());
}

ZEND_FUNCTION(apcu_key_info)
{
	zend_string *key;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	const tavola_php_table *table = tavola_apcu_table();
	if (table == NULL || tavola_get_entry(table->handle->table,
			ZSTR_VAL(key), ZSTR_LEN(key), NULL, &has, NULL) != TAVOLA_OK) {
		RETURN_NULL();
	}
	array_init(return_value);
	add_assoc_long(return_value, "hits", 0);
	put_times(return_value, &has);
	add_assoc_long(return_value, "refs", 0);
}

static void put_entries(zval *out, const tavola_table *table)
{
	tavola_iter *iter = NULL;
	tavola_bytes key, value;
	tavola_attributes has = TAVOLA_INIT(tavola_attributes);
	zval list;
	array_init(&list);
	if (tavola_iter_open(table, &iter) == TAVOLA_OK) {
		while (tavola_iter_next_with_attributes(iter, &key, &value, &has) == TAVOLA_OK) {
			zval row;
			array_init(&row);
			add_assoc_stringl(&row, "info", key.data ? key.data : "", key.len);
			add_assoc_double(&row, "num_hits", 0);
			put_times(&row, &has);
			add_assoc_long(&row, "ref_count", 0);
			add_assoc_long(&row, "mem_size", (zend_long)(key.len + value.len));
			add_next_index_zval(&list, &row);
		}
	}
	tavola_iter_close(iter);
	add_assoc_zval(out, "cache_list", &list);
	array_init(&list);
	add_assoc_zval(out, "deleted_list", &list);
	array_init(&list);
	add_assoc_zval(out, "slot_distribution", &list);
}

ZEND_FUNCTION(apcu_cache_info)
{
	bool is_limited = false;
	tavola_stats stats = TAVOLA_INIT(tavola_stats);
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(is_limited)
	ZEND_PARSE_PARAMETERS_END();
	const tavola_php_table *table = tavola_apcu_table();
	if (table == NULL || tavola_get_stats(table->handle->table, &stats) != TAVOLA_OK) {
		php_error_docref(NULL, E_WARNING, "No APC info available.  Perhaps APC is not enabled? "
			"Check apc.enabled in your ini file");
		RETURN_FALSE;
	}
	double slots = stats.index_load > 0 ? (double)stats.keys / stats.index_load : 0;
	array_init(return_value);
	add_assoc_long(return_value, "num_slots", (zend_long)slots);
	add_assoc_long(return_value, "ttl", (zend_long)(stats.ttl_ms / 1000));
	add_assoc_double(return_value, "num_hits", (double)stats.hits);
	add_assoc_double(return_value, "num_misses", (double)stats.misses);
	add_assoc_double(return_value, "num_inserts", (double)stats.sets);
	add_assoc_long(return_value, "num_entries", (zend_long)stats.keys);
	/* A table that is full evicts single keys, and is never emptied. */
	add_assoc_double(return_value, "expunges", 0);
	add_assoc_long(return_value, "start_time", (zend_long)stats.created_unix_s);
	add_assoc_double(return_value, "mem_size", (double)stats.payload_bytes);
	add_assoc_string(return_value, "memory_type", "mmap");
	if (!is_limited) {
		put_entries(return_value, table->handle->table);
	}
}

ZEND_FUNCTION(apcu_sma_info)
{
	bool is_limited = false;
	tavola_stats stats = TAVOLA_INIT(tavola_stats);
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(is_limited)
	ZEND_PARSE_PARAMETERS_END();
	const tavola_php_table *table = tavola_apcu_table();
	if (table == NULL || tavola_get_stats(table->handle->table, &stats) != TAVOLA_OK) {
		php_error_docref(NULL, E_WARNING,
			"No APC SMA info available.  Perhaps APC is disabled via apc.enabled?");
		RETURN_FALSE;
	}
	uint64_t size = stats.capacity ? stats.capacity : stats.max_size;
	uint64_t used = MIN(stats.resident_bytes - MIN(stats.free_bytes, stats.resident_bytes), size);
	array_init(return_value);
	add_assoc_long(return_value, "num_seg", 1);
	add_assoc_double(return_value, "seg_size", (double)size);
	add_assoc_double(return_value, "avail_mem", (double)(size - used));
	if (is_limited) {
		return;
	}
	zval lists, list, link;
	array_init(&lists);
	array_init(&list);
	array_init(&link);
	add_assoc_long(&link, "size", (zend_long)(size - used));
	add_assoc_long(&link, "offset", (zend_long)used);
	add_next_index_zval(&list, &link);
	add_next_index_zval(&lists, &list);
	add_assoc_zval(return_value, "block_lists", &lists);
}
