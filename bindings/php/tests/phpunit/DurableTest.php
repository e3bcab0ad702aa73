<?php

use PHPUnit\Framework\TestCase;
use Tavola\Psr\CachePool;
use Tavola\Symfony\TavolaAdapter;
use Tavola\{Names, Table};

/** Caches in a durable table, in which each call waits for the disk. */
final class DurableTest extends TestCase
{
    private string $home;
    private Table $table;

    protected function setUp(): void
    {
        $this->home = sys_get_temp_dir() . '/tavola-phpunit-' . getmypid();
        $this->table = new Table($this->home, ['durable' => 'commit', 'max_size' => '16M',
            'serializer' => 'php']);
    }

    protected function tearDown(): void
    {
        unset($this->table);
        Names::remove($this->home);
    }

    /** Returns how many times a call has waited for the disk. */
    private function syncsOf(callable $call): int
    {
        $before = $this->table->stats()['syncs'];
        $call();
        return $this->table->stats()['syncs'] - $before;
    }

    public function testDeferredItemsOfPsr6WaitForTheDiskOnce(): void
    {
        $pool = new CachePool($this->table, 'pool.');
        for ($i = 1; $i <= 20; $i++) {
            $item = $pool->getItem("item$i")->set($i)->tag("tag$i");
            $pool->saveDeferred($item->expiresAfter($i === 20 ? null : 100 + $i));
        }
        $this->assertSame(1, $this->syncsOf(fn() => $this->assertTrue($pool->commit())));
        $this->assertSame(7, $pool->getItem('item7')->get());
        $this->assertEqualsWithDelta(107, $this->table->ttl('pool.item7'), 5);
        $this->assertNull($this->table->ttl('pool.item20'));
        $this->assertSame(['pool.tag7'], $this->table->tagsOf('pool.item7'));
        $this->assertSame(0, $this->syncsOf(fn() => $pool->commit()));
    }

    public function testItemsOfSymfonyWaitForTheDiskOnce(): void
    {
        $cache = new TavolaAdapter($this->table, 'ns');
        for ($i = 1; $i <= 20; $i++) {
            $item = $cache->getItem("item$i")->set(new ArrayObject([$i]))->tag("tag$i");
            $cache->saveDeferred($item->expiresAfter(100));
        }
        $this->assertSame(1, $this->syncsOf(fn() => $this->assertTrue($cache->commit())));
        $this->assertEquals(new ArrayObject([7]), $cache->getItem('item7')->get());
        $cache->invalidateTags(['tag7']);
        $this->assertSame([false, true], [$cache->hasItem('item7'), $cache->hasItem('item8')]);
    }

    public function testAnItemThatDoesNotFitKeepsNoOtherOut(): void
    {
        $pool = new CachePool($this->table);
        $pool->saveDeferred($pool->getItem('before')->set(1));
        $pool->saveDeferred($pool->getItem('large')->set(str_repeat('x', 32 << 20)));
        $pool->saveDeferred($pool->getItem('after')->set(2));
        $this->assertFalse($pool->commit());
        $there = fn(string $key) => $pool->hasItem($key);
        $this->assertSame([true, false, true], array_map($there, ['before', 'large', 'after']));
    }

    public function testAnItemThatIsRefusedKeepsNoOtherOut(): void
    {
        $pool = new CachePool($this->table);
        $tags = array_map(fn(int $i) => "tag$i", range(1, 17));
        $pool->saveDeferred($pool->getItem('refused')->set(1)->setTags($tags));
        $pool->saveDeferred($pool->getItem('after')->set(2));
        try {
            $pool->commit();
            $this->fail('17 tags were stored');
        } catch (Tavola\BadOptionException) {
            $this->assertTrue($pool->hasItem('after'));
        }
    }
}
