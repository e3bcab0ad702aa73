<?php

use PHPUnit\Framework\TestCase;
use Tavola\Log;
use Tavola\Psr\Logger;

final class LoggerTest extends TestCase
{
    public function testLinesAreWritten(): void
    {
        $log = Log::open('logger');
        $log->showOnStderr(false);
        $logger = new Logger($log);
        $logger->error('order {id} of {who}', ['id' => 7, 'who' => 'alice', 'list' => []]);
        $logger->notice('n');
        $lines = $log->lines();
        $this->assertSame(['order 7 of alice', 'n'], array_column($lines, 'text'));
        $this->assertSame([Log::ERROR, Log::INFO], array_column($lines, 'level'));
        $this->expectException(Psr\Log\InvalidArgumentException::class);
        $logger->log('loud', 'x');
    }
}
