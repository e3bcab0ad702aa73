--TEST--
Durable tables: what is there after the memory was lost, each policy, each error
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/begin.inc';
require __DIR__ . '/durable.inc';
use Tavola\{Names, Table};

/* The policy in the file `table`, and its milliseconds. */
$policy = fn() => array_values(unpack('P2', file_get_contents("$home/table"), 72));

/* All that another process wrote comes back, and its path is enough to open it. */
apart(function () use ($home) {
    $t = new Table($home, ['durable' => 'os', 'serializer' => 'php']);
    same([true, 'os'], [$t->isDurable(), $t->durability()]);
    $t['text'] = 'ü';
    $t['number'] = 7;
    $t['list'] = [1, ['a' => null]];
    $t['object'] = new DateTimeImmutable('2026-01-01');
    $t->set('tagged', 'page', 1000, ['news']);
    $t->set('invalid', 'page', null, ['old']);
    $t->setBytes('raw', "\0", 5);
    $t->inc('counter', 41);
    $t['gone'] = 1;
    unset($t['gone']);
    $t->invalidateTag('old');
    $t['large'] = str_repeat('x', 1000000);
    $t->setMultiple(array_fill_keys(array_map(fn($i) => "k$i", range(0, 199)), 'many'));
});
same([2, 0], $policy());
lose_memory();
apart(function () use ($home) {
    $t = new Table($home, ['serializer' => 'php']);
    same(true, $t->isDurable());
    same(['ü', 7, [1, ['a' => null]]], [$t['text'], $t['number'], $t['list']]);
    same('2026', $t['object']->format('Y'));
    same(5, $t->entry('raw')['flags']);
    same("\0", $t->getBytes('raw'));
    same(42, $t->inc('counter'));
    same(false, $t->exists('gone') || $t->exists('invalid'));
    same(str_repeat('x', 1000000), $t['large']);
    same(200, count($t->keys('k')));
    same(true, $t->ttl('tagged') > 900 && $t->ttl('tagged') <= 1000);
    same(null, $t->ttl('text'));
    $t->invalidateTag('news');
    same(false, $t->exists('tagged'));
    same(0, $t->check()['problems']);
});
Names::remove($home);
same(false, file_exists($home));

/* With 'commit', a change is on disk when it has returned, also one of many keys. */
apart(fn() => new Table($home, ['durable' => 'commit']) && null);
same([0, 0], $policy());
die_after(function (Table $t) {
    $t['set'] = 1;
    $t->inc('n', 5);
    $t['deleted'] = 1;
    unset($t['deleted']);
    $t->setMultiple(['m1' => 1, 'm2' => 2]);
    $t->compute('computed', fn() => 'value');
}, $home);
lose_memory();
die_after(function (Table $t) {
    same(['computed', 'm1', 'm2', 'n', 'set'], (function ($keys) {
        sort($keys);
        return $keys;
    })($t->keys()));
    $t->transaction(function ($t) {
        $t->inc('n', 5);
        $t->set('both', $t->dec('set'));
    });
    $t->transaction(function ($t) {
        $t->set('aborted', 1);
        $t->abort();
    });
}, $home);
lose_memory();
apart(function () use ($home) {
    $t = new Table($home);
    same([10, 0, 0, false], [$t['n'], $t['set'], $t['both'], $t->exists('aborted')]);
});
Names::remove($home);

/* A call for many keys waits for the disk once. */
apart(function () use ($home) {
    $t = new Table($home, ['durable' => 'commit']);
    $values = array_fill_keys(array_map(fn($i) => "many:$i", range(1, 200)), 'value');
    $tags = $t->tags('tag');
    $calls = [
        'set' => fn() => $t->set('many:1', 1),
        'setMultiple' => fn() => $t->setMultiple($values),
        'tags' => fn() => $t->setMultiple($values, 100, $tags),
        'deleteMultiple' => fn() => same(200, $t->deleteMultiple([...array_keys($values), 'none'])),
    ];
    foreach ($calls as $name => $call) {
        $before = $t->stats()['syncs'];
        $call();
        same([$name, 1], [$name, $t->stats()['syncs'] - $before]);
    }
    same(0, $t->stats()['unsynced_bytes']);
});
Names::remove($home);

/* A handle may be stricter than its table. A number is seconds. */
apart(fn() => same(0.05, Table::create($home, ['durable' => 0.05])->durability()));
same([1, 50], $policy());
die_after(function (Table $t) use ($home) {
    same(['commit', null], [$t->durability(), Table::readOnly($home)->durability()]);
    $t->set('strict', 1);
}, $home, ['durable' => 'commit']);
lose_memory();
die_after(function (Table $t) {
    same(1, $t['strict']);
    $t['synced'] = 1;
    $t->sync();
}, $home);
lose_memory();
die_after(function (Table $t) use ($home) {
    same(1, $t['synced']);
    same(true, $t->snapshot());
    same(1, count(glob("$home/snapshot-*")));
}, $home);
lose_memory();

/* A process keeps a table open, and notices that it was removed, although the directory stays. */
apart(function () use ($home, $policy) {
    $t = new Table($home, ['durable' => 2]);
    same(1, $t['synced']);
    same(false, $t->refresh());
    unset($t);
    touch("$home/of-another-program");
    Names::remove($home);
    unlink("$home/of-another-program");
    same(true, is_dir($home));
    $t = new Table($home, ['durable' => 2]);
    same([1, 2000], $policy());
    same(0, count($t));
});

/* A session is there after a restart of the machine. */
require getenv('TAVOLA_PHP_SOURCE') . '/lib/autoload.php';
$sessions = fn() => new Tavola\SessionHandler(new Table($home, ['durable' => 'commit']));
apart(fn() => same(true, $sessions()->write('theid', 'n|i:1;')));
lose_memory();
apart(fn() => same('n|i:1;', $sessions()->read('theid')));

/* Errors. */
apart(function () use ($home) {
    $t = new Table($home);
    $t[str_repeat('k', 8192)] = 1;
    $thrown = throws(Tavola\KeyTooLongException::class,
        fn() => $t->set(str_repeat('k', 8193), 1), '8192');
    same([-37, 'KEY_TOO_LONG'], [$thrown->getCode(), $thrown->getStatus()]);
    $reader = Table::readOnly($home);
    same(true, $reader->isDurable());
    throws(Tavola\ReadOnlyException::class, fn() => $reader->sync());
    throws(Tavola\ReadOnlyException::class, fn() => $reader->snapshot());
});
$plain = new Table('plain');
same(false, $plain->isDurable());
same([null, false], [$plain->durability(), isset($plain->stats()['syncs'])]);
throws(Tavola\BadOptionException::class, fn() => $plain->sync(), 'only in memory');
throws(Tavola\BadOptionException::class, fn() => $plain->snapshot(), 'only in memory');
throws(Tavola\BadOptionException::class, fn() => new Table('plain', ['durable' => 'os']),
    'only in memory');
throws(Tavola\BadOptionException::class,
    fn() => new Table("$home-2", ['durable' => 'os', 'capacity' => '8M']), 'not durable');
throws(Tavola\BadOptionException::class, fn() => Table::private(['durable' => 'os']), 'private');
foreach (['always', '', 0, 0.0, -1, NAN, INF, 1e9, true, []] as $wrong) {
    throws(Tavola\BadOptionException::class, fn() => new Table("$home-2", ['durable' => $wrong]),
        "'durable' must be");
}
same(false, file_exists("$home-2"));

/* A limit of the size of files makes a write fail as a broken disk does. */
Names::remove($home);
apart(function () use ($home) {
    $t = new Table($home, ['durable' => 'commit']);
    $t['before'] = 1;
    pcntl_signal(SIGXFSZ, SIG_IGN);
    posix_setrlimit(POSIX_RLIMIT_FSIZE, 0, -1);
    $thrown = throws(Tavola\NotDurableException::class, fn() => $t->set('unsure', 1));
    same([-36, 'NOT_DURABLE'], [$thrown->getCode(), $thrown->getStatus()]);
    throws(Tavola\NotDurableException::class, fn() => $t->set('after', 1));
    same([1, false], [$t['before'], $t->exists('after')]);
    posix_setrlimit(POSIX_RLIMIT_FSIZE, -1, -1);
    while (!$t->snapshot());
    $t['mended'] = 1;
});

/* Processes that still use memory which was removed. */
[$near, $far] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$pid = child(function () use ($home, $far) {
    $t = new Table($home);
    fwrite($far, 'x');
    fread($far, 1);
    $t['late'] = 'xyzzy';
});
fread($near, 1);
lose_memory();
$thrown = throws(Tavola\InUseElsewhereException::class, fn() => new Table($home), $home);
same([-39, 'IN_USE_ELSEWHERE'], [$thrown->getCode(), $thrown->getStatus()]);
fwrite($near, 'x');
same(0, ended($pid));
apart(fn() => same('xyzzy', (new Table($home))['late']));

/* Damaged files. */
Names::remove($home);
die_after(function (Table $t) {
    $t['a'] = 'xyzzy';
    $t['b'] = 1;
}, $home, ['durable' => 'commit']);
lose_memory();
foreach (glob("$home/journal-*") as $file) {
    file_put_contents($file, str_replace('xyzzy', 'XYZZY', file_get_contents($file)));
}
$thrown = throws(Tavola\DamagedJournalException::class, fn() => new Table($home), 'journal-');
same([-38, 'DAMAGED_JOURNAL'], [$thrown->getCode(), $thrown->getStatus()]);
echo 'done';
?>
--EXPECT--
done
