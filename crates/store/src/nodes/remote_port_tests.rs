//! Unit tests of `remote_port.rs`.

use super::*;
use crate::nodes::frames;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_engine::ops::ReportContent;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn report(number: u64) -> Report {
    let message = MessageId::first_at(NOW);
    let id = ReportId(number);
    let content = ReportContent::Inbound(number);
    Report { id, account: AccountId::new(1), connection: ConnectionId::new(1), message, at: NOW, content }
}

#[tokio::test]
async fn results_of_a_bind_that_ends_without_an_engine_reach_the_next_one() {
    let port = RemotePort::new(7, ConnectionId::new(1));
    port.connect(Arc::default());
    port.deliver(vec![report(1), report(2)]);
    let taken = port.take(2, NOW).await;
    port.disconnect();
    port.settle(vec![(taken[0].id, ReportOutcome::Accepted)], NOW);
    assert!(!port.close(), "the result is not confirmed");

    let engine = Arc::new(Outgoing::default());
    port.connect(engine.clone());
    assert!(port.confirm(), "nothing is left");
    let sent = engine.take().await.expect("frames");
    let expected = [
        ToEngine::OpenReceiver { port: 7, connection: ConnectionId::new(1), held: taken.clone() },
        ToEngine::SettleReports { port: 7, outcomes: vec![(taken[0].id, ReportOutcome::Accepted)], now: NOW },
        ToEngine::CloseReceiver { port: 7 },
    ];
    assert_eq!(sent, expected.map(|frame| frames::encode(&frame).expect("a frame")));
}
