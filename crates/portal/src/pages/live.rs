//! The live feed: the latest messages, and server-sent events while they change.

use crate::elements::Chip;
use crate::layout::{NavEntry, Shell};
use crate::pages::message::step_words;
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page};
use crate::request::shown::time_of;
use crate::time::Time;
use askama::Template;
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
use hermod_operator::message::views::{MessageView, MessagesQuery};
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::sessions::is_session_open;
use hermod_operator::views::paging::Limit;
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;

/// `GET /accounts/{account}/live`. The script reads a [`LiveUpdate`] from each event named `frame` of
/// `{account}/live/events`.
#[derive(Clone, Debug, Template)]
#[template(path = "live.html")]
pub struct LivePage {
    pub shell: Shell,
    /// The address of the event stream.
    pub feed: String,
    /// Such as `showing 20 of 3,412/s`; shown until the first frame arrives.
    pub note: Option<String>,
    /// The latest messages when the page was made.
    pub rows: Vec<LiveChange>,
}

/// What changed since the frame before, for the script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveUpdate {
    /// Messages that changed per second; `None` in the first frame.
    pub per_second: Option<u64>,
    /// Says so where only a sample is shown: `showing 20 of 3,412/s`.
    pub note: Option<String>,
    /// The latest change last.
    pub shown: Vec<LiveChange>,
}

/// One message with its latest step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LiveChange {
    pub id: String,
    /// As in the API, such as `delivered`.
    pub state: String,
    /// ISO 8601.
    pub accepted_at: String,
    pub from: String,
    /// The number as the role may see it; `None` if it was erased.
    pub to: Option<String>,
    pub country: String,
    /// The latest step in words.
    pub step: String,
}

impl LiveChange {
    fn chip(&self) -> Chip {
        Chip::of_state(&self.state)
    }

    fn time(&self) -> Time {
        time_of(&self.accepted_at)
    }
}

/// Rows when the page is opened.
const ROWS: u32 = 20;
/// How long a browser waits before it comes back, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// The session is looked up again this often; a comment then shows that the connection lives.
const CHECK_EVERY: Duration = Duration::from_secs(5);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// `GET /accounts/{account}/live`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadMessages)?;
    let query = MessagesQuery {
        account: Some(member.account_name.clone()),
        limit: Limit::try_from(ROWS.to_string()).ok(),
        ..MessagesQuery::default()
    };
    let found = search::search_messages(member.gateway(), query).await?;
    let shell = member.shell(NavEntry::Live);
    let rows = found.items.into_iter().map(|message| {
        let step = Chip::of_state(&message.state).label;
        change(&member, message, step)
    });
    Ok(page(&LivePage { feed: shell.path("live/events"), note: None, rows: rows.collect(), shell }))
}

/// `GET /accounts/{account}/live/events`: an event `frame` about twice a second while messages change, until the browser
/// leaves, the session ends or the gateway stops. `Last-Event-ID` brings the frames after it that are still kept.
pub(crate) async fn events(member: Member, headers: HeaderMap) -> Reply {
    member.require(Permission::ReadMessages)?;
    let last =
        headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).and_then(|id| id.trim().parse().ok());
    let slot =
        member.gateway().feeds.take(member.session.user).map_err(|NoSlot| NoPage::TooMany { wait_s: 5 })?;
    let query = LiveQuery { account: Some(member.account_name.clone()) };
    let feed = watch_live(member.gateway(), &query, LastEvent(last)).map_err(|refusal| match refusal {
        OperatorRefusal::Unavailable { .. } => NoPage::TooMany { wait_s: 5 },
        refusal => refusal.into(),
    })?;
    let watcher = Watcher { checked_at: member.gateway().clock.now(), member, feed, _slot: slot };
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
        let stopping = self.member.portal.workers.stopping();
        let clock = self.member.gateway().clock.clone();
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
        let gateway = self.member.gateway();
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

/// Shows a message as the role may see it, with its latest step in words.
fn change(member: &Member, message: MessageView, step: String) -> LiveChange {
    let MessageView { id, state, accepted_at, from, to, country, .. } = message;
    LiveChange { id, state, accepted_at, from, to: member.shown_number(to), country, step }
}

/// Shows a frame as the role may see it, without what only concerns the operator.
fn shown(member: &Member, frame: LiveView) -> LiveUpdate {
    let changes = frame.shown.into_iter().rev().map(|LiveMessageView { message, step }| {
        let words = step.as_ref().map(|step| step_words(&step.step, step.state.as_deref()).1);
        change(member, message, words.unwrap_or_else(|| step_words("accepted", None).1).to_owned())
    });
    LiveUpdate { per_second: frame.per_second, note: frame.note, shown: changes.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_has_every_field_that_the_script_reads() {
        let frame = LiveUpdate { shown: vec![LiveChange::default()], ..LiveUpdate::default() };
        let json = serde_json::to_string(&frame).unwrap();
        let script = std::str::from_utf8(crate::assets::script().bytes).unwrap();
        for field in
            ["per_second", "note", "shown", "id", "state", "accepted_at", "from", "to", "country", "step"]
        {
            assert!(json.contains(&format!("\"{field}\":")), "{field}");
            assert!(script.contains(&format!(".{field}")), "{field}");
        }
    }
}
