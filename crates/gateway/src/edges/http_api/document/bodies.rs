//! The bodies of the API as types. The edge writes them by hand, for speed and for exact amounts; these are what the
//! document is made from, and every answer the tests get is read into them, no field missing and none too many.

use serde::Deserialize;
use utoipa::ToSchema;

/// What `POST /sms` takes. Fields that are not listed are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the edge reads requests by hand; this is their documented form")]
pub struct SendRequest {
    /// The recipient in E.164 form: a plus, then 7 to 15 digits, the first not 0.
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    to: String,
    /// The sender: 1 to 11 letters, digits, spaces and `- _ . &` with a letter among them, or a number of 3 to 15
    /// digits. Left out, null or empty: the default sender of the connection.
    #[schema(
        required = false,
        pattern = r"^(\+?[0-9]{3,15}|(?=.*[A-Za-z])[A-Za-z0-9 _.&-]{1,11}|)$",
        examples("Hermod")
    )]
    from: Option<String>,
    /// What the handset shows, at most 1600 characters. A long text is sent in parts, and each part is charged.
    #[schema(min_length = 1, max_length = 1600, examples("Hello from Hermod"))]
    text: String,
    /// The same as the header `Idempotency-Key`, which wins if both are given.
    #[schema(required = false, max_length = 255)]
    idempotency_key: Option<String>,
}

/// A message that was accepted: it is stored, charged and queued.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Ask for it with `GET /sms/{id}`.
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    pub status: Queued,
    /// The recipient as submitted.
    #[schema(examples("+4915112345678"))]
    pub to: String,
    /// The sender that is used.
    #[schema(examples("Hermod"))]
    pub from: String,
    /// Always true: the account was charged.
    #[schema(examples(true))]
    pub charged: bool,
    /// What was charged: the price of one part times the number of parts.
    #[schema(minimum = 0, examples(0.05))]
    pub cost: f64,
    /// The balance right after this charge.
    #[schema(examples(999.95))]
    pub balance: f64,
}

/// Where every message begins.
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    Queued,
}

/// A request whose idempotency key was used before: nothing was sent and nothing was charged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Replayed {
    /// The message the key was first used for.
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    pub status: Duplicate,
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
pub enum Duplicate {
    Duplicate,
}

/// What became of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageStatus {
    #[schema(pattern = "^[0-9]+$", examples("15506713804701696"))]
    pub message_id: String,
    /// The sender.
    #[schema(examples("Hermod"))]
    pub source: String,
    /// The recipient: digits, without the plus.
    #[schema(pattern = "^[1-9][0-9]{6,14}$", examples("4915112345678"))]
    pub dest: String,
    pub status: State,
    pub dlr: Dlr,
    pub direction: Direction,
    /// The country of the recipient; empty if it is not known.
    #[schema(examples("Germany"))]
    pub country: String,
    /// The network the number was given out to; empty if it is not known.
    #[schema(examples("Telekom"))]
    pub operator: String,
}

/// Where a message is. The last four are final.
///
/// - `queued`: accepted and charged, not yet with a carrier
/// - `submitted`: handed to a carrier, no receipt yet
/// - `enroute`: the carrier has it and is trying
/// - `delivered`: the handset has it
/// - `expired`: its validity ended first
/// - `undeliverable`: the carrier refused it or gave up
/// - `rejected`: refused after it was accepted, before it reached a carrier; what it cost is paid back
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(examples("delivered"))]
pub enum State {
    Queued,
    Submitted,
    Enroute,
    Delivered,
    Expired,
    Undeliverable,
    Rejected,
}

/// The carrier's receipt code; `UNKNOWN` as long as there is none.
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

/// `MT`: to a handset.
#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Direction {
    Mt,
}

/// One page of what handsets sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboundPage {
    /// Ascending by `id`.
    #[schema(max_items = 500)]
    pub messages: Vec<InboundMessage>,
    /// Pass it as `since` for the next page: nothing is missed and nothing comes twice.
    #[schema(minimum = 0, examples(17))]
    pub next_since: u64,
    /// How many there are in `messages`.
    #[schema(minimum = 0, maximum = 500, examples(1))]
    pub count: u32,
}

/// What a handset sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InboundMessage {
    /// Counts up for each account.
    #[schema(minimum = 1, examples(17))]
    pub id: u64,
    #[schema(pattern = "^[0-9]+$", examples("15506713804701700"))]
    pub message_id: String,
    /// The handset.
    #[schema(examples("+4915112345678"))]
    pub from: String,
    /// The number or sender that was written to.
    #[schema(examples("+4915799900000"))]
    pub to: String,
    #[schema(examples("STOP"))]
    pub text: String,
    /// UTC.
    #[schema(format = DateTime, examples("2026-11-15T09:30:00Z"))]
    pub received_at: String,
}

/// What the account has, owes and may spend: `available = balance + credit_limit - credit_used`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// Negative where messages were charged on credit.
    #[schema(examples(999.95))]
    pub balance: f64,
    /// The ISO 4217 code of the account's currency.
    #[schema(pattern = "^[A-Z]{3}$", examples("EUR"))]
    pub currency: String,
    #[schema(minimum = 0, examples(0))]
    pub credit_limit: f64,
    /// Invoiced and not paid yet.
    #[schema(examples(0))]
    pub credit_used: f64,
    /// What may be spent. Sending stops when it reaches 0: the figure to watch.
    #[schema(examples(999.95))]
    pub available: f64,
    pub payment_terms: PaymentTerms,
    /// True where the account pays by invoice.
    #[schema(examples(false))]
    pub postpaid: bool,
}

#[derive(Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PaymentTerms {
    Prepaid,
    Postpaid,
}
