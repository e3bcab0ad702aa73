<?php

namespace Tavola\Symfony;

use Symfony\Component\Cache\Adapter\AbstractTagAwareAdapter;
use Symfony\Component\Cache\PruneableInterface;
use Tavola\{Batch, Table};

/**
 * A table as an adapter of Symfony's cache, with tags of the table itself: an invalidation takes
 * the same time for any number of items. An item has at most 16 tags.
 *
 * Open the table with a serializer, so that it can store objects.
 */
final class TavolaAdapter extends AbstractTagAwareAdapter implements PruneableInterface
{
    public function __construct(
        private readonly Table $table,
        string $namespace = '',
        int $defaultLifetime = 0
    ) {
        parent::__construct($namespace, $defaultLifetime);
    }

    public function prune(): bool
    {
        $this->table->removeExpired();
        return true;
    }

    protected function doFetch(array $ids): iterable
    {
        return $this->table->getMultiple($ids);
    }

    protected function doHave(string $id): bool
    {
        return $this->table->exists($id);
    }

    protected function doClear(string $namespace): bool
    {
        if ($namespace === '') {
            return $this->table->clear();
        }
        $this->table->deletePrefix($namespace);
        return true;
    }

    protected function doDelete(array $ids): bool
    {
        $this->table->deleteMultiple($ids);
        return true;
    }

    protected function doSave(
        array $values,
        int $lifetime,
        array $addTagData = [],
        array $removeTagData = []
    ): array {
        $tags = $this->tagsOf($values, $addTagData, $removeTagData);
        $items = [];
        foreach ($values as $id => $value) {
            $items[$id] = [$value, $lifetime > 0 ? $lifetime : null, $tags[$id] ?? []];
        }
        return Batch::store($this->table, $items);
    }

    /** Returns the tags of each item: those that it has and those that are added, less the removed. */
    private function tagsOf(array $values, array $added, array $removed): array
    {
        $tags = [];
        foreach ($values as $id => $_) {
            $tags[$id] = array_flip($this->table->tagsOf((string) $id) ?? []);
        }
        foreach ($added as $tag => $ids) {
            foreach ($ids as $id) {
                $tags[$id][$tag] = true;
            }
        }
        foreach ($removed as $tag => $ids) {
            foreach ($ids as $id) {
                unset($tags[$id][$tag]);
            }
        }
        return array_map(fn(array $names) => array_map(strval(...), array_keys($names)), $tags);
    }

    protected function doDeleteYieldTags(array $ids): iterable
    {
        foreach ($ids as $id) {
            $tags = $this->table->tagsOf($id) ?? [];
            $this->table->delete($id);
            yield $id => $tags;
        }
    }

    protected function doDeleteTagRelations(array $tagData): bool
    {
        // The table forgets the relations with the key.
        return true;
    }

    protected function doInvalidate(array $tagIds): bool
    {
        $this->table->invalidateTag(...array_map(strval(...), $tagIds));
        return true;
    }
}
