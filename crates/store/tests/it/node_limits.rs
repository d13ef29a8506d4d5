//! What holds over several nodes together: limits of recent traffic, binds of a connection, parts of an MO message, envelopes.

use crate::mo::{NUMBER, catalogue, documents, piece};
use crate::nodes::{folder, link, open_node, pause};
use crate::world::*;
use hermod_domain::ids::ConnectionId;
use hermod_domain::traffic::{Control, Mode, TrafficRule, velocity_limits};
use hermod_store::{AcceptOutcome, Acceptance, BindClaim, BindSlot, NodeEnvelope, Store};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const SHOP: ConnectionId = ConnectionId::new(3);

/// Opens three nodes on one PostgreSQL; the first runs the engine.
async fn three() -> Option<([TempDir; 3], [Store; 3])> {
    let folders = [folder(), folder(), folder()];
    let shared = folders[0].path();
    let first = open_node(shared, shared, "a", None).await?;
    let second = open_node(shared, folders[1].path(), "b", None).await?;
    let third = open_node(shared, folders[2].path(), "c", None).await?;
    Some((folders, [first, second, third]))
}

async fn close(stores: [Store; 3]) {
    for store in stores {
        store.close().await.expect("it closes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn velocity_limit_admits_exactly_its_number_on_three_nodes() {
    let Some((folders, nodes)) = three().await else { return };
    top_up(&nodes[0], 1_000_000_000).await;
    let rule = TrafficRule::PerRecipient { most: 10, per_ms: 3_600_000 };
    let controls = [Control::new("one-recipient", Mode::Enforce, rule)];
    let velocity = velocity_limits(ALICE, &controls, sms(noon()).to);
    let mut sending = JoinSet::new();
    for index in 0..60 {
        let (store, velocity) = (nodes[index % 3].clone(), velocity.clone());
        sending.spawn(async move {
            store.accept(Acceptance { velocity, ..sms(noon()) }).await.expect("an answer")
        });
    }
    let outcomes = sending.join_all().await;
    let accepted =
        outcomes.iter().filter(|outcome| matches!(outcome, AcceptOutcome::Accepted { .. })).count();
    let refused = outcomes.iter().filter_map(|outcome| match outcome {
        AcceptOutcome::OverVelocity(over) => over.control(&controls).cloned(),
        _ => None,
    });
    assert_eq!((accepted, refused.filter(|name| **name == *"one-recipient").count()), (10, 50));
    let preview = nodes[2].velocity_refusal(velocity, noon()).await.expect("an answer");
    assert_eq!(preview.map(|over| over.wait), Some(Duration::from_secs(360)));
    close(nodes).await;
    assert_audit_clean(folders[0].path());
}

async fn claim(store: &Store) -> Option<BindSlot> {
    match store.cluster().claim_bind(SHOP, 5).await.expect("an answer") {
        BindClaim::Taken(slot) => Some(slot),
        BindClaim::Full => None,
        BindClaim::Alone => panic!("there are several nodes"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_has_no_more_binds_on_three_nodes_than_it_may() {
    let Some((_folders, nodes)) = three().await else { return };
    let mut claiming = JoinSet::new();
    for index in 0..30 {
        let store = nodes[index % 3].clone();
        claiming.spawn(async move { (index % 3, claim(&store).await) });
    }
    let claimed = claiming.join_all().await;
    let mut slots: Vec<(usize, BindSlot)> =
        claimed.into_iter().filter_map(|(node, slot)| Some((node, slot?))).collect();
    let mut numbers: Vec<u32> = slots.iter().map(|(_, slot)| slot.number()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    // One that is given back can be taken by any node.
    drop(slots.pop());
    let again = within(PATIENCE, async {
        loop {
            if let Some(slot) = claim(&nodes[2]).await {
                return slot;
            }
            pause().await;
        }
    });
    let again = again.await.expect("a slot was given back");
    assert!(claim(&nodes[0]).await.is_none());
    // A node that leaves has none any more.
    let [first, second, third] = nodes;
    let of_second = slots.iter().filter(|(node, _)| *node == 1).count();
    second.close().await.expect("it closes");
    let mut freed = Vec::new();
    while let Some(slot) = claim(&first).await {
        freed.push(slot);
    }
    assert_eq!(freed.len(), of_second);
    drop((slots, again, freed));
    first.close().await.expect("it closes");
    third.close().await.expect("it closes");
}

async fn next(envelopes: &mut mpsc::Receiver<NodeEnvelope>) -> String {
    let envelope = within(PATIENCE, envelopes.recv()).await.expect("in time").expect("the store is open");
    String::from_utf8(envelope.octets).expect("text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_reach_all_other_nodes_or_the_one_that_they_are_for() {
    let Some((_folders, nodes)) = three().await else { return };
    let mut inboxes = nodes.each_ref().map(|node| node.cluster().envelopes().expect("it is opened once"));
    assert!(nodes[0].cluster().envelopes().is_none(), "it was opened before");
    // Both must be connected: an envelope before that is lost.
    for node in &nodes[1..] {
        within(PATIENCE, async {
            while !node.can_serve() {
                pause().await;
            }
        })
        .await
        .expect("it reaches the engine");
    }
    nodes[1].cluster().send_envelope(None, b"to all".to_vec());
    assert_eq!(next(&mut inboxes[0]).await, "to all");
    assert_eq!(next(&mut inboxes[2]).await, "to all");
    let listed = within(PATIENCE, async {
        loop {
            if let Some(third) = nodes[1].cluster().nodes().into_iter().find(|node| node.name == "c") {
                return third;
            }
            pause().await;
        }
    });
    let third = listed.await.expect("it is listed after a renewal");
    nodes[1].cluster().send_envelope(Some(third.run), b"to c".to_vec());
    nodes[0].cluster().send_envelope(None, b"from the engine".to_vec());
    let mut to_third = [next(&mut inboxes[2]).await, next(&mut inboxes[2]).await];
    to_third.sort();
    assert_eq!(to_third, ["from the engine", "to c"]);
    assert_eq!(next(&mut inboxes[1]).await, "from the engine", "its own envelope does not come back");
    assert!(inboxes[0].try_recv().is_err(), "the envelope to c is for c only");
    close(nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_of_one_mo_message_on_two_nodes_are_joined() {
    let Some((folders, nodes)) = three().await else { return };
    nodes.iter().for_each(|node| node.set_catalogue(catalogue(Vec::new())));
    let links = [link(&nodes[1], 1).await, link(&nodes[2], 1).await];
    links[0].receive_mo(piece(9, 1, 2, "one, ")).await;
    links[1].receive_mo(piece(9, 2, 2, "two")).await;
    for node in &nodes {
        let page = node.inbound().list(ALICE, 0, 10).await.expect("a page");
        let shown: Vec<_> = page.iter().map(|it| (it.id, it.to.as_str(), it.text.as_str())).collect();
        assert_eq!(shown, [(1, format!("+{NUMBER}").as_str(), "one, two")]);
    }
    drop(links);
    close(nodes).await;
    assert_audit_clean(folders[0].path());
}

/// The numbers of MO messages, by which a customer polls, continue on the node that takes the engine over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inbound_messages_have_no_gap_through_a_takeover() {
    let Some((folders, [first, second, third])) = three().await else { return };
    store_setup(&first, &documents()).await;
    let link = link(&third, 1).await;
    for number in 0..20_u8 {
        link.receive_mo(piece(u16::from(number), 1, 1, &format!("text {number}"))).await;
        if number == 9 {
            first.close().await.expect("it closes");
        }
    }
    let page = second.inbound().list(ALICE, 0, 100).await.expect("a page");
    let shown: Vec<_> = page.iter().map(|it| (it.id, it.text.clone())).collect();
    let sent: Vec<_> = (0..20).map(|number| (number + 1, format!("text {number}"))).collect();
    assert_eq!(shown, sent);
    drop(link);
    second.close().await.expect("it closes");
    third.close().await.expect("it closes");
    assert_audit_clean(folders[0].path());
}
