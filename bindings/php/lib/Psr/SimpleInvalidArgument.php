<?php

namespace Tavola\Psr;

/** Thrown for a key, a list of keys, or a TTL that is invalid in PSR-16. */
final class SimpleInvalidArgument extends \InvalidArgumentException implements
    \Psr\SimpleCache\InvalidArgumentException
{
}
