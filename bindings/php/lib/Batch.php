<?php

namespace Tavola;

/**
 * Stores what a cache pool has deferred.
 *
 * @internal
 */
final class Batch
{
    /**
     * Sets many keys, each with its own TTL and tags. If each call would wait for the disk, all
     * keys are set by one transaction, which waits once.
     *
     * @param array<string, array{mixed, int|float|null, list<string>}> $items value, TTL, tags
     * @return list<string> the keys that the table has no room for
     * @throws Exception if another item cannot be stored; all others are
     */
    public static function store(Table $table, array $items): array
    {
        if (count($items) > 1 && $table->durability() === 'commit') {
            try {
                $table->transaction(function (Transaction $t) use ($items) {
                    foreach ($items as $key => [$value, $ttl, $tags]) {
                        $t->set((string) $key, $value, $ttl, $tags);
                    }
                });
                return [];
            } catch (Exception) {
                // One of the items cannot be stored. The loop stores the others.
            }
        }
        $failed = [];
        $problem = null;
        foreach ($items as $key => [$value, $ttl, $tags]) {
            try {
                $table->set((string) $key, $value, $ttl, $tags);
            } catch (FullException | TooLargeException) {
                $failed[] = (string) $key;
            } catch (Exception $thrown) {
                $problem = $thrown;
            }
        }
        return $problem === null ? $failed : throw $problem;
    }
}
