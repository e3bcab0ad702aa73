/* What the options mean for the library: placement, times, protocol, TLS. */

#include "memcached.h"

/* The numbers of hashes are those of the library, except one. */
static int32_t hash_of(zend_long hash)
{
	return hash == HASH_MURMUR ? TAVOLA_MC_HASH_MURMUR : (int32_t)hash;
}

static void fill_placement(const zend_long *behaviors, tavola_mc_options *options)
{
	if (behaviors[OPT_LIBKETAMA_COMPATIBLE]) {
		options->placement = TAVOLA_MC_PLACEMENT_KETAMA;
		return;
	}
	options->placement = behaviors[OPT_DISTRIBUTION] == DISTRIBUTION_CONSISTENT
		? TAVOLA_MC_PLACEMENT_CONSISTENT : TAVOLA_MC_PLACEMENT_MODULA;
	options->hash = hash_of(behaviors[OPT_HASH]);
}

/* A time that is 0 or less is not bounded in libmemcached; here it is its usual one. */
static uint32_t bounded_ms(zend_long ms, zend_long usual)
{
	return (uint32_t)(ms > 0 && ms < 3600000 ? ms : usual);
}

static void fill_times(const zend_long *behaviors, tavola_mc_options *options)
{
	options->connect_timeout_ms = bounded_ms(behaviors[OPT_CONNECT_TIMEOUT], MC_CONNECT_MS);
	options->io_timeout_ms = bounded_ms(behaviors[OPT_POLL_TIMEOUT], MC_POLL_MS);
	static const int others[] = {OPT_SEND_TIMEOUT, OPT_RECV_TIMEOUT};
	for (size_t i = 0; i < 2; i++) {
		zend_long us = behaviors[others[i]];
		if (us > 0 && us / 1000 < options->io_timeout_ms) {
			options->io_timeout_ms = us < 1000 ? 1 : (uint32_t)(us / 1000);
		}
	}
	options->retry_ms = bounded_ms(behaviors[OPT_RETRY_TIMEOUT] * 1000, 2000);
	zend_long limit = behaviors[OPT_SERVER_FAILURE_LIMIT];
	options->max_failures = limit > 0 && limit < INT32_MAX ? (uint32_t)limit : INT32_MAX;
}

/* Copies go to the servers that there are. Gets use the copies of a server that is down, so no
 * server is ejected. */
static void fill_copies(const mc_fleet *fleet, tavola_mc_options *options)
{
	const zend_long *behaviors = fleet->settings.behaviors;
	zend_long most = fleet->count > 0 ? (zend_long)fleet->count - 1 : 0;
	zend_long wanted = behaviors[OPT_NUMBER_OF_REPLICAS];
	options->replicas = (uint32_t)(wanted < most ? wanted : most);
	options->read_any = behaviors[OPT_RANDOMIZE_REPLICA_READ] != 0;
	bool ejects = behaviors[OPT_AUTO_EJECT_HOSTS] || behaviors[OPT_REMOVE_FAILED_SERVERS];
	if (ejects && options->replicas == 0) {
		options->on_down = TAVOLA_MC_ON_DOWN_EJECT;
	}
}

void mc_fill_options(const mc_fleet *fleet, tavola_mc_options *options)
{
	const mc_settings *settings = &fleet->settings;
	char *const *given = settings->texts;
	fill_placement(settings->behaviors, options);
	fill_times(settings->behaviors, options);
	options->name_space = given[MC_PREFIX];
	options->name_space_len = settings->prefix_len;
	options->hash_name_space = settings->behaviors[OPT_HASH_WITH_PREFIX_KEY] != 0;
	fill_copies(fleet, options);
	if (settings->behaviors[OPT_BINARY_PROTOCOL]) {
		options->protocol = TAVOLA_MC_PROTOCOL_BINARY;
	}
	if (given[MC_SASL_USER]) {
		options->login = TAVOLA_MC_LOGIN_SASL;
		options->user = given[MC_SASL_USER];
		options->password = given[MC_SASL_PASSWORD];
	}
	if (given[MC_NEAR]) {
		options->near = given[MC_NEAR];
		options->near_ttl_ms = (uint32_t)settings->near_ttl_ms;
	}
	options->tls = given[MC_TLS_AUTHORITIES] != NULL;
	options->tls_authorities = given[MC_TLS_AUTHORITIES];
	options->tls_certificate = given[MC_TLS_CERTIFICATE];
	options->tls_key = given[MC_TLS_KEY];
	options->tls_name = given[MC_TLS_NAME];
}
