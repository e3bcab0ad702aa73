<?php
// PostgreSQL as a SQL store: a table of keys and values, MERGE and SELECT, prepared once, a commit
// each. The address is HOST:PORT or the folder of a socket, as the user postgres; or a URL,
// postgres://USER:PASSWORD@HOST:PORT/DATABASE, of a server that is there already. What it makes in
// there is one table, which it takes away at its end. A temporary one would be spared the log.

require __DIR__ . '/harness.php';

final class Postgres implements Store
{
    private const MERGE = 'MERGE INTO tavola_compared AS t USING (SELECT ?::text AS k, ?::text AS v) AS new'
        . ' ON t.k = new.k WHEN MATCHED THEN UPDATE SET v = new.v'
        . ' WHEN NOT MATCHED THEN INSERT (k, v) VALUES (new.k, new.v)';

    private PDO $server;
    private PDOStatement $merge;
    private PDOStatement $select;

    public function __construct(string $address)
    {
        [$source, $user, $password] = self::source($address);
        $this->server = new PDO($source, $user, $password, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        $this->server->exec('DROP TABLE IF EXISTS tavola_compared');
        $this->server->exec('CREATE TABLE tavola_compared (k text PRIMARY KEY, v text NOT NULL)');
        $this->server->exec('ALTER TABLE tavola_compared ALTER v SET STORAGE EXTERNAL');
        $this->merge = $this->server->prepare(self::MERGE);
        $this->select = $this->server->prepare('SELECT v FROM tavola_compared WHERE k = ?');
    }

    public function __destruct()
    {
        if (isset($this->server)) {
            $this->server->exec('DROP TABLE IF EXISTS tavola_compared');
        }
    }

    /** What PDO asks for: source, user, password. */
    private static function source(string $address): array
    {
        if (str_contains($address, '://')) {
            $url = parse_url($address);
            $name = ltrim($url['path'] ?? '/postgres', '/');
            $port = $url['port'] ?? 5432;
            $source = "pgsql:host={$url['host']};port=$port;dbname=$name";
            return [$source, $url['user'] ?? null, isset($url['pass']) ? urldecode($url['pass']) : null];
        }
        [$host, $port] = $address[0] === '/' ? [$address, 5432] : explode(':', $address);
        return ["pgsql:host=$host;port=$port;dbname=postgres", 'postgres', null];
    }

    public function put(string $key, string $value): void
    {
        $this->merge->execute([$key, $value]);
        if ($this->merge->rowCount() !== 1) {
            throw new RuntimeException('a MERGE changed nothing');
        }
    }

    public function get(string $key): mixed
    {
        $this->select->execute([$key]);
        return $this->select->fetchColumn();
    }

    public function version(): string
    {
        return 'pdo_pgsql, PHP ' . PHP_VERSION;
    }
}

Harness::run(fn (array $job) => new Postgres($job['address']));
