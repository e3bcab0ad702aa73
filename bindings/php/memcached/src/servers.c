/* The list of servers. */

#include "memcached.h"

static bool is_path(const char *host)
{
	return host[0] == '/' || strncmp(host, "unix:", 5) == 0;
}

static bool is_table(const char *host)
{
	return strncmp(host, "tavola:", 7) == 0;
}

bool mc_add_server(mc_fleet *fleet, const char *host, size_t len, zend_long port, zend_long weight)
{
	bool has_port = !is_path(host) && !is_table(host);
	/* The library reads a list with commas, and weights behind a question mark. */
	if (len == 0 || len != strlen(host) || strpbrk(host, ",?") || weight < 0
			|| weight > UINT32_MAX || (has_port && (port < 1 || port > 65535))) {
		php_error_docref(NULL, E_WARNING,
			"this is no server: give a host and a port from 1 to 65535, or a path or tavola:NAME "
			"with port 0, without commas and question marks, and a weight that is not negative");
		return false;
	}
	/* Before the list changes: how many clients there are depends on it. */
	mc_close(fleet);
	fleet->servers = safe_perealloc(
		fleet->servers, fleet->count + 1, sizeof(mc_server), 0, fleet->is_persistent);
	fleet->servers[fleet->count++] = (mc_server) {
		mc_copy(host, len, fleet->is_persistent), has_port ? port : 0, weight,
	};
	if (fleet->settings.behaviors[OPT_SORT_HOSTS]) {
		mc_sort_servers(fleet);
	}
	return true;
}

void mc_remove_servers(mc_fleet *fleet)
{
	mc_close(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		pefree(fleet->servers[i].host, fleet->is_persistent);
	}
	if (fleet->servers) {
		pefree(fleet->servers, fleet->is_persistent);
	}
	fleet->servers = NULL;
	fleet->count = 0;
}

static int by_name(const void *one, const void *other)
{
	const mc_server *a = one, *b = other;
	int order = strcmp(a->host, b->host);
	return order ? order : (a->port > b->port) - (a->port < b->port);
}

void mc_sort_servers(mc_fleet *fleet)
{
	mc_close(fleet);
	if (fleet->count > 1) {
		qsort(fleet->servers, fleet->count, sizeof(mc_server), by_name);
	}
}

void mc_write_server(smart_str *list, const mc_server *server)
{
	bool is_ipv6 = server->port && strchr(server->host, ':') && server->host[0] != '[';
	if (is_ipv6) {
		smart_str_appendc(list, '[');
	}
	smart_str_appends(list, server->host);
	if (is_ipv6) {
		smart_str_appendc(list, ']');
	}
	if (server->port) {
		smart_str_appendc(list, ':');
		smart_str_append_long(list, server->port);
	}
	if (server->weight > 1) {
		smart_str_appends(list, "?weight=");
		smart_str_append_long(list, server->weight);
	}
}

zend_string *mc_server_name(const mc_server *server)
{
	return zend_strpprintf(0, "%s:" ZEND_LONG_FMT, server->host, server->port);
}

/* A part of the connection string: HOST[:PORT][/?WEIGHT]. */
static bool add_part(mc_fleet *fleet, const char *text, size_t len)
{
	const char *end = text + len;
	const char *query = memchr(text, '?', len);
	zend_long weight = query ? ZEND_STRTOL(query + 1, NULL, 10) : 0;
	end = query ? query : end;
	if (end > text && end[-1] == '/' && text[0] != '/') {
		end--;
	}
	const char *colon = text[0] == '[' ? zend_memrchr(text, ']', end - text) : text;
	colon = colon ? memchr(colon, ':', end - colon) : NULL;
	char *host = mc_copy(text, (colon ? colon : end) - text, false);
	bool is_added = mc_add_server(
		fleet, host, strlen(host), colon ? ZEND_STRTOL(colon + 1, NULL, 10) : 11211, weight);
	efree(host);
	return is_added;
}

static bool is_word(const char *text, size_t len, const char *word, bool has_value)
{
	size_t word_len = strlen(word);
	return has_value
		? len > word_len && strncasecmp(text, word, word_len) == 0
		: len == word_len && strncasecmp(text, word, len) == 0;
}

static bool read_word(mc_object *self, const char *word, size_t len)
{
	zval value;
	static const struct {
		const char *name;
		zend_long option;
	} numbers[] = {
		{"--CONNECT-TIMEOUT=", OPT_CONNECT_TIMEOUT},
		{"--POLL-TIMEOUT=", OPT_POLL_TIMEOUT},
		{"--RETRY-TIMEOUT=", OPT_RETRY_TIMEOUT},
	};
	if (is_word(word, len, "--SERVER=", true)) {
		return add_part(self->fleet, word + 9, len - 9);
	}
	if (is_word(word, len, "--SOCKET=", true)) {
		/* The path may be in quotes. */
		bool is_quoted = len > 11 && word[9] == '"' && word[len - 1] == '"';
		return add_part(self->fleet, word + 9 + is_quoted, len - 9 - 2 * is_quoted);
	}
	if (is_word(word, len, "--NAMESPACE=", true)) {
		return mc_set_text(self->fleet, MC_PREFIX, word + 12, len - 12);
	}
	ZVAL_LONG(&value, 1);
	if (is_word(word, len, "--BINARY-PROTOCOL", false)) {
		return mc_set_option(self, OPT_BINARY_PROTOCOL, &value);
	}
	if (is_word(word, len, "--TCP-NODELAY", false)) {
		return mc_set_option(self, OPT_TCP_NODELAY, &value);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (is_word(word, len, numbers[i].name, true)) {
			ZVAL_LONG(&value, ZEND_STRTOL(word + strlen(numbers[i].name), NULL, 10));
			return mc_set_option(self, numbers[i].option, &value);
		}
	}
	return false;
}

bool mc_read_connection(mc_object *self, zend_string *text)
{
	const char *at = ZSTR_VAL(text), *end = at + ZSTR_LEN(text);
	while (at < end) {
		const char *space = memchr(at, ' ', end - at);
		size_t len = (space ? space : end) - at;
		if (len > 0 && !read_word(self, at, len)) {
			zend_argument_value_error(3,
				"has \"%.*s\"; give --SERVER=HOST:PORT/?WEIGHT, --SOCKET=PATH, --NAMESPACE=PREFIX, "
				"--BINARY-PROTOCOL, --TCP-NODELAY, --CONNECT-TIMEOUT=MS, --POLL-TIMEOUT=MS or "
				"--RETRY-TIMEOUT=S, and set other options by setOptions", (int)len, at);
			return false;
		}
		at += len + 1;
	}
	return true;
}

/* {{{ Methods */

ZEND_METHOD(Tavola_Memcached, addServer)
{
	zend_string *host;
	zend_long port, weight = 0;
	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(host)
		Z_PARAM_LONG(port)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(weight)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	bool is_added = mc_add_server(self->fleet, ZSTR_VAL(host), ZSTR_LEN(host), port, weight);
	RETURN_BOOL(mc_done(self, is_added ? RES_SUCCESS : RES_INVALID_ARGUMENTS));
}

/* Adds [host, port, weight], by place, as the keys do not matter. */
static bool add_entry(mc_fleet *fleet, zval *entry)
{
	zval *parts[3] = {NULL, NULL, NULL};
	zval *part;
	size_t count = 0;
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(entry), part) {
		if (count < 3) {
			parts[count++] = part;
		}
	} ZEND_HASH_FOREACH_END();
	if (count == 0) {
		return false;
	}
	zend_string *host = zval_try_get_string(parts[0]);
	if (host == NULL) {
		return false;
	}
	zend_long port = parts[1] ? zval_get_long(parts[1]) : 0;
	bool is_added = mc_add_server(fleet, ZSTR_VAL(host), ZSTR_LEN(host), port,
		parts[2] ? zval_get_long(parts[2]) : 0);
	zend_string_release(host);
	return is_added;
}

ZEND_METHOD(Tavola_Memcached, addServers)
{
	HashTable *servers;
	zval *entry;
	uint32_t number = 0;
	bool are_added = true;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(servers)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	ZEND_HASH_FOREACH_VAL(servers, entry) {
		ZVAL_DEREF(entry);
		number++;
		if (Z_TYPE_P(entry) != IS_ARRAY) {
			php_error_docref(NULL, E_WARNING, "server list entry #%u is not an array", number);
			are_added = false;
		} else if (!add_entry(self->fleet, entry)) {
			php_error_docref(NULL, E_WARNING,
				"could not add entry #%u to the server list", number);
			are_added = false;
		}
		if (EG(exception)) {
			RETURN_THROWS();
		}
	} ZEND_HASH_FOREACH_END();
	RETURN_BOOL(mc_done(self, are_added ? RES_SUCCESS : RES_INVALID_ARGUMENTS));
}

ZEND_METHOD(Tavola_Memcached, getServerList)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	array_init(return_value);
	for (size_t i = 0; i < self->fleet->count; i++) {
		const mc_server *server = &self->fleet->servers[i];
		zval entry;
		array_init(&entry);
		add_assoc_string(&entry, "host", server->host);
		add_assoc_long(&entry, "port", server->port);
		add_assoc_string(&entry, "type",
			is_table(server->host) ? "TABLE" : is_path(server->host) ? "SOCKET" : "TCP");
		add_next_index_zval(return_value, &entry);
	}
}

ZEND_METHOD(Tavola_Memcached, getServerByKey)
{
	zend_string *key;
	mc_use use;
	size_t server = 0;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(key)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!mc_checked_key(self, key) || !mc_client(self, NULL, &use)) {
		RETURN_FALSE;
	}
	tavola_mc_status status =
		tavola_mc_server_of(use.client, ZSTR_VAL(key), ZSTR_LEN(key), &server);
	if (!mc_answered(self, status, NULL)) {
		RETURN_FALSE;
	}
	array_init(return_value);
	add_assoc_string(return_value, "host", self->fleet->servers[server].host);
	add_assoc_long(return_value, "port", self->fleet->servers[server].port);
	add_assoc_long(return_value, "weight", 0);
}

ZEND_METHOD(Tavola_Memcached, resetServerList)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	mc_remove_servers(self->fleet);
	self->failed = -1;
	RETURN_BOOL(mc_done(self, RES_SUCCESS));
}

/* }}} */
