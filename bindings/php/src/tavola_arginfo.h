/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: c762b6ece9b3f44d4df25696d1175eb1fbfa1b19 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Tavola_version, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Exception_getStatus arginfo_Tavola_version

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tavola_Table___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_open, 0, 1, Tavola\\Table, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_create arginfo_class_Tavola_Table_open

#define arginfo_class_Tavola_Table_openExisting arginfo_class_Tavola_Table_open

#define arginfo_class_Tavola_Table_readOnly arginfo_class_Tavola_Table_open

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_private, 0, 0, Tavola\\Table, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_get, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_set, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, tags, Tavola\\Tags, MAY_BE_ARRAY|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_add arginfo_class_Tavola_Table_set

#define arginfo_class_Tavola_Table_replace arginfo_class_Tavola_Table_set

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_append, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_prepend arginfo_class_Tavola_Table_append

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_delete, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_exists arginfo_class_Tavola_Table_delete

#define arginfo_class_Tavola_Table_take arginfo_class_Tavola_Table_get

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_swap, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_inc, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, by, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initial, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_dec arginfo_class_Tavola_Table_inc

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_gets, 0, 1, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_cas, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, token, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_update, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, change, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_entry arginfo_class_Tavola_Table_gets

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_getBytes, 0, 1, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_getRange, 0, 3, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, start, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, most, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_setBytes, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, bytes, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, flags, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, tags, Tavola\\Tags, MAY_BE_ARRAY|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_touch, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_ttl, 0, 1, IS_LONG, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_persist arginfo_class_Tavola_Table_delete

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_getMultiple, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_setMultiple, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, values, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, tags, Tavola\\Tags, MAY_BE_ARRAY|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_deleteMultiple, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_getIterator, 0, 0, Tavola\\TableIterator, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_prefix, 0, 1, Tavola\\TableIterator, 0)
	ZEND_ARG_TYPE_INFO(0, prefix, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_keys, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_deletePrefix, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, prefix, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_tags, 0, 0, Tavola\\Tags, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, names, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_tagsOf arginfo_class_Tavola_Table_gets

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_invalidateTag, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_VARIADIC_TYPE_INFO(0, tags, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_compute, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, compute, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_OBJ_TYPE_MASK(0, tags, Tavola\\Tags, MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, stale, MAY_BE_LONG|MAY_BE_DOUBLE, "0")
	ZEND_ARG_TYPE_MASK(0, lease, MAY_BE_LONG|MAY_BE_DOUBLE, "10")
	ZEND_ARG_TYPE_MASK(0, backOff, MAY_BE_LONG|MAY_BE_DOUBLE, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, early, IS_DOUBLE, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_remember, 0, 3, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, ttl, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, NULL)
	ZEND_ARG_TYPE_INFO(0, compute, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_transaction, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, body, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, once, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_readTogether, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, body, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_lock, 0, 1, Tavola\\Lock, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, shared, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Table_watch, 0, 1, Tavola\\Watch, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_barrier, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, count, IS_LONG, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_clear, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_count, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_stats, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_participants arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Table_check arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Table_repair arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Table_compact arginfo_class_Tavola_Table_count

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_removeExpired, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_reclaim arginfo_class_Tavola_Table_count

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_setCapacity, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_MASK(0, bytes, MAY_BE_LONG|MAY_BE_STRING, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_setMaxSize arginfo_class_Tavola_Table_setCapacity

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_setLockTimeout, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_MASK(0, seconds, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_sync arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_Table_snapshot arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Table_isDurable arginfo_class_Tavola_Table_clear

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_Tavola_Table_durability, 0, 0, MAY_BE_STRING|MAY_BE_DOUBLE|MAY_BE_NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_copyTo, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Table_refresh arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Table_path arginfo_Tavola_version

#define arginfo_class_Tavola_Table_isReadOnly arginfo_class_Tavola_Table_clear

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_offsetExists, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_offsetGet, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_offsetSet, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Table_offsetUnset, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Tavola_TableIterator___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_TableIterator_current, 0, 0, IS_MIXED, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_TableIterator_key arginfo_Tavola_version

#define arginfo_class_Tavola_TableIterator_next arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_TableIterator_rewind arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_TableIterator_valid arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Tags___construct arginfo_class_Tavola_TableIterator___construct

#define arginfo_class_Tavola_Transaction___construct arginfo_class_Tavola_TableIterator___construct

#define arginfo_class_Tavola_Transaction_get arginfo_class_Tavola_Table_get

#define arginfo_class_Tavola_Transaction_set arginfo_class_Tavola_Table_set

#define arginfo_class_Tavola_Transaction_add arginfo_class_Tavola_Table_set

#define arginfo_class_Tavola_Transaction_replace arginfo_class_Tavola_Table_set

#define arginfo_class_Tavola_Transaction_append arginfo_class_Tavola_Table_append

#define arginfo_class_Tavola_Transaction_delete arginfo_class_Tavola_Table_delete

#define arginfo_class_Tavola_Transaction_exists arginfo_class_Tavola_Table_delete

#define arginfo_class_Tavola_Transaction_take arginfo_class_Tavola_Table_get

#define arginfo_class_Tavola_Transaction_inc arginfo_class_Tavola_Table_inc

#define arginfo_class_Tavola_Transaction_dec arginfo_class_Tavola_Table_inc

#define arginfo_class_Tavola_Transaction_savepoint arginfo_class_Tavola_Table_count

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Transaction_rollBackTo, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, savepoint, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Transaction_abort, 0, 0, IS_NEVER, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Lock___construct arginfo_class_Tavola_TableIterator___construct

#define arginfo_class_Tavola_Lock_release arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Lock_isHeld arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Lock_isShared arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_Lock_ownerDied arginfo_class_Tavola_Table_clear

#define arginfo_class_Tavola_SessionLock___construct arginfo_class_Tavola_TableIterator___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_SessionLock_take, 0, 2, Tavola\\SessionLock, 1)
	ZEND_ARG_OBJ_INFO(0, table, Tavola\\Table, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_SessionLock_release arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_Watch___construct arginfo_class_Tavola_TableIterator___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Watch_wait, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Queue___construct arginfo_class_Tavola_Table___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Queue_open, 0, 1, Tavola\\Queue, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Queue_create arginfo_class_Tavola_Queue_open

#define arginfo_class_Tavola_Queue_openExisting arginfo_class_Tavola_Queue_open

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Queue_push, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, job, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Queue_pop, 0, 0, Tavola\\Job, 1)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "0")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Queue_reclaim arginfo_class_Tavola_Table_count

#define arginfo_class_Tavola_Queue_count arginfo_class_Tavola_Table_count

#define arginfo_class_Tavola_Queue_stats arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Queue_path arginfo_Tavola_version

#define arginfo_class_Tavola_Job___construct arginfo_class_Tavola_TableIterator___construct

#define arginfo_class_Tavola_Job_value arginfo_class_Tavola_TableIterator_current

#define arginfo_class_Tavola_Job_done arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_Job_retry arginfo_class_Tavola_Table_removeExpired

#define arginfo_class_Tavola_Log___construct arginfo_class_Tavola_Table___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Log_open, 0, 1, Tavola\\Log, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, options, IS_ARRAY, 0, "[]")
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_create arginfo_class_Tavola_Log_open

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Tavola_Log_openExisting, 0, 1, Tavola\\Log, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_readOnly arginfo_class_Tavola_Log_openExisting

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Log_line, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, level, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Log_error, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, text, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_warn arginfo_class_Tavola_Log_error

#define arginfo_class_Tavola_Log_info arginfo_class_Tavola_Log_error

#define arginfo_class_Tavola_Log_debug arginfo_class_Tavola_Log_error

#define arginfo_class_Tavola_Log_trace arginfo_class_Tavola_Log_error

#define arginfo_class_Tavola_Log_lines arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Log_skip arginfo_class_Tavola_Table_removeExpired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Log_drain, 0, 1, IS_LONG, 0)
	ZEND_ARG_INFO(0, stream)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_finish arginfo_class_Tavola_Log_drain

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Log_drainTo, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, take, IS_CALLABLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_endDrain arginfo_class_Tavola_Table_removeExpired

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Log_showOnStderr, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, shown, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Tavola_Log_stats arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Log_path arginfo_Tavola_version

#define arginfo_class_Tavola_Names___construct arginfo_class_Tavola_TableIterator___construct

#define arginfo_class_Tavola_Names_list arginfo_class_Tavola_Table_stats

#define arginfo_class_Tavola_Names_directory arginfo_Tavola_version

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Names_path, 0, 1, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Names_warning, 0, 1, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Names_remove, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Tavola_Names_rename, 0, 2, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, from, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, to, IS_STRING, 0)
ZEND_END_ARG_INFO()


ZEND_FUNCTION(Tavola_version);
ZEND_METHOD(Tavola_Exception, getStatus);
ZEND_METHOD(Tavola_Table, __construct);
ZEND_METHOD(Tavola_Table, open);
ZEND_METHOD(Tavola_Table, create);
ZEND_METHOD(Tavola_Table, openExisting);
ZEND_METHOD(Tavola_Table, readOnly);
ZEND_METHOD(Tavola_Table, private);
ZEND_METHOD(Tavola_Table, get);
ZEND_METHOD(Tavola_Table, set);
ZEND_METHOD(Tavola_Table, add);
ZEND_METHOD(Tavola_Table, replace);
ZEND_METHOD(Tavola_Table, append);
ZEND_METHOD(Tavola_Table, prepend);
ZEND_METHOD(Tavola_Table, delete);
ZEND_METHOD(Tavola_Table, exists);
ZEND_METHOD(Tavola_Table, take);
ZEND_METHOD(Tavola_Table, swap);
ZEND_METHOD(Tavola_Table, inc);
ZEND_METHOD(Tavola_Table, dec);
ZEND_METHOD(Tavola_Table, gets);
ZEND_METHOD(Tavola_Table, cas);
ZEND_METHOD(Tavola_Table, update);
ZEND_METHOD(Tavola_Table, entry);
ZEND_METHOD(Tavola_Table, getBytes);
ZEND_METHOD(Tavola_Table, getRange);
ZEND_METHOD(Tavola_Table, setBytes);
ZEND_METHOD(Tavola_Table, touch);
ZEND_METHOD(Tavola_Table, ttl);
ZEND_METHOD(Tavola_Table, persist);
ZEND_METHOD(Tavola_Table, getMultiple);
ZEND_METHOD(Tavola_Table, setMultiple);
ZEND_METHOD(Tavola_Table, deleteMultiple);
ZEND_METHOD(Tavola_Table, getIterator);
ZEND_METHOD(Tavola_Table, prefix);
ZEND_METHOD(Tavola_Table, keys);
ZEND_METHOD(Tavola_Table, deletePrefix);
ZEND_METHOD(Tavola_Table, tags);
ZEND_METHOD(Tavola_Table, tagsOf);
ZEND_METHOD(Tavola_Table, invalidateTag);
ZEND_METHOD(Tavola_Table, compute);
ZEND_METHOD(Tavola_Table, remember);
ZEND_METHOD(Tavola_Table, transaction);
ZEND_METHOD(Tavola_Table, readTogether);
ZEND_METHOD(Tavola_Table, lock);
ZEND_METHOD(Tavola_Table, watch);
ZEND_METHOD(Tavola_Table, barrier);
ZEND_METHOD(Tavola_Table, clear);
ZEND_METHOD(Tavola_Table, count);
ZEND_METHOD(Tavola_Table, stats);
ZEND_METHOD(Tavola_Table, participants);
ZEND_METHOD(Tavola_Table, check);
ZEND_METHOD(Tavola_Table, repair);
ZEND_METHOD(Tavola_Table, compact);
ZEND_METHOD(Tavola_Table, removeExpired);
ZEND_METHOD(Tavola_Table, reclaim);
ZEND_METHOD(Tavola_Table, setCapacity);
ZEND_METHOD(Tavola_Table, setMaxSize);
ZEND_METHOD(Tavola_Table, setLockTimeout);
ZEND_METHOD(Tavola_Table, sync);
ZEND_METHOD(Tavola_Table, snapshot);
ZEND_METHOD(Tavola_Table, isDurable);
ZEND_METHOD(Tavola_Table, durability);
ZEND_METHOD(Tavola_Table, copyTo);
ZEND_METHOD(Tavola_Table, refresh);
ZEND_METHOD(Tavola_Table, path);
ZEND_METHOD(Tavola_Table, isReadOnly);
ZEND_METHOD(Tavola_Table, offsetExists);
ZEND_METHOD(Tavola_Table, offsetGet);
ZEND_METHOD(Tavola_Table, offsetSet);
ZEND_METHOD(Tavola_Table, offsetUnset);
ZEND_METHOD(Tavola_TableIterator, __construct);
ZEND_METHOD(Tavola_TableIterator, current);
ZEND_METHOD(Tavola_TableIterator, key);
ZEND_METHOD(Tavola_TableIterator, next);
ZEND_METHOD(Tavola_TableIterator, rewind);
ZEND_METHOD(Tavola_TableIterator, valid);
ZEND_METHOD(Tavola_Tags, __construct);
ZEND_METHOD(Tavola_Transaction, __construct);
ZEND_METHOD(Tavola_Transaction, get);
ZEND_METHOD(Tavola_Transaction, set);
ZEND_METHOD(Tavola_Transaction, add);
ZEND_METHOD(Tavola_Transaction, replace);
ZEND_METHOD(Tavola_Transaction, append);
ZEND_METHOD(Tavola_Transaction, delete);
ZEND_METHOD(Tavola_Transaction, exists);
ZEND_METHOD(Tavola_Transaction, take);
ZEND_METHOD(Tavola_Transaction, inc);
ZEND_METHOD(Tavola_Transaction, dec);
ZEND_METHOD(Tavola_Transaction, savepoint);
ZEND_METHOD(Tavola_Transaction, rollBackTo);
ZEND_METHOD(Tavola_Transaction, abort);
ZEND_METHOD(Tavola_Lock, __construct);
ZEND_METHOD(Tavola_Lock, release);
ZEND_METHOD(Tavola_Lock, isHeld);
ZEND_METHOD(Tavola_Lock, isShared);
ZEND_METHOD(Tavola_Lock, ownerDied);
ZEND_METHOD(Tavola_SessionLock, __construct);
ZEND_METHOD(Tavola_SessionLock, take);
ZEND_METHOD(Tavola_SessionLock, release);
ZEND_METHOD(Tavola_Watch, __construct);
ZEND_METHOD(Tavola_Watch, wait);
ZEND_METHOD(Tavola_Queue, __construct);
ZEND_METHOD(Tavola_Queue, open);
ZEND_METHOD(Tavola_Queue, create);
ZEND_METHOD(Tavola_Queue, openExisting);
ZEND_METHOD(Tavola_Queue, push);
ZEND_METHOD(Tavola_Queue, pop);
ZEND_METHOD(Tavola_Queue, reclaim);
ZEND_METHOD(Tavola_Queue, count);
ZEND_METHOD(Tavola_Queue, stats);
ZEND_METHOD(Tavola_Queue, path);
ZEND_METHOD(Tavola_Job, __construct);
ZEND_METHOD(Tavola_Job, value);
ZEND_METHOD(Tavola_Job, done);
ZEND_METHOD(Tavola_Job, retry);
ZEND_METHOD(Tavola_Log, __construct);
ZEND_METHOD(Tavola_Log, open);
ZEND_METHOD(Tavola_Log, create);
ZEND_METHOD(Tavola_Log, openExisting);
ZEND_METHOD(Tavola_Log, readOnly);
ZEND_METHOD(Tavola_Log, line);
ZEND_METHOD(Tavola_Log, error);
ZEND_METHOD(Tavola_Log, warn);
ZEND_METHOD(Tavola_Log, info);
ZEND_METHOD(Tavola_Log, debug);
ZEND_METHOD(Tavola_Log, trace);
ZEND_METHOD(Tavola_Log, lines);
ZEND_METHOD(Tavola_Log, skip);
ZEND_METHOD(Tavola_Log, drain);
ZEND_METHOD(Tavola_Log, finish);
ZEND_METHOD(Tavola_Log, drainTo);
ZEND_METHOD(Tavola_Log, endDrain);
ZEND_METHOD(Tavola_Log, showOnStderr);
ZEND_METHOD(Tavola_Log, stats);
ZEND_METHOD(Tavola_Log, path);
ZEND_METHOD(Tavola_Names, __construct);
ZEND_METHOD(Tavola_Names, list);
ZEND_METHOD(Tavola_Names, directory);
ZEND_METHOD(Tavola_Names, path);
ZEND_METHOD(Tavola_Names, warning);
ZEND_METHOD(Tavola_Names, remove);
ZEND_METHOD(Tavola_Names, rename);


static const zend_function_entry ext_functions[] = {
	ZEND_NS_FALIAS("Tavola", version, Tavola_version, arginfo_Tavola_version)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Exception_methods[] = {
	ZEND_ME(Tavola_Exception, getStatus, arginfo_class_Tavola_Exception_getStatus, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_ArgumentException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NoTableException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_TableExistsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_FullException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_CorruptException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NotATableException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_VersionException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_PermissionException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_ReadOnlyException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_BadNameException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_BadOptionException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_TooManyParticipantsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_TooLargeException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_LengthsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NoObjectException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_ObjectExistsException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NotHeldException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NotACounterException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_IoException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_AlreadyDrainedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_SinkException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NotComputedException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_BusyException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_ConflictException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_TooManyChangesException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_NotDurableException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_KeyTooLongException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_DamagedJournalException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_InUseElsewhereException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Table_methods[] = {
	ZEND_ME(Tavola_Table, __construct, arginfo_class_Tavola_Table___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, open, arginfo_class_Tavola_Table_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Table, create, arginfo_class_Tavola_Table_create, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Table, openExisting, arginfo_class_Tavola_Table_openExisting, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Table, readOnly, arginfo_class_Tavola_Table_readOnly, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Table, private, arginfo_class_Tavola_Table_private, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Table, get, arginfo_class_Tavola_Table_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, set, arginfo_class_Tavola_Table_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, add, arginfo_class_Tavola_Table_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, replace, arginfo_class_Tavola_Table_replace, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, append, arginfo_class_Tavola_Table_append, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, prepend, arginfo_class_Tavola_Table_prepend, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, delete, arginfo_class_Tavola_Table_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, exists, arginfo_class_Tavola_Table_exists, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, take, arginfo_class_Tavola_Table_take, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, swap, arginfo_class_Tavola_Table_swap, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, inc, arginfo_class_Tavola_Table_inc, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, dec, arginfo_class_Tavola_Table_dec, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, gets, arginfo_class_Tavola_Table_gets, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, cas, arginfo_class_Tavola_Table_cas, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, update, arginfo_class_Tavola_Table_update, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, entry, arginfo_class_Tavola_Table_entry, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, getBytes, arginfo_class_Tavola_Table_getBytes, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, getRange, arginfo_class_Tavola_Table_getRange, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, setBytes, arginfo_class_Tavola_Table_setBytes, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, touch, arginfo_class_Tavola_Table_touch, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, ttl, arginfo_class_Tavola_Table_ttl, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, persist, arginfo_class_Tavola_Table_persist, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, getMultiple, arginfo_class_Tavola_Table_getMultiple, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, setMultiple, arginfo_class_Tavola_Table_setMultiple, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, deleteMultiple, arginfo_class_Tavola_Table_deleteMultiple, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, getIterator, arginfo_class_Tavola_Table_getIterator, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, prefix, arginfo_class_Tavola_Table_prefix, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, keys, arginfo_class_Tavola_Table_keys, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, deletePrefix, arginfo_class_Tavola_Table_deletePrefix, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, tags, arginfo_class_Tavola_Table_tags, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, tagsOf, arginfo_class_Tavola_Table_tagsOf, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, invalidateTag, arginfo_class_Tavola_Table_invalidateTag, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, compute, arginfo_class_Tavola_Table_compute, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, remember, arginfo_class_Tavola_Table_remember, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, transaction, arginfo_class_Tavola_Table_transaction, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, readTogether, arginfo_class_Tavola_Table_readTogether, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, lock, arginfo_class_Tavola_Table_lock, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, watch, arginfo_class_Tavola_Table_watch, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, barrier, arginfo_class_Tavola_Table_barrier, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, clear, arginfo_class_Tavola_Table_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, count, arginfo_class_Tavola_Table_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, stats, arginfo_class_Tavola_Table_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, participants, arginfo_class_Tavola_Table_participants, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, check, arginfo_class_Tavola_Table_check, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, repair, arginfo_class_Tavola_Table_repair, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, compact, arginfo_class_Tavola_Table_compact, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, removeExpired, arginfo_class_Tavola_Table_removeExpired, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, reclaim, arginfo_class_Tavola_Table_reclaim, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, setCapacity, arginfo_class_Tavola_Table_setCapacity, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, setMaxSize, arginfo_class_Tavola_Table_setMaxSize, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, setLockTimeout, arginfo_class_Tavola_Table_setLockTimeout, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, sync, arginfo_class_Tavola_Table_sync, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, snapshot, arginfo_class_Tavola_Table_snapshot, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, isDurable, arginfo_class_Tavola_Table_isDurable, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, durability, arginfo_class_Tavola_Table_durability, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, copyTo, arginfo_class_Tavola_Table_copyTo, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, refresh, arginfo_class_Tavola_Table_refresh, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, path, arginfo_class_Tavola_Table_path, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, isReadOnly, arginfo_class_Tavola_Table_isReadOnly, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, offsetExists, arginfo_class_Tavola_Table_offsetExists, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, offsetGet, arginfo_class_Tavola_Table_offsetGet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, offsetSet, arginfo_class_Tavola_Table_offsetSet, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Table, offsetUnset, arginfo_class_Tavola_Table_offsetUnset, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_TableIterator_methods[] = {
	ZEND_ME(Tavola_TableIterator, __construct, arginfo_class_Tavola_TableIterator___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_TableIterator, current, arginfo_class_Tavola_TableIterator_current, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_TableIterator, key, arginfo_class_Tavola_TableIterator_key, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_TableIterator, next, arginfo_class_Tavola_TableIterator_next, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_TableIterator, rewind, arginfo_class_Tavola_TableIterator_rewind, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_TableIterator, valid, arginfo_class_Tavola_TableIterator_valid, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Tags_methods[] = {
	ZEND_ME(Tavola_Tags, __construct, arginfo_class_Tavola_Tags___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Transaction_methods[] = {
	ZEND_ME(Tavola_Transaction, __construct, arginfo_class_Tavola_Transaction___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_Transaction, get, arginfo_class_Tavola_Transaction_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, set, arginfo_class_Tavola_Transaction_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, add, arginfo_class_Tavola_Transaction_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, replace, arginfo_class_Tavola_Transaction_replace, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, append, arginfo_class_Tavola_Transaction_append, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, delete, arginfo_class_Tavola_Transaction_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, exists, arginfo_class_Tavola_Transaction_exists, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, take, arginfo_class_Tavola_Transaction_take, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, inc, arginfo_class_Tavola_Transaction_inc, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, dec, arginfo_class_Tavola_Transaction_dec, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, savepoint, arginfo_class_Tavola_Transaction_savepoint, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, rollBackTo, arginfo_class_Tavola_Transaction_rollBackTo, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Transaction, abort, arginfo_class_Tavola_Transaction_abort, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Lock_methods[] = {
	ZEND_ME(Tavola_Lock, __construct, arginfo_class_Tavola_Lock___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_Lock, release, arginfo_class_Tavola_Lock_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Lock, isHeld, arginfo_class_Tavola_Lock_isHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Lock, isShared, arginfo_class_Tavola_Lock_isShared, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Lock, ownerDied, arginfo_class_Tavola_Lock_ownerDied, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_SessionLock_methods[] = {
	ZEND_ME(Tavola_SessionLock, __construct, arginfo_class_Tavola_SessionLock___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_SessionLock, take, arginfo_class_Tavola_SessionLock_take, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_SessionLock, release, arginfo_class_Tavola_SessionLock_release, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Watch_methods[] = {
	ZEND_ME(Tavola_Watch, __construct, arginfo_class_Tavola_Watch___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_Watch, wait, arginfo_class_Tavola_Watch_wait, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Queue_methods[] = {
	ZEND_ME(Tavola_Queue, __construct, arginfo_class_Tavola_Queue___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, open, arginfo_class_Tavola_Queue_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Queue, create, arginfo_class_Tavola_Queue_create, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Queue, openExisting, arginfo_class_Tavola_Queue_openExisting, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Queue, push, arginfo_class_Tavola_Queue_push, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, pop, arginfo_class_Tavola_Queue_pop, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, reclaim, arginfo_class_Tavola_Queue_reclaim, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, count, arginfo_class_Tavola_Queue_count, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, stats, arginfo_class_Tavola_Queue_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Queue, path, arginfo_class_Tavola_Queue_path, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Job_methods[] = {
	ZEND_ME(Tavola_Job, __construct, arginfo_class_Tavola_Job___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_Job, value, arginfo_class_Tavola_Job_value, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Job, done, arginfo_class_Tavola_Job_done, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Job, retry, arginfo_class_Tavola_Job_retry, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Log_methods[] = {
	ZEND_ME(Tavola_Log, __construct, arginfo_class_Tavola_Log___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, open, arginfo_class_Tavola_Log_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Log, create, arginfo_class_Tavola_Log_create, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Log, openExisting, arginfo_class_Tavola_Log_openExisting, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Log, readOnly, arginfo_class_Tavola_Log_readOnly, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Log, line, arginfo_class_Tavola_Log_line, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, error, arginfo_class_Tavola_Log_error, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, warn, arginfo_class_Tavola_Log_warn, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, info, arginfo_class_Tavola_Log_info, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, debug, arginfo_class_Tavola_Log_debug, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, trace, arginfo_class_Tavola_Log_trace, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, lines, arginfo_class_Tavola_Log_lines, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, skip, arginfo_class_Tavola_Log_skip, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, drain, arginfo_class_Tavola_Log_drain, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, finish, arginfo_class_Tavola_Log_finish, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, drainTo, arginfo_class_Tavola_Log_drainTo, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, endDrain, arginfo_class_Tavola_Log_endDrain, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, showOnStderr, arginfo_class_Tavola_Log_showOnStderr, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, stats, arginfo_class_Tavola_Log_stats, ZEND_ACC_PUBLIC)
	ZEND_ME(Tavola_Log, path, arginfo_class_Tavola_Log_path, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Tavola_Names_methods[] = {
	ZEND_ME(Tavola_Names, __construct, arginfo_class_Tavola_Names___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Tavola_Names, list, arginfo_class_Tavola_Names_list, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Names, directory, arginfo_class_Tavola_Names_directory, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Names, path, arginfo_class_Tavola_Names_path, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Names, warning, arginfo_class_Tavola_Names_warning, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Names, remove, arginfo_class_Tavola_Names_remove, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Tavola_Names, rename, arginfo_class_Tavola_Names_rename, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};

static zend_class_entry *register_class_Tavola_Exception(zend_class_entry *class_entry_RuntimeException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Exception", class_Tavola_Exception_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_ArgumentException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "ArgumentException", class_Tavola_ArgumentException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NoTableException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NoTableException", class_Tavola_NoTableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_TableExistsException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TableExistsException", class_Tavola_TableExistsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_FullException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "FullException", class_Tavola_FullException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_CorruptException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "CorruptException", class_Tavola_CorruptException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NotATableException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NotATableException", class_Tavola_NotATableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_VersionException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "VersionException", class_Tavola_VersionException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_PermissionException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "PermissionException", class_Tavola_PermissionException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_ReadOnlyException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "ReadOnlyException", class_Tavola_ReadOnlyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_BadNameException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "BadNameException", class_Tavola_BadNameException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_BadOptionException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "BadOptionException", class_Tavola_BadOptionException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_TooManyParticipantsException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TooManyParticipantsException", class_Tavola_TooManyParticipantsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_TooLargeException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TooLargeException", class_Tavola_TooLargeException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_LengthsException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "LengthsException", class_Tavola_LengthsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NoObjectException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NoObjectException", class_Tavola_NoObjectException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_ObjectExistsException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "ObjectExistsException", class_Tavola_ObjectExistsException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NotHeldException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NotHeldException", class_Tavola_NotHeldException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NotACounterException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NotACounterException", class_Tavola_NotACounterException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_IoException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "IoException", class_Tavola_IoException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_AlreadyDrainedException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "AlreadyDrainedException", class_Tavola_AlreadyDrainedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_SinkException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "SinkException", class_Tavola_SinkException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NotComputedException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NotComputedException", class_Tavola_NotComputedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_BusyException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "BusyException", class_Tavola_BusyException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_ConflictException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "ConflictException", class_Tavola_ConflictException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_TooManyChangesException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TooManyChangesException", class_Tavola_TooManyChangesException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_NotDurableException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "NotDurableException", class_Tavola_NotDurableException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_KeyTooLongException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "KeyTooLongException", class_Tavola_KeyTooLongException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_DamagedJournalException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "DamagedJournalException", class_Tavola_DamagedJournalException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_InUseElsewhereException(zend_class_entry *class_entry_Tavola_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "InUseElsewhereException", class_Tavola_InUseElsewhereException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Tavola_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Table(zend_class_entry *class_entry_ArrayAccess, zend_class_entry *class_entry_Countable, zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Table", class_Tavola_Table_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 3, class_entry_ArrayAccess, class_entry_Countable, class_entry_IteratorAggregate);

	zval const_FOREVER_value;
	ZVAL_LONG(&const_FOREVER_value, -1);
	zend_string *const_FOREVER_name = zend_string_init_interned("FOREVER", sizeof("FOREVER") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_FOREVER_name, &const_FOREVER_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_FOREVER_name);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_TableIterator(zend_class_entry *class_entry_Iterator)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "TableIterator", class_Tavola_TableIterator_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Iterator);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Tags(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Tags", class_Tavola_Tags_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Transaction(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Transaction", class_Tavola_Transaction_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Lock(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Lock", class_Tavola_Lock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_SessionLock(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "SessionLock", class_Tavola_SessionLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Watch(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Watch", class_Tavola_Watch_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Queue(zend_class_entry *class_entry_Countable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Queue", class_Tavola_Queue_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Countable);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Job(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Job", class_Tavola_Job_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Log(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Log", class_Tavola_Log_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval const_ERROR_value;
	ZVAL_LONG(&const_ERROR_value, 1);
	zend_string *const_ERROR_name = zend_string_init_interned("ERROR", sizeof("ERROR") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_ERROR_name, &const_ERROR_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_ERROR_name);

	zval const_WARN_value;
	ZVAL_LONG(&const_WARN_value, 2);
	zend_string *const_WARN_name = zend_string_init_interned("WARN", sizeof("WARN") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_WARN_name, &const_WARN_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_WARN_name);

	zval const_INFO_value;
	ZVAL_LONG(&const_INFO_value, 3);
	zend_string *const_INFO_name = zend_string_init_interned("INFO", sizeof("INFO") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_INFO_name, &const_INFO_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_INFO_name);

	zval const_DEBUG_value;
	ZVAL_LONG(&const_DEBUG_value, 4);
	zend_string *const_DEBUG_name = zend_string_init_interned("DEBUG", sizeof("DEBUG") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_DEBUG_name, &const_DEBUG_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_DEBUG_name);

	zval const_TRACE_value;
	ZVAL_LONG(&const_TRACE_value, 5);
	zend_string *const_TRACE_name = zend_string_init_interned("TRACE", sizeof("TRACE") - 1, 1);
	zend_declare_class_constant_ex(class_entry, const_TRACE_name, &const_TRACE_value, ZEND_ACC_PUBLIC, NULL);
	zend_string_release(const_TRACE_name);

	return class_entry;
}

static zend_class_entry *register_class_Tavola_Names(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Tavola", "Names", class_Tavola_Names_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	return class_entry;
}
