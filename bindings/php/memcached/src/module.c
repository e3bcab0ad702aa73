/* The module, the class, and how its objects begin and end. */

#include "memcached.h"

#include "ext/standard/info.h"
#include "php_ini.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "memcached_arginfo.h"

zend_class_entry *mc_class;
static zend_object_handlers handlers;
static int persistent_fleets;

static PHP_INI_MH(on_serializer)
{
	static const char *const names[] = {"php", "igbinary", "json", "json_array", "msgpack", "none"};
	(void)entry;
	(void)stage;
	for (size_t i = 0; new_value && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(ZSTR_VAL(new_value), names[i]) == 0) {
			return SUCCESS;
		}
	}
	return FAILURE;
}

/* The settings of php-memcached. If that is loaded, it has registered them. */
PHP_INI_BEGIN()
	PHP_INI_ENTRY("memcached.compression_type", "fastlz", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.compression_factor", "1.3", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.compression_threshold", "2000", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.serializer", "php", PHP_INI_ALL, on_serializer)
	PHP_INI_ENTRY("memcached.store_retry_count", "0", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.default_consistent_hash", "0", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.default_binary_protocol", "0", PHP_INI_ALL, NULL)
	PHP_INI_ENTRY("memcached.default_connect_timeout", "0", PHP_INI_ALL, NULL)
PHP_INI_END()

/* Settings of our own. */
static const zend_ini_entry_def own_settings[] = {
	PHP_INI_ENTRY(MC_MOST_DECOMPRESSED, "64M", PHP_INI_ALL, NULL)
	{0}
};

static bool has_settings;

/* {{{ Objects */

static zend_object *new_object(zend_class_entry *ce)
{
	mc_object *made = zend_object_alloc(sizeof(mc_object), ce);
	memset(made, 0, XtOffsetOf(mc_object, std));
	made->failed = -1;
	zend_object_std_init(&made->std, ce);
	object_properties_init(&made->std, ce);
	made->std.handlers = &handlers;
	return &made->std;
}

/* Sends what a fleet that stays open still holds. */
static void send_held(mc_fleet *fleet)
{
	if (!fleet->has_held) {
		return;
	}
	fleet->has_held = false;
	tavola_mc_flush(fleet->client);
	for (size_t i = 0; fleet->alone && i < fleet->count; i++) {
		tavola_mc_flush(fleet->alone[i]);
	}
}

static void free_object(zend_object *object)
{
	mc_object *self = mc_object_of(object);
	if (self->fleet) {
		if (self->fleet->is_persistent) {
			send_held(self->fleet);
		} else {
			mc_free_fleet(self->fleet);
		}
	}
	if (self->why) {
		zend_string_release(self->why);
	}
	mc_free_items(&self->delayed);
	zend_object_std_dtor(object);
}

static void free_persistent(zend_resource *resource)
{
	mc_free_fleet(resource->ptr);
}

/* The name of a persistent fleet in PHP's list. */
static zend_string *persistent_name(zend_string *id)
{
	return zend_strpprintf(0, "tavola:memcached:%s", ZSTR_VAL(id));
}

static mc_fleet *find_persistent(zend_string *id)
{
	zend_string *name = persistent_name(id);
	zend_resource *found = zend_hash_find_ptr(&EG(persistent_list), name);
	zend_string_release(name);
	return found && found->type == persistent_fleets ? found->ptr : NULL;
}

static void keep_persistent(zend_string *id, mc_fleet *fleet)
{
	zend_string *name = persistent_name(id);
	zend_register_persistent_resource(
		ZSTR_VAL(name), ZSTR_LEN(name), fleet, persistent_fleets);
	zend_string_release(name);
}

/* Lets the program set up a new object. Returns false if it threw. */
static bool set_up(
	zval *object, zend_string *id, zend_fcall_info *call, zend_fcall_info_cache *cache)
{
	zval arguments[2], answer;
	ZVAL_COPY(&arguments[0], object);
	if (id) {
		ZVAL_STR_COPY(&arguments[1], id);
	} else {
		ZVAL_NULL(&arguments[1]);
	}
	ZVAL_UNDEF(&answer);
	call->retval = &answer;
	call->params = arguments;
	call->param_count = 2;
	zend_call_function(call, cache);
	zval_ptr_dtor(&answer);
	zval_ptr_dtor(&arguments[0]);
	zval_ptr_dtor(&arguments[1]);
	return !EG(exception);
}

ZEND_METHOD(Tavola_Memcached, __construct)
{
	zend_string *id = NULL, *servers = NULL;
	zend_fcall_info call = empty_fcall_info;
	zend_fcall_info_cache cache = empty_fcall_info_cache;
	ZEND_PARSE_PARAMETERS_START(0, 3)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(id)
		Z_PARAM_FUNC_OR_NULL(call, cache)
		Z_PARAM_STR_OR_NULL(servers)
	ZEND_PARSE_PARAMETERS_END();
	mc_object *self = mc_object_of(Z_OBJ_P(ZEND_THIS));
	if (self->fleet) {
		zend_throw_error(NULL, "the object has been constructed already");
		RETURN_THROWS();
	}
	bool is_persistent = id && ZSTR_LEN(id) > 0;
	self->fleet = is_persistent ? find_persistent(id) : NULL;
	if (self->fleet) {
		return;
	}
	self->is_pristine = true;
	self->fleet = mc_new_fleet(is_persistent);
	/* A persistent fleet is kept only if it was set up. */
	bool is_set_up = (servers == NULL || mc_read_connection(self, servers))
		&& (!ZEND_FCI_INITIALIZED(call) || set_up(ZEND_THIS, id, &call, &cache));
	if (is_set_up && is_persistent) {
		keep_persistent(id, self->fleet);
	} else if (!is_set_up && self->fleet) {
		mc_free_fleet(self->fleet);
		self->fleet = NULL;
	}
}

ZEND_METHOD(Tavola_Memcached, isPersistent)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_BOOL(self->fleet->is_persistent);
}

ZEND_METHOD(Tavola_Memcached, isPristine)
{
	ZEND_PARSE_PARAMETERS_NONE();
	MC_SELF;
	RETURN_BOOL(self->is_pristine);
}

/* }}} */

/* {{{ The module */

static void declare_have(const char *name, bool has)
{
	zend_declare_class_constant_bool(mc_class, name, strlen(name), has);
}

static bool has_extension(const char *name)
{
	return zend_hash_str_exists(&module_registry, name, strlen(name));
}

static PHP_MINIT_FUNCTION(tavola_memcached)
{
	has_settings = !zend_hash_str_exists(EG(ini_directives), ZEND_STRL("memcached.serializer"));
	if (has_settings) {
		REGISTER_INI_ENTRIES();
	}
	zend_register_ini_entries(own_settings, module_number);
	mc_class = register_class_Tavola_Memcached();
	mc_class->create_object = new_object;
	memcpy(&handlers, &std_object_handlers, sizeof(handlers));
	handlers.offset = XtOffsetOf(mc_object, std);
	handlers.free_obj = free_object;
	handlers.clone_obj = NULL;
	declare_have("HAVE_IGBINARY", has_extension("igbinary"));
	declare_have("HAVE_JSON", true);
	declare_have("HAVE_MSGPACK", has_extension("msgpack"));
	declare_have("HAVE_ENCODING", false);
	declare_have("HAVE_SESSION", false);
	declare_have("HAVE_SASL", true);
	persistent_fleets = zend_register_list_destructors_ex(
		NULL, free_persistent, "Tavola\\Memcached", module_number);
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(tavola_memcached)
{
	(void)type;
	/* Those of both lists. */
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(tavola_memcached)
{
	(void)type;
	(void)module_number;
#if defined(COMPILE_DL_TAVOLA_MEMCACHED) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(tavola_memcached)
{
	php_info_print_table_start();
	php_info_print_table_row(2, "Tavola\\Memcached", "enabled");
	php_info_print_table_row(2, "Version of the library", tavola_mc_version());
	php_info_print_table_end();
	DISPLAY_INI_ENTRIES();
}

static const zend_module_dep dependencies[] = {
	ZEND_MOD_REQUIRED("json")
	ZEND_MOD_OPTIONAL("igbinary")
	ZEND_MOD_OPTIONAL("msgpack")
	ZEND_MOD_OPTIONAL("zlib")
	ZEND_MOD_OPTIONAL("memcached")
	ZEND_MOD_END
};

zend_module_entry tavola_memcached_module_entry = {
	STANDARD_MODULE_HEADER_EX,
	NULL,
	dependencies,
	"tavola_memcached",
	NULL,
	PHP_MINIT(tavola_memcached),
	PHP_MSHUTDOWN(tavola_memcached),
	PHP_RINIT(tavola_memcached),
	NULL,
	PHP_MINFO(tavola_memcached),
	TAVOLA_MC_VERSION,
	STANDARD_MODULE_PROPERTIES
};

#ifdef COMPILE_DL_TAVOLA_MEMCACHED
# ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
# endif
ZEND_GET_MODULE(tavola_memcached)
#endif

/* }}} */
