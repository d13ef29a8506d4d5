//! Sending one message: policy, parts, route, price, then one durable step that charges, stores and queues it. Both
//! protocols come through here, and nothing is answered before the store has it on disk.

use crate::app::authenticate::Caller;
use crate::app::store_errors::refusal_of;
use crate::world::World;
use hermod_domain::catalogue::{Claim, SenderStanding};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::origin::Alias;
use hermod_domain::phone::Msisdn;
use hermod_domain::policy::{Judged, Judgement, gives_way_to_opt_out, judge};
use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::submission::{IdempotencyKey, Submission};
use hermod_domain::text::{Encoding, Measure};
use hermod_domain::time::Timestamp;
use hermod_domain::traffic::{Admitted, Daily, enforced_daily, watched_daily};
use hermod_store::{
    ACCEPT_WAIT_MAX, AcceptOutcome, Acceptance, CustomerTlvs, DailyLimits, Duplicate, KeyClaim, Screened,
    Screening, StoreError,
};
use metrics::counter;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// Seconds a customer should wait while this node hands its work over.
const DRAIN_RETRY_S: u32 = 5;
/// Seconds after which it is worth trying again when the store was too busy to begin.
const WAITED_RETRY_S: u32 = 1;

/// Seconds after which a short id may be free again: they come back with the messages that end.
const NO_ALIAS_RETRY_S: u32 = 60;

/// What came of a submission that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    Accepted(Accepted),
    /// The idempotency key was used before: nothing was sent, nothing was charged.
    Replayed(Duplicate),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub message: MessageId,
    /// Its name where ids must be short.
    pub alias: Option<Alias>,
    pub to: Msisdn,
    pub from: Sender,
    pub cost: Money,
    /// Right after this message's own charge.
    pub balance: Money,
    pub parts: u8,
    pub encoding: Encoding,
}

pub async fn submit_message(
    world: &World,
    caller: &Caller,
    submission: &Submission,
) -> Result<Submitted, Refusal> {
    if world.is_draining() {
        return refused(world, caller, submission, draining()).await;
    }
    let now = world.clock.now();
    let health = |carrier| world.carriers.health(carrier);
    match judge(caller.catalogue(), caller.account(), caller.connection(), submission, now, &health) {
        Judgement::Fine(judged) => accept(world, caller, submission, judged, now).await,
        Judgement::Refused(refusal) => refused(world, caller, submission, refusal).await,
        Judgement::Screened { rules, from, otherwise } => {
            if let Some(replay) = replay_of(world, caller, submission).await? {
                return Ok(Submitted::Replayed(replay));
            }
            if opted_out(world, caller, submission).await? {
                return Err(Refusal::RecipientOptedOut);
            }
            let screened = screened(caller, submission, &rules, from, now);
            match in_time(world, world.store.screen(screened), Unavailable::QueueFull).await? {
                Screening::Passed => accept(world, caller, submission, otherwise?, now).await,
                Screening::Held { .. } => Err(Refusal::HeldForReview),
            }
        }
    }
}

/// Counts the message towards the account's controls, and has the store settle the rest in one durable step.
async fn accept(
    world: &World,
    caller: &Caller,
    submission: &Submission,
    judged: Judged,
    now: Timestamp,
) -> Result<Submitted, Refusal> {
    let controls = caller.account().controls();
    let Admitted { refused: over, watched } = world.admit_traffic(caller.account, controls, submission.to);
    if let Some((control, wait)) = over {
        count_refusal(&control);
        let refusal = Refusal::TrafficControl { retry_after_s: whole_seconds(wait) };
        return refused(world, caller, submission, refusal).await;
    }
    let Judged { from, cost, parts, encoding, .. } = judged;
    let waited = world.clock.sleep(ACCEPT_WAIT_MAX);
    let outcome =
        world.store.accept_with_deadline(acceptance(world, caller, submission, judged, now), waited).await;
    if !matches!(outcome, Ok(AcceptOutcome::Accepted { .. })) {
        world.give_traffic_back(caller.account, controls, submission.to, &watched);
    }
    match outcome {
        Ok(AcceptOutcome::Accepted { message, alias, balance, today }) => {
            let beyond = watched_daily(controls, today.messages, today.spend);
            beyond.chain(&watched).for_each(|control| world.would_have_refused(caller.account, control));
            let to = submission.to;
            Ok(Submitted::Accepted(Accepted { message, alias, to, from, cost, balance, parts, encoding }))
        }
        Ok(AcceptOutcome::Duplicate(replay)) => Ok(Submitted::Replayed(replay)),
        Ok(AcceptOutcome::OptedOut) => Err(Refusal::RecipientOptedOut),
        Ok(AcceptOutcome::NoAliasFree) => {
            let cause = Unavailable::QueueFull;
            Err(Refusal::GatewayUnavailable { cause, retry_after_s: NO_ALIAS_RETRY_S })
        }
        Ok(AcceptOutcome::OverDailyLimit(_)) => {
            count_refusal("daily");
            let reopens = now.day().next().start().since(now);
            Err(Refusal::TrafficControl { retry_after_s: whole_seconds(reopens) })
        }
        Ok(AcceptOutcome::InsufficientCredit { available }) => {
            Err(Refusal::InsufficientCredit { cost, available })
        }
        Err(StoreError::QueueTimeout) => Err(waited_too_long(submission)),
        // The disk may be low or the queue full; what was accepted before is still known.
        Err(fault) => refused(world, caller, submission, refusal_of(&fault)).await,
    }
}

/// Was this key used by this customer? For edges that are about to refuse a keyed request whose fields do not even make
/// a submission: whatever its fingerprint, it is not the request the key was used for. When the store cannot say, that is
/// the answer: a refusal that stood would tell the sender of an accepted message that there is none.
pub async fn find_replay(
    world: &World,
    caller: &Caller,
    key: &IdempotencyKey,
    fingerprint: u64,
) -> Result<Option<Duplicate>, Refusal> {
    let found = world.store.find_key(key_claim(caller, key, fingerprint));
    in_time(world, found, Unavailable::KeyInFlight).await
}

/// What the store says, if it says it before whoever asks has waited as long as a submission may wait.
async fn in_time<T>(
    world: &World,
    asked: impl Future<Output = Result<T, StoreError>>,
    late: Unavailable,
) -> Result<T, Refusal> {
    tokio::select! {
        biased;
        told = asked => told.map_err(|fault| refusal_of(&fault)),
        () = world.clock.sleep(ACCEPT_WAIT_MAX) => {
            Err(Refusal::GatewayUnavailable { cause: late, retry_after_s: WAITED_RETRY_S })
        }
    }
}

/// A retry of an accepted send never becomes a refusal, and an opt-out goes before whatever stands after it.
async fn refused(
    world: &World,
    caller: &Caller,
    submission: &Submission,
    refusal: Refusal,
) -> Result<Submitted, Refusal> {
    if let Some(replay) = replay_of(world, caller, submission).await? {
        return Ok(Submitted::Replayed(replay));
    }
    if gives_way_to_opt_out(&refusal) && opted_out(world, caller, submission).await? {
        return Err(Refusal::RecipientOptedOut);
    }
    Err(refusal)
}

async fn replay_of(
    world: &World,
    caller: &Caller,
    submission: &Submission,
) -> Result<Option<Duplicate>, Refusal> {
    let Some(key) = &submission.key else { return Ok(None) };
    find_replay(world, caller, key, submission.fingerprint()).await
}

async fn opted_out(world: &World, caller: &Caller, submission: &Submission) -> Result<bool, Refusal> {
    let found = world.store.opted_out(caller.account, submission.to);
    in_time(world, found, Unavailable::QueueFull).await.map(|entry| entry.is_some())
}

fn acceptance(
    world: &World,
    caller: &Caller,
    submission: &Submission,
    judged: Judged,
    now: Timestamp,
) -> Acceptance {
    let Judged { from, text, sent: Measure { encoding, parts }, cost, carrier, whole, doubt, .. } = judged;
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
        shape: submission.shape.clone(),
        origin: submission.origin.clone(),
        reply_to: reply_to(caller, submission, from, carrier),
        cost,
        credit_limit: view.account.credit_limit,
        minimum: view.account.minimum,
        daily: DailyLimits { messages_max, spend_max },
        key: submission.key.as_ref().map(|key| key_claim(caller, key, submission.fingerprint())),
        doubt,
        validity: submission.validity.unwrap_or(world.validity).min(world.validity),
        now,
    }
}

/// Where an answer will come to, if this message may have to say whose it is: to a number that no account owns alone.
/// Nobody answers to a name. The carrier may have to write the sender differently, and answers go to what handsets see. A
/// number to call back counts only where the account may send from it: else it would take what is said to others.
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
    let callback = submission.callback.filter(|number| view.standing_of(number) == SenderStanding::Approved);
    let number = callback.unwrap_or_else(seen);
    let is_number = number.kind() != SenderKind::Alphanumeric;
    let is_owned = is_number && matches!(catalogue.claim(number.address(), ""), Some(Claim::Number(_)));
    (is_number && !is_owned).then_some(number)
}

/// What is kept of a held message, so that a person can look at it. Its own retry is known by account, sender and text.
fn screened(
    caller: &Caller,
    submission: &Submission,
    rules: &[Arc<str>],
    from: Sender,
    now: Timestamp,
) -> Screened {
    let mut hash = Sha256::new();
    hash.update(caller.account.get().to_be_bytes());
    // A number in international form and the short code of the same digits are two senders.
    hash.update(if from.kind() == SenderKind::International { "+" } else { "" });
    hash.update(from.address().as_bytes());
    hash.update([0]);
    hash.update(submission.text.as_str().as_bytes());
    Screened {
        account: caller.account,
        from,
        to: submission.to,
        text: submission.text.as_str().to_owned(),
        digest: first_half(hash),
        rules: rules.iter().map(ToString::to_string).collect(),
        now,
    }
}

/// Keys are the customer's own words and may be long; the store keeps a digest, scoped to the account.
fn key_claim(caller: &Caller, key: &IdempotencyKey, fingerprint: u64) -> KeyClaim {
    let mut hash = Sha256::new();
    hash.update(caller.account.get().to_be_bytes());
    hash.update(key.as_str().as_bytes());
    KeyClaim { digest: first_half(hash), fingerprint }
}

fn first_half(hash: Sha256) -> [u8; 16] {
    let whole: [u8; 32] = hash.finalize().into();
    *whole.first_chunk().expect("32 bytes have a first 16")
}

/// Never less than a second: who is told to come back at once would be refused again.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}

fn count_refusal(control: &str) {
    counter!("hermod_traffic_control_refusals_total", "control" => control.to_owned()).increment(1);
}

/// The writer did not come to it, so whatever came first with the same key is not through either.
fn waited_too_long(submission: &Submission) -> Refusal {
    let cause = if submission.key.is_some() { Unavailable::KeyInFlight } else { Unavailable::QueueFull };
    Refusal::GatewayUnavailable { cause, retry_after_s: WAITED_RETRY_S }
}

fn draining() -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::Draining, retry_after_s: DRAIN_RETRY_S }
}
