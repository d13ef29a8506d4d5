//! Measures queries with random values, and compares each kind with the time that it may take.

use crate::fill::{BenchTraffic, CARRIERS, DAYS, TEXT_ACCOUNT, mix};
use crate::setup::instant;
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::MessageState;
use hermod_domain::numbers::Numbers;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_store::record::{
    Dimension, MessageFilter, RecipientFilter, RequestFilter, Resolution, Scope, SearchLimits,
    StatisticsQuery, TextQuery, Value,
};
use hermod_store::{EventId, Store};
use std::time::Duration;

/// What any query may take, at the 99th of 100.
const QUERY_MAX: Duration = Duration::from_millis(20);
/// What the first results of a text search may take.
const TEXT_MAX: Duration = Duration::from_millis(300);
const PAGE_ROWS: u32 = 50;
/// Text searches, which are slower.
const TEXT_QUERIES: u64 = 40;

/// Measures everything. Returns whether all is fast enough.
pub(crate) async fn measure_all(store: &Store, traffic: &BenchTraffic, queries: u64) -> bool {
    println!("{:44} {:>9} {:>9} {:>9} {:>8}", "query", "p50 ms", "p99 ms", "max ms", "rows");
    let bench = Bench { store, traffic, queries };
    let mut is_fast = true;
    for (name, filter) in filters() {
        is_fast &= bench.searches(name, filter).await;
    }
    for (name, filter) in counts() {
        is_fast &= bench.counts(name, filter).await;
    }
    is_fast &= bench.histories().await;
    for (name, of_account, query) in statistics(traffic) {
        is_fast &= bench.statistics(name, of_account, query).await;
    }
    is_fast &= bench.requests().await;
    is_fast & bench.texts().await
}

/// A filter by the number of a message that exists.
type Filter = fn(&BenchTraffic, u64) -> MessageFilter;

fn none() -> MessageFilter {
    MessageFilter::default()
}

fn prefix(number: u64, digits: usize) -> MessageFilter {
    let prefix = BenchTraffic::recipient(number).digits()[..digits].to_owned();
    MessageFilter { recipient: Some(RecipientFilter::Prefix(prefix)), ..none() }
}

fn state(state: MessageState) -> MessageFilter {
    MessageFilter { state: Some(state), ..none() }
}

/// A random time range of two days that has the message.
fn two_days(traffic: &BenchTraffic, number: u64) -> (Option<Timestamp>, Option<Timestamp>) {
    let at = traffic.id(number).accepted_at();
    (Some(at.minus(Duration::from_secs(90_000))), Some(at.plus(Duration::from_secs(90_000))))
}

fn filters() -> Vec<(&'static str, Filter)> {
    vec![
        ("newest", |_, _| none()),
        ("time range", |traffic, number| {
            let (from, until) = two_days(traffic, number);
            MessageFilter { from, until, ..none() }
        }),
        ("message id", |traffic, number| MessageFilter { id: Some(traffic.id(number)), ..none() }),
        ("recipient", |_, number| MessageFilter {
            recipient: Some(RecipientFilter::Exact(BenchTraffic::recipient(number))),
            ..none()
        }),
        ("recipient, 2 digits", |_, number| prefix(number, 2)),
        ("recipient, 7 digits", |_, number| prefix(number, 7)),
        ("recipient, 9 digits", |_, number| prefix(number, 9)),
        ("carrier's id", |_, number| MessageFilter {
            carrier_id: Some(BenchTraffic::remote(number)),
            ..none()
        }),
        ("request id", |_, number| MessageFilter { request: Some(BenchTraffic::request(number)), ..none() }),
        ("idempotency key", |_, number| MessageFilter {
            key: Some(BenchTraffic::key(number / 3 * 3)),
            ..none()
        }),
        ("webhook event", |_, number| MessageFilter { event: Some(EventId(number / 2 * 2)), ..none() }),
        ("sender", |_, number| MessageFilter { sender: Some(BenchTraffic::sender(number)), ..none() }),
        ("rare sender", |_, number| MessageFilter {
            sender: Sender::parse(&format!("Rare{}", number % 7)).ok(),
            ..none()
        }),
        ("unknown sender", |_, _| MessageFilter { sender: Sender::parse("Nobody").ok(), ..none() }),
        ("rejected", |_, _| state(MessageState::Rejected)),
        ("open", |_, _| state(MessageState::Submitted)),
        ("country", |_, number| MessageFilter {
            country: Numbers::embedded().find(BenchTraffic::recipient(number)).country,
            ..none()
        }),
        ("network", |_, number| MessageFilter {
            network: Numbers::embedded().find(BenchTraffic::recipient(number)).network,
            ..none()
        }),
        ("carrier", |_, number| MessageFilter { carrier: Some(BenchTraffic::carrier(number)), ..none() }),
        ("rare carrier", |_, _| MessageFilter {
            carrier: Some(CarrierId::new(u32::try_from(CARRIERS).expect("small"))),
            ..none()
        }),
        ("connection", |_, number| MessageFilter {
            connection: Some(BenchTraffic::connection(number)),
            ..none()
        }),
        ("sender, rejected, two days", |traffic, number| {
            let (from, until) = two_days(traffic, number);
            let sender = Some(BenchTraffic::sender(number));
            MessageFilter { sender, from, until, ..state(MessageState::Rejected) }
        }),
        ("country, expired, carrier", |_, number| MessageFilter {
            country: Numbers::embedded().find(BenchTraffic::recipient(number)).country,
            carrier: Some(BenchTraffic::carrier(number)),
            ..state(MessageState::Expired)
        }),
    ]
}

fn counts() -> Vec<(&'static str, Filter)> {
    vec![
        ("count: all", |_, _| none()),
        ("count: delivered", |_, _| state(MessageState::Delivered)),
        ("count: two days", |traffic, number| {
            let (from, until) = two_days(traffic, number);
            MessageFilter { from, until, ..none() }
        }),
        ("count: sender", |_, number| MessageFilter { sender: Some(BenchTraffic::sender(number)), ..none() }),
        ("count: country", |_, number| MessageFilter {
            country: Numbers::embedded().find(BenchTraffic::recipient(number)).country,
            ..none()
        }),
        ("count: prefix of 7 digits", |_, number| prefix(number, 7)),
    ]
}

/// Statistics with their name, and whether they are of one account.
fn statistics(traffic: &BenchTraffic) -> Vec<(&'static str, bool, StatisticsQuery)> {
    let until = traffic.end();
    let query = |resolution, by, hours: u64| StatisticsQuery {
        resolution,
        by,
        value: None,
        from: until.minus(Duration::from_secs(hours * 3_600)),
        until,
    };
    let days = u64::from(DAYS) * 24;
    let country = Some(Value::Text("DE".into()));
    vec![
        ("statistics: day by account, all", false, query(Resolution::Day, Dimension::Account, 7 * 24)),
        ("statistics: minute, 24 h, all", false, query(Resolution::Minute, Dimension::All, 24)),
        (
            "statistics: hour by country, 14 days, all",
            false,
            query(Resolution::Hour, Dimension::Country, 14 * 24),
        ),
        (
            "statistics: hour of one country, 30 days",
            true,
            StatisticsQuery { value: country, ..query(Resolution::Hour, Dimension::Country, days) },
        ),
        ("statistics: hour by sender, 7 days", true, query(Resolution::Hour, Dimension::Sender, 7 * 24)),
        (
            "statistics: hour by connection, 30 days",
            true,
            query(Resolution::Hour, Dimension::Connection, days),
        ),
        ("statistics: day by network, 30 days", true, query(Resolution::Day, Dimension::Network, days)),
    ]
}

struct Bench<'b> {
    store: &'b Store,
    traffic: &'b BenchTraffic,
    queries: u64,
}

impl Bench<'_> {
    /// Returns the numbers of random messages.
    fn numbers(&self, kind: u64) -> impl Iterator<Item = u64> {
        let messages = self.traffic.messages;
        (0..self.queries).map(move |query| mix(query << 8 | kind) % messages)
    }

    async fn searches(&self, name: &str, filter: Filter) -> bool {
        let mut is_fast = true;
        for of_account in [false, true] {
            let mut times = Times::default();
            for number in self.numbers(1) {
                let scope =
                    if of_account { Scope::Account(BenchTraffic::account(number)) } else { Scope::All };
                // Every second query is of a later page.
                let before = (number % 2 == 1).then(|| self.traffic.id(number + 1));
                let limits = SearchLimits { before, rows: PAGE_ROWS };
                let filter = filter(self.traffic, number);
                let began = instant();
                let page = self.store.record().search_messages(scope, filter, limits).await.expect("a page");
                times.add(began.elapsed(), page.rows.len());
            }
            is_fast &= times.print(&format!("{name}{}", of(of_account)), QUERY_MAX);
        }
        is_fast
    }

    async fn counts(&self, name: &str, filter: Filter) -> bool {
        let mut is_fast = true;
        for of_account in [false, true] {
            let mut times = Times::default();
            for number in self.numbers(2) {
                let scope =
                    if of_account { Scope::Account(BenchTraffic::account(number)) } else { Scope::All };
                let filter = filter(self.traffic, number);
                let began = instant();
                self.store.record().count_messages(scope, filter).await.expect("a count");
                times.add(began.elapsed(), 0);
            }
            is_fast &= times.print(&format!("{name}{}", of(of_account)), QUERY_MAX);
        }
        is_fast
    }

    async fn histories(&self) -> bool {
        let mut times = Times::default();
        for number in self.numbers(3) {
            let (scope, id) = (Scope::Account(BenchTraffic::account(number)), self.traffic.id(number));
            let began = instant();
            let history = self.store.record().message_history(scope, id).await.expect("an answer");
            times.add(began.elapsed(), history.expect("the message").steps.len());
        }
        times.print("timeline", QUERY_MAX)
    }

    async fn statistics(&self, name: &str, of_account: bool, query: StatisticsQuery) -> bool {
        let mut times = Times::default();
        for number in self.numbers(4) {
            let scope = if of_account { Scope::Account(BenchTraffic::account(number)) } else { Scope::All };
            let began = instant();
            let rows = self.store.record().statistics(scope, query.clone()).await.expect("statistics");
            times.add(began.elapsed(), rows.len());
        }
        times.print(name, QUERY_MAX)
    }

    async fn requests(&self) -> bool {
        let (mut pages, mut coded, mut groups) = (Times::default(), Times::default(), Times::default());
        let until = self.traffic.end();
        for number in self.numbers(5) {
            let scope =
                if number % 2 == 0 { Scope::All } else { Scope::Account(BenchTraffic::account(number)) };
            let began = instant();
            let filter = RequestFilter { rejected: true, ..RequestFilter::default() };
            let page = self.store.record().request_log(scope, filter, None, PAGE_ROWS).await.expect("a page");
            pages.add(began.elapsed(), page.rows.len());
            let began = instant();
            let filter = RequestFilter { code: Some("code_7".to_owned()), ..RequestFilter::default() };
            let page = self.store.record().request_log(scope, filter, None, PAGE_ROWS).await.expect("a page");
            coded.add(began.elapsed(), page.rows.len());
            let began = instant();
            let from = until.minus(Duration::from_secs(86_400 * (1 + number % 6)));
            let rows = self.store.record().refusal_groups(scope, from, until).await.expect("groups");
            groups.add(began.elapsed(), rows.len());
        }
        let mut is_fast = pages.print("requests: rejected", QUERY_MAX);
        is_fast &= coded.print("requests: one code", QUERY_MAX);
        is_fast & groups.print("requests: by code", QUERY_MAX)
    }

    /// Measures the time until the first result, or until all texts were searched.
    async fn texts(&self) -> bool {
        let mut is_fast = true;
        for (name, word) in [("text: frequent word", "code 4"), ("text: rare word", "PARCEL")] {
            let mut times = Times::default();
            for _ in 0..self.queries.min(TEXT_QUERIES) {
                let until = self.traffic.end();
                let from = until.minus(Duration::from_secs(6 * 86_400));
                let query = TextQuery { text: word.to_owned(), from, until };
                let began = instant();
                let mut before = None;
                let found = loop {
                    let page = self.store.record().search_text(TEXT_ACCOUNT, query.clone(), before, 20).await;
                    let page = page.expect("a slice");
                    before = page.next;
                    if !page.rows.is_empty() || before.is_none() {
                        break page.rows.len();
                    }
                };
                times.add(began.elapsed(), found);
            }
            is_fast &= times.print(name, TEXT_MAX);
        }
        is_fast
    }
}

fn of(of_account: bool) -> &'static str {
    if of_account { " (account)" } else { " (all)" }
}

/// The times of one kind of query.
#[derive(Default)]
struct Times {
    times: Vec<Duration>,
    rows: usize,
}

impl Times {
    fn add(&mut self, time: Duration, rows: usize) {
        self.times.push(time);
        self.rows += rows;
    }

    /// Prints a line of the table. Returns whether the times are short enough.
    fn print(mut self, name: &str, max: Duration) -> bool {
        self.times.sort_unstable();
        let at = |percent: usize| self.times[(self.times.len() * percent / 100).min(self.times.len() - 1)];
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let is_fast = at(99) <= max;
        let note = if is_fast { "" } else { "  TOO SLOW" };
        let rows = self.rows / self.times.len();
        println!("{name:44} {:9.2} {:9.2} {:9.2} {rows:8}{note}", ms(at(50)), ms(at(99)), ms(at(100)));
        is_fast
    }
}
