//! The list of messages with its filters, the search for any id, and the messages that a screening rule held for review.

use crate::elements::{Chip, Freshness, PageLink};
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/messages`. The filters are the query of the URL.
#[derive(Clone, Debug, Template)]
#[template(path = "messages.html")]
pub struct MessagesPage {
    pub shell: Shell,
    pub filters: Filters,
    /// Whether any filter is set.
    pub is_filtered: bool,
    /// The newest first.
    pub rows: Vec<MessageListRow>,
    /// The address of the next page.
    pub next: Option<String>,
    /// The search stopped at this time after looking at enough messages; the next page goes on from there.
    pub searched_to: Option<Time>,
    /// The address of the same messages as CSV; `None` if the role may not export.
    pub export: Option<String>,
    pub freshness: Freshness,
}

/// The filters, as the person typed them.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// A number, or its beginning with `*`; `None` if the role may not see whole numbers.
    pub to: Option<Field>,
    pub from: Field,
    pub state: Select,
    pub country: Select,
    /// A time, a day, or how long ago, such as `2h`.
    pub since: Field,
    pub until: Field,
    /// A part of the text; `None` if the role may not read texts.
    pub text: Option<Field>,
}

/// One message in the list.
#[derive(Clone, Debug)]
pub struct MessageListRow {
    pub id: String,
    pub accepted_at: Time,
    pub from: String,
    /// The number, masked for roles that may not see it; `None` if it was erased.
    pub to: Option<String>,
    /// The country of the recipient; empty if unknown.
    pub country: String,
    /// The network of the recipient, such as `Telekom (262-01)`; empty if unknown.
    pub network: String,
    pub parts: u8,
    pub state: Chip,
    /// From the acceptance to the end, such as `2.31 s`.
    pub took: Option<String>,
    /// The cost with its currency, such as `0.075 EUR`.
    pub cost: String,
}

/// `GET /accounts/{account}/find?q=…`. One match redirects to its page; this page is for none and for several.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "find.html")]
pub struct FindPage {
    pub shell: Shell,
    /// What was typed.
    pub query: String,
    /// The pages that match, such as messages to a number.
    pub matches: Vec<PageLink>,
}

/// `GET /accounts/{account}/held`.
#[derive(Clone, Debug, Template)]
#[template(path = "held.html")]
pub struct HeldPage {
    pub shell: Shell,
    pub rows: Vec<HeldRow>,
    pub next: Option<String>,
}

/// A held message.
#[derive(Clone, Debug)]
pub struct HeldRow {
    pub at: Time,
    pub from: String,
    pub to: String,
    /// `None` if the role may not read texts.
    pub text: Option<String>,
    /// Waiting, approved or declined.
    pub state: Chip,
    /// What the decision means: `Approved until 24 Nov: send it again.`
    pub note: String,
    /// Compose with the same message, after an approval.
    pub send_again: Option<String>,
}
