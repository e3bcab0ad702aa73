--TEST--
Writing keys: set, add, replace, append, prepend, delete, take, swap, gets, cas, update
--FILE--
<?php
require __DIR__ . '/begin.inc';
foreach ([[], ['versions' => true], ['capacity' => '8M']] as $number => $options) {
    $t = Tavola\Table::open("t$number", $options);
    same(true, $t->set('a', 'one'));
    same(false, $t->add('a', 'two'));
    same(true, $t->add('b', 'two'));
    same(true, $t->replace('a', 'three'));
    same(false, $t->replace('none', 1));
    same(true, $t->append('a', '!'));
    same(true, $t->prepend('a', '>'));
    same('>three!', $t->get('a'));
    same(false, $t->append('none', 'x'));
    same(false, $t->prepend('none', 'x'));
    same(true, $t->exists('a'));
    same(true, $t->delete('a'));
    same(false, $t->delete('a'));
    same(false, $t->exists('a'));

    $t->set('job', [1, 2]);
    same([1, 2], $t->take('job'));
    same(null, $t->take('job'));
    same('none', $t->take('job', 'none'));
    same('new', $t->swap('job', 5, 'new'));
    same(5, $t->swap('job', 'x'));
    same('x', $t->get('job'));

    same(null, $t->gets('none'));
    [$value, $token] = $t->gets('job');
    same('x', $value);
    same(true, $t->cas('job', $token, 'y'));
    same(false, $t->cas('job', $token, 'z'));
    same(false, $t->cas('none', $token, 'z'));
    same('y', $t->get('job'));

    same(1, $t->update('n', fn($old) => ($old ?? 0) + 1));
    same(2, $t->update('n', fn($old) => ($old ?? 0) + 1));
    same(null, $t->update('n', fn($old) => null));
    same(false, $t->exists('n'));
    same(null, $t->update('n', fn($old) => null));
    $calls = 0;
    same('late', $t->update('b', function ($old) use ($t, &$calls) {
        if ($calls++ === 0) {
            $t->set('b', 'another process');
            return 'lost';
        }
        same('another process', $old);
        return 'late';
    }));
    same(2, $calls, 'a change meanwhile is retried');
    throws(LogicException::class, fn() => $t->update('b', fn() => throw new LogicException('no')));
    same('late', $t->get('b'));

    $t["bin\0ary"] = 'x';
    same('x', $t["bin\0ary"]);
    $t[''] = 'empty key';
    same('empty key', $t['']);
    same('number', (function () use ($t) { $t[17] = 'number'; return $t['17']; })());
}
echo 'done';
?>
--EXPECT--
done
