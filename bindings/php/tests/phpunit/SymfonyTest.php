<?php

use Symfony\Component\Cache\Adapter\AdapterInterface;
use Symfony\Component\Cache\Tests\Adapter\AdapterTestCase;
use Symfony\Component\Cache\Tests\Adapter\TagAwareTestTrait;
use Tavola\Symfony\TavolaAdapter;
use Tavola\Table;

require_once getenv('SYMFONY_CACHE_TESTS') . '/Adapter/AdapterTestCase.php';
require_once getenv('SYMFONY_CACHE_TESTS') . '/Adapter/TagAwareTestTrait.php';

final class SymfonyTest extends AdapterTestCase
{
    use TagAwareTestTrait;

    private const OPTIONS = ['serializer' => 'php'];

    /* Symfony's test of prune sleeps for two minutes; TAVOLA_TEST_PRUNE=1 runs it. */
    protected function setUp(): void
    {
        if (!getenv('TAVOLA_TEST_PRUNE')) {
            $this->skippedTests['testPrune'] = 'it sleeps for two minutes';
        }
        parent::setUp();
    }

    public function createCachePool(int $defaultLifetime = 0): AdapterInterface
    {
        return new TavolaAdapter(new Table('symfony', self::OPTIONS), 'ns', $defaultLifetime);
    }

    protected function isPruned(TavolaAdapter $cache, string $name): bool
    {
        $id = (new ReflectionMethod($cache, 'getId'))->invoke($cache, $name);
        return !(new Table('symfony', self::OPTIONS))->exists($id);
    }
}
