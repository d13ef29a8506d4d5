//! Kills of the node with the engine, under load over SMPP through another node. SMPP has no idempotency keys: the surviving node
//! must find out what became of each submit_sm, and answer it.

use super::rig::{Cluster, NAMES, cycles};
use crate::cli::process::{command, path};
use crate::crash::Customer;
use crate::scenario::{Esme, message};
use hermod_smpp::{BindType, CommandId, CommandStatus, Frame, Pdu};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

const WINDOW: usize = 100;
/// Accepted messages before and after the kill.
const MESSAGES: usize = 500;

const ALICE_SMPP: &str = "[[account]]\nname = \"alice\"\ntier = \"enterprise\"\nsmpp_rate = 1000000\n\
     [[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\ndefault_sender = \"Hermod\"\n\
     system_id = \"alice\"\npassword = \"secret12\"\nwindow = 100\n";

/// A bind that keeps its window full.
struct Bind {
    esme: Esme,
    /// The texts of submits without a response, by sequence number.
    open: BTreeMap<u32, String>,
    sent: u64,
    accepted: Vec<String>,
    refused: u64,
}

impl Bind {
    async fn new(address: SocketAddr) -> Bind {
        let esme = Esme::bind(address, BindType::Transceiver, "alice").await;
        Bind { esme, open: BTreeMap::new(), sent: 0, accepted: Vec::new(), refused: 0 }
    }

    /// Sends until this many messages are accepted. The window is full then.
    async fn send_until(&mut self, accepted: usize, cycle: u64) {
        while self.accepted.len() < accepted {
            while self.open.len() < WINDOW {
                self.sent += 1;
                let text = format!("submit {cycle} {}", self.sent);
                let sequence = self.esme.send(&Pdu::SubmitSm(message(&text))).await;
                self.open.insert(sequence, text);
            }
            self.read().await;
        }
    }

    /// Waits for the response to every submit.
    async fn finish(mut self) -> (Vec<String>, u64) {
        while !self.open.is_empty() {
            self.read().await;
        }
        (self.accepted, self.refused)
    }

    async fn read(&mut self) {
        let Some(frame) = self.esme.read_pdu().await else {
            panic!("the bind was closed with {} submits unanswered", self.open.len())
        };
        match frame.header.command {
            CommandId::SUBMIT_SM_RESP => self.on_response(&frame),
            CommandId::DELIVER_SM => {
                let receipt = Esme::parse_receipt(&frame);
                self.esme.answer_receipt(&receipt, CommandStatus::OK).await;
            }
            other => panic!("{other} with {} submits unanswered", self.open.len()),
        }
    }

    fn on_response(&mut self, frame: &Frame) {
        assert!(self.open.remove(&frame.header.sequence).is_some(), "a second response: {frame:?}");
        if frame.header.status != CommandStatus::OK {
            // Not stored, which is compared at the end.
            self.refused += 1;
            return;
        }
        let Ok(Pdu::SubmitSmResp(response)) = frame.decode() else { panic!("{frame:?}") };
        self.accepted.push(String::from_utf8(response.message_id.to_vec()).expect("digits"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_submit_through_a_surviving_node_is_answered_when_the_engine_is_killed() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let file = cluster.path().join("alice.toml");
    std::fs::write(&file, ALICE_SMPP).expect("a file");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    command(&cluster.data(0), &["apply", path(&file)]);
    for node in cluster.nodes.iter().flatten() {
        Esme::wait_until_bound(node.smpp_address(), "alice").await;
    }
    let customer = Customer::default();
    for cycle in 0..cycles(3) {
        let engine = cluster.engine().await;
        let killed = cluster.take_node(engine);
        let survivor = (engine + 1) % NAMES.len();
        let mut bind = Bind::new(cluster.node(survivor).smpp_address()).await;
        bind.send_until(MESSAGES, cycle).await;
        killed.kill();
        bind.send_until(2 * MESSAGES, cycle).await;
        let (accepted, refused) = bind.finish().await;
        println!("cycle {}: {} accepted, {refused} refused", cycle + 1, accepted.len());
        customer.add_acknowledged(accepted);
        cluster.start_node(engine);
    }
    // Compares the store with what was acknowledged: nothing is stored or charged without a response.
    cluster.finish(&customer).await;
}
