<?php

use PHPUnit\Framework\TestCase;
use Tavola\SessionHandler;
use Tavola\Table;

final class SessionTest extends TestCase
{
    public function testASessionIsReadWrittenAndDestroyed(): void
    {
        $table = new Table('sessions');
        $handler = new SessionHandler($table, 's:', 60);
        $this->assertTrue($handler->open('', 'PHPSESSID'));
        $this->assertFalse($handler->validateId('abc'));
        $this->assertSame('', $handler->read('abc'));
        $this->assertTrue($handler->write('abc', "n|i:1;"));
        $this->assertTrue($handler->close());
        $this->assertTrue($handler->validateId('abc'));
        $this->assertSame('n|i:1;', $handler->read('abc'));
        $this->assertSame(60, $table->ttl('s:abc'));
        $table->touch('s:abc', 5);
        $this->assertTrue($handler->updateTimestamp('abc', 'n|i:1;'));
        $this->assertSame(60, $table->ttl('s:abc'));
        $this->assertSame(0, $handler->gc(100));
        $handler->close();
        $this->assertTrue($handler->destroy('abc'));
        $this->assertSame('', $handler->read('abc'));
        $this->assertTrue($handler->updateTimestamp('abc', 'new'));
        $handler->close();
        $this->assertSame('new', $table->getBytes('s:abc'));
    }

    public function testASessionIsLocked(): void
    {
        $table = new Table('sessions');
        $first = new SessionHandler($table, 's:', 60);
        $second = new SessionHandler($table, 's:', 60, 0.05);
        $first->read('locked');
        $this->assertFalse($second->read('locked'));
        $first->close();
        $this->assertSame('', $second->read('locked'));
        $second->close();
        $unlocked = new SessionHandler($table, 's:', 60, null);
        $first->read('locked');
        $this->assertSame('', $unlocked->read('locked'));
        $first->close();
    }
}
