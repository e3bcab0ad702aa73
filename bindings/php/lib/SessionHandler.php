<?php

namespace Tavola;

/**
 * Sessions of PHP in a table:
 *
 *     session_set_save_handler(new Tavola\SessionHandler(new Tavola\Table('sessions')), true);
 *
 * A session is locked from its start to its end, so that two requests of one visitor do not
 * overwrite each other's changes. If a process dies, its lock is free within about 10 ms. Sessions
 * in a durable table, `new Tavola\Table('./sessions', ['durable' => 'commit'])`, are there after a
 * restart of the machine.
 */
final class SessionHandler implements \SessionHandlerInterface,
    \SessionUpdateTimestampHandlerInterface
{
    private ?SessionLock $lock = null;

    /**
     * @param ?int $ttl how long a session lives, in seconds; null: `session.gc_maxlifetime`
     * @param ?float $lockTimeout how long to wait for another request of the session; null: no lock
     */
    public function __construct(
        private readonly Table $table,
        private readonly string $prefix = 'session:',
        private readonly ?int $ttl = null,
        private readonly ?float $lockTimeout = 30
    ) {
    }

    public function open(string $path, string $name): bool
    {
        // `session_reset` opens a session that is open.
        return $this->close();
    }

    public function close(): bool
    {
        $this->lock?->release();
        $this->lock = null;
        return true;
    }

    public function read(string $id): string|false
    {
        if ($this->lockTimeout !== null) {
            $name = $this->prefix . $id;
            $this->lock = SessionLock::take($this->table, $name, $this->lockTimeout);
            if ($this->lock === null) {
                return false;
            }
        }
        return (string) $this->table->getBytes($this->prefix . $id);
    }

    public function write(string $id, string $data): bool
    {
        return $this->table->setBytes($this->prefix . $id, $data, 0, $this->seconds());
    }

    public function updateTimestamp(string $id, string $data): bool
    {
        return $this->table->touch($this->prefix . $id, $this->seconds()) || $this->write($id,
            $data);
    }

    public function validateId(string $id): bool
    {
        return $this->table->exists($this->prefix . $id);
    }

    public function destroy(string $id): bool
    {
        $this->table->delete($this->prefix . $id);
        return true;
    }

    public function gc(int $max_lifetime): int|false
    {
        // Sessions expire by themselves.
        return 0;
    }

    private function seconds(): int
    {
        return $this->ttl ?? max(1, (int) ini_get('session.gc_maxlifetime'));
    }
}
