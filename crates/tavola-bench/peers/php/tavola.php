<?php
// Tavola by its extension.

require __DIR__ . '/harness.php';

Harness::run(fn (array $job) => new class ($job['dir']) implements Store {
    private Tavola\Table $table;

    public function __construct(string $folder)
    {
        $this->table = Tavola\Table::open("$folder/store", ['max_size' => '1G']);
    }

    public function put(string $key, string $value): void
    {
        $this->table->set($key, $value);
    }

    public function get(string $key): mixed
    {
        return $this->table->get($key);
    }

    public function version(): string
    {
        return 'Tavola ' . phpversion('tavola') . ', PHP ' . PHP_VERSION;
    }
});
