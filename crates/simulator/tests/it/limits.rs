//! Throttling, full queues and temporary errors.

use hermod_simulator::carrier::{Script, SimulatedCarrier, SubmitAction, SubmitFilter};
use hermod_smpp::CommandStatus;

use crate::esme::{Esme, PATIENCE};
use crate::helpers::{carrier, check, ms};

#[test]
fn throttling_bursts_use_throttled_and_queue_full() {
    let texts = &["a", "b", "c", "d"];
    let bursts = Script::new().no_receipts().throttle_bursts(1, 2);
    check(bursts, texts, &["a: 0x58", "b: 1", "c: 0x58", "d: 2"]);
    let full = SubmitAction::Reject(CommandStatus::MSGQFUL);
    let script = Script::new().no_receipts().rule(SubmitFilter::burst(2, 3), full);
    check(script, texts, &["a: 0x14", "b: 0x14", "c: 1", "d: 0x14"]);
    check(Script::new().no_receipts().queue_full(1), texts, &["a: 0x14", "b: 1", "c: 2", "d: 3"]);
}

#[tokio::test]
async fn throttling_lasts_for_the_scripted_time() {
    let carrier = carrier(Script::new()).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    carrier.set_script(Script::new().no_receipts().throttle_for(PATIENCE));
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 0x58");
    carrier.set_script(Script::new().no_receipts().throttle_for(ms(300)));
    assert_eq!(esme.within(ms(300)).await, None);
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 1");
    carrier.set_script(Script::new().no_receipts().reject_for(PATIENCE, CommandStatus::SYSERR));
    esme.submit("b").await;
    assert_eq!(esme.next().await, "b: 0x08");
}

/// Submits five messages on one link and one on another. Returns what happened, if all of them came within a second.
async fn submit_six(carrier: &SimulatedCarrier, links: &mut [Esme; 2]) -> Option<Vec<String>> {
    for text in ["a", "b", "c", "d", "e"] {
        links[0].submit(text).await;
    }
    let mut happened = links[0].next_many(5).await;
    links[1].submit("f").await;
    happened.push(links[1].next().await);
    (carrier.record().most_within(ms(900)) == 6).then_some(happened)
}

#[tokio::test]
async fn submits_over_the_rate_of_any_second_are_throttled_and_counted() {
    // A machine that takes longer than a second for six submits has to try again.
    let (carrier, mut links, happened) = loop {
        let carrier = carrier(Script::new().no_receipts().rate_max(3)).await;
        let mut links = [Esme::bound(carrier.addr()).await, Esme::bound(carrier.addr()).await];
        if let Some(happened) = submit_six(&carrier, &mut links).await {
            break (carrier, links, happened);
        }
    };
    // All links count together.
    assert_eq!(happened, ["a: 1", "b: 2", "c: 3", "d: 0x58", "e: 0x58", "f: 0x58"]);
    let record = carrier.record();
    assert_eq!((record.counts().rate_violations, record.counts().window_violations), (3, 0));
    assert_eq!((record.most_within(ms(10_000)), record.most_within_on(2, ms(10_000))), (6, 1));
    assert_eq!(links[0].within(ms(1000)).await, None);
    links[0].submit("g").await;
    assert_eq!(links[0].next().await, "g: 4");
}

#[tokio::test]
async fn submit_over_the_window_is_counted() {
    let carrier =
        carrier(Script::new().no_receipts().window_max(1).delay_when(SubmitFilter::first(1), PATIENCE * 6))
            .await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    esme.submit("b").await;
    assert_eq!(esme.next().await, "b: 0x58");
    let counts = carrier.record().counts();
    assert_eq!((counts.rate_violations, counts.window_violations), (0, 1));
}

#[tokio::test]
async fn message_accepted_after_temporary_errors_gets_its_receipt() {
    let carrier = carrier(Script::new().reject_first(1, CommandStatus::SYSERR)).await;
    let mut esme = Esme::bound(carrier.addr()).await;
    esme.submit("a").await;
    assert_eq!(esme.next().await, "a: 0x08");
    esme.submit("a").await;
    assert_eq!(esme.next_many(2).await, ["a: 1", "receipt 1 DELIVRD 2"]);
    assert_eq!(carrier.record().duplicates(), 0);
}
