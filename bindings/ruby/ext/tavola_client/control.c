/* Calls to all servers. */

#include "servers.h"

#include <string.h>

/* What servers answered, in memory of malloc, as the library is called without Ruby's lock. */
typedef struct {
	size_t server;
	char *name;
	char *text;
} answer;

typedef struct {
	const tavola_mc_client *client;
	const char *topic;
	uint32_t delay_s;
	answer *all;
	size_t count;
	size_t room;
	int32_t status;
	char *why;
} asked;

static void keep(asked *all, size_t server, const char *name, const char *text)
{
	if (all->count == all->room) {
		size_t room = all->room ? 2 * all->room : 64;
		answer *larger = realloc(all->all, room * sizeof(answer));
		if (larger == NULL) {
			return;
		}
		all->all = larger;
		all->room = room;
	}
	all->all[all->count++] = (answer) {server, strdup(name), strdup(text)};
}

static void keep_stat(void *user, size_t server, const char *name, const char *value)
{
	keep(user, server, name, value);
}

static void keep_version(
	void *user, size_t server, const char *name, int32_t status, const char *text)
{
	if (status == TAVOLA_MC_OK) {
		keep(user, server, name, text);
	}
}

static void ended(asked *all, int32_t status)
{
	all->status = status;
	if (status != TAVOLA_MC_OK) {
		all->why = strdup(tavola_mc_last_error());
	}
}

static void ask_stats(void *data)
{
	asked *all = data;
	ended(all, tavola_mc_stats(all->client, all->topic, keep_stat, all));
}

static void ask_versions(void *data)
{
	asked *all = data;
	ended(all, tavola_mc_versions(all->client, keep_version, all));
}

static void ask_flush_all(void *data)
{
	asked *all = data;
	ended(all, tavola_mc_flush_all(all->client, all->delay_s, NULL, NULL));
}

static void ask_flush(void *data)
{
	asked *all = data;
	ended(all, tavola_mc_flush(all->client));
}

static VALUE name_of(const tavola_mc_client *client, size_t server)
{
	return rb_utf8_str_new_cstr(tavola_mc_server_name(client, server));
}

/* Builds the result of the answers. */
static VALUE build(VALUE data)
{
	const asked *all = (const asked *)data;
	VALUE result = rb_hash_new();
	for (size_t i = 0; i < all->count; i++) {
		const answer *one = &all->all[i];
		VALUE server = name_of(all->client, one->server);
		VALUE figures = rb_hash_aref(result, server);
		if (NIL_P(figures)) {
			figures = rb_hash_new();
			rb_hash_aset(result, server, figures);
		}
		rb_hash_aset(figures, rb_utf8_str_new_cstr(one->name ? one->name : ""),
			rb_utf8_str_new_cstr(one->text ? one->text : ""));
	}
	return result;
}

static VALUE text(VALUE bytes)
{
	return rb_utf8_str_new_cstr((const char *)bytes);
}

static VALUE ask(VALUE self, void (*run)(void *), asked *all)
{
	servers *it = servers_of(self);
	int state = 0;
	all->client = it->client;
	run_unlocked(it, run, all);
	VALUE why = all->why ? rb_protect(text, (VALUE)all->why, &state) : Qnil;
	VALUE result = state ? Qnil : rb_protect(build, (VALUE)all, &state);
	for (size_t i = 0; i < all->count; i++) {
		free(all->all[i].name);
		free(all->all[i].text);
	}
	free(all->all);
	free(all->why);
	if (state) {
		rb_jump_tag(state);
	}
	if (all->status != TAVOLA_MC_OK) {
		raise_status(all->status, StringValueCStr(why));
	}
	return result;
}

static VALUE servers_stats(VALUE self, VALUE topic)
{
	asked all = {.topic = NIL_P(topic) ? NULL : StringValueCStr(topic)};
	VALUE result = ask(self, ask_stats, &all);
	RB_GC_GUARD(topic);
	return result;
}

/* A hash of hashes, whose one value is the version. */
static VALUE servers_versions(VALUE self)
{
	asked all = {0};
	return ask(self, ask_versions, &all);
}

static VALUE servers_flush_all(VALUE self, VALUE delay_s)
{
	asked all = {.delay_s = NUM2UINT(delay_s)};
	ask(self, ask_flush_all, &all);
	return Qnil;
}

static VALUE servers_flush(VALUE self)
{
	asked all = {0};
	ask(self, ask_flush, &all);
	return Qnil;
}

static VALUE servers_names(VALUE self)
{
	servers *it = servers_of(self);
	VALUE names = rb_ary_new();
	for (size_t i = 0; i < tavola_mc_server_count(it->client); i++) {
		rb_ary_push(names, name_of(it->client, i));
	}
	return names;
}

/* The name of the server that has a key. */
static VALUE servers_server_of(VALUE self, VALUE key)
{
	servers *it = servers_of(self);
	size_t server = 0;
	StringValue(key);
	int32_t status = tavola_mc_server_of(
		it->client, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &server);
	if (status != TAVOLA_MC_OK) {
		raise_status(status, tavola_mc_last_error());
	}
	return name_of(it->client, server);
}

void init_control(VALUE klass)
{
	rb_define_method(klass, "stats", servers_stats, 1);
	rb_define_method(klass, "versions", servers_versions, 0);
	rb_define_method(klass, "flush_all", servers_flush_all, 1);
	rb_define_method(klass, "flush", servers_flush, 0);
	rb_define_method(klass, "names", servers_names, 0);
	rb_define_method(klass, "server_of", servers_server_of, 1);
}
