//! No query returns anything of another account. Both accounts have the same recipient, sender, request id, idempotency key and
//! carrier's id, so a query that ignores its scope would find both.

use crate::world::*;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::numbers::{Country, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::route::CarrierChoice;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_store::record::{
    Count, Dimension, MessageFilter, RecipientFilter, RecordedMessage, Replay, RequestEntry, RequestFilter,
    RequestKind, Resolution, Scope, SearchLimits, StatisticRow, StatisticsQuery, TextQuery, Value,
};
use hermod_store::{Acceptance, KeyClaim, SubmitNote};
use std::time::Duration;

/// Every query of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Query {
    SearchMessages,
    CountMessages,
    MessageHistory,
    SearchText,
    Statistics,
    RequestLog,
    RefusalGroups,
    Watch,
}

impl Query {
    /// The next query. No wildcard: a query that is added must have its place in the walk.
    fn next(self) -> Option<Query> {
        Some(match self {
            Query::SearchMessages => Query::CountMessages,
            Query::CountMessages => Query::MessageHistory,
            Query::MessageHistory => Query::SearchText,
            Query::SearchText => Query::Statistics,
            Query::Statistics => Query::RequestLog,
            Query::RequestLog => Query::RefusalGroups,
            Query::RefusalGroups => Query::Watch,
            Query::Watch => return None,
        })
    }
}

/// The public methods of a store that read the record, as they are declared in its sources.
const METHODS: [&str; 8] = [
    "search_messages",
    "count_messages",
    "message_history",
    "search_text",
    "statistics",
    "request_log",
    "refusal_groups",
    "watch",
];
/// Public methods for the operator, over all accounts or those that are named. Tests of the record's statistics have their figures.
const OPERATOR_METHODS: [&str; 2] = ["statistics_by_currency", "account_figures"];
/// Public methods that return nothing about messages.
const OTHER_METHODS: [&str; 6] = ["is_kept", "note_request", "status", "flush", "rebuild", "purge"];

#[test]
fn every_public_method_of_the_record_is_walked() {
    let source = include_str!("../../../src/operations/record.rs");
    for line in source.lines().map(str::trim_start) {
        let declared = line.strip_prefix("pub async fn ").or_else(|| line.strip_prefix("pub fn "));
        let Some(name) = declared.and_then(|declared| declared.split(['(', '<']).next()) else { continue };
        let mut known = METHODS.iter().chain(&OPERATOR_METHODS).chain(&OTHER_METHODS);
        let is_known = known.any(|known| *known == name);
        assert!(is_known, "add {name} to the queries that this test walks");
    }
    let walked = std::iter::successors(Some(Query::SearchMessages), |query| query.next());
    assert_eq!(walked.count(), METHODS.len());
}

const REQUEST: &str = "req-same";

fn same_key() -> KeyClaim {
    key(5)
}

fn message_of(account: AccountId, now: Timestamp) -> Acceptance {
    let note = SubmitNote {
        request: Some(REQUEST.into()),
        route: None,
        choice: CarrierChoice::Only,
        compared: None,
        charged_parts: None,
    };
    Acceptance { account, note, connection: ConnectionId::new(account.get()), ..sms(now) }
}

pub(crate) fn refused_request(account: AccountId) -> RequestEntry {
    RequestEntry {
        at: noon(),
        account: Some(account),
        connection: Some(ConnectionId::new(account.get())),
        kind: RequestKind::Http,
        operation: "POST /api/v1/sms".into(),
        who: "key".into(),
        address: None,
        status: 402,
        code: Some("insufficient_credit".into()),
        reason: "The balance is too low.".into(),
        took_ms: 1,
        request: Some(REQUEST.into()),
        replay: Replay::No,
        message: None,
        recipient: None,
    }
}

/// Both accounts, with one delivered and one waiting message each.
struct Two {
    world: World,
    ids: [(AccountId, Vec<MessageId>); 2],
}

impl Two {
    async fn new() -> Two {
        let world = World::with_record().await;
        world.pay_in(BOB, 1_000_000_000).await;
        let link = world.link_of(ACME, hermod_store::LinkKind::Sends).await;
        let mut ids = [(ALICE, Vec::new()), (BOB, Vec::new())];
        for (account, ids) in &mut ids {
            // A receipt for an id of two accounts is applied only by its number.
            let to = Msisdn::from_number(4_915_112_345_600 + u64::from(account.get())).expect("a number");
            let first =
                Acceptance { key: Some(same_key_of(*account)), to, ..message_of(*account, world.now) };
            link.add_slots(1).await;
            ids.push(world.send(first).await);
            let job = link.take_job().await;
            link.accept(&job, "same-id").await;
            let receipt = about(to, receipt(1, "same-id", DeliveryOutcome::Delivered));
            link.respond(Vec::new(), vec![receipt]).await;
            world.flush().await;
            world.store.record().note_request(refused_request(*account));
        }
        for (account, ids) in &mut ids {
            ids.push(world.send(message_of(*account, world.now)).await);
        }
        world.flush().await;
        world.store.record().flush().await.expect("the record is complete");
        Two { world, ids }
    }

    /// Returns the account of a message.
    fn owner(&self, id: MessageId) -> AccountId {
        let found = self.ids.iter().find(|(_, ids)| ids.contains(&id));
        found.map(|(account, _)| *account).expect("a message of this test")
    }

    fn check_rows(&self, own: AccountId, rows: &[RecordedMessage], what: &str) {
        assert!(!rows.is_empty(), "{what}: finds its own");
        for row in rows {
            assert_eq!((row.account, self.owner(row.id)), (own, own), "{what}");
        }
    }

    fn check_figures(&self, own: AccountId, rows: &[StatisticRow], what: &str) {
        for row in rows {
            assert_eq!(row.account, Some(own), "{what}");
            assert!(row.figures.accepted <= 2 && row.figures.refused <= 1, "{what}: {row:?}");
        }
    }

    async fn run(&self, query: Query, own: AccountId) {
        match query {
            Query::SearchMessages => self.search(own).await,
            Query::CountMessages => self.count(own).await,
            Query::MessageHistory => self.histories(own).await,
            Query::SearchText => self.texts(own).await,
            Query::Statistics => self.statistics(own).await,
            Query::RequestLog => self.requests(own).await,
            Query::RefusalGroups => self.groups(own).await,
            Query::Watch => self.watch(own).await,
        }
    }

    async fn search(&self, own: AccountId) {
        let scope = Scope::Account(own);
        for (filter, what) in filters(own) {
            for rows in [1, 100] {
                let limits = SearchLimits { before: None, rows };
                let found = self
                    .world
                    .store
                    .record()
                    .search_messages(scope, filter.clone(), limits)
                    .await
                    .expect("the record answers");
                self.check_rows(own, &found.rows, what);
            }
        }
        for (other, ids) in self.ids.iter().filter(|(account, _)| *account != own) {
            for id in ids {
                let by_id = MessageFilter { id: Some(*id), ..MessageFilter::default() };
                let of_other = MessageFilter {
                    connection: Some(ConnectionId::new(other.get())),
                    ..MessageFilter::default()
                };
                let by_key =
                    MessageFilter { key: Some(same_key_of(*other).digest), ..MessageFilter::default() };
                for filter in [by_id, of_other, by_key] {
                    let limits = SearchLimits { before: None, rows: 100 };
                    let found = self
                        .world
                        .store
                        .record()
                        .search_messages(scope, filter.clone(), limits)
                        .await
                        .expect("the record answers");
                    assert_eq!(found.rows, [], "{filter:?}");
                    let counted = self
                        .world
                        .store
                        .record()
                        .count_messages(scope, filter)
                        .await
                        .expect("the record answers");
                    assert_eq!(counted, Count::Exactly(0));
                }
            }
        }
    }

    async fn count(&self, own: AccountId) {
        for (filter, what) in filters(own) {
            let counted = self
                .world
                .store
                .record()
                .count_messages(Scope::Account(own), filter)
                .await
                .expect("the record answers");
            assert!(matches!(counted, Count::Exactly(1 | 2)), "{what}: {counted:?}");
        }
    }

    async fn histories(&self, own: AccountId) {
        for (account, ids) in &self.ids {
            for id in ids {
                let found = self
                    .world
                    .store
                    .record()
                    .message_history(Scope::Account(own), *id)
                    .await
                    .expect("the record answers");
                assert_eq!(found.map(|history| history.message.account), (*account == own).then_some(own));
            }
        }
    }

    async fn texts(&self, own: AccountId) {
        let query = TextQuery { text: "HELLO".to_owned(), from: noon(), until: noon().plus(secs(3_600)) };
        let found =
            self.world.store.record().search_text(own, query, None, 100).await.expect("the record answers");
        self.check_rows(own, &found.rows, "text");
        assert_eq!((found.rows.len(), found.looked_at, found.next), (2, 2, None));
    }

    async fn statistics(&self, own: AccountId) {
        for by in DIMENSIONS {
            for resolution in Resolution::ALL {
                for value in
                    [None, Some(Value::None), Some(Value::Id(ALICE.get())), Some(Value::Id(BOB.get()))]
                {
                    let (from, until) = (noon(), noon().plus(secs(3_600)));
                    let query = StatisticsQuery { resolution, by, value, from, until };
                    let rows = self
                        .world
                        .store
                        .record()
                        .statistics(Scope::Account(own), query.clone())
                        .await
                        .expect("the record answers");
                    assert!(query.value.is_some() || !rows.is_empty(), "{query:?}");
                    self.check_figures(own, &rows, &format!("{query:?}"));
                }
            }
        }
    }

    async fn requests(&self, own: AccountId) {
        for filter in [
            RequestFilter::default(),
            RequestFilter { request: Some(REQUEST.to_owned()), ..RequestFilter::default() },
            RequestFilter { code: Some("insufficient_credit".to_owned()), ..RequestFilter::default() },
            RequestFilter { rejected: true, from: Some(noon()), ..RequestFilter::default() },
        ] {
            let page = self
                .world
                .store
                .record()
                .request_log(Scope::Account(own), filter, None, 100)
                .await
                .expect("the record answers");
            let accounts: Vec<_> = page.rows.iter().map(|(_, entry)| entry.account).collect();
            assert_eq!(accounts, [Some(own)]);
        }
    }

    async fn groups(&self, own: AccountId) {
        let until = noon().plus(secs(3_600));
        let groups = self
            .world
            .store
            .record()
            .refusal_groups(Scope::Account(own), noon(), until)
            .await
            .expect("the record answers");
        let counts: Vec<u64> = groups.iter().map(|group| group.count).collect();
        assert_eq!(counts, [1]);
        assert!(groups.iter().all(|group| group.last.as_ref().is_none_or(|last| last.account == Some(own))));
    }

    async fn watch(&self, own: AccountId) {
        let mut watch =
            self.world.store.record().watch(Scope::Account(own), None).expect("the record answers");
        for account in [ALICE, BOB] {
            self.world.send(message_of(account, self.world.now)).await;
        }
        self.world.store.record().flush().await.expect("the record answers");
        let mut seen = 0;
        while seen == 0 {
            let frame = within(PATIENCE, watch.next()).await.expect("a frame in time").expect("a frame");
            assert!(frame.shown.iter().all(|shown| shown.message.account == own));
            seen += frame.total;
        }
        assert_eq!(seen, 1, "the other account's message is not counted either");
    }
}

/// The digest of a key includes the account.
fn same_key_of(account: AccountId) -> KeyClaim {
    let mut claim = same_key();
    claim.digest[0] = u8::try_from(account.get()).expect("a small number");
    claim
}

const DIMENSIONS: [Dimension; 8] = [
    Dimension::All,
    Dimension::Account,
    Dimension::Connection,
    Dimension::Country,
    Dimension::Network,
    Dimension::Carrier,
    Dimension::Sender,
    Dimension::Refusal,
];

/// Filters that find messages of both accounts if the scope allows, or that name something of the own account.
fn filters(own: AccountId) -> Vec<(MessageFilter, &'static str)> {
    let none = MessageFilter::default;
    let network = Numbers::embedded().find(recipient()).network;
    vec![
        (none(), "no filter"),
        (MessageFilter { recipient: Some(RecipientFilter::Exact(recipient())), ..none() }, "recipient"),
        (MessageFilter { recipient: Some(RecipientFilter::Prefix("4915".to_owned())), ..none() }, "prefix"),
        (MessageFilter { sender: Sender::parse("Hermod").ok(), ..none() }, "sender"),
        (MessageFilter { state: Some(MessageState::Delivered), ..none() }, "delivered"),
        (MessageFilter { state: Some(MessageState::Queued), ..none() }, "queued"),
        (MessageFilter { country: Country::parse("DE").ok(), ..none() }, "country"),
        (MessageFilter { network, ..none() }, "network"),
        (MessageFilter { carrier: Some(ACME), ..none() }, "carrier"),
        (MessageFilter { connection: Some(ConnectionId::new(own.get())), ..none() }, "connection"),
        (MessageFilter { carrier_id: Some(remote("same-id")), ..none() }, "carrier's id"),
        (MessageFilter { request: Some(REQUEST.to_owned()), ..none() }, "request"),
        (MessageFilter { key: Some(same_key_of(own).digest), ..none() }, "idempotency key"),
        (
            MessageFilter { from: Some(noon()), until: Some(noon().plus(Duration::from_secs(60))), ..none() },
            "time range",
        ),
    ]
}

#[tokio::test]
async fn no_query_returns_anything_of_another_account() {
    let two = Two::new().await;
    for own in [ALICE, BOB] {
        let mut next = Some(Query::SearchMessages);
        while let Some(query) = next {
            // Its messages would be found by the other queries.
            if query != Query::Watch {
                two.run(query, own).await;
            }
            next = query.next();
        }
    }
    for own in [ALICE, BOB] {
        two.run(Query::Watch, own).await;
    }
}

#[tokio::test]
async fn operator_finds_the_messages_of_both_accounts() {
    let two = Two::new().await;
    let by_id = MessageFilter { carrier_id: Some(remote("same-id")), ..MessageFilter::default() };
    let limits = SearchLimits { before: None, rows: 100 };
    let found = two
        .world
        .store
        .record()
        .search_messages(Scope::All, by_id, limits)
        .await
        .expect("the record answers");
    let owners: Vec<AccountId> = found.rows.iter().map(|row| row.account).collect();
    assert_eq!(owners, [BOB, ALICE], "newest first");
    assert_eq!(found.status.catching_up, 0);
}
