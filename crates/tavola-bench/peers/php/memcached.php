<?php
// memcached by the extension memcached: strings as they are, not compressed, TCP_NODELAY.

require __DIR__ . '/harness.php';

Harness::run(fn (array $job) => new class ($job['address']) implements Store {
    private Memcached $client;

    public function __construct(string $address)
    {
        $this->client = new Memcached();
        $this->client->setOptions([
            Memcached::OPT_COMPRESSION => false,
            Memcached::OPT_TCP_NODELAY => true,
            Memcached::OPT_BINARY_PROTOCOL => false,
        ]);
        [$host, $port] = $address[0] === '/' ? [$address, 0] : explode(':', $address);
        $this->client->addServer($host, (int) $port);
    }

    public function put(string $key, string $value): void
    {
        if (!$this->client->set($key, $value)) {
            throw new RuntimeException('a set: ' . $this->client->getResultMessage());
        }
    }

    public function get(string $key): mixed
    {
        return $this->client->get($key);
    }

    public function version(): string
    {
        return 'extension ' . phpversion('memcached') . ', PHP ' . PHP_VERSION;
    }
});
