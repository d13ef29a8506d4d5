# Usage: API_SECRET=... python3 send.py +4915112345678
import base64, json, os, sys, urllib.error, urllib.request, uuid

credentials = base64.b64encode(f"API_KEY:{os.environ['API_SECRET']}".encode()).decode()
request = urllib.request.Request(
    "BASE_URL/sms",
    data=json.dumps({"to": sys.argv[1], "text": "Hello from Python"}).encode(),
    headers={
        "Authorization": f"Basic {credentials}",
        "Content-Type": "application/json",
        # A repeated request with the same key sends nothing twice.
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        print(json.load(response)["message_id"])
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code} {error.read().decode()}")
