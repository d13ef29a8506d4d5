//! All nodes post webhooks, each endpoint by one node. When that node dies, another node posts to the endpoint.

use super::operations::metrics;
use super::rig::{Cluster, NAMES};
use crate::cli::process::{Caller, command, path};
use crate::crash::Customer;
use crate::gateways::LOG;
use crate::real_time::{PATIENCE, now, pause, wait_until};
use hermod_simulator::webhooks::{ReceiverBehaviour, WebhookReceiver};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

/// Enough that each of three nodes is chosen for some of them.
const ACCOUNTS: usize = 24;
/// In the log of the node with the engine, after four seconds.
const SILENT: &str = "Nodes are silent";
/// Longer than nodes take to learn of events that are due.
const HELD_FOR: Duration = Duration::from_secs(6);
/// Shorter than the timeout of a post.
const SLOW: Duration = Duration::from_secs(5);

struct Customers {
    hooks: WebhookReceiver,
    sent: usize,
}

impl Customers {
    /// Adds accounts, each with a webhook of its own.
    async fn add_to(cluster: &Cluster) -> Customers {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let hooks = WebhookReceiver::start(local, ReceiverBehaviour::Status(200), None).expect("a free port");
        let mut entries = String::new();
        for number in 0..ACCOUNTS {
            let url = hooks.url(&format!("dlr-{number}"));
            entries.push_str(&format!(
                "[[account]]\nname = \"hook-{number}\"\ncurrency = \"EUR\"\nopening_balance = \"100\"\nverified = true\n\
                 countries = \"*\"\nsenders = [\"Hermod\"]\ndlr_webhook = \"{url}\"\nwebhook_secret = \"a-secret-of-the-rig\"\n\
                 [[connection]]\nname = \"hook-{number}-http\"\naccount = \"hook-{number}\"\ndefault_sender = \"Hermod\"\n\
                 [[key]]\nkey = \"hook-{number}-key\"\nsecret = \"hook-{number}-secret-of-many-characters\"\n\
                 connection = \"hook-{number}-http\"\n"
            ));
        }
        let file = cluster.path().join("hooks.toml");
        std::fs::write(&file, entries).expect("a file");
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
        command(&cluster.data(0), &["apply", path(&file)]);
        let last = ACCOUNTS - 1;
        wait_until("all nodes know the accounts", || {
            (0..3).all(|index| hook_caller(cluster, index, last).call("GET", "/balance", "").0 == 200)
        });
        Customers { hooks, sent: 0 }
    }

    /// Sends a message for each account, over the nodes in turn.
    fn send(&mut self, cluster: &Cluster, over: &[usize]) {
        for number in 0..ACCOUNTS {
            let caller = hook_caller(cluster, over[number % over.len()], number);
            caller.send("a webhook tells that this arrived");
            self.sent += 1;
        }
    }

    /// Waits until the report of every message was posted, and expects that none was posted again. Only for a node that is silent for
    /// four seconds others do so; `killed` says of how many killed ones the engine may have found that.
    async fn expect_one_post_each(&self, cluster: &Cluster, killed: usize) {
        let repeated = self.wait_until_posted().await;
        let silent = silent_nodes(cluster);
        println!("{repeated} posts were made again; {silent} nodes were silent, {killed} of them killed");
        assert!(repeated == 0 || silent > killed, "{repeated} posts were made again");
    }

    /// Waits until the report of every message was posted. Returns how often more than once.
    async fn wait_until_posted(&self) -> usize {
        let started = now();
        loop {
            let mut posts: BTreeMap<String, usize> = BTreeMap::new();
            for post in self.hooks.posts() {
                *posts.entry(post.header("webhook-id").expect("an id").to_owned()).or_default() += 1;
            }
            assert!(posts.len() <= self.sent, "{} events of {} messages", posts.len(), self.sent);
            if posts.len() == self.sent {
                println!("{} events posted after {:?}", self.sent, started.elapsed());
                return posts.values().map(|times| times - 1).sum();
            }
            assert!(started.elapsed() < PATIENCE, "{} of {} events posted", posts.len(), self.sent);
            pause(Duration::from_millis(100)).await;
        }
    }
}

/// The customer with this number, at this node.
fn hook_caller(cluster: &Cluster, index: usize, number: usize) -> Caller {
    let address = cluster.node(index).address().to_string();
    let (key, secret) = (format!("hook-{number}-key"), format!("hook-{number}-secret-of-many-characters"));
    Caller { address, key, secret }
}

/// Returns how many silent nodes the nodes with the engine have found so far.
fn silent_nodes(cluster: &Cluster) -> usize {
    let logs = NAMES.map(|name| std::fs::read_to_string(cluster.path().join(name).join(LOG)).expect("a log"));
    let found = logs.iter().flat_map(|log| log.lines()).filter(|line| line.contains(SILENT));
    let nodes = found.map(|line| line.split_once("nodes=").and_then(|(_, count)| count.trim().parse().ok()));
    nodes.map(|nodes| nodes.unwrap_or(1)).sum()
}

/// Returns how many posts of this node succeeded.
fn posts_of(cluster: &Cluster, index: usize) -> usize {
    let text = metrics(cluster.node(index).address());
    let lines = text.lines().filter(|line| line.starts_with("hermod_webhook_posts_total{"));
    let taken = lines.filter(|line| line.contains("outcome=\"taken\""));
    taken.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
}

/// Waits until these nodes together have made as many posts as this returns. Returns how many each.
async fn posts_of_all(cluster: &Cluster, nodes: &[usize], posts: impl Fn() -> usize) -> Vec<usize> {
    let started = now();
    loop {
        let counted: Vec<usize> = nodes.iter().map(|index| posts_of(cluster, *index)).collect();
        let (sum, posts): (usize, usize) = (counted.iter().sum(), posts());
        if sum == posts {
            return counted;
        }
        // They count a post a moment after it was received.
        assert!(sum < posts && started.elapsed() < PATIENCE, "{counted:?} instead of {posts}");
        pause(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_are_posted_by_all_nodes_and_by_others_when_one_is_killed() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let mut customers = Customers::add_to(&cluster).await;
    for _ in 0..3 {
        tokio::task::block_in_place(|| customers.send(&cluster, &[0, 1, 2]));
        pause(Duration::from_millis(300)).await;
    }
    customers.expect_one_post_each(&cluster, 0).await;
    let received = || customers.hooks.posts().len();
    let posts = posts_of_all(&cluster, &[0, 1, 2], received).await;
    println!("posts of the nodes: {posts:?}");
    assert!(posts.iter().all(|posts| *posts > 0), "{posts:?}");

    // The first node runs the engine; another one dies.
    cluster.take_node(2).kill();
    tokio::task::block_in_place(|| customers.send(&cluster, &[0, 1]));
    customers.expect_one_post_each(&cluster, 1).await;
    cluster.start_node(2);

    // The node with the engine dies.
    let by_both = posts_of_all(&cluster, &[0, 1], || customers.hooks.posts().len() - posts[2]).await;
    let (posts, before) = (by_both[1], customers.hooks.posts().len());
    cluster.take_node(0).kill();
    cluster.wait_for_service(1, &Customer::default()).await;
    cluster.wait_for_service(2, &Customer::default()).await;
    tokio::task::block_in_place(|| customers.send(&cluster, &[1, 2]));
    customers.expect_one_post_each(&cluster, 1).await;
    let expected = || posts + customers.hooks.posts().len() - before;
    let by_each = posts_of_all(&cluster, &[1, 2], expected).await;
    assert!(by_each[0] > posts && by_each[1] > 0, "{by_each:?}, {posts} before");

    // A node that is stopped in order leaves its endpoints to the others at once.
    cluster.take_node(2).stop().await;
    tokio::task::block_in_place(|| customers.send(&cluster, &[1]));
    customers.expect_one_post_each(&cluster, 1).await;
    customers.hooks.stop().await;
}

/// Returns how many messages the carrier has got.
fn cluster_submits(cluster: &Cluster) -> usize {
    usize::try_from(cluster.carrier.record().counts().submits).expect("a few")
}

/// Whether the alarm is raised at this node that the gateway is held.
fn is_held(cluster: &Cluster, index: usize) -> bool {
    let text = metrics(cluster.node(index).address());
    let mut alarms = text.lines().filter(|line| line.starts_with("hermod_alarms{"));
    alarms.any(|line| line.contains("\"gateway-held\"") && line.ends_with(" 1"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hold_that_is_made_while_other_nodes_run_stops_what_they_send_until_the_release() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let mut customers = Customers::add_to(&cluster).await;
    tokio::task::block_in_place(|| customers.send(&cluster, &[0, 1, 2]));
    customers.expect_one_post_each(&cluster, 0).await;
    assert_eq!(cluster_submits(&cluster), ACCOUNTS);

    // The first node runs the engine; the last one is started again and holds all of them.
    cluster.take_node(2).stop().await;
    cluster.start_with_options(2, &["--hold", "--accept-while-held"]);
    tokio::task::block_in_place(|| cluster.wait_until_ready(2));
    tokio::task::block_in_place(|| {
        wait_until("all nodes are held", || (0..3).all(|index| is_held(&cluster, index)));
    });
    // Their messages wait. Cancelling them makes events, which must wait too.
    tokio::task::block_in_place(|| {
        customers.send(&cluster, &[0, 1, 2]);
        command(&cluster.data(0), &["queue", "cancel", "--all"]);
        customers.send(&cluster, &[0, 1, 2]);
    });
    pause(HELD_FOR).await;
    assert_eq!(customers.hooks.posts().len(), ACCOUNTS, "no node posts while it is held");
    assert_eq!(cluster_submits(&cluster), ACCOUNTS, "no node sends while it is held");

    let data = cluster.data(1);
    tokio::task::block_in_place(|| command(&data, &["restore", "release"]));
    customers.expect_one_post_each(&cluster, 0).await;
    assert_eq!(cluster_submits(&cluster), 2 * ACCOUNTS, "a third of the messages was cancelled");
    tokio::task::block_in_place(|| {
        wait_until("the alarm is over", || (0..3).all(|index| !is_held(&cluster, index)));
    });
    customers.hooks.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posts_that_a_killed_node_was_making_are_made_again_by_others() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let mut customers = Customers::add_to(&cluster).await;
    // The first node runs the engine. Its orders must have spread before the endpoints are slow.
    tokio::task::block_in_place(|| customers.send(&cluster, &[0, 1, 2]));
    customers.wait_until_posted().await;
    let before = customers.hooks.posts().len();
    let posts = posts_of_all(&cluster, &[0, 1, 2], || before).await;
    assert!(posts[2] > 0, "{posts:?}");
    customers.hooks.set_behaviour(ReceiverBehaviour::Slow(SLOW));
    let began = now();
    tokio::task::block_in_place(|| customers.send(&cluster, &[0, 1]));
    // Received, and not answered.
    customers.wait_until_posted().await;
    cluster.take_node(2).kill();
    let were_answered = began.elapsed() >= SLOW;
    customers.hooks.set_behaviour(ReceiverBehaviour::Status(200));
    let by_others = posts_of_all(&cluster, &[0, 1], || posts[0] + posts[1] + ACCOUNTS).await;
    let repeated = customers.wait_until_posted().await;
    println!("{repeated} of {ACCOUNTS} posts were made again; now {by_others:?}");
    // On a slow machine it may have had all responses.
    assert!(repeated > 0 || were_answered, "the killed node was posting");
    customers.hooks.stop().await;
}
