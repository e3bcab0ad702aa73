// Counters: signed numbers as decimal text, changed in one step.

#include "tavola_ruby.h"

enum { KW_INITIAL, KW_TTL, KW_REMOVE_ZERO, KW_COUNT };
static ID keyword_ids[KW_COUNT];

typedef struct {
  int64_t by, initial;
  tavola_attributes attributes;
  tavola_number_options options;
} counting;

static int64_t sum_of(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    rb_raise(rb_eRangeError, "the sum does not fit in 64 bits");
  }
  return sum;
}

// Returns whether the bytes are a decimal number of 64 bits with sign.
static bool parse(const char *text, size_t len, int64_t *number) {
  size_t at = len != 0 && text[0] == '-';
  int64_t value = 0;
  if (at == len) return false;
  for (; at < len; at++) {
    int digit = text[at] - '0';
    if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value)) return false;
    if (__builtin_add_overflow(value, text[0] == '-' ? -digit : digit, &value)) return false;
  }
  *number = value;
  return true;
}

// The calls of the library, with their arguments in a `tvl_call`.
static tavola_status call_add(const tavola_table *table, const tvl_call *call) {
  return tavola_add_number_with(table, call->key, call->key_len, (int64_t)call->number, call->how,
                                call->out);
}

static tavola_status call_store(const tavola_table *table, const tvl_call *call) {
  return tavola_store(table, call->key, call->key_len, call->data, call->len, call->how, NULL);
}

static tavola_status call_incr(const tavola_table *table, const tvl_call *call) {
  return tavola_incr_with(table, call->key, call->key_len, call->number, call->initial, call->how,
                          call->out);
}

static tavola_status call_decr(const tavola_table *table, const tvl_call *call) {
  return tavola_decr_with(table, call->key, call->key_len, call->number, call->initial, call->how,
                          call->out);
}

// A key that does not exist counts as 0, and the library does it in one step.
static int64_t add(VALUE self, VALUE key, counting *count) {
  int64_t now = 0;
  tvl_call call = TVL_CALL(key);
  call.number = (uint64_t)count->by;
  call.how = &count->options;
  call.out = &now;
  tavola_status status = tvl_write(self, tvl_handle_of(self), call_add, &call);
  RB_GC_GUARD(key);
  tvl_check(status);
  return now;
}

// A key that does not exist counts as another number than 0: compare and swap, until nobody comes
// in between.
static int64_t add_from(VALUE self, VALUE key, counting *count) {
  for (;;) {
    tvl_handle *handle = tvl_handle_of(self);
    char bytes[32], text[32];
    tavola_buffer old = TAVOLA_BUFFER(bytes, sizeof bytes);
    tavola_store_options how = TAVOLA_INIT(tavola_store_options);
    int64_t now = count->initial;
    tavola_status status = tavola_get_with_token(handle->table, TVL_BYTES(key), &old, &how.token);
    if (status == TAVOLA_OK && parse(bytes, old.len, &now)) {
      how.condition = TAVOLA_CONDITION_TOKEN;
      how.keep = 1;
    } else if (status == TAVOLA_NOT_FOUND) {
      how.condition = TAVOLA_CONDITION_ABSENT;
      how.attributes = &count->attributes;
    } else {
      return add(self, key, count);  // Fails with the library's reason.
    }
    now = sum_of(now, count->by);
    tvl_call call = TVL_CALL(key);
    call.data = text;
    call.len = (size_t)snprintf(text, sizeof text, "%lld", (long long)now);
    call.how = &how;
    status = tvl_write(self, handle, call_store, &call);
    RB_GC_GUARD(key);
    if (tvl_check(status) == TAVOLA_OK) return now;
  }
}

static VALUE count_by(int argc, VALUE *argv, VALUE self, bool is_down) {
  VALUE key, by, given, keywords[KW_COUNT] = {Qundef, Qundef, Qundef};
  counting count = {1, 0, TAVOLA_INIT(tavola_attributes), TAVOLA_INIT(tavola_number_options)};
  rb_scan_args(argc, argv, "11:", &key, &by, &given);
  if (!NIL_P(given)) rb_get_kwargs(given, keyword_ids, 0, KW_COUNT, keywords);
#define GIVEN(keyword) (keywords[keyword] != Qundef && !NIL_P(keywords[keyword]))
  if (!NIL_P(by)) count.by = NUM2LL(by);
  if (is_down && __builtin_sub_overflow((int64_t)0, count.by, &count.by)) {
    rb_raise(rb_eRangeError, "the number does not fit in 64 bits");
  }
  if (GIVEN(KW_INITIAL)) count.initial = NUM2LL(keywords[KW_INITIAL]);
  tvl_attributes_of(GIVEN(KW_TTL) ? keywords[KW_TTL] : Qnil, TVL_FLAGS_INTEGER,
                    &count.attributes);
  count.options.remove_zero = GIVEN(KW_REMOVE_ZERO) && RTEST(keywords[KW_REMOVE_ZERO]);
#undef GIVEN
  count.options.attributes = &count.attributes;
  key = tvl_write_key(tvl_handle_of(self), key);
  bool is_plain = count.initial == 0;
  if (!is_plain && count.options.remove_zero) {
    rb_raise(rb_eArgError, "initial: and remove_zero: exclude each other");
  }
  return LL2NUM(is_plain ? add(self, key, &count) : add_from(self, key, &count));
}

static VALUE table_increment(int argc, VALUE *argv, VALUE self) {
  return count_by(argc, argv, self, false);
}

static VALUE table_decrement(int argc, VALUE *argv, VALUE self) {
  return count_by(argc, argv, self, true);
}

// count_unsigned(key, by, is_down, initial, ttl) counts as memcached does: from 0 to 2^64 - 1. A
// missing key becomes `initial`, or gives nil if that is nil.
static VALUE table_count_unsigned(VALUE self, VALUE key, VALUE by, VALUE is_down, VALUE initial,
                                  VALUE ttl) {
  tvl_handle *handle = tvl_handle_of(self);
  tavola_attributes attributes;
  uint64_t amount = NUM2ULL(by), now = 0, first = NIL_P(initial) ? 0 : NUM2ULL(initial);
  tvl_attributes_of(ttl, TVL_FLAGS_INTEGER, &attributes);
  key = tvl_write_key(handle, key);
  tvl_call call = TVL_CALL(key);
  call.number = amount;
  call.initial = NIL_P(initial) ? NULL : &first;
  call.how = &attributes;
  call.out = &now;
  tavola_status status = tvl_write(self, handle, RTEST(is_down) ? call_decr : call_incr, &call);
  RB_GC_GUARD(key);
  return tvl_check(status) == TAVOLA_OK ? ULL2NUM(now) : Qnil;
}

void tvl_init_number(void) {
  keyword_ids[KW_INITIAL] = rb_intern("initial");
  keyword_ids[KW_TTL] = rb_intern("ttl");
  keyword_ids[KW_REMOVE_ZERO] = rb_intern("remove_zero");
  rb_define_private_method(tvl_table_class, "count_unsigned", table_count_unsigned, 5);
  rb_define_method(tvl_table_class, "increment", table_increment, -1);
  rb_define_method(tvl_table_class, "decrement", table_decrement, -1);
}
