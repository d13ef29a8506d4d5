//! The page of an account's webhooks: URLs, queues, secret, events.

use super::extract::Query;
use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::shown::time;
use super::{Portal, State};
use crate::elements::{Chip, Tone};
use crate::forms::{Field, Select};
use crate::layout::NavEntry;
use crate::numbers::{duration, grouped};
use crate::pages::webhooks::{
    ConnectionForm, EndpointCard, EventRow, SigningSecretCard, TestResult, WebhooksPage,
};
use crate::time::Time;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_operator::entry::views::EntriesQuery;
use hermod_operator::kind::Kind;
use hermod_operator::setup::use_cases::list_entries;
use hermod_operator::views::paging::{Limit, RowNumber};
use hermod_operator::webhook::use_cases::{list_webhook_events, show_webhooks};
use hermod_operator::webhook::views::{EndpointView, EventView, EventsQuery, WebhooksView};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Events of a page.
const EVENTS: u32 = 25;
/// An endpoint whose oldest event waits longer is failing: a restart of the receiver takes less.
const FAILING_AFTER_MS: i64 = 300_000;
/// What "replay since" proposes.
const REPLAY_BACK: Duration = Duration::from_secs(86_400);

const STATES: [(&str, &str); 4] =
    [("", "Any"), ("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Given up")];
pub(super) const FORMS: [(&str, &str); 2] =
    [("full", "Full: status, error code, network"), ("short", "Short: id, status, time")];
pub(super) const TEST_EVENTS: [(&str, &str); 3] =
    [("dlr-full", "DLR, full form"), ("dlr-short", "DLR, short form"), ("inbound", "MO message")];

/// Which events are listed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EventsFilter {
    state: String,
    before: String,
}

/// What a form adds to the page.
#[derive(Default)]
pub(super) struct WebhooksFormResult {
    pub(super) dlr_webhook: Option<Field>,
    pub(super) inbound_webhook: Option<Field>,
    pub(super) replay_since: Option<Field>,
    pub(super) revealed: Option<String>,
    pub(super) staged: Option<String>,
    pub(super) test: Option<TestResult>,
    pub(super) test_event: String,
}

/// `GET /accounts/{account}/webhooks`.
pub(super) async fn show(
    axum::extract::State(portal): State,
    member: Member,
    Query(filter): Query<EventsFilter>,
) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&page_of(&portal, &member, filter, WebhooksFormResult::default()).await?))
}

/// Reads everything that the page shows.
pub(super) async fn page_of(
    portal: &Portal,
    member: &Member,
    filter: EventsFilter,
    additions: WebhooksFormResult,
) -> Result<WebhooksPage, NoPage> {
    let gateway = &portal.gateway;
    let name = &member.account_name;
    let webhooks = show_webhooks(gateway, name).await?;
    let state = STATES.iter().map(|(state, _)| *state).find(|state| *state == filter.state);
    let query = EventsQuery {
        kind: None,
        state: state.filter(|state| !state.is_empty()).map(str::to_owned),
        before: filter.before.parse::<u64>().ok().map(RowNumber::from),
        limit: Limit::try_from(EVENTS.to_string()).ok(),
    };
    let found = list_webhook_events(gateway, name, query).await?;
    let shell = member.shell(NavEntry::Webhooks);
    let next = found.next.map(|next| {
        let state = state.filter(|state| !state.is_empty()).map(|state| format!("state={state}&"));
        format!("{}?{}before={next}", shell.path("webhooks"), state.unwrap_or_default())
    });
    let now = gateway.clock.now();
    let WebhooksFormResult { dlr_webhook, inbound_webhook, replay_since, revealed, staged, test, test_event } =
        additions;
    let url = |given: Option<Field>, saved: &Option<String>| {
        given.unwrap_or_else(|| Field::new(saved.clone().unwrap_or_default()))
    };
    Ok(WebhooksPage {
        dlr_webhook: url(dlr_webhook, &webhooks.dlr_webhook),
        inbound_webhook: url(inbound_webhook, &webhooks.inbound_webhook),
        forms: forms(portal, name).await?,
        secret: secret(portal, member, &webhooks, revealed, staged),
        endpoints: endpoints(&webhooks, now),
        test_event: Select::new(TEST_EVENTS, &test_event),
        test,
        events: found.items.into_iter().map(|event| row(event, now)).collect(),
        state: Select::new(STATES, state.unwrap_or_default()),
        next,
        replay_since: replay_since.unwrap_or_else(|| Field::new(now.minus(REPLAY_BACK).to_iso())),
        can_change: member.may(Permission::ChangeSetup),
        shell,
    })
}

async fn forms(portal: &Portal, account: &str) -> Result<Vec<ConnectionForm>, NoPage> {
    let query = EntriesQuery { account: Some(account.to_owned()), ..EntriesQuery::default() };
    let connections = list_entries(&portal.gateway, Kind::Connection, query).await?;
    let form = |entry: &hermod_operator::entry::views::EntryView| {
        let chosen = entry.entry.get("dlr_form").and_then(Value::as_str).unwrap_or("full");
        ConnectionForm { connection: entry.name.clone(), form: Select::new(FORMS, chosen) }
    };
    Ok(connections.items.iter().map(form).collect())
}

fn secret(
    portal: &Portal,
    member: &Member,
    webhooks: &WebhooksView,
    revealed: Option<String>,
    staged: Option<String>,
) -> Option<SigningSecretCard> {
    let catalogue = portal.gateway.catalogue();
    catalogue.account(member.account)?.account.webhooks.as_ref()?;
    Some(SigningSecretCard {
        revealed,
        is_staged: webhooks.secret_staged,
        staged,
        previous_until: webhooks.previous_secret_until.as_deref().and_then(time),
    })
}

fn endpoints(webhooks: &WebhooksView, now: Timestamp) -> Vec<EndpointCard> {
    let endpoint = |name: &str, kind: &str, url: &Option<String>| {
        let figures = webhooks.endpoints.iter().find(|endpoint| endpoint.kind == kind);
        let figures = figures.filter(|figures| url.is_some() || figures.waiting > 0 || figures.failed > 0);
        let none = || EndpointView { kind: kind.to_owned(), waiting: 0, oldest: None, failed: 0 };
        let figures = figures.cloned().or_else(|| url.as_ref().map(|_| none()))?;
        let oldest = figures.oldest.as_deref().and_then(time);
        let is_failing = oldest.is_some_and(|Time(at)| now.as_millis() - at >= FAILING_AFTER_MS);
        let state = match (url, figures.waiting) {
            (None, _) => Chip::new(Tone::Neutral, "No URL"),
            _ if is_failing => Chip::new(Tone::Bad, "Failing"),
            (Some(_), 0) => Chip::new(Tone::Good, "Nothing waits"),
            (Some(_), _) => Chip::new(Tone::Waiting, "Posting"),
        };
        Some(EndpointCard {
            name: name.to_owned(),
            state,
            waiting: grouped(figures.waiting),
            oldest,
            failed: grouped(figures.failed),
        })
    };
    let dlrs = endpoint("DLRs", "dlr", &webhooks.dlr_webhook);
    let inbound = endpoint("MO messages", "inbound", &webhooks.inbound_webhook);
    [dlrs, inbound].into_iter().flatten().collect()
}

/// Shows an event in a list.
pub(super) fn row(event: EventView, now: Timestamp) -> EventRow {
    let due = event.due_at.as_deref().and_then(time).map(|Time(due)| due - now.as_millis());
    let next = due.map(|ms| match u64::try_from(ms) {
        Ok(ms) if ms > 0 => format!("Next attempt in {}", duration(ms)),
        _ => "Being posted".to_owned(),
    });
    EventRow {
        kind: if event.kind == "dlr" { "DLR" } else { "MO" }.to_owned(),
        message: event.message_id,
        status: event.status,
        state: Chip::of_event(&event.state),
        why: event.why.or(next.filter(|_| event.state == "waiting")),
        attempts: event.attempts,
        at: time(&event.at).unwrap_or(Time(0)),
        event: event.event,
    }
}
