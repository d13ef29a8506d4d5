//! Messages from handsets while gateways are killed: short ones and long ones in parts. The carrier brings again what it got
//! no answer for, so whatever was answered with 0 must be there, and nothing may be there twice. A customer takes what is
//! brought over a bind, at least once.

use super::{Chance, number_from};
use crate::assembly::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Esme;
use hermod_simulator::carrier::{Carrier, CarrierOptions, MoText, Record, RecordMode, Script};
use hermod_smpp::{BindType, CommandId, CommandStatus, VERSION_3_4};
use hermod_store::{OpenOptions, Store};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const CYCLES: u64 = 10;
const LIFE_MS: std::ops::Range<u64> = 300..1_500;
/// Messages said in each life; every third of them is long.
const EACH_LIFE: u64 = 150;
const NUMBER: &str = "4915799999999";
const HANDSET: u64 = 4_915_112_000_000;
/// How long everything may take to come to its end after the last start.
const SETTLE_WAIT: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answered_message_from_a_handset_is_lost_or_doubled_however_often_we_die() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_117));
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(Script::new()) };
    let carrier = Carrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut brought = BTreeMap::new();
    let (mut said, mut parts) = (0, 0);

    for cycle in 0..cycles {
        let gateway = start(folder.path(), carrier.addr());
        for number in said..said + EACH_LIFE {
            let message = MoText::new(&(HANDSET + number).to_string(), NUMBER, &text(number)).parts();
            parts += message.len() as u64;
            // The last part first: what is missing comes after the kill as often as not.
            carrier.send_mo_parts(message.into_iter().rev());
        }
        said += EACH_LIFE;
        let life = Duration::from_millis(chance.within(LIFE_MS));
        tokio::select! {
            () = takes(gateway.smpp_address(), &mut brought) => {}
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

    // The last life: the carrier gets an answer to everything, and the customer everything that is brought.
    let gateway = start(folder.path(), carrier.addr());
    let answered = move |record: &Record| record.counts().mo_accepted >= parts;
    let record = carrier.record();
    tokio::join!(
        async { record.wait_until(answered, SETTLE_WAIT).await.expect("everything is answered") },
        takes_all(gateway.smpp_address(), said, &mut brought)
    );
    gateway.stop().await;
    compare(folder.path(), said, &brought).await;
    carrier.stop().await;
}

/// Every third is long.
fn text(number: u64) -> String {
    let words = format!("message {number} ");
    if number.is_multiple_of(3) { words.repeat(30) } else { words }
}

fn start(folder: &Path, carrier: SocketAddr) -> Served {
    let provision = assembly::provision_text(carrier, "100000");
    let access = format!(
        "[[number]]\nnumber = \"+{NUMBER}\"\naccount = \"alice\"\n[[connection]]\nname = \"alice-smpp\"\n\
         account = \"alice\"\nsystem_id = \"alice\"\npassword = \"secret12\"\nwindow = 50\ninbound = \"payload\"\n"
    );
    let settings = "[messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n";
    Served::start_with(folder, settings, &format!("{provision}{access}"))
}

/// Takes what is brought for as long as somebody brings.
async fn takes(address: SocketAddr, brought: &mut BTreeMap<String, u32>) {
    let mut esme = Esme::connect(address).await;
    let bound = esme.tries_to_bind(BindType::Receiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(bound, CommandStatus::OK);
    while take_one(&mut esme, brought).await {}
}

/// What was under way when a gateway died is brought again after half a minute.
async fn takes_all(address: SocketAddr, said: u64, brought: &mut BTreeMap<String, u32>) {
    let mut esme = Esme::bind(address, BindType::Receiver, "alice").await;
    let started = now();
    while (brought.len() as u64) < said {
        assert!(started.elapsed() < SETTLE_WAIT + PATIENCE, "{} of {said} were brought", brought.len());
        assert!(take_one(&mut esme, brought).await, "the gateway went away");
    }
    esme.unbinds_after_receipts().await;
}

async fn take_one(esme: &mut Esme, brought: &mut BTreeMap<String, u32>) -> bool {
    let Some(frame) = esme.reads().await else { return false };
    if frame.header.command == CommandId::DELIVER_SM {
        let message = Esme::message_in(&frame);
        let text = String::from_utf8(message.octets.clone()).expect("ASCII");
        *brought.entry(text).or_default() += 1;
        esme.answers_message(&message, CommandStatus::OK).await;
    }
    true
}

/// Each text exactly once in the store, in numbers without gaps; and each was brought.
async fn compare(folder: &Path, said: u64, brought: &BTreeMap<String, u32>) {
    let data = assembly::data_folder(folder);
    let audit = hermod_store::Store::audit(&data).expect("an audit");
    assert!(audit.is_clean(), "the audit found {:#?}", audit.violations);
    let options = OpenOptions {
        folder: data,
        low_water_bytes: 0,
        in_doubt_wait: Duration::ZERO,
        now: assembly::wall_time(),
    };
    let store = Store::open(&options).expect("the store opens");
    let account = assembly::account_id(&store).await;
    let (mut last, mut texts) = (0, BTreeMap::new());
    loop {
        let page = store.inbound(account, last, 500).await.expect("a read");
        let Some(end) = page.last() else { break };
        let expect: Vec<u64> = (last + 1..=end.id).collect();
        assert_eq!(page.iter().map(|record| record.id).collect::<Vec<_>>(), expect, "no gaps");
        last = end.id;
        page.into_iter().for_each(|record| *texts.entry(record.text).or_insert(0) += 1);
    }
    let expect: BTreeMap<String, i32> = (0..said).map(|number| (text(number), 1)).collect();
    assert_eq!(texts, expect, "each message once");
    assert!(expect.keys().all(|text| brought.contains_key(text)), "each was brought");
    let again = brought.values().filter(|times| **times > 1).count();
    println!("{said} messages, each stored once; {again} were brought more than once");
    store.close().await.expect("the store closes");
}
