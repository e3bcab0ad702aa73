<?php

namespace Tavola\Psr;

use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;
use Tavola\{Batch, Table};

/**
 * A table as a cache pool of PSR-6, with tags.
 *
 * Open the table with a serializer, so that it can store objects. With a prefix, several pools
 * share one table, and `clear` removes the keys of this one.
 */
class CachePool implements CacheItemPoolInterface
{
    /** @var array<string, CacheItem> */
    private array $deferred = [];

    public function __construct(private readonly Table $table, private readonly string $prefix = '')
    {
    }

    public function __destruct()
    {
        $this->commit();
    }

    public function getItem($key): CacheItemInterface
    {
        $name = $this->name($key);
        if (isset($this->deferred[$key])) {
            return $this->deferred[$key]->asDeferred();
        }
        $value = $this->table->get($name, $this);
        return $value === $this
            ? $this->makeItem($key, null, false, [])
            : $this->makeItem($key, $value, true, $this->tagsOf($name));
    }

    public function getItems(array $keys = []): iterable
    {
        foreach ($keys as $key) {
            $this->name($key);
        }
        $items = [];
        foreach ($keys as $key) {
            $items[$key] = $this->getItem($key);
        }
        return $items;
    }

    public function hasItem($key): bool
    {
        return $this->getItem($key)->isHit();
    }

    public function clear(): bool
    {
        $this->deferred = [];
        if ($this->prefix === '') {
            return $this->table->clear();
        }
        $this->table->deletePrefix($this->prefix);
        return true;
    }

    public function deleteItem($key): bool
    {
        return $this->deleteItems([$key]);
    }

    public function deleteItems(array $keys): bool
    {
        $names = array_map($this->name(...), $keys);
        foreach ($keys as $key) {
            unset($this->deferred[$key]);
        }
        $this->table->deleteMultiple($names);
        return true;
    }

    public function save(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        unset($this->deferred[$item->getKey()]);
        return $this->store([$item]);
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        if (!$item instanceof CacheItem) {
            return false;
        }
        $this->deferred[$item->getKey()] = clone $item;
        return true;
    }

    public function commit(): bool
    {
        $items = $this->deferred;
        $this->deferred = [];
        return $this->store($items);
    }

    /** Invalidates a tag: the items that have it are missing from now on. */
    public function invalidateTag($tag): bool
    {
        return $this->invalidateTags([$tag]);
    }

    /** Invalidates tags. */
    public function invalidateTags(array $tags): bool
    {
        foreach ($tags as $tag) {
            $problem = Keys::problem($tag);
            if ($problem !== null) {
                throw new PoolInvalidArgument("a tag is invalid: $problem");
            }
        }
        $this->deferred = array_filter(
            $this->deferred,
            fn(CacheItem $item) => array_intersect($item->stored()[2], $tags) === []
        );
        $this->table->invalidateTag(...array_map($this->tagName(...), array_values($tags)));
        return true;
    }

    /** @param list<string> $previousTags */
    protected function makeItem(string $key, mixed $value, bool $isHit,
        array $previousTags): CacheItem
    {
        return new CacheItem($key, $value, $isHit, $previousTags);
    }

    /** @param iterable<CacheItem> $items */
    private function store(iterable $items): bool
    {
        $stored = $expired = [];
        foreach ($items as $item) {
            [$value, $expires, $tags] = $item->stored();
            $name = $this->name($item->getKey());
            $ttl = $expires === null ? null : $expires - microtime(true);
            if ($ttl !== null && $ttl <= 0) {
                $expired[] = $name;
            } else {
                $stored[$name] = [$value, $ttl, array_map($this->tagName(...), $tags)];
            }
        }
        if ($expired !== []) {
            $this->table->deleteMultiple($expired);
        }
        return Batch::store($this->table, $stored) === [];
    }

    private function tagName(string $tag): string
    {
        return $this->prefix . $tag;
    }

    /** @return list<string> */
    private function tagsOf(string $name): array
    {
        $skip = strlen($this->prefix);
        return array_map(fn(string $tag) => substr($tag, $skip), $this->table->tagsOf($name) ?? []);
    }

    private function name(mixed $key): string
    {
        $problem = Keys::problem($key);
        if ($problem !== null) {
            throw new PoolInvalidArgument($problem);
        }
        return $this->prefix . $key;
    }
}
