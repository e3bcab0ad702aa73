<?php

use Cache\IntegrationTests\CachePoolTest as Suite;
use Tavola\Psr\CachePool;
use Tavola\Table;

final class CachePoolTest extends Suite
{
    public function createCachePool()
    {
        return new CachePool(new Table('psr6', ['serializer' => 'php']), 'app.');
    }

    public function testTagsAreInvalidated(): void
    {
        $this->cache->save($this->cache->getItem('a')->set(1)->tag('red'));
        $this->cache->save($this->cache->getItem('b')->set(2)->tag(['red', 'blue']));
        $this->cache->save($this->cache->getItem('c')->set(3));
        $this->assertSame(['red', 'blue'], $this->cache->getItem('b')->getPreviousTags());
        $this->assertTrue($this->cache->invalidateTags(['blue', 'none']));
        $this->assertTrue($this->cache->getItem('a')->isHit());
        $this->assertFalse($this->cache->getItem('b')->isHit());
        $this->assertTrue($this->cache->invalidateTag('red'));
        $this->assertSame([false, true], [$this->cache->hasItem('a'), $this->cache->hasItem('c')]);
    }
}
