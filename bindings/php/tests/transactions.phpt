--TEST--
Transactions: changes of several keys that happen at once
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\{Table, Transaction};
$t = Table::open('t', ['max_size' => '16M', 'serializer' => 'php']);

/* All changes happen at once, and own writes are seen. */
$t['alice'] = 10;
$result = $t->transaction(function (Transaction $x) use ($t) {
    same(6, $x->dec('alice', 4));
    same(4, $x->inc('bob', 4));
    same([6, 4], [$x->get('alice'), $x->get('bob')]);
    same([10, null], [$t['alice'], $t['bob']], 'others see nothing before the commit');
    return ['left' => 6];
});
same(['left' => 6], $result);
same([6, 4], [$t['alice'], $t['bob']]);

/* Every call, with the values of PHP. */
$t->transaction(function (Transaction $x) use ($t) {
    foreach (['a', 7, -1.5, true, null, [1, 'b' => ['c']], new ArrayObject([3])] as $i => $value) {
        same(true, $x->set("v$i", $value));
        same(serialize($value), serialize($x->get("v$i", 'none')));
    }
    same('none', $x->get('missing', 'none'));
    same(null, $x->get('missing'));
    same([true, false], [$x->exists('v0'), $x->exists('missing')]);
    same([false, true], [$x->add('v0', 1), $x->add('new', [1])]);
    same([true, false], [$x->replace('v0', 'x'), $x->replace('missing', 1)]);
    same([true, false], [$x->append('v0', 'yz'), $x->append('missing', 'y')]);
    same([7, 'none'], [$x->take('v1'), $x->take('v1', 'none')]);
    same([true, false], [$x->delete('v2'), $x->delete('v2')]);
    same([101, 102, -1], [$x->inc('n', 1, 100), $x->inc('n'), $x->dec('m')]);
    same(1, $x->inc('hits', ttl: 30));
    $x->set('tagged', 'x', 60, ['red']);
    $x->set('tagged too', 'y', tags: $t->tags('red'));
    same('', $x->get('empty', '') . ($x->set('empty', '') ? $x->get('empty') : 'no'));
});
same(['xyz', null, null, true, [1]], [$t['v0'], $t['v1'], $t['v2'], $t['v3'], $t['new']]);
same([102, -1, 1, ''], [$t['n'], $t['m'], $t['hits'], $t['empty']]);
same([3], $t['v6']->getArrayCopy());
same([60, 30, ['red']], [$t->ttl('tagged'), $t->ttl('hits'), $t->tagsOf('tagged')]);
$t->invalidateTag('red');
same([null, null], [$t['tagged'], $t['tagged too']]);

/* An exception or an abort of a run that saw two moments is not the caller's: it runs again. */
$other = Table::open('t');
foreach (['throw', 'abort', 'abort and throw'] as $end) {
    $t->setMultiple(['left' => 1, 'right' => 1]);
    $runs = 0;
    same('equal', $t->transaction(function ($x) use ($other, &$runs, $end) {
        $left = $x->get('left');
        if (++$runs === 1) {
            $other->setMultiple(['left' => 2, 'right' => 2]);
        }
        if ($left === $x->get('right')) {
            return 'equal';
        }
        $x->set('left', 'never seen');
        if ($end !== 'throw') {
            try {
                $x->abort();
            } finally {
                $end === 'abort' || throw new LogicException('two moments');
            }
        }
        throw new LogicException('two moments');
    }), $end);
    same([2, 2], [$runs, $t['left']], $end);
}
$runs = 0;
same(4, $t->readTogether(function ($x) use ($other, &$runs) {
    $left = $x->get('left');
    if (++$runs === 1) {
        $other->setMultiple(['left' => 2, 'right' => 3]);
        $other->setMultiple(['left' => 1, 'right' => 3]);
    }
    return $x->get('right') === 3 && $left === 2 ? throw new LogicException('two') : $left + 3;
}));
same(2, $runs);

/* One of a run that saw one moment is the caller's, and nothing is changed. */
$runs = 0;
throws(DomainException::class, function () use ($t, &$runs) {
    $t->transaction(function ($x) use (&$runs) {
        $runs++;
        $x->set('left', $x->get('right'));
        throw new DomainException('mine');
    });
});
same([1, 1], [$runs, $t['left']]);

/* A conflict runs the function again, with a new object. */
$other = Table::open('t');
$runs = 0;
$kept = [];
same('run 2', $t->transaction(function ($x) use ($other, &$runs, &$kept) {
    $kept[] = $x;
    $n = $x->get('alice');
    if (++$runs === 1) {
        $other['alice'] = 100;
    }
    $x->set('alice', $n + 1);
    return "run $runs";
}));
same([2, 101], [$runs, $t['alice']]);
same(false, $kept[0] === $kept[1]);

/* After eight conflicts, it has the turn: so another one that waits for the turn is refused. */
$runs = 0;
$codes = [];
$t->transaction(function ($x) use ($t, $other, &$runs, &$codes) {
    $x->get('alice');
    $x->set('last', ++$runs);
    try {
        $t->transaction(fn() => 0, once: true);
        $codes[] = 'OK';
    } catch (Tavola\Exception $thrown) {
        $codes[] = $thrown->getStatus();
    }
    if ($runs < 10) {
        $other->inc('alice');
    }
});
same([10, 10], [$runs, $t['last']]);
same([...array_fill(0, 8, 'OK'), 'REENTRANT', 'REENTRANT'], $codes);

/* Once. */
same(3, $t->transaction(fn($x) => $x->inc('once', 3), once: true));
$runs = 0;
$conflict = function ($x) use ($other, &$runs) {
    $runs++;
    $x->get('once');
    $other['once'] = 50;
    $x->set('once', 0);
};
$thrown = throws(Tavola\ConflictException::class,
    fn() => $t->transaction($conflict, true), 'begin it again');
same([1, 50, 'CONFLICT', 8], [$runs, $t['once'], $thrown->getStatus(), $thrown->getCode()]);
same(51, $t->transaction(fn($x) => $x->inc('once'), once: true), 'the turn is free again');

/* An exception aborts and is thrown on. */
$mine = new DomainException('mine');
same($mine, throws(DomainException::class, fn() => $t->transaction(function ($x) use ($mine) {
    $x->set('thrown', 1);
    throw $mine;
})));
throws(Tavola\NotACounterException::class, fn() => $t->transaction(function ($x) {
    $x->set('thrown', 'text');
    $x->inc('thrown');
}));
throws(TypeError::class, fn() => $t->transaction(fn(int $x) => $kept = $x));
same(null, $t['thrown']);
throws(DomainException::class, fn() => $t->transaction(fn() => throw $mine, once: true));
same(1, $t->transaction(fn($x) => $x->inc('turn'), once: true), 'the turn is free again');

/* Aborting. */
$steps = [];
same(null, $t->transaction(function ($x) use (&$steps, &$aborted) {
    $aborted = $x;
    $x->set('aborted', 1);
    try {
        $x->abort();
    } catch (Exception) {
        $steps[] = 'an exception of other calls';
    } finally {
        $steps[] = 'finally';
    }
    return 'not reached';
}));
same([['finally'], null], [$steps, $t['aborted']]);
throws(Tavola\NotHeldException::class, fn() => $aborted->get('a'), 'has ended');
same(null, $t->transaction(function ($x) {
    $x->set('aborted', 1);
    try {
        $x->abort();
    } catch (Throwable) {
        return 'not returned';
    }
}), 'also if the function catches it');
throws(DomainException::class, fn() => $t->transaction(function ($x) use ($mine) {
    try {
        $x->abort();
    } finally {
        throw $mine;
    }
}));
same(null, $t->transaction(function ($outer) use ($t) {
    $outer->set('aborted', 1);
    $t->transaction(function ($inner) use ($outer) {
        $inner->set('aborted', 2);
        $outer->abort();
    });
    return 'not reached';
}), 'the one outside, from the inside');
same('outside', $t->transaction(function ($outer) use ($t) {
    same(null, $t->transaction(fn($inner) => $inner->abort()));
    return 'outside';
}));
same(null, $t['aborted']);

/* Savepoints. */
$t->transaction(function ($x) {
    $x->set('order', 7);
    $before = $x->savepoint();
    $x->set('gift', 'book');
    $x->set('order', 8);
    $later = $x->savepoint();
    $x->delete('order');
    $x->rollBackTo($later);
    same(8, $x->get('order'));
    $x->rollBackTo($before);
    same([7, false], [$x->get('order'), $x->exists('gift')]);
    foreach ([$later, -1, PHP_INT_MAX] as $none) {
        throws(Tavola\BadOptionException::class, fn() => $x->rollBackTo($none), 'savepoint');
    }
});
same([7, null], [$t['order'], $t['gift']]);

/* Reading together: a change between two reads runs the function again. */
$t->setMultiple(['left' => 1, 'right' => -1]);
$runs = 0;
same(0, $t->readTogether(function ($x) use ($other, &$runs) {
    $left = $x->get('left');
    if (++$runs === 1) {
        $other->transaction(fn($w) => $w->inc('left') + $w->dec('right'));
    }
    return $left + $x->get('right');
}));
same(2, $runs);
throws(Tavola\ReadOnlyException::class, fn() => $t->readTogether(fn($x) => $x->set('left', 5)));
same(null, $t->readTogether(fn($x) => $x->abort()));
$reader = Table::readOnly('t');
same(2, $reader->readTogether(fn($x) => $x->get('left')));
throws(Tavola\ReadOnlyException::class, fn() => $reader->transaction(fn($x) => $x->set('left', 5)));

/* An object is of no use after its end, and no one can make one. */
foreach ([...$kept, $aborted] as $ended) {
    foreach (['get' => ['a'], 'take' => ['a'], 'exists' => ['a'], 'set' => ['a', 1],
            'add' => ['a', 1], 'replace' => ['a', 1], 'append' => ['a', 'b'], 'delete' => ['a'],
            'inc' => ['a'], 'dec' => ['a'], 'savepoint' => [], 'rollBackTo' => [0],
            'abort' => []] as $method => $arguments) {
        throws(Tavola\NotHeldException::class, fn() => $ended->$method(...$arguments), 'has ended');
    }
}
throws(Error::class, fn() => clone $kept[0], 'clone');
throws(Error::class, fn() => new Transaction(), 'private');
throws(Exception::class, fn() => serialize($kept[0]), 'not allowed');
class AbortsInside
{
    public function __construct(public Transaction $x) {}

    public function __serialize(): array
    {
        try {
            $this->x->abort();
        } catch (Error) {
        }
        return [];
    }
}
same(null, $t->transaction(function ($x) {
    throws(Tavola\NotHeldException::class, fn() => $x->set('inside', new AbortsInside($x)));
    return 'not returned';
}));
same(null, $t['inside']);

/* Limits. */
throws(Tavola\BadOptionException::class,
    fn() => Table::open('cache', ['capacity' => '4M'])->transaction(fn() => 1), 'cache');
throws(Tavola\BadOptionException::class,
    fn() => Table::open('cache')->readTogether(fn() => 1), 'cache');
throws(Tavola\TooManyChangesException::class, fn() => $t->transaction(function ($x) {
    for ($i = 0; $i <= 65536; $i++) {
        $x->set("many$i", $i);
    }
}), '65536');
same(false, $t->exists('many0'));
throws(Tavola\BadOptionException::class,
    fn() => $t->transaction(fn($x) => $x->inc('most', 1, PHP_INT_MAX)));
throws(ValueError::class, fn() => $t->transaction(fn($x) => $x->dec('most', PHP_INT_MIN)));
throws(TypeError::class, fn() => $t->transaction('no function'));
$fixed = Table::open('fixed', ['fixed' => [1, 2], 'max_size' => '1M']);
$fixed->transaction(fn($x) => $x->set('a', '12'));
same('12', $fixed->transaction(fn($x) => $x->get('a')));
throws(Tavola\ArgumentException::class, fn() => $fixed->transaction(fn($x) => $x->set('b', 1)));

/* A function that returns by reference, and a method by name. */
$value = ['x'];
same(['x'], $t->transaction(function & ($x) use (&$value) { return $value; }));
class Mover
{
    public function __call(string $name, array $arguments)
    {
        return $arguments[0]->inc($name);
    }
}
same([1, 2], [$t->transaction([new Mover(), 'moved']), $t->transaction([new Mover(), 'moved'])]);
same(0, $t->check()['problems']);
echo 'done';
?>
--EXPECT--
done
