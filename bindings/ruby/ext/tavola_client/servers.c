/* The client, and calls for one key. */

#include "servers.h"

#include <string.h>

static VALUE mTavola;

/* {{{ The object */

static void release(servers *it)
{
	if (it->is_closed && it->running == 0 && it->client) {
		tavola_mc_client *client = it->client;
		it->client = NULL;
		tavola_mc_close(client);
	}
}

static void free_servers(void *data)
{
	servers *it = data;
	it->is_closed = true;
	release(it);
	xfree(it);
}

static const rb_data_type_t servers_type = {
	.wrap_struct_name = "Tavola::Servers",
	.function = {.dfree = free_servers},
};

static VALUE allocate(VALUE klass)
{
	servers *it;
	return TypedData_Make_Struct(klass, servers, &servers_type, it);
}

servers *servers_of(VALUE self)
{
	servers *it;
	TypedData_Get_Struct(self, servers, &servers_type, it);
	if (it->client == NULL || it->is_closed) {
		raise_status(0, "the client is closed; make another one");
	}
	return it;
}

typedef struct {
	void (*run)(void *);
	void *argument;
	bool has_run;
} unlocked;

static void *call_unlocked(void *data)
{
	unlocked *call = data;
	call->has_run = true;
	call->run(call->argument);
	return NULL;
}

void run_unlocked(servers *it, void (*run)(void *), void *argument)
{
	unlocked call = {run, argument, false};
	/* The second form checks for interrupts only before it runs, so that nothing is lost. */
	while (!call.has_run) {
		it->running++;
		rb_thread_call_without_gvl2(call_unlocked, &call, NULL, NULL);
		it->running--;
		release(it);
		if (!call.has_run) {
			rb_thread_check_ints();
		}
	}
}

/* }}} */

/* {{{ Values */

typedef struct {
	VALUE keep;
	VALUE string;
	size_t len;
	int state;
} making;

static VALUE make_string(VALUE data)
{
	making *new = (making *)data;
	new->string = rb_str_new(NULL, (long)new->len);
	rb_ary_push(new->keep, new->string);
	return Qnil;
}

static void *make_locked(void *data)
{
	making *new = data;
	rb_protect(make_string, (VALUE)new, &new->state);
	if (new->state) {
		rb_set_errinfo(Qnil);
		return NULL;
	}
	return RSTRING_PTR(new->string);
}

void *room_for(outcome *out, VALUE keep, size_t len)
{
	out->len = len;
	if (len <= SMALL_BYTES) {
		out->small = malloc(len ? len : 1);
		return out->small;
	}
	making new = {keep, Qnil, len, 0};
	void *place = rb_thread_call_with_gvl(make_locked, &new);
	out->string = place ? new.string : Qnil;
	return place;
}

VALUE taken(outcome *out)
{
	VALUE value = out->small ? rb_str_new(out->small, (long)out->len) : out->string;
	free(out->small);
	out->small = NULL;
	return rb_ary_new_from_args(3, value, UINT2NUM(out->flags), ULL2NUM(out->cas));
}

void raise_status(int32_t status, const char *why)
{
	VALUE error = rb_funcall(rb_path2class("Tavola::Servers"), rb_intern("error_of"), 2,
		INT2NUM(status), rb_utf8_str_new_cstr(why));
	rb_exc_raise(error);
}

/* }}} */

/* {{{ One key */

typedef enum {
	GET,
	GETS,
	GET_AND_TOUCH,
	SET,
	ADD,
	REPLACE,
	APPEND,
	PREPEND,
	CAS,
	INCR,
	DECR,
	TOUCH,
	DELETE,
} kind;

typedef struct {
	const tavola_mc_client *client;
	kind what;
	const char *key;
	size_t key_len;
	const char *bytes;
	size_t len;
	tavola_mc_store_options store;
	tavola_mc_count_options count;
	uint64_t number;
	int32_t exptime;
	uint32_t no_reply;
	outcome out;
	VALUE keep;
	char *why;
} call;

static void *room_of_one(void *user, size_t len, uint32_t flags)
{
	call *one = user;
	(void)flags;
	return room_for(&one->out, one->keep, len);
}

static tavola_mc_status get(call *one)
{
	tavola_mc_value value = TAVOLA_MC_VALUE_ROOM(room_of_one, one);
	tavola_mc_status status =
		one->what == GET ? tavola_mc_get(one->client, one->key, one->key_len, &value)
		: one->what == GETS ? tavola_mc_gets(one->client, one->key, one->key_len, &value)
		: tavola_mc_get_and_touch(one->client, one->key, one->key_len, one->exptime, &value);
	one->out.flags = (uint32_t)value.flags;
	one->out.cas = value.cas;
	return status;
}

typedef tavola_mc_status store_call(
	const tavola_mc_client *client, const void *key, size_t key_len, const void *value,
	size_t value_len, const tavola_mc_store_options *how);

static tavola_mc_status store(call *one)
{
	static store_call *const calls[] = {
		[SET] = tavola_mc_set, [ADD] = tavola_mc_add, [REPLACE] = tavola_mc_replace,
		[APPEND] = tavola_mc_append, [PREPEND] = tavola_mc_prepend,
	};
	if (one->what == CAS) {
		return tavola_mc_cas(one->client, one->key, one->key_len, one->bytes, one->len,
			one->number, &one->store);
	}
	return calls[one->what](
		one->client, one->key, one->key_len, one->bytes, one->len, &one->store);
}

static void run_call(void *data)
{
	call *one = data;
	tavola_mc_status status;
	switch (one->what) {
		case GET:
		case GETS:
		case GET_AND_TOUCH:
			status = get(one);
			break;
		case INCR:
			status = tavola_mc_incr(one->client, one->key, one->key_len, one->number,
				&one->count, &one->out.number);
			break;
		case DECR:
			status = tavola_mc_decr(one->client, one->key, one->key_len, one->number,
				&one->count, &one->out.number);
			break;
		case TOUCH:
			status = tavola_mc_touch(one->client, one->key, one->key_len, one->exptime, 0);
			break;
		case DELETE:
			status = tavola_mc_delete(one->client, one->key, one->key_len, one->no_reply);
			break;
		default:
			status = store(one);
	}
	one->out.status = status;
	if (status < 0) {
		/* The message belongs to this thread of the system. */
		one->why = strdup(tavola_mc_last_error());
	}
}

/* Runs a call. Raises its error, else returns its status. */
static int32_t run(VALUE self, call *one, VALUE key, VALUE bytes)
{
	servers *it = servers_of(self);
	StringValue(key);
	key = rb_str_new_frozen(key);
	one->client = it->client;
	one->key = RSTRING_PTR(key);
	one->key_len = (size_t)RSTRING_LEN(key);
	one->keep = rb_ary_new();
	if (!NIL_P(bytes)) {
		StringValue(bytes);
		bytes = rb_str_new_frozen(bytes);
		one->bytes = RSTRING_PTR(bytes);
		one->len = (size_t)RSTRING_LEN(bytes);
	}
	run_unlocked(it, run_call, one);
	RB_GC_GUARD(key);
	RB_GC_GUARD(bytes);
	RB_GC_GUARD(one->keep);
	if (one->out.status < 0) {
		VALUE why = rb_utf8_str_new_cstr(one->why ? one->why : "");
		free(one->why);
		free(one->out.small);
		raise_status(one->out.status, StringValueCStr(why));
	}
	return one->out.status;
}

static VALUE value_of(VALUE self, kind what, VALUE key, int32_t exptime)
{
	call one = {.what = what, .exptime = exptime, .out = {.string = Qnil}};
	return run(self, &one, key, Qnil) == TAVOLA_MC_HIT ? taken(&one.out) : Qnil;
}

static VALUE servers_get(VALUE self, VALUE key)
{
	return value_of(self, GET, key, 0);
}

static VALUE servers_gets(VALUE self, VALUE key)
{
	return value_of(self, GETS, key, 0);
}

static VALUE servers_get_and_touch(VALUE self, VALUE key, VALUE exptime)
{
	return value_of(self, GET_AND_TOUCH, key, NUM2INT(exptime));
}

/* store(:set, key, bytes, flags, exptime, cas, no_reply): the status as a symbol. */
static VALUE servers_store(
	VALUE self, VALUE name, VALUE key, VALUE bytes, VALUE flags, VALUE exptime, VALUE cas,
	VALUE no_reply)
{
	static const char *const names[] = {"set", "add", "replace", "append", "prepend", "cas"};
	const char *given = rb_id2name(SYM2ID(name));
	call one = {
		.store = TAVOLA_MC_INIT(tavola_mc_store_options), .number = NUM2ULL(cas),
		.out = {.string = Qnil},
	};
	size_t i = 0;
	while (i < 6 && strcmp(given, names[i]) != 0) {
		i++;
	}
	if (i == 6) {
		rb_raise(rb_eArgError, "there is no store %s", given);
	}
	one.what = (kind)(SET + i);
	one.store.flags = NUM2UINT(flags);
	one.store.exptime = NUM2INT(exptime);
	one.store.no_reply = RTEST(no_reply);
	switch (run(self, &one, key, bytes)) {
		case TAVOLA_MC_STORED:
		case TAVOLA_MC_QUEUED:
			return ID2SYM(rb_intern("stored"));
		case TAVOLA_MC_EXISTS:
			return ID2SYM(rb_intern("exists"));
		case TAVOLA_MC_MISS:
			return ID2SYM(rb_intern("missing"));
		default:
			return ID2SYM(rb_intern("not_stored"));
	}
}

static VALUE servers_count(
	VALUE self, VALUE key, VALUE by, VALUE is_down, VALUE initial, VALUE exptime)
{
	call one = {
		.what = RTEST(is_down) ? DECR : INCR, .count = TAVOLA_MC_INIT(tavola_mc_count_options),
		.number = NUM2ULL(by), .out = {.string = Qnil},
	};
	if (!NIL_P(initial)) {
		one.count.has_initial = 1;
		one.count.initial = NUM2ULL(initial);
		one.count.exptime = NUM2INT(exptime);
	}
	return run(self, &one, key, Qnil) == TAVOLA_MC_COUNT ? ULL2NUM(one.out.number) : Qnil;
}

static VALUE servers_touch(VALUE self, VALUE key, VALUE exptime)
{
	call one = {.what = TOUCH, .exptime = NUM2INT(exptime), .out = {.string = Qnil}};
	return run(self, &one, key, Qnil) == TAVOLA_MC_TOUCHED ? Qtrue : Qfalse;
}

static VALUE servers_delete(VALUE self, VALUE key, VALUE no_reply)
{
	call one = {.what = DELETE, .no_reply = RTEST(no_reply), .out = {.string = Qnil}};
	return run(self, &one, key, Qnil) == TAVOLA_MC_MISS ? Qfalse : Qtrue;
}

/* }}} */

/* {{{ Opening and closing */

static uint32_t number_of(VALUE options, const char *name)
{
	VALUE number = rb_hash_aref(options, ID2SYM(rb_intern(name)));
	return NIL_P(number) ? 0 : NUM2UINT(number);
}

static const char *text_of(VALUE options, const char *name)
{
	VALUE text = rb_hash_aref(options, ID2SYM(rb_intern(name)));
	return NIL_P(text) ? NULL : StringValueCStr(text);
}

static VALUE initialize(VALUE self, VALUE list, VALUE given)
{
	servers *it;
	TypedData_Get_Struct(self, servers, &servers_type, it);
	if (it->client) {
		rb_raise(rb_eArgError, "the client is open already");
	}
	tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
	VALUE name_space = rb_hash_aref(given, ID2SYM(rb_intern("name_space")));
	if (!NIL_P(name_space)) {
		options.name_space = StringValuePtr(name_space);
		options.name_space_len = (size_t)RSTRING_LEN(name_space);
	}
	options.hash_name_space = number_of(given, "hash_name_space");
	options.placement = (int32_t)number_of(given, "placement");
	options.connect_timeout_ms = number_of(given, "connect_timeout_ms");
	options.io_timeout_ms = number_of(given, "io_timeout_ms");
	options.max_failures = number_of(given, "max_failures");
	options.failure_timeout_ms = number_of(given, "failure_timeout_ms");
	options.retry_ms = number_of(given, "retry_ms");
	options.on_down = (int32_t)number_of(given, "on_down");
	options.protocol = (int32_t)number_of(given, "protocol");
	options.login = (int32_t)number_of(given, "login");
	options.user = text_of(given, "user");
	options.password = text_of(given, "password");
	options.tls = number_of(given, "tls");
	options.tls_authorities = text_of(given, "tls_authorities");
	options.tls_certificate = text_of(given, "tls_certificate");
	options.tls_key = text_of(given, "tls_key");
	options.tls_name = text_of(given, "tls_name");
	options.near = text_of(given, "near");
	options.near_ttl_ms = number_of(given, "near_ttl_ms");
	int32_t status = tavola_mc_open(StringValueCStr(list), &options, &it->client);
	if (status != TAVOLA_MC_OK) {
		raise_status(status, tavola_mc_last_error());
	}
	RB_GC_GUARD(given);
	return self;
}

static VALUE servers_close(VALUE self)
{
	servers *it;
	TypedData_Get_Struct(self, servers, &servers_type, it);
	it->is_closed = true;
	release(it);
	return Qnil;
}

static VALUE servers_is_closed(VALUE self)
{
	servers *it;
	TypedData_Get_Struct(self, servers, &servers_type, it);
	return it->is_closed ? Qtrue : Qfalse;
}

__attribute__((visibility("default"))) void Init_servers(void)
{
	mTavola = rb_define_module("Tavola");
	VALUE klass = rb_define_class_under(mTavola, "Servers", rb_cObject);
	rb_define_alloc_func(klass, allocate);
	rb_define_method(klass, "initialize", initialize, 2);
	rb_define_method(klass, "get", servers_get, 1);
	rb_define_method(klass, "gets", servers_gets, 1);
	rb_define_method(klass, "get_and_touch", servers_get_and_touch, 2);
	rb_define_method(klass, "store", servers_store, 7);
	rb_define_method(klass, "count", servers_count, 5);
	rb_define_method(klass, "touch", servers_touch, 2);
	rb_define_method(klass, "delete", servers_delete, 2);
	rb_define_method(klass, "close", servers_close, 0);
	rb_define_method(klass, "closed?", servers_is_closed, 0);
	init_many(klass);
	init_control(klass);
}

/* }}} */
