/* Calls for many keys: one batch, which all servers carry out at once. */

#include "servers.h"

#include <string.h>

typedef enum { MANY_GET, MANY_GETS, MANY_SET, MANY_DELETE } many_kind;

/* A run owns all of its memory, and is an object: if Ruby leaves by an exception, it is freed. */
typedef struct {
	const tavola_mc_client *client;
	tavola_mc_batch *batch;
	size_t count;
	outcome *out;
	/* Copies of keys and of short values. */
	char *copies;
	VALUE keep;
	char *why;
	int32_t failed;
	VALUE self;
} many;

static void mark_many(void *data)
{
	const many *run = data;
	rb_gc_mark(run->keep);
	rb_gc_mark(run->self);
	for (size_t i = 0; run->out && i < run->count; i++) {
		rb_gc_mark(run->out[i].string);
	}
}

static void free_many(void *data)
{
	many *run = data;
	tavola_mc_batch_free(run->batch);
	for (size_t i = 0; run->out && i < run->count; i++) {
		free(run->out[i].small);
	}
	xfree(run->out);
	xfree(run->copies);
	free(run->why);
	xfree(run);
}

static const rb_data_type_t many_type = {
	.wrap_struct_name = "Tavola::Servers::Many",
	.function = {.dmark = mark_many, .dfree = free_many},
	.flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static void *room_of_many(void *user, size_t index, size_t len, uint32_t flags)
{
	many *run = user;
	(void)flags;
	return room_for(&run->out[index], run->keep, len);
}

static void done_of_many(void *user, size_t index, const tavola_mc_result *result)
{
	many *run = user;
	outcome *out = &run->out[index];
	out->status = result->status;
	out->flags = result->flags;
	out->cas = result->cas;
	if (result->status < 0 && run->why == NULL) {
		run->failed = result->status;
		run->why = strdup(result->why);
	}
}

static void execute(void *data)
{
	many *run = data;
	tavola_mc_sink sink = TAVOLA_MC_INIT(tavola_mc_sink);
	sink.room = room_of_many;
	sink.done = done_of_many;
	sink.user = run;
	tavola_mc_batch_execute(run->batch, &sink);
}

/* Bytes that stay where they are while Ruby's lock is free: a short string may move, and is
 * copied. */
static const char *fixed(VALUE string, char **copies)
{
	size_t len = (size_t)RSTRING_LEN(string);
	if (len > SMALL_BYTES) {
		return RSTRING_PTR(string);
	}
	char *copy = *copies;
	memcpy(copy, RSTRING_PTR(string), len);
	*copies += len;
	return copy;
}

static size_t copied_bytes(VALUE strings)
{
	size_t sum = 0;
	for (long i = 0; i < RARRAY_LEN(strings); i++) {
		size_t len = (size_t)RSTRING_LEN(rb_ary_entry(strings, i));
		sum += len <= SMALL_BYTES ? len : 0;
	}
	return sum;
}

/* Returns an array of frozen strings that nobody else has. */
static VALUE frozen(VALUE given)
{
	VALUE strings = rb_ary_new();
	given = rb_convert_type(given, T_ARRAY, "Array", "to_ary");
	for (long i = 0; i < RARRAY_LEN(given); i++) {
		VALUE string = rb_ary_entry(given, i);
		StringValue(string);
		rb_ary_push(strings, rb_str_new_frozen(string));
	}
	return strings;
}

typedef struct {
	many_kind what;
	VALUE keys;
	VALUE values;
	VALUE flags;
	int32_t exptime;
	uint32_t no_reply;
} request;

static void add(many *run, const request *given, size_t i, char **copies)
{
	VALUE key = rb_ary_entry(given->keys, (long)i);
	size_t key_len = (size_t)RSTRING_LEN(key);
	const char *at = fixed(key, copies);
	tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);
	switch (given->what) {
		case MANY_GET:
			tavola_mc_batch_get(run->batch, at, key_len);
			break;
		case MANY_GETS:
			tavola_mc_batch_gets(run->batch, at, key_len);
			break;
		case MANY_DELETE:
			tavola_mc_batch_delete(run->batch, at, key_len, given->no_reply);
			break;
		default: {
			VALUE value = rb_ary_entry(given->values, (long)i);
			how.flags = NUM2UINT(rb_ary_entry(given->flags, (long)i));
			how.exptime = given->exptime;
			how.no_reply = given->no_reply;
			tavola_mc_batch_set(run->batch, at, key_len, fixed(value, copies),
				(size_t)RSTRING_LEN(value), &how);
		}
	}
}

/* Executes the requests, and returns the object that has their outcomes. */
static VALUE run_many(VALUE self, const request *given, many **result)
{
	servers *it = servers_of(self);
	many *run;
	VALUE object = TypedData_Make_Struct(0, many, &many_type, run);
	run->self = self;
	run->keep = rb_ary_new_from_args(2, given->keys, given->values);
	size_t count = (size_t)RARRAY_LEN(given->keys);
	run->out = ZALLOC_N(outcome, count ? count : 1);
	for (size_t i = 0; i < count; i++) {
		run->out[i].string = Qnil;
	}
	run->count = count;
	size_t bytes = copied_bytes(given->keys);
	if (!NIL_P(given->values)) {
		bytes += copied_bytes(given->values);
	}
	run->copies = ALLOC_N(char, bytes + 1);
	run->client = it->client;
	int32_t status = tavola_mc_batch_new(run->client, &run->batch);
	if (status != TAVOLA_MC_OK) {
		raise_status(status, tavola_mc_last_error());
	}
	char *copies = run->copies;
	for (size_t i = 0; i < count; i++) {
		add(run, given, i, &copies);
	}
	run_unlocked(it, execute, run);
	if (run->failed) {
		raise_status(run->failed, run->why ? run->why : "");
	}
	*result = run;
	return object;
}

/* An array with [value, flags, cas] or nil for each key. */
static VALUE servers_get_many(VALUE self, VALUE keys, VALUE with_cas)
{
	many *run;
	request given = {RTEST(with_cas) ? MANY_GETS : MANY_GET, frozen(keys), Qnil, Qnil, 0, 0};
	VALUE object = run_many(self, &given, &run);
	VALUE all = rb_ary_new_capa((long)run->count);
	for (size_t i = 0; i < run->count; i++) {
		rb_ary_push(all, run->out[i].status == TAVOLA_MC_HIT ? taken(&run->out[i]) : Qnil);
	}
	RB_GC_GUARD(object);
	return all;
}

static VALUE servers_set_many(
	VALUE self, VALUE keys, VALUE values, VALUE flags, VALUE exptime, VALUE no_reply)
{
	many *run;
	request given = {
		MANY_SET, frozen(keys), frozen(values), flags, NUM2INT(exptime), RTEST(no_reply),
	};
	if (RARRAY_LEN(given.keys) != RARRAY_LEN(given.values)) {
		rb_raise(rb_eArgError, "each key needs a value");
	}
	VALUE object = run_many(self, &given, &run);
	RB_GC_GUARD(object);
	return Qnil;
}

/* How many keys existed. */
static VALUE servers_delete_many(VALUE self, VALUE keys, VALUE no_reply)
{
	many *run;
	request given = {MANY_DELETE, frozen(keys), Qnil, Qnil, 0, RTEST(no_reply)};
	VALUE object = run_many(self, &given, &run);
	size_t count = 0;
	for (size_t i = 0; i < run->count; i++) {
		count += run->out[i].status == TAVOLA_MC_DELETED;
	}
	RB_GC_GUARD(object);
	return SIZET2NUM(count);
}

void init_many(VALUE klass)
{
	rb_define_method(klass, "get_many", servers_get_many, 2);
	rb_define_method(klass, "set_many", servers_set_many, 5);
	rb_define_method(klass, "delete_many", servers_delete_many, 2);
}
