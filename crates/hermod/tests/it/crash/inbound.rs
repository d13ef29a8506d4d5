//! MO messages while gateways are killed: short ones and long ones in parts. The carrier repeats each deliver_sm without
//! a response, so every message answered with 0 must be stored exactly once. A customer receives the messages
//! over a bind, at least once.

use super::Chance;
use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Esme;
use crate::store_access::{account_id, audit_clean, number_from, open_store};
use hermod_simulator::carrier::{
    CarrierOptions, CarrierRecord, MoText, RecordMode, Script, SimulatedCarrier,
};
use hermod_smpp::{BindType, CommandId, CommandStatus, VERSION_3_4};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const CYCLES: u64 = 10;
const LIFE_MS: std::ops::Range<u64> = 300..1_500;
/// MO messages in each cycle; every third is long.
const EACH_LIFE: u64 = 150;
const NUMBER: &str = "4915799999999";
const HANDSET: u64 = 4_915_112_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answered_mo_message_is_lost_or_duplicated_over_random_kills() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_117));
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(Script::new()) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut brought = BTreeMap::new();
    let (mut said, mut parts) = (0, 0);

    for cycle in 0..cycles {
        let gateway = start(folder.path(), carrier.addr());
        for number in said..said + EACH_LIFE {
            let message = MoText::new(&(HANDSET + number).to_string(), NUMBER, &text(number)).parts();
            parts += message.len() as u64;
            // The last part first, so that missing parts often arrive after the kill.
            carrier.send_mo_parts(message.into_iter().rev());
        }
        said += EACH_LIFE;
        let life = Duration::from_millis(chance.within(LIFE_MS));
        tokio::select! {
            () = take_until_closed(gateway.smpp_address(), &mut brought) => {}
            () = pause(life) => {}
        }
        gateway.kill();
        let taken = carrier.record().counts().mo_accepted;
        println!(
            "cycle {}: {said} said in {parts} parts, {taken} answered, {} brought",
            cycle + 1,
            brought.len()
        );
    }

    // The last process: all deliver_sm are answered, and the customer receives all messages.
    let gateway = start(folder.path(), carrier.addr());
    let answered = move |record: &CarrierRecord| record.counts().mo_accepted >= parts;
    let record = carrier.record();
    tokio::join!(
        async { record.wait_until(answered, PATIENCE).await.expect("all deliver_sm are answered") },
        take_all(gateway.smpp_address(), said, &mut brought)
    );
    gateway.stop().await;
    compare(folder.path(), said, &brought).await;
    carrier.stop().await;
}

/// Returns the text of a message; every third is long.
fn text(number: u64) -> String {
    let words = format!("message {number} ");
    if number.is_multiple_of(3) { words.repeat(30) } else { words }
}

fn start(folder: &Path, carrier: SocketAddr) -> Served {
    let provision = gateways::provision_text(carrier, gateways::OPENING);
    let access = format!(
        "[[number]]\nnumber = \"+{NUMBER}\"\naccount = \"alice\"\n[[connection]]\nname = \"alice-smpp\"\n\
         account = \"alice\"\nsystem_id = \"alice\"\npassword = \"secret12\"\nwindow = 50\ninbound = \"payload\"\n"
    );
    let settings = "[messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n";
    Served::start_with(folder, settings, &format!("{provision}{access}"))
}

/// Receives messages until the connection ends.
async fn take_until_closed(address: SocketAddr, brought: &mut BTreeMap<String, u32>) {
    let mut esme = Esme::connect(address).await;
    let bound = esme.try_bind(BindType::Receiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(bound, CommandStatus::OK);
    while take_one(&mut esme, brought).await {}
}

/// Receives until all messages came. A deliver_sm in flight at a kill is repeated after half a minute.
async fn take_all(address: SocketAddr, said: u64, brought: &mut BTreeMap<String, u32>) {
    let mut esme = Esme::bind(address, BindType::Receiver, "alice").await;
    let started = now();
    while (brought.len() as u64) < said {
        assert!(started.elapsed() < PATIENCE, "{} of {said} were brought", brought.len());
        assert!(take_one(&mut esme, brought).await, "the gateway closed the connection");
    }
    esme.unbind_after_receipts().await;
}

async fn take_one(esme: &mut Esme, brought: &mut BTreeMap<String, u32>) -> bool {
    let Some(frame) = esme.read_pdu().await else { return false };
    if frame.header.command == CommandId::DELIVER_SM {
        let message = Esme::parse_mo(&frame);
        let text = String::from_utf8(message.octets.clone()).expect("ASCII");
        *brought.entry(text).or_default() += 1;
        esme.answer_mo(&message, CommandStatus::OK).await;
    }
    true
}

/// Checks that the store has each text once, numbered without gaps, and that each was delivered.
async fn compare(folder: &Path, said: u64, brought: &BTreeMap<String, u32>) {
    let data = gateways::data_folder(folder);
    audit_clean(&data);
    let store = open_store(&data);
    let account = account_id(&store).await;
    let (mut last, mut texts) = (0, BTreeMap::new());
    loop {
        let page = store.inbound().list(account, last, 500).await.expect("a read");
        let Some(end) = page.last() else { break };
        let expect: Vec<u64> = (last + 1..=end.id).collect();
        assert_eq!(page.iter().map(|record| record.id).collect::<Vec<_>>(), expect, "no gaps");
        last = end.id;
        page.into_iter().for_each(|record| *texts.entry(record.text).or_insert(0) += 1);
    }
    let expect: BTreeMap<String, i32> = (0..said).map(|number| (text(number), 1)).collect();
    assert_eq!(texts, expect, "each message once");
    assert!(expect.keys().all(|text| brought.contains_key(text)), "each message was delivered");
    let again = brought.values().filter(|times| **times > 1).count();
    println!("{said} messages, each stored once; {again} were delivered more than once");
    store.close().await.expect("the store closes");
}
