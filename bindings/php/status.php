<?php

/*
 * A page that shows the tables of Tavola: numbers, rates, processes, keys. Copy this one file to
 * where your web server finds it, and let it show the page to yourself alone.
 *
 * Set a password (here, or in the environment variable TAVOLA_STATUS_PASSWORD) to be asked for it
 * and to be able to delete keys. The user name is "tavola". Without a password, the page only
 * reads.
 */

use Tavola\{Names, Table};

final class StatusPage
{
    private const PASSWORD = '';
    private const KEYS_ON_A_PAGE = 100;

    public function run(): void
    {
        $password = getenv('TAVOLA_STATUS_PASSWORD') ?: self::PASSWORD;
        if ($password !== '' && !$this->isKnown($password)) {
            http_response_code(401);
            header('WWW-Authenticate: Basic realm="Tavola"');
            echo 'Log in as tavola with the password of this page.';
            return;
        }
        header('Content-Type: text/html; charset=utf-8');
        header("Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
            . "form-action 'self'");
        $name = $this->text($_GET, 'table');
        $token = $password === '' ? null : hash_hmac('sha256', "status $name", $password);
        try {
            $this->show($name, $token);
        } catch (Tavola\Exception $thrown) {
            $this->page('Error', '<p class="error">' . $this->html($thrown->getMessage()) . '</p>');
        }
    }

    private function isKnown(string $password): bool
    {
        return ($_SERVER['PHP_AUTH_USER'] ?? '') === 'tavola'
            && hash_equals($password, $_SERVER['PHP_AUTH_PW'] ?? '');
    }

    private function show(string $name, ?string $token): void
    {
        if ($name === '') {
            $this->page('Tables', $this->tables());
            return;
        }
        if (!in_array($name, Names::list(), true)) {
            http_response_code(404);
            $this->page('No such table', '<p>There is no table of this name.</p>');
            return;
        }
        if (($_SERVER['REQUEST_METHOD'] ?? 'GET') === 'POST') {
            $this->change($name, $token);
            return;
        }
        $table = Table::readOnly($name);
        $key = $this->text($_GET, 'key', null);
        $body = $key !== null ? $this->key($table, $key) : $this->table($table, $name, $token);
        $this->page($name, $body);
    }

    /** Deletes what the form says, and goes back to the table. */
    private function change(string $name, ?string $token): void
    {
        if ($token === null || !hash_equals($token, $this->text($_POST, 'token'))) {
            http_response_code(403);
            $this->page('Refused', '<p>Set a password in this file to change tables.</p>');
            return;
        }
        $table = Table::openExisting($name);
        match ($this->text($_POST, 'do')) {
            'delete' => $table->delete($this->key64($_POST)),
            'prefix' => $table->deletePrefix($this->text($_POST, 'prefix')),
            'clear' => $table->clear(),
            default => null,
        };
        http_response_code(303);
        header('Location: ?' . http_build_query(['table' => $name]));
    }

    private function tables(): string
    {
        $rows = '';
        foreach (Names::list() as $name) {
            try {
                $stats = Table::readOnly($name)->stats();
            } catch (Tavola\Exception $thrown) {
                $rows .= "<tr><td>{$this->html($name)}<td colspan=5>"
                    . $this->html($thrown->getMessage());
                continue;
            }
            $link = $this->html('?' . http_build_query(['table' => $name]));
            $rows .= "<tr><td><a href=\"$link\">{$this->html($name)}</a><td>"
                . number_format($stats['live_keys'])
                . '<td>' . $this->size($stats['resident_bytes'])
                . '<td>' . ($stats['capacity'] ? $this->size($stats['capacity']) : '')
                . '<td>' . $this->rate($stats) . '<td>' . $stats['participants'];
        }
        return '<table><tr><th>Table<th>Keys<th>Memory<th>Capacity<th>Hit rate<th>Writers' . $rows
            . '</table>'
            . '<p>Directory: ' . $this->html(Names::directory()) . '</p>';
    }

    private function table(Table $table, string $name, ?string $token): string
    {
        $stats = $table->stats();
        $rows = ['Keys' => number_format($stats['live_keys']),
            'Keys and values' => $this->size($stats['payload_bytes']),
            'Memory' => $this->size($stats['resident_bytes']),
                'May grow to' => $this->size($stats['max_size']),
            'Created' => gmdate('Y-m-d H:i:s', $stats['created_unix_s']) . ' UTC',
                'Expired' => number_format($stats['expired']),
            'Tags' => number_format($stats['tags']),
                'Recoveries after a death' => $stats['recoveries']];
        if ($stats['capacity'] > 0) {
            $rows += ['Capacity' => $this->size($stats['capacity']),
                'Hit rate' => $this->rate($stats),
                'Hits' => number_format($stats['hits']),
                    'Misses' => number_format($stats['misses']),
                'Evicted' => number_format($stats['evicted_new'] + $stats['evicted_old']),
                'Median read' => $stats['median_read_ns'] . ' ns',
                    'Median write' => $stats['median_write_ns'] . ' ns'];
        }
        $html = '<table>';
        foreach ($rows as $label => $value) {
            $html .= "<tr><th>$label<td>$value";
        }
        return "$html</table>" . $this->bar($stats) . $this->recent($stats)
            . $this->processes($table)
            . $this->keys($table, $name, $token);
    }

    /** A bar of hits and misses. */
    private function bar(array $stats): string
    {
        $reads = $stats['hits'] + $stats['misses'];
        if ($reads === 0) {
            return '';
        }
        $part = round(100 * $stats['hits'] / $reads, 2);
        return "<div class=bar title=\"hits\"><div style=\"width:$part%\"></div></div>";
    }

    private function recent(array $stats): string
    {
        if ($stats['recent'] === []) {
            return '';
        }
        $html = '<h2>Now</h2><table><tr><th>Last<th>Hits/s<th>Misses/s<th>Writes/s<th>Evicted/s';
        foreach ($stats['recent'] as $recent) {
            $seconds = max(0.001, $recent['spanned_ms'] / 1000);
            $html .= '<tr><td>' . $recent['wanted_ms'] / 1000 . ' s';
            foreach (['hits', 'misses', 'writes', 'evicted'] as $what) {
                $html .= '<td>' . number_format($recent[$what] / $seconds);
            }
        }
        return "$html</table>";
    }

    private function processes(Table $table): string
    {
        $html = '<h2>Processes that write</h2><table><tr><th>Process<th>Since<th>Command';
        foreach ($table->participants() as $one) {
            $state = $one['alive'] ? ($one['stopped'] ? ' (stopped)' : '') : ' (dead)';
            $html .= "<tr><td>{$one['pid']}$state<td>" . gmdate('Y-m-d H:i:s',
                $one['attached_unix_s'])
                . '<td>' . $this->html($one['command']);
        }
        return "$html</table>";
    }

    private function keys(Table $table, string $name, ?string $token): string
    {
        $prefix = $this->text($_GET, 'prefix');
        $html = '<h2>Keys</h2><form><input type=hidden name=table value="' . $this->html($name)
            . '"><input name=prefix placeholder="Prefix" value="' . $this->html($prefix)
                . '"><button>Find</button></form>';
        $rows = '';
        $count = 0;
        foreach ($table->prefix($prefix) as $key => $value) {
            if (++$count > self::KEYS_ON_A_PAGE) {
                break;
            }
            $link = $this->html('?' . http_build_query(['table' => $name,
                'key' => base64_encode($key)]));
            $rows .= "<tr><td><a href=\"$link\">{$this->html($this->shorten($key, 80))}</a><td>"
                . get_debug_type($value)
                . '<td>' . ($table->ttl($key) ?? 'for ever')
                . '<td>' . $this->form($token, ['do' => 'delete', 'key' => base64_encode($key)],
                    'Delete');
        }
        $more = $count > self::KEYS_ON_A_PAGE ? '<p>There are more: give a longer prefix.</p>' : '';
        $all = $prefix === ''
            ? $this->form($token, ['do' => 'clear'], 'Delete all keys')
            : $this->form($token, ['do' => 'prefix', 'prefix' => $prefix],
                'Delete all of this prefix');
        return "$html<table><tr><th>Key<th>Type<th>TTL<th>$rows</table>$more$all";
    }

    private function key(Table $table, string $encoded): string
    {
        $key = (string) base64_decode($encoded, true);
        $entry = $table->entry($key);
        if ($entry === null) {
            return '<p>There is no such key.</p>';
        }
        $bytes = (string) $table->getBytes($key);
        $tags = implode(', ', $table->tagsOf($key) ?? []);
        return '<table><tr><th>Key<td>' . $this->html($key) . '<tr><th>Type<td>'
            . get_debug_type($entry['value'])
            . '<tr><th>Flags<td>' . sprintf('0x%08x', $entry['flags']) . '<tr><th>Length<td>'
                . $this->size(strlen($bytes))
            . '<tr><th>TTL<td>' . ($entry['ttl'] ?? 'for ever') . '<tr><th>Tags<td>'
                . $this->html($tags)
            . '</table><pre>' . $this->html($this->shorten($bytes, 10000)) . '</pre>';
    }

    /** A button that changes the table; nothing if the page only reads. */
    private function form(?string $token, array $fields, string $label): string
    {
        if ($token === null) {
            return '';
        }
        $html = '<form method=post>';
        foreach ($fields + ['token' => $token] as $name => $value) {
            $html .= "<input type=hidden name=$name value=\"" . $this->html($value) . '">';
        }
        return "$html<button>$label</button></form>";
    }

    private function page(string $title, string $body): void
    {
        $title = $this->html($title);
        echo "<!doctype html><meta charset=utf-8><title>$title - Tavola</title><style>",
            'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;',
            'padding:0 1rem;color:#222}',
            'table{border-collapse:collapse;margin:1rem 0}',
            'th,td{text-align:left;padding:.2rem .8rem .2rem 0;',
            'border-bottom:1px solid #ddd;vertical-align:top}',
            'td{overflow-wrap:anywhere}form{display:inline}',
            'pre{background:#f4f4f4;padding:1rem;overflow:auto}',
            '.bar{background:#e2b4a4;height:1rem}',
            '.bar div{background:#5a9367;height:1rem}.error{color:#a00}',
            '@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}',
            'pre{background:#2a2a2a}a{color:#8bf}}',
            "</style><h1>$title</h1><p><a href=\"?\">All tables</a></p>$body";
    }

    private function text(array $from, string $name, ?string $default = ''): ?string
    {
        return is_string($from[$name] ?? null) ? $from[$name] : $default;
    }

    private function key64(array $from): string
    {
        return (string) base64_decode($this->text($from, 'key'), true);
    }

    private function rate(array $stats): string
    {
        $reads = $stats['hits'] + $stats['misses'];
        return $reads === 0 ? '' : round(100 * $stats['hits'] / $reads, 1) . ' %';
    }

    private function size(int $bytes): string
    {
        foreach (['B', 'KiB', 'MiB', 'GiB'] as $power => $unit) {
            if ($bytes < 1024 ** ($power + 1) || $unit === 'GiB') {
                return round($bytes / 1024 ** $power, 1) . " $unit";
            }
        }
    }

    private function shorten(string $text, int $most): string
    {
        return strlen($text) > $most ? substr($text, 0, $most) . '...' : $text;
    }

    private function html(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }
}

(new StatusPage())->run();
