/*
 * Queues of jobs, in the form of `tavola queue`.
 *
 * The file is a pool of elements with two queues, "free" and "jobs". An element begins with the
 * length of the job plus 1 as 4 bytes, little-endian (0: no job); the job follows. If bit 31 of
 * them is set, 4 bytes of flags stand before the job, which is a value of that kind. A producer
 * writes the word before it pushes the element to "jobs"; a consumer clears it before it pushes the
 * element to "free". So the word of an element that a dead process held says where it belongs.
 */

#include "php_tavola.h"

#define PREFIX_BYTES 4
#define HAS_FLAGS 0x80000000u
#define DEFAULT_PLACES 1024
#define DEFAULT_SIZE 1024

typedef struct {
	tavola_pool *pool;
	tavola_queue *unused;
	tavola_queue *jobs;
	tavola_serializer serializer;
	bool is_json;
	zend_object std;
} tavola_php_queue;

typedef struct {
	zval queue;
	zval value;
	uint32_t element;
	bool is_held;
	zend_object std;
} tavola_php_job;

static zend_object_handlers queue_handlers;
static zend_object_handlers job_handlers;

static tavola_php_queue *queue_of(zval *object)
{
	return TAVOLA_OBJECT(tavola_php_queue, Z_OBJ_P(object));
}

static tavola_php_job *job_of(zval *object)
{
	return TAVOLA_OBJECT(tavola_php_job, Z_OBJ_P(object));
}

#define THIS_QUEUE() \
	tavola_php_queue *self = queue_of(ZEND_THIS); \
	if (self->jobs == NULL) { \
		tavola_throw_closed(); \
		RETURN_THROWS(); \
	}

static void free_queue(zend_object *object)
{
	tavola_php_queue *self = TAVOLA_OBJECT(tavola_php_queue, object);
	tavola_queue_close(self->jobs);
	tavola_queue_close(self->unused);
	tavola_pool_close(self->pool);
	zend_object_std_dtor(object);
}

/* A job that was neither done nor put back goes back to the queue. In a forked child the call has
 * no effect, because the child does not hold the element. */
static void free_job(zend_object *object)
{
	tavola_php_job *self = TAVOLA_OBJECT(tavola_php_job, object);
	if (self->is_held) {
		tavola_queue_push(queue_of(&self->queue)->jobs, self->element);
	}
	zval_ptr_dtor(&self->value);
	zval_ptr_dtor(&self->queue);
	zend_object_std_dtor(object);
}

/* {{{ Opening */
static bool read_codec(tavola_reader *reader, tavola_php_queue *queue)
{
	zend_string *name = tavola_read_text(reader, "serializer");
	if (name && zend_string_equals_literal(name, "json")) {
		queue->is_json = true;
		return true;
	}
	return EG(exception) == NULL && tavola_read_serializer(
		name ? ZSTR_VAL(name) : "", name ? ZSTR_LEN(name) : 0, &queue->serializer);
}

/* Returns the kind of the jobs that this queue writes. */
static uint32_t kind_of(const tavola_php_queue *self)
{
	bool is_php = self->serializer == TAVOLA_SERIALIZER_PHP;
	bool is_igbinary = self->serializer == TAVOLA_SERIALIZER_IGBINARY;
	return self->is_json ? TAVOLA_KIND_JSON
		: is_php ? TAVOLA_KIND_PHP : is_igbinary ? TAVOLA_KIND_IGBINARY : 0;
}

/* Returns at which byte of an element a job begins that this queue writes. */
static uint32_t start_of(const tavola_php_queue *self)
{
	return kind_of(self) != 0 ? 2 * PREFIX_BYTES : PREFIX_BYTES;
}

static bool read_options(HashTable *given, tavola_php_queue *queue, tavola_pool_options *options)
{
	tavola_reader reader = {given, 0};
	uint64_t places = DEFAULT_PLACES, bytes = DEFAULT_SIZE, mode = (uint64_t)TAVOLA_G(mode);
	uint32_t any_owner = 0;
	if (!tavola_read_number(&reader, "places", 1u << 30, &places)
			|| !tavola_read_size(&reader, "size", &bytes)
			|| !tavola_read_number(&reader, "mode", 07777, &mode)
			|| !tavola_read_flag(&reader, "any_owner", &any_owner)
			|| !read_codec(&reader, queue) || !tavola_read_all(&reader)) {
		return false;
	}
	if (bytes > UINT32_MAX - 2 * PREFIX_BYTES) {
		tavola_throw_text(TAVOLA_ERR_BAD_OPTION,
			"a job must be smaller than 4 GiB; give a smaller 'size'");
		return false;
	}
	options->elements = (uint32_t)places;
	options->element_bytes = (uint32_t)bytes + start_of(queue);
	options->mode = mode;
	options->any_owner = any_owner;
	return true;
}

static void open_into(zval *object, tavola_how how, const char *name, HashTable *given)
{
	static const char *const names[] = {"free", "jobs"};
	tavola_php_queue *self = queue_of(object);
	tavola_pool_options options = TAVOLA_INIT(tavola_pool_options);
	tavola_status status;
	if (self->pool != NULL) {
		zend_throw_error(NULL, "the queue is open already");
		return;
	}
	if (!read_options(given, self, &options)) {
		return;
	}
	options.queues = names;
	options.queue_count = 2;
	if (how == TAVOLA_CREATE) {
		status = tavola_pool_create(name, &options, &self->pool);
	} else if (how == TAVOLA_EXISTING) {
		status = tavola_pool_open_existing(name, &self->pool);
	} else {
		status = tavola_pool_open(name, &options, &self->pool);
	}
	if (tavola_did(status) && tavola_did(tavola_queue_open(self->pool, "free", &self->unused))) {
		tavola_did(tavola_queue_open(self->pool, "jobs", &self->jobs));
	}
}

TAVOLA_CONSTRUCTOR(Tavola_Queue)
TAVOLA_OPENER(Tavola_Queue, open, tavola_queue_ce, TAVOLA_OPEN, 2)
TAVOLA_OPENER(Tavola_Queue, create, tavola_queue_ce, TAVOLA_CREATE, 2)
TAVOLA_OPENER(Tavola_Queue, openExisting, tavola_queue_ce, TAVOLA_EXISTING, 2)

/* }}} */

/* {{{ Elements */
static bool read_word(
	const tavola_php_queue *self, uint32_t element, uint32_t at, uint32_t *word)
{
	unsigned char bytes[PREFIX_BYTES];
	if (tavola_pool_read(self->pool, element, at, bytes, sizeof(bytes)) != TAVOLA_OK) {
		return false;
	}
	*word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
		| (uint32_t)bytes[3] << 24;
	return true;
}

static tavola_status write_word(
	const tavola_php_queue *self, uint32_t element, uint32_t at, uint32_t word)
{
	unsigned char bytes[PREFIX_BYTES];
	for (int i = 0; i < PREFIX_BYTES; i++) {
		bytes[i] = (unsigned char)(word >> 8 * i);
	}
	return tavola_pool_write(self->pool, element, at, bytes, sizeof(bytes));
}

/* What `put_back` gets and counts. */
typedef struct {
	const tavola_php_queue *queue;
	zend_long jobs;
} reclaiming;

/* Puts an element that a dead process held where it belongs. The library calls this. */
static void put_back(void *user, uint32_t element)
{
	reclaiming *with = user;
	uint32_t word = 0;
	bool is_job = read_word(with->queue, element, 0, &word) && word != 0;
	with->jobs += is_job;
	tavola_queue_push(is_job ? with->queue->jobs : with->queue->unused, element);
}

/* Returns how many jobs came back, or -1 after an exception. */
static zend_long reclaim(const tavola_php_queue *self)
{
	reclaiming with = {self, 0};
	return tavola_did(tavola_pool_reclaim(self->pool, put_back, &with)) ? with.jobs : -1;
}

/* Pops an element, and waits for one. What dead processes held comes when there is nothing else.
 * Returns false if the time has passed, or after an exception. */
static bool pop_element(
	const tavola_php_queue *self, const tavola_queue *from, const zval *timeout, uint32_t *element)
{
	tavola_deadline deadline = tavola_deadline_in(tavola_wait_seconds(timeout));
	for (uint32_t tries = 0;; tries++) {
		tavola_status status = tavola_queue_pop(from, element);
		if (status != TAVOLA_EMPTY) {
			return tavola_did(status);
		}
		/* A reclaim looks at every element, so it is done about once a second. */
		if (tries % (1000 / TAVOLA_WAIT_SLICE_MS) == 0) {
			zend_long jobs = reclaim(self);
			status = jobs < 0 ? TAVOLA_TIMEOUT : tavola_queue_pop(from, element);
			if (status == TAVOLA_OK || EG(exception)) {
				return status == TAVOLA_OK;
			}
		}
		uint64_t slice_ms = tavola_next_slice_ms(&deadline);
		if (slice_ms == 0) {
			return false;
		}
		status = tavola_queue_pop_wait(from, slice_ms, element);
		if (status != TAVOLA_TIMEOUT) {
			return tavola_did(status);
		}
		if (tavola_interrupted()) {
			return false;
		}
	}
}

/* }}} */

/* {{{ Pushing */
/* Encodes a job. Without a serializer it is a string, and a number becomes one. */
static bool encode_job(const tavola_php_queue *self, zval *value, zend_string **bytes)
{
	smart_str text = {0};
	ZVAL_DEREF(value);
	if (self->is_json) {
		if (tavola_append_json(&text, value, false)) {
			*bytes = smart_str_extract(&text);
			return true;
		}
		smart_str_free(&text);
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"this job is not JSON; open the queue with another serializer");
		return false;
	}
	if (self->serializer != TAVOLA_SERIALIZER_NONE) {
		return tavola_serialize(value, self->serializer, bytes);
	}
	if (Z_TYPE_P(value) != IS_STRING && Z_TYPE_P(value) != IS_LONG
			&& Z_TYPE_P(value) != IS_DOUBLE) {
		tavola_throw_text(TAVOLA_ERR_ARGUMENT,
			"a job of a queue without a serializer must be a string, and %s is none; open the "
			"queue with 'serializer' => 'json'", zend_zval_type_name(value));
		return false;
	}
	*bytes = zval_get_string(value);
	return true;
}

/* Writes a job to an element and adds it to the queue. */
static tavola_status push_job(const tavola_php_queue *self, uint32_t element, zend_string *bytes)
{
	uint32_t kind = kind_of(self), word = (uint32_t)ZSTR_LEN(bytes) + 1;
	tavola_status status = tavola_pool_write(
		self->pool, element, start_of(self), ZSTR_VAL(bytes), ZSTR_LEN(bytes));
	if (status == TAVOLA_OK && kind != 0) {
		status = write_word(self, element, PREFIX_BYTES, kind);
		word |= HAS_FLAGS;
	}
	if (status == TAVOLA_OK) {
		status = write_word(self, element, 0, word);
	}
	return status == TAVOLA_OK ? tavola_queue_push(self->jobs, element) : status;
}

ZEND_METHOD(Tavola_Queue, push)
{
	zval *value, *timeout = NULL, at_once;
	zend_string *bytes;
	uint32_t element;
	ZVAL_LONG(&at_once, 0);
	timeout = &at_once;
	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ZVAL(value)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
	ZEND_PARSE_PARAMETERS_END();
	THIS_QUEUE();
	if (!encode_job(self, value, &bytes)) {
		RETURN_THROWS();
	}
	uint32_t most = tavola_pool_element_bytes(self->pool) - start_of(self);
	if (ZSTR_LEN(bytes) > most) {
		tavola_throw_text(TAVOLA_ERR_TOO_LARGE,
			"the job has %zu bytes, but the queue accepts at most %u; create a queue with a "
			"greater 'size'", ZSTR_LEN(bytes), most);
		zend_string_release(bytes);
		RETURN_THROWS();
	}
	bool is_done = pop_element(self, self->unused, timeout, &element)
		&& tavola_did(push_job(self, element, bytes));
	zend_string_release(bytes);
	RETURN_BOOL(is_done);
}

/* }}} */

/* {{{ Popping */
/* A job without a kind of its own is of the kind that the queue writes. */
static void decode_job(
	const tavola_php_queue *self, const char *bytes, size_t len, uint32_t kind, zval *value)
{
	zend_string *text = zend_string_init(bytes, len, false);
	kind = kind != 0 ? kind : kind_of(self);
	if (kind != 0) {
		tavola_decode(value, text, kind, self->serializer);
	} else {
		ZVAL_STR(value, text);
	}
}

ZEND_METHOD(Tavola_Queue, pop)
{
	zval *timeout, at_once;
	uint32_t element, word = 0;
	ZVAL_LONG(&at_once, 0);
	timeout = &at_once;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_NUMBER_OR_NULL(timeout)
	ZEND_PARSE_PARAMETERS_END();
	THIS_QUEUE();
	if (!pop_element(self, self->jobs, timeout, &element)) {
		return;
	}
	object_init_ex(return_value, tavola_job_ce);
	tavola_php_job *job = job_of(return_value);
	ZVAL_COPY(&job->queue, ZEND_THIS);
	job->element = element;
	job->is_held = true;
	uint32_t start = PREFIX_BYTES, kind = 0;
	if (read_word(self, element, 0, &word) && (word & HAS_FLAGS) != 0
			&& tavola_pool_element_bytes(self->pool) >= 2 * PREFIX_BYTES
			&& read_word(self, element, PREFIX_BYTES, &kind)) {
		start += PREFIX_BYTES;
		word &= ~HAS_FLAGS;
	}
	uint32_t most = tavola_pool_element_bytes(self->pool) - start;
	if (word == 0 || word - 1 > most) {
		tavola_throw_text(TAVOLA_ERR_CORRUPT,
			"element %u of the queue is not a job (its first word is %u); another program uses "
			"the pool in another way", element, word);
		RETURN_THROWS();
	}
	const char *bytes = tavola_pool_element_ptr(self->pool, element);
	decode_job(self, bytes + start, word - 1, kind, &job->value);
}

ZEND_METHOD(Tavola_Job, __construct)
{
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Tavola_Job, value)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_COPY(&job_of(ZEND_THIS)->value);
}

/* Gives the element of a job away: to the free ones, or back to the jobs. */
static void end_job(tavola_php_job *self, bool is_done)
{
	const tavola_php_queue *queue = queue_of(&self->queue);
	if (!self->is_held) {
		tavola_throw_text(TAVOLA_ERR_NOT_HELD, "this job has ended already");
		return;
	}
	tavola_status status = is_done ? write_word(queue, self->element, 0, 0) : TAVOLA_OK;
	if (status == TAVOLA_OK) {
		status = tavola_queue_push(is_done ? queue->unused : queue->jobs, self->element);
	}
	if (tavola_did(status)) {
		self->is_held = false;
	}
}

ZEND_METHOD(Tavola_Job, done)
{
	ZEND_PARSE_PARAMETERS_NONE();
	end_job(job_of(ZEND_THIS), true);
}

ZEND_METHOD(Tavola_Job, retry)
{
	ZEND_PARSE_PARAMETERS_NONE();
	end_job(job_of(ZEND_THIS), false);
}

/* }}} */

ZEND_METHOD(Tavola_Queue, reclaim)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_QUEUE();
	RETURN_LONG(reclaim(self));
}

ZEND_METHOD(Tavola_Queue, count)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_QUEUE();
	RETURN_LONG((zend_long)tavola_queue_len(self->jobs));
}

ZEND_METHOD(Tavola_Queue, stats)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_QUEUE();
	zend_long places = tavola_pool_elements(self->pool);
	zend_long jobs = (zend_long)tavola_queue_len(self->jobs);
	zend_long unused = (zend_long)tavola_queue_len(self->unused);
	array_init(return_value);
	add_assoc_long(return_value, "jobs", jobs);
	add_assoc_long(return_value, "held", MAX(0, places - jobs - unused));
	add_assoc_long(return_value, "free", unused);
	add_assoc_long(return_value, "places", places);
	add_assoc_long(return_value, "job_bytes",
		(zend_long)tavola_pool_element_bytes(self->pool) - start_of(self));
}

ZEND_METHOD(Tavola_Queue, path)
{
	ZEND_PARSE_PARAMETERS_NONE();
	THIS_QUEUE();
	RETURN_STRING(tavola_pool_path(self->pool));
}

TAVOLA_NEW_OBJECT(tavola_php_queue, new_queue, &queue_handlers)
TAVOLA_NEW_OBJECT(tavola_php_job, new_job, &job_handlers)

void tavola_init_queue(void)
{
	memcpy(&queue_handlers, &std_object_handlers, sizeof(queue_handlers));
	queue_handlers.offset = XtOffsetOf(tavola_php_queue, std);
	queue_handlers.free_obj = free_queue;
	queue_handlers.clone_obj = NULL;
	tavola_queue_ce->create_object = new_queue;
	job_handlers = queue_handlers;
	job_handlers.offset = XtOffsetOf(tavola_php_job, std);
	job_handlers.free_obj = free_job;
	tavola_job_ce->create_object = new_job;
}
