--TEST--
Serializers: objects are read only from a table that was opened so
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\Table;

class Trap
{
    public static int $woken = 0;
    public function __construct(public mixed $inner = null) {}
    public function __wakeup(): void { self::$woken++; }
}

$plain = Table::open('t');
$php = Table::open('t', ['serializer' => 'php']);
$php['key'] = new Trap(5);
same(0x54110000, $php->entry('key')['flags']);
Trap::$woken = 0;
same(serialize(new Trap(5)), $plain['key']);
same(0, Trap::$woken);
same(5, $php['key']->inner);
same(1, Trap::$woken);

$php['key'] = ['exact' => 1.5];
same(0x54040000, $php->entry('key')['flags'], 'what is JSON stays JSON');
$value = 1;
$php['key'] = [&$value, &$value];
$read = $php['key'];
$read[0] = 2;
same(2, $read[1], 'references are kept');
foreach ([["\xff" => "\xfe"], [NAN], new DateTimeImmutable('2026-01-01')] as $value) {
    $php['key'] = $value;
    same(serialize($value), serialize($php['key']));
}
throws(Exception::class, fn() => $php->set('bad', fn() => 1), 'Closure');
throws(Tavola\ArgumentException::class, fn() => $php->set('bad', STDIN));
same(false, $php->exists('bad'));

$php->setBytes('broken', 'O:4:"Tra', 0x54110000);
same('O:4:"Tra', $php['broken']);
$php->setBytes('broken', 'i:1;tail', 0x54110000);
same('i:1;tail', $php['broken']);
$php->setBytes('alien', 'O:5:"Alien":0:{}', 0x54110000);
same('__PHP_Incomplete_Class', get_class($php['alien']));

/* A value that reads the table while it is unserialized. */
class Nested
{
    public static ?Table $table = null;
    public mixed $found = null;
    public function __serialize(): array { self::$table->set('inner', new Trap('in')); return []; }
    public function __unserialize(array $data): void { $this->found = self::$table->get('inner'); }
}
Nested::$table = $php;
$php['outer'] = [new Nested, new Trap('out')];
same('in', $php['outer'][0]->found->inner);
same('out', $php['outer'][1]->inner);

if (extension_loaded('igbinary')) {
    $igbinary = Table::open('t', ['serializer' => 'igbinary']);
    $igbinary['key'] = new Trap([1]);
    same(0x54120000, $igbinary->entry('key')['flags']);
    same([1], $igbinary['key']->inner);
    same([1], $php['key']->inner, 'either serializer reads both kinds');
    same(true, is_string($plain['key']));
    $igbinary->setBytes('broken', 'no', 0x54120000);
    same('no', $igbinary['broken']);
} else {
    throws(Tavola\BadOptionException::class,
        fn() => Table::open('t', ['serializer' => 'igbinary'])->set('key', new Trap), 'igbinary');
}
ini_set('tavola.serializer', 'php');
$set = Table::open('t');
$set['key'] = new Trap(5);
same(5, $set['key']->inner);
throws(Tavola\ArgumentException::class, fn() => Table::open('t',
    ['serializer' => null])->set('key', new Trap));
echo 'done';
?>
--EXPECT--
done
