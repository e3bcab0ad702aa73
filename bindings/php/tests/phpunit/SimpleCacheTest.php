<?php

use Cache\IntegrationTests\SimpleCacheTest as Suite;
use Tavola\Psr\SimpleCache;
use Tavola\Table;

final class SimpleCacheTest extends Suite
{
    public function createSimpleCache()
    {
        return new SimpleCache(new Table('psr16', ['serializer' => 'php']), 'app.');
    }

    public function testAPrefixSeparatesCaches(): void
    {
        $other = new SimpleCache(new Table('psr16', ['serializer' => 'php']), 'other.');
        $other->set('a', 'theirs');
        $this->cache->set('a', 'ours');
        $this->cache->clear();
        $this->assertNull($this->cache->get('a'));
        $this->assertSame('theirs', $other->get('a'));
    }

    public function testAStoredNullIsNoMiss(): void
    {
        $this->cache->set('null', null);
        $this->assertNull($this->cache->get('null', 'default'));
        $this->assertSame(['null' => null, 'none' => 1], $this->cache->getMultiple(['null',
            'none'], 1));
    }
}
