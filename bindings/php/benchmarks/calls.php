<?php

/* The cost of one call, without a closure between the loop and the store. */

final class Calls
{
    /** @return array<string, array<string, float>> store => call => ns */
    public static function measure(int $keys, int $rounds): array
    {
        mt_srand(7);
        $names = array_map(fn($i) => "user:$i", range(0, $keys - 1));
        shuffle($names);
        /* Read in another order than they were stored in, or all that lies in a row is in order. */
        $reads = $names;
        shuffle($reads);
        $samples = [];
        foreach (['small', '4 KB'] as $size) {
            $values = self::values($size, $keys);
            $pairs = array_chunk(array_combine($names, $values), 100, true);
            $given = [
                'set' => [$names, $values],
                'get' => [$reads, $values],
                'get 100' => [array_chunk($reads, 100)],
                'set 100' => [$pairs],
            ];
            foreach (self::programs() as $store => $program) {
                foreach ($program as $call => $run) {
                    for ($round = 0; $round < $rounds; $round++) {
                        $empty = self::time(self::emptyLoop(...), $keys, $given[$call]);
                        $time = self::time($run, $keys, $given[$call]);
                        $samples[$store]["$call $size"][] = $time - $empty;
                    }
                }
            }
        }
        return array_map(fn($row) => array_map(fn($all) => max(0, median($all)), $row), $samples);
    }

    private static function values(string $size, int $keys): array
    {
        $values = [];
        for ($i = 0; $i < $keys; $i++) {
            $values[] = $size === 'small' ? str_repeat('v', 8 + $i % 25) : str_repeat('v', 4096);
        }
        return $values;
    }

    /** @param array{array, array}|array{array} $given names and values, or arrays of 100 */
    private static function time(callable $run, int $keys, array $given): float
    {
        $start = hrtime(true);
        $run(...$given);
        return (hrtime(true) - $start) / $keys;
    }

    private static function emptyLoop(array $names, array $values = []): void
    {
        foreach ($names as $i => $name) {
            $value = $values[$i] ?? null;
        }
    }

    /** @return array<string, array<string, callable>> store => call => loop over all keys */
    private static function programs(): array
    {
        $table = new Tavola\Table('calls', ['max_size' => '4G']);
        $cache = new Tavola\Table('cache', ['capacity' => '1G', 'max_size' => '4G']);
        $programs = ['tavola' => self::tavola($table), 'tavola, cache' => self::tavola($cache)];
        if (function_exists('apcu_store') && apcu_enabled()) {
            $programs['apcu'] = self::apcu();
        }
        $programs['array'] = self::inArray();
        if (($memcached = Stores::memcached()) !== null) {
            $programs['memcached, socket'] = self::memcached($memcached);
        }
        $programs['files, /dev/shm'] = self::files(getenv('BENCH_WORK') . '/calls-files');
        return $programs;
    }

    private static function tavola(Tavola\Table $table): array
    {
        return [
            'set' => function (array $names, array $values) use ($table) {
                foreach ($names as $i => $name) {
                    $table->set($name, $values[$i]);
                }
            },
            'get' => function (array $names, array $values) use ($table) {
                foreach ($names as $i => $name) {
                    $value = $table->get($name);
                }
            },
            'get 100' => function (array $chunks) use ($table) {
                foreach ($chunks as $chunk) {
                    $table->getMultiple($chunk);
                }
            },
            'set 100' => function (array $chunks) use ($table) {
                foreach ($chunks as $chunk) {
                    $table->setMultiple($chunk);
                }
            },
        ];
    }

    private static function apcu(): array
    {
        return [
            'set' => function (array $names, array $values) {
                foreach ($names as $i => $name) {
                    apcu_store($name, $values[$i]);
                }
            },
            'get' => function (array $names, array $values) {
                foreach ($names as $i => $name) {
                    $value = apcu_fetch($name);
                }
            },
            'get 100' => function (array $chunks) {
                foreach ($chunks as $chunk) {
                    apcu_fetch($chunk);
                }
            },
            'set 100' => function (array $chunks) {
                foreach ($chunks as $chunk) {
                    apcu_store($chunk);
                }
            },
        ];
    }

    private static function inArray(): array
    {
        $array = [];
        return [
            'set' => function (array $names, array $values) use (&$array) {
                foreach ($names as $i => $name) {
                    $array[$name] = $values[$i];
                }
            },
            'get' => function (array $names, array $values) use (&$array) {
                foreach ($names as $i => $name) {
                    $value = $array[$name];
                }
            },
        ];
    }

    private static function memcached(Memcached $memcached): array
    {
        return [
            'set' => function (array $names, array $values) use ($memcached) {
                foreach ($names as $i => $name) {
                    $memcached->set($name, $values[$i]);
                }
            },
            'get' => function (array $names, array $values) use ($memcached) {
                foreach ($names as $i => $name) {
                    $value = $memcached->get($name);
                }
            },
            'get 100' => function (array $chunks) use ($memcached) {
                foreach ($chunks as $chunk) {
                    $memcached->getMulti($chunk);
                }
            },
            'set 100' => function (array $chunks) use ($memcached) {
                foreach ($chunks as $chunk) {
                    $memcached->setMulti($chunk);
                }
            },
        ];
    }

    private static function files(string $folder): array
    {
        is_dir($folder) || mkdir($folder);
        return [
            'set' => function (array $names, array $values) use ($folder) {
                foreach ($names as $i => $name) {
                    file_put_contents("$folder/$name", $values[$i]);
                }
            },
            'get' => function (array $names, array $values) use ($folder) {
                foreach ($names as $i => $name) {
                    $value = file_get_contents("$folder/$name");
                }
            },
        ];
    }
}
