<?php
// Usage: API_SECRET=... php send.php +4915112345678
$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => [
        "Authorization: Basic " . base64_encode("API_KEY:" . getenv("API_SECRET")),
        "Content-Type: application/json",
        // A repeated request with the same key sends nothing twice.
        "Idempotency-Key: " . bin2hex(random_bytes(16)),
    ],
    "content" => json_encode(["to" => $argv[1], "text" => "Hello from PHP"]),
    "timeout" => 30,
    "ignore_errors" => true,
]]);
$body = file_get_contents("BASE_URL/sms", false, $context);
$answer = json_decode((string) $body, true);
if (!isset($answer["message_id"])) {
    fwrite(STDERR, $body . "\n");
    exit(1);
}
echo $answer["message_id"], "\n";
