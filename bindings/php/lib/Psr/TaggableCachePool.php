<?php

namespace Tavola\Psr;

use Cache\TagInterop\TaggableCacheItemPoolInterface;

/** A pool with the interfaces of cache/tag-interop. */
final class TaggableCachePool extends CachePool implements TaggableCacheItemPoolInterface
{
    protected function makeItem(string $key, mixed $value, bool $isHit,
        array $previousTags): CacheItem
    {
        return new TaggableCacheItem($key, $value, $isHit, $previousTags);
    }
}
