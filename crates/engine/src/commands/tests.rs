//! The list of commands: conversions, behaviour on a full disk, and debug output.

use super::*;
use crate::ops::{
    AfterAttempt, CancelOutcome, DailyLimits, Endpoint, EventId, ExpectedParties, LinkId, LinkKind,
    LinkNumber, MoRecord, ReportId, Screening, SettledAttempt,
};
use crate::ops::{AnsweredReport, SubmitNote};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::MessageId;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::Money;
use hermod_domain::origin::SmppAddress;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use std::mem::size_of;
use std::time::Duration;

const NOW: Timestamp = Timestamp::EPOCH;
const SECRET: &str = "swordfish";

fn number() -> Msisdn {
    Msisdn::from_number(4_915_112_345_678).unwrap()
}

fn acceptance() -> Acceptance {
    Acceptance {
        account: AccountId::new(1),
        connection: ConnectionId::new(1),
        carrier: CarrierId::new(1),
        to: number(),
        from: Sender::parse("Hermod").unwrap(),
        text: MessageText::parse(SECRET).unwrap(),
        encoding: Encoding::Gsm7,
        parts: 1,
        whole: false,
        tlvs: None,
        options: None,
        origin: None,
        reply_to: None,
        cost: Money::ZERO,
        carrier_cost: None,
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits::default(),
        velocity: Vec::new(),
        key: None,
        doubt: DoubtPolicy::default(),
        note: SubmitNote::default(),
        validity: Duration::from_secs(60),
        now: NOW,
    }
}

fn link_batch() -> LinkBatch {
    let address = |number: &str| SmppAddress::new(1, 1, number.as_bytes());
    let segment = MoSegment {
        data_coding: 0,
        alphabet: Alphabet::Latin1,
        header: Box::default(),
        octets: SECRET.as_bytes().into(),
    };
    let (source, destination) = (address("4915112345678"), address("80800"));
    let part = InboundPart { source, destination, concat: None, reference: None, segment };
    let record = MoRecord { sequence: 1, part };
    LinkBatch {
        carrier: CarrierId::new(1),
        ids: IdConversion::None,
        link: LinkId(1),
        responses: Vec::new(),
        receipts: Vec::new(),
        inbound: vec![record.clone(), record],
        slots: 3,
        now: NOW,
    }
}

fn report_ends() -> FinishedReports {
    let connection = ConnectionId::new(1);
    FinishedReports {
        connection,
        accepted: vec![ReportId(1), ReportId(2)],
        refused: vec![(ReportId(3), 8)],
        answered: vec![AnsweredReport { report: ReportId(3), message: MessageId::first_at(NOW), status: 8 }],
        now: NOW,
    }
}

fn webhook_results() -> WebhookResults {
    let endpoint = Endpoint { account: AccountId::new(1), kind: WebhookKind::Dlr };
    let settled = |event| SettledAttempt {
        endpoint,
        event: EventId(event),
        failures: 0,
        attempt: None,
        next: AfterAttempt::Delivered,
    };
    WebhookResults { settled: vec![settled(1), settled(2)], now: NOW }
}

fn screened() -> Screened {
    Screened {
        account: AccountId::new(1),
        from: Sender::parse("Hermod").unwrap(),
        to: number(),
        text: SECRET.to_owned(),
        digest: [0; 16],
        rules: Vec::new(),
        now: NOW,
    }
}

fn inbound() -> Inbound {
    let (from, to) = ("4915112345678".to_owned(), "80800".to_owned());
    Inbound { account: AccountId::new(1), from, to, text: SECRET.to_owned(), received_at: NOW }
}

#[test]
fn outcome_belongs_to_its_own_command_only() {
    let cancelled = || AnyOutcome::Cancel(CancelOutcome::Cancelled);
    assert_eq!(Cancel::own_outcome(cancelled()), Some(CancelOutcome::Cancelled));
    assert_eq!(Screened::own_outcome(cancelled()), None);
    assert_eq!(Screened::own_outcome(AnyOutcome::Screen(Screening::Passed)), Some(Screening::Passed));
    // Both outcomes are empty, and still they belong to different commands.
    assert_eq!(LinkBatch::own_outcome(AnyOutcome::ReportLink(())), Some(()));
    assert_eq!(LinkBatch::own_outcome(AnyOutcome::SettleReports(())), None);
    assert_eq!(format!("{:?}", cancelled()), "Cancel");
}

#[test]
fn facts_are_kept_on_a_full_disk_and_reads_are_run() {
    let link = LinkId(1);
    let carrier = CarrierId::new(1);
    let cases: [(AnyCommand, OnFullDisk); 9] = [
        (Box::new(acceptance()).into(), OnFullDisk::Refuse),
        (link_batch().into(), OnFullDisk::Keep),
        (report_ends().into(), OnFullDisk::Keep),
        (webhook_results().into(), OnFullDisk::Keep),
        (ReadQueues.into(), OnFullDisk::Run),
        (ReadWaitingParts { accounts: Vec::new() }.into(), OnFullDisk::Run),
        (OpenLink { carrier, link, number: LinkNumber(1), kind: LinkKind::Sends }.into(), OnFullDisk::Run),
        (CloseLink { carrier, link }.into(), OnFullDisk::Run),
        (ReleaseDue { now: NOW }.into(), OnFullDisk::Refuse),
    ];
    for (command, expect) in cases {
        assert_eq!(command.on_full_disk(), expect, "{command:?}");
    }
}

#[test]
fn command_of_several_facts_splits_into_one_command_each() {
    let pieces = |command: AnyCommand| command.into_pieces().map(|pieces| pieces.len()).ok();
    assert_eq!(pieces(link_batch().into()), Some(3), "the last one has the slots");
    assert_eq!(pieces(report_ends().into()), Some(3));
    assert_eq!(pieces(webhook_results().into()), Some(2));
    assert_eq!(pieces(ReadQueues.into()), None);
}

#[test]
fn commands_print_no_message_text() {
    let commands: [AnyCommand; 4] =
        [Box::new(acceptance()).into(), link_batch().into(), screened().into(), inbound().into()];
    for command in commands {
        let printed = format!("{command:?}");
        assert!(!printed.contains(SECRET), "{printed}");
        let octets = format!("{:?}", SECRET.as_bytes());
        assert!(!printed.contains(octets.trim_matches(['[', ']'])), "{printed}");
    }
}

#[test]
fn any_command_is_no_larger_than_what_a_link_reports() {
    let room = size_of::<LinkBatch>() + size_of::<usize>();
    assert!(size_of::<AnyCommand>() <= room, "{} > {room}: box the command", size_of::<AnyCommand>());
    assert!(size_of::<AnyOutcome>() <= room, "{} > {room}: box the outcome", size_of::<AnyOutcome>());
}

#[test]
fn parties_that_are_not_given_are_not_compared() {
    let [from, other] = ["Hermod", "Odin"].map(|sender| Sender::parse(sender).unwrap());
    let another = Msisdn::from_number(4_915_112_345_679).unwrap();
    let cases = [
        (None, None, true),
        (Some(from), None, true),
        (None, Some(number()), true),
        (Some(from), Some(number()), true),
        (Some(other), Some(number()), false),
        (Some(from), Some(another), false),
        (None, Some(another), false),
    ];
    for (expected_from, expected_to, expect) in cases {
        let expected = ExpectedParties { from: expected_from, to: expected_to };
        assert_eq!(expected.include(&from, number()), expect, "{expected:?}");
    }
}
