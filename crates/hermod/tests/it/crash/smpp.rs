//! The crash rig over SMPP: a customer with a full window, killed gateways, and a receipt due for every message. SMPP has
//! no idempotency keys, so unanswered messages are not sent again; answered ones must be stored, charged once, and
//! receipted at least once.

use super::{Chance, check_each_message};
use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, message};
use crate::store_access::{audit, audit_clean, number_from, store_of};
use hermod_simulator::carrier::{CarrierOptions, Outcome, RecordMode, Script, SimulatedCarrier};
use hermod_smpp::{BindType, CommandId, CommandStatus, Frame, Pdu, VERSION_3_4};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const CYCLES: u64 = 10;
const WINDOW: usize = 50;
/// The lifetime of a process before it is killed, drawn for each cycle.
const LIFE_MS: std::ops::Range<u64> = 300..1_500;

/// The customer's record.
#[derive(Default)]
struct Book {
    sent: u64,
    /// Ids of accepted messages.
    acknowledged: BTreeSet<String>,
    /// Number of receipts of each message.
    receipts: BTreeMap<String, u32>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_submit_sm_is_lost_or_charged_twice_and_no_receipt_is_lost_over_random_kills() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_116));
    let script = Script::new().receipt_after(Duration::from_millis(5), Outcome::Delivered);
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut book = Book::default();

    for cycle in 0..cycles {
        let gateway = start(folder.path(), carrier.addr());
        let life = Duration::from_millis(chance.within(LIFE_MS));
        tokio::select! {
            () = send(gateway.smpp_address(), &mut book) => panic!("the gateway ended by itself"),
            () = pause(life) => {}
        }
        gateway.kill();
        println!(
            "cycle {}: {} accepted, {} reported",
            cycle + 1,
            book.acknowledged.len(),
            book.receipts.len()
        );
    }

    // The last process: all parts end, and every receipt arrives.
    let gateway = start(folder.path(), carrier.addr());
    gateway.wait_until_no_open_parts(folder.path()).await;
    let stored = audit(&gateways::data_folder(folder.path())).messages;
    collect_receipts(gateway.smpp_address(), stored, &mut book).await;
    gateway.stop().await;
    compare(folder.path(), &book, &carrier).await;
    carrier.stop().await;
}

fn start(folder: &Path, carrier: SocketAddr) -> Served {
    let provision = gateways::provision_text(carrier, gateways::OPENING);
    let access = "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\n\
                  password = \"secret12\"\nwindow = 100\n";
    let provision = provision.replacen(
        "name = \"alice\"\n",
        "name = \"alice\"\ntier = \"enterprise\"\nsmpp_rate = 1000000\n",
        1,
    );
    let settings = "[messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n";
    Served::start_with(folder, settings, &format!("{provision}{access}"))
}

/// Keeps the window full until the gateway ends.
async fn send(address: SocketAddr, book: &mut Book) {
    let mut esme = Esme::connect(address).await;
    let bound = esme.try_bind(BindType::Transceiver, "alice", "secret12", VERSION_3_4).await;
    assert_eq!(bound, CommandStatus::OK);
    let mut open = 0;
    loop {
        while open < WINDOW {
            let text = format!("crash {}", book.sent);
            book.sent += 1;
            esme.send(&Pdu::SubmitSm(message(&text))).await;
            open += 1;
        }
        let Some(frame) = esme.read_pdu().await else { return };
        if take(&mut esme, &frame, book).await {
            open -= 1;
        }
    }
}

/// Records a PDU. Returns whether it is a submit_sm_resp.
async fn take(esme: &mut Esme, frame: &Frame, book: &mut Book) -> bool {
    match frame.header.command {
        CommandId::DELIVER_SM => {
            let receipt = Esme::parse_receipt(frame);
            *book.receipts.entry(receipt.get("id").to_owned()).or_default() += 1;
            esme.answer_receipt(&receipt, CommandStatus::OK).await;
            false
        }
        CommandId::SUBMIT_SM_RESP => {
            assert_eq!(frame.header.status, CommandStatus::OK);
            let Ok(Pdu::SubmitSmResp(answer)) = frame.decode() else { panic!("{frame:?}") };
            let id = String::from_utf8(answer.message_id.to_vec()).expect("digits");
            assert!(book.acknowledged.insert(id), "a message id was assigned twice");
            true
        }
        other => panic!("{other} from the gateway"),
    }
}

/// Receives receipts, also of stored messages whose responses were lost in a kill.
async fn collect_receipts(address: SocketAddr, stored: u64, book: &mut Book) {
    let mut esme = Esme::bind(address, BindType::Receiver, "alice").await;
    let started = now();
    while (book.receipts.len() as u64) < stored {
        assert!(started.elapsed() < PATIENCE, "receipts are missing");
        let frame = esme.read_pdu().await.expect("a receipt");
        take(&mut esme, &frame, book).await;
    }
    esme.unbind_after_receipts().await;
}

async fn compare(folder: &Path, book: &Book, carrier: &SimulatedCarrier) {
    let data = gateways::data_folder(folder);
    let audit = audit_clean(&data);
    let seen = carrier.record().counts();
    let distinct = seen.accepted - seen.duplicates;
    assert_eq!(distinct, audit.messages, "every message that was stored reached the carrier");
    assert!(seen.duplicates <= audit.resends, "{} copies, {} resends", seen.duplicates, audit.resends);
    // Stored messages without a response were in the window at a kill.
    let acknowledged = book.acknowledged.len() as u64;
    assert!(
        acknowledged <= audit.messages && audit.messages <= book.sent,
        "{acknowledged} {} {}",
        audit.messages,
        book.sent
    );
    assert!(book.acknowledged.iter().all(|id| book.receipts.contains_key(id)), "a receipt was lost");
    let again = book.receipts.values().filter(|times| **times > 1).count();
    println!(
        "{acknowledged} acknowledged of {} stored; {again} receipts came more than once",
        audit.messages
    );
    check_each_message(&store_of(&data), &data, book.receipts.keys().map(String::as_str)).await;
}
