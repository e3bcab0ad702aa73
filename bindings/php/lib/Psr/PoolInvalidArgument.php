<?php

namespace Tavola\Psr;

/** Thrown for a key that is invalid in PSR-6. */
final class PoolInvalidArgument extends \InvalidArgumentException implements
    \Psr\Cache\InvalidArgumentException
{
}
