#include "php_tavola.h"
#include "classes.h"

#include <time.h>
#include "zend_exceptions.h"

zend_class_entry *tavola_class_of(tavola_status status)
{
	for (const tavola_status_class *one = tavola_status_classes; one->ce != NULL; one++) {
		if (one->status == status) {
			return *one->ce;
		}
	}
	return tavola_exception_ce;
}

void tavola_throw(tavola_status status)
{
	if (EG(exception)) {
		return;
	}
	if (status > 0) {
		/* The other answers have no sentence. */
		zend_throw_exception(tavola_class_of(status), tavola_status_name(status), status);
		return;
	}
	zend_throw_exception(tavola_class_of(status), tavola_last_error(), status);
}

void tavola_throw_text(tavola_status status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	zend_string *text = zend_vstrpprintf(0, format, arguments);
	va_end(arguments);
	zend_throw_exception(tavola_class_of(status), ZSTR_VAL(text), status);
	zend_string_release(text);
}

/* {{{ Returns the name of the status without its prefix, such as "FULL". */
ZEND_METHOD(Tavola_Exception, getStatus)
{
	ZEND_PARSE_PARAMETERS_NONE();
	zval copy;
	zval *code = zend_read_property(
		zend_ce_exception, Z_OBJ_P(ZEND_THIS), ZEND_STRL("code"), true, &copy);
	const char *name = tavola_status_name((int32_t)zval_get_long(code));
	static const char *const prefixes[] = {"TAVOLA_ERR_", "TAVOLA_"};
	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(prefixes[i]);
		if (strncmp(name, prefixes[i], len) == 0) {
			name += len;
			break;
		}
	}
	RETURN_STRING(name);
}
/* }}} */

bool tavola_interrupted(void)
{
#if PHP_VERSION_ID >= 80200
	bool is_due = zend_atomic_bool_exchange_ex(&EG(vm_interrupt), false);
	bool is_late = zend_atomic_bool_load_ex(&EG(timed_out));
#else
	bool is_due = EG(vm_interrupt);
	bool is_late = EG(timed_out);
	EG(vm_interrupt) = 0;
#endif
	if (is_due) {
		if (is_late) {
			zend_timeout();
		} else if (zend_interrupt_function) {
			zend_interrupt_function(EG(current_execute_data));
		}
	}
	return EG(exception) != NULL;
}

static uint64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

tavola_deadline tavola_deadline_in(double seconds)
{
	tavola_deadline deadline = {0, true};
	/* A thousand years are for ever, and their milliseconds fit in 64 bits. */
	if (seconds >= 0 && seconds < 31536e6) {
		deadline.is_endless = false;
		deadline.end_ms = now_ms() + (uint64_t)(seconds * 1000 + 0.999999);
	}
	return deadline;
}

uint64_t tavola_next_slice_ms(const tavola_deadline *deadline)
{
	if (deadline->is_endless) {
		return TAVOLA_WAIT_SLICE_MS;
	}
	uint64_t now = now_ms();
	if (now >= deadline->end_ms) {
		return 0;
	}
	return MIN(deadline->end_ms - now, TAVOLA_WAIT_SLICE_MS);
}
