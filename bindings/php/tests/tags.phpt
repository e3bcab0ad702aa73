--TEST--
Tags: keys that are invalidated together
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;
$t = Table::open('t');
$t->set('a', 1, tags: ['red', 'blue']);
$t->set('b', 2, tags: ['blue']);
$t->set('c', 3);
same(['red', 'blue'], $t->tagsOf('a'));
same([], $t->tagsOf('c'));
same(null, $t->tagsOf('none'));
same(true, $t->invalidateTag('red'));
same([null, 2, 3], [$t['a'], $t['b'], $t['c']]);
same(true, $t->invalidateTag('none', 'blue'));
same(null, $t['b']);
same(false, $t->invalidateTag('none'));
same(false, $t->invalidateTag());

/* Handles that were fetched before an invalidation. */
$tags = $t->tags('page', 'user:7');
$t->invalidateTag('user:7');
$t->set('page', '<p>old</p>', tags: $tags);
same(null, $t['page'], 'computed from data of before');
$t->add('page', '<p>new</p>', 60, $t->tags('page', 'user:7'));
same('<p>new</p>', $t['page']);
$t->setMultiple(['x' => 1, 'y' => 2], null, ['all']);
$t->setBytes('z', 'raw', 0, null, ['all']);
same(3, count($t->getMultiple(['x', 'y', 'z'])));
$t->invalidateTag('all');
same([], $t->getMultiple(['x', 'y', 'z']));

same(1, $t->compute('page2', fn() => 1, tags: ['computed']));
same(['computed'], $t->tagsOf('page2'));
same(2, $t->compute('lost', function () use ($t) { $t->invalidateTag('computed'); return 2; },
    tags: ['computed']));
same(null, $t['lost'], 'invalidated while it was computed');

throws(TypeError::class, fn() => $t->set('a', 1, null, 'red'), 'Tavola\Tags|array|null');
throws(Tavola\BadOptionException::class, fn() => $t->set('a', 1, null, range(1, 17)), '16');
throws(Tavola\ArgumentException::class, fn() => $t->set('a', 1, null,
    Table::open('u')->tags('red')), 'another table');
$t->set('a', 1, null, []);
same([], $t->tagsOf('a'));
echo 'done';
?>
--EXPECT--
done
