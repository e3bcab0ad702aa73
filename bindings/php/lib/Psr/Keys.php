<?php

namespace Tavola\Psr;

/** What both PSR-6 and PSR-16 say about keys and times. */
final class Keys
{
    /** Returns why a key is invalid, or null. */
    public static function problem(mixed $key): ?string
    {
        if (!is_string($key)) {
            return 'a key must be a string, and not ' . get_debug_type($key);
        }
        if ($key === '') {
            return 'a key must not be empty';
        }
        if (strpbrk($key, '{}()/\@:') !== false) {
            return "the key \"$key\" has one of the reserved characters {}()/\\@:";
        }
        return null;
    }

    /** Returns an interval from now on in seconds. */
    public static function seconds(\DateInterval $interval): float
    {
        $now = new \DateTimeImmutable();
        return (float) $now->add($interval)->format('U.u') - (float) $now->format('U.u');
    }
}
