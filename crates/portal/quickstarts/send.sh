#!/bin/sh
# Usage: API_SECRET=... sh send.sh +4915112345678
# Each message has its own idempotency key: a repeated request with the same key sends nothing twice.
curl --silent --show-error --fail-with-body "BASE_URL/sms" \
  --user "API_KEY:$API_SECRET" \
  --header "Content-Type: application/json" \
  --header "Idempotency-Key: $(date +%s)-$$" \
  --data "{\"to\": \"$1\", \"text\": \"Hello from curl\"}"
