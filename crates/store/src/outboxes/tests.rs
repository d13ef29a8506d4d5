//! Tests of the outboxes together with their ports.

use super::{Outboxes, Receivers};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::{Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{DlrReport, Report, ReportContent, ReportId, ReportOutcome};
use hermod_engine::outbox::NextReports;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

const DELIVERED: ReportStatus = ReportStatus::Final(DlrCode::Delivrd);

fn report(id: u64, message: i64, told: ReportStatus) -> Report {
    Report {
        id: ReportId(id),
        account: AccountId::new(1),
        connection: ConnectionId::new(1),
        message: MessageId::from_i64(1_000_000_000_000_000 + message).expect("an id"),
        at: Timestamp::EPOCH,
        content: ReportContent::Dlr(DlrReport {
            alias: None,
            origin: Arc::new(Origin {
                registered_delivery: RegisteredDelivery::from_octet(0x11),
                short_id: false,
                on_transmitter: false,
                reference: None,
                source: SmppAddress::default(),
                destination: SmppAddress::default(),
                quote: smallvec::SmallVec::new(),
            }),
            status: told,
            err: 0,
            parts: 1,
            delivered: 0,
        }),
    }
}

#[test]
fn superseded_report_that_could_not_be_queued_is_settled_with_the_newer_one() {
    let outboxes = Outboxes::empty(Arc::new(Receivers::new(Timestamp::EPOCH)), Timestamp::EPOCH);
    let connection = ConnectionId::new(1);
    let (outbox, first) = outboxes.open(connection, Arc::new(Notify::new()));
    outboxes.add_committed(vec![report(1, 1, ReportStatus::Enroute)], &[]);
    let taken = |port| match outbox.take(port, 10, outboxes.now()) {
        NextReports::Reports(reports) => reports.iter().map(|report| report.id.0).collect::<Vec<_>>(),
        NextReports::Read(_) | NextReports::Nothing => vec![],
    };
    assert_eq!(taken(first), [1]);
    let (_, second) = outboxes.open(connection, Arc::new(Notify::new()));
    outboxes.add_committed(vec![report(2, 1, DELIVERED)], &[]);
    assert!(taken(second).is_empty(), "the other port has the earlier report");
    assert!(outboxes.close(connection, &outbox, first, false).is_empty(), "the writer's queue is full");
    assert_eq!(taken(second), [2]);
    let settled = outbox
        .with(|state| state.settle(second, vec![(ReportId(2), ReportOutcome::Accepted)], outboxes.now()));
    assert_eq!(settled.accepted, [ReportId(1), ReportId(2)], "in one transaction");
    // The same, without a port that settles a newer report.
    outboxes.add_committed(vec![report(3, 3, ReportStatus::Enroute)], &[]);
    assert_eq!(taken(second), [3]);
    outboxes.add_committed(vec![report(4, 3, DELIVERED)], &[]);
    assert!(taken(second).is_empty());
    assert!(outboxes.close(connection, &outbox, second, false).is_empty());
    assert!(outboxes.has_superseded());
    let finished = outboxes.take_superseded().expect("a superseded report");
    assert_eq!((finished.connection, finished.accepted), (connection, vec![ReportId(3)]));
    assert!(outboxes.take_superseded().is_none() && !outboxes.has_superseded());
    outboxes.tick(outboxes.now().plus(Duration::from_secs(1)));
}
