//! Orderly hand-overs of the engine: the other nodes get every answer, and their binds no report twice.

use crate::nodes::{accept, folder, link, open_node, pause};
use crate::reports::{CONNECTION, origin};
use crate::world::*;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_store::{AcceptOutcome, Acceptance, ReceiverPort, Report, ReportOutcome, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const OPENING: i64 = 1_000_000_000;
/// Reports would come again as soon as the next engine has read them.
const QUIET: Duration = Duration::from_secs(2);
/// Submissions in progress on each node.
const AT_ONCE: usize = 20;

/// Keeps some submissions in progress, none with a key. Returns how many were accepted; any other outcome panics.
async fn submit_until(store: Store, stop: Arc<AtomicBool>) -> usize {
    let mut sending = JoinSet::new();
    let mut accepted = 0;
    loop {
        while sending.len() < AT_ONCE && !stop.load(Ordering::Relaxed) {
            let store = store.clone();
            sending.spawn(async move { store.accept(sms(noon())).await });
        }
        let Some(done) = sending.join_next().await else { return accepted };
        let outcome = done.expect("no panic").expect("every submission is answered");
        assert!(matches!(outcome, AcceptOutcome::Accepted { .. }), "{outcome:?}");
        accepted += 1;
    }
}

async fn settle(port: &ReceiverPort, reports: &[Report]) {
    let outcomes = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
    port.settle(outcomes, noon()).await.expect("they are settled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn submissions_on_other_nodes_are_all_answered_while_the_engine_is_handed_over() {
    let folders = [folder(), folder(), folder()];
    let shared = folders[0].path();
    let Some(first) = open_node(shared, shared, "one", None).await else { return };
    let mut nodes = vec![first];
    for (folder, name) in folders[1..].iter().zip(["two", "three"]) {
        nodes.push(open_node(shared, folder.path(), name, None).await.expect("on PostgreSQL"));
    }
    top_up(&nodes[0], OPENING).await;
    let mut accepted = 0;
    while nodes.len() > 1 {
        let index = nodes.iter().position(Store::runs_engine).expect("one of them runs the engine");
        let engine = nodes.remove(index);
        let stop = Arc::new(AtomicBool::new(false));
        let mut load = JoinSet::new();
        for node in &nodes {
            load.spawn(submit_until(node.clone(), stop.clone()));
        }
        for _ in 0..20 {
            pause().await;
        }
        engine.close().await.expect("it closes");
        let next = async {
            while !nodes.iter().any(Store::runs_engine) {
                pause().await;
            }
        };
        within(PATIENCE, next).await.expect("another node takes over");
        stop.store(true, Ordering::Relaxed);
        let answered = async {
            while let Some(done) = load.join_next().await {
                accepted += done.expect("no panic");
            }
        };
        within(PATIENCE, answered).await.expect("all are answered");
    }
    let spent = OPENING - nodes[0].money().balance(ALICE).await.expect("a balance").balance.as_micros();
    assert_eq!(spent, PRICE * i64::try_from(accepted).expect("some thousand"));
    nodes.remove(0).close().await.expect("it closes");
    assert_audit_clean(shared);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_that_binds_have_are_not_repeated_by_the_next_engine() {
    let folders = [folder(), folder(), folder()];
    let shared = folders[0].path();
    let Some(engine) = open_node(shared, shared, "one", None).await else { return };
    let two = open_node(shared, folders[1].path(), "two", None).await.expect("on PostgreSQL");
    let three = open_node(shared, folders[2].path(), "three", None).await.expect("on PostgreSQL");
    top_up(&engine, OPENING).await;
    let link = link(&two, 6).await;
    let ports = [two.open_receiver(CONNECTION), three.open_receiver(CONNECTION)];
    let mut taken: [Vec<Report>; 2] = Default::default();
    for number in 0..6 {
        let origin = Some(Arc::new(origin(1)));
        let message = accept(&two, Acceptance { origin, ..sms(noon()) }).await;
        let job = link.take_job().await;
        assert_eq!(job.message, message);
        link.accept(&job, &format!("id-{number}")).await;
        link.receipt(&format!("id-{number}"), DeliveryOutcome::Delivered).await;
        link.take_recorded().await;
        let place = number % 2;
        let reports = within(PATIENCE, ports[place].take(1, noon())).await.expect("a report in time");
        taken[place].extend(reports);
    }
    assert_eq!([taken[0].len(), taken[1].len()], [3, 3]);
    // One result arrives before, one while there is no engine, one at the next engine.
    for (port, taken) in ports.iter().zip(&taken) {
        settle(port, &taken[..1]).await;
    }
    engine.close().await.expect("it closes");
    for (port, taken) in ports.iter().zip(&taken) {
        settle(port, &taken[1..2]).await;
    }
    let next = async {
        while !two.runs_engine() && !three.runs_engine() {
            pause().await;
        }
    };
    within(PATIENCE, next).await.expect("another node takes over");
    for (port, taken) in ports.iter().zip(&taken) {
        settle(port, &taken[2..]).await;
    }
    let none_waits = async {
        while two.reports().waiting(CONNECTION).await.expect("a count") > 0 {
            pause().await;
        }
    };
    within(PATIENCE, none_waits).await.expect("all results are recorded");
    for port in &ports {
        let repeated = within(QUIET, port.take(10, noon().plus(secs(3_600)))).await;
        assert!(repeated.is_err(), "{repeated:?}");
    }
    drop((link, ports));
    two.close().await.expect("it closes");
    three.close().await.expect("it closes");
    assert_audit_clean(shared);
}
