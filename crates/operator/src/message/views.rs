//! Messages and their timelines.

use crate::message::costs::MessageCostsView;
use crate::record::RecordView;
use crate::request::RejectedRequestsView;
use crate::views::amount::Amount;
use crate::views::masking::HandsetNumber;
use crate::views::paging::Limit;
use hermod_domain::numbers::Numbers;
use hermod_smpp::CommandStatus;
use hermod_store::record::RecordedMessage;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The messages to look for: those that have every property that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// Only messages of this account.
    pub account: Option<String>,
    /// The recipient: a number, the beginning of numbers followed by `*`, such as `+49151*`, or at least 4 of their last digits
    /// after `*`, such as `*5678`. The search by last digits looks at every message: give a range of time or the account too.
    #[param(pattern = r"^([+ ]?[0-9]{1,15}\*?|\*[0-9]{4,15})$", example = "+49151*")]
    pub to: Option<String>,
    /// The sender.
    pub from: Option<String>,
    /// `queued`, `submitted`, `enroute`, `delivered`, `expired`, `undeliverable` or `rejected`.
    #[param(pattern = "^(queued|submitted|enroute|delivered|expired|undeliverable|rejected)$")]
    pub state: Option<String>,
    /// The country of the recipient, such as `DE`.
    #[param(pattern = "^[A-Z]{2}$")]
    pub country: Option<String>,
    /// The network of the recipient, MCC and MNC, such as `262-01`.
    #[param(example = "262-01")]
    pub network: Option<String>,
    /// The carrier that has or had the message last.
    pub carrier: Option<String>,
    /// The connection that the customer used.
    pub connection: Option<String>,
    /// The id that a carrier gave to a part, as the carrier wrote it.
    pub carrier_id: Option<String>,
    /// The `X-Request-Id` of the HTTP request that submitted the message.
    pub request: Option<String>,
    /// The idempotency key of the request. Needs `account`.
    pub key: Option<String>,
    /// The `webhook-id` of an event about the message.
    #[param(example = "evt_4711")]
    pub event: Option<String>,
    /// Accepted at this time or later: a time such as `2026-11-15T09:30:00Z`, a UTC day, or how long ago, such as `2h`.
    pub since: Option<String>,
    /// Accepted before this time.
    pub until: Option<String>,
    /// `next` of the previous page.
    #[param(pattern = "^[1-9][0-9]{0,16}$")]
    pub cursor: Option<String>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageView {
    #[schema(examples("15526526976000001"))]
    pub id: String,
    #[schema(examples("shop"))]
    pub account: String,
    /// The connection that the customer used.
    pub connection: String,
    #[schema(examples("Shop"))]
    pub from: String,
    /// The recipient; null if the number was erased.
    pub to: Option<HandsetNumber>,
    /// The country of the recipient; empty if unknown.
    #[schema(examples("DE"))]
    pub country: String,
    /// MCC and MNC; empty if unknown.
    #[schema(examples("262-01"))]
    pub network: String,
    /// The carrier that has or had it last.
    #[schema(examples("acme"))]
    pub carrier: String,
    /// `gsm7`, `ucs2` or `binary`.
    #[schema(examples("gsm7"))]
    pub encoding: String,
    pub parts: u8,
    #[schema(examples("delivered"))]
    pub state: String,
    /// The status that the customer got; null until the message has ended.
    #[schema(examples("DELIVRD"))]
    pub code: Option<String>,
    /// The error code of its receipt; 0 without one.
    pub err: u16,
    pub cost: Amount,
    pub refund: Option<Amount>,
    /// The currency of the account.
    #[schema(examples("EUR"))]
    pub currency: String,
    pub accepted_at: String,
    /// When it ended; null until then.
    pub ended_at: Option<String>,
    /// From the acceptance to the end.
    pub took_ms: Option<u64>,
}

impl MessageView {
    /// Makes the view of a message whose account, connection and carrier have these names.
    pub fn new(
        message: &RecordedMessage,
        [account, connection, carrier]: [String; 3],
        currency: String,
    ) -> MessageView {
        let destination = message.to.map(|to| Numbers::embedded().find(to));
        let country = destination.as_ref().and_then(|to| to.country).map(|country| country.to_string());
        let network = destination.as_ref().and_then(|to| to.network).map(|network| network.to_string());
        let took = message.settled_at.map(|at| at.since(message.id.accepted_at()));
        MessageView {
            id: message.id.to_string(),
            account,
            connection,
            from: message.from.to_string(),
            to: message.to.map(|to| to.to_string().into()),
            country: country.unwrap_or_default(),
            network: network.unwrap_or_default(),
            carrier,
            encoding: message.encoding.as_str().to_owned(),
            parts: message.parts,
            state: message.state.as_str().to_owned(),
            code: message.code.map(|code| code.as_str().to_owned()),
            err: message.err,
            cost: Amount(message.cost),
            refund: message.refund.map(Amount),
            currency,
            accepted_at: message.id.accepted_at().to_iso(),
            ended_at: message.settled_at.map(|at| at.to_iso()),
            took_ms: took.map(crate::record::whole_ms),
        }
    }
}

/// A page of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessagesView {
    /// The newest first.
    pub items: Vec<MessageView>,
    /// The cursor of the next page; null on the last page.
    pub next: Option<String>,
    /// The search has looked at enough messages down to this time: the next page goes on, even if this one is not full.
    pub searched_to: Option<String>,
    /// Rejected requests to the number of `to`, of the same account and range of time: they made no message. Null unless `to` is
    /// a whole number.
    pub rejected_requests: Option<RejectedRequestsView>,
    pub record: RecordView,
}

/// How many messages there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CountView {
    pub count: u64,
    /// Whether the count is exact. If not, there are at least as many.
    pub exact: bool,
    pub record: RecordView,
}

/// A text to look for in the messages of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct TextSearchQuery {
    /// The account.
    #[param(required)]
    pub account: Option<String>,
    /// What the text contains, in any case.
    #[param(required, min_length = 1, max_length = 200)]
    pub text: Option<String>,
    /// Accepted at this time or later; two days ago by default. At most 7 days before `until`.
    pub since: Option<String>,
    /// Accepted before this time; now by default.
    pub until: Option<String>,
    /// `next` of the previous slice.
    #[param(pattern = "^[1-9][0-9]{0,16}$")]
    pub cursor: Option<String>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// What one slice of a text search found. Repeat with `cursor` while `next` is not null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextSearchView {
    /// The newest first. Without the texts.
    pub items: Vec<MessageView>,
    /// The cursor of the next slice; null if the search is complete.
    pub next: Option<String>,
    /// The search has looked at all texts down to this time.
    pub searched_to: String,
    /// How many texts this slice looked at.
    pub looked_at: u64,
    pub record: RecordView,
}

/// Everything about one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct MessageDetailView {
    #[serde(flatten)]
    pub message: MessageView,
    #[serde(flatten)]
    pub history: HistoryView,
}

/// How a message was charged and routed, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    /// The parts that were charged.
    pub charged_parts: u8,
    /// The balance of the account after the charge; null if the acceptance was read from the message store later.
    pub balance: Option<Amount>,
    /// The `X-Request-Id` of the HTTP request; null over SMPP, and if it was read later.
    pub request: Option<String>,
    /// The route; null if it was read later.
    #[schema(examples("49"))]
    pub route: Option<String>,
    /// Why the route chose the first carrier: `only`, `first_up`, `first_able`, `first_down`, `first` or `least_loss`.
    #[schema(examples("first_up"))]
    pub choice: Option<String>,
    /// The same in a sentence.
    pub why: Option<String>,
    /// What carriers ask for it; left out if no cost is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<MessageCostsView>,
    /// The carriers of the route as they were compared, in the order in which they were tried. Empty if the route looked at no
    /// costs, or if it was read later.
    pub carriers: Vec<ComparedCarrierView>,
    /// What happened, in order.
    pub timeline: Vec<StepView>,
    pub record: RecordView,
}

/// What a carrier asked for a message when it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComparedCarrierView {
    #[schema(examples("acme"))]
    pub carrier: String,
    /// For the whole message, in the currency of its account; null if it was unknown.
    pub cost: Option<Amount>,
    /// What remained of the price.
    pub margin: Option<Amount>,
    /// Why it could not have the message: `closed`, `unknown-cost` or `loss`; null if it could.
    pub excluded: Option<String>,
}

/// A step of a message. Fields that say nothing about the step are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StepView {
    /// What happened: `accepted`, `sent`, `resent`, `not_sent`, `carrier_accepted`, `no_carrier_id`, `carrier_id_reused`,
    /// `throttled`, `temporary_error`, `rejected`, `refused`, `in_doubt`, `late_response`, `moved`, `held`, `released`,
    /// `failed_over`, `receipt`, `late_receipt`, `unknown_receipt`, `unknown`, `expired`, `cancelled`, `state`, `ended`,
    /// `reported`, `report_answered`, `webhook`, `gap` or `more`.
    #[schema(examples("sent"))]
    pub step: String,
    /// Milliseconds after the acceptance.
    #[schema(examples(14))]
    pub at_ms: u64,
    /// The part; left out if the step concerns the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<String>,
    /// The carrier that had it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_carrier: Option<String>,
    /// The number of the link that sent it, as in the list of links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<u64>,
    /// The id that the carrier gave to the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_id: Option<String>,
    /// The `command_status` of SMPP by its name or number, the status of HTTP, or the status in a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The receipt as the carrier wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub err: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The status of the message at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The number of the report to the customer's binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<u64>,
    /// The `webhook-id` of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u8>,
    /// What the step means, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Returns a `command_status` by the name of the specification, or as a number.
pub(crate) fn status_text(status: u32) -> String {
    CommandStatus(status).name().map_or_else(|| format!("0x{status:08x}"), str::to_owned)
}
