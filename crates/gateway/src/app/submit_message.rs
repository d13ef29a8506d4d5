//! Submits one MT message: checks policy, parts, route and price, then charges, stores and queues it in one durable
//! step. HTTP and SMPP both call it, and nothing is acknowledged before it is on disk.

use crate::app::authenticate::Caller;
use crate::app::refusal_of;
use crate::gateway::Gateway;
use hermod_domain::catalogue::{NumberOwner, SenderStatus};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::origin::Alias;
use hermod_domain::phone::Msisdn;
use hermod_domain::policy::{
    AllowedMessage, PolicyDecision, ScreenMatch, check_submission, is_checked_after_opt_out,
};
use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_domain::screen::{Joined, Piece, SplitPart};
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::submission::{IdempotencyKey, Submission};
use hermod_domain::text::{Encoding, Measure};
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{Daily, enforced_daily, velocity_limits, watched_daily};
use hermod_store::{
    ACCEPT_WAIT_MAX, AcceptOutcome, Acceptance, CustomerTlvs, DailyLimits, Duplicate, KeyClaim, Screened,
    Screening, StoreError, SubmitNote,
};
use metrics::counter;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// Retry-After in seconds while this node drains.
const DRAIN_RETRY_S: u32 = 5;
/// The operator looks at what waits before the gateway is released.
const HELD_RETRY_S: u32 = 60;
/// Retry-After in seconds when the store's queue timed out.
const QUEUE_TIMEOUT_RETRY_S: u32 = 1;

/// Retry-After in seconds when no short id is free: ids are released as messages end.
const NO_ALIAS_RETRY_S: u32 = 60;

/// The outcome of a submission that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    Accepted(Accepted),
    /// The idempotency key was used before: nothing was sent or charged.
    Replayed(Duplicate),
    /// The node that stores messages was lost, and it is not known whether the message was accepted. The customer gets no answer.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub message: MessageId,
    /// Its short id, for SMPP 3.3.
    pub alias: Option<Alias>,
    pub to: Msisdn,
    pub from: Sender,
    pub cost: Money,
    /// The balance after this message's charge.
    pub balance: Money,
    pub parts: u8,
    pub encoding: Encoding,
}

/// Accepts a customer's message: checks it, stores it, charges it and queues it in one durable step. `Accepted` means that it
/// is on disk; `Replayed`, that its idempotency key was used before and nothing was stored or charged now. A refusal means
/// that nothing was stored or charged; only a message held for review leaves its case.
pub async fn submit_message(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
) -> Result<Submitted, Refusal> {
    let outcome = submit_screened(gateway, caller, submission).await;
    match &outcome {
        Ok(Submitted::Accepted(_)) => gateway.account_traffic.count_accepted(caller.account),
        Ok(Submitted::Replayed(_) | Submitted::Unknown) => {}
        Err(_) => gateway.account_traffic.count_refused(caller.account),
    }
    outcome
}

/// Submits a message. A part of a message that the customer has split is screened together with the others.
async fn submit_screened(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
) -> Result<Submitted, Refusal> {
    let part = split_part(caller, submission).filter(|_| caller.account().has_screens());
    let Some(part) = part else { return submit(gateway, caller, submission, &[]).await };
    let text = submission.text.clone();
    let piece = Piece { encoding: submission.measure(&text).encoding, text };
    let joined = gateway.split_messages.lock().add(part, &piece, gateway.clock.now());
    let Ok(joined) = joined else {
        return refused(gateway, caller, submission, reused_reference()).await;
    };
    let mut screening = SplitScreening { gateway, part, piece, is_accepted: true };
    let outcome = submit(gateway, caller, submission, &joined).await;
    screening.is_accepted = outcome.is_ok();
    outcome
}

/// Ends the check of a part when it is dropped, also if the bind ends meanwhile. The part may then have been stored, so its text
/// counts as accepted.
struct SplitScreening<'w> {
    gateway: &'w Gateway,
    part: SplitPart,
    piece: Piece,
    is_accepted: bool,
}

impl Drop for SplitScreening<'_> {
    fn drop(&mut self) {
        self.gateway.split_messages.lock().settle(self.part, &self.piece, self.is_accepted);
    }
}

/// Returns which part of which message this is, if the customer has split it.
fn split_part(caller: &Caller, submission: &Submission) -> Option<SplitPart> {
    submission.place.map(|place| SplitPart { account: caller.account, to: submission.to, place })
}

/// Submits a message, or a part that is screened together with its neighbours.
async fn submit(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    joined: &[Joined],
) -> Result<Submitted, Refusal> {
    if gateway.is_draining() {
        return refused(gateway, caller, submission, draining()).await;
    }
    if gateway.is_closed_by_hold() {
        return refused(gateway, caller, submission, held()).await;
    }
    let now = gateway.clock.now();
    match check_submission(
        caller.catalogue(),
        caller.account(),
        caller.connection(),
        submission,
        joined,
        now,
        &gateway.carriers,
    ) {
        PolicyDecision::Allowed(judged) => accept(gateway, caller, submission, judged, now).await,
        PolicyDecision::Refused(refusal) => refused(gateway, caller, submission, refusal).await,
        PolicyDecision::Screened { matches, from, otherwise } => {
            if let Some(replay) = replay_of(gateway, caller, submission).await? {
                return Ok(Submitted::Replayed(replay));
            }
            if opted_out(gateway, caller, submission).await? {
                return Err(Refusal::RecipientOptedOut);
            }
            for ScreenMatch { rules, text } in matches {
                let screened = screened(caller, submission.to, text, &rules, from, now);
                match in_time(gateway, gateway.store.reviews().screen(screened), Unavailable::QueueFull)
                    .await?
                {
                    Screening::Passed => {}
                    Screening::Held { .. } => return Err(Refusal::HeldForReview),
                }
            }
            accept(gateway, caller, submission, otherwise?, now).await
        }
    }
}

/// Has the store accept the message in one durable step.
async fn accept(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    judged: AllowedMessage,
    now: Timestamp,
) -> Result<Submitted, Refusal> {
    let controls = caller.account().controls();
    let AllowedMessage { from, cost, parts, encoding, route, .. } = judged;
    let loss = judged.loss();
    let waited = gateway.clock.sleep(ACCEPT_WAIT_MAX);
    let outcome = gateway
        .store
        .accept_with_deadline(acceptance(gateway, caller, submission, judged, now), waited)
        .await;
    match outcome {
        Ok(AcceptOutcome::Accepted { message, alias, balance, today, watched }) => {
            let beyond = watched_daily(controls, today.messages, today.spend);
            let to = submission.to;
            let watched = watched.controls(caller.account, controls, to);
            beyond.chain(&watched).for_each(|control| gateway.watched.count(caller.account, control));
            if let Some(margin) = loss {
                gateway.losses.note(caller.account, route, margin, now);
            }
            Ok(Submitted::Accepted(Accepted { message, alias, to, from, cost, balance, parts, encoding }))
        }
        Ok(AcceptOutcome::Duplicate(replay)) => Ok(Submitted::Replayed(replay)),
        Ok(AcceptOutcome::OptedOut) => Err(Refusal::RecipientOptedOut),
        Ok(AcceptOutcome::NoAliasFree) => Err(Refusal::NoShortId { retry_after_s: NO_ALIAS_RETRY_S }),
        Ok(AcceptOutcome::OverVelocity(over)) => {
            count_refusal(over.control(controls).map_or("removed", |name| name));
            Err(Refusal::TrafficControl { retry_after_s: whole_seconds(over.wait) })
        }
        Ok(AcceptOutcome::OverDailyLimit(_)) => {
            count_refusal("daily");
            let reopens = now.day().next().start().since(now);
            Err(Refusal::TrafficControl { retry_after_s: whole_seconds(reopens) })
        }
        Ok(AcceptOutcome::InsufficientCredit { available }) => {
            gateway.credit_rejections.note(caller.account, available, now);
            Err(Refusal::InsufficientCredit { cost, available })
        }
        Err(StoreError::QueueTimeout) => Err(queue_timeout(submission)),
        Err(StoreError::OutcomeUnknown) => Ok(Submitted::Unknown),
        // The disk may be low or the queue full; an earlier acceptance of the same key is still found.
        Err(fault) => refused(gateway, caller, submission, refusal_of(&fault)).await,
    }
}

/// Looks up the customer's idempotency key. For edges that are about to reject a request with invalid fields: it may
/// repeat an accepted message. If the store cannot answer, fails with its refusal, so that an accepted message is
/// never reported as rejected.
pub async fn find_replay(
    gateway: &Gateway,
    caller: &Caller,
    key: &IdempotencyKey,
    fingerprint: u64,
) -> Result<Option<Duplicate>, Refusal> {
    let found = gateway.store.find_key(key_claim(caller, key, fingerprint));
    in_time(gateway, found, Unavailable::KeyInFlight).await
}

/// Awaits a store result, at most as long as a submission may wait. Fails with `late` after that.
pub(super) async fn in_time<T>(
    gateway: &Gateway,
    result: impl Future<Output = Result<T, StoreError>>,
    late: Unavailable,
) -> Result<T, Refusal> {
    tokio::select! {
        biased;
        result = result => result.map_err(|fault| refusal_of(&fault)),
        () = gateway.clock.sleep(ACCEPT_WAIT_MAX) => {
            Err(Refusal::GatewayUnavailable { cause: late, retry_after_s: QUEUE_TIMEOUT_RETRY_S })
        }
    }
}

/// Refuses a submission, unless its idempotency key was accepted before. An opt-out takes precedence over later checks.
async fn refused(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    refusal: Refusal,
) -> Result<Submitted, Refusal> {
    if let Some(replay) = replay_of(gateway, caller, submission).await? {
        return Ok(Submitted::Replayed(replay));
    }
    if is_checked_after_opt_out(&refusal) && opted_out(gateway, caller, submission).await? {
        return Err(Refusal::RecipientOptedOut);
    }
    Err(refusal)
}

async fn replay_of(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
) -> Result<Option<Duplicate>, Refusal> {
    let Some(key) = &submission.key else { return Ok(None) };
    find_replay(gateway, caller, key, submission.fingerprint()).await
}

pub(super) async fn opted_out(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
) -> Result<bool, Refusal> {
    let found = gateway.store.opt_outs().find(caller.account, submission.to);
    in_time(gateway, found, Unavailable::QueueFull).await.map(|entry| entry.is_some())
}

fn acceptance(
    gateway: &Gateway,
    caller: &Caller,
    submission: &Submission,
    judged: AllowedMessage,
    now: Timestamp,
) -> Acceptance {
    let charged_parts = Some(judged.parts).filter(|charged| *charged != judged.sent.parts);
    let AllowedMessage {
        from,
        text,
        sent: Measure { encoding, parts },
        cost,
        carrier,
        carrier_cost,
        route,
        choice,
        compared,
        whole,
        doubt,
        ..
    } = judged;
    let view = caller.account();
    let Daily { messages_max, spend_max } = enforced_daily(view.controls());
    Acceptance {
        account: caller.account,
        connection: caller.connection,
        carrier,
        to: submission.to,
        from,
        text,
        encoding,
        parts,
        whole,
        tlvs: submission.tlvs.clone().map(CustomerTlvs),
        options: submission.options.clone(),
        origin: submission.origin.clone(),
        reply_to: reply_to(caller, submission, from, carrier),
        cost,
        carrier_cost,
        credit_limit: view.account.credit_limit,
        minimum: view.account.minimum,
        daily: DailyLimits { messages_max, spend_max },
        velocity: velocity_limits(caller.account, view.controls(), submission.to),
        key: submission.key.as_ref().map(|key| key_claim(caller, key, submission.fingerprint())),
        doubt,
        note: SubmitNote {
            request: submission.request.clone(),
            route: Some(route),
            choice,
            compared,
            charged_parts,
        },
        validity: submission.validity.unwrap_or(gateway.validity).min(gateway.validity),
        now,
    }
}

/// Returns the number or name that replies (MO) will go to, if the setup does not say which account they are for, so that they
/// can be matched to this account. The sender is as the carrier rewrites it. A callback number counts only if the account may
/// send from it: otherwise it would receive replies to others.
fn reply_to(caller: &Caller, submission: &Submission, from: Sender, carrier: CarrierId) -> Option<Sender> {
    let catalogue = caller.catalogue();
    let seen = || {
        let profile = catalogue.carrier(carrier).map(|carrier| &carrier.profile);
        let rewriting = profile.filter(|profile| !profile.senders.is_empty());
        rewriting.map_or(from, |profile| {
            profile.sender_for(&from, Numbers::embedded().find(submission.to).country)
        })
    };
    let view = caller.account();
    let callback = submission.callback.filter(|number| view.sender_status(number) == SenderStatus::Approved);
    let number = callback.unwrap_or_else(seen);
    let is_owned = matches!(catalogue.find_owner(number.address(), ""), Some(NumberOwner::Number(_)));
    (!is_owned).then_some(number)
}

/// Makes the record of a held message for review. A retry is recognised by account, sender and text.
fn screened(
    caller: &Caller,
    to: Msisdn,
    text: String,
    rules: &[Arc<str>],
    from: Sender,
    now: Timestamp,
) -> Screened {
    Screened {
        account: caller.account,
        from,
        to,
        digest: review_digest(caller.account, from, &text),
        text,
        rules: rules.iter().map(ToString::to_string).collect(),
        now,
    }
}

/// Returns what recognises a text that was held before: account, sender and text.
pub(super) fn review_digest(account: AccountId, from: Sender, text: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(account.get().to_be_bytes());
    // An international number and a short code with the same digits are different senders.
    hash.update(if from.kind() == SenderKind::International { "+" } else { "" });
    hash.update(from.address().as_bytes());
    hash.update([0]);
    hash.update(text.as_bytes());
    first_half(hash)
}

/// Makes the store's form of an idempotency key: a digest, scoped to the account.
fn key_claim(caller: &Caller, key: &IdempotencyKey, fingerprint: u64) -> KeyClaim {
    KeyClaim { digest: key_digest(caller.account, key), fingerprint }
}

/// Returns the digest of an account's idempotency key.
pub fn key_digest(account: AccountId, key: &IdempotencyKey) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(account.get().to_be_bytes());
    hash.update(key.as_str().as_bytes());
    first_half(hash)
}

fn first_half(hash: Sha256) -> [u8; 16] {
    let whole: [u8; 32] = hash.finalize().into();
    *whole.first_chunk().expect("32 bytes have a first 16")
}

/// Rounds up to seconds, at least one: a retry after zero seconds would be rejected again.
pub(super) fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}

fn count_refusal(control: &str) {
    counter!("hermod_traffic_control_refusals_total", "control" => control.to_owned()).increment(1);
}

/// Returns the refusal for a queue timeout. An earlier request with the same key may still be in progress.
fn queue_timeout(submission: &Submission) -> Refusal {
    let cause = if submission.key.is_some() { Unavailable::KeyInFlight } else { Unavailable::QueueFull };
    Refusal::GatewayUnavailable { cause, retry_after_s: QUEUE_TIMEOUT_RETRY_S }
}

/// Returns the refusal of a part whose reference the customer used for too many texts to the same recipient.
const fn reused_reference() -> Refusal {
    let rule = "too many different parts to this recipient have it; use a new one for each message";
    Refusal::InvalidField { field: "reference", rule }
}

pub(super) fn held() -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::Held, retry_after_s: HELD_RETRY_S }
}

pub(super) fn draining() -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::Draining, retry_after_s: DRAIN_RETRY_S }
}
