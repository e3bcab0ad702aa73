<?php
// A file a key, written over in place.

require __DIR__ . '/harness.php';

Harness::run(fn (array $job) => new class ($job['dir']) implements Store {
    public function __construct(private string $folder)
    {
    }

    public function put(string $key, string $value): void
    {
        if (file_put_contents("$this->folder/$key", $value) !== strlen($value)) {
            throw new RuntimeException('a file was not written');
        }
    }

    public function get(string $key): mixed
    {
        return file_get_contents("$this->folder/$key");
    }

    public function version(): string
    {
        return 'PHP ' . PHP_VERSION;
    }
});
