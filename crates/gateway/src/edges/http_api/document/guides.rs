//! Sections of the document that are not operations, in Markdown: webhooks, and SMPP for customers.

use hermod_domain::receipt::DLR_ERRORS;

/// Lists the values of `err_code` in delivery reports.
pub(super) fn delivery_errors() -> String {
    let mut text = "`err_code` says why a message was not delivered: the codes of mobile networks, 10000 plus the SMPP status with \
                    which a carrier rejected the message, and codes from 20000 on for what carriers write in words.\n"
        .to_owned();
    for row in DLR_ERRORS {
        text.push_str(&format!("\n- `{}`: {}", row.code, row.description));
    }
    text
}

pub(super) const WEBHOOKS: &str = r#"Hermod posts delivery reports and MO messages to your URLs. Ask the operator to set them (`dlr_webhook`, `inbound_webhook`); both are signed with one secret.

**When.** A delivery report is posted when a message becomes enroute and when it ends: delivered, undeliverable, expired or rejected. A message without a receipt 24 hours after the end of its validity is reported once as `UNKNOWN`. Everything is posted at least once; the order is not guaranteed.

**Bodies.** The full form, the default of a connection:

```json
{
  "message_id": "123456789012345678", "batch_id": "", "to": "+4915112345678", "from": "Shop",
  "status": "DELIVRD", "err_code": 0, "err_desc": "No error",
  "submitted_at": "2026-11-15T09:30:00Z", "delivered_at": "2026-11-15T09:30:02Z",
  "network": "T-Mobile", "mcc": "262", "mnc": "01"
}
```

The short form, and an MO message:

```json
{"id": "123456789012345678", "to": "+4915112345678", "status": "delivered", "error_code": null, "delivered_at": "2026-11-15T09:30:02Z"}

{"from": "+4915112345678", "to": "+4915799999999", "text": "Yes please", "received_at": "2026-11-15T09:31:00Z"}
```

**Signature.** Verify it before you use the body.

- `X-SVC-Signature`: HMAC-SHA256 of the raw body, keyed with the secret's text, in lower-case hexadecimal.
- `webhook-id`, `webhook-timestamp`, `webhook-signature`: after the Standard Webhooks convention, over `id.timestamp.body`.
- `X-SVC-Signature-Next`, `X-SVC-Signature-Previous`: with the other secret during a rotation.
- `X-SVC-Attempt`: 1 for the first attempt. The same event can arrive twice, with the same `webhook-id` and body: keep the ids you have processed for a few days.

**Respond** with any status from 200 to 299 within 15 seconds (5 to connect). Redirects are not followed. Anything else is retried after 50 seconds, 5 minutes, 30 minutes, 3 hours and 18 hours, each with 10 % jitter; after the sixth failure the event is given up, kept for 30 days, and can be replayed by the operator. An endpoint is never disabled. URLs must be `https` with a public address unless the operator allows more."#;

pub(super) const SMPP: &str = r#"Customers with volume bind over SMPP 3.3 or 3.4. Messages have the same senders, prices, limits and states as over HTTP.

**Bind parameters**

- Address: usually port 2775, and 2776 with TLS 1.2 or 1.3. Ask the operator.
- `system_id` and `password`: given by the operator; at most 15 and 8 characters.
- `system_type`: any, unless your connection requires a value. `address_range` is not used.
- Bind types: transmitter, receiver and transceiver in any combination, ten binds at a time unless agreed otherwise.
- `interface_version`: 0x34 and above is 3.4, anything below is 3.3.
- `enquire_link`: send one every 30 seconds. A bind without a PDU for 60 seconds is closed.
- Window: ten outstanding requests per bind, up to 100 if agreed.

**Submitting.** `submit_sm`, `data_sm` (3.4) and `submit_multi` (up to 254 numbers). Status 0 means that the message is stored and charged; an error means neither. Long texts go in `message_payload` (0x0424, split by Hermod) or in your own parts (UDH or SAR). `data_coding` 0 is GSM 03.38, 3 Latin-1, 8 UCS-2. `query_sm` and `cancel_sm` work by message id.

**Receipts** come as `deliver_sm` with `esm_class` 0x04 on any receiver or transceiver of the connection, as `registered_delivery` asked, with `receipted_message_id` and `message_state` on 3.4. Answer each with `deliver_sm_resp`; unanswered receipts are delivered again, for 72 hours.

**Errors.** Retry after 0x58 (throttled: 100 messages per second for a standard account), 0x14 (queue full) and 0x08 (system error). A bind gets 0x0E for a wrong `system_id` or `password`, and 0x0D if it is rejected for another reason: address not on the allow-list, TLS required, bind type not allowed, too many binds, too many failed attempts. The SMPP status of every error is in the catalogue below."#;
