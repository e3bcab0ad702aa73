<?php

namespace Tavola\Psr;

use Psr\Log\AbstractLogger;
use Psr\Log\InvalidArgumentException;
use Tavola\Log;

/** A log in shared memory as a logger of PSR-3. */
final class Logger extends AbstractLogger
{
    private const LEVELS = [
        'emergency' => Log::ERROR, 'alert' => Log::ERROR, 'critical' => Log::ERROR,
        'error' => Log::ERROR, 'warning' => Log::WARN, 'notice' => Log::INFO,
        'info' => Log::INFO, 'debug' => Log::DEBUG,
    ];

    public function __construct(private readonly Log $log)
    {
    }

    public function log($level, $message, array $context = []): void
    {
        if (!is_string($level) || !isset(self::LEVELS[$level])) {
            throw new InvalidArgumentException(
                'there is no level of this name; use one of Psr\Log\LogLevel'
            );
        }
        $replacements = [];
        foreach ($context as $name => $value) {
            if ($value === null || is_scalar($value) || $value instanceof \Stringable) {
                $replacements["{{$name}}"] = (string) $value;
            }
        }
        $this->log->line(self::LEVELS[$level], strtr((string) $message, $replacements));
    }
}
