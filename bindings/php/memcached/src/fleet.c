/* The fleet of an object: its client is made when a call needs it. */

#include "memcached.h"

char *mc_copy(const char *text, size_t len, bool is_persistent)
{
	char *copy = pemalloc(len + 1, is_persistent);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

mc_fleet *mc_new_fleet(bool is_persistent)
{
	mc_fleet *fleet = pecalloc(1, sizeof(*fleet), is_persistent);
	fleet->is_persistent = is_persistent;
	mc_start_settings(&fleet->settings, is_persistent);
	return fleet;
}

void mc_close(mc_fleet *fleet)
{
	tavola_mc_batch_free(fleet->batch);
	tavola_mc_close(fleet->client);
	fleet->batch = NULL;
	fleet->client = NULL;
	fleet->has_held = false;
	if (fleet->alone == NULL) {
		return;
	}
	for (size_t i = 0; i < fleet->count; i++) {
		tavola_mc_batch_free(fleet->alone_batches[i]);
		tavola_mc_close(fleet->alone[i]);
	}
	pefree(fleet->alone, fleet->is_persistent);
	pefree(fleet->alone_batches, fleet->is_persistent);
	fleet->alone = NULL;
	fleet->alone_batches = NULL;
}

void mc_free_fleet(mc_fleet *fleet)
{
	mc_close(fleet);
	mc_remove_servers(fleet);
	mc_free_settings(&fleet->settings, fleet->is_persistent);
	pefree(fleet, fleet->is_persistent);
}

static bool open_client(
	mc_object *self, const char *servers, bool is_whole, tavola_mc_client **client)
{
	tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);
	mc_fill_options(self->fleet, &options);
	if (!is_whole) {
		options.near = NULL;
		options.near_ttl_ms = 0;
		options.replicas = 0;
	}
	return mc_answered(self, tavola_mc_open(servers, &options, client), NULL);
}

static bool open_all(mc_object *self)
{
	mc_fleet *fleet = self->fleet;
	smart_str list = {0};
	if (fleet->count == 0) {
		return mc_done(self, RES_NO_SERVERS);
	}
	for (size_t i = 0; i < fleet->count; i++) {
		if (i > 0) {
			smart_str_appendc(&list, ',');
		}
		mc_write_server(&list, &fleet->servers[i]);
	}
	smart_str_0(&list);
	bool is_open = open_client(self, ZSTR_VAL(list.s), true, &fleet->client);
	smart_str_free(&list);
	return is_open;
}

/* The server of the other key alone. A value there may have the key of another one elsewhere, which
 * a table in front of the fleet would not tell apart. */
static bool open_alone(mc_object *self, zend_string *server_key, mc_use *use)
{
	mc_fleet *fleet = self->fleet;
	size_t server = 0;
	if (fleet->settings.texts[MC_NEAR]) {
		php_error_docref(NULL, E_WARNING,
			"a table in front of the servers cannot tell apart keys with a server key; "
			"call the method without it, or use an object without OPT_NEAR");
		return mc_done(self, RES_NOT_SUPPORTED);
	}
	tavola_mc_status status = tavola_mc_server_of(
		fleet->client, ZSTR_VAL(server_key), ZSTR_LEN(server_key), &server);
	if (status != TAVOLA_MC_OK) {
		return mc_answered(self, status, NULL);
	}
	if (fleet->alone == NULL) {
		fleet->alone = pecalloc(fleet->count, sizeof(*fleet->alone), fleet->is_persistent);
		fleet->alone_batches =
			pecalloc(fleet->count, sizeof(*fleet->alone_batches), fleet->is_persistent);
	}
	if (fleet->alone[server] == NULL) {
		smart_str text = {0};
		mc_write_server(&text, &fleet->servers[server]);
		smart_str_0(&text);
		bool is_open = open_client(self, ZSTR_VAL(text.s), false, &fleet->alone[server]);
		smart_str_free(&text);
		if (!is_open) {
			return false;
		}
	}
	use->client = fleet->alone[server];
	use->batch = &fleet->alone_batches[server];
	return true;
}

bool mc_client(mc_object *self, zend_string *server_key, mc_use *use)
{
	mc_fleet *fleet = self->fleet;
	if (UNEXPECTED(fleet->client == NULL) && !open_all(self)) {
		return false;
	}
	/* With one server, every key chooses it. */
	if (server_key && fleet->count > 1) {
		return open_alone(self, server_key, use);
	}
	use->client = fleet->client;
	use->batch = &fleet->batch;
	return true;
}

tavola_mc_batch *mc_batch(mc_object *self, zend_string *server_key)
{
	mc_use use;
	if (!mc_client(self, server_key, &use)) {
		return NULL;
	}
	tavola_mc_status status = *use.batch
		? tavola_mc_batch_clear(*use.batch)
		: tavola_mc_batch_new(use.client, use.batch);
	if (status != TAVOLA_MC_OK) {
		mc_answered(self, status, NULL);
		return NULL;
	}
	return *use.batch;
}

bool mc_is_key(mc_object *self, const char *key, size_t len)
{
	const mc_settings *settings = &self->fleet->settings;
	bool is_binary = settings->behaviors[OPT_BINARY_PROTOCOL];
	bool is_key = len > 0 && len + settings->prefix_len <= 250;
	for (size_t i = 0; i < len && is_key; i++) {
		unsigned char byte = (unsigned char)key[i];
		is_key = is_binary ? byte != '\n' : byte > ' ' && byte < 0x7F;
	}
	return is_key;
}

bool mc_checked_key(mc_object *self, zend_string *key)
{
	return mc_is_key(self, ZSTR_VAL(key), ZSTR_LEN(key)) || mc_done(self, RES_BAD_KEY_PROVIDED);
}
