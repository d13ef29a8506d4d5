//! The past of the showcase accounts: more by day than by night, with failures, replies and opt-outs.

use super::super::history::{DemoMessage, DemoOutcome, DemoReply, DemoTraffic, Timestamp};
use super::content::{self, DemoRandom, ShopCountry};
use super::{SHOP, ShowcaseAccount, TAXI};
use std::time::Duration;

/// Three days.
pub(super) const LENGTH: Duration = Duration::from_secs(72 * 3600);
/// Nothing is younger, so that every receipt is in the past.
const YOUNGEST: Duration = Duration::from_secs(6 * 60);
const HOUR: Duration = Duration::from_secs(3600);
const SEED: u64 = 17;

/// Messages of the shop in each hour of the day (UTC).
const SHOP_HOURS: [u64; 24] =
    [2, 1, 1, 1, 2, 5, 9, 14, 20, 24, 26, 27, 25, 23, 22, 24, 27, 30, 28, 24, 18, 12, 7, 4];
/// Messages of the taxi service.
const TAXI_HOURS: [u64; 24] = [9, 7, 5, 3, 2, 2, 4, 7, 8, 6, 5, 5, 6, 5, 5, 6, 7, 9, 9, 8, 8, 9, 10, 10];

/// Returns the traffic before and after `since` ago.
pub(super) fn make(now: Timestamp, since: Duration) -> (DemoTraffic, DemoTraffic) {
    let mut random = DemoRandom::seeded(SEED);
    let mut traffic = DemoTraffic::default();
    for hour in 1..=72 {
        let start = now.minus(HOUR * hour);
        let (_, (of_day, ..)) = start.to_utc();
        let of_day = usize::try_from(of_day).unwrap_or_default();
        for (account, hours) in [(SHOP, SHOP_HOURS), (TAXI, TAXI_HOURS)] {
            for _ in 0..random.between(hours[of_day] * 7 / 10, hours[of_day] * 13 / 10) {
                let at = start.plus(Duration::from_millis(random.below(3_600_000)));
                if now.since(at) > YOUNGEST {
                    add(&mut traffic, account, at, now, &mut random);
                }
            }
        }
    }
    traffic.messages.push(held(now.minus(HOUR * 2)));
    split(traffic, now.minus(since))
}

fn split(traffic: DemoTraffic, at: Timestamp) -> (DemoTraffic, DemoTraffic) {
    let DemoTraffic { messages, replies } = traffic;
    let (early, late) = messages.into_iter().partition(|message| message.at < at);
    let (replied_early, replied_late) = replies.into_iter().partition(|reply| reply.at < at);
    (
        DemoTraffic { messages: early, replies: replied_early },
        DemoTraffic { messages: late, replies: replied_late },
    )
}

/// Adds a message, and perhaps a reply to it.
fn add(
    traffic: &mut DemoTraffic,
    account: ShowcaseAccount,
    at: Timestamp,
    now: Timestamp,
    random: &mut DemoRandom,
) {
    let mut message = message(account, at, random);
    let replied_at = at.plus(Duration::from_secs(random.between(60, 900)));
    if random.happens(30) && now.since(replied_at) > Duration::ZERO {
        let text = if random.happens(170) { "STOP" } else { random.pick(&content::REPLIES) };
        // People reply to a number, not to a name.
        message.from = Some(account.number.to_owned());
        let (from, to) = (message.to.clone(), account.number.to_owned());
        traffic.replies.push(DemoReply { at: replied_at, from, to, text: text.to_owned() });
    }
    let outcome = outcome(now.since(at), random);
    traffic.messages.push(DemoMessage { outcome, ..message });
}

/// Returns a message that is delivered at once.
pub(super) fn message(account: ShowcaseAccount, at: Timestamp, random: &mut DemoRandom) -> DemoMessage {
    let (to, text) = if account.key == SHOP.key {
        let country = content::any_country(random);
        (country.number(random), content::shop_text(country, random))
    } else {
        let country = ShopCountry::by_code(if random.happens(800) { "GB" } else { "NL" });
        (country.number(random), content::taxi_text(random))
    };
    let outcome = DemoOutcome::Delivered { after: Duration::ZERO };
    DemoMessage { at, key: account.key.to_owned(), from: None, to, text, outcome }
}

fn outcome(age: Duration, random: &mut DemoRandom) -> DemoOutcome {
    /// Networks give up after this time.
    const EXPIRY: Duration = Duration::from_secs(4 * 3600);
    let seconds = |random: &mut DemoRandom, from: u64, to: u64| {
        Duration::from_millis(random.between(from * 1_000, to * 1_000))
    };
    match random.below(1_000) {
        0..820 => DemoOutcome::Delivered { after: seconds(random, 1, 7) },
        820..925 => DemoOutcome::Delivered { after: seconds(random, 7, 25) },
        925..945 => DemoOutcome::Delivered { after: seconds(random, 25, 240) },
        945..968 => DemoOutcome::Undeliverable { after: seconds(random, 2, 30), err: 27 },
        968..980 => DemoOutcome::Undeliverable { after: seconds(random, 2, 30), err: 1 },
        980..990 if age > EXPIRY + HOUR => DemoOutcome::Expired { after: EXPIRY, err: 6 },
        // ESME_RINVDSTADR.
        990..996 => DemoOutcome::Rejected { status: 0x0b },
        _ => DemoOutcome::Undeliverable { after: seconds(random, 2, 30), err: 13 },
    }
}

/// A message that a screening rule holds.
fn held(at: Timestamp) -> DemoMessage {
    DemoMessage {
        at,
        key: SHOP.key.to_owned(),
        from: None,
        to: ShopCountry::by_code("DE").number(&mut DemoRandom::seeded(SEED)),
        text: "Aurora says thank you! Your free voucher code is SUMMER-25, valid until Sunday.".to_owned(),
        outcome: DemoOutcome::Delivered { after: Duration::ZERO },
    }
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
