//! The webhook queue: every status change of an account with a webhook is an event, durable with the change and due until it is
//! settled.

mod events;
mod receiver_absent;
pub(crate) mod results;

use crate::reports::CONNECTION;
use crate::world::within;
use crate::world::*;
use hermod_domain::catalogue::{
    Account, AllowList, Catalogue, Connection, Countries, Documents, Tier, Webhooks,
};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, DoubtPolicy, MessageState};
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
/// Alice's second connection.
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
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks,
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
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

/// Returns a catalogue in which Alice has these webhooks and two connections, the first altered by `change`, and Bob none.
pub(crate) fn catalogue(webhooks: Option<Webhooks>, change: impl FnOnce(&mut Connection)) -> Arc<Catalogue> {
    built(documents(webhooks, change))
}

/// Returns the documents of that catalogue.
pub(crate) fn documents(webhooks: Option<Webhooks>, change: impl FnOnce(&mut Connection)) -> Documents {
    let mut first = plain(ALICE);
    change(&mut first);
    with_connections(
        webhooks,
        vec![(CONNECTION, first), (SECOND, plain(ALICE)), (ConnectionId::new(3), plain(BOB))],
    )
}

/// Returns a catalogue in which Alice has these webhooks and `count` connections.
pub(crate) fn many_connections(webhooks: Webhooks, count: u32) -> Arc<Catalogue> {
    let connections = (1..=count).map(|number| (ConnectionId::new(number), plain(ALICE)));
    built(with_connections(Some(webhooks), connections.collect()))
}

fn with_connections(webhooks: Option<Webhooks>, connections: Vec<(ConnectionId, Connection)>) -> Documents {
    Documents {
        accounts: vec![
            (ALICE, "alice".to_owned(), account(webhooks)),
            (BOB, "bob".to_owned(), account(None)),
        ],
        connections,
        ..Documents::default()
    }
}

fn built(documents: Documents) -> Arc<Catalogue> {
    Arc::new(Catalogue::build(documents).expect("a catalogue"))
}

impl World {
    /// Returns a new store in which Alice has both webhooks.
    pub(crate) async fn with_webhooks() -> World {
        let world = World::new().await;
        world.enable_webhooks();
        world
    }

    pub(crate) fn enable_webhooks(&self) {
        self.store.set_catalogue(catalogue(Some(webhooks(true, true)), |_| {}));
    }

    pub(crate) async fn page(&self, endpoint: Endpoint) -> WebhookPage {
        self.flush().await;
        self.store
            .webhooks()
            .take(endpoint, None, self.now, WEBHOOKS_TAKEN_MAX)
            .await
            .expect("the store answers")
    }

    /// Returns the due delivery-report events, in order.
    pub(crate) async fn due_events(&self) -> Vec<WebhookEvent> {
        self.page(DLRS).await.events
    }

    /// Returns the message and status of each due delivery-report event.
    pub(crate) async fn due_statuses(&self) -> Vec<(MessageId, ReportStatus)> {
        self.due_events().await.iter().map(|event| (dlr(event).message, dlr(event).status)).collect()
    }

    /// Sends a message that the carrier accepts under `id` and sends these receipts for.
    pub(crate) async fn send_with_receipts(
        &self,
        acceptance: Acceptance,
        id: &str,
        verdicts: &[DeliveryOutcome],
    ) -> MessageId {
        let link = self.link().await;
        let message = self.send_accepted_as(&link, acceptance, id).await;
        for verdict in verdicts {
            link.receipt(id, *verdict).await;
        }
        self.flush().await;
        link.close().await.expect("it closes");
        message
    }

    pub(crate) async fn receive_inbound(&self, text: &str) -> MessageId {
        let inbound = Inbound {
            account: ALICE,
            from: "4915112345678".to_owned(),
            to: "12345".to_owned(),
            text: text.to_owned(),
            received_at: self.now,
        };
        self.store.inbound().receive(inbound).await.expect("an inbound message").message
    }
}

pub(crate) fn dlr(event: &WebhookEvent) -> &DlrEvent {
    match &event.content {
        WebhookContent::Dlr(dlr) => dlr,
        WebhookContent::Inbound(inbound) => panic!("not a delivery report: {inbound:?}"),
    }
}

/// Returns the woken endpoints, sorted; panics if there are none.
pub(crate) async fn woken_endpoints(store: &Store) -> Vec<Endpoint> {
    let woken = within(PATIENCE, store.webhooks().woken_endpoints()).await;
    let mut woken = woken.expect("an endpoint is woken");
    woken.sort_unstable();
    woken
}

pub(crate) async fn assert_no_wakeup(store: &Store) {
    let woken = within(Duration::ZERO, store.webhooks().woken_endpoints()).await;
    assert!(woken.is_err(), "woken: {woken:?}");
}

#[tokio::test]
async fn change_of_an_http_message_is_due_at_once_and_wakes_the_endpoint_after_the_commit() {
    let world = World::with_webhooks().await;
    assert_no_wakeup(&world.store).await;
    let message = world.send_with_receipts(world.sms(), "id", &[DeliveryOutcome::Delivered]).await;
    assert_eq!(woken_endpoints(&world.store).await, [DLRS]);
    assert_no_wakeup(&world.store).await;
    let due = world.due_events().await;
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
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), [(DLRS, world.now)]);
    assert_eq!(world.due_events().await, due, "taking events does not change them");
    world.assert_audit_clean();
}

#[tokio::test]
async fn enroute_and_every_final_status_make_an_event_and_others_do_not() {
    let cases: &[(&[DeliveryOutcome], &[&str])] = &[
        (&[], &[]),
        (&[DeliveryOutcome::NoChange], &[]),
        (
            &[DeliveryOutcome::Enroute, DeliveryOutcome::Accepted, DeliveryOutcome::Delivered],
            &["ENROUTE", "DELIVRD"],
        ),
        (&[DeliveryOutcome::Accepted], &["ACCEPTD"]),
        (&[DeliveryOutcome::Delivered, DeliveryOutcome::Undeliverable], &["DELIVRD"]),
        (&[DeliveryOutcome::Undeliverable], &["UNDELIV"]),
        (&[DeliveryOutcome::Rejected], &["REJECTD"]),
        (&[DeliveryOutcome::Expired], &["EXPIRED"]),
    ];
    let world = World::with_webhooks().await;
    for (place, (verdicts, expect)) in cases.iter().enumerate() {
        let message = world.send_with_receipts(world.sms(), &format!("id{place}"), verdicts).await;
        let told = world.due_statuses().await;
        let words: Vec<_> =
            told.iter().filter(|(about, _)| *about == message).map(|(_, told)| told.word()).collect();
        assert_eq!(words, *expect, "case {place}");
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_without_receipt_in_time_makes_one_unknown_event_and_a_late_receipt_another() {
    let mut world = World::with_webhooks().await;
    let link = world.link().await;
    let message = world.send_accepted_as(&link, world.sms(), "id").await;
    world.advance(VALIDITY + RECEIPT_WAIT).await;
    world.sweep(world.now).await;
    world.sweep(world.now).await;
    let link = Link { now: world.now, ..link };
    link.receipt("id", DeliveryOutcome::Delivered).await;
    assert_eq!(
        world.due_statuses().await,
        [(message, ReportStatus::Final(DlrCode::Unknown)), (message, DELIVERED)]
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_with_parts_overdue_at_different_times_makes_one_unknown_event() {
    let mut world = World::with_webhooks().await;
    let link = world.link_with_slots(2).await;
    let message = world.send(Acceptance { parts: 2, ..world.sms() }).await;
    let jobs = link.take_jobs(2).await;
    link.accept(&jobs[0], "a").await;
    world.advance(VALIDITY + RECEIPT_WAIT).await;
    let link = Link { now: world.now, ..link };
    // The second part is still being sent.
    world.sweep(world.now).await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.accept(&jobs[1], "b").await;
    world.flush().await;
    world.sweep(world.now).await;
    link.receipt("b", DeliveryOutcome::Delivered).await;
    assert_eq!(
        world.due_statuses().await,
        [(message, ReportStatus::Final(DlrCode::Unknown)), (message, DELIVERED)]
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_in_doubt_at_a_start_is_decided_with_the_stored_setup() {
    let mut world = World::new().await;
    world.store_setup(&documents(Some(webhooks(true, false)), |_| {})).await;
    let two_parts = Acceptance { parts: 2, doubt: DoubtPolicy::NeverResend, ..world.sms() };
    let link = world.link_with_slots(2).await;
    let message = world.send(two_parts).await;
    let jobs = link.take_jobs(2).await;
    link.accept(&jobs[0], "first").await;
    link.receipt("first", DeliveryOutcome::Enroute).await;
    world.flush().await;
    assert_eq!(world.due_statuses().await, [], "the second part has no response yet");
    world.kill();
    // The second part is not sent again and counts as submitted, so the message is enroute: that is an event.
    assert_eq!(world.state(message).await, MessageState::Enroute);
    assert_eq!(world.due_statuses().await, [(message, ReportStatus::Enroute)]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn change_without_a_webhook_of_its_kind_makes_no_event() {
    let mut world = World::new().await;
    world.send_with_receipts(world.sms(), "no catalogue", &[DeliveryOutcome::Delivered]).await;
    world.store.set_catalogue(catalogue(None, |_| {}));
    world.send_with_receipts(world.sms(), "none", &[DeliveryOutcome::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(false, true)), |_| {}));
    world.send_with_receipts(world.sms(), "for messages only", &[DeliveryOutcome::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, false)), |_| {}));
    world.receive_inbound("hi").await;
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), []);
    assert_no_wakeup(&world.store).await;
    // The webhooks at the time of the change count, also for messages read back from the tables.
    let message = world.send(Acceptance { validity: secs(60), ..world.sms() }).await;
    world.restart().await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, false)), |_| {}));
    world.advance(secs(60)).await;
    world.sweep(world.now).await;
    assert_eq!(world.due_statuses().await, [(message, EXPIRED)]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn event_has_the_form_of_its_connection_at_the_time_of_the_change() {
    let world = World::new().await;
    let short = |connection: &mut Connection| connection.dlr_form = DlrForm::Short;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), short));
    world.send_with_receipts(world.sms(), "a", &[DeliveryOutcome::Delivered]).await;
    world
        .send_with_receipts(
            Acceptance { connection: SECOND, ..world.sms() },
            "b",
            &[DeliveryOutcome::Delivered],
        )
        .await;
    world.enable_webhooks();
    world.send_with_receipts(world.sms(), "c", &[DeliveryOutcome::Delivered]).await;
    let forms: Vec<_> = world.due_events().await.iter().map(|event| dlr(event).form).collect();
    assert_eq!(forms, [DlrForm::Short, DlrForm::Full, DlrForm::Full]);
}

#[tokio::test]
async fn mo_message_makes_an_event_with_its_text_on_its_own_endpoint() {
    let world = World::with_webhooks().await;
    let message = world.receive_inbound("hi there").await;
    world.send_with_receipts(world.sms(), "id", &[DeliveryOutcome::Delivered]).await;
    let due = world.page(MESSAGES).await;
    assert_eq!((due.events.len(), due.next_due), (1, None));
    let WebhookContent::Inbound(inbound) = &due.events[0].content else { panic!("{due:?}") };
    assert_eq!((inbound.id, inbound.message, inbound.text.as_str()), (1, message, "hi there"));
    assert_eq!(due.events[0].endpoint(), MESSAGES);
    assert_eq!(woken_endpoints(&world.store).await, [DLRS, MESSAGES]);
    assert_eq!(world.store.webhooks().waiting().await.unwrap(), [(DLRS, world.now), (MESSAGES, world.now)]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn webhooks_too_reports_over_smpp_by_registered_delivery_and_every_change_to_the_webhook() {
    let world = World::new().await;
    let too = |connection: &mut Connection| connection.webhooks_too = true;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), too));
    let port = world.store.open_receiver(CONNECTION);
    let verdicts = [DeliveryOutcome::Enroute, DeliveryOutcome::Delivered];
    let asked = world.send_with_receipts(world.smpp_message(1), "a", &verdicts).await;
    let silent = world.send_with_receipts(world.smpp_message(0), "b", &verdicts).await;
    assert_eq!(
        world.take_and_answer_reports(&port, 1).await,
        [(asked, DELIVERED)],
        "as registered_delivery says"
    );
    world.assert_no_reports(&port).await;
    let expect = [
        (asked, ReportStatus::Enroute),
        (asked, DELIVERED),
        (silent, ReportStatus::Enroute),
        (silent, DELIVERED),
    ];
    assert_eq!(world.due_statuses().await, expect, "every change");
    // Another connection of the same account reports over SMPP only.
    let other = Acceptance { connection: SECOND, ..world.smpp_message(1) };
    world.send_with_receipts(other, "c", &verdicts).await;
    assert_eq!(world.due_statuses().await, expect);
    assert_eq!(world.store.reports().waiting(SECOND).await.unwrap(), 1);
    world.assert_audit_clean();
}
