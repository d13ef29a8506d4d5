//! `hermod webhook show|list|attempts|replay|secret`: what became of an account's webhooks, and what can be done about it.

use super::desk::{Body, Desk};
use super::place::{Absent, Place};
use crate::client::escape;
use crate::ending::{Ended, Failure};
use crate::secret_file::first_line;
use crate::show::Align::{Left, Right};
use crate::show::{self, Table};
use clap::{Args, Subcommand};
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) const SHOW_EXAMPLES: &str = "\
Example:
  hermod webhook show shop

Addresses are changed with hermod account set shop --dlr-webhook URL --inbound-webhook URL.";
pub(crate) const LIST_EXAMPLES: &str = "\
Examples:
  hermod webhook list shop
  hermod webhook list shop --state failed --kind dlr
  hermod webhook list shop --before 4711";
pub(crate) const ATTEMPTS_EXAMPLES: &str = "Example:\n  hermod webhook attempts shop evt_4711";
pub(crate) const REPLAY_EXAMPLES: &str = "\
Examples:
  hermod webhook replay shop evt_4711
  hermod webhook replay shop --since 2026-11-15
  hermod webhook replay shop --since 2026-11-15T09:30:00Z --kind inbound

A replay has the same body and webhook-id, so a receiver that has it already can tell.";
pub(crate) const SECRET_EXAMPLES: &str = "\
Examples, in the order in which a secret is changed:
  hermod webhook secret stage shop      everything is signed with the new one too, in X-SVC-Signature-Next
  hermod webhook secret switch shop     the new one counts; the old one signs X-SVC-Signature-Previous for 24 h
  hermod webhook secret drop shop       forget the staged one, or if there is none, the previous one

Between the first two, put the new secret into your receivers beside the old one.";

#[derive(Args)]
pub(crate) struct ShowOne {
    #[command(flatten)]
    place: Place,
    /// The account
    account: String,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    place: Place,
    /// The account
    account: String,
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = ["waiting", "delivered", "failed"])]
    state: Option<String>,
    /// Only delivery reports, or only messages from handsets
    #[arg(long, value_name = "KIND", value_parser = ["dlr", "inbound"])]
    kind: Option<String>,
    /// Only those before this number, as the last line of a page says
    #[arg(long, value_name = "N")]
    before: Option<u64>,
    /// So many at most
    #[arg(long, value_name = "N", default_value = "100")]
    limit: u32,
}

#[derive(Args)]
pub(crate) struct Attempts {
    #[command(flatten)]
    place: Place,
    /// The account
    account: String,
    /// The event: its webhook-id
    event: String,
}

#[derive(Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    place: Place,
    /// The account
    account: String,
    /// One event: its webhook-id
    #[arg(required_unless_present = "since", conflicts_with = "since")]
    event: Option<String>,
    /// All that were given up from this day or time on
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only delivery reports, or only messages from handsets
    #[arg(long, value_name = "KIND", value_parser = ["dlr", "inbound"], requires = "since")]
    kind: Option<String>,
}

#[derive(Args)]
pub(crate) struct Secret {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// Sign everything with a new secret too; it is shown once unless you bring it
    #[command(after_help = "Examples:\n  hermod webhook secret stage shop\n  \
                            hermod webhook secret stage shop --secret-file new.txt")]
    Stage {
        /// The account
        account: String,
        /// File with the new secret in its first line; - reads standard input. Without it one is made
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
    },
    /// Let the staged secret count
    #[command(after_help = "Example:\n  hermod webhook secret switch shop")]
    Switch {
        /// The account
        account: String,
    },
    /// Forget the staged secret, or if there is none, the previous one
    #[command(after_help = "Example:\n  hermod webhook secret drop shop")]
    Drop {
        /// The account
        account: String,
    },
}

#[derive(Deserialize)]
struct Webhooks {
    dlr_webhook: Option<String>,
    inbound_webhook: Option<String>,
    secret_staged: bool,
    previous_secret_until: Option<String>,
    endpoints: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    kind: String,
    waiting: u64,
    oldest: Option<String>,
    failed: u64,
}

#[derive(Deserialize)]
struct Events {
    items: Vec<Event>,
    next: Option<u64>,
}

#[derive(Deserialize)]
struct Event {
    event: String,
    kind: String,
    message_id: String,
    status: Option<String>,
    state: String,
    why: Option<String>,
    attempts: u32,
    at: String,
    due_at: Option<String>,
    ended_at: Option<String>,
}

#[derive(Deserialize)]
struct Attempted {
    event: Event,
    attempts: Vec<AttemptMade>,
}

#[derive(Deserialize)]
struct AttemptMade {
    at: String,
    took_ms: u64,
    status: Option<u16>,
    failure: Option<String>,
    answer: String,
}

#[derive(Deserialize)]
struct Replayed {
    replayed: u64,
}

#[derive(Deserialize)]
struct SecretMade {
    secret: Option<String>,
}

impl ShowOne {
    pub(crate) fn run(self) -> Ended {
        let ShowOne { place, account } = self;
        place.work(Absent::Refuse, async move |desk| {
            desk.tell(&desk.get(&path(&account, "")).await?, |seen: Webhooks| described(&seen))
        })
    }
}

impl List {
    pub(crate) fn run(self) -> Ended {
        let List { place, account, state, kind, before, limit } = self;
        let state = state.map(|state| format!("&state={state}")).unwrap_or_default();
        let kind = kind.map(|kind| format!("&kind={kind}")).unwrap_or_default();
        let before = before.map(|before| format!("&before={before}")).unwrap_or_default();
        place.work(Absent::Refuse, async move |desk| {
            let query = format!("/events?limit={limit}{state}{kind}{before}");
            desk.tell(&desk.get(&path(&account, &query)).await?, |page: Events| listed(&page))
        })
    }
}

impl Attempts {
    pub(crate) fn run(self) -> Ended {
        let Attempts { place, account, event } = self;
        place.work(Absent::Refuse, async move |desk| {
            let answer = desk.get(&path(&account, &format!("/events/{}", escape(&event)))).await?;
            desk.tell(&answer, |attempted: Attempted| told(&attempted))
        })
    }
}

impl Replay {
    pub(crate) fn run(self) -> Ended {
        let Replay { place, account, event, since, kind } = self;
        place.work(Absent::Refuse, async move |desk| {
            let answer = match event {
                Some(event) => {
                    let path = path(&account, &format!("/events/{}/replay", escape(&event)));
                    desk.asked(Method::POST, &path, Body::None).await?
                }
                None => {
                    let wanted = json!({ "since": since, "kind": kind });
                    desk.asked(Method::POST, &path(&account, "/replay"), Body::Json(&wanted)).await?
                }
            };
            desk.tell(&answer, |Replayed { replayed }| match replayed {
                1 => "1 event is posted again.\n".to_owned(),
                count => format!("{count} events are posted again.\n"),
            })
        })
    }
}

impl Secret {
    pub(crate) fn run(self) -> Ended {
        let Secret { place, step } = self;
        let given = match &step {
            Step::Stage { secret_file, .. } => secret_file.as_deref().map(read_secret).transpose()?,
            Step::Switch { .. } | Step::Drop { .. } => None,
        };
        place.work(Absent::Refuse, async move |desk| match step {
            Step::Stage { account, .. } => stage(desk, &account, given).await,
            Step::Switch { account } => {
                taken(
                    desk,
                    &account,
                    "switch",
                    "The new secret counts. The old one signs too for 24 hours.\n",
                )
                .await
            }
            Step::Drop { account } => {
                taken(desk, &account, "drop", "Nothing is signed with it any more.\n").await
            }
        })
    }
}

fn read_secret(file: &Path) -> Result<Value, Failure> {
    Ok(json!({ "secret": first_line(file)? }))
}

async fn stage(desk: &Desk, account: &str, given: Option<Value>) -> Ended {
    let body = given.as_ref().map_or(Body::None, Body::Json);
    let answer = desk.asked(Method::POST, &path(account, "/secret/stage"), body).await?;
    if desk.json {
        return show::say_once(&format!("{}\n", answer.body.trim_end()));
    }
    let SecretMade { secret } = answer.read_as().map_err(Failure::failed)?;
    let staged = "Staged: everything is signed with it too, until you switch to it or drop it.\n";
    match secret {
        Some(secret) => show::say_once(&format!("{staged}\nThe new secret, shown this once:\n  {secret}\n")),
        None => show::say(staged),
    }
}

async fn taken(desk: &Desk, account: &str, step: &str, sentence: &str) -> Ended {
    let answer = desk.asked(Method::POST, &path(account, &format!("/secret/{step}")), Body::None).await?;
    desk.tell(&answer, |_: SecretMade| sentence.to_owned())
}

fn path(account: &str, below: &str) -> String {
    format!("/accounts/{}/webhooks{below}", escape(account))
}

fn described(seen: &Webhooks) -> String {
    let staged = if seen.secret_staged { "yes" } else { "no" };
    let fields = show::fields(&[
        ("dlr webhook", seen.dlr_webhook.clone().unwrap_or_default()),
        ("inbound webhook", seen.inbound_webhook.clone().unwrap_or_default()),
        ("another secret staged", staged.to_owned()),
        ("previous secret until", seen.previous_secret_until.clone().unwrap_or_default()),
    ]);
    let mut table = Table::new(&[("kind", Left), ("waiting", Right), ("oldest", Left), ("failed", Right)]);
    for Endpoint { kind, waiting, oldest, failed } in &seen.endpoints {
        table.row([
            kind.clone(),
            waiting.to_string(),
            oldest.clone().unwrap_or_default(),
            failed.to_string(),
        ]);
    }
    format!("{fields}\n{}", table.text("Nothing waits."))
}

fn listed(Events { items, next }: &Events) -> String {
    let mut table = Table::new(&[
        ("event", Left),
        ("kind", Left),
        ("message", Left),
        ("status", Left),
        ("since", Left),
        ("state", Left),
        ("attempts", Right),
        ("next or end", Left),
        ("why", Left),
    ]);
    for event in items {
        table.row([
            event.event.clone(),
            event.kind.clone(),
            event.message_id.clone(),
            event.status.clone().unwrap_or_default(),
            event.at.clone(),
            event.state.clone(),
            event.attempts.to_string(),
            event.due_at.clone().or_else(|| event.ended_at.clone()).unwrap_or_default(),
            event.why.clone().unwrap_or_default(),
        ]);
    }
    let mut text = table.text("There are none.");
    if let Some(next) = next {
        text.push_str(&format!("\nThere may be more: --before {next}\n"));
    }
    text
}

fn told(Attempted { event, attempts }: &Attempted) -> String {
    let mut text = format!("{} of message {} is {}.\n\n", event.event, event.message_id, event.state);
    let mut table = Table::new(&[("at", Left), ("took", Right), ("outcome", Left), ("answer", Left)]);
    for attempt in attempts {
        let status = attempt.status.map(|status| status.to_string());
        table.row([
            attempt.at.clone(),
            format!("{} ms", attempt.took_ms),
            status.or_else(|| attempt.failure.clone()).unwrap_or_default(),
            show::safe(&attempt.answer),
        ]);
    }
    text.push_str(&table.text("There was no attempt yet."));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_attempts_line_up() {
        let page = r#"{"items": [{"event": "evt_7", "kind": "dlr", "message_id": "1234", "status": "DELIVRD", "state": "failed",
            "why": "every attempt failed", "attempts": 6, "at": "2026-11-15T09:30:00Z", "due_at": null,
            "ended_at": "2026-11-16T07:06:00Z"}], "next": 7}"#;
        let expect = "\
EVENT  KIND  MESSAGE  STATUS   SINCE                 STATE   ATTEMPTS  NEXT OR END           WHY
evt_7  dlr   1234     DELIVRD  2026-11-15T09:30:00Z  failed         6  2026-11-16T07:06:00Z  every attempt failed

There may be more: --before 7
";
        let page: Events = serde_json::from_str(page).unwrap();
        assert_eq!(listed(&page), expect);
        let attempts = vec![AttemptMade {
            at: "2026-11-15T09:30:00Z".to_owned(),
            took_ms: 12,
            status: Some(503),
            failure: None,
            answer: "no\u{1b}[31m".to_owned(),
        }];
        let [event] = page.items.try_into().unwrap_or_else(|_| panic!("one"));
        let shown = told(&Attempted { event, attempts });
        assert!(shown.starts_with("evt_7 of message 1234 is failed.\n"), "{shown}");
        assert!(shown.contains("503") && !shown.contains('\u{1b}'), "{shown}");
    }
}
