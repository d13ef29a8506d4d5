//! The list of messages with its filters, the search for what a person pasted (a message id, a number, an id of a carrier, request or
//! event, a sender), and the messages that a screening rule held for review.

use crate::elements::{Chip, Freshness, PageLink, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, encode_segment, url_query};
use crate::numbers::{amount, duration};
use crate::request::extract::{Before, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page, redirect};
use crate::request::shown::{country_name, freshness, time, time_of};
use crate::time::Time;
use askama::Template;
use axum::body::Body;
use hermod_domain::permission::Permission;
use hermod_domain::shown_number::NumberKind;
use hermod_domain::time::Timestamp;
use hermod_operator::message::export::Reader;
use hermod_operator::message::views::{MessageView, MessagesQuery, MessagesView, TextSearchQuery};
use hermod_operator::message::{export, history, search};
use hermod_operator::record::RecordView;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::review::{ReviewView, ReviewsQuery, list_reviews};
use hermod_operator::statistics;
use hermod_operator::statistics::StatisticsQuery;
use hermod_operator::views::paging::Limit;
use hermod_operator::webhook::use_cases::show_webhook_event;
use serde::{Deserialize, Serialize};

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

/// Rows of a page.
const ROWS: u32 = 50;
/// How far back the countries of the filter go.
const COUNTRIES_SINCE: &str = "30d";

const STATES: [(&str, &str); 8] = [
    ("", "Any state"),
    ("queued", "Queued"),
    ("submitted", "Submitted"),
    ("enroute", "En route"),
    ("delivered", "Delivered"),
    ("expired", "Expired"),
    ("undeliverable", "Undeliverable"),
    ("rejected", "Rejected"),
];

/// The filters of the URL, as the person typed them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MessageListFilter {
    to: String,
    from: String,
    state: String,
    country: String,
    since: String,
    until: String,
    /// Only for roles that may read texts.
    text: String,
    cursor: String,
}

/// `GET /accounts/{account}/messages`.
pub(crate) async fn list(member: Member, Query(mut filter): Query<MessageListFilter>) -> Reply {
    member.require(Permission::ReadMessages)?;
    if !member.may(Permission::ReadTexts) {
        filter = MessageListFilter { text: String::new(), ..filter.without_number() };
    }
    let (found, error) = match search(&member, &filter).await {
        Ok(found) => (found, None),
        Err(OperatorRefusal::InvalidField { field, rule }) => (nothing(), Some((field, rule))),
        Err(refusal) => return Err(NoPage::from(refusal)),
    };
    let countries = countries(&member).await?;
    let shell = member.shell(NavEntry::Messages);
    let next = found.next.clone().map(|cursor| {
        let next = MessageListFilter { cursor, ..filter.clone() };
        format!("{}?{}", shell.path("messages"), next.query())
    });
    let is_filtered = !MessageListFilter { cursor: String::new(), ..filter.clone() }.query().is_empty();
    Ok(page(&MessagesPage {
        filters: shown(&filter, error, countries, member.may(Permission::ReadTexts)),
        is_filtered,
        rows: found.items.into_iter().map(|message| row(&member, message)).collect(),
        next,
        searched_to: found.searched_to.as_deref().and_then(time),
        export: filter.text.is_empty().then(|| {
            let query = MessageListFilter::of_export(filter.clone()).query();
            format!("{}?{query}", shell.path("messages.csv"))
        }),
        freshness: freshness(&member.gateway().clock, found.record),
        shell,
    }))
}

async fn search(member: &Member, filter: &MessageListFilter) -> Result<MessagesView, OperatorRefusal> {
    let account = Some(member.account_name.clone());
    let limit = Limit::try_from(ROWS.to_string()).ok();
    if let Some(text) = given(&filter.text) {
        let found = search::search_text(
            member.gateway(),
            TextSearchQuery {
                account,
                text: Some(text),
                since: given(&filter.since),
                until: given(&filter.until),
                cursor: given(&filter.cursor),
                limit,
            },
        );
        let found = found.await?;
        let searched_to = found.next.is_some().then_some(found.searched_to);
        let items = found.items.into_iter().filter(|message| filter.matches(message)).collect();
        return Ok(MessagesView {
            items,
            next: found.next,
            searched_to,
            rejected_requests: None,
            record: found.record,
        });
    }
    search::search_messages(member.gateway(), query_of(member, filter)).await
}

/// Returns the query for the record of a filter without a text.
pub(crate) fn query_of(member: &Member, filter: &MessageListFilter) -> MessagesQuery {
    MessagesQuery {
        account: Some(member.account_name.clone()),
        to: given(&filter.to),
        from: given(&filter.from),
        state: given(&filter.state),
        country: given(&filter.country).map(|country| country.to_uppercase()),
        since: given(&filter.since),
        until: given(&filter.until),
        cursor: given(&filter.cursor),
        limit: Limit::try_from(ROWS.to_string()).ok(),
        ..MessagesQuery::default()
    }
}

/// Returns what a person typed; none if it is only blank.
fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the countries that the account sent to lately, for the filter.
async fn countries(member: &Member) -> Result<Vec<(String, String)>, OperatorRefusal> {
    let query = StatisticsQuery {
        account: Some(member.account_name.clone()),
        by: Some("country".to_owned()),
        per: Some("day".to_owned()),
        since: Some(COUNTRIES_SINCE.to_owned()),
        sum: Some(true),
        ..StatisticsQuery::default()
    };
    let found = statistics::read_statistics(member.gateway(), query).await?;
    let codes = found.items.into_iter().filter_map(|row| row.value);
    let mut countries: Vec<(String, String)> =
        codes.map(|code| (code.clone(), country_name(&code))).collect();
    countries.sort_by(|one, other| one.1.cmp(&other.1));
    countries.insert(0, (String::new(), "Any country".to_owned()));
    Ok(countries)
}

fn nothing() -> MessagesView {
    MessagesView {
        items: Vec::new(),
        next: None,
        searched_to: None,
        rejected_requests: None,
        record: RecordView::default(),
    }
}

/// Shows the filters again, with what is wrong beside the field.
fn shown(
    filter: &MessageListFilter,
    error: Option<(&'static str, String)>,
    countries: Vec<(String, String)>,
    has_text: bool,
) -> Filters {
    let field = |name: &str, value: &str| match &error {
        Some((field, rule)) if *field == name => Field::invalid(value, rule.clone()),
        _ => Field::new(value),
    };
    let mut state = Select::new(STATES, &filter.state);
    let mut country = Select::new(countries, &filter.country);
    if let Some((field, rule)) = &error {
        match *field {
            "state" => state.error = Some(rule.clone()),
            "country" => country.error = Some(rule.clone()),
            _ => {}
        }
    }
    Filters {
        to: has_text.then(|| field("to", &filter.to)),
        from: field("from", &filter.from),
        state,
        country,
        since: field("since", &filter.since),
        until: field("until", &filter.until),
        text: has_text.then(|| field("text", &filter.text)),
    }
}

impl MessageListFilter {
    /// Returns the filter of a file with all the messages that this one finds page by page.
    pub(crate) fn of_export(filter: MessageListFilter) -> MessageListFilter {
        MessageListFilter { text: String::new(), cursor: String::new(), ..filter }
    }

    /// Returns the filter for roles that may not see whole numbers: a search for their beginning would find out the hidden
    /// digits.
    pub(crate) fn without_number(self) -> MessageListFilter {
        MessageListFilter { to: String::new(), ..self }
    }

    /// Whether a message that has the text has the other properties too. A search for a text knows only times.
    fn matches(&self, message: &MessageView) -> bool {
        let is =
            |wanted: &str, found: &str| wanted.trim().is_empty() || wanted.trim().eq_ignore_ascii_case(found);
        let digits = |number: &str| number.trim().trim_start_matches('+').to_owned();
        let to = digits(message.to.as_deref().unwrap_or_default());
        let is_recipient = match self.to.trim().strip_suffix('*') {
            Some(beginning) => to.starts_with(&digits(beginning)),
            None => self.to.trim().is_empty() || digits(&self.to) == to,
        };
        let is_sender = self.from.trim().is_empty() || self.from.trim() == message.from;
        is_recipient && is_sender && is(&self.state, &message.state) && is(&self.country, &message.country)
    }

    /// Returns the filter as the query of a URL, without empty fields.
    fn query(&self) -> String {
        let MessageListFilter { to, from, state, country, since, until, text, cursor } = self;
        url_query(&[
            ("to", to),
            ("from", from),
            ("state", state),
            ("country", country),
            ("since", since),
            ("until", until),
            ("text", text),
            ("cursor", cursor),
        ])
    }
}

fn row(member: &Member, message: MessageView) -> MessageListRow {
    MessageListRow {
        accepted_at: time_of(&message.accepted_at),
        id: message.id,
        from: message.from,
        to: member.shown_number(message.to),
        country: message.country,
        network: message.network,
        parts: message.parts,
        state: Chip::of_state(&message.state),
        took: message.took_ms.map(duration),
        cost: format!("{} {}", amount(&message.cost.to_string()), message.currency),
    }
}

/// Seconds after which an export of the account may have ended.
const EXPORTS_RETRY_S: u32 = 30;

/// `GET /accounts/{account}/messages.csv`: the messages that the filters find.
pub(crate) async fn export(member: Member, Query(filter): Query<MessageListFilter>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let may_see_numbers = member.may(Permission::ReadTexts);
    let reader = Reader::Customer { may_see_numbers };
    let filter = MessageListFilter::of_export(filter);
    let filter = if may_see_numbers { filter } else { filter.without_number() };
    let query = query_of(&member, &filter);
    let rows = export::export_messages(member.gateway(), query, reader).await;
    let rows = rows.map_err(|refusal| match refusal {
        OperatorRefusal::ExportsRunning { .. } => NoPage::TooMany { wait_s: EXPORTS_RETRY_S },
        OperatorRefusal::InvalidField { .. } => NoPage::NotFound,
        refusal => refusal.into(),
    })?;
    let pieces = rows.into_pieces(&member.portal.workers);
    Ok(member.csv_of_today("messages", Body::from_stream(pieces)))
}

/// `GET /accounts/{account}/held`.
pub(crate) async fn list_held(member: Member, Query(Before { before }): Query<Before>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let numbers = &member.gateway().numbers;
    let query = ReviewsQuery {
        account: Some(member.account_name.clone()),
        state: None,
        before: member.row_number(NumberKind::Review, before),
        limit: Limit::try_from(ROWS.to_string()).ok(),
    };
    let found = list_reviews(member.gateway(), query).await?;
    let shell = member.shell(NavEntry::Held);
    let now = member.gateway().clock.now();
    let can_send = member.may(Permission::SendMessages) && shell.can_open(&NavEntry::Compose);
    let row = |view: ReviewView| {
        let compose = can_send.then(|| {
            let shown = numbers.show(NumberKind::Review, view.id);
            format!("{}?held={shown}", shell.path("compose"))
        });
        held_row(&member, view, compose, now)
    };
    Ok(page(&HeldPage {
        next: member.next_rows("held", NumberKind::Review, found.next),
        rows: found.items.into_iter().map(row).collect(),
        shell,
    }))
}

fn held_row(member: &Member, view: ReviewView, compose: Option<String>, now: Timestamp) -> HeldRow {
    let valid_until = view.valid_until.as_deref().and_then(Timestamp::parse);
    let is_valid = valid_until.is_some_and(|until| now < until);
    let (state, said) = decision(&view, valid_until, is_valid);
    let reason = Some(view.reason.trim_end_matches('.')).filter(|reason| !reason.is_empty());
    HeldRow {
        at: time_of(&view.opened_at),
        from: view.from,
        to: member.shown_number(Some(view.to)).unwrap_or_default(),
        text: member.may(Permission::ReadTexts).then(|| view.text.into()),
        state,
        note: reason.map_or(said.clone(), |reason| format!("{reason}. {said}")),
        send_again: compose.filter(|_| is_valid),
    }
}

/// Says what was decided, and what that means.
fn decision(view: &ReviewView, valid_until: Option<Timestamp>, is_valid: bool) -> (Chip, String) {
    let day = |at: Option<Timestamp>| at.map(|at| at.day().to_string()).unwrap_or_default();
    let decided = day(view.decided_at.as_deref().and_then(Timestamp::parse));
    match view.state.as_str() {
        "open" => (Chip::new(Tone::Waiting, "Waiting"), "For the operator's decision.".to_owned()),
        "approved" if is_valid => {
            let until = day(valid_until);
            let note = format!("Approved on {decided}. Send it again until {until}.");
            (Chip::new(Tone::Good, "Approved"), note)
        }
        "approved" => {
            let note =
                format!("Approved on {decided}. The approval has ended; the next one is reviewed again.");
            (Chip::new(Tone::Neutral, "Approval ended"), note)
        }
        "rejected" => (Chip::new(Tone::Stopped, "Declined"), format!("Declined on {decided}.")),
        other => (Chip::new(Tone::Neutral, other), String::new()),
    }
}

/// A longer text is none of these.
const CHARS_MAX: usize = 128;

#[derive(Deserialize)]
pub(crate) struct FindQuery {
    #[serde(default)]
    q: String,
}

/// `GET /accounts/{account}/find?q=`.
pub(crate) async fn find(member: Member, Query(FindQuery { q }): Query<FindQuery>) -> Reply {
    member.require(Permission::ReadMessages)?;
    let shell = member.shell(NavEntry::Messages);
    let wanted = q.trim();
    if wanted.is_empty() || wanted.len() > CHARS_MAX {
        return Ok(redirect(&shell.path("messages")));
    }
    if history::show_message_of(member.gateway(), member.account, wanted).await.is_ok() {
        return Ok(redirect(&shell.path_to("messages", wanted)));
    }
    if member.may(Permission::ReadSetup)
        && show_webhook_event(member.gateway(), &member.account_name, wanted).await.is_ok()
    {
        return Ok(redirect(&shell.path_to("webhooks/events", wanted)));
    }
    let text = || Some(wanted.to_owned());
    let ids = [
        MessagesQuery { carrier_id: text(), ..MessagesQuery::default() },
        MessagesQuery { request: text(), ..MessagesQuery::default() },
        MessagesQuery { key: text(), ..MessagesQuery::default() },
        MessagesQuery { event: text(), ..MessagesQuery::default() },
    ];
    for query in ids {
        let limit = Limit::try_from("1".to_owned()).ok();
        let query = MessagesQuery { account: Some(member.account_name.clone()), limit, ..query };
        match search::search_messages(member.gateway(), query).await {
            Ok(found) => {
                if let Some(message) = found.items.first() {
                    return Ok(redirect(&shell.path_to("messages", &message.id)));
                }
            }
            // Not an id of this kind.
            Err(OperatorRefusal::InvalidField { .. }) => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    let is_number = wanted.trim_start_matches('+').bytes().all(|b| b.is_ascii_digit() || b == b'*');
    let field = if is_number { "to" } else { "from" };
    Ok(redirect(&format!("{}?{field}={}", shell.path("messages"), encode_segment(wanted))))
}
