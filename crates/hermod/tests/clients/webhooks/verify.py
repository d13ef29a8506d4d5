import hashlib
import hmac
import sys


def is_genuine(body: bytes, signature: str, secret: str) -> bool:
    """`body`: the octets of the request, before anything parses them. `signature`: X-SVC-Signature."""
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)


# In a handler: if not is_genuine(...), answer 403 and do nothing else.
if __name__ == "__main__":
    secret, signature = sys.argv[1:3]
    sys.exit(0 if is_genuine(sys.stdin.buffer.read(), signature, secret) else 1)
