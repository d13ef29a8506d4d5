//! Measures the whole life of messages in one process: many customers send, and one link records a response to every part at
//! once and its receipt with the next read. Prints rates, latencies and CPU time.
//!
//! `cargo bench -p hermod-store --bench lifecycle_bench -- [--reports] [--postgres=URL] [--front-end] [messages] [rate per second, 0 = unlimited] [senders] [folder]`
//!
//! `--postgres=postgres://...`: the tables are on that server, in a schema of their own.
//!
//! `--front-end`: on PostgreSQL, customers and the link are on another node than the engine; both are in this process.
//!
//! `--reports`: the messages are submitted over SMPP and request DLRs; a bind with a window of 100 takes and settles the reports.

#[path = "common/carrier.rs"]
mod carrier;
#[path = "common/setup.rs"]
mod setup;
#[path = "common/traffic.rs"]
mod traffic;

use carrier::{receipt, response};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::origin::{Origin, RegisteredDelivery, SmppAddress};
use hermod_store::{
    AcceptOutcome, Acceptance, LinkKind, LinkNumber, LinkPort, NodeKey, NodeListener, NodeOptions,
    ReceiverPort, ReportOutcome, Server, Store,
};
use setup::{instant, open, wall_clock};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use traffic::{pay_in, submission};

const ACCOUNTS: u32 = 20;
const CARRIER: CarrierId = CarrierId::new(1);
const WINDOW: u32 = 1_000;
const CONNECTION: ConnectionId = ConnectionId::new(1);
/// Outstanding reports of a bind.
const BIND_WINDOW: u32 = 100;

struct Plan {
    messages: u64,
    rate: u64,
    /// Concurrent submissions if there is no rate.
    senders: u64,
    folder: PathBuf,
    /// Whether messages request DLRs, which are taken and settled.
    reports: bool,
    server: Option<Server>,
    /// Whether a node without the engine is measured.
    front_end: bool,
}

fn main() {
    let plan = read_plan();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(run(plan));
}

fn read_plan() -> Plan {
    let reports = std::env::args().any(|word| word == "--reports");
    let server = std::env::args().find_map(|word| Some(server(word.strip_prefix("--postgres=")?)));
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let mut number = |default| words.next().map_or(default, |word| word.parse().expect("a number"));
    let (messages, rate, senders) = (number(200_000), number(0), number(1_000));
    let folder = words.next().map_or_else(|| std::env::temp_dir().join("hermod-bench"), PathBuf::from);
    let front_end = std::env::args().any(|word| word == "--front-end");
    Plan { messages, rate, senders, folder, reports, server, front_end }
}

fn server(url: &str) -> Server {
    Server::parse(url).expect("the address of a server").with_schema(&format!("bench_{}", std::process::id()))
}

fn as_node(server: Server, name: &str) -> Server {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = socket.local_addr().expect("an address").to_string();
    let listener = Some(NodeListener { socket, address, key: NodeKey([7; 32]) });
    server.as_node(NodeOptions { name: name.to_owned(), listener, clock: Box::new(wall_clock) })
}

async fn run(plan: Plan) {
    let Plan { messages, rate, senders, folder, reports, server, front_end } = plan;
    let _ = std::fs::remove_dir_all(&folder);
    // The first node runs the engine.
    let engine =
        front_end.then(|| open(&folder.join("engine"), false, server.clone().map(|at| as_node(at, "a"))));
    let as_second = |server| if front_end { as_node(server, "b") } else { server };
    let store = open(&folder.join("node"), false, server.clone().map(as_second));
    for account in 1..=ACCOUNTS {
        pay_in(&store, AccountId::new(account)).await;
    }
    let port =
        store.open_link(CARRIER, LinkNumber(1), LinkKind::Sends, IdConversion::None).await.expect("a link");
    let before = Usage::now();
    let started = instant();
    let mut link = JoinSet::new();
    link.spawn(async move { carry(&port, messages).await });
    let origin = reports.then(|| Arc::new(origin()));
    let mut bind = JoinSet::new();
    if reports {
        let port = store.open_receiver(CONNECTION);
        bind.spawn(async move { settle_reports(&port, messages).await });
    }
    let mut took = if rate == 0 {
        send_unlimited(&store, messages, senders, origin.as_ref()).await
    } else {
        send_at_rate(&store, messages, rate, origin.as_ref()).await
    };
    let accepted_in = started.elapsed();
    let handouts = link.join_next().await.expect("one link").expect("it ends well");
    bind.join_all().await;
    let settled_in = started.elapsed();
    let after = Usage::now();
    took.sort_unstable();
    println!("reports           {}", if reports { "one per message, taken and settled" } else { "none" });
    report(messages, accepted_in, settled_in, &took, handouts);
    after.report_since(&before, messages);
    store.close().await.expect("the store closes");
    if let Some(engine) = engine {
        engine.close().await.expect("the engine closes");
    }
    let report = match &server {
        Some(server) => Store::audit_server(server, None).expect("an audit"),
        None => Store::audit(&folder.join("node")).expect("an audit"),
    };
    assert!(report.is_clean() && report.messages == messages && report.open_parts == 0, "{report:?}");
    println!(
        "audit             clean, {} messages, {} bytes on disk each",
        report.messages,
        size(&folder) / messages
    );
    let _ = std::fs::remove_dir_all(&folder);
}

fn origin() -> Origin {
    Origin {
        registered_delivery: RegisteredDelivery::from_octet(1),
        short_id: false,
        on_transmitter: false,
        reference: None,
        source: SmppAddress::new(5, 0, b"Hermod"),
        destination: SmppAddress::new(1, 1, b"4915112345678"),
        quote: smallvec::SmallVec::new(),
    }
}

/// Takes reports and settles them at once.
async fn settle_reports(port: &ReceiverPort, messages: u64) {
    let mut taken = 0;
    while taken < messages {
        let reports = port.take(BIND_WINDOW, wall_clock()).await;
        taken += u64::try_from(reports.len()).expect("a window");
        let outcomes = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
        port.settle(outcomes, wall_clock()).await.expect("the store is there");
    }
}

fn message(number: u64, origin: Option<&Arc<Origin>>) -> Acceptance {
    let account = AccountId::new(u32::try_from(number % u64::from(ACCOUNTS)).expect("small") + 1);
    Acceptance { origin: origin.cloned(), ..submission(account, number) }
}

async fn send(store: &Store, number: u64, origin: Option<&Arc<Origin>>) -> u64 {
    let started = instant();
    let outcome = store.accept(message(number, origin)).await.expect("the store answers");
    assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
    u64::try_from(started.elapsed().as_micros()).expect("not that long")
}

async fn send_unlimited(
    store: &Store,
    messages: u64,
    senders: u64,
    origin: Option<&Arc<Origin>>,
) -> Vec<u64> {
    let next = Arc::new(AtomicU64::new(0));
    let mut sending = JoinSet::new();
    for _ in 0..senders {
        let (store, next, origin) = (store.clone(), next.clone(), origin.cloned());
        sending.spawn(async move {
            let mut took = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= messages {
                    return took;
                }
                took.push(send(&store, number, origin.as_ref()).await);
            }
        });
    }
    sending.join_all().await.into_iter().flatten().collect()
}

/// Sends at a fixed rate, independent of how fast the store is.
async fn send_at_rate(store: &Store, messages: u64, rate: u64, origin: Option<&Arc<Origin>>) -> Vec<u64> {
    let started = instant();
    let mut clock = tokio::time::interval(Duration::from_millis(1));
    let mut sending = JoinSet::new();
    let mut sent = 0;
    while sent < messages {
        clock.tick().await;
        let elapsed = u64::try_from(started.elapsed().as_micros()).expect("not that long");
        while sent < messages.min(elapsed * rate / 1_000_000) {
            let (store, number, origin) = (store.clone(), sent, origin.cloned());
            sending.spawn(async move { send(&store, number, origin.as_ref()).await });
            sent += 1;
        }
    }
    sending.join_all().await
}

/// Records a response to every part at once, and its receipt with the next read, as carriers send them. Returns the number of
/// handouts.
async fn carry(port: &LinkPort, messages: u64) -> u64 {
    port.record(Vec::new(), Vec::new(), Vec::new(), WINDOW, wall_clock())
        .await
        .expect("the store records it");
    let (mut receipts, mut recorded, mut handouts) = (Vec::new(), 0, 0);
    while recorded < messages {
        let handout = port.handout().await;
        handouts += 1;
        recorded += u64::try_from(handout.recorded.len()).expect("small");
        let responses = handout.jobs.iter().map(response).collect();
        let slots = u32::try_from(handout.jobs.len()).expect("at most a window");
        let earlier = std::mem::replace(&mut receipts, handout.jobs.iter().map(receipt).collect());
        let nothing_to_come = earlier.is_empty();
        port.record(responses, earlier, Vec::new(), slots, wall_clock()).await.expect("the store records it");
        if nothing_to_come {
            // No acknowledgement of an earlier receipt will wake this task, so the receipts are recorded now.
            let receipts = std::mem::take(&mut receipts);
            port.record(Vec::new(), receipts, Vec::new(), 0, wall_clock())
                .await
                .expect("the store records it");
        }
    }
    handouts
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(messages: u64, accepted_in: Duration, settled_in: Duration, took: &[u64], handouts: u64) {
    let rate = |wall: Duration| messages as f64 / wall.as_secs_f64();
    println!("messages          {messages}, one part each, each with an idempotency key");
    println!("accepted          {:.0} /s", rate(accepted_in));
    println!("whole lives       {:.0} /s", rate(settled_in));
    let at = |percent: usize| took[(took.len() - 1) * percent / 100] as f64 / 1_000.0;
    println!("accept            p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms", at(50), at(99), at(100));
    println!("handouts          {handouts}");
}

/// The resources used by the process so far.
struct Usage {
    /// CPU time in nanoseconds, by thread name.
    threads: Vec<(String, u64)>,
    bytes_written: u64,
    syscalls_write: u64,
}

impl Usage {
    fn now() -> Usage {
        let mut threads: Vec<(String, u64)> = Vec::new();
        for task in std::fs::read_dir("/proc/self/task").expect("Linux").flatten() {
            let name =
                std::fs::read_to_string(task.path().join("comm")).unwrap_or_default().trim().to_owned();
            let stat = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let nanos = stat.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
            match threads.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += nanos,
                None => threads.push((name, nanos)),
            }
        }
        threads.sort();
        let io = std::fs::read_to_string("/proc/self/io").expect("Linux");
        let figure = |name: &str| {
            let line = io.lines().find_map(|line| line.strip_prefix(name)).expect("a line of /proc/self/io");
            line.trim().parse().expect("a number")
        };
        Usage { threads, bytes_written: figure("wchar:"), syscalls_write: figure("syscw:") }
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn report_since(&self, before: &Usage, messages: u64) {
        let each = |nanos: u64| nanos as f64 / 1_000.0 / messages as f64;
        let mut total = 0;
        for (name, nanos) in &self.threads {
            let earlier =
                before.threads.iter().find(|(known, _)| known == name).map_or(0, |(_, nanos)| *nanos);
            total += nanos - earlier;
            println!("cpu               {:.2} us a message  {name}", each(nanos - earlier));
        }
        println!("cpu               {:.2} us a message  together", each(total));
        println!(
            "written           {} bytes a message",
            (self.bytes_written - before.bytes_written) / messages
        );
        println!("write calls       {}", self.syscalls_write - before.syscalls_write);
    }
}

fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("the folder").flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}
