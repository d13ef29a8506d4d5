//! Messages from handsets on their way to binds: told like reports are, again and again, until they are taken or given up.

use super::*;
use crate::reporting::origin;
use hermod_domain::inbound::Form;
use hermod_domain::lifecycle::Verdict;
use hermod_store::{Acceptance, REPORT_KEPT, Report, ReportContent, ReportGiveUpReason, ReportOutcome};

async fn stage() -> World {
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
        ReportContent::Dlr(_) => panic!("it brings a message from a handset"),
    }
}

#[tokio::test]
async fn a_message_is_brought_to_the_accounts_connection_and_can_be_polled_all_the_same() {
    let mut world = stage().await;
    let header: Box<[u8]> = [5, 4, 0, 1, 0, 2].into();
    let mut part = text(HANDSET, NUMBER, "hello");
    part.piece.header = header.clone();
    world.brings(part).await;
    world.restarts().await;
    let port = world.store.open_receiver(OVER_SMPP);
    let reports = world.takes(&port, 10).await;
    assert_eq!((reports.len(), inbound_number(&reports[0]), reports[0].account), (1, 1, ALICE));
    let messages = port.inbound(&reports).await.unwrap();
    let (id, message) = &messages[0];
    assert_eq!((*id, message.id, message.whole.text.as_str()), (reports[0].id, 1, "hello"));
    assert_eq!((message.whole.form, &message.whole.header), (Form::Narrow, &header));
    assert_eq!(message.source, WrittenAddress::new(1, 1, HANDSET.as_bytes()));
    assert_eq!(message.destination, WrittenAddress::new(1, 1, NUMBER.as_bytes()));
    let printed = format!("{messages:?}");
    assert!(!printed.contains("hello") && !printed.contains(HANDSET), "{printed}");
    world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports_waiting(OVER_SMPP).await.unwrap(), 0);
    world.tells_nothing(&port).await;
    assert_eq!(world.reads(ALICE).await, ["hello"]);
    world.books_are_sound();
}

#[tokio::test]
async fn receipts_and_messages_go_out_in_the_order_they_came_to_be() {
    let world = stage().await;
    let (link, port) = (world.link().await, world.store.open_receiver(OVER_SMPP));
    link.brings(text(HANDSET, NUMBER, "first")).await;
    let sent = Acceptance { connection: OVER_SMPP, origin: Some(Arc::new(origin(1))), ..world.sms() };
    let message = world.sent_as(&link, sent, "id").await;
    link.receipt("id", Verdict::Delivered).await;
    link.takes().await;
    link.brings(text(HANDSET, NUMBER, "last")).await;
    let mut reports = Vec::new();
    while reports.len() < 3 {
        reports.extend(world.takes(&port, 10).await);
    }
    assert_eq!(reports[1].message, message);
    let messages = port.inbound(&reports).await.unwrap();
    let texts: Vec<_> = messages.iter().map(|(id, it)| (*id, it.whole.text.as_str())).collect();
    assert_eq!(texts, [(reports[0].id, "first"), (reports[2].id, "last")]);
    assert!(port.inbound(&reports[1..2]).await.unwrap().is_empty());
    world.books_are_sound();
}

#[tokio::test]
async fn an_answer_goes_to_the_connection_that_wrote_if_that_takes_messages() {
    let world = stage().await;
    for (connection, expect) in [(8, 8), (5, 7), (99, 7)] {
        let connection = ConnectionId::new(connection);
        let reply_to = Some(Sender::parse(FOREIGN).unwrap());
        world.sends(Acceptance { connection, reply_to, ..world.sms() }).await;
        world.brings(text(HANDSET, FOREIGN, &format!("to {connection}"))).await;
        let port = world.store.open_receiver(ConnectionId::new(expect));
        let reports = world.takes(&port, 10).await;
        assert_eq!(reports.len(), 1, "{connection}");
        world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    }
    world.books_are_sound();
}

#[tokio::test]
async fn what_nobody_takes_is_given_up_and_stays_readable() {
    let mut world = stage().await;
    world.brings(text(HANDSET, NUMBER, "refused")).await;
    let port = world.store.open_receiver(OVER_SMPP);
    let refused = world.takes(&port, 1).await;
    world.settle(&port, &[refused[0].id], ReportOutcome::RetryLater).await;
    world.tells_nothing(&port).await;
    world.passes(secs(30)).await;
    assert_eq!(world.takes(&port, 1).await, refused, "on the schedule of receipts");
    world.settle(&port, &[refused[0].id], ReportOutcome::Refused(0x65)).await;
    world.brings(text(HANDSET, NUMBER, "too old")).await;
    drop(port);
    world.passes(REPORT_KEPT).await;
    world.sweeps(world.now).await;
    let given_up = world.store.given_up(Some(ALICE), None, 10).await.unwrap();
    let shown: Vec<_> = given_up.iter().map(|it| (it.status, it.connection, it.reason)).collect();
    let expect =
        [(None, OVER_SMPP, ReportGiveUpReason::Refused(0x65)), (None, OVER_SMPP, ReportGiveUpReason::TooOld)];
    assert_eq!(shown, expect);
    assert_eq!(world.reads(ALICE).await, ["refused", "too old"]);
    world.books_are_sound();
}
