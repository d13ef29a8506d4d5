//! What the log of one ordinary message costs: from its acceptance until its report is settled.

use super::{decode, encode};
use crate::steps::{ACME, ACME_LINK, CONNECTION, World, remote};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::money::Money;
use hermod_domain::origin::{Origin, SmppAddress};
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::text::MessageText;
use hermod_engine::commands::AnyCommand;
use hermod_engine::ops::{
    Acceptance, FinishedReports, Job, LinkBatch, ReceiptRecord, ReportId, ResponseRecord, SubmitResponse,
};
use hermod_engine::tables::Change;
use std::sync::Arc;

/// Messages of one batch.
const MESSAGES: u32 = 100;
const TEXT: &str = "Your code is 123456. Do not share it.   ";
/// Bytes of the changes of one message.
const BYTES_MAX: usize = 400;

fn sms(world: &World) -> Acceptance {
    let sms = world.sms();
    let origin = Origin {
        source: SmppAddress::new(5, 0, b"Hermod"),
        destination: SmppAddress::new(1, 1, b"4915112345678"),
        ..sms.origin.as_deref().expect("it came over SMPP").clone()
    };
    Acceptance {
        text: MessageText::parse(TEXT).expect("a text"),
        origin: Some(Arc::new(origin)),
        cost: Money::from_micros(37_500),
        carrier_cost: None,
        credit_limit: Money::from_micros(1_000_000_000),
        ..sms
    }
}

/// Returns the logs of messages that are accepted together, sent, accepted by the carrier, delivered, and reported.
fn lifecycle() -> Vec<Vec<Change>> {
    let mut world = World::new();
    world.run(LinkBatch { slots: MESSAGES, ..world.link_batch(ACME, ACME_LINK) });
    // The first message has changes that later ones do not have: of the day, of reserved ids.
    let first = AnyCommand::from(Box::new(sms(&world)));
    world.run_all(vec![first]);
    let mut logs = Vec::new();
    let mut log = |world: &mut World, commands: Vec<AnyCommand>| {
        world.run_all(commands);
        logs.push(decode(world.log.borrow().bytes()).expect("changes"));
    };
    let accepted = (0..MESSAGES).map(|_| Box::new(sms(&world)).into()).collect();
    log(&mut world, accepted);
    let id = |no: usize| remote(&format!("3b9aca{no:04x}"));
    let response = |(no, job): (usize, &Job)| {
        let Job { message, part, account, to, .. } = *job;
        ResponseRecord {
            message,
            part,
            account,
            to,
            response: SubmitResponse::Accepted(id(no)),
            failover_to: None,
        }
    };
    let responses = world.jobs.iter().enumerate().map(response).collect();
    let responses = LinkBatch { responses, slots: 0, ..world.link_batch(ACME, ACME_LINK) };
    log(&mut world, vec![responses.into()]);
    let receipt = |no: u32| ReceiptRecord {
        sequence: no,
        remote: Some(id(no as usize)),
        verdict: DeliveryOutcome::Delivered,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source: None,
        sender: None,
    };
    let receipts = (0..MESSAGES).map(receipt).collect();
    let receipts = LinkBatch { receipts, slots: 0, ..world.link_batch(ACME, ACME_LINK) };
    log(&mut world, vec![receipts.into()]);
    let accepted = (1..=u64::from(MESSAGES)).map(ReportId).collect();
    let settled = FinishedReports::superseded(CONNECTION, accepted, world.now);
    log(&mut world, vec![settled.into()]);
    logs
}

#[test]
fn changes_of_an_ordinary_message_are_small() {
    let logs = lifecycle();
    let sizes: Vec<(usize, usize)> =
        logs.iter().map(|changes| (changes.len(), encode(changes).bytes().len())).collect();
    println!(
        "(changes, bytes) of {MESSAGES} messages accepted and sent, accepted by the carrier, delivered, reported: {sizes:?}"
    );
    let bytes: usize = sizes.iter().map(|(_, bytes)| bytes).sum();
    assert!(bytes <= BYTES_MAX * MESSAGES as usize, "{sizes:?}");
}
