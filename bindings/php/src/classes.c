#include "php_tavola.h"
#include "classes.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "ext/spl/spl_exceptions.h"
#include "tavola_arginfo.h"

zend_class_entry *tavola_exception_ce;
zend_class_entry *tavola_table_ce;
zend_class_entry *tavola_iterator_ce;
zend_class_entry *tavola_tags_ce;
zend_class_entry *tavola_lock_ce;
zend_class_entry *tavola_session_lock_ce;
zend_class_entry *tavola_watch_ce;
zend_class_entry *tavola_queue_ce;
zend_class_entry *tavola_job_ce;
zend_class_entry *tavola_log_ce;

static zend_class_entry *argument_ce;
static zend_class_entry *no_table_ce;
static zend_class_entry *table_exists_ce;
static zend_class_entry *full_ce;
static zend_class_entry *corrupt_ce;
static zend_class_entry *not_a_table_ce;
static zend_class_entry *version_ce;
static zend_class_entry *permission_ce;
static zend_class_entry *read_only_ce;
static zend_class_entry *bad_name_ce;
static zend_class_entry *bad_option_ce;
static zend_class_entry *too_many_participants_ce;
static zend_class_entry *too_large_ce;
static zend_class_entry *lengths_ce;
static zend_class_entry *no_object_ce;
static zend_class_entry *object_exists_ce;
static zend_class_entry *not_held_ce;
static zend_class_entry *not_a_counter_ce;
static zend_class_entry *io_ce;
static zend_class_entry *already_drained_ce;
static zend_class_entry *sink_ce;
static zend_class_entry *not_computed_ce;
static zend_class_entry *busy_ce;
static zend_class_entry *conflict_ce;
static zend_class_entry *too_many_changes_ce;
static zend_class_entry *not_durable_ce;
static zend_class_entry *key_too_long_ce;
static zend_class_entry *damaged_journal_ce;
static zend_class_entry *in_use_elsewhere_ce;

const tavola_status_class tavola_status_classes[] = {
	{TAVOLA_ERR_ARGUMENT, &argument_ce},
	{TAVOLA_ERR_NO_TABLE, &no_table_ce},
	{TAVOLA_ERR_TABLE_EXISTS, &table_exists_ce},
	{TAVOLA_ERR_FULL, &full_ce},
	{TAVOLA_ERR_CORRUPT, &corrupt_ce},
	{TAVOLA_ERR_NOT_A_TABLE, &not_a_table_ce},
	{TAVOLA_ERR_VERSION, &version_ce},
	{TAVOLA_ERR_PERMISSION, &permission_ce},
	{TAVOLA_ERR_READ_ONLY, &read_only_ce},
	{TAVOLA_ERR_BAD_NAME, &bad_name_ce},
	{TAVOLA_ERR_BAD_OPTION, &bad_option_ce},
	{TAVOLA_ERR_TOO_MANY_PARTICIPANTS, &too_many_participants_ce},
	{TAVOLA_ERR_TOO_LARGE, &too_large_ce},
	{TAVOLA_ERR_LENGTHS, &lengths_ce},
	{TAVOLA_ERR_NO_OBJECT, &no_object_ce},
	{TAVOLA_ERR_OBJECT_EXISTS, &object_exists_ce},
	{TAVOLA_ERR_NOT_HELD, &not_held_ce},
	{TAVOLA_ERR_NOT_A_COUNTER, &not_a_counter_ce},
	{TAVOLA_ERR_IO, &io_ce},
	{TAVOLA_ERR_ALREADY_DRAINED, &already_drained_ce},
	{TAVOLA_ERR_SINK, &sink_ce},
	{TAVOLA_ERR_COMPUTE, &not_computed_ce},
	{TAVOLA_ERR_BUSY, &busy_ce},
	{TAVOLA_CONFLICT, &conflict_ce},
	{TAVOLA_ERR_TOO_MANY_CHANGES, &too_many_changes_ce},
	{TAVOLA_ERR_NOT_DURABLE, &not_durable_ce},
	{TAVOLA_ERR_KEY_TOO_LONG, &key_too_long_ce},
	{TAVOLA_ERR_DAMAGED_JOURNAL, &damaged_journal_ce},
	{TAVOLA_ERR_IN_USE_ELSEWHERE, &in_use_elsewhere_ce},
	{TAVOLA_ERR_ENDIANNESS, &version_ce},
	{TAVOLA_ERR_NULL, &argument_ce},
	{TAVOLA_OK, NULL},
};

static void register_exceptions(void)
{
	tavola_exception_ce = register_class_Tavola_Exception(spl_ce_RuntimeException);
	argument_ce = register_class_Tavola_ArgumentException(tavola_exception_ce);
	no_table_ce = register_class_Tavola_NoTableException(tavola_exception_ce);
	table_exists_ce = register_class_Tavola_TableExistsException(tavola_exception_ce);
	full_ce = register_class_Tavola_FullException(tavola_exception_ce);
	corrupt_ce = register_class_Tavola_CorruptException(tavola_exception_ce);
	not_a_table_ce = register_class_Tavola_NotATableException(tavola_exception_ce);
	version_ce = register_class_Tavola_VersionException(tavola_exception_ce);
	permission_ce = register_class_Tavola_PermissionException(tavola_exception_ce);
	read_only_ce = register_class_Tavola_ReadOnlyException(tavola_exception_ce);
	bad_name_ce = register_class_Tavola_BadNameException(tavola_exception_ce);
	bad_option_ce = register_class_Tavola_BadOptionException(tavola_exception_ce);
	too_many_participants_ce = register_class_Tavola_TooManyParticipantsException(tavola_exception_ce);
	too_large_ce = register_class_Tavola_TooLargeException(tavola_exception_ce);
	lengths_ce = register_class_Tavola_LengthsException(tavola_exception_ce);
	no_object_ce = register_class_Tavola_NoObjectException(tavola_exception_ce);
	object_exists_ce = register_class_Tavola_ObjectExistsException(tavola_exception_ce);
	not_held_ce = register_class_Tavola_NotHeldException(tavola_exception_ce);
	not_a_counter_ce = register_class_Tavola_NotACounterException(tavola_exception_ce);
	io_ce = register_class_Tavola_IoException(tavola_exception_ce);
	already_drained_ce = register_class_Tavola_AlreadyDrainedException(tavola_exception_ce);
	sink_ce = register_class_Tavola_SinkException(tavola_exception_ce);
	not_computed_ce = register_class_Tavola_NotComputedException(tavola_exception_ce);
	busy_ce = register_class_Tavola_BusyException(tavola_exception_ce);
	conflict_ce = register_class_Tavola_ConflictException(tavola_exception_ce);
	too_many_changes_ce = register_class_Tavola_TooManyChangesException(tavola_exception_ce);
	not_durable_ce = register_class_Tavola_NotDurableException(tavola_exception_ce);
	key_too_long_ce = register_class_Tavola_KeyTooLongException(tavola_exception_ce);
	damaged_journal_ce = register_class_Tavola_DamagedJournalException(tavola_exception_ce);
	in_use_elsewhere_ce = register_class_Tavola_InUseElsewhereException(tavola_exception_ce);
}

void tavola_register_classes(void)
{
	register_exceptions();
	/* Before the table, whose `getIterator` returns it. */
	tavola_iterator_ce = register_class_Tavola_TableIterator(zend_ce_iterator);
	tavola_table_ce = register_class_Tavola_Table(
		zend_ce_arrayaccess, zend_ce_countable, zend_ce_aggregate);
	tavola_tags_ce = register_class_Tavola_Tags();
	tavola_transaction_ce = register_class_Tavola_Transaction();
	tavola_lock_ce = register_class_Tavola_Lock();
	tavola_session_lock_ce = register_class_Tavola_SessionLock();
	tavola_watch_ce = register_class_Tavola_Watch();
	tavola_queue_ce = register_class_Tavola_Queue(zend_ce_countable);
	tavola_job_ce = register_class_Tavola_Job();
	tavola_log_ce = register_class_Tavola_Log();
	register_class_Tavola_Names();
	tavola_init_table();
	tavola_init_iterator();
	tavola_init_tags();
	tavola_init_transaction();
	tavola_init_compute();
	tavola_init_lock();
	tavola_init_session_lock();
	tavola_init_watch();
	tavola_init_queue();
	tavola_init_log();
}

const zend_function_entry *tavola_functions(void)
{
	return ext_functions;
}
