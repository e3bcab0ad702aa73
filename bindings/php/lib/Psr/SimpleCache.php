<?php

namespace Tavola\Psr;

use Psr\SimpleCache\CacheInterface;
use Tavola\Table;

/**
 * A table as a cache of PSR-16.
 *
 * Open the table with a serializer, so that it can store objects. With a prefix, several caches
 * share one table, and `clear` removes the keys of this one.
 */
class SimpleCache implements CacheInterface
{
    public function __construct(private readonly Table $table, private readonly string $prefix = '')
    {
    }

    public function get($key, $default = null): mixed
    {
        return $this->table->get($this->key($key), $default);
    }

    public function set($key, $value, $ttl = null): bool
    {
        $key = $this->key($key);
        $seconds = $this->seconds($ttl);
        if ($seconds !== null && $seconds <= 0) {
            $this->table->delete($key);
            return true;
        }
        return $this->store(fn() => $this->table->set($key, $value, $seconds));
    }

    public function delete($key): bool
    {
        $this->table->delete($this->key($key));
        return true;
    }

    public function clear(): bool
    {
        if ($this->prefix === '') {
            return $this->table->clear();
        }
        $this->table->deletePrefix($this->prefix);
        return true;
    }

    public function getMultiple($keys, $default = null): iterable
    {
        $names = [];
        foreach ($this->list($keys) as $key) {
            $names[$this->key($key)] = $key;
        }
        $found = $this->table->getMultiple(array_map(strval(...), array_keys($names)));
        $values = [];
        foreach ($names as $name => $key) {
            $values[$key] = array_key_exists($name, $found) ? $found[$name] : $default;
        }
        return $values;
    }

    public function setMultiple($values, $ttl = null): bool
    {
        $seconds = $this->seconds($ttl);
        $named = [];
        foreach ($this->list($values) as $key => $value) {
            $named[$this->key(is_int($key) ? (string) $key : $key)] = $value;
        }
        if ($seconds !== null && $seconds <= 0) {
            $this->table->deleteMultiple(array_keys($named));
            return true;
        }
        return $this->store(fn() => $this->table->setMultiple($named, $seconds));
    }

    public function deleteMultiple($keys): bool
    {
        $names = [];
        foreach ($this->list($keys) as $key) {
            $names[] = $this->key($key);
        }
        $this->table->deleteMultiple($names);
        return true;
    }

    public function has($key): bool
    {
        return $this->table->exists($this->key($key));
    }

    /** Stores, and returns false if there is no room. */
    private function store(callable $write): bool
    {
        try {
            return $write();
        } catch (\Tavola\FullException | \Tavola\TooLargeException) {
            return false;
        }
    }

    private function key(mixed $key): string
    {
        $problem = Keys::problem($key);
        if ($problem !== null) {
            throw new SimpleInvalidArgument($problem);
        }
        return $this->prefix . $key;
    }

    private function list(mixed $list): iterable
    {
        if (!is_iterable($list)) {
            throw new SimpleInvalidArgument('a list must be iterable, and not '
                . get_debug_type($list));
        }
        return $list;
    }

    private function seconds(mixed $ttl): int|float|null
    {
        return match (true) {
            $ttl === null, is_int($ttl) => $ttl,
            $ttl instanceof \DateInterval => Keys::seconds($ttl),
            default => throw new SimpleInvalidArgument(
                'a TTL must be a number of seconds, a DateInterval or null, and not '
                    . get_debug_type($ttl)
            ),
        };
    }
}
