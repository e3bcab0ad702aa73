<?php

use Cache\IntegrationTests\TaggableCachePoolTest as Suite;
use Tavola\Psr\TaggableCachePool;
use Tavola\Table;

final class TaggableCachePoolTest extends Suite
{
    public function createCachePool()
    {
        return new TaggableCachePool(new Table('tagged', ['serializer' => 'php']));
    }
}
