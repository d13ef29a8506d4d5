//! The live feed: the latest messages, and server-sent events while they change.

use super::member::Member;
use super::reply::{NoPage, Reply, page};
use super::shown::time;
use super::{Portal, State};
use crate::elements::Chip;
use crate::layout::NavEntry;
use crate::pages::live::{LiveChange, LivePage, LiveRow, LiveUpdate};
use crate::pages::message::step_words;
use crate::time::Time;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_util::stream;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::{NoSlot, Slot};
use hermod_operator::message::live::{LastEvent, LiveFeed, LiveMessageView, LiveQuery, LiveView, watch_live};
use hermod_operator::message::search;
use hermod_operator::message::views::MessagesQuery;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::sessions::is_session_open;
use hermod_operator::views::paging::Limit;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Rows when the page is opened.
const ROWS: u32 = 20;
/// How long a browser waits before it comes back, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// The session is looked up again this often; a comment then shows that the connection lives.
const CHECK_EVERY: Duration = Duration::from_secs(5);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// `GET /accounts/{account}/live`.
pub(super) async fn show(axum::extract::State(portal): State, member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let query = MessagesQuery {
        account: Some(member.account_name.clone()),
        limit: Limit::try_from(ROWS.to_string()).ok(),
        ..MessagesQuery::default()
    };
    let found = search::search_messages(&portal.gateway, query).await?;
    let shell = member.shell(NavEntry::Live);
    let rows = found.items.into_iter().map(|message| LiveRow {
        accepted_at: time(&message.accepted_at).unwrap_or(Time(0)),
        id: message.id,
        from: message.from,
        to: member.shown_number(message.to),
        country: message.country,
        step: Chip::of_state(&message.state).label,
        state: Chip::of_state(&message.state),
    });
    Ok(page(&LivePage { feed: shell.path("live/events"), note: None, rows: rows.collect(), shell }))
}

/// `GET /accounts/{account}/live/events`: an event `frame` about twice a second while messages change, until the browser
/// leaves, the session ends or the gateway stops. `Last-Event-ID` brings the frames after it that are still kept.
pub(super) async fn events(axum::extract::State(portal): State, member: Member, headers: HeaderMap) -> Reply {
    member.require(Permission::ReadMessages)?;
    let last =
        headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).and_then(|id| id.trim().parse().ok());
    let slot =
        portal.gateway.feeds.take(member.session.user).map_err(|NoSlot| NoPage::TooMany { wait_s: 5 })?;
    let query = LiveQuery { account: Some(member.account_name.clone()) };
    let feed = watch_live(&portal.gateway, &query, LastEvent(last)).map_err(|refusal| match refusal {
        OperatorRefusal::Unavailable { .. } => NoPage::TooMany { wait_s: 5 },
        refusal => refusal.into(),
    })?;
    let watcher = Watcher { checked_at: portal.gateway.clock.now(), portal, member, feed, _slot: slot };
    let begun = (Some(watcher), Some(format!("retry: {RETRY_MS}\n\n")));
    let events = stream::unfold(begun, |(watcher, first)| async move {
        let mut watcher = watcher?;
        let text = match first {
            Some(first) => first,
            None => watcher.next().await?,
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), (Some(watcher), None)))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // nginx would hold frames back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// A browser that watches.
struct Watcher {
    portal: Arc<Portal>,
    member: Member,
    feed: LiveFeed,
    /// When the session was last found open.
    checked_at: Timestamp,
    /// One of the few that a user may have.
    _slot: Slot<u32>,
}

impl Watcher {
    /// Returns the next event as text; none when the stream ends.
    async fn next(&mut self) -> Option<String> {
        let stopping = self.portal.workers.stopping();
        let clock = self.portal.gateway.clock.clone();
        let event = tokio::select! {
            biased;
            () = stopping.cancelled() => return None,
            frame = self.feed.next_view() => {
                let frame = frame?;
                let number = frame.number;
                let json = serde_json::to_string(&shown(&self.member, frame)).ok()?;
                format!("id: {number}\nevent: frame\ndata: {json}\n\n")
            }
            () = clock.sleep(CHECK_EVERY) => ": open\n\n".to_owned(),
        };
        self.may_go_on().await.then_some(event)
    }

    /// Whether the session is open and its user still has the role in the account. Looks it up now and then.
    async fn may_go_on(&mut self) -> bool {
        let gateway = &self.portal.gateway;
        let now = gateway.clock.now();
        if now.since(self.checked_at) < CHECK_EVERY {
            return true;
        }
        self.checked_at = now;
        let catalogue = gateway.catalogue();
        let user = catalogue.users().by_id(self.member.session.user);
        let role = user.and_then(|(_, user)| user.role_in(self.member.account));
        role == Some(self.member.role)
            && is_session_open(gateway, &self.member.session).await.unwrap_or_default()
    }
}

/// Shows a frame as the role may see it, without what only concerns the operator.
fn shown(member: &Member, frame: LiveView) -> LiveUpdate {
    let changes = frame.shown.into_iter().rev().map(|LiveMessageView { message, step }| {
        let words = step.as_ref().map(|step| step_words(&step.step, step.state.as_deref()).1.to_owned());
        LiveChange {
            id: message.id,
            state: message.state,
            accepted_at: message.accepted_at,
            from: message.from,
            to: member.shown_number(message.to),
            country: message.country,
            step: words.unwrap_or_else(|| step_words("accepted", None).1.to_owned()),
        }
    });
    LiveUpdate { per_second: frame.per_second, note: frame.note, shown: changes.collect() }
}
