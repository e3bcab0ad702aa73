<?php

use Illuminate\Cache\Repository;
use PHPUnit\Framework\TestCase;
use Tavola\Laravel\Store;
use Tavola\Table;

final class LaravelTest extends TestCase
{
    private Store $store;
    private Table $table;

    protected function setUp(): void
    {
        $this->table = new Table('laravel', ['serializer' => 'php']);
        $this->table->clear();
        $this->store = new Store($this->table, 'app:');
    }

    public function testItemsAreStoredAndRemoved(): void
    {
        $this->assertNull($this->store->get('a'));
        $this->assertTrue($this->store->put('a', ['x' => new ArrayObject([1])], 10));
        $this->assertEquals(['x' => new ArrayObject([1])], $this->store->get('a'));
        $this->assertSame(10, $this->table->ttl('app:a'));
        $this->assertTrue($this->store->forever('f', 1));
        $this->assertNull($this->table->ttl('app:f'));
        $this->assertTrue($this->store->putMany(['b' => 2, '3' => 'three'], 10));
        $this->assertSame(['b' => 2, '3' => 'three', 'none' => null], $this->store->many(['b', '3',
            'none']));
        $this->assertTrue($this->store->forget('a'));
        $this->assertFalse($this->store->forget('a'));
        $this->assertSame('app:', $this->store->getPrefix());
        $this->table->set('other', 1);
        $this->assertTrue($this->store->flush());
        $this->assertNull($this->store->get('b'));
        $this->assertSame(1, $this->table->get('other'));
    }

    public function testNumbersCount(): void
    {
        $this->assertSame(1, $this->store->increment('n'));
        $this->assertSame(6, $this->store->increment('n', 5));
        $this->assertSame(-4, $this->store->decrement('n', 10));
        $this->store->put('text', 'abc', 10);
        $this->assertFalse($this->store->increment('text'));
        $this->assertTrue($this->store->add('once', 1, 10));
        $this->assertFalse($this->store->add('once', 2, 10));
    }

    public function testLocksHaveOneOwner(): void
    {
        $lock = $this->store->lock('job', 10);
        $this->assertTrue($lock->get());
        $this->assertFalse($this->store->lock('job', 10)->get());
        $this->assertFalse($this->store->lock('job', 10)->release());
        $restored = $this->store->restoreLock('job', $lock->owner());
        $this->assertTrue($restored->release());
        $this->assertFalse($lock->release());
        $this->assertSame('done', $this->store->lock('job')->get(fn() => 'done'));
        $this->assertTrue($this->store->lock('job', 10)->get());
        $this->store->lock('job')->forceRelease();
        $this->assertTrue($this->store->lock('job', 10)->get());
    }

    public function testTheRepositoryWorks(): void
    {
        $cache = new Repository($this->store);
        $this->assertSame('made', $cache->remember('r', 10, fn() => 'made'));
        $this->assertSame('made', $cache->remember('r', 10, fn() => 'again'));
        $this->assertSame('made', $cache->pull('r'));
        $this->assertFalse($cache->has('r'));
        $cache->tags(['people', 'authors'])->put('John', 'Doe', 10);
        $this->assertSame('Doe', $cache->tags(['people', 'authors'])->get('John'));
        $cache->tags('authors')->flush();
        $this->assertNull($cache->tags(['people', 'authors'])->get('John'));
    }
}
