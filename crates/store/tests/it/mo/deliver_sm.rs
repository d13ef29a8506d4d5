//! MO messages to binds: deliver_sm is retried like delivery reports until it is accepted or given up.

use super::*;
use crate::reports::origin;
use hermod_domain::inbound::MoEncoding;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_store::{Acceptance, REPORT_KEPT, Report, ReportContent, ReportGiveUpReason, ReportOutcome};

async fn world_with_smpp_connection() -> World {
    let world = World::new().await;
    world.store.set_catalogue(catalogue(vec![
        (ConnectionId::new(5), connection(ALICE, "none", InboundForm::None)),
        (OVER_SMPP, connection(ALICE, "alice", InboundForm::Parts)),
        (ConnectionId::new(8), connection(ALICE, "later", InboundForm::Payload)),
    ]));
    world
}

fn inbound_number(report: &Report) -> u64 {
    match report.content {
        ReportContent::Inbound(number) => number,
        ReportContent::Dlr(_) => panic!("the report has no MO message"),
    }
}

#[tokio::test]
async fn mo_message_is_delivered_to_the_accounts_connection_and_can_be_polled() {
    let mut world = world_with_smpp_connection().await;
    let header: Box<[u8]> = [5, 4, 0, 1, 0, 2].into();
    let mut part = text(HANDSET, NUMBER, "hello");
    part.segment.header = header.clone();
    world.receive_mo(part).await;
    world.restart().await;
    let port = world.store.open_receiver(OVER_SMPP);
    let reports = world.take_reports(&port, 10).await;
    assert_eq!((reports.len(), inbound_number(&reports[0]), reports[0].account), (1, 1, ALICE));
    let messages = port.inbound(&reports).await.unwrap();
    let (id, message) = &messages[0];
    assert_eq!((*id, message.id, message.whole.text.as_str()), (reports[0].id, 1, "hello"));
    assert_eq!((message.whole.form, &message.whole.header), (MoEncoding::SingleByte, &header));
    assert_eq!(message.source, SmppAddress::new(1, 1, HANDSET.as_bytes()));
    assert_eq!(message.destination, SmppAddress::new(1, 1, NUMBER.as_bytes()));
    let printed = format!("{messages:?}");
    assert!(!printed.contains("hello") && !printed.contains(HANDSET), "{printed}");
    world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports().waiting(OVER_SMPP).await.unwrap(), 0);
    world.assert_no_reports(&port).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["hello"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipts_and_mo_messages_are_delivered_in_the_order_of_their_creation() {
    let world = world_with_smpp_connection().await;
    let (link, port) = (world.link().await, world.store.open_receiver(OVER_SMPP));
    link.receive_mo(text(HANDSET, NUMBER, "first")).await;
    let sent = Acceptance { connection: OVER_SMPP, origin: Some(Arc::new(origin(1))), ..world.sms() };
    let message = world.send_accepted_as(&link, sent, "id").await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    link.take_handout().await;
    link.receive_mo(text(HANDSET, NUMBER, "last")).await;
    let mut reports = Vec::new();
    while reports.len() < 3 {
        reports.extend(world.take_reports(&port, 10).await);
    }
    assert_eq!(reports[1].message, message);
    let messages = port.inbound(&reports).await.unwrap();
    let texts: Vec<_> = messages.iter().map(|(id, it)| (*id, it.whole.text.as_str())).collect();
    assert_eq!(texts, [(reports[0].id, "first"), (reports[2].id, "last")]);
    assert!(port.inbound(&reports[1..2]).await.unwrap().is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn reply_is_delivered_to_the_connection_that_sent_if_it_takes_mo_messages() {
    let world = world_with_smpp_connection().await;
    for (connection, expect) in [(8, 8), (5, 7), (99, 7)] {
        let connection = ConnectionId::new(connection);
        let reply_to = Some(Sender::parse(FOREIGN).unwrap());
        world.send(Acceptance { connection, reply_to, ..world.sms() }).await;
        world.receive_mo(text(HANDSET, FOREIGN, &format!("to {connection}"))).await;
        let port = world.store.open_receiver(ConnectionId::new(expect));
        let reports = world.take_reports(&port, 10).await;
        assert_eq!(reports.len(), 1, "{connection}");
        world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn mo_message_rejected_or_too_old_is_given_up_and_can_be_polled() {
    let mut world = world_with_smpp_connection().await;
    world.receive_mo(text(HANDSET, NUMBER, "refused")).await;
    let port = world.store.open_receiver(OVER_SMPP);
    let refused = world.take_reports(&port, 1).await;
    world.settle(&port, &[refused[0].id], ReportOutcome::RetryLater).await;
    world.assert_no_reports(&port).await;
    world.advance(secs(30)).await;
    assert_eq!(world.take_reports(&port, 1).await, refused, "it is retried on the schedule of receipts");
    world.settle(&port, &[refused[0].id], ReportOutcome::Refused(0x65)).await;
    world.receive_mo(text(HANDSET, NUMBER, "too old")).await;
    drop(port);
    world.advance(REPORT_KEPT).await;
    world.sweep(world.now).await;
    let given_up = world.store.reports().given_up(Some(ALICE), None, 10).await.unwrap();
    let shown: Vec<_> = given_up.iter().map(|it| (it.status, it.connection, it.reason)).collect();
    let expect =
        [(None, OVER_SMPP, ReportGiveUpReason::Refused(0x65)), (None, OVER_SMPP, ReportGiveUpReason::TooOld)];
    assert_eq!(shown, expect);
    assert_eq!(world.inbound_texts(ALICE).await, ["refused", "too old"]);
    world.assert_audit_clean();
}
