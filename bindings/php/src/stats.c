/* What a table reports about itself. */

#include "php_tavola.h"
#include "lists.h"

/* A number of `tavola_stats` and its name in the array. */
typedef struct {
	const char *name;
	size_t offset;
} stat_field;

#define FIELD(name) {#name, offsetof(tavola_stats, name)}

static const stat_field stat_fields[] = {
	FIELD(keys), FIELD(payload_bytes), FIELD(resident_bytes), FIELD(max_size), FIELD(uids),
	FIELD(segments), FIELD(index_bytes), FIELD(slab_bytes), FIELD(uid_bytes), FIELD(large_bytes),
	FIELD(queue_and_log_bytes), FIELD(free_bytes), FIELD(recoveries), FIELD(created_unix_s),
	FIELD(format_version), FIELD(expired), FIELD(ttl_ms), FIELD(capacity),
	FIELD(probationary_bytes), FIELD(evicted_new), FIELD(evicted_old), FIELD(ghost_hits),
	FIELD(hits), FIELD(misses), FIELD(writes), FIELD(tags), FIELD(sets), FIELD(removes),
};

static void add_recent(void *user, const tavola_recent *recent)
{
	tavola_add_bytes(user, recent, sizeof(*recent));
}

static void put_recent(zval *out, const tavola_texts *all)
{
	zval list;
	array_init(&list);
	for (size_t at = 0; at + sizeof(tavola_recent) <= all->len; at += sizeof(tavola_recent)) {
		tavola_recent one;
		zval row;
		memcpy(&one, all->bytes + at, sizeof(one));
		array_init(&row);
		add_assoc_long(&row, "wanted_ms", (zend_long)one.wanted_ms);
		add_assoc_long(&row, "spanned_ms", (zend_long)one.spanned_ms);
		add_assoc_long(&row, "hits", (zend_long)one.hits);
		add_assoc_long(&row, "misses", (zend_long)one.misses);
		add_assoc_long(&row, "writes", (zend_long)one.writes);
		add_assoc_long(&row, "evicted", (zend_long)one.evicted);
		add_assoc_long(&row, "expired", (zend_long)one.expired);
		add_next_index_zval(&list, &row);
	}
	add_assoc_zval(out, "recent", &list);
}

/* Of a durable table: the state of its journal. */
static void put_journal(zval *out, const tavola_table *table)
{
	tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
	if (tavola_get_durable_stats(table, &stats) != TAVOLA_OK) {
		return;
	}
	add_assoc_long(out, "journal_bytes", (zend_long)stats.journal_bytes);
	add_assoc_long(out, "unsynced_bytes", (zend_long)stats.unsynced_bytes);
	add_assoc_long(out, "syncs", (zend_long)stats.syncs);
	add_assoc_long(out, "snapshot_unix_ms", (zend_long)stats.snapshot_unix_ms);
}

static void put_uuid(zval *out, const uint8_t uuid[16])
{
	char text[40];
	int len = 0;
	for (int i = 0; i < 16; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%02x", dash, uuid[i]);
	}
	add_assoc_stringl(out, "uuid", text, (size_t)len);
}

ZEND_METHOD(Tavola_Table, stats)
{
	tavola_stats stats = TAVOLA_INIT(tavola_stats);
	tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
	tavola_texts recent = {0};
	uint64_t read_ns = 0, write_ns = 0;
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	const tavola_table *table = self->handle->table;
	if (!tavola_did(tavola_get_stats(table, &stats))
			|| !tavola_did(tavola_get_live_keys(table, &live))
			|| !tavola_did(tavola_latency_quantile(table, 0.5, &read_ns, &write_ns))
			|| !tavola_did(tavola_get_recent(table, add_recent, &recent))) {
		free(recent.bytes);
		RETURN_THROWS();
	}
	array_init(return_value);
	for (size_t i = 0; i < sizeof(stat_fields) / sizeof(stat_fields[0]); i++) {
		uint64_t number;
		memcpy(&number, (const char *)&stats + stat_fields[i].offset, sizeof(number));
		add_assoc_long(return_value, stat_fields[i].name, (zend_long)number);
	}
	add_assoc_long(return_value, "fixed_key", stats.fixed_key);
	add_assoc_long(return_value, "fixed_value", stats.fixed_value);
	add_assoc_long(return_value, "shards", stats.shards);
	add_assoc_long(return_value, "participants", stats.participants);
	add_assoc_double(return_value, "index_load", stats.index_load);
	add_assoc_long(return_value, "live_keys", (zend_long)live.live);
	add_assoc_long(return_value, "unreclaimed_keys", (zend_long)live.unreclaimed);
	add_assoc_long(return_value, "median_read_ns", (zend_long)read_ns);
	add_assoc_long(return_value, "median_write_ns", (zend_long)write_ns);
	put_uuid(return_value, stats.uuid);
	put_journal(return_value, table);
	put_recent(return_value, &recent);
	free(recent.bytes);
}

/* {{{ Processes */

typedef struct {
	uint32_t pid;
	bool is_alive;
	bool is_stopped;
	uint64_t attached_unix_s, hits, misses, writes;
	char command[256];
} process;

static void add_process(void *user, const tavola_participant *one)
{
	process made = {.pid = one->pid, .is_alive = one->alive != 0,
		.is_stopped = one->is_stopped != 0, .attached_unix_s = one->attached_unix_s,
		.hits = one->hits, .misses = one->misses, .writes = one->writes};
	snprintf(made.command, sizeof(made.command), "%s", one->command ? one->command : "");
	tavola_add_bytes(user, &made, sizeof(made));
}

ZEND_METHOD(Tavola_Table, participants)
{
	tavola_texts all = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (!tavola_did(tavola_participants(self->handle->table, add_process, &all))) {
		free(all.bytes);
		RETURN_THROWS();
	}
	array_init(return_value);
	for (size_t at = 0; at + sizeof(process) <= all.len; at += sizeof(process)) {
		process one;
		zval row;
		memcpy(&one, all.bytes + at, sizeof(one));
		array_init(&row);
		add_assoc_long(&row, "pid", one.pid);
		add_assoc_string(&row, "command", one.command);
		add_assoc_bool(&row, "alive", one.is_alive);
		add_assoc_bool(&row, "stopped", one.is_stopped);
		add_assoc_long(&row, "attached_unix_s", (zend_long)one.attached_unix_s);
		add_assoc_long(&row, "hits", (zend_long)one.hits);
		add_assoc_long(&row, "misses", (zend_long)one.misses);
		add_assoc_long(&row, "writes", (zend_long)one.writes);
		add_next_index_zval(return_value, &row);
	}
	free(all.bytes);
}

/* }}} */

/* {{{ Checks */

static void put_report(zval *out, const tavola_check_report *report, tavola_texts *sentences)
{
	zval list;
	array_init(out);
	array_init(&list);
	add_assoc_long(out, "problems", (zend_long)report->problems);
	add_assoc_long(out, "keys", (zend_long)report->keys);
	add_assoc_long(out, "bytes_reachable", (zend_long)report->bytes_reachable);
	add_assoc_long(out, "bytes_in_use", (zend_long)report->bytes_in_use);
	add_assoc_bool(out, "copied_in_use", report->copied_in_use != 0);
	tavola_take_texts(sentences, &list);
	add_assoc_zval(out, "sentences", &list);
}

ZEND_METHOD(Tavola_Table, check)
{
	tavola_check_report report = TAVOLA_INIT(tavola_check_report);
	tavola_texts sentences = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_check(
			self->handle->table, &report, tavola_add_text, &sentences))) {
		put_report(return_value, &report, &sentences);
	}
	free(sentences.bytes);
}

ZEND_METHOD(Tavola_Table, repair)
{
	tavola_check_report report = TAVOLA_INIT(tavola_check_report);
	tavola_texts sentences = {0};
	ZEND_PARSE_PARAMETERS_NONE();
	TAVOLA_THIS_TABLE();
	if (tavola_did(tavola_repair(
			self->handle->table, &report, tavola_add_text, &sentences))) {
		put_report(return_value, &report, &sentences);
	}
	free(sentences.bytes);
}

/* }}} */
