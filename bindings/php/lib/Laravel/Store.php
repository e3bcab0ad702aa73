<?php

namespace Tavola\Laravel;

use Illuminate\Cache\TaggableStore;
use Illuminate\Contracts\Cache\LockProvider;
use Tavola\Table;

/**
 * A table as a store of Laravel's cache, with atomic locks:
 *
 *     Cache::extend('tavola', fn($app) => Cache::repository(
 *         new Tavola\Laravel\Store(new Tavola\Table('laravel', ['serializer' => 'php']))
 *     ));
 */
final class Store extends TaggableStore implements LockProvider
{
    public function __construct(private readonly Table $table, private readonly string $prefix = '')
    {
    }

    public function get($key): mixed
    {
        return $this->table->get($this->prefix . $key);
    }

    public function many(array $keys): array
    {
        $found = $this->table->getMultiple(array_map(fn($key) => $this->prefix . $key, $keys));
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $found[$this->prefix . $key] ?? null;
        }
        return $values;
    }

    public function put($key, $value, $seconds): bool
    {
        return $this->table->set($this->prefix . $key, $value, self::ttl($seconds));
    }

    public function putMany(array $values, $seconds): bool
    {
        $named = [];
        foreach ($values as $key => $value) {
            $named[$this->prefix . $key] = $value;
        }
        return $this->table->setMultiple($named, self::ttl($seconds));
    }

    /** Stores a key that is missing. Returns whether it was. */
    public function add($key, $value, $seconds): bool
    {
        return $this->table->add($this->prefix . $key, $value, self::ttl($seconds));
    }

    public function increment($key, $value = 1): int|false
    {
        try {
            return $this->table->inc($this->prefix . $key, (int) $value);
        } catch (\Tavola\NotACounterException) {
            return false;
        }
    }

    public function decrement($key, $value = 1): int|false
    {
        return $this->increment($key, -(int) $value);
    }

    public function forever($key, $value): bool
    {
        return $this->table->set($this->prefix . $key, $value, Table::FOREVER);
    }

    public function forget($key): bool
    {
        return $this->table->delete($this->prefix . $key);
    }

    public function flush(): bool
    {
        if ($this->prefix === '') {
            return $this->table->clear();
        }
        $this->table->deletePrefix($this->prefix);
        return true;
    }

    public function getPrefix(): string
    {
        return $this->prefix;
    }

    public function lock($name, $seconds = 0, $owner = null): Lock
    {
        return new Lock($this->table, $this->prefix . $name, $seconds, $owner);
    }

    public function restoreLock($name, $owner): Lock
    {
        return $this->lock($name, 0, $owner);
    }

    private static function ttl(mixed $seconds): int
    {
        return $seconds > 0 ? (int) $seconds : Table::FOREVER;
    }
}
