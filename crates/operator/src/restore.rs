//! A gateway that is held: what it would send, releasing it, and cancelling what waited when its backup was made.
//!
//! A backup is older than what its original has sent since. So a gateway that starts with one is held until an operator has looked
//! at what waits in it; `hermod serve --hold` holds any gateway, such as one whose PostgreSQL was restored.

use crate::author::{Acting, Author};
use crate::find::{account_name, carrier_name};
use crate::http::routes::{Routes, doc};
use crate::input::{invalid, reason_and_limit, time};
use crate::refusal::Result;
use crate::views::JsonBody;
use hermod_domain::audit::AuditEntry;
use hermod_domain::hold::Hold;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::operator_role::OperatorPermission;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;
use hermod_store::{MessageKey, QueuePosition, Store, StoreError, UnsentMessages};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Messages read at once.
const PAGE_MESSAGES: u32 = 500;

/// Whether the gateway is held, and what it would send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RestoreView {
    /// No carrier is bound, and nothing is sent or posted.
    pub held: bool,
    /// Since when. Of a restored backup: when the backup was complete.
    #[schema(examples("2026-11-15T09:30:00Z"))]
    pub since: Option<String>,
    /// When the backup was complete; null if the gateway was not restored from one that `hermod backup` made.
    pub backup_at: Option<String>,
    /// Customers may send while the gateway is held: their messages wait.
    pub accepts_messages: bool,
    /// What waits, by carrier and account.
    pub waiting: Vec<UnsentView>,
}

/// What waits for a carrier of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnsentView {
    /// Its name; `(held)` for what an operator holds with `hermod queue hold`.
    pub carrier: String,
    pub account: String,
    pub messages: u64,
    /// Their parts that wait.
    pub parts: u64,
    /// Those of the parts that may have been sent before.
    pub in_doubt: u64,
    /// When the oldest message was accepted.
    pub oldest_at: String,
    pub oldest_id: String,
    /// When the newest message was accepted.
    pub newest_at: String,
    pub newest_id: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// Messages that were accepted until this time. Default: when the backup was complete; without one, when the hold began.
    #[schema(examples("2026-11-15T09:30:00Z"))]
    pub before: Option<String>,
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

impl JsonBody for CancelRequest {}

/// What a request cancelled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CancelledView {
    /// Messages that were looked at.
    pub looked_at: u64,
    /// Messages that ended as `rejected` and were refunded. With `dry_run`, all that would be cancelled or stopped.
    pub cancelled: u64,
    /// Messages that a carrier may have: what of them waited is not sent, and nothing is refunded.
    pub stopped: u64,
    /// Messages that were accepted later, which stay.
    pub later: u64,
    /// Send it as `after` to go on; null if everything was looked at.
    #[schema(examples("2.7.15506713804701696"))]
    pub next: Option<String>,
}

/// What a release did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReleasedView {
    /// False if the gateway was not held.
    pub released: bool,
}

/// Returns whether the gateway is held, and what it would send.
pub async fn show_restore(gateway: &Gateway) -> Result<RestoreView> {
    let hold = gateway.store.setup().hold().await?;
    let unsent = gateway.store.messages().unsent().await?;
    Ok(RestoreView {
        held: hold.is_some() || gateway.is_held(),
        since: hold.map(|hold| hold.since.to_iso()),
        backup_at: hold.filter(|hold| hold.is_backup).map(|hold| hold.since.to_iso()),
        accepts_messages: hold.is_some_and(|hold| hold.accepts_messages),
        waiting: unsent.into_iter().map(|unsent| unsent_view(gateway, unsent)).collect(),
    })
}

fn unsent_view(gateway: &Gateway, unsent: UnsentMessages) -> UnsentView {
    let UnsentMessages { carrier, account, messages, parts, in_doubt, oldest, newest } = unsent;
    UnsentView {
        carrier: carrier_name(&gateway.catalogue(), carrier),
        account: account_name(gateway, account),
        messages,
        parts,
        in_doubt,
        oldest_at: oldest.accepted_at().to_iso(),
        oldest_id: oldest.to_string(),
        newest_at: newest.accepted_at().to_iso(),
        newest_id: newest.to_string(),
    }
}

/// Releases the gateway: carriers are bound, and what waits is sent.
pub async fn release(gateway: &Acting) -> Result<ReleasedView> {
    let _alone = gateway.change_alone().await?;
    let Some(hold) = gateway.store.setup().hold().await? else {
        // An earlier release may not have taken effect on this node.
        gateway.read_hold().await?;
        return Ok(ReleasedView { released: false });
    };
    let detail = json!({ "since": hold.since.to_iso(), "is_backup": hold.is_backup });
    gateway.audited(None, "restore.release", "gateway", &detail).setup().set_hold(None).await?;
    gateway.read_hold().await?;
    Ok(ReleasedView { released: true })
}

/// Cancels and refunds what was accepted before the backup was made. The gateway stays held.
pub async fn cancel(gateway: &Acting, request: CancelRequest) -> Result<CancelledView> {
    let CancelRequest { before, reason, dry_run, after, limit } = request;
    let (reason, limit) = reason_and_limit(reason, limit)?;
    let before = before.map(|before| time("before", &before, gateway.clock.now())).transpose()?;
    let after = after.map(|after| parse_place(&after)).transpose()?;
    let Some(hold) = gateway.store.setup().hold().await? else {
        let rule = "the gateway is not held; to cancel waiting messages of a gateway that sends, use hermod queue cancel";
        return Err(invalid("before", rule));
    };
    let hold = Hold { since: before.unwrap_or(hold.since), ..hold };
    if !dry_run {
        let detail = json!({ "before": hold.since.to_iso(), "reason": reason });
        gateway.audited(None, "restore.cancel", "gateway", &detail).note_in_audit_log().await?;
    }
    Ok(cancel_until(gateway, &hold, dry_run, after, limit).await?)
}

/// Looks at up to `limit` messages after a place, and cancels those that are older than the hold.
async fn cancel_until(
    gateway: &Gateway,
    hold: &Hold,
    dry_run: bool,
    mut after: Option<MessageKey>,
    limit: u32,
) -> Result<CancelledView, StoreError> {
    let mut view = CancelledView::default();
    loop {
        let left = u64::from(limit).saturating_sub(view.looked_at);
        let Some(wanted) = u32::try_from(left).ok().filter(|left| *left > 0) else {
            view.next = after.map(place_text);
            return Ok(view);
        };
        let page = gateway.store.messages().unsent_after(after, wanted.min(PAGE_MESSAGES)).await?;
        let Some(last) = page.last().copied() else { return Ok(view) };
        after = Some(last);
        view.looked_at += count(page.len());
        let (old, later): (Vec<_>, Vec<_>) =
            page.into_iter().partition(|key| hold.is_later_than(key.message));
        view.later += count(later.len());
        if dry_run {
            view.cancelled += count(old.len());
            continue;
        }
        // Nobody releases the gateway meanwhile: links would send what is stopped here.
        let _alone = gateway.change_alone().await?;
        if gateway.store.setup().hold().await?.is_none() {
            return Ok(view);
        }
        let cancelled = cancel_all(gateway, &old).await?;
        // Those that are cancelled have nothing left that waits.
        let stopped = gateway.store.messages().stop_sent(&old, gateway.clock.now()).await?;
        view.cancelled += count(cancelled);
        view.stopped += count(stopped);
    }
}

/// Cancels those of these messages that no carrier can have. Their keys are in order, so that each carrier's are together.
async fn cancel_all(gateway: &Gateway, keys: &[MessageKey]) -> Result<usize, StoreError> {
    let mut cancelled = 0;
    for of_carrier in keys.chunk_by(|one, other| one.carrier == other.carrier) {
        let positions: Vec<_> = of_carrier.iter().map(position).collect();
        let (carrier, now) = (of_carrier[0].carrier, gateway.clock.now());
        cancelled += gateway.store.messages().cancel_waiting(carrier, &positions, now).await?;
    }
    Ok(cancelled)
}

fn position(key: &MessageKey) -> QueuePosition {
    QueuePosition { account: key.account, message: key.message }
}

fn count(messages: usize) -> u64 {
    u64::try_from(messages).unwrap_or(u64::MAX)
}

fn place_text(MessageKey { carrier, account, message }: MessageKey) -> String {
    format!("{carrier}.{account}.{message}")
}

fn parse_place(text: &str) -> Result<MessageKey> {
    let parse = || {
        let mut numbers = text.splitn(3, '.');
        let carrier = CarrierId::new(numbers.next()?.parse().ok()?);
        let account = AccountId::new(numbers.next()?.parse().ok()?);
        Some(MessageKey { carrier, account, message: MessageId::parse(numbers.next()?)? })
    };
    parse().ok_or_else(|| invalid("after", "must be `next` of the previous response"))
}

/// Holds a store before its gateway starts, if `hold` is set, and lets customers send to a gateway that is held, if
/// `accepts_messages` is. The hold of a restored backup stays as it is otherwise.
pub async fn hold_before_start(
    store: &Store,
    hold: bool,
    accepts_messages: bool,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Not while another node changes it.
    let _alone = store.cluster().lock_catalogue().await?;
    let stored = store.setup().hold().await?;
    let made = stored.or_else(|| hold.then(|| Hold::by_operator(now)));
    let wanted =
        made.map(|made| Hold { accepts_messages: made.accepts_messages || accepts_messages, ..made });
    if wanted == stored {
        return Ok(());
    }
    let detail =
        json!({ "accepts_messages": accepts_messages, "is_backup": made.is_some_and(|made| made.is_backup) });
    let entry = at_start(now, &detail);
    store.audited(vec![entry]).setup().set_hold(wanted.as_ref()).await
}

fn at_start(now: Timestamp, detail: &Value) -> AuditEntry {
    Author::operator(None).entry(now, None, "restore.hold", "gateway", detail)
}

pub(crate) fn routes(routes: &mut Routes) {
    routes.section(
        "Restore",
        "A gateway that was restored from a backup is held: look at what waits, cancel it, release it.",
    );
    routes.get(
        "/restore",
        show_restore,
        doc("getRestore", "Read whether the gateway is held", "Since when, and what waits by carrier and account.").details(
            "A gateway that starts with a backup is held: its original may have sent since what waits in the backup. So is one that was \
             started with `hermod serve --hold`. No carrier is bound, and nothing is sent, posted or expired until it is released, also after \
             a restart.",
        )
            .least(OperatorPermission::Reading),
    );
    routes.post(
        "/restore/release",
        release,
        doc("releaseRestore", "Release the gateway", "Whether it was held.")
            .details("Carriers are bound, and what waits is sent. Sending it twice changes nothing more.")
            .least(OperatorPermission::Operations),
    );
    routes.post(
        "/restore/cancel",
        cancel,
        doc("cancelRestore", "Cancel what waited when the backup was made", "What this request cancelled.")
            .details(
                "Messages of which no carrier can have a part end as `rejected`, and their costs are refunded. Of the others, nothing more is \
                 sent and nothing is refunded: a part in doubt counts as submitted. Reports are made and sent after the release. A \
                 request looks at up to 5,000 messages: send it again with `next` as `after` until `next` is null, and then release the \
                 gateway.",
            )
            .errors(&["INVALID_FIELD"])
            .least(OperatorPermission::Operations),
    );
}
