//! The parts of the document that are no operations of the API: how webhooks reach a customer, and how customers bind
//! over SMPP. Written in the little Markdown that the page knows.

pub(super) const WEBHOOKS: &str = r#"Hermod posts delivery reports and messages from handsets to addresses of yours. Ask the operator to set them (`dlr_webhook`, `inbound_webhook`); both are signed with one secret.

**When.** A delivery report is posted when a message becomes enroute and when it ends: delivered, undeliverable, expired or rejected. A message without a receipt 24 hours after the end of its validity is reported once as `UNKNOWN`. Everything is posted at least once; the order is not promised.

**Bodies.** The full form, the default of a connection:

```json
{
  "message_id": "123456789012345678", "batch_id": "", "to": "+4915112345678", "from": "Shop",
  "status": "DELIVRD", "err_code": 0, "err_desc": "No error",
  "submitted_at": "2026-11-15T09:30:00Z", "delivered_at": "2026-11-15T09:30:02Z",
  "network": "T-Mobile", "mcc": "262", "mnc": "01"
}
```

The short form, and a message from a handset:

```json
{"id": "123456789012345678", "to": "+4915112345678", "status": "delivered", "error_code": null, "delivered_at": "2026-11-15T09:30:02Z"}

{"from": "+4915112345678", "to": "+4915799999999", "text": "Yes please", "received_at": "2026-11-15T09:31:00Z"}
```

**Signature.** Check it before you read the body.

- `X-SVC-Signature`: HMAC-SHA256 of the raw body, keyed with the secret's text, in lower-case hexadecimal.
- `webhook-id`, `webhook-timestamp`, `webhook-signature`: after the Standard Webhooks convention, over `id.timestamp.body`.
- `X-SVC-Signature-Next`, `X-SVC-Signature-Previous`: with the other secret while one is being changed.
- `X-SVC-Attempt`: 1 the first time. The same event can come twice, with the same `webhook-id` and body: keep the ids you have handled for a few days.

**Answer** with any status from 200 to 299 within 15 seconds (5 to connect). Redirects are not followed. Anything else is retried after 50 seconds, 5 minutes, 30 minutes, 3 hours and 18 hours, each give or take a tenth; after the sixth failure the event is given up, kept for 30 days, and can be replayed by the operator. An endpoint is never switched off. Addresses are `https` in the public network unless the operator allows more."#;

pub(super) const SMPP: &str = r#"Customers with volume bind over SMPP 3.3 or 3.4. A message that is submitted this way has the same senders, prices, limits and states as one sent over HTTP.

**Bind parameters**

- Address: port 2775 by custom, over TLS 1.2 or 1.3 port 2776. The operator names them.
- `system_id` and `password`: given to you; at most 15 and 8 characters.
- `system_type`: anything, unless your connection has a value of its own. `address_range` is not used.
- Bind types: transmitter, receiver and transceiver in any mixture, ten at a time unless agreed otherwise.
- `interface_version`: 0x34 and above is 3.4, anything below is 3.3.
- `enquire_link`: send one every 30 seconds. A bind without a PDU for 60 seconds is ended.
- Window: ten requests of one bind may wait for their answers, up to 100 if agreed.

**Submitting.** `submit_sm`, `data_sm` (3.4) and `submit_multi` (up to 254 numbers). A positive answer means that the message is stored, charged and will be receipted; an error means neither. Long texts go in `message_payload` (0x0424, split by us) or in parts of yours (UDH or SAR). `data_coding` 0 is GSM 03.38, 3 Latin-1, 8 UCS-2. `query_sm` and `cancel_sm` work by message id.

**Receipts** come as `deliver_sm` with `esm_class` 0x04 on any receiver or transceiver of the connection, as `registered_delivery` asked, with `receipted_message_id` and `message_state` on 3.4. Answer each with `deliver_sm_resp`; what is not answered comes again, for 72 hours.

**Errors.** Retry after 0x58 (too fast: 100 messages a second for a standard account), 0x14 (no room) and 0x08 (trouble of ours). A bind gets 0x0E for a wrong `system_id` or `password`, and 0x0D where it is refused for another reason: address not on the allow-list, TLS required, bind type not allowed, too many binds, too many failed attempts. The SMPP status of every error is in the catalogue below."#;
