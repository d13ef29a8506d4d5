//! What needs attention in an account, and the first steps of a new one. Only what the gateway knows without a search.

use super::member::Member;
use super::shown::time;
use crate::elements::{Notice, Tone};
use crate::layout::{NavEntry, Shell};
use crate::numbers::{duration, grouped};
use crate::pages::home::FirstStep;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::permission::Permission;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::webhook::use_cases::show_webhooks;
use hermod_operator::webhook::views::EndpointView;
use std::time::Duration;

/// An API key that expires within this time is named.
const EXPIRES_SOON: Duration = Duration::from_secs(14 * 86_400);
/// A webhook whose oldest event waits longer than this is failing: the second retry is after five minutes.
const WEBHOOK_LATE_MS: i64 = 10 * 60_000;
/// A balance that lasts less than so many days is low.
pub(super) const LOW_DAYS: i64 = 3;

/// Returns what needs attention, the most urgent first. `runway` is how many days the balance lasts.
pub(super) async fn attention(
    gateway: &Gateway,
    member: &Member,
    shell: &Shell,
    money: Option<(bool, Option<i64>)>,
) -> Result<Vec<Notice>, OperatorRefusal> {
    let catalogue = gateway.catalogue();
    let now = gateway.clock.now();
    let mut notices = about_account(&catalogue, member, shell);
    notices.extend(money.and_then(|(is_empty, runway)| about_money(shell, is_empty, runway)));
    if member.may(Permission::ReadSetup) {
        let webhooks = show_webhooks(gateway, &member.account_name).await?;
        notices.extend(webhooks.endpoints.iter().filter_map(|endpoint| about_webhook(shell, endpoint, now)));
        notices.extend(about_setup(&catalogue, member, shell, now));
    }
    let held = gateway.store.reviews().count_open_of(member.account).await?;
    if held > 0 {
        let texts = if held == 1 { "text is" } else { "texts are" };
        let text = format!("{held} {texts} held for review and not sent.");
        notices.push(linked(shell, Notice::new(Tone::Waiting, text), NavEntry::Held, "Held messages"));
    }
    Ok(notices)
}

/// Adds a link to a page, if it exists for the role.
fn linked(shell: &Shell, notice: Notice, entry: NavEntry, label: &str) -> Notice {
    if shell.can_open(&entry) { notice.with_link(label, &shell.path(entry.path())) } else { notice }
}

fn about_account(catalogue: &Catalogue, member: &Member, shell: &Shell) -> Vec<Notice> {
    let Some(view) = catalogue.account(member.account) else { return Vec::new() };
    let mut notices = Vec::new();
    if view.account.closed {
        notices.push(Notice::new(Tone::Bad, "The account is closed: messages and binds are rejected."));
    }
    if let Some(reason) = &view.account.suspended {
        let text = format!(
            "The account is suspended: messages are rejected with ACCOUNT_SUSPENDED, and new binds too. The reason: {reason}"
        );
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Requests, "Requests"));
    }
    if !view.account.verified {
        let text =
            "The identity of the account is not verified: messages are rejected with VERIFICATION_REQUIRED.";
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Requests, "Request verification"));
    }
    if view.approved_senders().is_empty() {
        let text = "No sender is approved: messages are rejected with SENDER_NOT_APPROVED.";
        notices.push(linked(shell, Notice::new(Tone::Bad, text), NavEntry::Senders, "Senders"));
    }
    notices
}

fn about_money(shell: &Shell, is_empty: bool, runway: Option<i64>) -> Option<Notice> {
    let notice = match runway {
        _ if is_empty => {
            let text = "Nothing is left to spend: messages are rejected with INSUFFICIENT_CREDIT until the account is topped up.";
            Notice::new(Tone::Bad, text)
        }
        Some(days) if days < LOW_DAYS => {
            Notice::new(Tone::Warning, "At the rate of the last week the balance lasts less than three days.")
        }
        _ => return None,
    };
    Some(linked(shell, notice, NavEntry::Billing, "Billing"))
}

fn about_webhook(shell: &Shell, endpoint: &EndpointView, now: Timestamp) -> Option<Notice> {
    let EndpointView { kind, waiting, oldest, failed } = endpoint;
    let waited_ms = oldest.as_deref().and_then(time).map_or(0, |at| now.as_millis().saturating_sub(at.0));
    let name = if kind == "dlr" { "DLR webhook" } else { "webhook for MO messages" };
    let notice = if waited_ms > WEBHOOK_LATE_MS {
        let waited = duration(waited_ms.unsigned_abs());
        let text =
            format!("Your {name} is failing: {} events wait, the oldest for {waited}.", grouped(*waiting));
        Notice::new(Tone::Bad, text)
    } else if *failed > 0 {
        let text =
            format!("Your {name} lost {} events that were given up. They can be replayed.", grouped(*failed));
        Notice::new(Tone::Warning, text)
    } else {
        return None;
    };
    Some(linked(shell, notice, NavEntry::Webhooks, "Webhooks"))
}

/// Says what about connections and keys will lead to rejections.
fn about_setup(catalogue: &Catalogue, member: &Member, shell: &Shell, now: Timestamp) -> Vec<Notice> {
    let mut notices = Vec::new();
    let connections = catalogue.connections_of(member.account);
    let mut open = connections.iter().filter(|(_, _, connection)| !connection.closed).peekable();
    if open.peek().is_none() {
        notices.push(Notice::new(Tone::Bad, "The account has no open connection: nothing can be sent."));
    }
    for (_, name, _) in open.filter(|(_, _, connection)| connection.default_sender.is_none()) {
        let text = format!("Connection {name} has no default sender: requests without `from` are rejected.");
        notices.push(linked(shell, Notice::new(Tone::Neutral, text), NavEntry::Senders, "Choose one"));
    }
    for (public, key) in catalogue.keys_of(member.account) {
        let left = key.expires_at.filter(|at| key.is_valid_at(now) && at.since(now) < EXPIRES_SOON);
        notices.extend(left.map(|at| {
            let text = format!("API key {public} expires on {}.", at.day());
            linked(shell, Notice::new(Tone::Warning, text), NavEntry::Keys, "API keys")
        }));
    }
    notices
}

/// Returns the steps to the first delivered message.
pub(super) fn first_steps(
    gateway: &Gateway,
    member: &Member,
    shell: &Shell,
    has_sent: bool,
) -> Vec<FirstStep> {
    let catalogue = gateway.catalogue();
    let now = gateway.clock.now();
    let has_key = catalogue.keys_of(member.account).iter().any(|(_, key)| key.is_valid_at(now));
    let has_sender =
        catalogue.account(member.account).is_some_and(|view| !view.approved_senders().is_empty());
    let step = |title: &str, text: &str, (entry, action): (NavEntry, &str), is_done| FirstStep {
        title: title.to_owned(),
        text: text.to_owned(),
        href: if shell.can_open(&entry) { shell.path(entry.path()) } else { "/docs".to_owned() },
        action: if shell.can_open(&entry) { action.to_owned() } else { "API reference".to_owned() },
        is_done,
    };
    vec![
        step(
            "Have a sender approved",
            "The name or number that recipients see.",
            (NavEntry::Senders, "Senders"),
            has_sender,
        ),
        step(
            "Create an API key",
            "Your programs send with a key and its secret.",
            (NavEntry::Keys, "API keys"),
            has_key,
        ),
        step(
            "Send the first message",
            "Here, with your own price shown first, or from code.",
            (NavEntry::Compose, "Compose"),
            has_sent,
        ),
        step(
            "See it delivered",
            "Its page shows every step until the handset has it.",
            (NavEntry::Messages, "Messages"),
            false,
        ),
    ]
}
