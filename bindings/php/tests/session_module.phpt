--TEST--
The save handler of sessions, as a setting
--EXTENSIONS--
session
pcntl
posix
--INI--
session.save_handler=tavola
session.save_path=visitors
session.use_cookies=0
session.cache_limiter=
session.use_strict_mode=0
session.gc_maxlifetime=100
--FILE--
<?php
require __DIR__ . '/begin.inc';
use Tavola\{SessionLock, Table};
/** Begins the session of this id. */
$start = function (string $id): void {
    session_id($id);
    same(true, session_start());
};

$start('theid');
same([], $_SESSION);
$_SESSION['visits'] = 5;
session_write_close();
$table = Table::openExisting('visitors');
same('visits|i:5;', $table->getBytes('session:theid'));
same(0, $table->entry('session:theid')['flags']);
same(100, $table->ttl('session:theid'));

/* It is locked while it is open, and free afterwards. This is no named lock of the table, of which
 * there is only room for some thousands. */
$start('theid');
same(5, $_SESSION['visits']);
same(null, SessionLock::take($table, 'session:theid', 0));
same(true, $table->lock('session:theid', 0)->isHeld());
$_SESSION['visits'] = 6;
same(true, session_reset());
same(5, $_SESSION['visits']);
same(null, SessionLock::take($table, 'session:theid', 0), 'it is locked after a reset as well');
session_write_close();
same(true, SessionLock::take($table, 'session:theid', 0) !== null);

/* A session that has not changed lives longer, too. */
$table->touch('session:theid', 5);
$start('theid');
session_write_close();
same(100, $table->ttl('session:theid'));

/* Another process that is killed with the session loses its lock. */
same(-SIGKILL, ended(child(function () use ($start) {
    $start('theid');
    $_SESSION['visits'] = 7;
    kill_self();
})));
$start('theid');
same(5, $_SESSION['visits']);

/* A new id takes the values along, and the old one is gone. */
session_regenerate_id(true);
same(true, session_id() !== 'theid');
$new = session_id();
session_write_close();
same(false, $table->exists('session:theid'));
same('visits|i:5;', $table->getBytes("session:$new"));

/* In strict mode, an id that is unknown is not taken. */
ini_set('session.use_strict_mode', '1');
session_id($new);
session_start();
same($new, session_id());
session_write_close();
session_id('unknown');
session_start();
same(true, session_id() !== 'unknown');
session_destroy();
session_id($new);
session_start();
same(0, session_gc());
same(true, session_destroy());
same([], $table->keys('session:'));

/* A table that cannot be opened. */
mkdir("$directory/visitors2");
ini_set('session.save_path', 'visitors2');
throws(Tavola\NotATableException::class, fn() => @session_start());
rmdir("$directory/visitors2");
echo 'done';
?>
--EXPECT--
done
