<?php
// An array of this process: the most that PHP can do.

require __DIR__ . '/harness.php';

Harness::run(fn (array $job) => new class () implements Store {
    private array $values = [];

    public function put(string $key, string $value): void
    {
        $this->values[$key] = $value;
    }

    public function get(string $key): mixed
    {
        return $this->values[$key] ?? null;
    }

    public function version(): string
    {
        return 'PHP ' . PHP_VERSION;
    }
});
