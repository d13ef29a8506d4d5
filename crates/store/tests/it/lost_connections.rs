//! A connection to PostgreSQL that is cut while a batch is committed. A proxy on the loopback stands between the store and
//! the server, and cuts the connection before or after the server gets the commit.

use crate::world::{ALICE, PRICE, key, noon, options, raw, secs, server_address, server_at, sms, top_up};
use hermod_store::{AcceptOutcome, OpenOptions, Store};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What the proxy does with the next commit.
const PASS: u8 = 0;
/// It reaches the server, and its answer is lost.
const CUT_AFTER: u8 = 1;
/// It does not reach the server.
const CUT_BEFORE: u8 = 2;
/// The same, and then the next connection is cut when it prepares the statement that counts a batch: before its first commit.
const CUT_TWICE: u8 = 3;
const CUT_AT_PREPARE: u8 = 4;
/// The beginning of that statement.
const COUNT: &[u8] = b"WITH counted AS";
/// As it appears in the protocol: a simple query with its end.
const COMMIT: &[u8] = b"COMMIT\0";
const OPENING: i64 = 1_000_000_000;
/// How many commits are cut; `HERMOD_COMMIT_CUTS` sets it.
const CUTS: u64 = 20;

/// Stands in front of a server until this is dropped.
struct Proxy {
    next: Arc<AtomicU8>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Starts a proxy. Returns it with its address.
    async fn start(behind: SocketAddr) -> (Proxy, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let next = Arc::new(AtomicU8::new(PASS));
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, behind, next.clone()));
        (Proxy { next, _tasks: tasks }, address)
    }
}

async fn serve(listener: TcpListener, behind: SocketAddr, next: Arc<AtomicU8>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let server = TcpStream::connect(behind).await.expect("the server");
        connections.spawn(forward(client, server, next.clone()));
    }
}

/// Forwards until an end, or until the commit that is to be cut.
async fn forward(client: TcpStream, server: TcpStream, next: Arc<AtomicU8>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let requests = async {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
            let sent = &buffer[..length];
            let cut = cut_at(sent, &next);
            if cut != CUT_BEFORE && to_server.write_all(sent).await.is_err() || cut != PASS {
                return;
            }
        }
    };
    tokio::select! {
        // First: after a cut no answer is forwarded.
        biased;
        () = requests => {}
        _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
    }
}

/// Returns what to do with what was sent, and notes what is to be done next.
fn cut_at(sent: &[u8], next: &AtomicU8) -> u8 {
    match next.load(Ordering::Acquire) {
        CUT_AT_PREPARE if sent.windows(COUNT.len()).any(|part| part == COUNT) => {
            next.store(PASS, Ordering::Release);
            CUT_BEFORE
        }
        CUT_TWICE if sent.ends_with(COMMIT) => {
            next.store(CUT_AT_PREPARE, Ordering::Release);
            CUT_BEFORE
        }
        CUT_AFTER | CUT_BEFORE if sent.ends_with(COMMIT) => next.swap(PASS, Ordering::AcqRel),
        _ => PASS,
    }
}

/// Opens a store through a proxy, in which Alice has some credit.
async fn store_behind_a_proxy(folder: &Path) -> Option<(Store, Proxy)> {
    let Some(behind) = server_address() else {
        println!("only for PostgreSQL");
        return None;
    };
    let (proxy, address) = Proxy::start(behind).await;
    let options = OpenOptions { server: server_at(folder, address), ..options(folder, noon()) };
    let store = tokio::task::spawn_blocking(move || Store::open(&options)).await.expect("no panic");
    let store = store.expect("the store opens");
    top_up(&store, OPENING).await;
    Some((store, proxy))
}

#[expect(clippy::disallowed_methods, reason = "cargo xtask passes its options in variables")]
fn cuts() -> u64 {
    std::env::var("HERMOD_COMMIT_CUTS").map_or(CUTS, |text| text.parse().expect("a number"))
}

async fn accept_over_a_cut(cut: u8) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let Some((store, proxy)) = store_behind_a_proxy(folder.path()).await else { return };
    let cuts = cuts();
    for accepted in 1..=i64::try_from(cuts).expect("a few hundred") {
        proxy.next.store(cut, Ordering::Release);
        let outcome = store.accept(sms(noon())).await.expect("the store answers");
        let AcceptOutcome::Accepted { message, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(proxy.next.load(Ordering::Acquire), PASS, "the connection was cut");
        assert!(store.messages().find(ALICE, message).await.expect("a read").is_some(), "it is stored");
        let balance = store.money().balance(ALICE).await.expect("a balance").balance.as_micros();
        assert_eq!(balance, OPENING - accepted * PRICE, "it is charged once");
    }
    store.close().await.expect("the store closes");
    let report = crate::world::audit(folder.path());
    assert!(report.is_clean() && report.messages == cuts, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_whose_commit_was_done_but_not_answered_is_accepted_once() {
    accept_over_a_cut(CUT_AFTER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_whose_commit_did_not_reach_the_server_is_accepted_by_the_next_try() {
    accept_over_a_cut(CUT_BEFORE).await;
}

/// The second time nothing of the batch was sent, and the session still has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_whose_connection_is_lost_again_before_the_commit_is_accepted_by_the_next_try() {
    accept_over_a_cut(CUT_TWICE).await;
}

async fn make_partitions_over_a_cut(cut: u8) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let Some((store, proxy)) = store_behind_a_proxy(folder.path()).await else { return };
    for day in 1..=5 {
        let now = noon().plus(secs(day * 86_400));
        proxy.next.store(cut, Ordering::Release);
        // This batch changes nothing, so that the first commit is that of the new partitions.
        store.tick(now).await.expect("a tick");
        store.find_key(key(day)).await.expect("the store answers");
        let outcome = store.accept(sms(now)).await.expect("the store answers");
        assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
        assert_eq!(proxy.next.load(Ordering::Acquire), PASS, "the connection was cut");
        store.tick(now.plus(secs(61))).await.expect("a tick");
        // The partitions are made after the first of these batches was answered.
        for _ in 0..2 {
            store.find_key(key(day)).await.expect("the store answers");
        }
        let ahead = format!("message_text_day_{}", now.day().get() + 7);
        assert_eq!(raw(folder.path()).tables_with(&ahead), [ahead]);
    }
    store.close().await.expect("the store closes");
    let report = crate::world::audit(folder.path());
    assert!(report.is_clean() && report.messages == 5, "{report:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_whose_commit_was_done_but_not_answered_are_found() {
    make_partitions_over_a_cut(CUT_AFTER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_whose_commit_did_not_reach_the_server_are_made_by_the_next_try() {
    make_partitions_over_a_cut(CUT_BEFORE).await;
}
