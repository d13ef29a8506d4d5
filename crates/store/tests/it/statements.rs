//! Statements: opening balance plus movements is the closing balance, and each day opens with the closing of the day before.

use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_store::{
    Acceptance, Balance, DAYS_PER_READ_MAX, LedgerKind, STATEMENT_ENTRIES_MAX, Statement, StatementLine,
};

const DAY_S: u64 = 86_400;

fn day(offset: i64) -> Day {
    Day::new(noon().day().get() + offset)
}

fn micros(balance: Balance) -> (i64, i64) {
    (balance.balance.as_micros(), balance.credit_used.as_micros())
}

async fn read(world: &World, account: AccountId, from: i64, to: i64) -> Statement {
    let statement = world.store.money().statement(account, day(from), day(to)).await.expect("a statement");
    let added = statement
        .lines
        .iter()
        .try_fold(statement.opening, |sum, line| sum.checked_add(line.change()))
        .expect("small figures");
    assert_eq!(added, statement.closing);
    statement
}

/// Returns a store with four days of a postpaid account.
async fn four_days() -> World {
    let mut world = World::with_credit(0).await;
    let credit_limit = Money::from_micros(100 * PRICE);
    for sent in [2, 0, 3, 1] {
        for _ in 0..sent {
            world.send(Acceptance { credit_limit, ..world.sms() }).await;
        }
        // Another account, which is not in the statements.
        world.pay_in(BOB, 7).await;
        world.now = world.now.plus(secs(DAY_S));
    }
    world.now = noon().plus(secs(DAY_S));
    world.post(world.entry(ALICE, LedgerKind::Invoice, 2 * PRICE)).await;
    world.now = noon().plus(secs(2 * DAY_S));
    world.post(world.entry(ALICE, LedgerKind::Payment, 3 * PRICE)).await;
    // Posted last, for an earlier time.
    world.now = noon().plus(secs(2 * DAY_S - 60));
    world.post(world.entry(ALICE, LedgerKind::Adjustment, -5)).await;
    world.now = noon().plus(secs(4 * DAY_S));
    world
}

fn lines(statement: &Statement) -> Vec<String> {
    let line = |line: &StatementLine| match line {
        StatementLine::Entry(row) => {
            format!(
                "{} {:?} {} {}",
                row.at.day(),
                row.kind,
                row.balance.as_micros(),
                row.credit_used.as_micros()
            )
        }
        StatementLine::Charges(totals) => {
            format!("{} charges {} for {}", totals.day, totals.spend.as_micros(), totals.messages)
        }
    };
    statement.lines.iter().map(line).collect()
}

#[tokio::test]
async fn statement_lists_every_movement_in_order() {
    let world = four_days().await;
    let whole = read(&world, ALICE, -10, 10).await;
    assert_eq!(
        lines(&whole),
        [
            "2026-11-14 charges 130000 for 2",
            "2026-11-15 Invoice 130000 130000",
            "2026-11-16 Adjustment -5 0",
            "2026-11-16 Payment 65000 -130000",
            "2026-11-16 charges 195000 for 3",
            "2026-11-17 charges 65000 for 1",
        ]
    );
    assert_eq!((micros(whole.opening), whole.cut_off), ((0, 0), false));
    assert_eq!(whole.closing, world.store.money().balance(ALICE).await.unwrap());
    world.assert_audit_clean();
}

#[tokio::test]
async fn each_day_opens_with_the_closing_balance_of_the_day_before() {
    let world = four_days().await;
    let figures = [
        // (first day, last day, opening, closing): balance and credit used
        (0, 0, (0, 0), (-2 * PRICE, 0)),
        (1, 1, (-2 * PRICE, 0), (0, 2 * PRICE)),
        (2, 2, (0, 2 * PRICE), (-2 * PRICE - 5, 0)),
        (3, 3, (-2 * PRICE - 5, 0), (-3 * PRICE - 5, 0)),
        (1, 2, (-2 * PRICE, 0), (-2 * PRICE - 5, 0)),
        (-5, -1, (0, 0), (0, 0)),
        (4, 9, (-3 * PRICE - 5, 0), (-3 * PRICE - 5, 0)),
        (2, 1, (0, 2 * PRICE), (0, 2 * PRICE)),
    ];
    for (from, to, opening, closing) in figures {
        let statement = read(&world, ALICE, from, to).await;
        assert_eq!(
            (micros(statement.opening), micros(statement.closing)),
            (opening, closing),
            "{from} to {to}"
        );
    }
    assert_eq!(micros(read(&world, AccountId::new(99), 0, 9).await.closing), (0, 0));
}

#[tokio::test]
async fn statement_is_cut_at_a_year_and_at_ten_thousand_entries_and_still_adds_up() {
    let world = four_days().await;
    let year = read(&world, ALICE, 0, DAYS_PER_READ_MAX - 1).await;
    assert!(!year.cut_off);
    let more = read(&world, ALICE, 3 - DAYS_PER_READ_MAX, 3).await;
    assert!(more.cut_off, "the period is a day too long");
    assert_eq!((lines(&more).len(), micros(more.closing)), (5, (-2 * PRICE - 5, 0)));

    let many = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {STATEMENT_ENTRIES_MAX})
         INSERT INTO ledger (id, account, at, kind, balance, credit_used, note)
             SELECT (SELECT max(id) FROM ledger) + n, 1, {}, 1, 1, 0, '' FROM n",
        noon().plus(secs(3 * DAY_S)).as_millis()
    );
    world.raw().change(&many);
    let raised = format!("UPDATE balance SET balance = balance + {STATEMENT_ENTRIES_MAX} WHERE account = 1");
    world.raw().change(&raised);
    let long = read(&world, ALICE, 0, 3).await;
    // All new entries except three, without the charges of their day.
    assert_eq!((long.cut_off, long.lines.len()), (true, STATEMENT_ENTRIES_MAX + 2));
    assert_eq!(micros(long.opening), (0, 0));
    let fits = read(&world, ALICE, 3, 3).await;
    assert_eq!((fits.cut_off, fits.lines.len()), (false, STATEMENT_ENTRIES_MAX + 1));
    assert_eq!(fits.closing, world.store.money().balance(ALICE).await.unwrap_or_default());
}
