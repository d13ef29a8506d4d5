//! The bodies of the API as types, for the document and the tests. The edge writes bodies by hand, for speed and exact
//! amounts; the tests parse every response into these types.

use serde::Deserialize;
use utoipa::ToSchema;

/// The body of `POST /sms`. Unknown fields are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the edge reads requests by hand; this is their documented form")]
#[schema(as = SendRequest)]
pub struct SendRequestBody {
    /// The recipient in E.164 form: a plus, then 7 to 15 digits, the first not 0.
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    to: String,
    /// The sender: 1 to 11 letters, digits, spaces and `- _ . &` with a letter among them, or a number of 3 to 15
    /// digits. Absent, null or empty: the default sender of the connection.
    #[schema(
        required = false,
        pattern = r"^(\+?[0-9]{3,15}|(?=.*[A-Za-z])[A-Za-z0-9 _.&-]{1,11}|)$",
        examples("Hermod")
    )]
    from: Option<String>,
    /// The text, at most 1600 characters. A long text is sent in parts, and each part is charged.
    #[schema(min_length = 1, max_length = 1600, examples("Hello from Hermod"))]
    text: String,
    /// Same as the header `Idempotency-Key`, which takes precedence.
    #[schema(required = false, max_length = 255)]
    idempotency_key: Option<String>,
}

/// An accepted message: stored, charged and queued.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Accepted)]
pub struct AcceptedBody {
    /// For `GET /sms/{id}`.
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    pub status: Queued,
    /// The recipient as submitted.
    #[schema(examples("+4915112345678"))]
    pub to: String,
    /// The sender used.
    #[schema(examples("Hermod"))]
    pub from: String,
    /// Always true: the account was charged.
    #[schema(examples(true))]
    pub charged: bool,
    /// The charge: the price of one part times the number of parts.
    #[schema(minimum = 0, examples(0.05))]
    pub cost: f64,
    /// The balance after this charge.
    #[schema(examples(999.95))]
    pub balance: f64,
}

/// The initial state of a message.
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    Queued,
}

/// A request whose idempotency key was used before: nothing was sent and nothing was charged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    /// The id of the first message with this key.
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    pub status: DuplicateStatus,
    /// Always true.
    #[schema(examples(true))]
    pub duplicate: bool,
    /// Always false.
    #[schema(examples(false))]
    pub charged: bool,
    /// Always 0.
    #[schema(minimum = 0, maximum = 0, examples(0))]
    pub cost: f64,
}

#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Duplicate)]
pub enum DuplicateStatus {
    Duplicate,
}

/// The status of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MessageStatus)]
pub struct MessageStatusBody {
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    /// The sender.
    #[schema(examples("Hermod"))]
    pub source: String,
    /// The recipient: digits, without the plus.
    #[schema(pattern = "^[1-9][0-9]{6,14}$", examples("4915112345678"))]
    pub dest: String,
    pub status: MessageStateName,
    pub dlr: Dlr,
    pub direction: MessageDirection,
    /// The country of the recipient; empty if unknown.
    #[schema(examples("Germany"))]
    pub country: String,
    /// The network that the number was assigned to; empty if unknown.
    #[schema(examples("Telekom"))]
    pub operator: String,
}

/// The state of a message. The last four are final.
///
/// - `queued`: accepted and charged, not yet with a carrier
/// - `submitted`: accepted by a carrier, no receipt yet
/// - `enroute`: the carrier is trying to deliver it
/// - `delivered`: delivered to the handset
/// - `expired`: not delivered within its validity
/// - `undeliverable`: rejected by the carrier, or delivery failed
/// - `rejected`: rejected after acceptance, before it reached a carrier; its cost is refunded
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = State, examples("delivered"))]
pub enum MessageStateName {
    Queued,
    Submitted,
    Enroute,
    Delivered,
    Expired,
    Undeliverable,
    Rejected,
}

/// The carrier's receipt code; `UNKNOWN` without a receipt.
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Dlr {
    Delivrd,
    Acceptd,
    Undeliv,
    Rejectd,
    Expired,
    Unknown,
}

/// `MT`: mobile-terminated, to a handset.
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = Direction)]
pub enum MessageDirection {
    Mt,
}

/// A page of inbound messages.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboundPage {
    /// Ascending by `id`.
    #[schema(max_items = 500)]
    pub messages: Vec<InboundMessageBody>,
    /// Pass it as `since` for the next page.
    #[schema(minimum = 0, examples(17))]
    pub next_since: u64,
    /// The number of `messages`.
    #[schema(minimum = 0, maximum = 500, examples(1))]
    pub count: u32,
}

/// An inbound message (MO).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = InboundMessage)]
pub struct InboundMessageBody {
    /// Increases per account.
    #[schema(minimum = 1, examples(17))]
    pub id: u64,
    #[schema(pattern = "^[0-9]+$", examples("15506713804701700"))]
    pub message_id: String,
    /// The handset's number.
    #[schema(examples("+4915112345678"))]
    pub from: String,
    /// The number that the handset wrote to.
    #[schema(examples("+4915799900000"))]
    pub to: String,
    #[schema(examples("STOP"))]
    pub text: String,
    /// UTC.
    #[schema(format = DateTime, examples("2026-11-15T09:30:00Z"))]
    pub received_at: String,
}

/// The account's balance: `available = balance + credit_limit - credit_used`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Balance)]
pub struct BalanceBody {
    /// Negative if messages were charged on credit.
    #[schema(examples(999.95))]
    pub balance: f64,
    /// The ISO 4217 code of the account's currency.
    #[schema(pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: String,
    /// How far the balance may go below 0.
    #[schema(minimum = 0, examples(0))]
    pub credit_limit: f64,
    /// Invoiced and not paid yet.
    #[schema(examples(0))]
    pub credit_used: f64,
    /// The amount that can be spent. Messages are rejected when it reaches 0.
    #[schema(examples(999.95))]
    pub available: f64,
    pub payment_terms: PaymentTerms,
    /// True if the account pays by invoice.
    #[schema(examples(false))]
    pub postpaid: bool,
}

#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaymentTerms {
    Prepaid,
    Postpaid,
}
