<?php
/* Loads the classes of the packages that the suites use, where Debian installs them. */
require __DIR__ . '/../../lib/autoload.php';
foreach (['Psr/SimpleCache', 'Psr/Cache', 'Psr/Log', 'Cache/TagInterop', 'Cache/IntegrationTests',
    'Symfony/Component/Cache', 'Illuminate/Cache', 'Illuminate/Support',
        'Illuminate/Contracts'] as $package) {
    $file = stream_resolve_include_path("$package/autoload.php");
    if ($file !== false) {
        require_once $file;
    }
}
$directory = getenv('TAVOLA_DIR') ?: throw new Exception('set TAVOLA_DIR');
