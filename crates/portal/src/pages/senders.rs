//! Senders and inbound numbers of an account, and the default sender of each connection.

use crate::elements::{Chip, Tone};
use crate::forms::Select;
use crate::layout::{NavEntry, Shell};
use crate::numbers::grouped;
use crate::request::extract::MemberForm;
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page, page_again};
use askama::Template;
use hermod_domain::catalogue::SenderStatus;
use hermod_domain::permission::Permission;
use hermod_domain::sender::{Sender, SenderKind};
use hermod_operator::entry::views::{EntriesQuery, EntryView};
use hermod_operator::kind::Kind;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::setup::use_cases::list_entries;
use hermod_operator::statistics;
use hermod_operator::statistics::StatisticsQuery;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// `GET /accounts/{account}/senders`. Posts to `senders/default` (`connection`, `sender`). New ones are requested at
/// `requests?kind=sender`.
#[derive(Clone, Debug, Template)]
#[template(path = "senders.html")]
pub struct SendersPage {
    pub shell: Shell,
    pub rows: Vec<SenderRow>,
    /// One for each connection: its approved senders with the default chosen.
    pub defaults: Vec<DefaultSender>,
    /// Where a new sender is requested; `None` if the role may not, or where that page does not exist.
    pub request: Option<String>,
    pub can_change: bool,
}

/// A sender of the account.
#[derive(Clone, Debug)]
pub struct SenderRow {
    pub sender: String,
    /// `alphanumeric`, `number` or `short code`.
    pub kind: String,
    /// Approved, requested or blocked.
    pub state: Chip,
    /// Why it has this status; empty if nobody said.
    pub reason: String,
    /// Messages of the last 30 days; `None` if nothing is counted.
    pub messages: Option<String>,
    /// Whether recipients can reply.
    pub can_receive: bool,
}

/// The default sender of one connection.
#[derive(Clone, Debug, Default)]
pub struct DefaultSender {
    pub connection: String,
    pub senders: Select,
}

const MESSAGES_SINCE: &str = "30d";

/// `GET /accounts/{account}/senders`.
pub(crate) async fn show(member: Member) -> Reply {
    member.require(Permission::ReadSetup)?;
    Ok(page(&page_of(&member).await?))
}

async fn page_of(member: &Member) -> Result<SendersPage, NoPage> {
    let shell = member.shell(NavEntry::Senders);
    let rows = rows(member).await?;
    let approved: Vec<String> =
        rows.iter().filter(|row| row.state.tone == Tone::Good).map(|row| row.sender.clone()).collect();
    let connections = entries(member, Kind::Connection).await?;
    let can_request = member.may(Permission::MakeRequests) && shell.can_open(&NavEntry::Requests);
    Ok(SendersPage {
        defaults: connections.iter().map(|entry| default_of(entry, &approved)).collect(),
        rows,
        request: can_request.then(|| format!("{}?kind=sender", shell.path("requests"))),
        can_change: member.may(Permission::ChangeSetup),
        shell,
    })
}

async fn entries(member: &Member, kind: Kind) -> Result<Vec<EntryView>, OperatorRefusal> {
    let query = EntriesQuery { account: Some(member.account_name.clone()), ..EntriesQuery::default() };
    Ok(list_entries(member.gateway(), kind, query).await?.items)
}

fn text<'a>(entry: &'a EntryView, field: &str) -> &'a str {
    entry.entry.get(field).and_then(Value::as_str).unwrap_or_default()
}

async fn rows(member: &Member) -> Result<Vec<SenderRow>, NoPage> {
    // The reason of each sender, and the keywords of each number.
    let mut senders: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for entry in entries(member, Kind::Sender).await? {
        senders.insert(text(&entry, "sender").to_owned(), (text(&entry, "reason").to_owned(), false));
    }
    for entry in entries(member, Kind::Number).await? {
        let (reason, receives) = senders.entry(text(&entry, "number").to_owned()).or_default();
        *receives = true;
        let keyword = text(&entry, "keyword");
        if !keyword.is_empty() {
            *reason =
                format!("{reason} Shared: receives messages that begin with {keyword}.").trim().to_owned();
        }
    }
    let counts = counts(member).await?;
    let catalogue = member.gateway().catalogue();
    let view = catalogue.account(member.account).ok_or(NoPage::NotFound)?;
    let row = |(sender, (reason, can_receive)): (String, (String, bool))| {
        let parsed = Sender::parse(&sender).ok();
        let status = parsed.map_or(SenderStatus::NotApproved, |parsed| view.sender_status(&parsed));
        let messages = counts.as_ref().map(|counts| counts.get(&sender).copied().unwrap_or(0));
        SenderRow {
            kind: kind_words(parsed).to_owned(),
            state: state(status),
            reason,
            messages: messages.map(grouped),
            can_receive,
            sender,
        }
    };
    Ok(senders.into_iter().map(row).collect())
}

fn kind_words(sender: Option<Sender>) -> &'static str {
    match sender.map(|sender| sender.kind()) {
        Some(SenderKind::Alphanumeric) | None => "alphanumeric",
        Some(SenderKind::International) => "number",
        Some(SenderKind::ShortCode) => "short code",
    }
}

fn state(status: SenderStatus) -> Chip {
    match status {
        SenderStatus::Approved => Chip::new(Tone::Good, "Approved"),
        SenderStatus::NotApproved => Chip::new(Tone::Waiting, "Requested"),
        SenderStatus::Blocked => Chip::new(Tone::Bad, "Blocked"),
    }
}

/// Returns the messages of each sender; `None` if the gateway keeps no record.
async fn counts(member: &Member) -> Result<Option<HashMap<String, u64>>, NoPage> {
    let query = StatisticsQuery {
        account: Some(member.account_name.clone()),
        by: Some("sender".to_owned()),
        per: Some("day".to_owned()),
        since: Some(MESSAGES_SINCE.to_owned()),
        sum: Some(true),
        ..StatisticsQuery::default()
    };
    match statistics::read_statistics(member.gateway(), query).await {
        Ok(found) => {
            let rows = found.items.into_iter().filter_map(|row| Some((row.value?, row.accepted)));
            Ok(Some(rows.collect()))
        }
        Err(OperatorRefusal::RecordOff) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

fn default_of(connection: &EntryView, approved: &[String]) -> DefaultSender {
    let chosen = text(connection, "default_sender");
    let none = ("".to_owned(), "None: reject messages without a sender".to_owned());
    let mut choices: Vec<(String, String)> =
        approved.iter().map(|sender| (sender.clone(), sender.clone())).collect();
    choices.insert(0, none);
    // A default that lost its approval is shown as it is, and cannot be chosen again.
    if !choices.iter().any(|(sender, _)| sender == chosen) {
        choices.push((chosen.to_owned(), format!("{chosen} (not approved)")));
    }
    DefaultSender { connection: connection.name.clone(), senders: Select::new(choices, chosen) }
}

#[derive(Deserialize)]
pub(crate) struct DefaultForm {
    connection: String,
    sender: String,
}

/// `POST /accounts/{account}/senders/default`.
pub(crate) async fn set_default(
    MemberForm { member, form: DefaultForm { connection, sender } }: MemberForm<DefaultForm>,
) -> Reply {
    member.require(Permission::ChangeSetup)?;
    member.require_connection(&connection)?;
    if !sender.is_empty() && !is_approved(&member, &sender) {
        let mut shown = page_of(&member).await?;
        let form = shown.defaults.iter_mut().find(|default| default.connection == connection);
        if let Some(form) = form {
            form.senders.error = Some("Choose a sender that is approved for this account.".to_owned());
        }
        return Ok(page_again(&shown));
    }
    let value = if sender.is_empty() { Value::Null } else { Value::from(sender) };
    member.patch(Kind::Connection, &connection, [("default_sender", value)]).await?;
    Ok(member.done("senders", "default-sender-saved"))
}

fn is_approved(member: &Member, sender: &str) -> bool {
    let catalogue = member.gateway().catalogue();
    let view = catalogue.account(member.account);
    let parsed = Sender::parse(sender).ok();
    view.zip(parsed).is_some_and(|(view, sender)| view.sender_status(&sender) == SenderStatus::Approved)
}
