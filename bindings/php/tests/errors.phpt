--TEST--
Exceptions: classes, codes, statuses and the sentences of the library
--FILE--
<?php
require __DIR__ . '/begin.inc';
$classes = ['Argument', 'NoTable', 'TableExists', 'Full', 'Corrupt', 'NotATable', 'Version',
    'Permission',
    'ReadOnly', 'BadName', 'BadOption', 'TooManyParticipants', 'TooLarge', 'Lengths', 'NoObject',
    'ObjectExists', 'NotHeld', 'NotACounter', 'Io', 'AlreadyDrained', 'Sink', 'NotComputed',
        'Busy', 'Conflict', 'TooManyChanges', 'NotDurable', 'KeyTooLong', 'DamagedJournal',
        'InUseElsewhere'];
foreach ($classes as $class) {
    same('Tavola\Exception', get_parent_class("Tavola\\{$class}Exception"));
}
same('RuntimeException', get_parent_class('Tavola\Exception'));
$thrown = throws(Tavola\NoTableException::class, fn() => Tavola\Table::openExisting('none'));
same(-10, $thrown->getCode());
same('NO_TABLE', $thrown->getStatus());
same(true, str_contains($thrown->getMessage(), 'none'));
same('NOT_FOUND', (new Tavola\Exception('x', 1))->getStatus());
throws(Tavola\NoObjectException::class, function () {
    Tavola\Table::open('t');
    Tavola\Queue::openExisting('t');
});
same([], (new ReflectionClass('Tavola\Names'))->getProperties());
foreach (['TableIterator', 'Tags', 'Transaction', 'Lock', 'SessionLock', 'Watch', 'Job',
    'Names'] as $class) {
    same(true, (new ReflectionMethod("Tavola\\$class", '__construct'))->isPrivate());
}
echo 'done';
?>
--EXPECT--
done
