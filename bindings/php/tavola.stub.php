<?php

/**
 * @generate-class-entries
 * @generate-function-entries
 */

namespace Tavola;

class Exception extends \RuntimeException
{
    public function getStatus(): string {}
}

class ArgumentException extends Exception {}
class NoTableException extends Exception {}
class TableExistsException extends Exception {}
class FullException extends Exception {}
class CorruptException extends Exception {}
class NotATableException extends Exception {}
class VersionException extends Exception {}
class PermissionException extends Exception {}
class ReadOnlyException extends Exception {}
class BadNameException extends Exception {}
class BadOptionException extends Exception {}
class TooManyParticipantsException extends Exception {}
class TooLargeException extends Exception {}
class LengthsException extends Exception {}
class NoObjectException extends Exception {}
class ObjectExistsException extends Exception {}
class NotHeldException extends Exception {}
class NotACounterException extends Exception {}
class IoException extends Exception {}
class AlreadyDrainedException extends Exception {}
class SinkException extends Exception {}
class NotComputedException extends Exception {}
class BusyException extends Exception {}
class ConflictException extends Exception {}
class TooManyChangesException extends Exception {}
class NotDurableException extends Exception {}
class KeyTooLongException extends Exception {}
class DamagedJournalException extends Exception {}
class InUseElsewhereException extends Exception {}

/**
 * @strict-properties
 * @not-serializable
 */
final class Table implements \ArrayAccess, \Countable, \IteratorAggregate
{
    /** @var int */
    const FOREVER = -1;

    public function __construct(string $name, array $options = []) {}

    public static function open(string $name, array $options = []): Table {}

    public static function create(string $name, array $options = []): Table {}

    public static function openExisting(string $name, array $options = []): Table {}

    public static function readOnly(string $name, array $options = []): Table {}

    public static function private(array $options = []): Table {}

    public function get(string $key, mixed $default = null): mixed {}

    public function set(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function add(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function replace(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function append(string $key, string $bytes): bool {}

    public function prepend(string $key, string $bytes): bool {}

    public function delete(string $key): bool {}

    public function exists(string $key): bool {}

    public function take(string $key, mixed $default = null): mixed {}

    public function swap(string $key, mixed $value, mixed $default = null): mixed {}

    public function inc(string $key, int $by = 1, int $initial = 0, int|float|null $ttl = null): int {}

    public function dec(string $key, int $by = 1, int $initial = 0, int|float|null $ttl = null): int {}

    public function gets(string $key): ?array {}

    public function cas(string $key, int $token, mixed $value, int|float|null $ttl = null): bool {}

    public function update(string $key, callable $change): mixed {}

    public function entry(string $key): ?array {}

    public function getBytes(string $key): ?string {}

    public function getRange(string $key, int $start, int $most): ?string {}

    public function setBytes(string $key, string $bytes, int $flags = 0, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function touch(string $key, int|float|null $ttl): bool {}

    public function ttl(string $key): ?int {}

    public function persist(string $key): bool {}

    public function getMultiple(array $keys): array {}

    public function setMultiple(array $values, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function deleteMultiple(array $keys): int {}

    public function getIterator(): TableIterator {}

    public function prefix(string $prefix): TableIterator {}

    public function keys(string $prefix = ""): array {}

    public function deletePrefix(string $prefix): int {}

    public function tags(string ...$names): Tags {}

    public function tagsOf(string $key): ?array {}

    public function invalidateTag(string ...$tags): bool {}

    public function compute(string $key, callable $compute, int|float|null $ttl = null, array|Tags|null $tags = null, int|float $stale = 0, int|float $lease = 10, int|float $backOff = 1, float $early = 0): mixed {}

    public function remember(string $key, int|float|null $ttl, callable $compute): mixed {}

    public function transaction(callable $body, bool $once = false): mixed {}

    public function readTogether(callable $body): mixed {}

    public function lock(string $name, int|float|null $timeout = null, bool $shared = false): ?Lock {}

    public function watch(string $key): Watch {}

    public function barrier(string $key, int $count, int|float|null $timeout = null): bool {}

    public function clear(): bool {}

    public function count(): int {}

    public function stats(): array {}

    public function participants(): array {}

    public function check(): array {}

    public function repair(): array {}

    public function compact(): int {}

    public function removeExpired(): void {}

    public function reclaim(): int {}

    public function setCapacity(int|string $bytes): void {}

    public function setMaxSize(int|string $bytes): void {}

    public function setLockTimeout(int|float|null $seconds): void {}

    public function sync(): void {}

    public function snapshot(): bool {}

    public function isDurable(): bool {}

    public function durability(): string|float|null {}

    public function copyTo(string $name): int {}

    public function refresh(): bool {}

    public function path(): string {}

    public function isReadOnly(): bool {}

    public function offsetExists(mixed $key): bool {}

    public function offsetGet(mixed $key): mixed {}

    public function offsetSet(mixed $key, mixed $value): void {}

    public function offsetUnset(mixed $key): void {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class TableIterator implements \Iterator
{
    private function __construct() {}

    public function current(): mixed {}

    public function key(): string {}

    public function next(): void {}

    public function rewind(): void {}

    public function valid(): bool {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Tags
{
    private function __construct() {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Transaction
{
    private function __construct() {}

    public function get(string $key, mixed $default = null): mixed {}

    public function set(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function add(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function replace(string $key, mixed $value, int|float|null $ttl = null, array|Tags|null $tags = null): bool {}

    public function append(string $key, string $bytes): bool {}

    public function delete(string $key): bool {}

    public function exists(string $key): bool {}

    public function take(string $key, mixed $default = null): mixed {}

    public function inc(string $key, int $by = 1, int $initial = 0, int|float|null $ttl = null): int {}

    public function dec(string $key, int $by = 1, int $initial = 0, int|float|null $ttl = null): int {}

    public function savepoint(): int {}

    public function rollBackTo(int $savepoint): void {}

    public function abort(): never {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Lock
{
    private function __construct() {}

    public function release(): bool {}

    public function isHeld(): bool {}

    public function isShared(): bool {}

    public function ownerDied(): bool {}
}

/**
 * The lock of a session, for the class Tavola\SessionHandler alone.
 *
 * @strict-properties
 * @not-serializable
 */
final class SessionLock
{
    private function __construct() {}

    public static function take(Table $table, string $name, int|float|null $timeout = null): ?SessionLock {}

    public function release(): void {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Watch
{
    private function __construct() {}

    public function wait(int|float|null $timeout = null): bool {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Queue implements \Countable
{
    public function __construct(string $name, array $options = []) {}

    public static function open(string $name, array $options = []): Queue {}

    public static function create(string $name, array $options = []): Queue {}

    public static function openExisting(string $name, array $options = []): Queue {}

    public function push(mixed $job, int|float|null $timeout = 0): bool {}

    public function pop(int|float|null $timeout = 0): ?Job {}

    public function reclaim(): int {}

    public function count(): int {}

    public function stats(): array {}

    public function path(): string {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Job
{
    private function __construct() {}

    public function value(): mixed {}

    public function done(): void {}

    public function retry(): void {}
}

/**
 * @strict-properties
 * @not-serializable
 */
final class Log
{
    /** @var int */
    const ERROR = 1;
    /** @var int */
    const WARN = 2;
    /** @var int */
    const INFO = 3;
    /** @var int */
    const DEBUG = 4;
    /** @var int */
    const TRACE = 5;

    public function __construct(string $name, array $options = []) {}

    public static function open(string $name, array $options = []): Log {}

    public static function create(string $name, array $options = []): Log {}

    public static function openExisting(string $name): Log {}

    public static function readOnly(string $name): Log {}

    public function line(int $level, string $text): void {}

    public function error(string $text): void {}

    public function warn(string $text): void {}

    public function info(string $text): void {}

    public function debug(string $text): void {}

    public function trace(string $text): void {}

    public function lines(): array {}

    public function skip(): void {}

    /** @param resource $stream */
    public function drain($stream): int {}

    /** @param resource $stream */
    public function finish($stream): int {}

    public function drainTo(callable $take): int {}

    public function endDrain(): void {}

    public function showOnStderr(bool $shown): void {}

    public function stats(): array {}

    public function path(): string {}
}

final class Names
{
    private function __construct() {}

    public static function list(): array {}

    public static function directory(): string {}

    public static function path(string $name): string {}

    public static function warning(string $name): ?string {}

    public static function remove(string $name): bool {}

    public static function rename(string $from, string $to): void {}
}

function version(): string {}
