//! Opt-outs and daily limits: checked and counted in the transaction of the acceptance.

use crate::accept::accept_concurrently;
use crate::world::*;
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use hermod_domain::traffic::{Control, Mode, TrafficRule, velocity_limits};
use hermod_store::{AcceptOutcome, Acceptance, DailyLimit, DailyLimits, DayTotals, Duplicate, OptOut};

const DAY_S: u64 = 86_400;

fn number(last: u64) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + last).expect("a number")
}

fn opt_out(world: &World, number: Msisdn) -> OptOut {
    OptOut::by_keyword(ALICE, number, world.now)
}

const fn messages(messages_max: u64) -> DailyLimits {
    DailyLimits { messages_max: Some(messages_max), spend_max: None }
}

const fn spend(micros: i64) -> DailyLimits {
    DailyLimits { messages_max: None, spend_max: Some(Money::from_micros(micros)) }
}

const fn totals(day: Day, messages: u64) -> DayTotals {
    DayTotals { day, messages, spend: Money::from_micros(PRICE * messages.cast_signed()) }
}

#[tokio::test]
async fn message_to_an_opted_out_recipient_is_refused_until_the_recipient_opts_in() {
    let mut world = World::new().await;
    world.pay_in(BOB, PRICE).await;
    let to = number(1);
    let sms = |world: &World| Acceptance { to, ..world.sms() };
    world.send(sms(&world)).await;
    assert!(world.store.opt_outs().add(opt_out(&world, to)).await.unwrap());
    let later = OptOut { how: "again".to_owned(), ..opt_out(&world, to) };
    assert!(!world.store.opt_outs().add(later).await.unwrap(), "not new");
    for _ in 0..2 {
        assert_eq!(world.store.accept(sms(&world)).await.unwrap(), AcceptOutcome::OptedOut);
        assert_eq!(
            world.store.opt_outs().find(ALICE, to).await.unwrap(),
            Some(opt_out(&world, to)),
            "the first opt-out entry stays"
        );
        world.restart().await;
    }
    world.send(Acceptance { to: number(2), ..world.sms() }).await;
    world.send(Acceptance { account: BOB, ..sms(&world) }).await;
    assert_eq!(world.store.opt_outs().find(BOB, to).await.unwrap(), None);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 2 * PRICE, "a refusal is not charged");

    assert!(world.store.opt_outs().remove(ALICE, to).await.unwrap());
    assert!(!world.store.opt_outs().remove(ALICE, to).await.unwrap());
    world.send(sms(&world)).await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn opt_outs_are_listed_by_number_in_pages() {
    let world = World::new().await;
    for last in [5, 1, 4, 2, 3] {
        world.store.opt_outs().add(opt_out(&world, number(last))).await.unwrap();
        let bobs = OptOut { account: BOB, ..opt_out(&world, number(last + 100)) };
        world.store.opt_outs().add(bobs).await.unwrap();
    }
    let mut listed = Vec::new();
    while let page = world.store.opt_outs().list(ALICE, listed.last().copied(), 2).await.unwrap()
        && !page.is_empty()
    {
        listed.extend(page.iter().map(|entry| entry.number));
    }
    assert_eq!(listed, (1..=5).map(number).collect::<Vec<_>>());
}

#[tokio::test]
async fn replay_precedes_opt_out_limit_and_balance_checks_in_that_order() {
    let world = World::with_credit(PRICE).await;
    let sms = |number| Acceptance { key: Some(key(number)), daily: messages(1), ..world.sms() };
    let message = world.send(sms(1)).await;
    // One more message exceeds every limit. The order of the checks decides which one is returned.
    let insufficient = AcceptOutcome::InsufficientCredit { available: Money::ZERO };
    let relaxed = Acceptance { daily: DailyLimits::default(), ..sms(2) };
    assert_eq!(world.store.accept(relaxed).await.unwrap(), insufficient);
    assert_eq!(
        world.store.accept(sms(2)).await.unwrap(),
        AcceptOutcome::OverDailyLimit(DailyLimit::Messages)
    );
    world.store.opt_outs().add(opt_out(&world, world.sms().to)).await.unwrap();
    assert_eq!(world.store.accept(sms(2)).await.unwrap(), AcceptOutcome::OptedOut);
    let replay = AcceptOutcome::Duplicate(Duplicate { message, is_same_request: true });
    assert_eq!(world.store.accept(sms(1)).await.unwrap(), replay);
    assert_eq!(world.store.find_key(key(2)).await.unwrap(), None, "a refusal does not bind the key");
    world.assert_audit_clean();
}

#[tokio::test]
async fn two_hundred_concurrent_messages_against_a_daily_limit_of_ten_accept_exactly_ten() {
    let cost_of_ten = 10 * PRICE;
    for (daily, limit) in [(messages(10), DailyLimit::Messages), (spend(cost_of_ten), DailyLimit::Spend)] {
        let world = World::new().await;
        let outcomes = accept_concurrently(&world, vec![Acceptance { daily, ..world.sms() }; 200]).await;
        let over = AcceptOutcome::OverDailyLimit(limit);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == over).count(), 190);
        let mut counts: Vec<u64> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                AcceptOutcome::Accepted { today, .. } => Some(today.messages),
                _ => None,
            })
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, (1..=10).collect::<Vec<_>>(), "each outcome counts its own message");
        assert_eq!(world.balance(ALICE).await, 1_000_000_000 - cost_of_ten);
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn message_that_another_check_refuses_does_not_count_towards_velocity() {
    let world = World::with_credit(PRICE).await;
    let rules = [
        ("enforced", Mode::Enforce, TrafficRule::PerRecipient { most: 2, per_ms: 60_000 }),
        ("watching", Mode::Watch, TrafficRule::PerRecipient { most: 1, per_ms: 60_000 }),
    ];
    let controls = rules.map(|(name, mode, rule)| Control::new(name, mode, rule));
    let to = world.sms().to;
    let sms = || Acceptance { velocity: velocity_limits(ALICE, &controls, to), ..world.sms() };
    let watched = |outcome| match outcome {
        AcceptOutcome::Accepted { watched, .. } => watched.controls(ALICE, &controls, to).join(" "),
        other => panic!("not accepted: {other:?}"),
    };
    assert_eq!(watched(world.store.accept(sms()).await.unwrap()), "");
    let insufficient = AcceptOutcome::InsufficientCredit { available: Money::ZERO };
    for _ in 0..3 {
        assert_eq!(world.store.accept(sms()).await.unwrap(), insufficient);
    }
    top_up(&world.store, 1_000_000).await;
    assert_eq!(watched(world.store.accept(sms()).await.unwrap()), "watching");
    let over = world.store.accept(Acceptance { daily: messages(0), ..sms() }).await.unwrap();
    let AcceptOutcome::OverVelocity(over) = over else { panic!("{over:?}") };
    assert_eq!(over.control(&controls).map(|name| &**name), Some("enforced"));
    assert_eq!(over.wait, secs(30));
    world.assert_audit_clean();
}

#[tokio::test]
async fn daily_totals_begin_anew_at_midnight_utc_and_survive_a_restart() {
    let mut world = World::new().await;
    let day = world.now.day();
    let sms = |world: &World| Acceptance { daily: messages(2), ..world.sms() };
    let over = AcceptOutcome::OverDailyLimit(DailyLimit::Messages);
    // After a restart ids are a millisecond ahead of the clock.
    world.now = day.next().start().minus(secs(1));
    world.send(sms(&world)).await;
    world.restart().await;
    world.send(sms(&world)).await;
    world.restart().await;
    assert_eq!(world.store.accept(sms(&world)).await.unwrap(), over);
    world.now = day.next().start();
    for _ in 0..2 {
        world.send(sms(&world)).await;
    }
    assert_eq!(world.store.accept(sms(&world)).await.unwrap(), over);
    world.now = world.now.plus(secs(2 * DAY_S));
    // A message without a limit is counted too.
    world.send(world.sms()).await;
    let (tuesday, friday) = (day.next(), world.now.day());
    let expected = vec![totals(day, 2), totals(tuesday, 2), totals(friday, 1)];
    assert_eq!(world.store.money().day_totals(ALICE, day, friday).await.unwrap(), expected);
    assert_eq!(world.store.money().day_totals(ALICE, tuesday, tuesday).await.unwrap(), expected[1..2]);
    assert_eq!(world.store.money().day_totals(BOB, day, friday).await.unwrap(), []);
    world.assert_audit_clean();
}

#[tokio::test]
async fn clock_set_back_by_a_day_keeps_counting_in_the_later_day() {
    let mut world = World::new().await;
    let sms = |world: &World| Acceptance { daily: messages(1), ..world.sms() };
    world.send(sms(&world)).await;
    world.now = world.now.minus(secs(DAY_S));
    for _ in 0..2 {
        // Its id is of the later day, so it counts there.
        let over = AcceptOutcome::OverDailyLimit(DailyLimit::Messages);
        assert_eq!(world.store.accept(sms(&world)).await.unwrap(), over);
        world.restart().await;
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn refund_does_not_reduce_the_daily_totals() {
    let mut world = World::new().await;
    let day = world.now.day();
    world.send(Acceptance { validity: secs(60), ..world.sms() }).await;
    world.now = world.now.plus(secs(60));
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(world.balance(ALICE).await, 1_000_000_000, "refunded");
    assert_eq!(world.store.money().day_totals(ALICE, day, day).await.unwrap(), [totals(day, 1)]);
    let again = world.store.accept(Acceptance { daily: messages(1), ..world.sms() }).await.unwrap();
    assert_eq!(again, AcceptOutcome::OverDailyLimit(DailyLimit::Messages));
    world.assert_audit_clean();
}

#[tokio::test]
async fn batch_over_midnight_counts_in_both_days() {
    let world = World::new().await;
    let (day, midnight) = (world.now.day(), world.now.day().next().start());
    let before = Acceptance { now: midnight.minus(secs(1)), ..world.sms() };
    let after = Acceptance { now: midnight, ..world.sms() };
    let outcomes = accept_concurrently(&world, [vec![before; 100], vec![after; 100]].concat()).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, AcceptOutcome::Accepted { .. })));
    let counted = world.store.money().day_totals(ALICE, day, day.next()).await.unwrap();
    assert_eq!(counted.iter().map(|totals| totals.messages).sum::<u64>(), 200, "{counted:?}");
    world.assert_audit_clean();
}
