<?php
// $body: file_get_contents('php://input'). $signature: $_SERVER['HTTP_X_SVC_SIGNATURE'] ?? ''.
function is_genuine(string $body, string $signature, string $secret): bool
{
    return hash_equals(hash_hmac('sha256', $body, $secret), $signature);
}

// In a handler: unless is_genuine(...), http_response_code(403) and exit.
if (PHP_SAPI === 'cli') {
    [, $secret, $signature] = $argv;
    exit(is_genuine(stream_get_contents(STDIN), $signature, $secret) ? 0 : 1);
}
