//! Messages from handsets: what a carrier brings is stored before it is answered, once, whole, and for whose it is.

mod joining;
mod owners;
mod smpp;

use crate::world::*;
use hermod_domain::catalogue::{
    Account, Catalogue, Connection, Countries, Documents, InboundForm, NumberEntry, SmppAccess,
};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::inbound::{Alphabet, InboundPart, Piece};
use hermod_domain::money::{Currency, Money};
use hermod_domain::origin::WrittenAddress;
use hermod_domain::sender::Sender;
use hermod_domain::text::Joined;
use hermod_store::{MoRecord, REPEATS_KNOWN};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Owned by Alice.
const NUMBER: &str = "4915799999999";
/// Shared: Bob has the word VOTE.
const SHARED: &str = "80800";
/// Shared likewise, and otherwise Alice's.
const SHARED_BY_ALICE: &str = "80801";
/// Nobody owns it.
const FOREIGN: &str = "4915788888888";
const HANDSET: &str = "4915112345678";
const OVER_SMPP: ConnectionId = ConnectionId::new(7);

/// What Alice and Bob have.
fn documents() -> Documents {
    let account = || Account {
        currency: Currency::parse("EUR").expect("a currency"),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        senders: Vec::new(),
        terms: None,
        countries: Countries::All,
        closed: false,
        tier: Default::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: vec!["Basta".to_owned()],
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

fn catalogue(connections: Vec<(ConnectionId, Connection)>) -> Arc<Catalogue> {
    Arc::new(Catalogue::build(Documents { connections, ..documents() }).expect("a catalogue"))
}

/// A message for Bob that waits for his bind, and a part for Alice that waits for another.
pub(crate) async fn one_of_each(world: &World) {
    world.store.set_catalogue(catalogue(vec![(OVER_SMPP, connection(BOB, "bob", InboundForm::Parts))]));
    world.brings(text(HANDSET, SHARED, "vote")).await;
    world.brings(piece(1, 1, 2, "begun")).await;
}

pub(crate) fn text(from: &str, to: &str, text: &str) -> InboundPart {
    InboundPart {
        source: WrittenAddress::new(1, 1, from.as_bytes()),
        destination: WrittenAddress::new(1, 1, to.as_bytes()),
        joined: None,
        reference: None,
        piece: Piece {
            data_coding: 0,
            alphabet: Alphabet::Latin1,
            header: Box::default(),
            octets: text.as_bytes().into(),
        },
    }
}

fn piece(reference: u16, part: u8, total: u8, words: &str) -> InboundPart {
    InboundPart { joined: Some(Joined { reference, total, part }), ..text(HANDSET, NUMBER, words) }
}

impl Link {
    /// Brings what a handset sent, and waits until it may be answered.
    async fn brings(&self, part: InboundPart) {
        let record = MoRecord { sequence: 77, part };
        self.port.record(vec![], vec![], vec![record], 0, self.now).await.expect("a report");
        assert_eq!(self.takes().await.received, [77], "answered once it is stored");
    }
}

impl World {
    async fn with_numbers() -> World {
        let world = World::new().await;
        world.store.set_catalogue(catalogue(Vec::new()));
        world
    }

    /// The texts an account can read.
    async fn reads(&self, account: AccountId) -> Vec<String> {
        let page = self.store.inbound(account, 0, 1_000).await.expect("the store answers");
        assert!(page.iter().zip(1..).all(|(record, id)| record.id == id), "{page:?}");
        page.into_iter().map(|record| record.text).collect()
    }

    async fn brings(&self, part: InboundPart) {
        self.link().await.brings(part).await;
    }
}

#[tokio::test]
async fn what_a_handset_sends_is_stored_before_it_is_answered_and_survives_a_kill() {
    let mut world = World::with_numbers().await;
    world.brings(text(HANDSET, NUMBER, "hello")).await;
    world.is_killed();
    let page = world.store.inbound(ALICE, 0, 10).await.unwrap();
    let shown: Vec<_> = page.iter().map(|it| (it.from.as_str(), it.to.as_str(), it.text.as_str())).collect();
    assert_eq!(shown, [("+4915112345678", "+4915799999999", "hello")]);
    assert_eq!(page[0].received_at, world.now);
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_brought_again_is_answered_again_and_is_not_another_message() {
    let mut world = World::with_numbers().await;
    world.brings(text(HANDSET, NUMBER, "yes")).await;
    world.restarts().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.passes(REPEATS_KNOWN - secs(1)).await;
    world.brings(text(HANDSET, NUMBER, "yes")).await;
    world.brings(text(&format!("+{HANDSET}"), NUMBER, "yes")).await;
    assert_eq!(world.reads(ALICE).await, ["yes"]);
    // Others: another text, another handset, another carrier, the handset's own number for it, and later.
    world.brings(text(HANDSET, NUMBER, "yes!")).await;
    world.brings(text("4915100000000", NUMBER, "yes")).await;
    let other = world.link_of(CarrierId::new(9), hermod_store::LinkKind::ReceivesOnly).await;
    other.brings(text(HANDSET, NUMBER, "yes")).await;
    world.brings(InboundPart { reference: Some(4), ..text(HANDSET, NUMBER, "yes") }).await;
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    world.brings(text(HANDSET, NUMBER, "yes")).await;
    assert_eq!(world.reads(ALICE).await.len(), 6);
    let known = |world: &World| -> i64 {
        world.raw().query_row("SELECT count(*) FROM inbound_seen", [], |row| row.get(0)).unwrap()
    };
    assert!(known(&world) > 0);
    world.passes(REPEATS_KNOWN).await;
    world.sweeps(world.now).await;
    assert_eq!(known(&world), 0, "nothing is known for ever");
    world.books_are_sound();
}

#[tokio::test]
async fn what_cannot_be_read_is_delivered_in_hexadecimal_digits() {
    let world = World::with_numbers().await;
    for (alphabet, data_coding, octets) in [
        (Alphabet::Octets, 4, &b"\x00\xff"[..]),
        (Alphabet::Gsm, 0, b"\x80"),
        (Alphabet::Ucs2, 8, b"\x04\x16\x00"),
        (Alphabet::Ucs2, 8, b"\x04\x16"),
    ] {
        let piece = Piece { data_coding, alphabet, header: Box::default(), octets: octets.into() };
        world.brings(InboundPart { piece, ..text(HANDSET, NUMBER, "") }).await;
    }
    assert_eq!(world.reads(ALICE).await, ["00ff", "80", "041600", "Ж"]);
    world.books_are_sound();
}

/// Several links bring, a poller pages by the last number it has seen. A sequence whose numbers become visible out of
/// order would lose what is committed behind the poller's back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poller_beside_many_links_sees_every_message_once_and_in_order() {
    const LINKS: usize = 8;
    const EACH: usize = 60;
    let world = World::with_numbers().await;
    let mut bringing = JoinSet::new();
    for number in 0..LINKS {
        let link = world.link_of(CarrierId::new(1), hermod_store::LinkKind::ReceivesOnly).await;
        bringing.spawn(async move {
            for count in 0..EACH {
                link.brings(text(HANDSET, NUMBER, &format!("{number}/{count}"))).await;
            }
        });
    }
    let (mut ids, mut texts) = (Vec::new(), Vec::new());
    while ids.len() < LINKS * EACH {
        let since = ids.last().copied().unwrap_or(0);
        for record in world.store.inbound(ALICE, since, 7).await.unwrap() {
            ids.push(record.id);
            texts.push(record.text);
        }
    }
    bringing.join_all().await;
    assert_eq!(ids, (1..=u64::try_from(LINKS * EACH).unwrap()).collect::<Vec<_>>(), "no gaps, no repeats");
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), LINKS * EACH);
    assert!(world.store.inbound(ALICE, ids[ids.len() - 1], 7).await.unwrap().is_empty());
    world.books_are_sound();
}
