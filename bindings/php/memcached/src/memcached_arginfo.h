/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 3438f29d7b6fe1fa54897fd4f136d065c5ffb577 */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tavola_Memcached___construct, 0, 0, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, persistent_id, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, callback, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, connection_str, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getResultCode, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getResultMessage, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_get, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cache_cb, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, get_flags, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getByKey, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cache_cb, IS_CALLABLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, get_flags, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_getMulti, 0, 1, MAY_BE_ARRAY|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, get_flags, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_getMultiByKey, 0, 2, MAY_BE_ARRAY|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, get_flags, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getDelayed, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, with_cas, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, value_cb, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getDelayedByKey, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, with_cas, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, value_cb, IS_CALLABLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_fetch, 0, 0, MAY_BE_ARRAY|MAY_BE_FALSE)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_fetchAll arginfo_class_Tavola_Memcached_fetch

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_set, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setByKey, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_touch, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_touchByKey, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setMulti, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, items, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setMultiByKey, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, items, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_cas, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, cas_token, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_casByKey, 0, 4, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, cas_token, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiration, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_add arginfo_class_Tavola_Memcached_set

#define arginfo_class_Tavola_Memcached_addByKey arginfo_class_Tavola_Memcached_setByKey

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_append, 0, 2, _IS_BOOL, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_appendByKey, 0, 3, _IS_BOOL, 1)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_prepend arginfo_class_Tavola_Memcached_append

#define arginfo_class_Tavola_Memcached_prependByKey arginfo_class_Tavola_Memcached_appendByKey

#define arginfo_class_Tavola_Memcached_replace arginfo_class_Tavola_Memcached_set

#define arginfo_class_Tavola_Memcached_replaceByKey arginfo_class_Tavola_Memcached_setByKey

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_delete, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, time, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_deleteMulti, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, time, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_deleteByKey, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, time, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_deleteMultiByKey, 0, 2, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, time, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_increment, 0, 1, MAY_BE_LONG|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, offset, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initial_value, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiry, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_decrement arginfo_class_Tavola_Memcached_increment

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_incrementByKey, 0, 2, MAY_BE_LONG|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, offset, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initial_value, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, expiry, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_decrementByKey arginfo_class_Tavola_Memcached_incrementByKey

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_addServer, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, host, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, port, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, weight, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_addServers, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, servers, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getServerList, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_getServerByKey, 0, 1, MAY_BE_ARRAY|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, server_key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_resetServerList, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_quit arginfo_class_Tavola_Memcached_resetServerList

#define arginfo_class_Tavola_Memcached_flushBuffers arginfo_class_Tavola_Memcached_resetServerList

#define arginfo_class_Tavola_Memcached_getLastErrorMessage arginfo_class_Tavola_Memcached_getResultMessage

#define arginfo_class_Tavola_Memcached_getLastErrorCode arginfo_class_Tavola_Memcached_getResultCode

#define arginfo_class_Tavola_Memcached_getLastErrorErrno arginfo_class_Tavola_Memcached_getResultCode

#define arginfo_class_Tavola_Memcached_getLastDisconnectedServer arginfo_class_Tavola_Memcached_fetch

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Memcached_getStats, 0, 0, MAY_BE_ARRAY|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, type, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_getVersion arginfo_class_Tavola_Memcached_fetch

#define arginfo_class_Tavola_Memcached_getAllKeys arginfo_class_Tavola_Memcached_fetch

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_flush, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, delay, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_getOption, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, option, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setOption, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, option, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setOptions, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, options, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setBucket, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, host_map, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, forward_map, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, replicas, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setSaslAuthData, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, username, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, password, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Memcached_setEncodingKey, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Memcached_isPersistent arginfo_class_Tavola_Memcached_resetServerList

#define arginfo_class_Tavola_Memcached_isPristine arginfo_class_Tavola_Memcached_resetServerList

#define arginfo_class_Tavola_Memcached_checkKey arginfo_class_Tavola_Memcached_setEncodingKey


ZEND_METHOD(Tavola_Memcached, __construct);
ZEND_METHOD(Tavola_Memcached, getResultCode);
ZEND_METHOD(Tavola_Memcached, getResultMessage);
ZEND_METHOD(Tavola_Memcached, get);
ZEND_METHOD(Tavola_Memcached, getByKey);
ZEND_METHOD(Tavola_Memcached, getMulti);
ZEND_METHOD(Tavola_Memcached, getMultiByKey);
ZEND_METHOD(Tavola_Memcached, getDelayed);
ZEND_METHOD(Tavola_Memcached, getDelayedByKey);
ZEND_METHOD(Tavola_Memcached, fetch);
ZEND_METHOD(Tavola_Memcached, fetchAll);
ZEND_METHOD(Tavola_Memcached, set);
ZEND_METHOD(Tavola_Memcached, setByKey);
ZEND_METHOD(Tavola_Memcached, touch);
ZEND_METHOD(Tavola_Memcached, touchByKey);
ZEND_METHOD(Tavola_Memcached, setMulti);
ZEND_METHOD(Tavola_Memcached, setMultiByKey);
ZEND_METHOD(Tavola_Memcached, cas);
ZEND_METHOD(Tavola_Memcached, casByKey);
ZEND_METHOD(Tavola_Memcached, add);
ZEND_METHOD(Tavola_Memcached, addByKey);
ZEND_METHOD(Tavola_Memcached, append);
ZEND_METHOD(Tavola_Memcached, appendByKey);
ZEND_METHOD(Tavola_Memcached, prepend);
ZEND_METHOD(Tavola_Memcached, prependByKey);
ZEND_METHOD(Tavola_Memcached, replace);
ZEND_METHOD(Tavola_Memcached, replaceByKey);
ZEND_METHOD(Tavola_Memcached, delete);
ZEND_METHOD(Tavola_Memcached, deleteMulti);
ZEND_METHOD(Tavola_Memcached, deleteByKey);
ZEND_METHOD(Tavola_Memcached, deleteMultiByKey);
ZEND_METHOD(Tavola_Memcached, increment);
ZEND_METHOD(Tavola_Memcached, decrement);
ZEND_METHOD(Tavola_Memcached, incrementByKey);
ZEND_METHOD(Tavola_Memcached, decrementByKey);
ZEND_METHOD(Tavola_Memcached, addServer);
ZEND_METHOD(Tavola_Memcached, addServers);
ZEND_METHOD(Tavola_Memcached, getServerList);
ZEND_METHOD(Tavola_Memcached, getServerByKey);
ZEND_METHOD(Tavola_Memcached, resetServerList);
ZEND_METHOD(Tavola_Memcached, quit);
ZEND_METHOD(Tavola_Memcached, flushBuffers);
ZEND_METHOD(Tavola_Memcached, getLastErrorMessage);
ZEND_METHOD(Tavola_Memcached, getLastErrorCode);
ZEND_METHOD(Tavola_Memcached, getLastErrorErrno);
ZEND_METHOD(Tavola_Memcached, getLastDisconnectedServer);
ZEND_METHOD(Tavola_Memcached, getStats);
ZEND_METHOD(Tavola_Memcached, getVersion);
ZEND_METHOD(Tavola_Memcached, getAllKeys);
ZEND_METHOD(Tavola_Memcached, flush);
ZEND_METHOD(Tavola_Memcached, getOption);
ZEND_METHOD(Tavola_Memcached, setOption);
ZEND_METHOD(Tavola_Memcached, setOptions);
ZEND_METHOD(Tavola_Memcached, setBucket);
ZEND_METHOD(Tavola_Memcached, setSaslAuthData);
ZEND_METHOD(Tavola_Memcached, setEncodingKey);
ZEND_METHOD(Tavola_Memcached, isPersistent);
ZEND_METHOD(Tavola_Memcached, isPristine);
ZEND_METHOD(Tavola_Memcached, checkKey);


static const zend_function_entry class_Tavola_Memcached_methods[] = {
	ZEND_ME(Tavola_Memcached, __construct, arginfo_class_Tavola_Memcached___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getResultCode, arginfo_class_Tavola_Memcached_getResultCode, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getResultMessage, arginfo_class_Tavola_Memcached_getResultMessage, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, get, arginfo_class_Tavola_Memcached_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getByKey, arginfo_class_Tavola_Memcached_getByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getMulti, arginfo_class_Tavola_Memcached_getMulti, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getMultiByKey, arginfo_class_Tavola_Memcached_getMultiByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getDelayed, arginfo_class_Tavola_Memcached_getDelayed, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getDelayedByKey, arginfo_class_Tavola_Memcached_getDelayedByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, fetch, arginfo_class_Tavola_Memcached_fetch, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, fetchAll, arginfo_class_Tavola_Memcached_fetchAll, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, set, arginfo_class_Tavola_Memcached_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setByKey, arginfo_class_Tavola_Memcached_setByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, touch, arginfo_class_Tavola_Memcached_touch, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, touchByKey, arginfo_class_Tavola_Memcached_touchByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setMulti, arginfo_class_Tavola_Memcached_setMulti, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setMultiByKey, arginfo_class_Tavola_Memcached_setMultiByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, cas, arginfo_class_Tavola_Memcached_cas, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, casByKey, arginfo_class_Tavola_Memcached_casByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, add, arginfo_class_Tavola_Memcached_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, addByKey, arginfo_class_Tavola_Memcached_addByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, append, arginfo_class_Tavola_Memcached_append, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, appendByKey, arginfo_class_Tavola_Memcached_appendByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, prepend, arginfo_class_Tavola_Memcached_prepend, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, prependByKey, arginfo_class_Tavola_Memcached_prependByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, replace, arginfo_class_Tavola_Memcached_replace, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, replaceByKey, arginfo_class_Tavola_Memcached_replaceByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, delete, arginfo_class_Tavola_Memcached_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, deleteMulti, arginfo_class_Tavola_Memcached_deleteMulti, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, deleteByKey, arginfo_class_Tavola_Memcached_deleteByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, deleteMultiByKey, arginfo_class_Tavola_Memcached_deleteMultiByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, increment, arginfo_class_Tavola_Memcached_increment, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, decrement, arginfo_class_Tavola_Memcached_decrement, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, incrementByKey, arginfo_class_Tavola_Memcached_incrementByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, decrementByKey, arginfo_class_Tavola_Memcached_decrementByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, addServer, arginfo_class_Tavola_Memcached_addServer, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, addServers, arginfo_class_Tavola_Memcached_addServers, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getServerList, arginfo_class_Tavola_Memcached_getServerList, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getServerByKey, arginfo_class_Tavola_Memcached_getServerByKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, resetServerList, arginfo_class_Tavola_Memcached_resetServerList, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, quit, arginfo_class_Tavola_Memcached_quit, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, flushBuffers, arginfo_class_Tavola_Memcached_flushBuffers, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getLastErrorMessage, arginfo_class_Tavola_Memcached_getLastErrorMessage, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getLastErrorCode, arginfo_class_Tavola_Memcached_getLastErrorCode, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getLastErrorErrno, arginfo_class_Tavola_Memcached_getLastErrorErrno, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getLastDisconnectedServer, arginfo_class_Tavola_Memcached_getLastDisconnectedServer, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getStats, arginfo_class_Tavola_Memcached_getStats, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getVersion, arginfo_class_Tavola_Memcached_getVersion, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getAllKeys, arginfo_class_Tavola_Memcached_getAllKeys, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, flush, arginfo_class_Tavola_Memcached_flush, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, getOption, arginfo_class_Tavola_Memcached_getOption, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setOption, arginfo_class_Tavola_Memcached_setOption, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setOptions, arginfo_class_Tavola_Memcached_setOptions, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setBucket, arginfo_class_Tavola_Memcached_setBucket, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setSaslAuthData, arginfo_class_Tavola_Memcached_setSaslAuthData, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, setEncodingKey, arginfo_class_Tavola_Memcached_setEncodingKey, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, isPersistent, arginfo_class_Tavola_Memcached_isPersistent, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, isPristine, arginfo_class_Tavola_Memcached_isPristine, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Memcached, checkKey, arginfo_class_Tavola_Memcached_checkKey, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Tavola_Memcached(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Memcached", class_Tavola_Memcached_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NOT_SERIALIZABLE;

	zval const_LIBMEMCACHED_VERSION_HEX_value;
	ZVAL_LONG(&const_LIBMEMCACHED_VERSION_HEX_value, 16777240);
	zend_string *const_LIBMEMCACHED_VERSION_HEX_name = zend_string_init_interned("LIBMEMCACHED_VERSION_HEX", sizeof("LIBMEMCACHED_VERSION_HEX") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_LIBMEMCACHED_VERSION_HEX_name, &const_LIBMEMCACHED_VERSION_HEX_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_LIBMEMCACHED_VERSION_HEX_name);

	zval const_OPT_COMPRESSION_value;
	ZVAL_LONG(&const_OPT_COMPRESSION_value, -1001);
	zend_string *const_OPT_COMPRESSION_name = zend_string_init_interned("OPT_COMPRESSION", sizeof("OPT_COMPRESSION") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_COMPRESSION_name, &const_OPT_COMPRESSION_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_COMPRESSION_name);

	zval const_OPT_COMPRESSION_TYPE_value;
	ZVAL_LONG(&const_OPT_COMPRESSION_TYPE_value, -1004);
	zend_string *const_OPT_COMPRESSION_TYPE_name = zend_string_init_interned("OPT_COMPRESSION_TYPE", sizeof("OPT_COMPRESSION_TYPE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_COMPRESSION_TYPE_name, &const_OPT_COMPRESSION_TYPE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_COMPRESSION_TYPE_name);

	zval const_OPT_PREFIX_KEY_value;
	ZVAL_LONG(&const_OPT_PREFIX_KEY_value, -1002);
	zend_string *const_OPT_PREFIX_KEY_name = zend_string_init_interned("OPT_PREFIX_KEY", sizeof("OPT_PREFIX_KEY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_PREFIX_KEY_name, &const_OPT_PREFIX_KEY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_PREFIX_KEY_name);

	zval const_OPT_SERIALIZER_value;
	ZVAL_LONG(&const_OPT_SERIALIZER_value, -1003);
	zend_string *const_OPT_SERIALIZER_name = zend_string_init_interned("OPT_SERIALIZER", sizeof("OPT_SERIALIZER") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SERIALIZER_name, &const_OPT_SERIALIZER_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SERIALIZER_name);

	zval const_OPT_USER_FLAGS_value;
	ZVAL_LONG(&const_OPT_USER_FLAGS_value, -1006);
	zend_string *const_OPT_USER_FLAGS_name = zend_string_init_interned("OPT_USER_FLAGS", sizeof("OPT_USER_FLAGS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_USER_FLAGS_name, &const_OPT_USER_FLAGS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_USER_FLAGS_name);

	zval const_OPT_STORE_RETRY_COUNT_value;
	ZVAL_LONG(&const_OPT_STORE_RETRY_COUNT_value, -1005);
	zend_string *const_OPT_STORE_RETRY_COUNT_name = zend_string_init_interned("OPT_STORE_RETRY_COUNT", sizeof("OPT_STORE_RETRY_COUNT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_STORE_RETRY_COUNT_name, &const_OPT_STORE_RETRY_COUNT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_STORE_RETRY_COUNT_name);

	zval const_OPT_HASH_value;
	ZVAL_LONG(&const_OPT_HASH_value, 2);
	zend_string *const_OPT_HASH_name = zend_string_init_interned("OPT_HASH", sizeof("OPT_HASH") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_HASH_name, &const_OPT_HASH_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_HASH_name);

	zval const_HASH_DEFAULT_value;
	ZVAL_LONG(&const_HASH_DEFAULT_value, 0);
	zend_string *const_HASH_DEFAULT_name = zend_string_init_interned("HASH_DEFAULT", sizeof("HASH_DEFAULT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_DEFAULT_name, &const_HASH_DEFAULT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_DEFAULT_name);

	zval const_HASH_MD5_value;
	ZVAL_LONG(&const_HASH_MD5_value, 1);
	zend_string *const_HASH_MD5_name = zend_string_init_interned("HASH_MD5", sizeof("HASH_MD5") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_MD5_name, &const_HASH_MD5_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_MD5_name);

	zval const_HASH_CRC_value;
	ZVAL_LONG(&const_HASH_CRC_value, 2);
	zend_string *const_HASH_CRC_name = zend_string_init_interned("HASH_CRC", sizeof("HASH_CRC") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_CRC_name, &const_HASH_CRC_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_CRC_name);

	zval const_HASH_FNV1_64_value;
	ZVAL_LONG(&const_HASH_FNV1_64_value, 3);
	zend_string *const_HASH_FNV1_64_name = zend_string_init_interned("HASH_FNV1_64", sizeof("HASH_FNV1_64") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_FNV1_64_name, &const_HASH_FNV1_64_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_FNV1_64_name);

	zval const_HASH_FNV1A_64_value;
	ZVAL_LONG(&const_HASH_FNV1A_64_value, 4);
	zend_string *const_HASH_FNV1A_64_name = zend_string_init_interned("HASH_FNV1A_64", sizeof("HASH_FNV1A_64") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_FNV1A_64_name, &const_HASH_FNV1A_64_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_FNV1A_64_name);

	zval const_HASH_FNV1_32_value;
	ZVAL_LONG(&const_HASH_FNV1_32_value, 5);
	zend_string *const_HASH_FNV1_32_name = zend_string_init_interned("HASH_FNV1_32", sizeof("HASH_FNV1_32") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_FNV1_32_name, &const_HASH_FNV1_32_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_FNV1_32_name);

	zval const_HASH_FNV1A_32_value;
	ZVAL_LONG(&const_HASH_FNV1A_32_value, 6);
	zend_string *const_HASH_FNV1A_32_name = zend_string_init_interned("HASH_FNV1A_32", sizeof("HASH_FNV1A_32") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_FNV1A_32_name, &const_HASH_FNV1A_32_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_FNV1A_32_name);

	zval const_HASH_HSIEH_value;
	ZVAL_LONG(&const_HASH_HSIEH_value, 7);
	zend_string *const_HASH_HSIEH_name = zend_string_init_interned("HASH_HSIEH", sizeof("HASH_HSIEH") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_HSIEH_name, &const_HASH_HSIEH_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_HSIEH_name);

	zval const_HASH_MURMUR_value;
	ZVAL_LONG(&const_HASH_MURMUR_value, 8);
	zend_string *const_HASH_MURMUR_name = zend_string_init_interned("HASH_MURMUR", sizeof("HASH_MURMUR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_HASH_MURMUR_name, &const_HASH_MURMUR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_HASH_MURMUR_name);

	zval const_OPT_DISTRIBUTION_value;
	ZVAL_LONG(&const_OPT_DISTRIBUTION_value, 9);
	zend_string *const_OPT_DISTRIBUTION_name = zend_string_init_interned("OPT_DISTRIBUTION", sizeof("OPT_DISTRIBUTION") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_DISTRIBUTION_name, &const_OPT_DISTRIBUTION_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_DISTRIBUTION_name);

	zval const_DISTRIBUTION_MODULA_value;
	ZVAL_LONG(&const_DISTRIBUTION_MODULA_value, 0);
	zend_string *const_DISTRIBUTION_MODULA_name = zend_string_init_interned("DISTRIBUTION_MODULA", sizeof("DISTRIBUTION_MODULA") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_DISTRIBUTION_MODULA_name, &const_DISTRIBUTION_MODULA_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_DISTRIBUTION_MODULA_name);

	zval const_DISTRIBUTION_CONSISTENT_value;
	ZVAL_LONG(&const_DISTRIBUTION_CONSISTENT_value, 1);
	zend_string *const_DISTRIBUTION_CONSISTENT_name = zend_string_init_interned("DISTRIBUTION_CONSISTENT", sizeof("DISTRIBUTION_CONSISTENT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_DISTRIBUTION_CONSISTENT_name, &const_DISTRIBUTION_CONSISTENT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_DISTRIBUTION_CONSISTENT_name);

	zval const_DISTRIBUTION_VIRTUAL_BUCKET_value;
	ZVAL_LONG(&const_DISTRIBUTION_VIRTUAL_BUCKET_value, 6);
	zend_string *const_DISTRIBUTION_VIRTUAL_BUCKET_name = zend_string_init_interned("DISTRIBUTION_VIRTUAL_BUCKET", sizeof("DISTRIBUTION_VIRTUAL_BUCKET") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_DISTRIBUTION_VIRTUAL_BUCKET_name, &const_DISTRIBUTION_VIRTUAL_BUCKET_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_DISTRIBUTION_VIRTUAL_BUCKET_name);

	zval const_OPT_LIBKETAMA_COMPATIBLE_value;
	ZVAL_LONG(&const_OPT_LIBKETAMA_COMPATIBLE_value, 16);
	zend_string *const_OPT_LIBKETAMA_COMPATIBLE_name = zend_string_init_interned("OPT_LIBKETAMA_COMPATIBLE", sizeof("OPT_LIBKETAMA_COMPATIBLE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_LIBKETAMA_COMPATIBLE_name, &const_OPT_LIBKETAMA_COMPATIBLE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_LIBKETAMA_COMPATIBLE_name);

	zval const_OPT_LIBKETAMA_HASH_value;
	ZVAL_LONG(&const_OPT_LIBKETAMA_HASH_value, 17);
	zend_string *const_OPT_LIBKETAMA_HASH_name = zend_string_init_interned("OPT_LIBKETAMA_HASH", sizeof("OPT_LIBKETAMA_HASH") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_LIBKETAMA_HASH_name, &const_OPT_LIBKETAMA_HASH_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_LIBKETAMA_HASH_name);

	zval const_OPT_TCP_KEEPALIVE_value;
	ZVAL_LONG(&const_OPT_TCP_KEEPALIVE_value, 32);
	zend_string *const_OPT_TCP_KEEPALIVE_name = zend_string_init_interned("OPT_TCP_KEEPALIVE", sizeof("OPT_TCP_KEEPALIVE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TCP_KEEPALIVE_name, &const_OPT_TCP_KEEPALIVE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TCP_KEEPALIVE_name);

	zval const_OPT_BUFFER_WRITES_value;
	ZVAL_LONG(&const_OPT_BUFFER_WRITES_value, 10);
	zend_string *const_OPT_BUFFER_WRITES_name = zend_string_init_interned("OPT_BUFFER_WRITES", sizeof("OPT_BUFFER_WRITES") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_BUFFER_WRITES_name, &const_OPT_BUFFER_WRITES_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_BUFFER_WRITES_name);

	zval const_OPT_BINARY_PROTOCOL_value;
	ZVAL_LONG(&const_OPT_BINARY_PROTOCOL_value, 18);
	zend_string *const_OPT_BINARY_PROTOCOL_name = zend_string_init_interned("OPT_BINARY_PROTOCOL", sizeof("OPT_BINARY_PROTOCOL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_BINARY_PROTOCOL_name, &const_OPT_BINARY_PROTOCOL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_BINARY_PROTOCOL_name);

	zval const_OPT_NO_BLOCK_value;
	ZVAL_LONG(&const_OPT_NO_BLOCK_value, 0);
	zend_string *const_OPT_NO_BLOCK_name = zend_string_init_interned("OPT_NO_BLOCK", sizeof("OPT_NO_BLOCK") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_NO_BLOCK_name, &const_OPT_NO_BLOCK_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_NO_BLOCK_name);

	zval const_OPT_TCP_NODELAY_value;
	ZVAL_LONG(&const_OPT_TCP_NODELAY_value, 1);
	zend_string *const_OPT_TCP_NODELAY_name = zend_string_init_interned("OPT_TCP_NODELAY", sizeof("OPT_TCP_NODELAY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TCP_NODELAY_name, &const_OPT_TCP_NODELAY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TCP_NODELAY_name);

	zval const_OPT_SOCKET_SEND_SIZE_value;
	ZVAL_LONG(&const_OPT_SOCKET_SEND_SIZE_value, 4);
	zend_string *const_OPT_SOCKET_SEND_SIZE_name = zend_string_init_interned("OPT_SOCKET_SEND_SIZE", sizeof("OPT_SOCKET_SEND_SIZE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SOCKET_SEND_SIZE_name, &const_OPT_SOCKET_SEND_SIZE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SOCKET_SEND_SIZE_name);

	zval const_OPT_SOCKET_RECV_SIZE_value;
	ZVAL_LONG(&const_OPT_SOCKET_RECV_SIZE_value, 5);
	zend_string *const_OPT_SOCKET_RECV_SIZE_name = zend_string_init_interned("OPT_SOCKET_RECV_SIZE", sizeof("OPT_SOCKET_RECV_SIZE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SOCKET_RECV_SIZE_name, &const_OPT_SOCKET_RECV_SIZE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SOCKET_RECV_SIZE_name);

	zval const_OPT_CONNECT_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_CONNECT_TIMEOUT_value, 14);
	zend_string *const_OPT_CONNECT_TIMEOUT_name = zend_string_init_interned("OPT_CONNECT_TIMEOUT", sizeof("OPT_CONNECT_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_CONNECT_TIMEOUT_name, &const_OPT_CONNECT_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_CONNECT_TIMEOUT_name);

	zval const_OPT_RETRY_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_RETRY_TIMEOUT_value, 15);
	zend_string *const_OPT_RETRY_TIMEOUT_name = zend_string_init_interned("OPT_RETRY_TIMEOUT", sizeof("OPT_RETRY_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_RETRY_TIMEOUT_name, &const_OPT_RETRY_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_RETRY_TIMEOUT_name);

	zval const_OPT_DEAD_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_DEAD_TIMEOUT_value, 36);
	zend_string *const_OPT_DEAD_TIMEOUT_name = zend_string_init_interned("OPT_DEAD_TIMEOUT", sizeof("OPT_DEAD_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_DEAD_TIMEOUT_name, &const_OPT_DEAD_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_DEAD_TIMEOUT_name);

	zval const_OPT_SEND_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_SEND_TIMEOUT_value, 19);
	zend_string *const_OPT_SEND_TIMEOUT_name = zend_string_init_interned("OPT_SEND_TIMEOUT", sizeof("OPT_SEND_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SEND_TIMEOUT_name, &const_OPT_SEND_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SEND_TIMEOUT_name);

	zval const_OPT_RECV_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_RECV_TIMEOUT_value, 20);
	zend_string *const_OPT_RECV_TIMEOUT_name = zend_string_init_interned("OPT_RECV_TIMEOUT", sizeof("OPT_RECV_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_RECV_TIMEOUT_name, &const_OPT_RECV_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_RECV_TIMEOUT_name);

	zval const_OPT_POLL_TIMEOUT_value;
	ZVAL_LONG(&const_OPT_POLL_TIMEOUT_value, 8);
	zend_string *const_OPT_POLL_TIMEOUT_name = zend_string_init_interned("OPT_POLL_TIMEOUT", sizeof("OPT_POLL_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_POLL_TIMEOUT_name, &const_OPT_POLL_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_POLL_TIMEOUT_name);

	zval const_OPT_CACHE_LOOKUPS_value;
	ZVAL_LONG(&const_OPT_CACHE_LOOKUPS_value, 6);
	zend_string *const_OPT_CACHE_LOOKUPS_name = zend_string_init_interned("OPT_CACHE_LOOKUPS", sizeof("OPT_CACHE_LOOKUPS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_CACHE_LOOKUPS_name, &const_OPT_CACHE_LOOKUPS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_CACHE_LOOKUPS_name);

	zval const_OPT_SERVER_FAILURE_LIMIT_value;
	ZVAL_LONG(&const_OPT_SERVER_FAILURE_LIMIT_value, 21);
	zend_string *const_OPT_SERVER_FAILURE_LIMIT_name = zend_string_init_interned("OPT_SERVER_FAILURE_LIMIT", sizeof("OPT_SERVER_FAILURE_LIMIT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SERVER_FAILURE_LIMIT_name, &const_OPT_SERVER_FAILURE_LIMIT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SERVER_FAILURE_LIMIT_name);

	zval const_OPT_AUTO_EJECT_HOSTS_value;
	ZVAL_LONG(&const_OPT_AUTO_EJECT_HOSTS_value, 28);
	zend_string *const_OPT_AUTO_EJECT_HOSTS_name = zend_string_init_interned("OPT_AUTO_EJECT_HOSTS", sizeof("OPT_AUTO_EJECT_HOSTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_AUTO_EJECT_HOSTS_name, &const_OPT_AUTO_EJECT_HOSTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_AUTO_EJECT_HOSTS_name);

	zval const_OPT_HASH_WITH_PREFIX_KEY_value;
	ZVAL_LONG(&const_OPT_HASH_WITH_PREFIX_KEY_value, 25);
	zend_string *const_OPT_HASH_WITH_PREFIX_KEY_name = zend_string_init_interned("OPT_HASH_WITH_PREFIX_KEY", sizeof("OPT_HASH_WITH_PREFIX_KEY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_HASH_WITH_PREFIX_KEY_name, &const_OPT_HASH_WITH_PREFIX_KEY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_HASH_WITH_PREFIX_KEY_name);

	zval const_OPT_NOREPLY_value;
	ZVAL_LONG(&const_OPT_NOREPLY_value, 26);
	zend_string *const_OPT_NOREPLY_name = zend_string_init_interned("OPT_NOREPLY", sizeof("OPT_NOREPLY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_NOREPLY_name, &const_OPT_NOREPLY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_NOREPLY_name);

	zval const_OPT_SORT_HOSTS_value;
	ZVAL_LONG(&const_OPT_SORT_HOSTS_value, 12);
	zend_string *const_OPT_SORT_HOSTS_name = zend_string_init_interned("OPT_SORT_HOSTS", sizeof("OPT_SORT_HOSTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SORT_HOSTS_name, &const_OPT_SORT_HOSTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SORT_HOSTS_name);

	zval const_OPT_VERIFY_KEY_value;
	ZVAL_LONG(&const_OPT_VERIFY_KEY_value, 13);
	zend_string *const_OPT_VERIFY_KEY_name = zend_string_init_interned("OPT_VERIFY_KEY", sizeof("OPT_VERIFY_KEY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_VERIFY_KEY_name, &const_OPT_VERIFY_KEY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_VERIFY_KEY_name);

	zval const_OPT_USE_UDP_value;
	ZVAL_LONG(&const_OPT_USE_UDP_value, 27);
	zend_string *const_OPT_USE_UDP_name = zend_string_init_interned("OPT_USE_UDP", sizeof("OPT_USE_UDP") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_USE_UDP_name, &const_OPT_USE_UDP_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_USE_UDP_name);

	zval const_OPT_NUMBER_OF_REPLICAS_value;
	ZVAL_LONG(&const_OPT_NUMBER_OF_REPLICAS_value, 29);
	zend_string *const_OPT_NUMBER_OF_REPLICAS_name = zend_string_init_interned("OPT_NUMBER_OF_REPLICAS", sizeof("OPT_NUMBER_OF_REPLICAS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_NUMBER_OF_REPLICAS_name, &const_OPT_NUMBER_OF_REPLICAS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_NUMBER_OF_REPLICAS_name);

	zval const_OPT_RANDOMIZE_REPLICA_READ_value;
	ZVAL_LONG(&const_OPT_RANDOMIZE_REPLICA_READ_value, 30);
	zend_string *const_OPT_RANDOMIZE_REPLICA_READ_name = zend_string_init_interned("OPT_RANDOMIZE_REPLICA_READ", sizeof("OPT_RANDOMIZE_REPLICA_READ") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_RANDOMIZE_REPLICA_READ_name, &const_OPT_RANDOMIZE_REPLICA_READ_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_RANDOMIZE_REPLICA_READ_name);

	zval const_OPT_REMOVE_FAILED_SERVERS_value;
	ZVAL_LONG(&const_OPT_REMOVE_FAILED_SERVERS_value, 35);
	zend_string *const_OPT_REMOVE_FAILED_SERVERS_name = zend_string_init_interned("OPT_REMOVE_FAILED_SERVERS", sizeof("OPT_REMOVE_FAILED_SERVERS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_REMOVE_FAILED_SERVERS_name, &const_OPT_REMOVE_FAILED_SERVERS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_REMOVE_FAILED_SERVERS_name);

	zval const_OPT_SERVER_TIMEOUT_LIMIT_value;
	ZVAL_LONG(&const_OPT_SERVER_TIMEOUT_LIMIT_value, 37);
	zend_string *const_OPT_SERVER_TIMEOUT_LIMIT_name = zend_string_init_interned("OPT_SERVER_TIMEOUT_LIMIT", sizeof("OPT_SERVER_TIMEOUT_LIMIT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_SERVER_TIMEOUT_LIMIT_name, &const_OPT_SERVER_TIMEOUT_LIMIT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_SERVER_TIMEOUT_LIMIT_name);

	zval const_RES_SUCCESS_value;
	ZVAL_LONG(&const_RES_SUCCESS_value, 0);
	zend_string *const_RES_SUCCESS_name = zend_string_init_interned("RES_SUCCESS", sizeof("RES_SUCCESS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SUCCESS_name, &const_RES_SUCCESS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SUCCESS_name);

	zval const_RES_FAILURE_value;
	ZVAL_LONG(&const_RES_FAILURE_value, 1);
	zend_string *const_RES_FAILURE_name = zend_string_init_interned("RES_FAILURE", sizeof("RES_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_FAILURE_name, &const_RES_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_FAILURE_name);

	zval const_RES_HOST_LOOKUP_FAILURE_value;
	ZVAL_LONG(&const_RES_HOST_LOOKUP_FAILURE_value, 2);
	zend_string *const_RES_HOST_LOOKUP_FAILURE_name = zend_string_init_interned("RES_HOST_LOOKUP_FAILURE", sizeof("RES_HOST_LOOKUP_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_HOST_LOOKUP_FAILURE_name, &const_RES_HOST_LOOKUP_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_HOST_LOOKUP_FAILURE_name);

	zval const_RES_CONNECTION_FAILURE_value;
	ZVAL_LONG(&const_RES_CONNECTION_FAILURE_value, 3);
	zend_string *const_RES_CONNECTION_FAILURE_name = zend_string_init_interned("RES_CONNECTION_FAILURE", sizeof("RES_CONNECTION_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_CONNECTION_FAILURE_name, &const_RES_CONNECTION_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_CONNECTION_FAILURE_name);

	zval const_RES_CONNECTION_BIND_FAILURE_value;
	ZVAL_LONG(&const_RES_CONNECTION_BIND_FAILURE_value, 4);
	zend_string *const_RES_CONNECTION_BIND_FAILURE_name = zend_string_init_interned("RES_CONNECTION_BIND_FAILURE", sizeof("RES_CONNECTION_BIND_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_CONNECTION_BIND_FAILURE_name, &const_RES_CONNECTION_BIND_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_CONNECTION_BIND_FAILURE_name);

	zval const_RES_WRITE_FAILURE_value;
	ZVAL_LONG(&const_RES_WRITE_FAILURE_value, 5);
	zend_string *const_RES_WRITE_FAILURE_name = zend_string_init_interned("RES_WRITE_FAILURE", sizeof("RES_WRITE_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_WRITE_FAILURE_name, &const_RES_WRITE_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_WRITE_FAILURE_name);

	zval const_RES_READ_FAILURE_value;
	ZVAL_LONG(&const_RES_READ_FAILURE_value, 6);
	zend_string *const_RES_READ_FAILURE_name = zend_string_init_interned("RES_READ_FAILURE", sizeof("RES_READ_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_READ_FAILURE_name, &const_RES_READ_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_READ_FAILURE_name);

	zval const_RES_UNKNOWN_READ_FAILURE_value;
	ZVAL_LONG(&const_RES_UNKNOWN_READ_FAILURE_value, 7);
	zend_string *const_RES_UNKNOWN_READ_FAILURE_name = zend_string_init_interned("RES_UNKNOWN_READ_FAILURE", sizeof("RES_UNKNOWN_READ_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_UNKNOWN_READ_FAILURE_name, &const_RES_UNKNOWN_READ_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_UNKNOWN_READ_FAILURE_name);

	zval const_RES_PROTOCOL_ERROR_value;
	ZVAL_LONG(&const_RES_PROTOCOL_ERROR_value, 8);
	zend_string *const_RES_PROTOCOL_ERROR_name = zend_string_init_interned("RES_PROTOCOL_ERROR", sizeof("RES_PROTOCOL_ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_PROTOCOL_ERROR_name, &const_RES_PROTOCOL_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_PROTOCOL_ERROR_name);

	zval const_RES_CLIENT_ERROR_value;
	ZVAL_LONG(&const_RES_CLIENT_ERROR_value, 9);
	zend_string *const_RES_CLIENT_ERROR_name = zend_string_init_interned("RES_CLIENT_ERROR", sizeof("RES_CLIENT_ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_CLIENT_ERROR_name, &const_RES_CLIENT_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_CLIENT_ERROR_name);

	zval const_RES_SERVER_ERROR_value;
	ZVAL_LONG(&const_RES_SERVER_ERROR_value, 10);
	zend_string *const_RES_SERVER_ERROR_name = zend_string_init_interned("RES_SERVER_ERROR", sizeof("RES_SERVER_ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SERVER_ERROR_name, &const_RES_SERVER_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SERVER_ERROR_name);

	zval const_RES_DATA_EXISTS_value;
	ZVAL_LONG(&const_RES_DATA_EXISTS_value, 12);
	zend_string *const_RES_DATA_EXISTS_name = zend_string_init_interned("RES_DATA_EXISTS", sizeof("RES_DATA_EXISTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_DATA_EXISTS_name, &const_RES_DATA_EXISTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_DATA_EXISTS_name);

	zval const_RES_DATA_DOES_NOT_EXIST_value;
	ZVAL_LONG(&const_RES_DATA_DOES_NOT_EXIST_value, 13);
	zend_string *const_RES_DATA_DOES_NOT_EXIST_name = zend_string_init_interned("RES_DATA_DOES_NOT_EXIST", sizeof("RES_DATA_DOES_NOT_EXIST") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_DATA_DOES_NOT_EXIST_name, &const_RES_DATA_DOES_NOT_EXIST_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_DATA_DOES_NOT_EXIST_name);

	zval const_RES_NOTSTORED_value;
	ZVAL_LONG(&const_RES_NOTSTORED_value, 14);
	zend_string *const_RES_NOTSTORED_name = zend_string_init_interned("RES_NOTSTORED", sizeof("RES_NOTSTORED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_NOTSTORED_name, &const_RES_NOTSTORED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_NOTSTORED_name);

	zval const_RES_STORED_value;
	ZVAL_LONG(&const_RES_STORED_value, 15);
	zend_string *const_RES_STORED_name = zend_string_init_interned("RES_STORED", sizeof("RES_STORED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_STORED_name, &const_RES_STORED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_STORED_name);

	zval const_RES_NOTFOUND_value;
	ZVAL_LONG(&const_RES_NOTFOUND_value, 16);
	zend_string *const_RES_NOTFOUND_name = zend_string_init_interned("RES_NOTFOUND", sizeof("RES_NOTFOUND") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_NOTFOUND_name, &const_RES_NOTFOUND_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_NOTFOUND_name);

	zval const_RES_PARTIAL_READ_value;
	ZVAL_LONG(&const_RES_PARTIAL_READ_value, 18);
	zend_string *const_RES_PARTIAL_READ_name = zend_string_init_interned("RES_PARTIAL_READ", sizeof("RES_PARTIAL_READ") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_PARTIAL_READ_name, &const_RES_PARTIAL_READ_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_PARTIAL_READ_name);

	zval const_RES_SOME_ERRORS_value;
	ZVAL_LONG(&const_RES_SOME_ERRORS_value, 19);
	zend_string *const_RES_SOME_ERRORS_name = zend_string_init_interned("RES_SOME_ERRORS", sizeof("RES_SOME_ERRORS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SOME_ERRORS_name, &const_RES_SOME_ERRORS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SOME_ERRORS_name);

	zval const_RES_NO_SERVERS_value;
	ZVAL_LONG(&const_RES_NO_SERVERS_value, 20);
	zend_string *const_RES_NO_SERVERS_name = zend_string_init_interned("RES_NO_SERVERS", sizeof("RES_NO_SERVERS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_NO_SERVERS_name, &const_RES_NO_SERVERS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_NO_SERVERS_name);

	zval const_RES_END_value;
	ZVAL_LONG(&const_RES_END_value, 21);
	zend_string *const_RES_END_name = zend_string_init_interned("RES_END", sizeof("RES_END") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_END_name, &const_RES_END_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_END_name);

	zval const_RES_DELETED_value;
	ZVAL_LONG(&const_RES_DELETED_value, 22);
	zend_string *const_RES_DELETED_name = zend_string_init_interned("RES_DELETED", sizeof("RES_DELETED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_DELETED_name, &const_RES_DELETED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_DELETED_name);

	zval const_RES_VALUE_value;
	ZVAL_LONG(&const_RES_VALUE_value, 23);
	zend_string *const_RES_VALUE_name = zend_string_init_interned("RES_VALUE", sizeof("RES_VALUE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_VALUE_name, &const_RES_VALUE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_VALUE_name);

	zval const_RES_STAT_value;
	ZVAL_LONG(&const_RES_STAT_value, 24);
	zend_string *const_RES_STAT_name = zend_string_init_interned("RES_STAT", sizeof("RES_STAT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_STAT_name, &const_RES_STAT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_STAT_name);

	zval const_RES_ITEM_value;
	ZVAL_LONG(&const_RES_ITEM_value, 25);
	zend_string *const_RES_ITEM_name = zend_string_init_interned("RES_ITEM", sizeof("RES_ITEM") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_ITEM_name, &const_RES_ITEM_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_ITEM_name);

	zval const_RES_ERRNO_value;
	ZVAL_LONG(&const_RES_ERRNO_value, 26);
	zend_string *const_RES_ERRNO_name = zend_string_init_interned("RES_ERRNO", sizeof("RES_ERRNO") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_ERRNO_name, &const_RES_ERRNO_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_ERRNO_name);

	zval const_RES_FAIL_UNIX_SOCKET_value;
	ZVAL_LONG(&const_RES_FAIL_UNIX_SOCKET_value, 27);
	zend_string *const_RES_FAIL_UNIX_SOCKET_name = zend_string_init_interned("RES_FAIL_UNIX_SOCKET", sizeof("RES_FAIL_UNIX_SOCKET") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_FAIL_UNIX_SOCKET_name, &const_RES_FAIL_UNIX_SOCKET_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_FAIL_UNIX_SOCKET_name);

	zval const_RES_NOT_SUPPORTED_value;
	ZVAL_LONG(&const_RES_NOT_SUPPORTED_value, 28);
	zend_string *const_RES_NOT_SUPPORTED_name = zend_string_init_interned("RES_NOT_SUPPORTED", sizeof("RES_NOT_SUPPORTED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_NOT_SUPPORTED_name, &const_RES_NOT_SUPPORTED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_NOT_SUPPORTED_name);

	zval const_RES_NO_KEY_PROVIDED_value;
	ZVAL_LONG(&const_RES_NO_KEY_PROVIDED_value, 29);
	zend_string *const_RES_NO_KEY_PROVIDED_name = zend_string_init_interned("RES_NO_KEY_PROVIDED", sizeof("RES_NO_KEY_PROVIDED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_NO_KEY_PROVIDED_name, &const_RES_NO_KEY_PROVIDED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_NO_KEY_PROVIDED_name);

	zval const_RES_FETCH_NOTFINISHED_value;
	ZVAL_LONG(&const_RES_FETCH_NOTFINISHED_value, 30);
	zend_string *const_RES_FETCH_NOTFINISHED_name = zend_string_init_interned("RES_FETCH_NOTFINISHED", sizeof("RES_FETCH_NOTFINISHED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_FETCH_NOTFINISHED_name, &const_RES_FETCH_NOTFINISHED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_FETCH_NOTFINISHED_name);

	zval const_RES_TIMEOUT_value;
	ZVAL_LONG(&const_RES_TIMEOUT_value, 31);
	zend_string *const_RES_TIMEOUT_name = zend_string_init_interned("RES_TIMEOUT", sizeof("RES_TIMEOUT") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_TIMEOUT_name, &const_RES_TIMEOUT_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_TIMEOUT_name);

	zval const_RES_BUFFERED_value;
	ZVAL_LONG(&const_RES_BUFFERED_value, 32);
	zend_string *const_RES_BUFFERED_name = zend_string_init_interned("RES_BUFFERED", sizeof("RES_BUFFERED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_BUFFERED_name, &const_RES_BUFFERED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_BUFFERED_name);

	zval const_RES_BAD_KEY_PROVIDED_value;
	ZVAL_LONG(&const_RES_BAD_KEY_PROVIDED_value, 33);
	zend_string *const_RES_BAD_KEY_PROVIDED_name = zend_string_init_interned("RES_BAD_KEY_PROVIDED", sizeof("RES_BAD_KEY_PROVIDED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_BAD_KEY_PROVIDED_name, &const_RES_BAD_KEY_PROVIDED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_BAD_KEY_PROVIDED_name);

	zval const_RES_INVALID_HOST_PROTOCOL_value;
	ZVAL_LONG(&const_RES_INVALID_HOST_PROTOCOL_value, 34);
	zend_string *const_RES_INVALID_HOST_PROTOCOL_name = zend_string_init_interned("RES_INVALID_HOST_PROTOCOL", sizeof("RES_INVALID_HOST_PROTOCOL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_INVALID_HOST_PROTOCOL_name, &const_RES_INVALID_HOST_PROTOCOL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_INVALID_HOST_PROTOCOL_name);

	zval const_RES_SERVER_MARKED_DEAD_value;
	ZVAL_LONG(&const_RES_SERVER_MARKED_DEAD_value, 35);
	zend_string *const_RES_SERVER_MARKED_DEAD_name = zend_string_init_interned("RES_SERVER_MARKED_DEAD", sizeof("RES_SERVER_MARKED_DEAD") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SERVER_MARKED_DEAD_name, &const_RES_SERVER_MARKED_DEAD_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SERVER_MARKED_DEAD_name);

	zval const_RES_UNKNOWN_STAT_KEY_value;
	ZVAL_LONG(&const_RES_UNKNOWN_STAT_KEY_value, 36);
	zend_string *const_RES_UNKNOWN_STAT_KEY_name = zend_string_init_interned("RES_UNKNOWN_STAT_KEY", sizeof("RES_UNKNOWN_STAT_KEY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_UNKNOWN_STAT_KEY_name, &const_RES_UNKNOWN_STAT_KEY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_UNKNOWN_STAT_KEY_name);

	zval const_RES_INVALID_ARGUMENTS_value;
	ZVAL_LONG(&const_RES_INVALID_ARGUMENTS_value, 38);
	zend_string *const_RES_INVALID_ARGUMENTS_name = zend_string_init_interned("RES_INVALID_ARGUMENTS", sizeof("RES_INVALID_ARGUMENTS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_INVALID_ARGUMENTS_name, &const_RES_INVALID_ARGUMENTS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_INVALID_ARGUMENTS_name);

	zval const_RES_PARSE_ERROR_value;
	ZVAL_LONG(&const_RES_PARSE_ERROR_value, 43);
	zend_string *const_RES_PARSE_ERROR_name = zend_string_init_interned("RES_PARSE_ERROR", sizeof("RES_PARSE_ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_PARSE_ERROR_name, &const_RES_PARSE_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_PARSE_ERROR_name);

	zval const_RES_PARSE_USER_ERROR_value;
	ZVAL_LONG(&const_RES_PARSE_USER_ERROR_value, 44);
	zend_string *const_RES_PARSE_USER_ERROR_name = zend_string_init_interned("RES_PARSE_USER_ERROR", sizeof("RES_PARSE_USER_ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_PARSE_USER_ERROR_name, &const_RES_PARSE_USER_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_PARSE_USER_ERROR_name);

	zval const_RES_DEPRECATED_value;
	ZVAL_LONG(&const_RES_DEPRECATED_value, 45);
	zend_string *const_RES_DEPRECATED_name = zend_string_init_interned("RES_DEPRECATED", sizeof("RES_DEPRECATED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_DEPRECATED_name, &const_RES_DEPRECATED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_DEPRECATED_name);

	zval const_RES_IN_PROGRESS_value;
	ZVAL_LONG(&const_RES_IN_PROGRESS_value, 46);
	zend_string *const_RES_IN_PROGRESS_name = zend_string_init_interned("RES_IN_PROGRESS", sizeof("RES_IN_PROGRESS") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_IN_PROGRESS_name, &const_RES_IN_PROGRESS_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_IN_PROGRESS_name);

	zval const_RES_MAXIMUM_RETURN_value;
	ZVAL_LONG(&const_RES_MAXIMUM_RETURN_value, 49);
	zend_string *const_RES_MAXIMUM_RETURN_name = zend_string_init_interned("RES_MAXIMUM_RETURN", sizeof("RES_MAXIMUM_RETURN") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_MAXIMUM_RETURN_name, &const_RES_MAXIMUM_RETURN_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_MAXIMUM_RETURN_name);

	zval const_RES_MEMORY_ALLOCATION_FAILURE_value;
	ZVAL_LONG(&const_RES_MEMORY_ALLOCATION_FAILURE_value, 17);
	zend_string *const_RES_MEMORY_ALLOCATION_FAILURE_name = zend_string_init_interned("RES_MEMORY_ALLOCATION_FAILURE", sizeof("RES_MEMORY_ALLOCATION_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_MEMORY_ALLOCATION_FAILURE_name, &const_RES_MEMORY_ALLOCATION_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_MEMORY_ALLOCATION_FAILURE_name);

	zval const_RES_CONNECTION_SOCKET_CREATE_FAILURE_value;
	ZVAL_LONG(&const_RES_CONNECTION_SOCKET_CREATE_FAILURE_value, 11);
	zend_string *const_RES_CONNECTION_SOCKET_CREATE_FAILURE_name = zend_string_init_interned("RES_CONNECTION_SOCKET_CREATE_FAILURE", sizeof("RES_CONNECTION_SOCKET_CREATE_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_CONNECTION_SOCKET_CREATE_FAILURE_name, &const_RES_CONNECTION_SOCKET_CREATE_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_CONNECTION_SOCKET_CREATE_FAILURE_name);

	zval const_RES_E2BIG_value;
	ZVAL_LONG(&const_RES_E2BIG_value, 37);
	zend_string *const_RES_E2BIG_name = zend_string_init_interned("RES_E2BIG", sizeof("RES_E2BIG") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_E2BIG_name, &const_RES_E2BIG_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_E2BIG_name);

	zval const_RES_KEY_TOO_BIG_value;
	ZVAL_LONG(&const_RES_KEY_TOO_BIG_value, 39);
	zend_string *const_RES_KEY_TOO_BIG_name = zend_string_init_interned("RES_KEY_TOO_BIG", sizeof("RES_KEY_TOO_BIG") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_KEY_TOO_BIG_name, &const_RES_KEY_TOO_BIG_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_KEY_TOO_BIG_name);

	zval const_RES_SERVER_TEMPORARILY_DISABLED_value;
	ZVAL_LONG(&const_RES_SERVER_TEMPORARILY_DISABLED_value, 47);
	zend_string *const_RES_SERVER_TEMPORARILY_DISABLED_name = zend_string_init_interned("RES_SERVER_TEMPORARILY_DISABLED", sizeof("RES_SERVER_TEMPORARILY_DISABLED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SERVER_TEMPORARILY_DISABLED_name, &const_RES_SERVER_TEMPORARILY_DISABLED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SERVER_TEMPORARILY_DISABLED_name);

	zval const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_value;
	ZVAL_LONG(&const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_value, 48);
	zend_string *const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_name = zend_string_init_interned("RES_SERVER_MEMORY_ALLOCATION_FAILURE", sizeof("RES_SERVER_MEMORY_ALLOCATION_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_name, &const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_SERVER_MEMORY_ALLOCATION_FAILURE_name);

	zval const_RES_AUTH_PROBLEM_value;
	ZVAL_LONG(&const_RES_AUTH_PROBLEM_value, 40);
	zend_string *const_RES_AUTH_PROBLEM_name = zend_string_init_interned("RES_AUTH_PROBLEM", sizeof("RES_AUTH_PROBLEM") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_AUTH_PROBLEM_name, &const_RES_AUTH_PROBLEM_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_AUTH_PROBLEM_name);

	zval const_RES_AUTH_FAILURE_value;
	ZVAL_LONG(&const_RES_AUTH_FAILURE_value, 41);
	zend_string *const_RES_AUTH_FAILURE_name = zend_string_init_interned("RES_AUTH_FAILURE", sizeof("RES_AUTH_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_AUTH_FAILURE_name, &const_RES_AUTH_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_AUTH_FAILURE_name);

	zval const_RES_AUTH_CONTINUE_value;
	ZVAL_LONG(&const_RES_AUTH_CONTINUE_value, 42);
	zend_string *const_RES_AUTH_CONTINUE_name = zend_string_init_interned("RES_AUTH_CONTINUE", sizeof("RES_AUTH_CONTINUE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_AUTH_CONTINUE_name, &const_RES_AUTH_CONTINUE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_AUTH_CONTINUE_name);

	zval const_RES_PAYLOAD_FAILURE_value;
	ZVAL_LONG(&const_RES_PAYLOAD_FAILURE_value, -1001);
	zend_string *const_RES_PAYLOAD_FAILURE_name = zend_string_init_interned("RES_PAYLOAD_FAILURE", sizeof("RES_PAYLOAD_FAILURE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_RES_PAYLOAD_FAILURE_name, &const_RES_PAYLOAD_FAILURE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_RES_PAYLOAD_FAILURE_name);

	zval const_SERIALIZER_PHP_value;
	ZVAL_LONG(&const_SERIALIZER_PHP_value, 1);
	zend_string *const_SERIALIZER_PHP_name = zend_string_init_interned("SERIALIZER_PHP", sizeof("SERIALIZER_PHP") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_PHP_name, &const_SERIALIZER_PHP_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_PHP_name);

	zval const_SERIALIZER_IGBINARY_value;
	ZVAL_LONG(&const_SERIALIZER_IGBINARY_value, 2);
	zend_string *const_SERIALIZER_IGBINARY_name = zend_string_init_interned("SERIALIZER_IGBINARY", sizeof("SERIALIZER_IGBINARY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_IGBINARY_name, &const_SERIALIZER_IGBINARY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_IGBINARY_name);

	zval const_SERIALIZER_JSON_value;
	ZVAL_LONG(&const_SERIALIZER_JSON_value, 3);
	zend_string *const_SERIALIZER_JSON_name = zend_string_init_interned("SERIALIZER_JSON", sizeof("SERIALIZER_JSON") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_JSON_name, &const_SERIALIZER_JSON_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_JSON_name);

	zval const_SERIALIZER_JSON_ARRAY_value;
	ZVAL_LONG(&const_SERIALIZER_JSON_ARRAY_value, 4);
	zend_string *const_SERIALIZER_JSON_ARRAY_name = zend_string_init_interned("SERIALIZER_JSON_ARRAY", sizeof("SERIALIZER_JSON_ARRAY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_JSON_ARRAY_name, &const_SERIALIZER_JSON_ARRAY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_JSON_ARRAY_name);

	zval const_SERIALIZER_MSGPACK_value;
	ZVAL_LONG(&const_SERIALIZER_MSGPACK_value, 5);
	zend_string *const_SERIALIZER_MSGPACK_name = zend_string_init_interned("SERIALIZER_MSGPACK", sizeof("SERIALIZER_MSGPACK") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_MSGPACK_name, &const_SERIALIZER_MSGPACK_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_MSGPACK_name);

	zval const_COMPRESSION_FASTLZ_value;
	ZVAL_LONG(&const_COMPRESSION_FASTLZ_value, 2);
	zend_string *const_COMPRESSION_FASTLZ_name = zend_string_init_interned("COMPRESSION_FASTLZ", sizeof("COMPRESSION_FASTLZ") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_COMPRESSION_FASTLZ_name, &const_COMPRESSION_FASTLZ_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_COMPRESSION_FASTLZ_name);

	zval const_COMPRESSION_ZLIB_value;
	ZVAL_LONG(&const_COMPRESSION_ZLIB_value, 1);
	zend_string *const_COMPRESSION_ZLIB_name = zend_string_init_interned("COMPRESSION_ZLIB", sizeof("COMPRESSION_ZLIB") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_COMPRESSION_ZLIB_name, &const_COMPRESSION_ZLIB_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_COMPRESSION_ZLIB_name);

	zval const_GET_PRESERVE_ORDER_value;
	ZVAL_LONG(&const_GET_PRESERVE_ORDER_value, 1);
	zend_string *const_GET_PRESERVE_ORDER_name = zend_string_init_interned("GET_PRESERVE_ORDER", sizeof("GET_PRESERVE_ORDER") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_GET_PRESERVE_ORDER_name, &const_GET_PRESERVE_ORDER_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_GET_PRESERVE_ORDER_name);

	zval const_GET_EXTENDED_value;
	ZVAL_LONG(&const_GET_EXTENDED_value, 2);
	zend_string *const_GET_EXTENDED_name = zend_string_init_interned("GET_EXTENDED", sizeof("GET_EXTENDED") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_GET_EXTENDED_name, &const_GET_EXTENDED_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_GET_EXTENDED_name);

	zval const_GET_ERROR_RETURN_VALUE_value;
	ZVAL_FALSE(&const_GET_ERROR_RETURN_VALUE_value);
	zend_string *const_GET_ERROR_RETURN_VALUE_name = zend_string_init_interned("GET_ERROR_RETURN_VALUE", sizeof("GET_ERROR_RETURN_VALUE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_GET_ERROR_RETURN_VALUE_name, &const_GET_ERROR_RETURN_VALUE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_GET_ERROR_RETURN_VALUE_name);

	zval const_OPT_NEAR_value;
	ZVAL_LONG(&const_OPT_NEAR_value, -2001);
	zend_string *const_OPT_NEAR_name = zend_string_init_interned("OPT_NEAR", sizeof("OPT_NEAR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_NEAR_name, &const_OPT_NEAR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_NEAR_name);

	zval const_OPT_NEAR_TTL_value;
	ZVAL_LONG(&const_OPT_NEAR_TTL_value, -2002);
	zend_string *const_OPT_NEAR_TTL_name = zend_string_init_interned("OPT_NEAR_TTL", sizeof("OPT_NEAR_TTL") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_NEAR_TTL_name, &const_OPT_NEAR_TTL_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_NEAR_TTL_name);

	zval const_OPT_TLS_AUTHORITIES_value;
	ZVAL_LONG(&const_OPT_TLS_AUTHORITIES_value, -2003);
	zend_string *const_OPT_TLS_AUTHORITIES_name = zend_string_init_interned("OPT_TLS_AUTHORITIES", sizeof("OPT_TLS_AUTHORITIES") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TLS_AUTHORITIES_name, &const_OPT_TLS_AUTHORITIES_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TLS_AUTHORITIES_name);

	zval const_OPT_TLS_CERTIFICATE_value;
	ZVAL_LONG(&const_OPT_TLS_CERTIFICATE_value, -2004);
	zend_string *const_OPT_TLS_CERTIFICATE_name = zend_string_init_interned("OPT_TLS_CERTIFICATE", sizeof("OPT_TLS_CERTIFICATE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TLS_CERTIFICATE_name, &const_OPT_TLS_CERTIFICATE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TLS_CERTIFICATE_name);

	zval const_OPT_TLS_KEY_value;
	ZVAL_LONG(&const_OPT_TLS_KEY_value, -2005);
	zend_string *const_OPT_TLS_KEY_name = zend_string_init_interned("OPT_TLS_KEY", sizeof("OPT_TLS_KEY") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TLS_KEY_name, &const_OPT_TLS_KEY_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TLS_KEY_name);

	zval const_OPT_TLS_NAME_value;
	ZVAL_LONG(&const_OPT_TLS_NAME_value, -2006);
	zend_string *const_OPT_TLS_NAME_name = zend_string_init_interned("OPT_TLS_NAME", sizeof("OPT_TLS_NAME") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_OPT_TLS_NAME_name, &const_OPT_TLS_NAME_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_OPT_TLS_NAME_name);

	zval const_SERIALIZER_NONE_value;
	ZVAL_LONG(&const_SERIALIZER_NONE_value, -2007);
	zend_string *const_SERIALIZER_NONE_name = zend_string_init_interned("SERIALIZER_NONE", sizeof("SERIALIZER_NONE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_SERIALIZER_NONE_name, &const_SERIALIZER_NONE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_SERIALIZER_NONE_name);

	return class_entry;
}
