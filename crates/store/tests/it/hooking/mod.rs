//! Webhook events: whoever has a webhook is told every change, by a row that is durable with the change and due until it is
//! settled.

mod absent;
mod listing;
pub(crate) mod settling;

use crate::reporting::CONNECTION;
use crate::world::within;
use crate::world::*;
use hermod_domain::catalogue::{
    Account, AllowList, Catalogue, Connection, Countries, Documents, Tier, Webhooks,
};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::money::Money;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::sender::Sender;
use hermod_domain::webhook::{DlrForm, WebhookKind};
use hermod_store::{
    Acceptance, DlrEvent, Endpoint, Inbound, Store, WEBHOOKS_TAKEN_MAX, WebhookContent, WebhookEvent,
    WebhookPage,
};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const DELIVERED: ReportStatus = ReportStatus::Final(DlrCode::Delivrd);
pub(crate) const EXPIRED: ReportStatus = ReportStatus::Final(DlrCode::Expired);
pub(crate) const DLRS: Endpoint = Endpoint { account: ALICE, kind: WebhookKind::Dlr };
pub(crate) const MESSAGES: Endpoint = Endpoint { account: ALICE, kind: WebhookKind::Inbound };
/// Another connection of Alice's.
pub(crate) const SECOND: ConnectionId = ConnectionId::new(2);

pub(crate) fn webhooks(dlr: bool, inbound: bool) -> Webhooks {
    Webhooks {
        dlr_url: dlr.then(|| "https://alice.example/dlr".to_owned()),
        inbound_url: inbound.then(|| "https://alice.example/inbound".to_owned()),
        secret: "sealed".to_owned(),
        next: None,
        previous: None,
    }
}

fn account(webhooks: Option<Webhooks>) -> Account {
    Account {
        currency: "EUR".parse().expect("a currency"),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        senders: Vec::new(),
        terms: None,
        countries: Countries::All,
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks,
        stop_words: Vec::new(),
    }
}

fn plain(account: AccountId) -> Connection {
    Connection {
        account,
        default_sender: None,
        requests_per_second: 100,
        max_parts: None,
        allow: AllowList::default(),
        smart_encoding: false,
        closed: false,
        smpp: None,
        dlr_form: DlrForm::Full,
        webhooks_too: false,
    }
}

/// Alice with these webhooks and two connections, of which the first may be changed; Bob without any.
pub(crate) fn catalogue(webhooks: Option<Webhooks>, change: impl FnOnce(&mut Connection)) -> Arc<Catalogue> {
    let mut first = plain(ALICE);
    change(&mut first);
    built(webhooks, vec![(CONNECTION, first), (SECOND, plain(ALICE)), (ConnectionId::new(3), plain(BOB))])
}

/// Alice with these webhooks and so many connections.
pub(crate) fn many_connections(webhooks: Webhooks, count: u32) -> Arc<Catalogue> {
    let connections = (1..=count).map(|number| (ConnectionId::new(number), plain(ALICE)));
    built(Some(webhooks), connections.collect())
}

fn built(webhooks: Option<Webhooks>, connections: Vec<(ConnectionId, Connection)>) -> Arc<Catalogue> {
    let documents = Documents {
        accounts: vec![
            (ALICE, "alice".to_owned(), account(webhooks)),
            (BOB, "bob".to_owned(), account(None)),
        ],
        connections,
        ..Documents::default()
    };
    Arc::new(Catalogue::build(documents).expect("a catalogue"))
}

impl World {
    /// A new store in which Alice has both webhooks.
    pub(crate) async fn with_webhooks() -> World {
        let world = World::new().await;
        world.tells_alice();
        world
    }

    pub(crate) fn tells_alice(&self) {
        self.store.set_catalogue(catalogue(Some(webhooks(true, true)), |_| {}));
    }

    pub(crate) async fn page(&self, endpoint: Endpoint) -> WebhookPage {
        self.settles().await;
        self.store
            .take_webhooks(endpoint, None, self.now, WEBHOOKS_TAKEN_MAX)
            .await
            .expect("the store answers")
    }

    /// What is due, in order.
    pub(crate) async fn due(&self) -> Vec<WebhookEvent> {
        self.page(DLRS).await.events
    }

    /// What delivery reports that are due say.
    pub(crate) async fn says(&self) -> Vec<(MessageId, ReportStatus)> {
        self.due().await.iter().map(|event| (dlr(event).message, dlr(event).status)).collect()
    }

    /// A message that the carrier has under this id, and then says this about.
    pub(crate) async fn goes(&self, acceptance: Acceptance, id: &str, verdicts: &[Verdict]) -> MessageId {
        let link = self.link().await;
        let message = self.sent_as(&link, acceptance, id).await;
        for verdict in verdicts {
            link.receipt(id, *verdict).await;
        }
        self.settles().await;
        link.closes().await.expect("it closes");
        message
    }

    pub(crate) async fn receives(&self, text: &str) -> MessageId {
        let inbound = Inbound {
            account: ALICE,
            from: "4915112345678".to_owned(),
            to: "12345".to_owned(),
            text: text.to_owned(),
            received_at: self.now,
        };
        self.store.receive(inbound).await.expect("an inbound message").message
    }
}

pub(crate) fn dlr(event: &WebhookEvent) -> &DlrEvent {
    match &event.content {
        WebhookContent::Dlr(dlr) => dlr,
        WebhookContent::Inbound(inbound) => panic!("no delivery report: {inbound:?}"),
    }
}

/// Where it has been woken, sorted; fails if nowhere.
pub(crate) async fn woken(store: &Store) -> Vec<Endpoint> {
    let woken = within(Duration::from_secs(20), store.woken_endpoints()).await;
    let mut woken = woken.expect("it is woken");
    woken.sort_unstable();
    woken
}

pub(crate) async fn is_quiet(store: &Store) {
    let woken = within(Duration::ZERO, store.woken_endpoints()).await;
    assert!(woken.is_err(), "woken: {woken:?}");
}

#[tokio::test]
async fn a_change_of_an_http_message_is_due_at_once_and_rung_after_the_commit() {
    let world = World::with_webhooks().await;
    is_quiet(&world.store).await;
    let message = world.goes(world.sms(), "id", &[Verdict::Delivered]).await;
    assert_eq!(woken(&world.store).await, [DLRS]);
    is_quiet(&world.store).await;
    let due = world.due().await;
    let expect = WebhookEvent {
        id: due[0].id,
        account: ALICE,
        content: WebhookContent::Dlr(DlrEvent {
            message,
            connection: CONNECTION,
            from: Sender::parse("Hermod").unwrap(),
            to: recipient(),
            status: DELIVERED,
            state: MessageState::Delivered,
            err: 0,
            submitted_at: world.now,
            at: world.now,
            form: DlrForm::Full,
        }),
        failures: 0,
        attempts: 0,
        due_at: world.now,
    };
    assert_eq!(due, [expect]);
    assert_eq!(due[0].endpoint(), DLRS);
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), [(DLRS, world.now)]);
    assert_eq!(world.due().await, due, "taking marks nothing");
    world.books_are_sound();
}

#[tokio::test]
async fn enroute_and_every_end_fire_and_nothing_else_does() {
    let cases: &[(&[Verdict], &[&str])] = &[
        (&[], &[]),
        (&[Verdict::NoNews], &[]),
        (&[Verdict::Enroute, Verdict::Accepted, Verdict::Delivered], &["ENROUTE", "DELIVRD"]),
        (&[Verdict::Accepted], &["ACCEPTD"]),
        (&[Verdict::Delivered, Verdict::Undeliverable], &["DELIVRD"]),
        (&[Verdict::Undeliverable], &["UNDELIV"]),
        (&[Verdict::Rejected], &["REJECTD"]),
        (&[Verdict::Expired], &["EXPIRED"]),
    ];
    let world = World::with_webhooks().await;
    for (place, (verdicts, expect)) in cases.iter().enumerate() {
        let message = world.goes(world.sms(), &format!("id{place}"), verdicts).await;
        let told = world.says().await;
        let words: Vec<_> =
            told.iter().filter(|(about, _)| *about == message).map(|(_, told)| told.word()).collect();
        assert_eq!(words, *expect, "case {place}");
    }
    world.books_are_sound();
}

#[tokio::test]
async fn no_receipt_in_time_is_one_unknown_and_may_be_corrected() {
    let mut world = World::with_webhooks().await;
    let link = world.link().await;
    let message = world.sent_as(&link, world.sms(), "id").await;
    world.passes(VALIDITY + RECEIPT_WAIT).await;
    world.sweeps(world.now).await;
    world.sweeps(world.now).await;
    let link = Link { now: world.now, ..link };
    link.receipt("id", Verdict::Delivered).await;
    assert_eq!(world.says().await, [(message, ReportStatus::Final(DlrCode::Unknown)), (message, DELIVERED)]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_message_is_unknown_once_even_if_its_parts_are_overdue_at_different_times() {
    let mut world = World::with_webhooks().await;
    let link = world.link_with_room(2).await;
    let message = world.sends(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.takes_jobs(2).await;
    link.accepts(&jobs[0], "a").await;
    world.passes(VALIDITY + RECEIPT_WAIT).await;
    let link = Link { now: world.now, ..link };
    // The second part is still being sent.
    world.sweeps(world.now).await;
    link.receipt("a", Verdict::Delivered).await;
    link.accepts(&jobs[1], "b").await;
    world.settles().await;
    world.sweeps(world.now).await;
    link.receipt("b", Verdict::Delivered).await;
    assert_eq!(world.says().await, [(message, ReportStatus::Final(DlrCode::Unknown)), (message, DELIVERED)]);
    world.books_are_sound();
}

#[tokio::test]
async fn who_has_no_webhook_for_it_is_not_told() {
    let mut world = World::new().await;
    world.goes(world.sms(), "nobody is known", &[Verdict::Delivered]).await;
    world.store.set_catalogue(catalogue(None, |_| {}));
    world.goes(world.sms(), "none", &[Verdict::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(false, true)), |_| {}));
    world.goes(world.sms(), "for messages only", &[Verdict::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, false)), |_| {}));
    world.receives("hi").await;
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), []);
    is_quiet(&world.store).await;
    // What is in force when the change happens counts, also for messages read back from the tables.
    let message = world.sends(Acceptance { validity: secs(60), ..world.sms() }).await;
    world.restarts().await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, false)), |_| {}));
    world.passes(secs(60)).await;
    world.sweeps(world.now).await;
    assert_eq!(world.says().await, [(message, EXPIRED)]);
    world.books_are_sound();
}

#[tokio::test]
async fn the_form_is_the_connections_at_the_moment_of_the_change() {
    let world = World::new().await;
    let short = |connection: &mut Connection| connection.dlr_form = DlrForm::Short;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), short));
    world.goes(world.sms(), "a", &[Verdict::Delivered]).await;
    world.goes(Acceptance { connection: SECOND, ..world.sms() }, "b", &[Verdict::Delivered]).await;
    world.tells_alice();
    world.goes(world.sms(), "c", &[Verdict::Delivered]).await;
    let forms: Vec<_> = world.due().await.iter().map(|event| dlr(event).form).collect();
    assert_eq!(forms, [DlrForm::Short, DlrForm::Full, DlrForm::Full]);
}

#[tokio::test]
async fn a_message_from_a_handset_is_due_with_its_text_beside_the_delivery_reports() {
    let world = World::with_webhooks().await;
    let message = world.receives("hi there").await;
    world.goes(world.sms(), "id", &[Verdict::Delivered]).await;
    let due = world.page(MESSAGES).await;
    assert_eq!((due.events.len(), due.next_due), (1, None));
    let WebhookContent::Inbound(inbound) = &due.events[0].content else { panic!("{due:?}") };
    assert_eq!((inbound.id, inbound.message, inbound.text.as_str()), (1, message, "hi there"));
    assert_eq!(due.events[0].endpoint(), MESSAGES);
    assert_eq!(woken(&world.store).await, [DLRS, MESSAGES]);
    assert_eq!(world.store.webhooks_waiting().await.unwrap(), [(DLRS, world.now), (MESSAGES, world.now)]);
    world.books_are_sound();
}

#[tokio::test]
async fn webhooks_too_tells_both_ways_each_by_its_own_rules() {
    let world = World::new().await;
    let too = |connection: &mut Connection| connection.webhooks_too = true;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), too));
    let port = world.store.open_receiver(CONNECTION);
    let verdicts = [Verdict::Enroute, Verdict::Delivered];
    let asked = world.goes(world.smpp(1), "a", &verdicts).await;
    let silent = world.goes(world.smpp(0), "b", &verdicts).await;
    assert_eq!(world.is_told(&port, 1).await, [(asked, DELIVERED)], "as registered_delivery says");
    world.tells_nothing(&port).await;
    let expect = [
        (asked, ReportStatus::Enroute),
        (asked, DELIVERED),
        (silent, ReportStatus::Enroute),
        (silent, DELIVERED),
    ];
    assert_eq!(world.says().await, expect, "every change");
    // Another connection of the same account is told over SMPP only.
    let other = Acceptance { connection: SECOND, ..world.smpp(1) };
    world.goes(other, "c", &verdicts).await;
    assert_eq!(world.says().await, expect);
    assert_eq!(world.store.reports_waiting(SECOND).await.unwrap(), 1);
    world.books_are_sound();
}
