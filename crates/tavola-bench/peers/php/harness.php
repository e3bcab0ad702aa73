<?php
// What the programs in PHP share: a store says how it is used, the harness does the rest.
//
// A program takes one job, a JSON object, as its argument and prints a JSON line a phase. The loops,
// the clock, keys, values and the comparison of every answer are the harness's, as in c/harness.c.

interface Store
{
    public function put(string $key, string $value): void;

    /** False or null: the key is missing. */
    public function get(string $key): mixed;

    public function version(): string;

    // And bytes(): int, where its memory is in no file of the job's folder.
}

final class Harness
{
    /** Operations between two looks at the clock. */
    private const STRIDE = 16;
    /** A put may take so many times as long as other phases, so that all keys are there. */
    private const PUT_TIMES = 8;

    private array $case;
    /** @var string[] */
    private array $keys;
    /** @var string[] What each key has. */
    private array $values = [];
    /** @var string[] What each key is to have after this pass. */
    private array $next = [];
    private int $passes = 0;
    private int $there = 0;
    private bool $wrong = false;

    /** Does the job of the program's argument on the store that `open` opens. */
    public static function run(callable $open): void
    {
        try {
            $job = json_decode(end($_SERVER['argv']), true, 16, JSON_THROW_ON_ERROR);
            (new self($job, $open($job)))->work();
        } catch (Throwable $error) {
            self::say(['error' => strtok($error->getMessage(), "\n")]);
            exit(1);
        }
    }

    private function __construct(array $job, private Store $store)
    {
        $this->case = $job['case'];
        $key = fn (int $index) => sprintf('k%07d', $index);
        $this->keys = array_map($key, range(0, $this->case['keys'] - 1));
    }

    private function work(): void
    {
        foreach ($this->case['phases'] as $phase) {
            match ($phase) {
                'put', 'write' => $this->time($phase, true, $this->putSome(...)),
                'get', 'read' => $this->time($phase, false, $this->getSome(...)),
                default => throw new RuntimeException("it knows no phase $phase"),
            };
        }
        preg_match('/VmHWM:\s+(\d+)/', file_get_contents('/proc/self/status'), $peak);
        self::say([
            'end' => true,
            'version' => $this->store->version(),
            'bytes' => method_exists($this->store, 'bytes') ? $this->store->bytes() : 0,
            'keys' => $this->there,
            'peak_rss_bytes' => (int) ($peak[1] ?? 0) * 1024,
        ]);
    }

    /** Digits of the key and of how often all were put; what changes with every pass comes first. */
    private function value(int $index): string
    {
        $word = strrev(sprintf('%08x', ($index * 2654435761 + $this->passes) & 0xffffffff));
        $length = $this->case['value_bytes'];
        return substr(str_repeat($word, intdiv($length, 8) + 1), 0, $length);
    }

    private function putSome(int $from, int $to): void
    {
        for ($index = $from; $index < $to; $index++) {
            $this->store->put($this->keys[$index], $this->next[$index]);
        }
        for ($index = $from; $index < $to; $index++) {
            $this->values[$index] = $this->next[$index];
        }
        $this->there = max($this->there, $to);
    }

    private function getSome(int $from, int $to): void
    {
        for ($index = $from; $index < $to; $index++) {
            if ($this->store->get($this->keys[$index]) !== $this->values[$index]) {
                $this->wrong = true;
            }
        }
    }

    /** Goes over the keys again and again. Values are made before each pass, which does not count. */
    private function time(string $phase, bool $puts, callable $some): void
    {
        $this->wrong = false;
        $loops = $this->case['loops'];
        $limit = ($this->case['limit_ms'] ?? 1000000) * 1000000 * ($puts ? self::PUT_TIMES : 1);
        $keys = $puts ? count($this->keys) : $this->there;
        $done = $spent = 0;
        $cpu = 0.0;
        while ($done < $loops && $spent <= $limit && $keys > 0) {
            if ($puts) {
                $this->passes++;
                $this->next = array_map($this->value(...), range(0, $keys - 1));
            }
            $count = min($keys, $loops - $done);
            $before = self::cpuSeconds();
            $begin = hrtime(true);
            for ($at = 0; $at < $count && $spent + hrtime(true) - $begin <= $limit; $at = $next) {
                $next = min($at + self::STRIDE, $count);
                $some($at, $next);
            }
            $spent += hrtime(true) - $begin;
            $cpu += self::cpuSeconds() - $before;
            $done += $at;
        }
        $line = [
            'phase' => $phase,
            'ops' => $done,
            'seconds' => $spent / 1e9,
            'cpu_seconds' => $cpu,
            'verified' => !$this->wrong,
        ];
        if ($done < $loops) {
            $line['note'] = "only $done of $loops within its time";
        }
        self::say($line);
    }

    private static function cpuSeconds(): float
    {
        $use = getrusage();
        return $use['ru_utime.tv_sec'] + $use['ru_stime.tv_sec']
            + ($use['ru_utime.tv_usec'] + $use['ru_stime.tv_usec']) / 1e6;
    }

    private static function say(array $line): void
    {
        fwrite(STDOUT, json_encode($line) . "\n");
    }
}
