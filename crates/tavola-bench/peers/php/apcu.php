<?php
// APCu, as one process has it.

require __DIR__ . '/harness.php';

Harness::run(fn (array $job) => new class () implements Store {
    public function __construct()
    {
        if (!apcu_enabled()) {
            throw new RuntimeException('APCu is not enabled');
        }
    }

    public function put(string $key, string $value): void
    {
        if (!apcu_store($key, $value)) {
            throw new RuntimeException('apcu_store refused');
        }
    }

    public function get(string $key): mixed
    {
        return apcu_fetch($key);
    }

    public function bytes(): int
    {
        return (int) apcu_cache_info(true)['mem_size'];
    }

    public function version(): string
    {
        return 'APCu ' . phpversion('apcu') . ', PHP ' . PHP_VERSION;
    }
});
