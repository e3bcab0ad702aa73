<?php

namespace Tavola\Psr;

use Psr\Cache\CacheItemInterface;

/** An item of `CachePool`. */
class CacheItem implements CacheItemInterface
{
    /** When it expires, in seconds since 1970; null: as the table says. */
    private ?float $expires = null;
    /** @var list<string> */
    private array $tags = [];

    /** @param list<string> $previousTags */
    public function __construct(
        private readonly string $key,
        private mixed $value,
        private bool $isHit,
        private array $previousTags = [],
    ) {
    }

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->isHit ? $this->value : null;
    }

    public function isHit(): bool
    {
        return $this->isHit;
    }

    public function set($value): static
    {
        $this->value = $value;
        return $this;
    }

    public function expiresAt($expiration): static
    {
        if ($expiration !== null && !$expiration instanceof \DateTimeInterface) {
            throw new PoolInvalidArgument('a time must be a DateTimeInterface or null');
        }
        $this->expires = $expiration === null ? null : (float) $expiration->format('U.u');
        return $this;
    }

    public function expiresAfter($time): static
    {
        $this->expires = match (true) {
            $time === null => null,
            is_int($time) => microtime(true) + $time,
            $time instanceof \DateInterval => microtime(true) + Keys::seconds($time),
            default => throw new PoolInvalidArgument(
                'a TTL must be a number of seconds, a DateInterval or null'
            ),
        };
        return $this;
    }

    /** Gives the item tags, which `CachePool::invalidateTags` takes. */
    public function setTags(array $tags): static
    {
        foreach ($tags as $tag) {
            $problem = Keys::problem($tag);
            if ($problem !== null) {
                throw new PoolInvalidArgument("a tag is invalid: $problem");
            }
        }
        $this->tags = array_values(array_unique($tags));
        return $this;
    }

    /** Adds tags. */
    public function tag(string|iterable $tags): static
    {
        $more = is_string($tags) ? [$tags] : [...$tags];
        return $this->setTags([...$this->tags, ...$more]);
    }

    /** @return list<string> the tags that the item had in the table when it was read */
    public function getPreviousTags(): array
    {
        return $this->previousTags;
    }

    /**
     * Returns what the pool stores.
     *
     * @internal
     * @return array{mixed, ?float, list<string>} the value, the time at which it expires, the tags
     */
    public function stored(): array
    {
        return [$this->value, $this->expires, $this->tags];
    }

    /**
     * Returns the item as a pool returns it while it is deferred.
     *
     * @internal
     */
    public function asDeferred(): static
    {
        $copy = clone $this;
        $copy->previousTags = $this->tags;
        $copy->isHit = $this->expires === null || $this->expires > microtime(true);
        return $copy;
    }
}
