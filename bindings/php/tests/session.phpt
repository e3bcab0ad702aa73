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
same(null, $table->lock('php:theid', 0), 'locked while it is open');
session_write_close();
same(true, $table->lock('php:theid', 0)->release());
session_id('theid');
session_start();
session_destroy();
same(false, $table->exists('php:theid'));
echo 'done';
?>
--EXPECT--
done
