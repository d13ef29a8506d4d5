const crypto = require('node:crypto');

// `body`: a Buffer with the octets of the request, before anything parses them. `signature`: X-SVC-Signature.
function isGenuine(body, signature, secret) {
  const expected = crypto.createHmac('sha256', secret).update(body).digest('hex');
  const [a, b] = [Buffer.from(expected), Buffer.from(signature)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

// In a handler: unless isGenuine(...), answer 403 and do nothing else.
if (require.main === module) {
  const [secret, signature] = process.argv.slice(2);
  process.exit(isGenuine(require('node:fs').readFileSync(0), signature, secret) ? 0 : 1);
}
