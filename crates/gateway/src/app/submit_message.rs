//! Sending one message: policy, parts, route, price, then one durable step that charges, stores and queues it. Both
//! protocols come through here, and nothing is answered before the store has it on disk.

use crate::app::authenticate::Caller;
use crate::app::faults::refusal_of;
use crate::world::World;
use hermod_domain::ids::MessageId;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::refusal::{Refusal, Unavailable};
use hermod_domain::sender::{Sender, SenderRefusal};
use hermod_domain::submission::{IdempotencyKey, Submission};
use hermod_domain::text::{Encoding, Measure};
use hermod_domain::time::Timestamp;
use hermod_store::{ACCEPT_WAIT_MAX, AcceptOutcome, Acceptance, DailyLimits, KeyClaim, Replay, StoreFault};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Seconds a customer should wait while this node hands its work over.
const DRAIN_RETRY_S: u32 = 5;
/// Seconds after which it is worth trying again when the store was too busy to begin.
const WAITED_RETRY_S: u32 = 1;

/// What came of a submission that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    Accepted(Accepted),
    /// The idempotency key was used before: nothing was sent, nothing was charged.
    Replayed(Replay),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub message: MessageId,
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
    let accepting = if world.is_draining() { Err(draining()) } else { Ok(()) };
    let decided = accepting.and_then(|()| decide(caller, submission, world.validity, world.clock.now()));
    let acceptance = match decided {
        Ok(acceptance) => acceptance,
        // A retry of an accepted send must never become a refusal.
        Err(refusal) => return replay_or(world, caller, submission, refusal).await,
    };
    let Acceptance { to, from, cost, parts, encoding, now, .. } = acceptance;
    let waited = world.clock.sleep(ACCEPT_WAIT_MAX);
    match world.store.accept_unless(acceptance, waited).await {
        Ok(AcceptOutcome::Accepted { message, balance, .. }) => {
            Ok(Submitted::Accepted(Accepted { message, to, from, cost, balance, parts, encoding }))
        }
        Ok(AcceptOutcome::Replay(replay)) => Ok(Submitted::Replayed(replay)),
        Ok(AcceptOutcome::InsufficientCredit { available }) => {
            Err(Refusal::InsufficientCredit { cost, available })
        }
        Ok(AcceptOutcome::OptedOut) => Err(Refusal::RecipientOptedOut),
        Ok(AcceptOutcome::OverDailyLimit(_)) => {
            Err(Refusal::TrafficControl { retry_after_s: seconds_to_midnight(now) })
        }
        Err(StoreFault::Waited) => Err(waited_too_long(submission)),
        // The disk may be low or the queue full; what was accepted before is still known.
        Err(fault) => replay_or(world, caller, submission, refusal_of(&fault)).await,
    }
}

/// Was this key used by this customer? For edges that are about to refuse a keyed request whose fields do not even make
/// a submission: whatever its fingerprint, it is not the request the key was used for. `None` also when the store cannot
/// say: then the refusal stands.
pub async fn find_replay(
    world: &World,
    caller: &Caller,
    key: &IdempotencyKey,
    fingerprint: u64,
) -> Option<Replay> {
    world.store.find_key(key_claim(caller, key, fingerprint)).await.ok().flatten()
}

async fn replay_or(
    world: &World,
    caller: &Caller,
    submission: &Submission,
    refusal: Refusal,
) -> Result<Submitted, Refusal> {
    let Some(key) = &submission.key else { return Err(refusal) };
    match find_replay(world, caller, key, submission.fingerprint()).await {
        Some(replay) => Ok(Submitted::Replayed(replay)),
        None => Err(refusal),
    }
}

/// Everything that can be judged without the store, in the order that decides which refusal a customer sees.
fn decide(
    caller: &Caller,
    submission: &Submission,
    validity: Duration,
    now: Timestamp,
) -> Result<Acceptance, Refusal> {
    let (connection, view) = (caller.connection(), caller.account());
    let from = submission
        .from
        .or(connection.default_sender)
        .ok_or(Refusal::InvalidSender(SenderRefusal::NoDefault))?;
    let Measure { encoding, parts } = submission.text.measure();
    if let Some(parts_max) = connection.max_parts.filter(|parts_max| parts > *parts_max) {
        return Err(Refusal::TooManyParts { parts, parts_max });
    }
    if !view.account.verified {
        return Err(Refusal::VerificationRequired);
    }
    if !view.may_use(&from) {
        return Err(Refusal::SenderNotApproved(from));
    }
    let quote = view.prices().quote(submission.to, parts).ok_or(Refusal::NoPrice)?;
    let route = caller.catalogue().route(submission.to).ok_or(Refusal::NoRoute)?;
    Ok(Acceptance {
        account: caller.account,
        connection: caller.connection,
        carrier: route.first_choice(),
        to: submission.to,
        from,
        text: submission.text.clone(),
        encoding,
        parts,
        cost: quote.cost,
        credit_limit: view.account.credit_limit,
        minimum: view.account.minimum,
        daily: DailyLimits::default(),
        key: submission.key.as_ref().map(|key| key_claim(caller, key, submission.fingerprint())),
        doubt: route.doubt(),
        validity,
        now,
    })
}

/// Keys are the customer's own words and may be long; the store keeps a digest, scoped to the account.
fn key_claim(caller: &Caller, key: &IdempotencyKey, fingerprint: u64) -> KeyClaim {
    let mut hash = Sha256::new();
    hash.update(caller.account.get().to_be_bytes());
    hash.update(key.as_str().as_bytes());
    let whole: [u8; 32] = hash.finalize().into();
    let digest = *whole.first_chunk().expect("32 bytes have a first 16");
    KeyClaim { digest, fingerprint }
}

/// Days are UTC. Never zero: a retry at once would be refused again.
fn seconds_to_midnight(now: Timestamp) -> u32 {
    let left = now.day().next().start().since(now);
    u32::try_from(left.as_millis().div_ceil(1_000)).expect("less than a day is left of it")
}

/// The writer did not come to it, so whatever came first with the same key is not through either.
fn waited_too_long(submission: &Submission) -> Refusal {
    let cause = if submission.key.is_some() { Unavailable::KeyInFlight } else { Unavailable::QueueFull };
    Refusal::GatewayUnavailable { cause, retry_after_s: WAITED_RETRY_S }
}

fn draining() -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::Draining, retry_after_s: DRAIN_RETRY_S }
}
