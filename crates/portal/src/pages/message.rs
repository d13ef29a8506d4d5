//! One message: its state in words, its facts, its cost, its timeline.

use crate::elements::{Chip, Fact, Freshness, Notice, PageLink, Tone};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/messages/{id}`.
#[derive(Clone, Debug, Template)]
#[template(path = "message.html")]
pub struct MessageDetailPage {
    pub shell: Shell,
    pub id: String,
    pub state: Chip,
    /// The state in a sentence: `Delivered to the handset 2.31 s after we accepted it.`
    pub state_words: String,
    /// The error and what to do about it, with a link to the error's entry in the catalogue.
    pub remedy: Option<Notice>,
    pub accepted_at: Time,
    pub from: String,
    /// The number, masked for roles that may not see it; `None` if it was erased.
    pub to: Option<String>,
    /// Country, network, encoding, connection, request id and so on.
    pub facts: Vec<Fact>,
    pub text: Text,
    pub cost: MessageCost,
    /// The oldest first.
    pub timeline: Vec<TimelineStep>,
    /// The attempts to post its DLR; the oldest first.
    pub attempts: Vec<WebhookAttemptRow>,
    /// Compose with the same sender, recipient and text; `None` if the role may not send.
    pub send_again: Option<String>,
    /// How long the script waits before it reads the page again, in milliseconds; `None` once nothing more is expected.
    pub refresh_ms: Option<u32>,
    pub freshness: Freshness,
}

/// The text of a message, or why it is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// The text by segments.
    Shown(Vec<Segment>),
    /// The role may not read texts.
    HiddenForRole,
    /// The text was deleted after this many days.
    Purged { days: u64 },
    /// The message is binary; its octets in hexadecimal.
    Binary(String),
}

/// The text of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    /// How much of the part it uses, such as `153 of 153`.
    pub used: String,
}

/// The cost as a sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCost {
    /// The number of parts that were charged.
    pub parts: u8,
    /// The price of one part, such as `0.075`; `None` if it is unknown now.
    pub price: Option<String>,
    /// What was charged, with the currency.
    pub charged: String,
    /// What was refunded, with the currency.
    pub refunded: Option<String>,
    /// The balance after the charge, with the currency.
    pub balance_after: Option<String>,
}

/// One step of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineStep {
    /// Milliseconds after the acceptance.
    pub at_ms: u64,
    pub tone: Tone,
    /// What happened, in words; see [`step_words`].
    pub title: String,
    /// The part that the step is about.
    pub part: Option<u8>,
    /// What the step means, in a sentence.
    pub note: Option<String>,
    /// Carrier's id, status, error code and so on.
    pub details: Vec<Fact>,
}

/// One POST of a webhook event about the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAttemptRow {
    pub at: Time,
    /// The event and the address of its page.
    pub event: PageLink,
    pub number: u32,
    /// The HTTP status or the failure.
    pub result: Chip,
    pub took: String,
    /// The beginning of the response, as far as it was kept; `None` if the role may not see it.
    pub response: Option<String>,
}

/// Returns the tone and the words of a step of the record, such as `carrier_accepted`. Receipts and ends have the tone of the
/// message state that they brought. Unknown steps are shown as they are written.
pub fn step_words<'s>(step: &'s str, state: Option<&str>) -> (Tone, &'s str) {
    let state_tone = state.map_or(Tone::Neutral, |state| Chip::of_state(state).tone);
    match step {
        "accepted" => (Tone::Good, "Accepted and charged"),
        "sent" => (Tone::Waiting, "Sent to the carrier"),
        "resent" => (Tone::Warning, "Sent again"),
        "not_sent" => (Tone::Warning, "Not sent"),
        "carrier_accepted" => (Tone::Good, "The carrier accepted it"),
        "no_carrier_id" => (Tone::Warning, "The carrier gave no id"),
        "carrier_id_reused" => (Tone::Warning, "The carrier used an id twice"),
        "throttled" => (Tone::Waiting, "Throttled by the carrier"),
        "temporary_error" => (Tone::Warning, "Temporary error of the carrier"),
        "rejected" => (Tone::Bad, "The carrier rejected it"),
        "refused" => (Tone::Stopped, "Rejected before it was sent"),
        "in_doubt" => (Tone::Warning, "No response from the carrier"),
        "late_response" => (Tone::Neutral, "Late response of the carrier"),
        "moved" => (Tone::Neutral, "Moved to another link"),
        "held" => (Tone::Stopped, "Held by your provider"),
        "released" => (Tone::Neutral, "Released by your provider"),
        "failed_over" => (Tone::Warning, "Moved to another carrier"),
        "receipt" => (state_tone, "Receipt from the carrier"),
        "late_receipt" => (Tone::Neutral, "Receipt after the end"),
        "unknown_receipt" => (Tone::Warning, "Receipt with an unknown status"),
        "unknown" => (Tone::Warning, "No receipt arrived"),
        "expired" => (Tone::Warning, "Validity period elapsed"),
        "cancelled" => (Tone::Stopped, "Cancelled"),
        "state" => (state_tone, "State changed"),
        "ended" => (state_tone, "Ended"),
        "reported" => (Tone::Waiting, "Report sent to your bind"),
        "report_answered" => (Tone::Good, "Your bind acknowledged the report"),
        "webhook" => (Tone::Neutral, "Webhook posted"),
        "gap" => (Tone::Neutral, "Steps are missing here"),
        "more" => (Tone::Neutral, "More steps than are shown"),
        other => (Tone::Neutral, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipt_has_the_tone_of_the_state_it_brought() {
        assert_eq!(step_words("receipt", Some("delivered")).0, Tone::Good);
        assert_eq!(step_words("receipt", Some("undeliverable")).0, Tone::Bad);
        assert_eq!(step_words("receipt", None).0, Tone::Neutral);
    }

    #[test]
    fn unknown_step_is_shown_as_written() {
        assert_eq!(step_words("new_step", None), (Tone::Neutral, "new_step"));
    }
}
