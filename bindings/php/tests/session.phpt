--TEST--
Sessions of PHP in a table
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
session.use_strict_mode=0
--FILE--
<?php
require __DIR__ . '/begin.inc';
require getenv('TAVOLA_PHP_SOURCE') . '/lib/autoload.php';
use Tavola\SessionLock;
$table = new Tavola\Table('sessions');
session_set_save_handler(new Tavola\SessionHandler($table, 'php:'), true);
session_id('theid');
same(true, session_start());
$_SESSION['visits'] = 5;
session_write_close();
same('visits|i:5;', $table->getBytes('php:theid'));
same((int) ini_get('session.gc_maxlifetime'), $table->ttl('php:theid'));
session_id('theid');
session_start();
same(5, $_SESSION['visits']);
same(null, SessionLock::take($table, 'php:theid', 0), 'locked while it is open');
$_SESSION['visits'] = 6;
same(true, session_reset());
same(5, $_SESSION['visits']);
same(null, SessionLock::take($table, 'php:theid', 0), 'locked after a reset as well');
session_write_close();
same(true, SessionLock::take($table, 'php:theid', 0) !== null);
session_id('theid');
session_start();
session_destroy();
same(false, $table->exists('php:theid'));

/* The key of a lock has no value. */
$table["\0lock\0php:value"] = 1;
throws(Tavola\ArgumentException::class, fn() => SessionLock::take($table, 'php:value'),
    'php:value has a value');

/* The save handler `tavola` has the keys and locks of the class. */
ini_set('session.save_handler', 'tavola');
ini_set('session.save_path', 'sessions');
$other = new Tavola\SessionHandler($table, lockTimeout: 0.05);
session_id('both');
session_start();
$_SESSION['visits'] = 1;
same(false, $other->read('both'));
session_write_close();
same('visits|i:1;', $other->read('both'));
$other->close();
echo 'done';
?>
--EXPECT--
done
