/* Results of calls: libmemcached's numbers and messages. */

#include "memcached.h"

static const char *const messages[] = {
	[RES_SUCCESS] = "SUCCESS",
	[RES_FAILURE] = "FAILURE",
	[RES_HOST_LOOKUP_FAILURE] = "getaddrinfo() or getnameinfo() HOSTNAME LOOKUP FAILURE",
	[RES_CONNECTION_FAILURE] = "CONNECTION FAILURE",
	[RES_CONNECTION_BIND_FAILURE] = "CONNECTION BIND FAILURE",
	[RES_WRITE_FAILURE] = "WRITE FAILURE",
	[RES_READ_FAILURE] = "READ FAILURE",
	[RES_UNKNOWN_READ_FAILURE] = "UNKNOWN READ FAILURE",
	[RES_PROTOCOL_ERROR] = "PROTOCOL ERROR",
	[RES_CLIENT_ERROR] = "CLIENT ERROR",
	[RES_SERVER_ERROR] = "SERVER ERROR",
	[RES_DATA_EXISTS] = "CONNECTION DATA EXISTS",
	[RES_DATA_DOES_NOT_EXIST] = "CONNECTION DATA DOES NOT EXIST",
	[RES_NOTSTORED] = "NOT STORED",
	[RES_NOTFOUND] = "NOT FOUND",
	[RES_MEMORY_ALLOCATION_FAILURE] = "MEMORY ALLOCATION FAILURE",
	[RES_SOME_ERRORS] = "SOME ERRORS WERE REPORTED",
	[RES_NO_SERVERS] = "NO SERVERS DEFINED",
	[RES_END] = "SERVER END",
	[RES_NOT_SUPPORTED] = "ACTION NOT SUPPORTED",
	[RES_TIMEOUT] = "A TIMEOUT OCCURRED",
	[RES_BUFFERED] = "ACTION QUEUED",
	[RES_BAD_KEY_PROVIDED] = "A BAD KEY WAS PROVIDED/CHARACTERS OUT OF RANGE",
	[RES_E2BIG] = "ITEM TOO BIG",
	[RES_INVALID_ARGUMENTS] = "INVALID ARGUMENTS",
	[RES_AUTH_FAILURE] = "AUTHENTICATION FAILURE",
	[RES_DEPRECATED] = "DEPRECATED",
	[RES_SERVER_TEMPORARILY_DISABLED] = "SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY",
	[RES_SERVER_MEMORY_ALLOCATION_FAILURE] = "SERVER FAILED TO ALLOCATE OBJECT",
};

const char *mc_message(zend_long result)
{
	if (result == RES_PAYLOAD_FAILURE) {
		return "PAYLOAD FAILURE";
	}
	if (result < 0 || (size_t)result >= sizeof(messages) / sizeof(messages[0])
			|| messages[result] == NULL) {
		return "INVALID memcached_return_t";
	}
	return messages[result];
}

/* What a server or the library says with a refusal, and the result that it is. */
static const struct {
	const char *part;
	zend_long result;
} refusals[] = {
	{"too large", RES_E2BIG},
	{"out of memory", RES_SERVER_MEMORY_ALLOCATION_FAILURE},
	{"uth", RES_AUTH_FAILURE},
	{"password", RES_AUTH_FAILURE},
	{"SERVER_ERROR", RES_SERVER_ERROR},
};

static zend_long refused_result(const char *why)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (strstr(why, refusals[i].part)) {
			return refusals[i].result;
		}
	}
	return RES_CLIENT_ERROR;
}

/* The result of a failed connection, where its cause has one of its own. */
static zend_long lost_result(int32_t cause, zend_long otherwise)
{
	switch (cause) {
		case TAVOLA_MC_CAUSE_UNRESOLVED:
			return RES_HOST_LOOKUP_FAILURE;
		case TAVOLA_MC_CAUSE_TIMED_OUT:
			return RES_TIMEOUT;
		case TAVOLA_MC_CAUSE_AUTHENTICATION:
			return RES_AUTH_FAILURE;
		case TAVOLA_MC_CAUSE_PROTOCOL:
			return RES_PROTOCOL_ERROR;
		default:
			return otherwise;
	}
}

zend_long mc_result_of(
	const mc_fleet *fleet, tavola_mc_status status, int32_t cause, const char *why)
{
	switch (status) {
		case TAVOLA_MC_OK:
		case TAVOLA_MC_HIT:
		case TAVOLA_MC_STORED:
		case TAVOLA_MC_DELETED:
		case TAVOLA_MC_TOUCHED:
		case TAVOLA_MC_COUNT:
			return RES_SUCCESS;
		case TAVOLA_MC_MISS:
			return RES_NOTFOUND;
		case TAVOLA_MC_NOT_STORED:
			return RES_NOTSTORED;
		case TAVOLA_MC_EXISTS:
			return RES_DATA_EXISTS;
		case TAVOLA_MC_QUEUED:
			return fleet->settings.behaviors[OPT_BUFFER_WRITES] ? RES_BUFFERED : RES_SUCCESS;
		case TAVOLA_MC_ERR_STOPPED:
			return RES_MEMORY_ALLOCATION_FAILURE;
		case TAVOLA_MC_ERR_SERVERS:
			return RES_NO_SERVERS;
		case TAVOLA_MC_ERR_OPTION:
		case TAVOLA_MC_ERR_ARGUMENT:
			return RES_INVALID_ARGUMENTS;
		case TAVOLA_MC_ERR_REFUSED:
			return refused_result(why);
		case TAVOLA_MC_ERR_UNSENT:
			return lost_result(cause, RES_CONNECTION_FAILURE);
		case TAVOLA_MC_ERR_UNKNOWN:
			return lost_result(cause, RES_UNKNOWN_READ_FAILURE);
		default:
			return RES_FAILURE;
	}
}

bool mc_done(mc_object *self, zend_long result)
{
	if (UNEXPECTED(self->why)) {
		zend_string_release(self->why);
		self->why = NULL;
	}
	self->why_result = RES_SUCCESS;
	return mc_summed_up(self, result);
}

bool mc_summed_up(mc_object *self, zend_long result)
{
	self->result = result;
	return result == RES_SUCCESS || result == RES_BUFFERED;
}

bool mc_answered(mc_object *self, tavola_mc_status status, zend_string *key)
{
	if (EXPECTED(status >= 0)) {
		return mc_done(self, mc_result_of(self->fleet, status, TAVOLA_MC_CAUSE_NONE, ""));
	}
	return mc_failed(self, status, tavola_mc_last_cause(), tavola_mc_last_error(), key);
}

bool mc_failed(
	mc_object *self, tavola_mc_status status, int32_t cause, const char *why, zend_string *key)
{
	zend_string *sentence = zend_string_init(why, strlen(why), false);
	if (self->why) {
		zend_string_release(self->why);
	}
	self->why = sentence;
	self->why_result = mc_result_of(self->fleet, status, cause, ZSTR_VAL(sentence));
	size_t server = 0;
	bool is_lost = status == TAVOLA_MC_ERR_UNSENT || status == TAVOLA_MC_ERR_UNKNOWN;
	if (is_lost && key && self->fleet->client
			&& tavola_mc_server_of(self->fleet->client, ZSTR_VAL(key), ZSTR_LEN(key), &server)
				== TAVOLA_MC_OK) {
		self->failed = (zend_long)server;
	}
	return mc_summed_up(self, self->why_result);
}

/* {{{ Methods */

ZEND_METHOD(Tavola_Memcached, getResultCode)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_LONG(self->result);
}

ZEND_METHOD(Tavola_Memcached, getResultMessage)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_STRING(mc_message(self->result));
}

ZEND_METHOD(Tavola_Memcached, getLastErrorMessage)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	if (self->why) {
		RETURN_STR_COPY(self->why);
	}
	RETURN_STRING(mc_message(RES_SUCCESS));
}

ZEND_METHOD(Tavola_Memcached, getLastErrorCode)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_LONG(self->why_result);
}

/* The sentence of getLastErrorMessage has the words of the system. */
ZEND_METHOD(Tavola_Memcached, getLastErrorErrno)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_LONG(0);
}

ZEND_METHOD(Tavola_Memcached, getLastDisconnectedServer)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	if (self->failed < 0 || (size_t)self->failed >= self->fleet->count) {
		RETURN_FALSE;
	}
	const mc_server *server = &self->fleet->servers[self->failed];
	array_init(return_value);
	add_assoc_string(return_value, "host", server->host);
	add_assoc_long(return_value, "port", server->port);
}

/* }}} */
