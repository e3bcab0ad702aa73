/* What a table reports about itself, as Perl hashes. */
#include "tvl.h"

#include <stdio.h>
#include <string.h>

static void put(pTHX_ HV *to, const char *name, SV *value) {
  if (hv_store(to, name, (I32)strlen(name), value, 0) == NULL) {
    SvREFCNT_dec(value);
  }
}

static void put_number(pTHX_ HV *to, const char *name, uint64_t value) {
  put(aTHX_ to, name, newSVuv((UV)value));
}

static void put_sizes(pTHX_ HV *to, const tavola_stats *stats) {
  put_number(aTHX_ to, "keys", stats->keys);
  put_number(aTHX_ to, "payload_bytes", stats->payload_bytes);
  put_number(aTHX_ to, "resident_bytes", stats->resident_bytes);
  put_number(aTHX_ to, "max_size", stats->max_size);
  put_number(aTHX_ to, "fixed_key", stats->fixed_key);
  put_number(aTHX_ to, "fixed_value", stats->fixed_value);
  put_number(aTHX_ to, "uids", stats->uids);
  put_number(aTHX_ to, "segments", stats->segments);
  put(aTHX_ to, "index_load", newSVnv(stats->index_load));
  put_number(aTHX_ to, "index_bytes", stats->index_bytes);
  put_number(aTHX_ to, "slab_bytes", stats->slab_bytes);
  put_number(aTHX_ to, "uid_bytes", stats->uid_bytes);
  put_number(aTHX_ to, "large_bytes", stats->large_bytes);
  put_number(aTHX_ to, "queue_and_log_bytes", stats->queue_and_log_bytes);
  put_number(aTHX_ to, "free_bytes", stats->free_bytes);
  put_number(aTHX_ to, "shards", stats->shards);
}

static void put_history(pTHX_ HV *to, const tavola_stats *stats) {
  put_number(aTHX_ to, "participants", stats->participants);
  put_number(aTHX_ to, "recoveries", stats->recoveries);
  put_number(aTHX_ to, "created_unix_s", stats->created_unix_s);
  put_number(aTHX_ to, "format_version", stats->format_version);
  put_number(aTHX_ to, "expired", stats->expired);
  put_number(aTHX_ to, "ttl_ms", stats->ttl_ms);
  put_number(aTHX_ to, "capacity", stats->capacity);
  put_number(aTHX_ to, "probationary_bytes", stats->probationary_bytes);
  put_number(aTHX_ to, "evicted_new", stats->evicted_new);
  put_number(aTHX_ to, "evicted_old", stats->evicted_old);
  put_number(aTHX_ to, "ghost_hits", stats->ghost_hits);
  put_number(aTHX_ to, "hits", stats->hits);
  put_number(aTHX_ to, "misses", stats->misses);
  put_number(aTHX_ to, "writes", stats->writes);
  put_number(aTHX_ to, "sets", stats->sets);
  put_number(aTHX_ to, "removes", stats->removes);
  put_number(aTHX_ to, "tags", stats->tags);
}

/* Of a durable table: the state of its journal. */
static void put_journal(pTHX_ HV *to, const tavola_table *table) {
  tavola_durable_stats stats = TAVOLA_INIT(tavola_durable_stats);
  if (tavola_get_durable_stats(table, &stats) != TAVOLA_OK) {
    return;
  }
  put_number(aTHX_ to, "journal_bytes", stats.journal_bytes);
  put_number(aTHX_ to, "unsynced_bytes", stats.unsynced_bytes);
  put_number(aTHX_ to, "syncs", stats.syncs);
  put_number(aTHX_ to, "snapshot_unix_ms", stats.snapshot_unix_ms);
}

/* Returns a new hash with the state of a table. */
HV *tvl_stats(pTHX_ tvl_handle *handle) {
  tavola_stats stats = TAVOLA_INIT(tavola_stats);
  tavola_live_keys live = TAVOLA_INIT(tavola_live_keys);
  char uuid[33];
  size_t i;
  HV *made;
  tavola_status status = tavola_get_stats(handle->table, &stats);
  if (status == TAVOLA_OK) {
    status = tavola_get_live_keys(handle->table, &live);
  }
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = newHV();
  put_sizes(aTHX_ made, &stats);
  put_history(aTHX_ made, &stats);
  put_journal(aTHX_ made, handle->table);
  for (i = 0; i < sizeof stats.uuid; i++) {
    snprintf(uuid + 2 * i, 3, "%02x", stats.uuid[i]);
  }
  put(aTHX_ made, "uuid", newSVpvn(uuid, 32));
  put_number(aTHX_ made, "live_keys", live.live);
  put_number(aTHX_ made, "unreclaimed_keys", live.unreclaimed);
  return made;
}

/* Lines of text from a callback: plain memory until the library has returned. */
typedef struct texts {
  char *bytes;
  size_t used;
  size_t room;
} texts;

static void free_texts(pTHX_ void *user) {
  texts *all = (texts *)user;
  PERL_UNUSED_CONTEXT;
  free(all->bytes);
  free(all);
}

static void add_text(texts *all, const void *text, size_t len) {
  if (all->room - all->used < len) {
    size_t room = (all->room + len) * 2;
    char *bytes = realloc(all->bytes, room);
    if (bytes == NULL) {
      return;
    }
    all->bytes = bytes;
    all->room = room;
  }
  memcpy(all->bytes + all->used, text, len);
  all->used += len;
}

static texts *new_texts(pTHX) {
  texts *all = calloc(1, sizeof *all);
  if (all == NULL) {
    croak("Tavola: no memory for a list");
  }
  SAVEDESTRUCTOR_X(free_texts, all);
  return all;
}

static void gather_problem(void *user, const char *text, size_t len) {
  add_text((texts *)user, text, len + 1);
}

/* Checks a table, or repairs it, and returns a new hash with what was found. */
HV *tvl_check(pTHX_ tvl_handle *handle, bool repairs) {
  tavola_check_report report = TAVOLA_INIT(tavola_check_report);
  tavola_status status;
  AV *problems;
  HV *made;
  size_t at;
  texts *all;
  ENTER;
  all = new_texts(aTHX);
  status = repairs ? tavola_repair(handle->table, &report, gather_problem, all)
                   : tavola_check(handle->table, &report, gather_problem, all);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = newHV();
  problems = newAV();
  for (at = 0; at < all->used; at += strlen(all->bytes + at) + 1) {
    av_push(problems, newSVpv(all->bytes + at, 0));
  }
  put_number(aTHX_ made, "keys", report.keys);
  put_number(aTHX_ made, "bytes_reachable", report.bytes_reachable);
  put_number(aTHX_ made, "bytes_in_use", report.bytes_in_use);
  put_number(aTHX_ made, "problem_count", report.problems);
  put_number(aTHX_ made, "copied_in_use", report.copied_in_use);
  put(aTHX_ made, "problems", newRV_noinc((SV *)problems));
  LEAVE;
  return made;
}

static void gather_participant(void *user, const tavola_participant *one) {
  tavola_participant copy = *one;
  size_t len = one->command != NULL ? strlen(one->command) + 1 : 0;
  copy.size = len;
  copy.command = NULL;
  add_text((texts *)user, &copy, sizeof copy);
  if (len != 0) {
    add_text((texts *)user, one->command, len);
  }
}

/* Returns a new list of the processes that are attached for writing. */
AV *tvl_participants(pTHX_ tvl_handle *handle) {
  tavola_status status;
  AV *made;
  size_t at = 0;
  texts *all;
  ENTER;
  all = new_texts(aTHX);
  status = tavola_participants(handle->table, gather_participant, all);
  if (status != TAVOLA_OK) {
    tvl_throw(aTHX_ status);
  }
  made = newAV();
  while (at < all->used) {
    HV *one = newHV();
    tavola_participant record;
    memcpy(&record, all->bytes + at, sizeof record);
    at += sizeof record;
    put_number(aTHX_ one, "pid", record.pid);
    put_number(aTHX_ one, "slot", record.slot);
    put_number(aTHX_ one, "attached_unix_s", record.attached_unix_s);
    put(aTHX_ one, "is_alive", newSVsv(boolSV(record.alive)));
    put(aTHX_ one, "is_local", newSVsv(boolSV(record.is_local)));
    put(aTHX_ one, "is_stopped", newSVsv(boolSV(record.is_stopped)));
    put(aTHX_ one, "command",
        record.size != 0 ? newSVpvn(all->bytes + at, record.size - 1) : newSV(0));
    at += record.size;
    av_push(made, newRV_noinc((SV *)one));
  }
  LEAVE;
  return made;
}
