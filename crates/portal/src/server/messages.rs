//! The list of messages.

use super::State;
use super::extract::Query;
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::shown::{country_name, freshness, time};
use crate::elements::Chip;
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, encode_segment};
use crate::numbers::{amount, duration};
use crate::pages::messages::{Filters, MessageListRow, MessagesPage};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_operator::message::search;
use hermod_operator::message::views::{MessageView, MessagesQuery, MessagesView, TextSearchQuery};
use hermod_operator::record::RecordView;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::statistics;
use hermod_operator::statistics::StatisticsQuery;
use hermod_operator::views::paging::Limit;
use serde::{Deserialize, Serialize};

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
pub(super) struct MessageListFilter {
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
pub(super) async fn list(
    axum::extract::State(portal): State,
    member: Member,
    Query(mut filter): Query<MessageListFilter>,
) -> Reply {
    member.require(Permission::ReadMessages)?;
    if !member.may(Permission::ReadTexts) {
        filter = MessageListFilter { text: String::new(), ..filter.without_number() };
    }
    let (found, error) = match search(&portal.gateway, &member, &filter).await {
        Ok(found) => (found, None),
        Err(OperatorRefusal::InvalidField { field, rule }) => (nothing(), Some((field, rule))),
        Err(refusal) => return Err(NoPage::from(refusal)),
    };
    let countries = countries(&portal.gateway, &member.account_name).await?;
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
        freshness: freshness(&portal.gateway.clock, found.record),
        shell,
    }))
}

async fn search(
    gateway: &hermod_gateway::gateway::Gateway,
    member: &Member,
    filter: &MessageListFilter,
) -> Result<MessagesView, OperatorRefusal> {
    let account = Some(member.account_name.clone());
    let limit = Limit::try_from(ROWS.to_string()).ok();
    if let Some(text) = given(&filter.text) {
        let found = search::search_text(
            gateway,
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
    search::search_messages(gateway, query_of(member, filter)).await
}

/// Returns the query for the record of a filter without a text.
pub(super) fn query_of(member: &Member, filter: &MessageListFilter) -> MessagesQuery {
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
async fn countries(
    gateway: &hermod_gateway::gateway::Gateway,
    account: &str,
) -> Result<Vec<(String, String)>, OperatorRefusal> {
    let query = StatisticsQuery {
        account: Some(account.to_owned()),
        by: Some("country".to_owned()),
        per: Some("day".to_owned()),
        since: Some(COUNTRIES_SINCE.to_owned()),
        sum: Some(true),
        ..StatisticsQuery::default()
    };
    let found = statistics::read_statistics(gateway, query).await?;
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
    pub(super) fn of_export(filter: MessageListFilter) -> MessageListFilter {
        MessageListFilter { text: String::new(), cursor: String::new(), ..filter }
    }

    /// Returns the filter for roles that may not see whole numbers: a search for their beginning would find out the hidden
    /// digits.
    pub(super) fn without_number(self) -> MessageListFilter {
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
        let fields = [
            ("to", to),
            ("from", from),
            ("state", state),
            ("country", country),
            ("since", since),
            ("until", until),
            ("text", text),
            ("cursor", cursor),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", encode_segment(value))).collect();
        pairs.join("&")
    }
}

fn row(member: &Member, message: MessageView) -> MessageListRow {
    MessageListRow {
        accepted_at: time(&message.accepted_at).unwrap_or(Time(0)),
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
