//! Orderly restarts of the nodes in turn, with customers on all of them. Careful customers notice nothing: over HTTP they send a
//! request again with the same idempotency key if its connection is closed, over SMPP they bind elsewhere after an unbind.

use super::rig::{Cluster, KEYS_PER_NODE, NAMES, cycles};
use crate::cli::process::{command, path};
use crate::crash::Customer;
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Esme, message};
use hermod_gateway::clock::within;
use hermod_simulator::load::http::Which;
use hermod_smpp::{CommandId, CommandStatus, Frame, Pdu, encode};
use hermod_store::ACCEPT_WAIT_MAX;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Restarts in the gate: each node once.
const ROUNDS: u64 = 3;
/// Binds of the customer, more than nodes.
const BINDS: usize = 4;
/// Submits of a bind without a response. Without a window, those of a slow takeover would arrive as a burst over the rate.
const WINDOW: usize = 10;
/// How long HTTP customers keep their connections to a node that leaves.
const STAY: Duration = Duration::from_secs(1);
/// The pause of each bind between two submits: below the rate of a standard account.
const SUBMIT_EVERY: Duration = Duration::from_millis(60);

const ALICE_SMPP: &str = "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\n\
     system_id = \"alice\"\npassword = \"secret12\"\nmax_binds = 8\n";

/// The SMPP customer's record.
#[derive(Default)]
struct Book {
    sent: u64,
    accepted: BTreeSet<String>,
    /// Number of receipts of each message.
    receipts: BTreeMap<String, u32>,
    rebinds: u64,
    /// Submits that were rejected after [`ACCEPT_WAIT_MAX`]: the machine was too slow for a takeover in that time.
    late: u64,
    /// What a customer should not have noticed.
    errors: Vec<String>,
}

/// A customer with several binds, behind a load balancer that knows which nodes serve.
#[derive(Clone, Default)]
struct SmppCustomer {
    serving: Arc<Mutex<Vec<SocketAddr>>>,
    book: Arc<Mutex<Book>>,
    /// Sends no more, and unbinds when all receipts are there.
    finishing: Arc<AtomicBool>,
}

impl SmppCustomer {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("the lock is not poisoned")
    }

    /// Serves one bind after the other until the customer has all receipts.
    async fn run(self, number: usize) {
        for turn in number.. {
            let address = {
                let serving = self.serving.lock().expect("the lock is not poisoned");
                serving[turn % serving.len()]
            };
            // A node that has left meanwhile: the load balancer would choose another one.
            let Some((mut esme, status)) = Esme::try_bind_at(address, "alice").await else {
                pause(SUBMIT_EVERY).await;
                continue;
            };
            if status != CommandStatus::OK {
                self.book().errors.push(format!("a bind got {status}"));
                return;
            }
            if !self.serve(&mut esme).await {
                return;
            }
            self.book().rebinds += 1;
        }
    }

    /// Submits and answers receipts until the gateway unbinds. Returns false at the end.
    async fn serve(&self, esme: &mut Esme) -> bool {
        let mut open = BTreeMap::new();
        let mut unbound = None;
        loop {
            if let (Some(sequence), true) = (unbound, open.is_empty()) {
                answer(esme, &Pdu::UnbindResp, sequence).await;
                return true;
            }
            if self.finishing.load(Ordering::Relaxed) && open.is_empty() && self.has_all_receipts() {
                return false;
            }
            tokio::select! {
                frame = esme.read_pdu() => match frame {
                    Some(frame) => self.take(esme, &frame, &mut open, &mut unbound).await,
                    None => {
                        let error = format!("a bind was closed with {} submits unanswered", open.len());
                        self.book().errors.push(error);
                        return true;
                    }
                },
                () = pause(SUBMIT_EVERY) => {
                    let has_room = open.len() < WINDOW;
                    if has_room && unbound.is_none() && !self.finishing.load(Ordering::Relaxed) {
                        let text = {
                            let mut book = self.book();
                            book.sent += 1;
                            format!("restart {}", book.sent)
                        };
                        let sent_at = now();
                        open.insert(esme.send(&Pdu::SubmitSm(message(&text))).await, sent_at);
                    }
                }
            }
        }
    }

    async fn take(
        &self,
        esme: &mut Esme,
        frame: &Frame,
        open: &mut BTreeMap<u32, Instant>,
        unbound: &mut Option<u32>,
    ) {
        let sequence = frame.header.sequence;
        match frame.header.command {
            CommandId::DELIVER_SM => {
                let receipt = Esme::parse_receipt(frame);
                *self.book().receipts.entry(receipt.get("id").to_owned()).or_default() += 1;
                esme.answer_receipt(&receipt, CommandStatus::OK).await;
            }
            CommandId::SUBMIT_SM_RESP => {
                let waited = open.remove(&sequence).map_or(Duration::ZERO, |sent_at| sent_at.elapsed());
                match frame.decode() {
                    Ok(Pdu::SubmitSmResp(response)) if frame.header.status == CommandStatus::OK => {
                        let id = String::from_utf8(response.message_id.to_vec()).expect("digits");
                        self.book().accepted.insert(id);
                    }
                    // It met the unbind on its way. The customer sends the text again with the next bind.
                    _ if unbound.is_some() && frame.header.status == CommandStatus::THROTTLED => {}
                    _ if waited >= ACCEPT_WAIT_MAX && frame.header.status == CommandStatus::THROTTLED => {
                        self.book().late += 1;
                    }
                    _ => {
                        let error = format!("a submit got {}", frame.header.status);
                        self.book().errors.push(error);
                    }
                }
            }
            CommandId::ENQUIRE_LINK => answer(esme, &Pdu::EnquireLinkResp, sequence).await,
            CommandId::UNBIND => *unbound = Some(sequence),
            other => self.book().errors.push(format!("{other} from the gateway")),
        }
    }

    fn has_all_receipts(&self) -> bool {
        let book = self.book();
        book.accepted.iter().all(|id| book.receipts.contains_key(id))
    }
}

async fn answer(esme: &mut Esme, pdu: &Pdu<'_>, sequence: u32) {
    let mut out = bytes::BytesMut::new();
    encode(pdu, CommandStatus::OK, sequence, &mut out).expect("a PDU");
    esme.send_octets(&out).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn careful_customers_notice_no_restart_of_any_node() {
    let Some(mut cluster) = Cluster::start_patient(3).await else { return };
    let file = cluster.path().join("alice.toml");
    std::fs::write(&file, ALICE_SMPP).expect("a file");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    command(&cluster.data(0), &["apply", path(&file)]);
    for node in cluster.nodes.iter().flatten() {
        Esme::wait_until_bound(node.smpp_address(), "alice").await;
    }
    let (http, smpp) = (Customer::paced(20.0), SmppCustomer::default());
    let addresses = |cluster: &Cluster| -> Vec<SocketAddr> {
        cluster.nodes.iter().flatten().map(|node| node.smpp_address()).collect()
    };
    *smpp.serving.lock().expect("not poisoned") = addresses(&cluster);
    let mut binds = JoinSet::new();
    for number in 0..BINDS {
        binds.spawn(smpp.clone().run(number));
    }
    for round in 0..cycles(ROUNDS) {
        let index = usize::try_from(round).expect("a few") % NAMES.len();
        let had_engine = cluster.engine().await == index;
        let stopping = cluster.take_node(index);
        let keys = http.next_keys(1, KEYS_PER_NODE).remove(0);
        let load = http.start(&stopping, Which::These(keys.into())).await;
        // The load balancer sees that the node is not ready.
        *smpp.serving.lock().expect("not poisoned") = addresses(&cluster);
        let began = now();
        let leave = async {
            pause(STAY).await;
            load.stopper().stop();
        };
        cluster.send_during(&http, async { _ = tokio::join!(stopping.stop(), leave) }).await;
        load.finish().await;
        let took = began.elapsed();
        cluster.start_node(index);
        *smpp.serving.lock().expect("not poisoned") = addresses(&cluster);
        let (sent, rebinds) = {
            let book = smpp.book();
            (book.sent, book.rebinds)
        };
        println!(
            "round {}: {} restarted in {took:?}, it had the engine: {had_engine}; {} over HTTP, {sent} over SMPP, {rebinds} rebinds",
            round + 1,
            NAMES[index],
            http.acknowledged()
        );
    }
    smpp.finishing.store(true, Ordering::Relaxed);
    within(PATIENCE, binds.join_all()).await.expect("all receipts in time");
    {
        let book = smpp.book();
        let repeated: Vec<_> = book.receipts.iter().filter(|(_, times)| **times > 1).collect();
        println!(
            "{} messages, {} receipts, repeated: {repeated:?}",
            book.accepted.len(),
            book.receipts.len()
        );
        assert_eq!(book.errors, Vec::<String>::new());
        assert!(repeated.is_empty(), "receipts that the customer had accepted came again");
        assert!(book.accepted.len() > 50 && book.rebinds > 0, "there was traffic");
    }
    let (over_smpp, late) = {
        let book = smpp.book();
        (book.accepted.iter().cloned().collect(), book.late)
    };
    println!("{late} submits were rejected because they had waited for {ACCEPT_WAIT_MAX:?}");
    let refusals: Vec<u16> =
        http.refusals().into_iter().filter(|status| late == 0 || *status != 503).collect();
    assert_eq!(refusals, Vec::<u16>::new(), "no request was refused");
    http.add_acknowledged(over_smpp);
    cluster.finish(&http).await;
}
