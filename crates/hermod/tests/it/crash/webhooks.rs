//! The crash rig with webhooks: the receiver runs in this process, fails in some cycles, and records every
//! post. The report of each message must arrive at least once, always under the same event id.

use super::{Chance, Customer, compare};
use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::{account_id, number_from, open_store};
use hermod_simulator::carrier::{CarrierOptions, Outcome, RecordMode, Script, SimulatedCarrier};
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use hermod_store::{WebhookFilter, WebhookStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

const CYCLES: u64 = 9;
/// The lifetime of a process before it is killed, drawn for each cycle.
const LIFE_MS: std::ops::Range<u64> = 300..1_200;
/// More attempts than fit into a cycle with a failing receiver.
const SETTINGS: &str = "[webhooks]\nallow_http = true\nallow = [\"127.0.0.0/8\"]\n\
                        retries = [\"300ms\", \"1s\", \"2s\", \"2s\", \"2s\"]\n\
                        [messages]\nin_doubt_wait = \"200ms\"\n[log]\nlevel = \"warn\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_webhook_is_lost_and_each_keeps_its_id_over_random_kills() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_117));
    let script = Script::new().receipt_after(Duration::from_millis(5), Outcome::Delivered);
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let hooks = WebhookReceiver::start(
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ReceiverBehaviour::Status(200),
        None,
    );
    let hooks = hooks.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let customer = Customer::default();
    let mut posted = PostedReports::default();

    for cycle in 0..cycles {
        hooks.set_behaviour(ReceiverBehaviour::Status(if cycle % 3 == 1 { 503 } else { 200 }));
        let gateway = start(folder.path(), carrier.addr(), &hooks);
        let life = Duration::from_millis(chance.within(LIFE_MS));
        customer.send_until_killed(gateway, life).await;
        // The receiver keeps a limited number of posts.
        posted.read(&hooks);
        println!("cycle {}: {} acknowledged, {} posts", cycle + 1, customer.acknowledged(), hooks.count());
    }

    hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let gateway = start(folder.path(), carrier.addr(), &hooks);
    customer.send_unanswered(&gateway).await;
    gateway.wait_until_no_open_parts(folder.path()).await;
    posted.wait_until_all(&hooks, customer.acknowledged()).await;
    gateway.stop().await;
    compare(&gateways::stored_in(folder.path()), folder.path(), &customer, &carrier).await;
    assert_no_waiting_or_failed_events(&gateways::data_folder(folder.path())).await;
    hooks.stop().await;
    carrier.stop().await;
}

fn start(folder: &Path, carrier: SocketAddr, hooks: &WebhookReceiver) -> Served {
    let account = format!(
        "name = \"alice\"\ndlr_webhook = \"{}\"\nwebhook_secret = \"a-secret-of-the-rig\"\n",
        hooks.url("dlr")
    );
    let provision =
        gateways::provision_text(carrier, gateways::OPENING).replacen("name = \"alice\"\n", &account, 1);
    Served::start_with(folder, SETTINGS, &provision)
}

/// The reports that the receiver got: the ids of the posts of each message.
#[derive(Default)]
struct PostedReports {
    ids: BTreeMap<String, BTreeSet<String>>,
    seen: u64,
}

impl PostedReports {
    /// Adds the posts since the last call.
    fn read(&mut self, hooks: &WebhookReceiver) {
        for post in hooks.posts_after(self.seen) {
            self.seen += 1;
            let body: serde_json::Value = serde_json::from_slice(&post.body).expect("a body of JSON");
            assert_eq!(body["status"], "DELIVRD");
            let message = body["message_id"].as_str().expect("a message id").to_owned();
            self.ids.entry(message).or_default().insert(post.header("webhook-id").expect("an id").to_owned());
        }
    }

    /// Waits until the reports of `messages` messages were posted, and checks them.
    async fn wait_until_all(&mut self, hooks: &WebhookReceiver, messages: usize) {
        let started = now();
        while self.ids.len() < messages {
            assert!(started.elapsed() < PATIENCE, "{} of {messages} reports were posted", self.ids.len());
            self.read(hooks);
            pause(Duration::from_millis(50)).await;
        }
        let changed: Vec<_> = self.ids.iter().filter(|(_, ids)| ids.len() > 1).collect();
        assert!(changed.is_empty(), "posted under several ids: {changed:?}");
        println!("{} posts of {messages} reports", self.seen);
    }
}

async fn assert_no_waiting_or_failed_events(data: &Path) {
    let store = open_store(data);
    let account = account_id(&store).await;
    for status in [WebhookStatus::Waiting, WebhookStatus::Failed] {
        let filter = WebhookFilter { kind: None, status: Some(status) };
        let listed = store.webhooks().list(account, filter, None, 10).await.expect("a read");
        assert!(listed.is_empty(), "{listed:?}");
    }
    store.close().await.expect("the store closes");
}
