//! MO messages: stored before their deliver_sm is answered, deduplicated, concatenated, assigned to an account.

mod concatenation;
mod deliver_sm;
mod ownership;

use crate::world::*;
use hermod_domain::catalogue::{
    Account, Catalogue, Connection, Countries, Documents, InboundForm, NumberEntry, SmppAccess,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::money::{Currency, Money};
use hermod_domain::origin::SmppAddress;
use hermod_domain::sender::Sender;
use hermod_domain::text::ConcatPart;
use hermod_store::{MoRecord, REPEATS_KNOWN};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Owned by Alice.
pub(crate) const NUMBER: &str = "4915799999999";
/// Shared: Bob has the keyword VOTE.
const SHARED: &str = "80800";
/// Shared: Bob has the keyword VOTE; other messages go to Alice.
const SHARED_BY_ALICE: &str = "80801";
/// No account owns it.
pub(crate) const FOREIGN: &str = "4915788888888";
pub(crate) const HANDSET: &str = "4915112345678";
const OVER_SMPP: ConnectionId = ConnectionId::new(7);

/// Returns the numbers and keywords of Alice and Bob.
pub(crate) fn documents() -> Documents {
    let account = || Account {
        currency: Currency::parse("EUR").expect("a currency"),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Default::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: vec!["Basta".to_owned()],
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    let number = |number, account, keyword: Option<&str>| NumberEntry {
        number: Sender::parse(number).expect("a number"),
        account,
        keyword: keyword.map(str::to_owned),
    };
    Documents {
        accounts: vec![(ALICE, "alice".to_owned(), account()), (BOB, "bob".to_owned(), account())],
        numbers: vec![
            number("+4915799999999", ALICE, None),
            number(SHARED, BOB, Some("VOTE")),
            number(SHARED_BY_ALICE, BOB, Some("VOTE")),
            number(SHARED_BY_ALICE, ALICE, None),
        ],
        ..Documents::default()
    }
}

fn connection(account: AccountId, system_id: &str, inbound: InboundForm) -> Connection {
    Connection {
        account,
        default_sender: None,
        requests_per_second: 10,
        max_parts: None,
        allow: Default::default(),
        smart_encoding: false,
        closed: false,
        smpp: Some(SmppAccess { inbound, ..SmppAccess::new(system_id, "") }),
        dlr_form: Default::default(),
        webhooks_too: false,
    }
}

pub(crate) fn catalogue(connections: Vec<(ConnectionId, Connection)>) -> Arc<Catalogue> {
    Arc::new(Catalogue::build(Documents { connections, ..documents() }).expect("a catalogue"))
}

/// Receives a message for Bob that waits for his bind, and a part for Alice that waits for the next one.
pub(crate) async fn receive_one_for_bind_and_one_part(world: &World) {
    world.store.set_catalogue(catalogue(vec![(OVER_SMPP, connection(BOB, "bob", InboundForm::Parts))]));
    world.receive_mo(text(HANDSET, SHARED, "vote")).await;
    world.receive_mo(piece(1, 1, 2, "begun")).await;
}

pub(crate) fn text(from: &str, to: &str, text: &str) -> InboundPart {
    InboundPart {
        source: SmppAddress::new(1, 1, from.as_bytes()),
        destination: SmppAddress::new(1, 1, to.as_bytes()),
        concat: None,
        reference: None,
        segment: MoSegment {
            data_coding: 0,
            alphabet: Alphabet::Latin1,
            header: Box::default(),
            octets: text.as_bytes().into(),
        },
    }
}

pub(crate) fn piece(reference: u16, part: u8, total: u8, words: &str) -> InboundPart {
    InboundPart { concat: Some(ConcatPart { reference, total, part }), ..text(HANDSET, NUMBER, words) }
}

impl Link {
    /// Receives an MO part and waits until its deliver_sm may be answered.
    pub(crate) async fn receive_mo(&self, part: InboundPart) {
        let record = MoRecord { sequence: 77, part };
        self.port.record(vec![], vec![], vec![record], 0, self.now).await.expect("a report");
        assert_eq!(
            self.take_handout().await.received,
            [77],
            "the deliver_sm is answered once the part is stored"
        );
    }
}

impl World {
    pub(crate) async fn with_numbers() -> World {
        let world = World::new().await;
        world.store.set_catalogue(catalogue(Vec::new()));
        world
    }

    /// Returns the texts of the account's inbound messages.
    async fn inbound_texts(&self, account: AccountId) -> Vec<String> {
        let page = self.store.inbound().list(account, 0, 1_000).await.expect("the store answers");
        assert!(page.iter().zip(1..).all(|(record, id)| record.id == id), "{page:?}");
        page.into_iter().map(|record| record.text).collect()
    }

    pub(crate) async fn receive_mo(&self, part: InboundPart) {
        self.link().await.receive_mo(part).await;
    }
}

#[tokio::test]
async fn mo_message_is_stored_before_its_deliver_sm_is_answered_and_survives_a_kill() {
    let mut world = World::with_numbers().await;
    world.receive_mo(text(HANDSET, NUMBER, "hello")).await;
    world.kill();
    let page = world.store.inbound().list(ALICE, 0, 10).await.unwrap();
    let shown: Vec<_> = page.iter().map(|it| (it.from.as_str(), it.to.as_str(), it.text.as_str())).collect();
    assert_eq!(shown, [("+4915112345678", "+4915799999999", "hello")]);
    assert_eq!(page[0].received_at, world.now);
    world.assert_audit_clean();
}

#[tokio::test]
async fn repeated_deliver_sm_is_answered_and_not_stored_again() {
    let mut world = World::with_numbers().await;
    world.receive_mo(text(HANDSET, NUMBER, "yes")).await;
    world.restart().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.advance(REPEATS_KNOWN - secs(1)).await;
    world.receive_mo(text(HANDSET, NUMBER, "yes")).await;
    world.receive_mo(text(&format!("+{HANDSET}"), NUMBER, "yes")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["yes"]);
    // Not repeats: another text, handset, carrier or reference, or the same message later.
    world.receive_mo(text(HANDSET, NUMBER, "yes!")).await;
    world.receive_mo(text("4915100000000", NUMBER, "yes")).await;
    let other = world.link_of(CarrierId::new(9), hermod_store::LinkKind::ReceivesOnly).await;
    other.receive_mo(text(HANDSET, NUMBER, "yes")).await;
    world.receive_mo(InboundPart { reference: Some(4), ..text(HANDSET, NUMBER, "yes") }).await;
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    world.receive_mo(text(HANDSET, NUMBER, "yes")).await;
    assert_eq!(world.inbound_texts(ALICE).await.len(), 6);
    let known = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM inbound_seen") };
    assert!(known(&world) > 0);
    world.advance(REPEATS_KNOWN).await;
    world.sweep(world.now).await;
    assert_eq!(known(&world), 0, "old entries are deleted");
    world.assert_audit_clean();
}

#[tokio::test]
async fn undecodable_mo_text_is_delivered_as_hexadecimal() {
    let world = World::with_numbers().await;
    for (alphabet, data_coding, octets) in [
        (Alphabet::Octets, 4, &b"\x00\xff"[..]),
        (Alphabet::Gsm, 0, b"\x80"),
        (Alphabet::Ucs2, 8, b"\x04\x16\x00"),
        (Alphabet::Ucs2, 8, b"\x04\x16"),
    ] {
        let segment = MoSegment { data_coding, alphabet, header: Box::default(), octets: octets.into() };
        world.receive_mo(InboundPart { segment, ..text(HANDSET, NUMBER, "") }).await;
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["00ff", "80", "041600", "Ж"]);
    world.assert_audit_clean();
}

/// Several links receive while a poller pages by the last number it has seen. If numbers became visible out of
/// order, the poller would miss messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poller_beside_many_links_reads_every_message_once_and_in_order() {
    const LINKS: usize = 8;
    const EACH: usize = 60;
    let world = World::with_numbers().await;
    let mut bringing = JoinSet::new();
    for number in 0..LINKS {
        let link = world.link_of(CarrierId::new(1), hermod_store::LinkKind::ReceivesOnly).await;
        bringing.spawn(async move {
            for count in 0..EACH {
                link.receive_mo(text(HANDSET, NUMBER, &format!("{number}/{count}"))).await;
            }
        });
    }
    let (mut ids, mut texts) = (Vec::new(), Vec::new());
    while ids.len() < LINKS * EACH {
        let since = ids.last().copied().unwrap_or(0);
        for record in world.store.inbound().list(ALICE, since, 7).await.unwrap() {
            ids.push(record.id);
            texts.push(record.text);
        }
    }
    bringing.join_all().await;
    assert_eq!(ids, (1..=u64::try_from(LINKS * EACH).unwrap()).collect::<Vec<_>>(), "no gaps, no repeats");
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), LINKS * EACH);
    assert!(world.store.inbound().list(ALICE, ids[ids.len() - 1], 7).await.unwrap().is_empty());
    world.assert_audit_clean();
}
