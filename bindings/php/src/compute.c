/*
 * `compute`: one of all processes that ask for a missing value computes it, under a lease.
 *
 * | the library answers | this process |
 * |---|---|
 * | hit, or stale while another process computes | returns the value |
 * | the lease, with or without a stale value | calls the function and stores the result |
 * | another process computes | sleeps until that has ended, and asks again |
 * | another process failed a moment ago | throws NotComputedException with its message |
 */

#include "php_tavola.h"
#include "compute.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"

/* A lease that this process holds must end also if PHP leaves the function by a longjmp, so it
 * belongs to an object, which PHP frees in any case. */
typedef struct {
	tavola_lease *lease;
	zend_object std;
} tavola_php_lease;

static zend_object_handlers lease_handlers;
static zend_class_entry *lease_ce;

static void free_lease(zend_object *object)
{
	tavola_lease_close(TAVOLA_OBJECT(tavola_php_lease, object)->lease);
	zend_object_std_dtor(object);
}

TAVOLA_NEW_OBJECT(tavola_php_lease, new_lease, &lease_handlers)

/* Asks for the value or the lease. `value` is set if there is a value, or a message. */
static tavola_status ask(
	tavola_computation *with, zend_string **value, tavola_leased *leased, tavola_lease **lease)
{
	tavola_result result = {NULL, 0};
	tavola_buffer buffer = TAVOLA_RESULT_BUFFER(&result);
	for (;;) {
		tavola_status status = tavola_get_or_lease(with->table->handle->table,
			ZSTR_VAL(with->key), ZSTR_LEN(with->key), &with->options, &buffer, leased, lease);
		if (EXPECTED(status == TAVOLA_OK)) {
			bool is_made = result.string != NULL;
			*value = is_made ? result.string : ZSTR_EMPTY_ALLOC();
			if (is_made && buffer.data) {
				ZSTR_LEN(result.string) = buffer.len;
				ZSTR_VAL(result.string)[buffer.len] = '\0';
			}
			return status;
		}
		if (result.string) {
			zend_string_release(result.string);
			result.string = NULL;
		}
		if (status != TAVOLA_ERR_STOPPED && status != TAVOLA_ERR_TOO_SMALL) {
			return status;
		}
		/* Memory is short: make the string here, where PHP may end the script. */
		size_t wanted = status == TAVOLA_ERR_STOPPED ? result.wanted : buffer.len;
		result.string = zend_string_alloc(wanted, false);
		buffer = (tavola_buffer)TAVOLA_BUFFER(ZSTR_VAL(result.string), wanted);
	}
}

/* Reports to the other processes why there is no value. The exception stays. After `exit` there is
 * no reason, and another process computes at once. */
static void fail(tavola_computation *with, tavola_lease *lease)
{
	zval copy;
	zend_object *thrown = EG(exception);
	if (with->back_off_ms == 0 || zend_is_unwind_exit(thrown)) {
		return;
	}
	zval *message = zend_read_property_ex(
		zend_get_exception_base(thrown), thrown, ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &copy);
	zend_string *text = zval_get_string(message);
	/* TAVOLA_LEASE_LOST and errors change nothing for the caller, who gets the exception. */
	tavola_lease_fail(lease, with->back_off_ms, ZSTR_VAL(text), ZSTR_LEN(text));
	zend_string_release(text);
}

/* Stores a computed value. A full table is no error: the caller has the value. */
static void fill(
	tavola_computation *with, tavola_lease *lease, zval *value, const tavola_tags *tags)
{
	tavola_encoded encoded;
	if (!tavola_encode_for(with->table, &encoded, value)) {
		return;
	}
	tavola_status status =
		tavola_lease_fill_with(lease, encoded.bytes, encoded.len, encoded.flags, tags);
	tavola_encoded_free(&encoded);
	if (status < 0 && status != TAVOLA_ERR_FULL) {
		tavola_throw(status);
	}
}

/* Calls the function of the caller and stores what it returned. The tags are fetched before, so
 * that an invalidation during the computation is not missed. */
static void compute_under(tavola_computation *with, tavola_lease *lease, zval *value)
{
	zval holder, key;
	tavola_tags room = TAVOLA_INIT(tavola_tags);
	const tavola_tags *tags = NULL;
	object_init_ex(&holder, lease_ce);
	TAVOLA_OBJECT(tavola_php_lease, Z_OBJ(holder))->lease = lease;
	ZVAL_STR(&key, with->key);
	with->call.retval = value;
	with->call.params = &key;
	with->call.param_count = 1;
	ZVAL_UNDEF(value);
	with->outer = TAVOLA_G(running);
	TAVOLA_G(running) = with;
	if (with->tags == NULL || tavola_tags_argument(with->table, 4, with->tags, &room, &tags)) {
		zend_call_function(&with->call, &with->cache);
	}
	TAVOLA_G(running) = with->outer;
	if (EG(exception)) {
		fail(with, lease);
		zval_ptr_dtor(value);
		ZVAL_NULL(value);
	} else {
		if (Z_ISREF_P(value)) {
			zend_unwrap_reference(value);
		}
		fill(with, lease, value, tags);
	}
	zval_ptr_dtor(&holder);
}

/* Sleeps until another process has ended its lease. Returns false after an exception. */
static bool wait_for(tavola_lease *lease)
{
	tavola_status status;
	do {
		status = tavola_lease_wait(lease, TAVOLA_WAIT_SLICE_MS);
	} while (status == TAVOLA_TIMEOUT && !tavola_interrupted());
	tavola_lease_close(lease);
	return !EG(exception) && tavola_did(status);
}

/* Calls the function without a lease. */
static void call_alone(tavola_computation *with, zval *value)
{
	zval key;
	ZVAL_STR(&key, with->key);
	with->call.retval = value;
	with->call.params = &key;
	with->call.param_count = 1;
	zend_call_function(&with->call, &with->cache);
}

/* Returns whether this request computes the key already, so that it would wait for itself. */
static bool is_running(const tavola_computation *with)
{
	for (const tavola_computation *one = TAVOLA_G(running); one; one = one->outer) {
		if (one->table->handle == with->table->handle && zend_string_equals(one->key, with->key)) {
			return true;
		}
	}
	return false;
}

void tavola_compute(tavola_computation *with, zval *value)
{
	if (UNEXPECTED(TAVOLA_G(running) && is_running(with))) {
		if (with->may_nest) {
			call_alone(with, value);
			return;
		}
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"the function that computes the key %s asks for the same key, so it would wait for "
			"itself; let it compute the value without this call", ZSTR_VAL(with->key));
		return;
	}
	for (;;) {
		zend_string *bytes;
		tavola_leased leased = TAVOLA_INIT(tavola_leased);
		tavola_lease *lease = NULL;
		if (!tavola_did(ask(with, &bytes, &leased, &lease))) {
			return;
		}
		switch (leased.outcome) {
			case TAVOLA_LEASE_HIT:
			case TAVOLA_LEASE_STALE:
				tavola_lease_close(lease);
				tavola_decode(value, bytes, leased.flags, with->table->serializer);
				return;
			case TAVOLA_LEASE_FAILED:
				tavola_lease_close(lease);
				tavola_throw_text(TAVOLA_ERR_COMPUTE, "%s", ZSTR_VAL(bytes));
				zend_string_release(bytes);
				return;
			case TAVOLA_LEASE_WAIT:
				zend_string_release(bytes);
				if (!wait_for(lease)) {
					return;
				}
				break;
			default:
				zend_string_release(bytes);
				compute_under(with, lease, value);
				return;
		}
	}
}

/* Writes how long a value is fresh. Without a TTL it is as long as the table says. */
static bool fresh_of(const tavola_php_table *table, const zval *ttl, uint64_t *fresh_ms)
{
	int64_t ttl_ms;
	if (!tavola_ttl_ms(ttl, &ttl_ms)) {
		return false;
	}
	if (ttl_ms == TAVOLA_TTL_DEFAULT) {
		ttl_ms = table->handle->ttl_ms ? (int64_t)table->handle->ttl_ms : TAVOLA_TTL_NEVER;
	}
	*fresh_ms = ttl_ms == TAVOLA_TTL_NEVER ? UINT64_MAX : (uint64_t)ttl_ms;
	return true;
}

ZEND_METHOD(Tavola_Table, compute)
{
	tavola_computation with = {.options = TAVOLA_INIT(tavola_lease_options), .back_off_ms = 1000};
	zval *ttl = NULL, *stale = NULL, *lease = NULL, *back_off = NULL;
	ZEND_PARSE_PARAMETERS_START(2, 8)
		Z_PARAM_STR(with.key)
		Z_PARAM_FUNC(with.call, with.cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_ZVAL(with.tags)
		Z_PARAM_NUMBER(stale)
		Z_PARAM_NUMBER(lease)
		Z_PARAM_NUMBER(back_off)
		Z_PARAM_DOUBLE(with.options.early_beta)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	with.table = self;
	if (!fresh_of(self, ttl, &with.options.fresh_ms)
			|| (stale && !tavola_duration_ms(stale, "stale", &with.options.stale_ms))
			|| (lease && !tavola_duration_ms(lease, "lease", &with.options.lease_ms))
			|| (back_off && !tavola_duration_ms(back_off, "backOff", &with.back_off_ms))) {
		RETURN_THROWS();
	}
	tavola_compute(&with, return_value);
}

ZEND_METHOD(Tavola_Table, remember)
{
	tavola_computation with = {.options = TAVOLA_INIT(tavola_lease_options), .back_off_ms = 1000};
	zval *ttl;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_STR(with.key)
		Z_PARAM_NUMBER_OR_NULL(ttl)
		Z_PARAM_FUNC(with.call, with.cache)
	ZEND_PARSE_PARAMETERS_END();
	TAVOLA_THIS_TABLE();
	with.table = self;
	if (fresh_of(self, ttl, &with.options.fresh_ms)) {
		tavola_compute(&with, return_value);
	}
}

void tavola_init_compute(void)
{
	zend_class_entry ce;
	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Lease", NULL);
	lease_ce = zend_register_internal_class(&ce);
	lease_ce->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NOT_SERIALIZABLE;
	lease_ce->create_object = new_lease;
	memcpy(&lease_handlers, &std_object_handlers, sizeof(lease_handlers));
	lease_handlers.offset = XtOffsetOf(tavola_php_lease, std);
	lease_handlers.free_obj = free_lease;
	lease_handlers.clone_obj = NULL;
}
