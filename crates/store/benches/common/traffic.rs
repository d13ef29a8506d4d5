//! The messages of a benchmark and the balance that pays for them.

use crate::setup::wall_clock;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::{AMOUNT_MAX, Money};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_store::SubmitNote;
use hermod_store::{Acceptance, DailyLimits, KeyClaim, LedgerEntry, LedgerKind, PostOutcome, Store};
use std::time::Duration;

/// Posts the largest amount to an account.
pub(crate) async fn pay_in(store: &Store, account: AccountId) {
    let (kind, note, now) = (LedgerKind::TopUp, String::new(), wall_clock());
    let entry = LedgerEntry { account, kind, amount: AMOUNT_MAX, note, reference: None, now };
    let outcome = store.money().post(entry).await.expect("the store answers");
    assert!(matches!(outcome, PostOutcome::Posted { .. }), "{outcome:?}");
}

/// Returns the idempotency key with this number.
fn claim(number: u64) -> KeyClaim {
    let mixed = mix(number);
    let mut digest = [0; 16];
    digest[..8].copy_from_slice(&mixed.to_be_bytes());
    digest[8..].copy_from_slice(&mixed.rotate_left(17).to_be_bytes());
    KeyClaim { digest, fingerprint: mixed }
}

fn mix(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns a message of one part with an idempotency key.
pub(crate) fn submission(account: AccountId, number: u64) -> Acceptance {
    Acceptance {
        account,
        connection: ConnectionId::new(1),
        carrier: CarrierId::new(1),
        to: Msisdn::from_number(4_915_100_000_000 + mix(number) % 100_000_000).expect("a number"),
        from: Sender::parse("Hermod").expect("a sender"),
        text: MessageText::parse("Your code is 123456. It is valid for ten minutes; do not share it.")
            .expect("a text"),
        encoding: Encoding::Gsm7,
        parts: 1,
        whole: false,
        tlvs: None,
        options: None,
        origin: None,
        reply_to: None,
        cost: Money::from_micros(65_000),
        carrier_cost: None,
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits::default(),
        velocity: Vec::new(),
        key: Some(claim(number)),
        doubt: DoubtPolicy::Resend,
        note: SubmitNote::default(),
        validity: Duration::from_secs(72 * 3600),
        now: wall_clock(),
    }
}
