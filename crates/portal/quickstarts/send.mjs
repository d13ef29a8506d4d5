// Usage: API_SECRET=... node send.mjs +4915112345678
import { randomUUID } from "node:crypto";

const credentials = Buffer.from(`API_KEY:${process.env.API_SECRET}`).toString("base64");
const response = await fetch("BASE_URL/sms", {
  method: "POST",
  headers: {
    Authorization: `Basic ${credentials}`,
    "Content-Type": "application/json",
    // A repeated request with the same key sends nothing twice.
    "Idempotency-Key": randomUUID(),
  },
  body: JSON.stringify({ to: process.argv[2], text: "Hello from Node" }),
  signal: AbortSignal.timeout(30_000),
});
const body = await response.json();
if (!response.ok) {
  throw new Error(`${response.status} ${JSON.stringify(body)}`);
}
console.log(body.message_id);
