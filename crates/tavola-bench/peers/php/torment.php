<?php
// Processes of a trial of the torment table, on APCu. Its memory belongs to one process and those
// that it forks: so this one is told on its input whom to start and whom to kill.
//
//   start JOB     forks a process that does the job; its answer goes to the file that the job names
//   kill FILE     SIGKILL to the process with that file
//   end           kills all
//
// How a process ended (the number of a signal, or 0) is written to its file with `.end` behind.
// The parts, the board and the values are those of src/compare/torment.

const STRIDE = 16;
const SLOT_BYTES = 64;
const FEW = 3;

/** The file in which processes note how far they have come. */
final class Board
{
    private $file;

    public function __construct(string $path, private int $slot)
    {
        $this->file = fopen($path, 'r+b');
        stream_set_read_buffer($this->file, 0);
        stream_set_write_buffer($this->file, 0);
    }

    public function note(int ...$numbers): void
    {
        fseek($this->file, $this->slot * SLOT_BYTES);
        fwrite($this->file, pack('Q*', ...$numbers));
    }

    public function saysStop(): bool
    {
        fseek($this->file, 0);
        return unpack('Q', fread($this->file, 8))[1] != 0;
    }
}

function key_of(string $prefix, int $index): string
{
    return sprintf('%s%07d', $prefix, $index);
}

function value_of(string $key, int $number, int $value_bytes): string
{
    $unit = sprintf('%s:%016x:', $key, $number);
    $length = $value_bytes + $number * 37 % 251;
    return substr(str_repeat($unit, intdiv($length, strlen($unit)) + 1), 0, $length);
}

/** The number of the put that put this value; -1 if none did. */
function number_of(string $key, string $value, int $value_bytes): int
{
    if (!str_starts_with($value, "$key:")) {
        return -1;
    }
    $number = hexdec(substr($value, strlen($key) + 1, 16));
    return is_int($number) && $value === value_of($key, $number, $value_bytes) ? $number : -1;
}

/** The last put to key `index` of those up to `last`; 0: there was none. */
function due(int $index, int $keys, int $last): int
{
    return max(0, $last - ($last % $keys - $index + $keys) % $keys);
}

/** What a process does. */
final class Part
{
    private Board $board;
    private int $ops = 0;
    private int $acked = 0;
    private int $wrong = 0;
    private int $vanished = 0;
    private float $deadline;
    private array $answer = ['opened' => true];

    public function __construct(private array $job)
    {
        $this->board = new Board($job['board'], $job['slot']);
        $this->deadline = microtime(true) + $job['millis'] / 1000;
    }

    public function play(): void
    {
        $this->note();
        try {
            $this->{$this->job['role']}();
        } catch (RuntimeException $error) {
            $this->answer['error'] = $error->getMessage();
        }
        $this->answer['done'] = $this->ops;
        file_put_contents($this->job['out'], json_encode($this->answer) . "\n");
    }

    private function note(): void
    {
        $this->board->note(1, $this->ops, $this->acked, $this->wrong, $this->vanished);
    }

    private function goesOn(): bool
    {
        $this->ops++;
        $this->note();
        if ($this->job['ops'] > 0 && $this->ops >= $this->job['ops']) {
            return false;
        }
        $looks = $this->ops % STRIDE === 0;
        return !($looks && (microtime(true) >= $this->deadline || $this->board->saysStop()));
    }

    private function key(int $number): string
    {
        return key_of($this->job['prefixes'][0], $number % $this->job['keys']);
    }

    private function put(int $number): void
    {
        $key = $this->key($number);
        if (!apcu_store($key, value_of($key, $number, $this->job['value_bytes']))) {
            throw new RuntimeException('apcu_store refused');
        }
    }

    private function write(): void
    {
        for ($number = $this->job['from'];; $number++) {
            $this->put($number);
            $this->acked = $number;
            if (!$this->goesOn()) {
                return;
            }
        }
    }

    private function read(): void
    {
        mt_srand($this->job['seed']);
        $prefixes = $this->job['prefixes'];
        $seen = [];
        do {
            $prefix = $prefixes[mt_rand(0, strlen($prefixes) - 1)];
            $key = key_of($prefix, mt_rand(0, $this->job['keys'] - 1));
            $value = apcu_fetch($key);
            $number = $value === false ? 0 : number_of($key, $value, $this->job['value_bytes']);
            if ($number < 0) {
                $this->wrong++;
            } elseif ($number < ($seen[$key] ?? 0)) {
                $this->vanished++;
            } else {
                $seen[$key] = $number;
            }
        } while ($this->goesOn());
    }

    private function verify(): void
    {
        $this->verifyfull();
        $this->answer['works'] = apcu_store('zprobe00', 'probe') && apcu_fetch('zprobe00') === 'probe';
    }

    private function verifyfull(): void
    {
        ['keys' => $keys, 'from' => $last] = $this->job;
        $count = ['good' => 0, 'lost' => 0, 'torn' => 0];
        for ($index = 0; $index < min($keys, $last + 2); $index++) {
            $key = key_of($this->job['prefixes'][0], $index);
            $value = apcu_fetch($key);
            $number = $value === false ? 0 : number_of($key, $value, $this->job['value_bytes']);
            $state = match (true) {
                $number < 0 => 'torn',
                $number === due($index, $keys, $last), $number === $last + 1 => 'good',
                default => 'lost',
            };
            $count[$state]++;
        }
        $this->answer += $count;
    }

    private function remove(): void
    {
        for ($number = 1; $number <= intdiv($this->job['from'], 2); $number++) {
            apcu_delete($this->key($number));
        }
        for ($number = 1; $number <= FEW; $number++) {
            $this->put($number);
        }
        $key = $this->key(FEW);
        $due = value_of($key, FEW, $this->job['value_bytes']);
        $this->answer['works'] = apcu_fetch($key) === $due;
    }

    private function probe(): void
    {
        $key = str_repeat('k', $this->job['key_bytes']);
        $value = str_repeat('v', $this->job['value_bytes']);
        if (!apcu_store($key, $value)) {
            $this->answer += ['seen' => 'refused', 'means' => 'apcu_store refused'];
            return;
        }
        $found = apcu_fetch($key);
        $this->answer['seen'] = match ($found) {
            $value => 'same',
            false => 'missing',
            default => 'other',
        };
    }

    private function hold(): void
    {
        apcu_fetch($this->key(0));
        $this->answer['means'] = 'a process that has read, and holds nothing';
        $this->goesOn();
        while (microtime(true) < $this->deadline && !$this->board->saysStop()) {
            usleep(2000);
        }
    }

    private function count(): void
    {
        $this->answer['means'] = 'apcu_inc';
        do {
            if (apcu_inc('counter') === false) {
                throw new RuntimeException('apcu_inc refused');
            }
        } while ($this->goesOn());
    }

    private function total(): void
    {
        $this->answer['total'] = (int) apcu_fetch('counter');
    }
}

/** Forks processes and kills them. */
final class Host
{
    /** @var array<int, string> Files of answers, by the number of the process. */
    private array $files = [];

    /** What was read of a line so far. */
    private string $begun = '';

    public function run(): void
    {
        stream_set_blocking(STDIN, false);
        while (!feof(STDIN)) {
            $ready = [STDIN];
            $none = null;
            if (stream_select($ready, $none, $none, 0, 1000) > 0) {
                $lines = explode("\n", $this->begun . fread(STDIN, 8192));
                $this->begun = array_pop($lines);
                foreach ($lines as $line) {
                    if (!$this->does($line)) {
                        break 2;
                    }
                }
            }
            $this->reap();
        }
        foreach (array_keys($this->files) as $process) {
            posix_kill($process, SIGKILL);
            pcntl_waitpid($process, $status);
        }
    }

    private function does(string $line): bool
    {
        [$word, $rest] = explode(' ', $line, 2) + [1 => ''];
        if ($word === 'start') {
            $this->start(json_decode($rest, true));
        } elseif ($word === 'kill') {
            $this->reap();
            foreach (array_keys($this->files, $rest, true) as $process) {
                posix_kill($process, SIGKILL);
            }
        }
        return $word !== 'end';
    }

    private function start(array $job): void
    {
        $process = pcntl_fork();
        if ($process === 0) {
            (new Part($job))->play();
            exit(0);
        }
        $this->files[$process] = $job['out'];
    }

    private function reap(): void
    {
        while (($process = pcntl_waitpid(-1, $status, WNOHANG)) > 0) {
            $signal = pcntl_wifsignaled($status) ? pcntl_wtermsig($status) : 0;
            file_put_contents($this->files[$process] . '.end', "$signal\n");
            unset($this->files[$process]);
        }
    }
}

if (!apcu_enabled()) {
    fwrite(STDERR, "APCu is not enabled: run with -d apc.enable_cli=1\n");
    exit(3);
}
(new Host())->run();
