//! Queues: what waits for each carrier, and holding, releasing and cancelling waiting messages.
//!
//! Held messages wait in a queue of their own, [`CarrierId::HELD`], which no carrier has: a hold and a release are moves. They
//! keep their order, and their validity runs on.
//!
//! A request looks at a limited number of messages and returns where the next one goes on, so that no request lasts long and
//! the caller can show the progress. A caller that stops half-way leaves the rest as it was.

use crate::author::Acting;
use crate::carrier::use_cases::empty;
use crate::carrier::views::QueueView;
use crate::find::{carrier_name, find_account, find_carrier};
use crate::http::routes::{Routes, doc};
use crate::input::{LOOKED_AT_MAX, invalid, reason_and_limit, sender, words};
use crate::refusal::Result;
use crate::views::JsonBody;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_gateway::app;
use hermod_gateway::gateway::Gateway;
use hermod_store::{CarrierQueue, Move, QueuePosition, StoreError, WaitingMessage};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Messages read from a queue at once.
const PAGE_MESSAGES: u32 = 500;
/// Ids that a request may name.
const IDS_MAX: usize = 1_000;
const TEXT_CHARS_MAX: usize = 160;
/// Digits of a phone number without its plus.
const PREFIX_DIGITS_MAX: usize = 15;
/// Digits of a prefix that the audit log has: it must not have whole phone numbers.
const PREFIX_DIGITS_LOGGED: usize = 7;

/// What is to happen to waiting messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueueAction {
    /// They wait until they are released or cancelled.
    Hold,
    /// Held messages go to the carriers that their routes choose now.
    Release,
    /// Waiting messages go to the carriers that their routes choose now.
    Reroute,
    /// They end as `rejected` and their costs are refunded.
    Cancel,
}

/// Which waiting messages: those that fulfil every condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueConditions {
    /// Of this account.
    pub account: Option<String>,
    /// In the queue of this carrier; for a release, those that go to this carrier.
    pub carrier: Option<String>,
    /// To numbers that begin with these digits, with or without a plus.
    #[schema(examples("49900"))]
    pub prefix: Option<String>,
    /// With this sender.
    pub sender: Option<String>,
    /// With these words in their text, in the same case.
    pub text: Option<String>,
    /// With one of these ids; at most 1,000.
    #[serde(default)]
    pub ids: Vec<String>,
    /// All of them. To be set if there is no other condition.
    #[serde(default)]
    pub all: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueRequest {
    pub action: QueueAction,
    #[serde(default, deserialize_with = "conditions_by_name")]
    pub conditions: QueueConditions,
    /// Why, for the audit log; at most 200 characters.
    pub reason: Option<String>,
    /// Counts the messages and changes nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// `next` of the previous response.
    pub after: Option<String>,
    /// How many messages to look at; at most 5,000, which is the default.
    #[schema(minimum = 1, maximum = 5000)]
    pub limit: Option<u32>,
}

impl JsonBody for QueueRequest {}

/// Reads an object: a list would be read as the values of its fields.
fn conditions_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QueueConditions, D::Error> {
    let fields = serde_json::Map::deserialize(deserializer)?;
    QueueConditions::deserialize(serde_json::Value::Object(fields)).map_err(D::Error::custom)
}

/// What a request did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueResultView {
    /// Messages that were looked at.
    pub looked_at: u64,
    /// Messages that were held, released or cancelled; with `dry_run`, that would be.
    pub done: u64,
    /// Messages that fulfil the conditions and stay as they are: a carrier may have them, or no route serves them.
    pub left: u64,
    /// Send it as `after` to go on; null if everything was looked at.
    #[schema(examples("2.7.15506713804701696"))]
    pub next: Option<String>,
}

/// The queue of one carrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierQueueView {
    /// `(held)` for the messages that are held.
    pub carrier: String,
    pub queue: QueueView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuesView {
    /// By carrier; what is held comes last.
    pub items: Vec<CarrierQueueView>,
}

/// What a carrier has to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierWorkView {
    pub carrier: String,
    pub queue: QueueView,
    /// Parts that it accepted and that wait for a receipt.
    pub without_receipt: u64,
}

/// Returns what a carrier has to do.
pub async fn show_work(gateway: &Gateway, name: &str) -> Result<CarrierWorkView> {
    let id = find_carrier(gateway, name)?;
    let queues = gateway.store.messages().queues().await?;
    let queue = queues.into_iter().find(|queue| queue.carrier == id).unwrap_or(empty(id));
    Ok(CarrierWorkView {
        carrier: name.to_owned(),
        queue: QueueView::new(queue, gateway.clock.now()),
        without_receipt: gateway.store.messages().without_receipt(id).await?,
    })
}

/// Lists the queues of all carriers that have had parts since they were set up, and what is held.
pub async fn list_queues(gateway: &Gateway) -> Result<QueuesView> {
    let mut queues = gateway.store.messages().queues().await?;
    let (catalogue, now) = (gateway.catalogue(), gateway.clock.now());
    queues.sort_by_cached_key(|queue| {
        (queue.carrier == CarrierId::HELD, carrier_name(&catalogue, queue.carrier))
    });
    let view = |queue: CarrierQueue| CarrierQueueView {
        carrier: carrier_name(&catalogue, queue.carrier),
        queue: QueueView::new(queue, now),
    };
    Ok(QueuesView { items: queues.into_iter().map(view).collect() })
}

/// Holds, releases or cancels waiting messages.
pub async fn change_queues(gateway: &Acting, request: QueueRequest) -> Result<QueueResultView> {
    let QueueRequest { action, conditions, reason, dry_run, after, limit } = request;
    let (reason, limit) = reason_and_limit(reason, limit)?;
    let wanted = Wanted::new(gateway, action, &conditions)?;
    let after = after.as_deref().map(Place::parse).transpose()?;
    if after.is_some() && !wanted.ids.is_empty() {
        return Err(invalid("after", "cannot be used with ids: they are all looked at in one request"));
    }
    if !dry_run {
        // Each request has an entry: whoever makes them chooses where they go on. It is the operator's, not the account's: it
        // has a reason and the name of a carrier.
        let detail = json!({ "conditions": logged(&conditions), "reason": reason });
        let what = format!("queue.{}", action.as_str());
        gateway.audited(None, &what, "queue", &detail).note_in_audit_log().await?;
    }
    let mut pass = Pass { gateway, wanted, dry_run, result: QueueResultView::default() };
    if pass.wanted.ids.is_empty() {
        pass.queues(after, limit).await?;
    } else {
        pass.named().await?;
    }
    Ok(pass.result)
}

impl QueueAction {
    pub const fn as_str(self) -> &'static str {
        match self {
            QueueAction::Hold => "hold",
            QueueAction::Release => "release",
            QueueAction::Reroute => "reroute",
            QueueAction::Cancel => "cancel",
        }
    }
}

/// Returns the conditions as the audit log has them: without text of messages and whole phone numbers. They were checked.
fn logged(conditions: &QueueConditions) -> QueueConditions {
    let shorten = |prefix: &String| prefix.chars().take(PREFIX_DIGITS_LOGGED).collect();
    let is_word = |sender: &String| sender.chars().any(char::is_alphabetic);
    let without_number = |sender: &String| if is_word(sender) { sender.clone() } else { shorten(sender) };
    QueueConditions {
        prefix: conditions.prefix.as_ref().map(shorten),
        sender: conditions.sender.as_ref().map(without_number),
        text: conditions.text.as_ref().map(|text| format!("({} characters)", text.chars().count())),
        ..conditions.clone()
    }
}

/// The conditions of a request after their names were found.
struct Wanted {
    action: QueueAction,
    account: Option<AccountId>,
    carrier: Option<CarrierId>,
    /// Digits only.
    prefix: String,
    sender: Option<Sender>,
    text: Option<String>,
    ids: Vec<MessageId>,
}

impl Wanted {
    fn new(gateway: &Gateway, action: QueueAction, conditions: &QueueConditions) -> Result<Wanted> {
        let QueueConditions { account, carrier, prefix, sender: from, text, ids, all } = conditions;
        let is_limited = account.is_some() || carrier.is_some() || prefix.is_some() || from.is_some();
        if !(is_limited || text.is_some() || !ids.is_empty() || *all) {
            let rule = "must name at least one: account, carrier, prefix, sender, text, ids, or all = true";
            return Err(invalid("conditions", rule));
        }
        if ids.len() > IDS_MAX {
            return Err(invalid("ids", format!("must be at most {IDS_MAX}")));
        }
        let text = text.clone().map(|text| words("text", text, 1, TEXT_CHARS_MAX)).transpose()?;
        Ok(Wanted {
            action,
            account: account.as_ref().map(|name| find_account(gateway, name)).transpose()?,
            carrier: carrier.as_ref().map(|name| find_carrier(gateway, name)).transpose()?,
            prefix: prefix.as_deref().map(prefix_digits).transpose()?.unwrap_or_default(),
            sender: from.as_deref().map(sender).transpose()?,
            text,
            ids: ids.iter().map(|id| message_id(id)).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the queues that can have such messages, in the order in which they are looked at.
    fn carriers(&self, catalogue: &Catalogue) -> Vec<CarrierId> {
        if self.action == QueueAction::Release {
            return vec![CarrierId::HELD];
        }
        let all = catalogue.carriers().iter().map(|(id, ..)| *id);
        let mut carriers: Vec<_> = all.filter(|id| self.carrier.is_none_or(|wanted| wanted == *id)).collect();
        if self.action == QueueAction::Cancel && self.carrier.is_none() {
            carriers.push(CarrierId::HELD);
        }
        carriers.sort_unstable();
        carriers
    }

    /// Whether the row of a message fulfils the conditions about it.
    fn includes(&self, waiting: &WaitingMessage) -> bool {
        let WaitingMessage { account, from, to, .. } = waiting;
        self.account.is_none_or(|wanted| wanted == *account)
            && self.sender.as_ref().is_none_or(|wanted| wanted == from)
            && begins_with(*to, &self.prefix)
    }
}

/// The error does not repeat the text: somebody may have written a phone number.
fn message_id(text: &str) -> Result<MessageId> {
    MessageId::parse(text).ok_or_else(|| invalid("ids", "must be ids of messages, such as 15506713804701696"))
}

fn begins_with(number: Msisdn, prefix: &str) -> bool {
    prefix.is_empty() || number.digits().starts_with(prefix)
}

fn prefix_digits(text: &str) -> Result<String> {
    let digits = text.trim_start_matches('+');
    let is_prefix = (1..=PREFIX_DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    if is_prefix {
        return Ok(digits.to_owned());
    }
    let rule = format!("must be 1 to {PREFIX_DIGITS_MAX} digits with the country code, such as 49900");
    Err(invalid("prefix", rule))
}

/// How far a request has looked: through the queue of a carrier up to a message, or to its beginning.
#[derive(Clone, Copy)]
struct Place {
    carrier: CarrierId,
    upto: Option<QueuePosition>,
}

impl Place {
    fn parse(text: &str) -> Result<Place> {
        let parse = || {
            let mut numbers = text.splitn(3, '.');
            let carrier = CarrierId::new(numbers.next()?.parse().ok()?);
            let Some(account) = numbers.next() else { return Some(Place { carrier, upto: None }) };
            let account = AccountId::new(account.parse().ok()?);
            let message = MessageId::parse(numbers.next()?)?;
            Some(Place { carrier, upto: Some(QueuePosition { account, message }) })
        };
        parse().ok_or_else(|| invalid("after", "must be `next` of the previous response"))
    }

    fn text(&self) -> String {
        match self.upto {
            Some(QueuePosition { account, message }) => format!("{}.{account}.{message}", self.carrier),
            None => self.carrier.to_string(),
        }
    }
}

/// One request on its way through the queues.
struct Pass<'a> {
    gateway: &'a Gateway,
    wanted: Wanted,
    dry_run: bool,
    result: QueueResultView,
}

impl Pass<'_> {
    /// Looks at up to `limit` messages after a place, queue by queue.
    async fn queues(&mut self, after: Option<Place>, limit: u32) -> Result<()> {
        for carrier in self.wanted.carriers(&self.gateway.catalogue()) {
            let mut upto = match after {
                Some(place) if carrier < place.carrier => continue,
                Some(place) if carrier == place.carrier => place.upto,
                Some(_) | None => None,
            };
            loop {
                let left = u64::from(limit).saturating_sub(self.result.looked_at);
                let Some(wanted) = u32::try_from(left).ok().filter(|left| *left > 0) else {
                    self.result.next = Some(Place { carrier, upto }.text());
                    return Ok(());
                };
                let page = self.page(carrier, upto, wanted.min(PAGE_MESSAGES)).await?;
                let Some(last) = page.last().map(WaitingMessage::position) else { break };
                upto = Some(last);
                self.result.looked_at += u64::try_from(page.len()).expect("a page");
                self.change(carrier, page).await?;
            }
        }
        Ok(())
    }

    /// Reads the next messages of a queue. The messages of one account stand together: those of others are passed over.
    async fn page(
        &self,
        carrier: CarrierId,
        after: Option<QueuePosition>,
        limit: u32,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        let start = self.wanted.account.map(|account| QueuePosition {
            account,
            message: MessageId::first_at(Timestamp::from_millis(0)),
        });
        let after = match (after, start) {
            (Some(after), Some(start)) if after.account < start.account => Some(start),
            (None, start) => start,
            (after, _) => after,
        };
        self.gateway.store.messages().waiting_upto(carrier, after, self.wanted.account, limit).await
    }

    /// Looks at the messages with these ids.
    async fn named(&mut self) -> Result<()> {
        let carriers = self.wanted.carriers(&self.gateway.catalogue());
        let mut by_carrier: BTreeMap<CarrierId, Vec<WaitingMessage>> = BTreeMap::new();
        for id in std::mem::take(&mut self.wanted.ids) {
            self.result.looked_at += 1;
            match self.gateway.store.messages().waiting_message(id).await? {
                Some((carrier, waiting)) if carriers.contains(&carrier) => {
                    by_carrier.entry(carrier).or_default().push(waiting);
                }
                Some(_) | None => self.result.left += 1,
            }
        }
        for (carrier, waiting) in by_carrier {
            self.change(carrier, waiting).await?;
        }
        Ok(())
    }

    /// Changes those of these messages of a queue that fulfil the conditions.
    async fn change(&mut self, carrier: CarrierId, mut waiting: Vec<WaitingMessage>) -> Result<()> {
        waiting.retain(|waiting| self.wanted.includes(waiting));
        if let Some(part) = &self.wanted.text {
            waiting = self.with_text(waiting, part).await?;
        }
        let found = waiting.len();
        let done = match self.wanted.action {
            QueueAction::Hold => self.move_all(hold_all(self.gateway, carrier, &waiting)).await?,
            QueueAction::Release | QueueAction::Reroute => {
                let (moves, unwanted) = self.routed_again(carrier, &waiting);
                let done = self.move_all(moves).await?;
                self.count(found - unwanted, done);
                return Ok(());
            }
            QueueAction::Cancel => self.cancel_all(carrier, &waiting).await?,
        };
        self.count(found, done);
        Ok(())
    }

    fn count(&mut self, found: usize, done: usize) {
        let count = |messages| u64::try_from(messages).unwrap_or(u64::MAX);
        self.result.done += count(done);
        self.result.left += count(found.saturating_sub(done));
    }

    /// Returns the moves of messages to the carriers that their routes choose now, and how many are not wanted: they go to
    /// another carrier than the one that is released, or stay where they are.
    fn routed_again(&self, from: CarrierId, waiting: &[WaitingMessage]) -> (Vec<Move>, usize) {
        let catalogue = self.gateway.catalogue();
        let is_wanted = |one: &Move| match self.wanted.carrier {
            Some(carrier) if from == CarrierId::HELD => one.to.carrier == carrier,
            Some(_) | None => one.to.carrier != from,
        };
        let moves =
            waiting.iter().filter_map(|waiting| app::route_again(self.gateway, &catalogue, from, waiting));
        let (wanted, others): (Vec<_>, Vec<_>) = moves.partition(is_wanted);
        (wanted, others.len())
    }

    async fn move_all(&self, moves: Vec<Move>) -> Result<usize, StoreError> {
        if self.dry_run {
            return Ok(moves.len());
        }
        self.gateway.store.messages().reroute(moves, self.gateway.clock.now()).await
    }

    async fn cancel_all(&self, carrier: CarrierId, waiting: &[WaitingMessage]) -> Result<usize, StoreError> {
        if self.dry_run {
            return Ok(waiting.iter().filter(|waiting| !waiting.may_be_sent).count());
        }
        let places: Vec<_> = waiting.iter().map(WaitingMessage::position).collect();
        self.gateway.store.messages().cancel_waiting(carrier, &places, self.gateway.clock.now()).await
    }

    async fn with_text(
        &self,
        waiting: Vec<WaitingMessage>,
        part: &str,
    ) -> Result<Vec<WaitingMessage>, StoreError> {
        let mut found = Vec::new();
        for waiting in waiting {
            let text = self.gateway.store.messages().text(waiting.account, waiting.message).await?;
            if text.is_some_and(|text| text.contains(part)) {
                found.push(waiting);
            }
        }
        Ok(found)
    }
}

fn hold_all(gateway: &Gateway, carrier: CarrierId, waiting: &[WaitingMessage]) -> Vec<Move> {
    let catalogue = gateway.catalogue();
    waiting.iter().map(|waiting| app::hold(&catalogue, carrier, waiting)).collect()
}

/// Messages that wait for a carrier, and would not if their routes chose again.
struct Backlog {
    messages: u64,
    /// There may be more: not all messages were looked at.
    is_at_least: bool,
}

/// Returns an offer for each carrier that messages wait for although their routes choose another one since a change of the setup.
/// `before`: the catalogue before it. Looks at a limited number of messages of each, and moves none.
pub(crate) async fn offer_to_reroute(
    gateway: &Gateway,
    before: &Catalogue,
) -> Result<Vec<String>, StoreError> {
    let after = gateway.catalogue();
    let mut offers = Vec::new();
    for CarrierQueue { carrier, waiting, .. } in gateway.store.messages().queues().await? {
        if carrier == CarrierId::HELD || waiting == 0 {
            continue;
        }
        let Backlog { messages, is_at_least } = count_backlog(gateway, (before, &after), carrier).await?;
        let count = match (messages, is_at_least) {
            (0, false) => continue,
            (0, true) => format!("more than {LOOKED_AT_MAX} messages wait"),
            (1, false) => "1 message waits".to_owned(),
            (more, false) => format!("{more} messages wait"),
            (more, true) => format!("at least {more} messages wait"),
        };
        let name = carrier_name(&after, carrier);
        let choose = if messages == 0 { "may choose" } else { "choose" };
        offers.push(format!(
            "{count} for carrier {name}, and the routes {choose} another one since this change: \
             hermod queue reroute --carrier {name} moves what waits"
        ));
    }
    Ok(offers)
}

/// Counts the messages that wait for a carrier which their routes chose before a change and do not choose after it.
async fn count_backlog(
    gateway: &Gateway,
    (before, after): (&Catalogue, &Catalogue),
    carrier: CarrierId,
) -> Result<Backlog, StoreError> {
    let chosen = |catalogue: &Catalogue, waiting: &WaitingMessage| {
        app::route_again(gateway, catalogue, carrier, waiting).map(|one| one.to.carrier)
    };
    let is_elsewhere = |waiting: &&WaitingMessage| {
        chosen(before, waiting) == Some(carrier)
            && chosen(after, waiting).is_some_and(|other| other != carrier)
    };
    let (mut messages, mut upto, mut left) = (0, None, LOOKED_AT_MAX);
    while left > 0 {
        let limit = PAGE_MESSAGES.min(left);
        let page = gateway.store.messages().waiting_upto(carrier, upto, None, limit).await?;
        let Some(last) = page.last().map(WaitingMessage::position) else {
            return Ok(Backlog { messages, is_at_least: false });
        };
        upto = Some(last);
        left = left.saturating_sub(u32::try_from(page.len()).unwrap_or(u32::MAX));
        messages += u64::try_from(page.iter().filter(is_elsewhere).count()).unwrap_or(u64::MAX);
    }
    Ok(Backlog { messages, is_at_least: true })
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Queues", "What waits for carriers: hold it, release it, cancel it.");
    routes.get(
        "/queues",
        list_queues,
        doc("listQueues", "List the queues", "One queue per carrier, and what is held.")
            .least(OperatorPermission::Reading),
    );
    routes.get(
        "/queues/{carrier}",
        show_work,
        doc("getCarrierWork", "Read what a carrier has to do", "Its queue, and what waits for receipts.")
            .details("A carrier that waits for no receipt can be disabled without losing one.")
            .errors(&["NOT_FOUND"])
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/queues",
        change_queues,
        doc("changeQueues", "Hold, release, reroute or cancel waiting messages", "What this request did.")
            .details(
                "Only messages of which no carrier has any part; one that a carrier may have, because it did not answer, moves like \
                 the others and is not cancelled. Held messages keep their order and their validity runs on; a \
                 release or a reroute sends them to the carriers that their routes choose then. A cancelled message ends as `rejected`, its \
                 cost is refunded and its report is made. A request looks at up to 5,000 messages: send it again with `next` as \
                 `after` until `next` is null. Sending it twice changes nothing more.",
            )
            .errors(&["NOT_FOUND", "INVALID_FIELD"])
            .least(OperatorPermission::Operations),
    );
}
