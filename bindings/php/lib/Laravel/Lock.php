<?php

namespace Tavola\Laravel;

use Illuminate\Cache\Lock as BaseLock;
use Tavola\Table;

/** A lock of Laravel: a key whose value is the owner. Another process can restore it. */
final class Lock extends BaseLock
{
    public function __construct(private readonly Table $table, $name, $seconds, $owner = null)
    {
        parent::__construct($name, $seconds, $owner);
    }

    public function acquire(): bool
    {
        return $this->table->add(
            $this->name,
            $this->owner,
            $this->seconds > 0 ? $this->seconds : Table::FOREVER
        );
    }

    /** Releases the lock in one step, if this owner still has it. */
    public function release(): bool
    {
        $isOwner = false;
        $this->table->update($this->name, function (mixed $owner) use (&$isOwner) {
            $isOwner = $owner === $this->owner;
            return $isOwner ? null : $owner;
        });
        return $isOwner;
    }

    public function forceRelease(): void
    {
        $this->table->delete($this->name);
    }

    protected function getCurrentOwner(): mixed
    {
        return $this->table->get($this->name);
    }
}
