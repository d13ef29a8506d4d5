//! Random commands that make sense now, or nearly.

use super::world::{CARRIERS, Link, World};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RemoteId};
use hermod_domain::lifecycle::{DoubtPolicy, RefusedFor, Verdict};
use hermod_domain::money::Money;
use hermod_domain::origin::{MessageName, Origin, ReceiptWish, WrittenAddress};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_engine::commands::{AnyCommand, Cancel, CloseLink, Lapse, OpenLink, OptIn, ReleaseDue};
use hermod_engine::ops::{
    Acceptance, Answer, AnswerRecord, DailyLimits, ExpectedParties, Job, KeyClaim, LedgerEntry, LedgerKind,
    LinkBatch, LinkId, LinkKind, OptOut, ReceiptRecord, ReportEnds,
};
use std::sync::Arc;
use std::time::Duration;

const ACCOUNTS: u64 = 4;
const RECIPIENTS: u64 = 40;
const KEYS: u64 = 400;
const PRICE: i64 = 50_000;
const LINKS_MAX: usize = 3;
/// Parts whose time is up that one command names.
const LAPSED_MAX: usize = 20;

/// Makes a command, if one of its kind makes sense now.
type Make = fn(&mut World) -> Option<AnyCommand>;

/// How likely each kind of command is, in hundredths.
const KINDS: [(u64, Make); 10] = [
    (32, accept),
    (4, pay),
    (2, opt_out),
    (1, opt_in),
    (4, open_link),
    (2, close_link),
    (36, hear_link),
    (5, cancel),
    (6, lapse),
    (8, take_reports),
];

/// Returns a random command. Time may pass before it.
pub(super) fn next(world: &mut World) -> AnyCommand {
    pass_time(world);
    if let Some(command) = report_unsent(world) {
        return command;
    }
    loop {
        let mut ticket = world.random.below(KINDS.iter().map(|(weight, _)| weight).sum());
        for (weight, make) in KINDS {
            if ticket < weight {
                if let Some(command) = make(world) {
                    return command;
                }
                break;
            }
            ticket -= weight;
        }
        if world.random.once_in(8) {
            return ReleaseDue { now: world.now }.into();
        }
    }
}

/// What a link was given while it was being closed is told as not sent.
fn report_unsent(world: &mut World) -> Option<AnyCommand> {
    let link = world.links.iter_mut().find(|link| link.closing && !link.under_way.is_empty())?;
    let answers = link.under_way.drain(..).map(|job| record(&job, Answer::NotSent)).collect();
    let (carrier, link, now) = (link.carrier, link.id, world.now);
    let (receipts, inbound) = (Vec::new(), Vec::new());
    let batch =
        LinkBatch { carrier, ids: IdConversion::None, link, answers, receipts, inbound, slots: 0, now };
    Some(batch.into())
}

fn pass_time(world: &mut World) {
    const STEPS: [(u64, u64); 6] =
        [(2, 1), (20, 1_000), (60, 31_000), (400, 700_000), (4_000, 11 * 3_600_000), (8_000, 25 * 3_600_000)];
    for (times, millis) in STEPS {
        if world.random.once_in(times) {
            let wait = world.random.below(millis) + 1;
            world.now = world.now.plus(Duration::from_millis(wait));
        }
    }
}

fn account(world: &mut World) -> AccountId {
    AccountId::new(u32::try_from(world.random.below(ACCOUNTS)).expect("a few") + 1)
}

fn recipient(world: &mut World) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + world.random.below(RECIPIENTS)).expect("a number")
}

fn accept(world: &mut World) -> Option<AnyCommand> {
    let (account, to) = (account(world), recipient(world));
    let parts = u8::try_from(world.random.below(3)).expect("a few") + 1;
    let random = &mut world.random;
    let key = random.once_in(3).then(|| {
        let mut digest = [0; 16];
        digest[..8].copy_from_slice(&random.below(KEYS).to_be_bytes());
        digest[8..12].copy_from_slice(&account.get().to_be_bytes());
        KeyClaim { digest, fingerprint: random.below(2) }
    });
    let over_smpp = random.once_in(2).then(|| {
        Arc::new(Origin {
            wish: ReceiptWish::of_registered_delivery(random.one_of(&[0, 1, 1, 1, 0x11])),
            short_id: random.once_in(4),
            on_transmitter: false,
            reference: None,
            source: WrittenAddress::default(),
            destination: WrittenAddress::default(),
            quote: Default::default(),
        })
    });
    let messages_max = random.once_in(20).then(|| random.below(200));
    let acceptance = Acceptance {
        account,
        connection: ConnectionId::new(account.get()),
        carrier: random.one_of(&CARRIERS),
        to,
        from: Sender::parse("Hermod").expect("a sender"),
        text: MessageText::parse("hello").expect("a text"),
        encoding: Encoding::Gsm7,
        parts,
        whole: false,
        tlvs: None,
        shape: None,
        origin: over_smpp,
        reply_to: None,
        cost: Money::from_micros(PRICE * i64::from(parts)),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits { messages_max, spend_max: None },
        key,
        doubt: random.one_of(&DoubtPolicy::ALL),
        validity: Duration::from_secs(random.one_of(&[60, 3_600, 86_400])),
        now: world.now,
    };
    Some(Box::new(acceptance).into())
}

fn pay(world: &mut World) -> Option<AnyCommand> {
    let account = account(world);
    let amount = Money::from_micros(PRICE * i64::try_from(world.random.below(60)).expect("a few"));
    let entry = LedgerEntry {
        account,
        kind: LedgerKind::TopUp,
        amount,
        note: String::new(),
        reference: None,
        now: world.now,
    };
    Some(entry.into())
}

fn opt_out(world: &mut World) -> Option<AnyCommand> {
    let (account, number) = (account(world), recipient(world));
    Some(OptOut { account, number, how: "by test".to_owned(), now: world.now }.into())
}

fn opt_in(world: &mut World) -> Option<AnyCommand> {
    let (account, number) = (account(world), recipient(world));
    Some(OptIn { account, number }.into())
}

fn open_link(world: &mut World) -> Option<AnyCommand> {
    if world.links.len() >= LINKS_MAX {
        return None;
    }
    let (id, carrier) = (LinkId(world.random.next()), world.random.one_of(&CARRIERS));
    world.links.push(Link { id, carrier, under_way: Vec::new(), closing: false });
    Some(OpenLink { carrier, link: id, kind: LinkKind::Sends }.into())
}

/// An idle link is closed.
fn close_link(world: &mut World) -> Option<AnyCommand> {
    let link = world.links.iter_mut().find(|link| !link.closing && link.under_way.is_empty())?;
    link.closing = true;
    Some(CloseLink { carrier: link.carrier, link: link.id }.into())
}

/// A link reports answers to some of its parts, receipts, and free slots.
fn hear_link(world: &mut World) -> Option<AnyCommand> {
    let open: Vec<usize> = (0..world.links.len()).filter(|place| !world.links[*place].closing).collect();
    if open.is_empty() {
        return None;
    }
    let which = open[world.random.index(open.len())];
    let mut answers = Vec::new();
    let count = world.random.below(4);
    for _ in 0..count {
        if world.links[which].under_way.is_empty() {
            break;
        }
        let place = world.random.index(world.links[which].under_way.len());
        let job = world.links[which].under_way.swap_remove(place);
        answers.push(answered(world, &job));
    }
    let carrier = world.links[which].carrier;
    let receipts = (0..world.random.below(3)).filter_map(|_| receipt(world, carrier)).collect();
    let slots = u32::try_from(world.random.below(5)).expect("a few");
    let (link, now) = (world.links[which].id, world.now);
    let batch = LinkBatch {
        carrier,
        ids: IdConversion::None,
        link,
        answers,
        receipts,
        inbound: Vec::new(),
        slots,
        now,
    };
    Some(batch.into())
}

/// A link that takes and acknowledges all it is given; a new one as long as there are too few.
pub(super) fn open_or_hear(world: &mut World) -> AnyCommand {
    if let Some(command) = report_unsent(world) {
        return command;
    }
    world.links.retain(|link| !link.closing);
    for carrier in CARRIERS {
        if !world.links.iter().any(|link| link.carrier == carrier && !link.closing) {
            let id = LinkId(world.random.next());
            world.links.push(Link { id, carrier, under_way: Vec::new(), closing: false });
            return OpenLink { carrier, link: id, kind: LinkKind::Sends }.into();
        }
    }
    let which = world.random.index(world.links.len());
    let Link { id: link, carrier, under_way, .. } = &mut world.links[which];
    let answers = under_way.drain(..).map(|job| record(&job, Answer::Accepted(remote_of(&job)))).collect();
    let (receipts, inbound) = (Vec::new(), Vec::new());
    let (link, carrier, now) = (*link, *carrier, world.now);
    LinkBatch { carrier, ids: IdConversion::None, link, answers, receipts, inbound, slots: 50, now }.into()
}

fn record(job: &Job, answer: Answer) -> AnswerRecord {
    let Job { message, part, account, to, .. } = *job;
    AnswerRecord { message, part, account, to, answer, otherwise: None }
}

fn answered(world: &mut World, job: &Job) -> AnswerRecord {
    let answer = match world.random.below(20) {
        0 => Answer::Throttled,
        1 => Answer::Temporary { status: 0x58, after: None },
        2 => Answer::Refused { about: RefusedFor::Destination, status: 0x0b },
        3 => Answer::NoAnswer,
        4 => Answer::NotSent,
        5 => Answer::SteppedAside { wait: Duration::from_secs(2), sent: world.random.once_in(2) },
        _ => Answer::Accepted(remote_of(job)),
    };
    record(job, answer)
}

/// The id that the carrier gives to a part. A part that is sent again gets it again.
fn remote_of(job: &Job) -> RemoteId {
    let text = format!("{}-{}-{}", job.carrier, job.message, job.part);
    RemoteId::from_text(&text).expect("a short text")
}

/// A receipt about a part that was answered; or, seldom, about one that is still to be.
fn receipt(world: &mut World, carrier: CarrierId) -> Option<ReceiptRecord> {
    let verdict = world.random.one_of(&[
        Verdict::Delivered,
        Verdict::Delivered,
        Verdict::Delivered,
        Verdict::Enroute,
        Verdict::Undeliverable,
        Verdict::Rejected,
        Verdict::Expired,
        Verdict::NoNews,
    ]);
    let under_way: Vec<RemoteId> = world
        .links
        .iter()
        .flat_map(|link| &link.under_way)
        .filter(|job| job.carrier == carrier)
        .map(remote_of)
        .collect();
    let known = world.model.ids(carrier).len();
    let remote = if world.random.once_in(10) && !under_way.is_empty() {
        under_way[world.random.index(under_way.len())].clone()
    } else if known > 0 {
        // The newest are asked for most.
        let back = world.random.index(known.min(200));
        world.model.ids(carrier)[known - 1 - back].clone()
    } else {
        return None;
    };
    if world.model.is_early(&remote) {
        return None;
    }
    Some(ReceiptRecord {
        sequence: 1,
        remote: Some(remote),
        verdict,
        err: 0,
        word: None,
        source: None,
        sender: None,
    })
}

fn cancel(world: &mut World) -> Option<AnyCommand> {
    let count = world.model.messages.len();
    if count == 0 {
        return None;
    }
    let back = world.random.index(count.min(50));
    let (id, entry) = world.model.messages.iter().nth_back(back).expect("one of the newest");
    let (account, name) = (entry.account, MessageName::Id(*id));
    Some(Cancel { account, name, expected: ExpectedParties::default(), now: world.now }.into())
}

fn lapse(world: &mut World) -> Option<AnyCommand> {
    let lapsed = world.model.lapsed(world.now, &world.catalogue);
    if lapsed.is_empty() {
        return None;
    }
    let place = |message: MessageId| world.model.messages[&message].place(message);
    let parts = lapsed.iter().take(LAPSED_MAX).map(|(message, part, _)| (place(*message), *part)).collect();
    Some(Lapse { parts, now: world.now }.into())
}

/// A customer answers to some reports.
fn take_reports(world: &mut World) -> Option<AnyCommand> {
    let connection = world.reports.first()?.connection;
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for report in std::mem::take(&mut world.reports) {
        if report.connection == connection && taken.len() < 20 {
            taken.push(report.id);
        } else {
            others.push(report);
        }
    }
    world.reports = others;
    Some(ReportEnds { connection, taken, refused: Vec::new(), now: world.now }.into())
}
