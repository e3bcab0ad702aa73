/* Options, with the numbers that libmemcached has for them. */

#include "memcached.h"

typedef enum {
	REFUSED,
	/* 0 or 1. */
	FLAG,
	NUMBER,
	/* A choice with rules of its own. */
	CHOICE,
} option_kind;

/* `reopens`: connections have to be made again after a change. */
static const struct {
	option_kind kind;
	zend_long initial;
	bool reopens;
} rules[MC_BEHAVIORS] = {
	/* Without effect: the client never blocks longer than its time limit, sends at once, and keeps
	 * the size of buffers that the system has. */
	[OPT_NO_BLOCK] = {FLAG, 0, false},
	[OPT_TCP_NODELAY] = {FLAG, 0, false},
	[OPT_TCP_KEEPALIVE] = {FLAG, 0, false},
	[OPT_SOCKET_SEND_SIZE] = {NUMBER, 0, false},
	[OPT_SOCKET_RECV_SIZE] = {NUMBER, 0, false},
	[OPT_VERIFY_KEY] = {FLAG, 0, false},
	[OPT_DEAD_TIMEOUT] = {NUMBER, 0, false},
	[OPT_SERVER_TIMEOUT_LIMIT] = {NUMBER, 0, false},
	[OPT_CACHE_LOOKUPS] = {CHOICE, 1, false},
	[OPT_USE_UDP] = {CHOICE, 0, false},
	[OPT_BUFFER_WRITES] = {FLAG, 0, false},
	[OPT_NOREPLY] = {FLAG, 0, false},
	/* With effect on connections or the placement of keys. */
	[OPT_HASH] = {CHOICE, HASH_DEFAULT, true},
	[OPT_DISTRIBUTION] = {CHOICE, DISTRIBUTION_MODULA, true},
	[OPT_LIBKETAMA_COMPATIBLE] = {CHOICE, 0, true},
	[OPT_LIBKETAMA_HASH] = {CHOICE, HASH_DEFAULT, true},
	[OPT_SORT_HOSTS] = {FLAG, 0, true},
	[OPT_HASH_WITH_PREFIX_KEY] = {FLAG, 0, true},
	[OPT_BINARY_PROTOCOL] = {FLAG, 0, true},
	[OPT_CONNECT_TIMEOUT] = {NUMBER, MC_CONNECT_MS, true},
	[OPT_POLL_TIMEOUT] = {NUMBER, MC_POLL_MS, true},
	[OPT_SEND_TIMEOUT] = {NUMBER, 0, true},
	[OPT_RECV_TIMEOUT] = {NUMBER, 0, true},
	[OPT_RETRY_TIMEOUT] = {NUMBER, 2, true},
	[OPT_SERVER_FAILURE_LIMIT] = {CHOICE, 5, true},
	[OPT_AUTO_EJECT_HOSTS] = {FLAG, 0, true},
	[OPT_REMOVE_FAILED_SERVERS] = {FLAG, 0, true},
	[OPT_NUMBER_OF_REPLICAS] = {CHOICE, 0, true},
	[OPT_RANDOMIZE_REPLICA_READ] = {FLAG, 0, true},
};

/* Texts by their option. */
static const struct {
	zend_long option;
	mc_text text;
} texts[] = {
	{OPT_PREFIX_KEY, MC_PREFIX},
	{OPT_NEAR, MC_NEAR},
	{OPT_TLS_AUTHORITIES, MC_TLS_AUTHORITIES},
	{OPT_TLS_CERTIFICATE, MC_TLS_CERTIFICATE},
	{OPT_TLS_KEY, MC_TLS_KEY},
	{OPT_TLS_NAME, MC_TLS_NAME},
};

static bool is_name(const char *name, const char *other)
{
	return strcasecmp(name, other) == 0;
}

static zend_long named_serializer(const char *name)
{
	return is_name(name, "igbinary") ? SERIALIZER_IGBINARY
		: is_name(name, "json") ? SERIALIZER_JSON
		: is_name(name, "json_array") ? SERIALIZER_JSON_ARRAY
		: is_name(name, "msgpack") ? SERIALIZER_MSGPACK
		: is_name(name, "none") ? SERIALIZER_NONE
		: SERIALIZER_PHP;
}

void mc_start_settings(mc_settings *settings, bool is_persistent)
{
	(void)is_persistent;
	memset(settings, 0, sizeof(*settings));
	for (size_t i = 0; i < MC_BEHAVIORS; i++) {
		settings->behaviors[i] = rules[i].initial;
	}
	settings->is_compressed = true;
	settings->user_flags = -1;
	settings->store_retries = mc_ini_number("memcached.store_retry_count", 0);
	settings->compression = is_name(mc_ini_text("memcached.compression_type"), "zlib")
		? COMPRESSION_ZLIB : COMPRESSION_FASTLZ;
	settings->serializer = named_serializer(mc_ini_text("memcached.serializer"));
	if (mc_ini_number("memcached.default_consistent_hash", 0)) {
		settings->behaviors[OPT_DISTRIBUTION] = DISTRIBUTION_CONSISTENT;
	}
	settings->behaviors[OPT_BINARY_PROTOCOL] =
		mc_ini_number("memcached.default_binary_protocol", 0) != 0;
	zend_long timeout = mc_ini_number("memcached.default_connect_timeout", 0);
	if (timeout > 0) {
		settings->behaviors[OPT_CONNECT_TIMEOUT] = timeout;
	}
}

void mc_free_settings(mc_settings *settings, bool is_persistent)
{
	for (size_t i = 0; i < MC_TEXTS; i++) {
		if (settings->texts[i]) {
			pefree(settings->texts[i], is_persistent);
		}
	}
}

bool mc_set_text(mc_fleet *fleet, mc_text which, const char *text, size_t len)
{
	char **place = &fleet->settings.texts[which];
	size_t old_len = which == MC_PREFIX ? fleet->settings.prefix_len : *place ? strlen(*place) : 0;
	if (old_len == len && (len == 0 || memcmp(*place, text, len) == 0)) {
		return true;
	}
	mc_close(fleet);
	char *copy = len ? mc_copy(text, len, fleet->is_persistent) : NULL;
	if (*place) {
		pefree(*place, fleet->is_persistent);
	}
	*place = copy;
	if (which == MC_PREFIX) {
		fleet->settings.prefix_len = len;
	}
	return true;
}

/* {{{ Setting */

static bool refuse(mc_object *self, zend_long result, const char *why)
{
	if (why) {
		php_error_docref(NULL, E_WARNING, "%s", why);
	}
	return mc_done(self, result);
}

static void change(mc_object *self, zend_long option, zend_long number)
{
	mc_fleet *fleet = self->fleet;
	if (fleet->settings.behaviors[option] == number) {
		return;
	}
	if (rules[option].reopens) {
		mc_close(fleet);
	}
	fleet->settings.behaviors[option] = number;
	if (option == OPT_SORT_HOSTS && number) {
		mc_sort_servers(fleet);
	}
}

static bool is_hash(zend_long number)
{
	/* libmemcached is built without that of Paul Hsieh. */
	return number >= HASH_DEFAULT && number <= HASH_MURMUR && number != HASH_HSIEH;
}

/* Ketama has MD5 for points and keys. */
static bool set_ketama(mc_object *self, bool is_on)
{
	change(self, OPT_LIBKETAMA_COMPATIBLE, is_on);
	change(self, OPT_HASH, is_on ? HASH_MD5 : HASH_DEFAULT);
	change(self, OPT_LIBKETAMA_HASH, is_on ? HASH_MD5 : HASH_DEFAULT);
	change(self, OPT_DISTRIBUTION, is_on ? DISTRIBUTION_CONSISTENT : DISTRIBUTION_MODULA);
	return mc_done(self, RES_SUCCESS);
}

static bool set_hash(mc_object *self, zend_long option, zend_long number)
{
	const zend_long *behaviors = self->fleet->settings.behaviors;
	if (!is_hash(number)) {
		return refuse(self, RES_INVALID_ARGUMENTS, NULL);
	}
	if (number != behaviors[option]
			&& (behaviors[OPT_LIBKETAMA_COMPATIBLE] || option == OPT_LIBKETAMA_HASH)) {
		return refuse(self, RES_NOT_SUPPORTED,
			"keys and points of a ring have one hash: MD5 with OPT_LIBKETAMA_COMPATIBLE, else "
			"that of OPT_HASH");
	}
	change(self, option, number);
	return mc_done(self, RES_SUCCESS);
}

static bool set_distribution(mc_object *self, zend_long number)
{
	if (number == DISTRIBUTION_VIRTUAL_BUCKET) {
		return refuse(self, RES_NOT_SUPPORTED,
			"there are no virtual buckets; choose DISTRIBUTION_CONSISTENT or DISTRIBUTION_MODULA");
	}
	if (number != DISTRIBUTION_MODULA && number != DISTRIBUTION_CONSISTENT) {
		return refuse(self, RES_INVALID_ARGUMENTS, NULL);
	}
	if (number == DISTRIBUTION_MODULA) {
		change(self, OPT_LIBKETAMA_COMPATIBLE, 0);
	}
	change(self, OPT_DISTRIBUTION, number);
	return mc_done(self, RES_SUCCESS);
}

static bool set_choice(mc_object *self, zend_long option, zend_long number)
{
	switch (option) {
		case OPT_HASH:
		case OPT_LIBKETAMA_HASH:
			return set_hash(self, option, number);
		case OPT_DISTRIBUTION:
			return set_distribution(self, number);
		case OPT_LIBKETAMA_COMPATIBLE:
			return set_ketama(self, number != 0);
		case OPT_CACHE_LOOKUPS:
			return number == 1 ? mc_done(self, RES_SUCCESS) : refuse(self, RES_DEPRECATED, NULL);
		case OPT_SERVER_FAILURE_LIMIT:
			if (number == 0) {
				return refuse(self, RES_INVALID_ARGUMENTS, NULL);
			}
			change(self, option, number);
			return mc_done(self, RES_SUCCESS);
		case OPT_NUMBER_OF_REPLICAS:
			if (number < 0) {
				return refuse(self, RES_INVALID_ARGUMENTS, NULL);
			}
			change(self, option, number);
			return mc_done(self, RES_SUCCESS);
		default:
			return number == 0 ? mc_done(self, RES_SUCCESS) : refuse(self, RES_NOT_SUPPORTED,
				"there is no UDP, which loses requests unnoticed; use TCP or a Unix socket");
	}
}

static bool set_behavior(mc_object *self, zend_long option, zend_long number)
{
	option_kind kind = option >= 0 && option < MC_BEHAVIORS ? rules[option].kind : REFUSED;
	switch (kind) {
		case FLAG:
			change(self, option, number != 0);
			return mc_done(self, RES_SUCCESS);
		case NUMBER:
			change(self, option, number);
			return mc_done(self, RES_SUCCESS);
		case CHOICE:
			return set_choice(self, option, number);
		default:
			mc_done(self, RES_INVALID_ARGUMENTS);
			php_error_docref(NULL, E_WARNING, "error setting memcached option: %s",
				mc_message(self->result));
			return false;
	}
}

static bool set_serializer(mc_object *self, zend_long number)
{
	static const struct {
		zend_long serializer;
		const char *function;
	} needed[] = {
		{SERIALIZER_IGBINARY, "igbinary_serialize"},
		{SERIALIZER_MSGPACK, "msgpack_pack"},
	};
	bool is_known = number == SERIALIZER_PHP || number == SERIALIZER_JSON
		|| number == SERIALIZER_JSON_ARRAY || number == SERIALIZER_NONE;
	for (size_t i = 0; i < 2; i++) {
		const char *function = needed[i].function;
		if (number == needed[i].serializer) {
			is_known = zend_hash_str_exists(EG(function_table), function, strlen(function));
		}
	}
	if (!is_known) {
		return refuse(self, RES_INVALID_ARGUMENTS, "invalid serializer provided");
	}
	self->fleet->settings.serializer = number;
	return mc_done(self, RES_SUCCESS);
}

/* Sets an option of php-memcached's own, with a negative number. */
static bool set_own(mc_object *self, zend_long option, zval *value)
{
	mc_settings *settings = &self->fleet->settings;
	zend_long number = option == OPT_COMPRESSION || option == OPT_NEAR_TTL ? 0 : zval_get_long(value);
	switch (option) {
		case OPT_COMPRESSION:
			settings->is_compressed = zval_get_long(value) != 0;
			return mc_done(self, RES_SUCCESS);
		case OPT_COMPRESSION_TYPE:
			if (number != COMPRESSION_FASTLZ && number != COMPRESSION_ZLIB) {
				return refuse(self, RES_INVALID_ARGUMENTS, NULL);
			}
			settings->compression = number;
			return mc_done(self, RES_SUCCESS);
		case OPT_SERIALIZER:
			return set_serializer(self, number);
		case OPT_USER_FLAGS:
			if (number > 0xFFFF) {
				return refuse(self, RES_INVALID_ARGUMENTS,
					"MEMC_OPT_USER_FLAGS must be < 65535");
			}
			settings->user_flags = number < 0 ? -1 : number;
			return mc_done(self, RES_SUCCESS);
		case OPT_STORE_RETRY_COUNT:
			settings->store_retries = number;
			return mc_done(self, RES_SUCCESS);
		case OPT_NEAR_TTL: {
			double seconds = zval_get_double(value);
			if (!(seconds >= 0.001 && seconds <= 4294967.0)) {
				return refuse(self, RES_INVALID_ARGUMENTS,
					"OPT_NEAR_TTL must be a number of seconds from 0.001 on");
			}
			mc_close(self->fleet);
			settings->near_ttl_ms = (zend_long)(seconds * 1000);
			return mc_done(self, RES_SUCCESS);
		}
		default:
			return set_behavior(self, option, number);
	}
}

static bool set_text(mc_object *self, mc_text which, zval *value)
{
	zend_string *text = zval_try_get_string(value);
	if (text == NULL) {
		return false;
	}
	bool is_valid = which == MC_PREFIX
		? ZSTR_LEN(text) == 0 || (ZSTR_LEN(text) < 250 && mc_is_key(self, ZSTR_VAL(text),
			self->fleet->settings.prefix_len + ZSTR_LEN(text) > 250 ? 1 : ZSTR_LEN(text)))
		: strlen(ZSTR_VAL(text)) == ZSTR_LEN(text);
	if (!is_valid) {
		refuse(self, RES_BAD_KEY_PROVIDED, "bad key provided");
	} else {
		mc_set_text(self->fleet, which, ZSTR_VAL(text), ZSTR_LEN(text));
		mc_done(self, RES_SUCCESS);
	}
	zend_string_release(text);
	return is_valid;
}

bool mc_set_option(mc_object *self, zend_long option, zval *value)
{
	ZVAL_DEREF(value);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].option == option) {
			return set_text(self, texts[i].text, value);
		}
	}
	return set_own(self, option, value);
}

/* }}} */

/* {{{ Methods */

ZEND_METHOD(Tavola_Memcached, setOption)
{
	zend_long option;
	zval *value;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_LONG(option)
		Z_PARAM_ZVAL(value)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	RETURN_BOOL(mc_set_option(self, option, value));
}

ZEND_METHOD(Tavola_Memcached, setOptions)
{
	HashTable *options;
	zend_string *name;
	zend_ulong option;
	zval *value;
	bool are_set = true;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(options)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	ZEND_HASH_FOREACH_KEY_VAL(options, option, name, value) {
		if (name) {
			php_error_docref(NULL, E_WARNING, "invalid configuration option");
			are_set = false;
		} else if (!mc_set_option(self, (zend_long)option, value)) {
			are_set = false;
		}
		if (EG(exception)) {
			RETURN_THROWS();
		}
	} ZEND_HASH_FOREACH_END();
	RETURN_BOOL(are_set);
}

static bool get_own(const mc_settings *settings, zend_long option, zval *value)
{
	switch (option) {
		case OPT_COMPRESSION:
			ZVAL_BOOL(value, settings->is_compressed);
			return true;
		case OPT_COMPRESSION_TYPE:
			ZVAL_LONG(value, settings->compression);
			return true;
		case OPT_SERIALIZER:
			ZVAL_LONG(value, settings->serializer);
			return true;
		case OPT_USER_FLAGS:
			ZVAL_LONG(value, settings->user_flags);
			return true;
		case OPT_STORE_RETRY_COUNT:
			ZVAL_LONG(value, settings->store_retries);
			return true;
		case OPT_NEAR_TTL:
			ZVAL_DOUBLE(value, (double)settings->near_ttl_ms / 1000);
			return true;
		default:
			return false;
	}
}

ZEND_METHOD(Tavola_Memcached, getOption)
{
	zend_long option;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_LONG(option)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	const mc_settings *settings = &self->fleet->settings;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].option == option) {
			const char *text = settings->texts[texts[i].text];
			size_t len = text && option != OPT_PREFIX_KEY ? strlen(text) : settings->prefix_len;
			RETURN_STRINGL(text ? text : "", text ? len : 0);
		}
	}
	if (get_own(settings, option, return_value)) {
		return;
	}
	bool is_size = option == OPT_SOCKET_SEND_SIZE || option == OPT_SOCKET_RECV_SIZE;
	if (is_size && self->fleet->count == 0) {
		php_error_docref(NULL, E_WARNING, "no servers defined");
		RETURN_NULL();
	}
	if (option < 0 || option >= MC_BEHAVIORS || rules[option].kind == REFUSED) {
		php_error_docref(NULL, E_WARNING, "there is no option " ZEND_LONG_FMT, option);
		RETURN_NULL();
	}
	RETURN_LONG(settings->behaviors[option]);
}

ZEND_METHOD(Tavola_Memcached, setSaslAuthData)
{
	zend_string *user, *password;
	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(user)
		Z_PARAM_STR(password)
	ZEND_PARSE_PARAMETERS_END();
	MC_SELF;
	if (!self->fleet->settings.behaviors[OPT_BINARY_PROTOCOL]) {
		RETURN_BOOL(refuse(self, RES_INVALID_ARGUMENTS,
			"SASL is only supported with binary protocol"));
	}
	mc_set_text(self->fleet, MC_SASL_USER, ZSTR_VAL(user), ZSTR_LEN(user));
	mc_set_text(self->fleet, MC_SASL_PASSWORD, ZSTR_VAL(password), ZSTR_LEN(password));
	RETURN_BOOL(mc_done(self, RES_SUCCESS));
}

/* }}} */
