<?php

namespace Tavola\Psr;

use Cache\TagInterop\TaggableCacheItemInterface;

/** An item of `TaggableCachePool`. */
final class TaggableCacheItem extends CacheItem implements TaggableCacheItemInterface
{
}
