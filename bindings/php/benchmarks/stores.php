<?php

/* The stores that are measured: each sets and gets a string. */

final class Stores
{
    /** @return array<string, array{callable, callable}> name => [set, get] */
    public static function all(): array
    {
        $work = getenv('BENCH_WORK');
        $stores = ['tavola' => self::tavola()];
        if (function_exists('apcu_store') && apcu_enabled()) {
            $stores['apcu'] = [fn($key, $value) => apcu_store($key, $value),
                fn($key) => apcu_fetch($key)];
        }
        $stores['array'] = self::inArray();
        if (($memcached = self::memcached()) !== null) {
            $stores['memcached, socket'] = [
                fn($key, $value) => $memcached->set($key, $value),
                    fn($key) => $memcached->get($key)];
        }
        $stores['files, /dev/shm'] = self::files("$work/files");
        $stores['files, disk'] = self::files(getenv('BENCH_DISK') . '/files');
        if (in_array('sqlite', class_exists(PDO::class) ? PDO::getAvailableDrivers() : [], true)) {
            $stores['SQLite, disk'] = self::sqlite(getenv('BENCH_DISK') . '/bench.sqlite');
        }
        return $stores;
    }

    /** Returns a connection to the server on the socket, or null if there is none. */
    public static function memcached(): ?Memcached
    {
        $socket = getenv('BENCH_WORK') . '/memcached.sock';
        if (!class_exists(Memcached::class) || !file_exists($socket)) {
            return null;
        }
        $memcached = new Memcached();
        $memcached->addServer($socket, 0);
        return $memcached;
    }

    private static function tavola(): array
    {
        $table = new Tavola\Table('bench', ['max_size' => '4G']);
        return [fn($key, $value) => $table->set($key, $value), fn($key) => $table->get($key)];
    }

    private static function inArray(): array
    {
        $array = [];
        return [
            function ($key, $value) use (&$array) { $array[$key] = $value; },
            function ($key) use (&$array) { return $array[$key]; },
        ];
    }

    private static function files(string $folder): array
    {
        mkdir($folder);
        return [
            fn($key, $value) => file_put_contents("$folder/$key", $value),
            fn($key) => file_get_contents("$folder/$key"),
        ];
    }

    private static function sqlite(string $path): array
    {
        $pdo = new PDO("sqlite:$path");
        $pdo->exec('PRAGMA journal_mode = WAL');
        $pdo->exec('PRAGMA synchronous = OFF');
        $pdo->exec('CREATE TABLE pairs (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID');
        $set = $pdo->prepare('INSERT OR REPLACE INTO pairs VALUES (?, ?)');
        $get = $pdo->prepare('SELECT value FROM pairs WHERE key = ?');
        return [
            fn($key, $value) => $set->execute([$key, $value]),
            function ($key) use ($get) {
                $get->execute([$key]);
                return $get->fetchColumn();
            },
        ];
    }
}
