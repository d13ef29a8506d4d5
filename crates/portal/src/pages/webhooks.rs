//! The webhooks of an account: URLs, form, queues, secret, test events, replays, and the events with every attempt to post them.

use crate::elements::{Chip, Fact, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell};
use crate::numbers::{duration, grouped};
use crate::request::extract::{MemberForm, NoFields, Path, Query};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, fault, page, page_again, sentence};
use crate::request::shown::{time, time_of};
use crate::time::Time;
use askama::Template;
use axum::http::StatusCode;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_gateway::live_status::TestEvent;
use hermod_operator::entry::views::EntriesQuery;
use hermod_operator::kind::Kind;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::setup::use_cases::list_entries;
use hermod_operator::views::paging::{Limit, RowNumber};
use hermod_operator::webhook::use_cases::{
    drop_webhook_secret, list_webhook_events, replay_webhook, replay_webhooks, reveal_webhook_secret,
    show_webhook_event, show_webhooks, stage_webhook_secret, switch_webhook_secret, test_webhook,
    webhook_event_body,
};
use hermod_operator::webhook::views::{
    AttemptView, EndpointView, EventAttemptsView, EventView, EventsQuery, ReplayRequest, WebhookTestView,
    WebhooksView,
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// `GET /accounts/{account}/webhooks?state=…&before=…`.
///
/// Posts to `webhooks/urls` (`dlr_webhook`, `inbound_webhook`), `webhooks/form` (`connection`, `dlr_form`), `webhooks/test`
/// (`event`), `webhooks/secret/reveal`, `webhooks/secret/stage`, `webhooks/secret/switch`, `webhooks/secret/drop`,
/// `webhooks/replay` (`since`) and `webhooks/retry`.
#[derive(Clone, Debug, Template)]
#[template(path = "webhooks.html")]
pub struct WebhooksPage {
    pub shell: Shell,
    pub dlr_webhook: Field,
    pub inbound_webhook: Field,
    /// The form of DLRs of each connection: `full` or `short`.
    pub forms: Vec<ConnectionForm>,
    pub endpoints: Vec<EndpointCard>,
    /// `None` until the first URL is saved.
    pub secret: Option<SigningSecretCard>,
    /// `dlr-full`, `dlr-short` or `inbound`.
    pub test_event: Select,
    /// The result of a test event that was just sent.
    pub test: Option<TestResult>,
    /// The latest events first.
    pub events: Vec<EventRow>,
    /// Any, `waiting`, `delivered` or `failed`.
    pub state: Select,
    /// The address of the next page.
    pub next: Option<String>,
    /// A day or a time.
    pub replay_since: Field,
    /// Whether the role may change webhooks.
    pub can_change: bool,
}

/// The form of the DLRs of one connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionForm {
    pub connection: String,
    pub form: Select,
}

/// The queue of one of the two URLs.
#[derive(Clone, Debug)]
pub struct EndpointCard {
    /// `DLRs` or `MO messages`.
    pub name: String,
    pub state: Chip,
    pub waiting: String,
    pub oldest: Option<Time>,
    /// Events given up in the last 30 days.
    pub failed: String,
}

/// The secret that signs every post.
#[derive(Clone, Debug, Default)]
pub struct SigningSecretCard {
    /// Only after the person asked for it and signed in again.
    pub revealed: Option<String>,
    /// Whether a next secret is staged: posts have a signature of each.
    pub is_staged: bool,
    /// The staged secret, shown once after it was made.
    pub staged: Option<String>,
    /// Posts are signed with the previous secret as well until then.
    pub previous_until: Option<Time>,
}

/// What the receiver answered to a test event.
#[derive(Clone, Debug)]
pub struct TestResult {
    pub state: Chip,
    /// `https://shop.example/dlr answered 200 in 84 ms.`
    pub text: String,
    /// The beginning of the response body.
    pub answer: String,
    /// The body that was posted.
    pub body: String,
}

/// An event in the list.
#[derive(Clone, Debug)]
pub struct EventRow {
    pub event: String,
    /// `DLR` or `MO`.
    pub kind: String,
    pub message: String,
    /// The status in a DLR.
    pub status: Option<String>,
    pub state: Chip,
    /// Why it was given up, or when the next attempt is due.
    pub why: Option<String>,
    pub attempts: u32,
    pub at: Time,
}

impl EventRow {
    /// Whether it is of an MO message, which has no page among the messages sent.
    pub fn is_inbound(&self) -> bool {
        self.kind == "MO"
    }
}

/// `GET /accounts/{account}/webhooks/events/{event}`. Posts to `webhooks/events/{event}/replay`.
#[derive(Clone, Debug, Template)]
#[template(path = "webhook_event.html")]
pub struct WebhookEventPage {
    pub shell: Shell,
    pub row: EventRow,
    pub facts: Vec<Fact>,
    /// The oldest first.
    pub attempts: Vec<EventAttempt>,
    pub next_attempt: Option<Time>,
    /// The JSON of its posts; `None` if its message was purged or erased.
    pub body: Option<String>,
    pub can_replay: bool,
}

/// One POST of an event.
#[derive(Clone, Debug)]
pub struct EventAttempt {
    pub at: Time,
    pub took: String,
    /// The HTTP status or the failure in two words.
    pub result: Chip,
    /// The failure in a sentence, if there was no response.
    pub failure: Option<String>,
    /// The beginning of the response body.
    pub answer: String,
}

/// Events of a page.
const EVENTS: u32 = 25;
/// An endpoint whose oldest event waits longer is failing: a restart of the receiver takes less.
const FAILING_AFTER_MS: i64 = 300_000;
/// What "replay since" proposes.
const REPLAY_BACK: Duration = Duration::from_secs(86_400);

const STATES: [(&str, &str); 4] =
    [("", "Any"), ("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Given up")];
pub(crate) const FORMS: [(&str, &str); 2] =
    [("full", "Full: status, error code, network"), ("short", "Short: id, status, time")];
pub(crate) const TEST_EVENTS: [(&str, &str); 3] =
    [("dlr-full", "DLR, full form"), ("dlr-short", "DLR, short form"), ("inbound", "MO message")];

/// Which events are listed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct EventsFilter {
    state: String,
    before: String,
}

/// `GET /accounts/{account}/webhooks`.
pub(crate) async fn show(member: Member, Query(filter): Query<EventsFilter>) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&page_of(&member, filter).await?))
}

/// Reads everything that the page shows.
async fn page_of(member: &Member, filter: EventsFilter) -> Result<WebhooksPage, NoPage> {
    let gateway = member.gateway();
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
    let url = |saved: &Option<String>| Field::new(saved.clone().unwrap_or_default());
    Ok(WebhooksPage {
        dlr_webhook: url(&webhooks.dlr_webhook),
        inbound_webhook: url(&webhooks.inbound_webhook),
        forms: forms(member).await?,
        secret: secret(member, &webhooks),
        endpoints: endpoints(&webhooks, now),
        test_event: Select::new(TEST_EVENTS, ""),
        test: None,
        events: found.items.into_iter().map(|event| row(event, now)).collect(),
        state: Select::new(STATES, state.unwrap_or_default()),
        next,
        replay_since: Field::new(now.minus(REPLAY_BACK).to_iso()),
        can_change: member.may(Permission::ChangeSetup),
        shell,
    })
}

async fn forms(member: &Member) -> Result<Vec<ConnectionForm>, NoPage> {
    let query = EntriesQuery { account: Some(member.account_name.clone()), ..EntriesQuery::default() };
    let connections = list_entries(member.gateway(), Kind::Connection, query).await?;
    let form = |entry: &hermod_operator::entry::views::EntryView| {
        let chosen = entry.entry.get("dlr_form").and_then(Value::as_str).unwrap_or("full");
        ConnectionForm { connection: entry.name.clone(), form: Select::new(FORMS, chosen) }
    };
    Ok(connections.items.iter().map(form).collect())
}

fn secret(member: &Member, webhooks: &WebhooksView) -> Option<SigningSecretCard> {
    let catalogue = member.gateway().catalogue();
    catalogue.account(member.account)?.account.webhooks.as_ref()?;
    Some(SigningSecretCard {
        is_staged: webhooks.secret_staged,
        previous_until: webhooks.previous_secret_until.as_deref().and_then(time),
        ..SigningSecretCard::default()
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
pub(crate) fn row(event: EventView, now: Timestamp) -> EventRow {
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
        at: time_of(&event.at),
        event: event.event,
    }
}

const PAGE: &str = "webhooks";

#[derive(Deserialize)]
pub(crate) struct UrlsForm {
    dlr_webhook: String,
    inbound_webhook: String,
}

/// `POST /accounts/{account}/webhooks/urls`.
pub(crate) async fn save_urls(MemberForm { member, form }: MemberForm<UrlsForm>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let dlr = checked(&member, WebhookKind::Dlr, form.dlr_webhook.trim());
    let inbound = checked(&member, WebhookKind::Inbound, form.inbound_webhook.trim());
    if dlr.error.is_some() || inbound.error.is_some() {
        return invalid_urls(&member, dlr, inbound).await;
    }
    let url = |field: &Field| match field.value.is_empty() {
        true => Value::Null,
        false => Value::from(field.value.clone()),
    };
    let fields = [("dlr_webhook", url(&dlr)), ("inbound_webhook", url(&inbound))];
    match member.patch(Kind::Account, &member.account_name, fields).await {
        Ok(()) => Ok(member.done(PAGE, "webhooks-saved")),
        Err(refusal) => {
            let dlr = Field { error: Some(fault(refusal)?), ..dlr };
            invalid_urls(&member, dlr, inbound).await
        }
    }
}

async fn invalid_urls(member: &Member, dlr_webhook: Field, inbound_webhook: Field) -> Reply {
    let shown = page_of(member, EventsFilter::default()).await?;
    Ok(page_again(&WebhooksPage { dlr_webhook, inbound_webhook, ..shown }))
}

/// Checks a URL by the rules of every post, unless it is the saved one: that was checked before.
fn checked(member: &Member, kind: WebhookKind, url: &str) -> Field {
    let catalogue = member.gateway().catalogue();
    let webhooks = catalogue.account(member.account).and_then(|view| view.account.webhooks.as_ref());
    if url.is_empty() || webhooks.and_then(|webhooks| webhooks.url(kind)) == Some(url) {
        return Field::new(url);
    }
    match member.gateway().webhook_rules.check(url) {
        Ok(_) => Field::new(url),
        Err(refusal) => Field::invalid(url, sentence(&refusal.to_string())),
    }
}

#[derive(Deserialize)]
pub(crate) struct FormForm {
    connection: String,
    dlr_form: String,
}

/// `POST /accounts/{account}/webhooks/form`.
pub(crate) async fn save_form(
    MemberForm { member, form: FormForm { connection, dlr_form } }: MemberForm<FormForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    if !FORMS.iter().any(|(form, _)| *form == dlr_form) {
        return Err(NoPage::StaleForm);
    }
    member.require_connection(&connection)?;
    member.patch(Kind::Connection, &connection, [("dlr_form", Value::from(dlr_form))]).await?;
    Ok(member.done(PAGE, "dlr-form-saved"))
}

/// `POST /accounts/{account}/webhooks/secret/reveal`.
pub(crate) async fn reveal(MemberForm { member, .. }: MemberForm<NoFields>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let secret = reveal_webhook_secret(&member.acting(), &member.account_name).await?;
    let mut shown = page_of(&member, EventsFilter::default()).await?;
    if let Some(card) = &mut shown.secret {
        card.revealed = Some(secret.reveal().to_owned());
    }
    Ok(page(&shown))
}

/// `POST /accounts/{account}/webhooks/secret/stage`.
pub(crate) async fn stage(MemberForm { member, .. }: MemberForm<NoFields>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    let made = stage_webhook_secret(&member.acting(), &member.account_name, None).await;
    let staged = made.map_err(stale)?.secret;
    let mut shown = page_of(&member, EventsFilter::default()).await?;
    if let Some(card) = &mut shown.secret {
        card.staged = staged;
    }
    Ok(page(&shown))
}

/// `POST /accounts/{account}/webhooks/secret/switch`.
pub(crate) async fn switch(MemberForm { member, .. }: MemberForm<NoFields>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    switch_webhook_secret(&member.acting(), &member.account_name).await.map_err(stale)?;
    Ok(member.done(PAGE, "secret-switched"))
}

/// `POST /accounts/{account}/webhooks/secret/drop`.
pub(crate) async fn drop_secret(MemberForm { member, .. }: MemberForm<NoFields>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_confirmed(PAGE)?;
    drop_webhook_secret(&member.acting(), &member.account_name).await.map_err(stale)?;
    Ok(member.done(PAGE, "secret-dropped"))
}

/// The step does not fit the secrets any more: another person made it before.
fn stale(refusal: OperatorRefusal) -> NoPage {
    match refusal {
        OperatorRefusal::Unfit(_) => NoPage::StaleForm,
        other => other.into(),
    }
}

#[derive(Deserialize)]
pub(crate) struct TestForm {
    event: String,
}

/// `POST /accounts/{account}/webhooks/test`.
pub(crate) async fn test(MemberForm { member, form: TestForm { event } }: MemberForm<TestForm>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let wanted = match event.as_str() {
        "dlr-full" => TestEvent::Dlr(DlrForm::Full),
        "dlr-short" => TestEvent::Dlr(DlrForm::Short),
        "inbound" => TestEvent::Inbound,
        _ => return Err(NoPage::StaleForm),
    };
    let url = {
        let catalogue = member.gateway().catalogue();
        let webhooks = catalogue.account(member.account).and_then(|view| view.account.webhooks.as_ref());
        webhooks.and_then(|webhooks| webhooks.url(wanted.kind())).map(str::to_owned)
    };
    let tested = test_webhook(&member.acting(), &member.account_name, wanted).await;
    let result = match tested {
        Ok(view) => test_result(&url.unwrap_or_default(), view),
        Err(OperatorRefusal::Unavailable { cause, .. }) => TestResult {
            state: Chip::new(Tone::Warning, "Not sent"),
            text: sentence(cause),
            answer: String::new(),
            body: String::new(),
        },
        Err(refusal) => return Err(refusal.into()),
    };
    let shown = page_of(&member, EventsFilter::default()).await?;
    let test_event = Select::new(TEST_EVENTS, &event);
    Ok(page(&WebhooksPage { test: Some(result), test_event, ..shown }))
}

fn test_result(url: &str, view: WebhookTestView) -> TestResult {
    let WebhookTestView { took_ms, status, failure, answer, body } = view;
    let took = duration(took_ms);
    let (state, text) = match status {
        Some(status) => {
            let tone = if (200..300).contains(&status) { Tone::Good } else { Tone::Bad };
            let words = status_words(status);
            (Chip::new(tone, status.to_string()), format!("{url} answered {words} in {took}."))
        }
        None => {
            let failure = failure.unwrap_or_default();
            (Chip::new(Tone::Bad, "No response"), format!("{url}: {failure}"))
        }
    };
    TestResult { state, text, answer: answer.into(), body }
}

/// Returns a status with its usual words, such as `503 Service Unavailable`.
pub(crate) fn status_words(status: u16) -> String {
    let words = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    words.map_or_else(|| status.to_string(), |words| format!("{status} {words}"))
}

#[derive(Deserialize)]
pub(crate) struct ReplayForm {
    since: String,
}

/// `POST /accounts/{account}/webhooks/retry`.
pub(crate) async fn retry(MemberForm { member, form: NoFields {} }: MemberForm<NoFields>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let acting = member.acting();
    let done = replay_webhooks(&acting, &member.account_name, ReplayRequest::default()).await?;
    Ok(member.done(PAGE, if done.retried == 0 { "nothing-retried" } else { "events-retried" }))
}

/// `POST /accounts/{account}/webhooks/replay`.
pub(crate) async fn replay(
    MemberForm { member, form: ReplayForm { since } }: MemberForm<ReplayForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let request = ReplayRequest { since: Some(since.trim().to_owned()), kind: None };
    let acting = member.acting();
    match replay_webhooks(&acting, &member.account_name, request).await {
        Ok(done) if done.replayed + done.retried == 0 => Ok(member.done(PAGE, "nothing-replayed")),
        Ok(_) => Ok(member.done(PAGE, "events-replayed")),
        Err(refusal) => {
            let replay_since = Field::invalid(since, fault(refusal)?);
            let shown = page_of(&member, EventsFilter::default()).await?;
            Ok(page_again(&WebhooksPage { replay_since, ..shown }))
        }
    }
}

/// `GET /accounts/{account}/webhooks/events/{event}`.
pub(crate) async fn show_event(member: Member, Path((_, event)): Path<(String, String)>) -> Reply {
    member.require(Permission::ReadSetup)?;
    // The body has whole numbers, and the texts of MO messages.
    member.require(Permission::ReadTexts)?;
    let found = show_webhook_event(member.gateway(), &member.account_name, &event).await?;
    let EventAttemptsView { event, attempts } = found;
    let body = webhook_event_body(member.gateway(), &member.account_name, &event.event).await?;
    let shell = member.shell(NavEntry::Webhooks);
    let next_attempt = event.due_at.as_deref().and_then(time).filter(|_| event.state == "waiting");
    let ended_at = event.ended_at.as_deref().and_then(time);
    let row = row(event, member.gateway().clock.now());
    let message = Fact::code("Message", row.message.clone());
    let message = match row.is_inbound() {
        true => message,
        false => message.linked(shell.path_to("messages", &row.message)),
    };
    let mut facts = vec![message, Fact::new("Kind", row.kind.clone())];
    facts.extend(row.status.clone().map(|status| Fact::code("Status", status)));
    facts.push(Fact::new("Made", row.at.iso()));
    facts.extend(ended_at.map(|ended| Fact::new("Ended", ended.iso())));
    Ok(page(&WebhookEventPage {
        facts,
        attempts: attempts.into_iter().map(attempt).collect(),
        next_attempt,
        body,
        can_replay: member.may(Permission::ChangeSetup),
        row,
        shell,
    }))
}

fn attempt(view: AttemptView) -> EventAttempt {
    let AttemptView { at, took_ms, status, failure, answer } = view;
    let result = match status {
        Some(status @ 200..=299) => Chip::new(Tone::Good, status_words(status)),
        Some(status) => Chip::new(Tone::Bad, status_words(status)),
        None => Chip::new(Tone::Bad, "No response"),
    };
    EventAttempt {
        at: time_of(&at),
        took: duration(took_ms),
        result,
        failure: failure.map(|failure| sentence(&failure)),
        answer: answer.into(),
    }
}

/// `POST /accounts/{account}/webhooks/events/{event}/replay`.
pub(crate) async fn replay_event(
    Path((_, event)): Path<(String, String)>,
    MemberForm { member, .. }: MemberForm<NoFields>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    replay_webhook(&member.acting(), &member.account_name, &event).await?;
    let shell = member.shell(NavEntry::Webhooks);
    let page = shell.path_to("webhooks/events", &event);
    Ok(crate::request::reply::redirect(&format!("{page}?done=event-replayed")))
}
