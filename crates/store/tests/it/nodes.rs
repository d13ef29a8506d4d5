//! Several nodes on one PostgreSQL: one runs the engine, the others send their operations to it.

use crate::reports::CONNECTION;
use crate::webhook_queue::{DELIVERED, documents, webhooks};
use crate::world::*;
use hermod_domain::audit::AuditEntry;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::money::Money;
use hermod_store::{
    AcceptOutcome, Acceptance, CatalogueChange, CatalogueRow, LedgerEntry, LedgerKind, LinkKind, LinkNumber,
    NodeKey, NodeListener, NodeOptions, OpenOptions, PostOutcome, ReportOutcome, Store, StoreError,
};
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

const KEY: [u8; 32] = [7; 32];
const OPENING: i64 = 1_000_000_000;
/// More than an address may fail, even if it waits each time.
const STRANGERS: usize = 40;

/// Opens a node. All nodes of a test have the schema of the first folder.
pub(crate) async fn open_node(
    shared: &Path,
    folder: &Path,
    name: &str,
    advertised: Option<SocketAddr>,
) -> Option<Store> {
    open_with_key(shared, folder, name, advertised, KEY).await.map(|opened| opened.expect("the node opens"))
}

async fn open_with_key(
    shared: &Path,
    folder: &Path,
    name: &str,
    advertised: Option<SocketAddr>,
    key: [u8; 32],
) -> Option<Result<Store, StoreError>> {
    let options = node_options(shared, folder, name, advertised, key)?;
    Some(open(options).await)
}

/// Opens a node that keeps a record.
pub(crate) async fn open_with_record(shared: &Path, folder: &Path, name: &str) -> Option<Store> {
    let options = OpenOptions { record: true, ..node_options(shared, folder, name, None, KEY)? };
    Some(open(options).await.expect("the node opens"))
}

async fn open(options: OpenOptions) -> Result<Store, StoreError> {
    tokio::task::spawn_blocking(move || Store::open(&options)).await.expect("no panic")
}

fn node_options(
    shared: &Path,
    folder: &Path,
    name: &str,
    advertised: Option<SocketAddr>,
    key: [u8; 32],
) -> Option<OpenOptions> {
    let Some(server) = server(shared) else {
        println!("only for PostgreSQL");
        return None;
    };
    let socket = match advertised {
        // Behind a proxy, which connects to the next port.
        Some(proxy) => TcpListener::bind((Ipv4Addr::LOCALHOST, proxy.port() + 1)),
        None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
    };
    let socket = socket.expect("a port");
    let address = advertised.unwrap_or_else(|| socket.local_addr().expect("an address")).to_string();
    let listener = Some(NodeListener { socket, address, key: NodeKey(key) });
    let node = NodeOptions { name: name.to_owned(), listener, clock: Box::new(noon) };
    Some(OpenOptions { server: Some(server.as_node(node)), ..options(folder, noon()) })
}

pub(crate) fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

pub(crate) async fn link(store: &Store, slots: u32) -> Link {
    let port =
        store.open_link(ACME, LinkNumber(1), LinkKind::Sends, IdConversion::None).await.expect("a link");
    let link = Link { port, carrier: ACME, now: noon() };
    link.add_slots(slots).await;
    link
}

pub(crate) async fn accept(store: &Store, acceptance: Acceptance) -> MessageId {
    match store.accept(acceptance).await.expect("the store answers") {
        AcceptOutcome::Accepted { message, .. } => message,
        other => panic!("not accepted: {other:?}"),
    }
}

async fn state(store: &Store, message: MessageId) -> MessageState {
    store.messages().find(ALICE, message).await.expect("a read").expect("the message is there").state
}

/// Waits until this node runs the engine.
async fn wait_for_engine(store: &Store) {
    let came = async {
        while !store.runs_engine() {
            pause().await;
        }
    };
    within(PATIENCE, came).await.expect("the node takes over");
}

#[expect(clippy::disallowed_methods, reason = "what a test waits for here happens in real time")]
pub(crate) async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn customers_carriers_and_reports_are_served_by_any_node() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let front_end = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    assert!(engine.runs_engine() && !front_end.runs_engine());
    top_up(&front_end, OPENING).await;
    let links = [link(&engine, 1).await, link(&front_end, 1).await];
    let port = front_end.open_receiver(CONNECTION);

    let world = World { folder: first, store: engine.clone(), now: noon() };
    let sent =
        [accept(&front_end, world.smpp_message(1)).await, accept(&engine, world.smpp_message(1)).await];
    for (link, id) in links.iter().zip(["a", "b"]) {
        let job = link.take_job().await;
        link.accept(&job, id).await;
    }
    // Receipts arrive on the other node than the responses.
    links[0].receipt("b", DeliveryOutcome::Delivered).await;
    links[1].receipt("a", DeliveryOutcome::Delivered).await;
    for link in &links {
        assert_eq!(link.take_recorded().await, [1]);
    }
    for message in sent {
        assert_eq!(state(&front_end, message).await, MessageState::Delivered);
        assert_eq!(state(&engine, message).await, MessageState::Delivered);
    }

    let mut reports = Vec::new();
    while reports.len() < 2 {
        let more = within(PATIENCE, port.take(10, noon())).await.expect("reports");
        let outcomes = more.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
        port.settle(outcomes, noon()).await.expect("they are settled");
        reports.extend(more.iter().map(|report| report.message));
    }
    reports.sort_unstable();
    assert_eq!(reports, sent);
    within(PATIENCE, async {
        while front_end.reports().waiting(CONNECTION).await.expect("a count") > 0 {
            pause().await;
        }
    })
    .await
    .expect("no report waits");
    let spent = OPENING - front_end.money().balance(ALICE).await.expect("a balance").balance.as_micros();
    assert_eq!(spent, 2 * PRICE);
    drop((links, port));
    front_end.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_that_stops_hands_the_engine_over_and_links_of_the_other_go_on() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&engine, OPENING).await;
    let link = link(&other, 2).await;
    let sent = accept(&other, sms(noon())).await;
    let job = link.take_job().await;
    assert_eq!(job.message, sent);

    engine.close().await.expect("it closes");
    // Accepted while no node, or the next one, runs the engine.
    let next = accept(&other, sms(noon())).await;
    wait_for_engine(&other).await;
    let next_job = link.take_job().await;
    assert_eq!(next_job.message, next, "the slot that was free is still granted, and nothing is sent twice");
    for (job, id) in [(&job, "a"), (&next_job, "b")] {
        link.accept(job, id).await;
        link.receipt(id, DeliveryOutcome::Delivered).await;
        assert_eq!(link.take_recorded().await, [1]);
        assert_eq!(state(&other, job.message).await, MessageState::Delivered);
    }

    let engine = open_node(first.path(), first.path(), "one", None).await.expect("on PostgreSQL");
    assert!(!engine.runs_engine(), "the other node keeps the engine");
    link.add_slots(1).await;
    let last = accept(&engine, sms(noon())).await;
    assert_eq!(link.take_job().await.message, last);
    let spent = OPENING - engine.money().balance(ALICE).await.expect("a balance").balance.as_micros();
    assert_eq!(spent, 3 * PRICE);
    engine.close().await.expect("it closes");
    drop(link);
    other.close().await.expect("it closes");
    assert_audit_clean(first.path());
}

/// Passes connections on to the next port.
struct Proxy {
    address: SocketAddr,
    /// Closes the connection that is open.
    cut: Arc<Notify>,
    /// While true, nothing that the node behind it sends arrives.
    holds_answers: watch::Sender<bool>,
}

async fn proxy() -> Proxy {
    let listener = loop {
        let found = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let port = found.local_addr().expect("an address").port();
        // The node listens on the next one.
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port + 1)).is_ok() {
            break found;
        }
    };
    let address = listener.local_addr().expect("an address");
    let (cut, holds_answers) = (Arc::new(Notify::new()), watch::Sender::new(false));
    let (cuts, held) = (cut.clone(), holds_answers.subscribe());
    let serving = async move {
        loop {
            let Ok((mut node, _)) = listener.accept().await else { return };
            let Ok(mut behind) = TcpStream::connect((address.ip(), address.port() + 1)).await else {
                continue;
            };
            let ((mut from_node, to_node), (from_behind, mut to_behind)) = (node.split(), behind.split());
            tokio::select! {
                biased;
                () = cuts.notified() => {}
                _ = tokio::io::copy(&mut from_node, &mut to_behind) => {}
                () = pass_answers(from_behind, to_node, held.clone()) => {}
            }
        }
    };
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    tokio::spawn(serving);
    Proxy { address, cut, holds_answers }
}

/// Passes answers on while they are not held, until an end is closed.
async fn pass_answers(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, mut held: watch::Receiver<bool>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer).await.unwrap_or(0);
        let is_open = length > 0 && held.wait_for(|held| !held).await.is_ok();
        if !is_open || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_are_run_once_when_the_connection_between_nodes_is_cut() {
    const MESSAGES: u64 = 600;
    let (first, second) = (folder(), folder());
    let Proxy { address, cut, .. } = proxy().await;
    let Some(engine) = open_node(first.path(), first.path(), "one", Some(address)).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&engine, OPENING).await;
    let link = link(&other, 50).await;
    let mut sending = JoinSet::new();
    for number in 0..MESSAGES {
        let store = other.clone();
        // Every second one has a key, which must make no difference.
        let key = number.is_multiple_of(2).then(|| key(number));
        sending.spawn(async move { store.accept(Acceptance { key, ..sms(noon()) }).await });
        if number.is_multiple_of(100) {
            cut.notify_one();
            pause().await;
        }
    }
    let mut accepted = HashSet::new();
    while let Some(done) = sending.join_next().await {
        match done.expect("no panic") {
            Ok(AcceptOutcome::Accepted { message, .. }) => {
                assert!(accepted.insert(message), "{message} twice")
            }
            other => panic!("an answer that was lost is found again: {other:?}"),
        }
    }
    let mut answered = 0;
    while answered < MESSAGES {
        let jobs = link.take_handout().await.jobs;
        for job in jobs {
            answered += 1;
            link.accept(&job, &format!("{answered}")).await;
            link.add_slots(1).await;
            if answered.is_multiple_of(100) {
                cut.notify_one();
            }
        }
    }
    other.find_key(key(u64::MAX)).await.expect("all before it is run");
    drop(link);
    other.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    let report = audit(first.path());
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.messages, MESSAGES, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posting_of_an_operator_whose_answer_is_lost_is_answered_when_the_nodes_are_connected_again() {
    let (first, second) = (folder(), folder());
    let Proxy { address, cut, holds_answers } = proxy().await;
    let Some(engine) = open_node(first.path(), first.path(), "one", Some(address)).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&other, OPENING).await;
    holds_answers.send_replace(true);
    let audited = other.audited(vec![AuditEntry {
        at: noon(),
        account: Some(ALICE),
        by: "operator".to_owned(),
        from: String::new(),
        action: "ledger.topup".to_owned(),
        subject: "alice".to_owned(),
        detail: "{}".to_owned(),
    }]);
    // Without a reference, a posting that is repeated is paid twice.
    let top_up = LedgerEntry {
        account: ALICE,
        kind: LedgerKind::TopUp,
        amount: Money::from_micros(OPENING),
        note: "by an operator".to_owned(),
        reference: None,
        now: noon(),
    };
    let mut posting = JoinSet::new();
    posting.spawn(async move { audited.money().post(top_up).await });
    let balance = async || engine.money().balance(ALICE).await.expect("a balance").balance.as_micros();
    let is_committed = async {
        while balance().await < 2 * OPENING {
            pause().await;
        }
    };
    within(PATIENCE, is_committed).await.expect("it is posted");
    cut.notify_one();
    holds_answers.send_replace(false);
    let answered = within(PATIENCE, posting.join_next()).await.expect("an answer").expect("a posting");
    let posted = answered.expect("no panic");
    assert!(matches!(posted, Ok(PostOutcome::Posted { .. })), "{posted:?}");
    assert_eq!(balance().await, 2 * OPENING);
    other.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    assert_audit_clean(first.path());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_with_another_key_is_not_served() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let stranger = open_with_key(first.path(), second.path(), "two", None, [8; 32]).await;
    let stranger = stranger.expect("on PostgreSQL").expect("it opens");
    top_up(&engine, OPENING).await;
    let waiting = stranger.accept_with_deadline(sms(noon()), pause());
    assert!(matches!(waiting.await, Err(StoreError::QueueTimeout)));
    stranger.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    assert_audit_clean(first.path());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_at_the_node_port_are_closed_and_keep_no_node_out() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let address = engine.cluster().nodes()[0].address.clone();
    // After the tenth the address has to wait, and is refused before the handshake: it gets no TLS alert.
    let mut alerted = 0;
    for _ in 0..STRANGERS {
        let mut stranger = TcpStream::connect(&address).await.expect("it listens");
        // It may be closed before the request is sent.
        let _ = stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
        let mut answer = Vec::new();
        let _ = stranger.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
        alerted += usize::from(!answer.is_empty());
    }
    assert!((1..STRANGERS).contains(&alerted), "{alerted} of {STRANGERS} were greeted");
    let node = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&node, OPENING).await;
    accept(&node, sms(noon())).await;
    node.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    assert_audit_clean(first.path());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn name_of_a_node_is_used_once() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let twin = open_with_key(first.path(), second.path(), "one", None, KEY).await.expect("on PostgreSQL");
    assert!(matches!(twin, Err(StoreError::NodeInUse(name)) if name == "one"));
    engine.close().await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_that_takes_over_decides_by_the_stored_setup_before_its_gateway_has_set_one() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&engine, OPENING).await;
    store_setup(&engine, &documents(Some(webhooks(true, false)), |_| {})).await;
    engine.close().await.expect("it closes");
    wait_for_engine(&other).await;
    let world = World { folder: first, store: other, now: noon() };
    let message = world.send_with_receipts(world.sms(), "id", &[DeliveryOutcome::Delivered]).await;
    assert_eq!(world.due_statuses().await, [(message, DELIVERED)]);
    world.store.close().await.expect("it closes");
    world.assert_audit_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_of_the_setup_on_one_node_becomes_known_on_the_other() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    for (changing, knowing) in [(&engine, &other), (&other, &engine)] {
        // Until the nodes are connected, an operation waits.
        knowing.find_key(key(u64::MAX)).await.expect("the store answers");
        let mut changes = knowing.cluster().catalogue_changes();
        changes.mark_unchanged();
        let name = if changing.runs_engine() { "by the engine" } else { "by the other" };
        let body = "{\"token_digest\":\"00\",\"role\":\"admin\"}".to_owned();
        let row = CatalogueRow { kind: "operator".to_owned(), id: 1, name: name.to_owned(), body };
        let change = CatalogueChange { put: vec![row.clone()], ..CatalogueChange::default() };
        changing.setup().change(change).await.expect("it is changed");
        within(PATIENCE, changes.changed()).await.expect("it becomes known").expect("the store is open");
        assert_eq!(knowing.setup().rows().await.expect("a read"), [row]);
    }
    other.close().await.expect("it closes");
    engine.close().await.expect("it closes");
}
