<?php

/* Loads the classes of this folder, for programs without Composer. */
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Tavola\\')) {
        $file = __DIR__ . '/' . strtr(substr($class, 7), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
