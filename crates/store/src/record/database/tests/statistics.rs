//! Compares statistics with sums over all messages.

use super::{DAY, Filled, account, messages, noon};
use crate::error::StoreError;
use crate::record::database::statistics::{Currencies, of_accounts, statistics, statistics_by_currency};
use crate::record::{
    CostSum, Dimension, Figures, FilledMessage, Resolution, STATISTICS_ROWS_MAX, Scope, StatisticRow,
    StatisticsQuery, Value,
};
use hermod_domain::ids::AccountId;
use hermod_domain::money::{Currency, Money};
use hermod_domain::numbers::{Destination, Numbers};
use hermod_domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

fn query(resolution: Resolution, by: Dimension, value: Option<Value>, days: u32) -> StatisticsQuery {
    let until = noon().plus(DAY);
    StatisticsQuery { resolution, by, value, from: noon().minus(DAY * days), until }
}

fn read(filled: &Filled, scope: Scope, query: &StatisticsQuery) -> Vec<StatisticRow> {
    let (connection, collected) = filled.reader();
    statistics(&connection, &collected, scope, query).unwrap()
}

fn value_of(filled: &FilledMessage, by: Dimension) -> Value {
    let message = &filled.message;
    let found = message.to.map_or(Destination::UNKNOWN, |to| Numbers::embedded().find(to));
    let text = |text: Option<String>| text.map_or(Value::None, |text| Value::Text(text.into()));
    match by {
        Dimension::All => Value::None,
        Dimension::Account => Value::Id(message.account.get()),
        Dimension::Connection => Value::Id(message.connection.get()),
        Dimension::Country => text(found.country.map(|country| country.as_str().to_owned())),
        Dimension::Network => text(found.network.map(|network| network.to_string())),
        Dimension::Carrier => Value::Id(filled.first_carrier.unwrap_or(message.carrier).get()),
        Dimension::Sender => text(Some(message.from.address().to_owned())),
        Dimension::Refusal => unreachable!("messages are not refused"),
    }
}

type Rows = BTreeMap<(Timestamp, Option<AccountId>, Value), Figures>;

/// Adds what is due for a message. Its costs count for the carrier that has it now.
fn add_costs(
    rows: &mut Rows,
    (start, of): (Timestamp, Option<AccountId>),
    filled: &FilledMessage,
    query: &StatisticsQuery,
    from: Timestamp,
) {
    let message = &filled.message;
    let value = match query.by {
        Dimension::Carrier => Value::Id(message.carrier.get()),
        by => value_of(filled, by),
    };
    let at = message.id.accepted_at();
    let (Some(cost), Some(_)) = (message.costs.believed, message.settled_at) else { return };
    if at < from || at >= query.until || query.value.as_ref().is_some_and(|wanted| *wanted != value) {
        return;
    }
    let (due, refund) = (cost.terms.per_part, message.refund.unwrap_or(Money::ZERO));
    let sum = CostSum { messages: 1, due, revenue: message.cost.checked_sub(refund).unwrap() };
    rows.entry((start, of, value)).or_default().costs.add(cost.terms.currency, sum);
}

/// Returns the rows that a query should return.
fn expected(all: &[FilledMessage], scope: Scope, query: &StatisticsQuery) -> Vec<StatisticRow> {
    let mut rows: Rows = BTreeMap::new();
    let from = query.resolution.start_of(query.from);
    for filled in all.iter().filter(|filled| scope.includes(filled.message.account)) {
        let message = &filled.message;
        let at = message.id.accepted_at();
        let value = value_of(filled, query.by);
        let is_separate = scope != Scope::All || query.by == Dimension::Connection;
        let of = is_separate.then_some(message.account);
        add_costs(&mut rows, (query.resolution.start_of(at), of), filled, query, from);
        if at < from || at >= query.until || query.value.as_ref().is_some_and(|wanted| *wanted != value) {
            continue;
        }
        let figures = rows.entry((query.resolution.start_of(at), of, value)).or_default();
        figures.accepted += 1;
        figures.parts += u64::from(message.parts);
        figures.spend = figures.spend.checked_add(message.cost).unwrap();
        if let Some(settled_at) = message.settled_at {
            figures.count_end(message.state, settled_at.since(at), message.refund);
        }
    }
    let row = |((start, account, value), figures)| StatisticRow { start, account, value, figures };
    rows.into_iter().map(row).collect()
}

#[test]
fn figures_of_each_currency_are_those_of_its_accounts() {
    let all = messages(600);
    let requests: Vec<_> = (0..400).map(super::requests::entry).collect();
    let mut filled = Filled::new();
    filled.add(&all[..350], &requests[..200]);
    filled.fold();
    filled.add(&all[350..], &requests[200..]);
    let [euro, dollar] = ["EUR", "USD"].map(|code| Some(code.parse::<Currency>().unwrap()));
    // The others do not exist any more.
    let currencies: Currencies = [(account(1), euro.unwrap()), (account(2), dollar.unwrap())].into();
    let currency_of = |id: AccountId| currencies.get(&id).copied();
    let accounts: BTreeSet<AccountId> = all.iter().map(|filled| filled.message.account).collect();
    assert!(accounts.len() > 2);
    for by in [Dimension::All, Dimension::Country, Dimension::Network, Dimension::Carrier, Dimension::Sender]
    {
        for value in [None, Some(Value::Text("DE".into()))] {
            let query = query(Resolution::Day, by, value.filter(|_| by == Dimension::Country), 300);
            let mut expect: BTreeMap<(Timestamp, Value, Option<Currency>), Figures> = BTreeMap::new();
            for id in &accounts {
                for row in expected(&all, Scope::Account(*id), &query) {
                    expect.entry((row.start, row.value, currency_of(*id))).or_default().add(&row.figures);
                }
            }
            let refused = requests.iter().filter(|entry| entry.code.is_some() && by == Dimension::All);
            for entry in refused {
                let currency = entry.account.and_then(currency_of);
                let start = query.resolution.start_of(entry.at);
                expect.entry((start, Value::None, currency)).or_default().refused += 1;
            }
            let (connection, collected) = filled.reader();
            let rows = statistics_by_currency(&connection, &collected, &query, &currencies).unwrap();
            let rows =
                rows.into_iter().map(|(row, currency)| ((row.start, row.value, currency), row.figures));
            assert_eq!(rows.collect::<BTreeMap<_, _>>(), expect, "{query:?}");
        }
    }
}

#[test]
fn figures_by_currency_of_many_accounts_are_those_of_all_messages() {
    const ACCOUNTS: u32 = 3_000;
    let all = messages(u64::from(ACCOUNTS));
    let of_accounts = all.into_iter().zip(1..).map(|(mut filled, number)| {
        filled.message.account = account(number);
        filled
    });
    let all: Vec<FilledMessage> = of_accounts.collect();
    let mut filled = Filled::new();
    filled.add(&all[..1_000], &[]);
    filled.fold();
    // Most figures are in memory still.
    filled.add(&all[1_000..], &[]);
    let codes = ["EUR", "USD", "CHF"].map(|code| code.parse::<Currency>().unwrap());
    let currencies: Currencies = (1..=ACCOUNTS).map(|of| (account(of), codes[(of % 3) as usize])).collect();
    for by in [Dimension::All, Dimension::Country, Dimension::Carrier] {
        let query = query(Resolution::Day, by, None, 300);
        let mut expect: BTreeMap<(Timestamp, Value, Option<Currency>), Figures> = BTreeMap::new();
        for one in &all {
            let currency = currencies.get(&one.message.account).copied();
            for row in expected(std::slice::from_ref(one), Scope::All, &query) {
                expect.entry((row.start, row.value, currency)).or_default().add(&row.figures);
            }
        }
        let (connection, collected) = filled.reader();
        let rows = statistics_by_currency(&connection, &collected, &query, &currencies).unwrap();
        let rows = rows.into_iter().map(|(row, currency)| ((row.start, row.value, currency), row.figures));
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), expect, "{query:?}");
    }
}

#[test]
fn figures_of_accounts_are_added_up_in_their_order() {
    let all = messages(600);
    let mut filled = Filled::new();
    filled.add(&all[..350], &[]);
    filled.fold();
    filled.add(&all[350..], &[]);
    let (connection, collected) = filled.reader();
    let query = query(Resolution::Day, Dimension::All, None, 300);
    let accounts = [account(2), account(9), account(1)];
    let range = (query.resolution, query.from, query.until);
    let sums = of_accounts(&connection, &collected, &accounts, range).unwrap();
    for (id, sum) in accounts.into_iter().zip(sums) {
        let mut expect = Figures::default();
        expected(&all, Scope::Account(id), &query).iter().for_each(|row| expect.add(&row.figures));
        assert_eq!(sum, expect, "{id}");
    }
}

const DIMENSIONS: [Dimension; 7] = [
    Dimension::All,
    Dimension::Account,
    Dimension::Connection,
    Dimension::Country,
    Dimension::Network,
    Dimension::Carrier,
    Dimension::Sender,
];

#[test]
fn figures_of_every_dimension_add_up_to_the_messages() {
    let all = messages(600);
    let mut filled = Filled::new();
    filled.add(&all[..350], &[]);
    filled.fold();
    filled.add(&all[350..500], &[]);
    filled.fold();
    filled.add(&all[500..], &[]);
    for scope in
        [Scope::All, Scope::Account(account(1)), Scope::Account(account(2)), Scope::Account(account(7))]
    {
        for by in DIMENSIONS {
            // Hours are kept for 90 days, minutes for two.
            for (resolution, days) in
                [(Resolution::Day, 300), (Resolution::Hour, 89), (Resolution::Minute, 1)]
            {
                let query_all = query(resolution, by, None, days);
                let rows = expected(&all, scope, &query_all);
                assert_eq!(read(&filled, scope, &query_all), rows, "{scope:?} {query_all:?}");
                for row in rows.iter().take(3) {
                    let one = query(resolution, by, Some(row.value.clone()), days);
                    assert_eq!(read(&filled, scope, &one), expected(&all, scope, &one), "{scope:?} {one:?}");
                }
            }
        }
    }
}

#[test]
fn unknown_values_and_empty_ranges_have_no_figures() {
    let all = messages(60);
    let mut filled = Filled::new();
    filled.add(&all, &[]);
    filled.fold();
    let unknown = query(Resolution::Day, Dimension::Sender, Some(Value::Text("Nobody".into())), 300);
    assert_eq!(read(&filled, Scope::All, &unknown), []);
    let foreign = query(Resolution::Day, Dimension::Account, Some(Value::Id(2)), 300);
    assert_eq!(read(&filled, Scope::Account(account(1)), &foreign), []);
    let mut empty = query(Resolution::Day, Dimension::All, None, 300);
    (empty.from, empty.until) = (empty.until, empty.from);
    assert_eq!(read(&filled, Scope::All, &empty), []);
}

#[test]
fn query_with_too_many_rows_fails_with_what_to_do() {
    let mut all = messages(2);
    let mut filled = Filled::new();
    for start in 0..=STATISTICS_ROWS_MAX / 1_000 {
        let batch: Vec<FilledMessage> = (0..1_000)
            .map(|number| {
                let mut message = all[1].clone();
                message.message.id = hermod_domain::ids::MessageId::first_at(
                    noon().plus(Resolution::Minute.length() * u32::try_from(start * 1_000 + number).unwrap()),
                );
                message
            })
            .collect();
        filled.add(&batch, &[]);
    }
    all.clear();
    let mut wide = query(Resolution::Minute, Dimension::All, None, 300);
    wide.until = noon().plus(DAY * 300);
    let (connection, collected) = filled.reader();
    let failed = statistics(&connection, &collected, Scope::All, &wide).map_err(StoreError::from);
    assert!(matches!(failed, Err(StoreError::TooManyRows(_))), "{failed:?}");
}
