//! Random commands that are valid now, or nearly. The commands of one capability are in the file of its name.

use super::setup::{ACCOUNTS, FOREIGN, SHARED, SHARED_BY_NONE, connection_of};
use super::world::{CARRIERS, World};
use super::{erasure, links, mo, move_messages, reports, retention, webhooks};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::cost::{CostBasis, CostTerms};
use hermod_domain::ids::{AccountId, CostId, MessageId};
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::{Currency, Money};
use hermod_domain::origin::{MessageName, Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::traffic::{Control, Mode, TrafficRule, VelocityLimit, velocity_limits};
use hermod_engine::commands::{
    AnyCommand, Cancel, CancelWaiting, ExpireParts, FindKey, FindVelocityRefusal, MoveWaiting, OptIn,
    ReadQueues, ReadWaitingParts, ReleaseDue, SetLate,
};
use hermod_engine::ops::SubmitNote;
use hermod_engine::ops::{Acceptance, DailyLimits, ExpectedParties, KeyClaim, LedgerEntry, LedgerKind};
use hermod_engine::tables::OptOut;
use std::sync::Arc;
use std::time::Duration;

const RECIPIENTS: u64 = 40;
const KEYS: u64 = 100;
const PRICE: i64 = 50_000;
/// Messages to one recipient that a limit admits until the engine is loaded again.
pub(super) const VELOCITY_MOST: u32 = 5;
/// Lapsed parts that one command names.
const LAPSED_MAX: usize = 20;
/// Messages with late receipts that one command names.
const LATE_MAX: usize = 20;
/// Candidates that wait to be named by a command.
const LATER_MAX: usize = 20;
pub(super) const TEXT: &str = "hello";

/// Returns a command, if one of its kind is possible now.
type Make = fn(&mut World) -> Option<AnyCommand>;

/// How likely each kind of command is, in thousandths.
const KINDS: [(u64, Make); 38] = [
    (260, accept),
    (50, pay),
    (8, opt_out),
    (20, opt_in),
    (25, links::open),
    (12, links::close),
    (320, links::report),
    (30, cancel),
    (28, lapse),
    (8, set_late),
    (30, move_messages::move_waiting),
    (8, move_messages::cancel_waiting),
    (8, find_key),
    (8, find_velocity_refusal),
    (4, read_queues),
    (4, read_waiting_parts),
    (30, reports::take),
    (6, reports::give_up_old),
    (3, reports::forget_given_up),
    (12, reports::move_to_webhook),
    (50, webhooks::settle),
    (6, webhooks::replay),
    (2, webhooks::retry_waiting),
    (4, webhooks::replay_failed),
    (4, webhooks::forget),
    (2, webhooks::limit_waits),
    (6, mo::receive),
    (10, mo::assign),
    (3, mo::forget_repeats),
    (2, mo::forget_unassigned),
    (2, mo::forget_conversations),
    (6, retention::purge_texts),
    (6, retention::purge_records),
    (4, retention::expire_keys),
    (8, retention::merge_keys),
    (6, retention::purge_others),
    (3, erasure::erase),
    (40, run_later),
];

/// Returns a random command.
pub(super) fn next(world: &mut World) -> AnyCommand {
    if let Some(command) = links::report_unsent(world) {
        return command;
    }
    if let Some(command) = world.next_commands.pop_front() {
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

/// Advances the time before a batch: most often some milliseconds, seldom some weeks.
pub(super) fn pass_time(world: &mut World) {
    const HOUR_MS: u64 = 3_600_000;
    const STEPS: [(u64, u64); 7] = [
        (1, 4),
        (5, 1_000),
        (14, 31_000),
        (90, 700_000),
        (900, 11 * HOUR_MS),
        (1_800, 25 * HOUR_MS),
        (400, 25 * 24 * HOUR_MS),
    ];
    for (times, millis) in STEPS {
        if world.random.once_in(times) {
            let wait = world.random.below(millis) + 1;
            world.now = world.now.plus(Duration::from_millis(wait));
        }
    }
}

/// Keeps a command whose candidates were found now for a later time, half of the times.
pub(super) fn perhaps_later(world: &mut World, command: AnyCommand) -> Option<AnyCommand> {
    if world.random.once_in(2) || world.later.len() >= LATER_MAX {
        return Some(command);
    }
    world.later.push(command);
    None
}

/// Runs a command whose candidates were found some time ago.
fn run_later(world: &mut World) -> Option<AnyCommand> {
    if world.later.is_empty() {
        return None;
    }
    let place = world.random.index(world.later.len());
    let mut command = world.later.swap_remove(place);
    let now = world.now;
    match &mut command {
        AnyCommand::ExpireParts(ExpireParts { now: at, .. })
        | AnyCommand::SetLate(SetLate { now: at, .. })
        | AnyCommand::CancelWaiting(CancelWaiting { now: at, .. })
        | AnyCommand::MoveWaiting(MoveWaiting { now: at, .. }) => *at = now,
        AnyCommand::ForgetWebhooks(forget) => forget.now = now,
        AnyCommand::MoveToWebhook(moved) => moved.now = now,
        _ => {}
    }
    Some(command)
}

pub(super) fn account(world: &mut World) -> AccountId {
    world.random.one_of(&ACCOUNTS)
}

pub(super) fn recipient(world: &mut World) -> Msisdn {
    Msisdn::from_number(4_915_100_000_000 + world.random.below(RECIPIENTS)).expect("a number")
}

/// Returns one of the newest messages, and its account.
pub(super) fn pick_message(world: &mut World) -> Option<(MessageId, AccountId)> {
    let count = world.model.messages.len();
    if count == 0 {
        return None;
    }
    let back = world.random.index(count.min(50));
    let newest = world.model.messages.iter().nth_back(back);
    newest.map(|(message, entry)| (*message, entry.account))
}

fn key(world: &mut World, account: AccountId) -> KeyClaim {
    let random = &mut world.random;
    let no = random.below(KEYS);
    // Digests are evenly distributed.
    let mixed = (u128::from(no) << 32 | u128::from(account.get()))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let digest =
        (mixed ^ (mixed >> 64)).wrapping_mul(0xbf58_476d_1ce4_e5b9_94d0_49bb_1331_11eb).to_be_bytes();
    KeyClaim { digest, fingerprint: random.below(2) }
}

fn origin(world: &mut World, to: Msisdn) -> Arc<Origin> {
    let random = &mut world.random;
    Arc::new(Origin {
        registered_delivery: RegisteredDelivery::from_octet(random.one_of(&[0, 1, 1, 1, 2, 0x11])),
        short_id: random.once_in(4),
        on_transmitter: random.once_in(2),
        reference: None,
        source: SmppAddress::default(),
        destination: SmppAddress::new(1, 1, to.digits().as_bytes()),
        quote: TEXT.bytes().collect(),
    })
}

fn accept(world: &mut World) -> Option<AnyCommand> {
    let (account, to) = (account(world), recipient(world));
    let parts = u8::try_from(world.random.below(3)).expect("a few") + 1;
    let key = world.random.once_in(3).then(|| key(world, account));
    let origin = world.random.once_in(2).then(|| origin(world, to));
    let whole = world.random.once_in(6);
    let carrier_cost = carrier_cost(world, whole);
    let random = &mut world.random;
    let messages_max = random.once_in(20).then(|| random.below(200));
    let velocity = if random.once_in(3) { velocity(account, to) } else { Vec::new() };
    let reply_to = random.once_in(6).then(|| random.one_of(&[FOREIGN, SHARED, SHARED_BY_NONE]));
    let acceptance = Acceptance {
        account,
        connection: connection_of(account),
        carrier: random.one_of(&CARRIERS),
        to,
        from: Sender::parse("Hermod").expect("a sender"),
        text: MessageText::parse(TEXT).expect("a text"),
        encoding: Encoding::Gsm7,
        parts,
        whole,
        tlvs: None,
        options: None,
        origin,
        reply_to: reply_to.map(|number| Sender::parse(number).expect("a number")),
        cost: Money::from_micros(PRICE * i64::from(parts)),
        carrier_cost,
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        daily: DailyLimits { messages_max, spend_max: None },
        velocity,
        key,
        doubt: random.one_of(&DoubtPolicy::ALL),
        note: SubmitNote::default(),
        validity: Duration::from_secs(random.one_of(&[60, 3_600, 86_400])),
        now: world.now,
    };
    Some(Box::new(acceptance).into())
}

/// Returns what a carrier asks, if that is known.
pub(super) fn carrier_cost(world: &mut World, whole: bool) -> Option<BelievedCost> {
    let random = &mut world.random;
    if random.once_in(3) {
        return None;
    }
    let currency = Currency::parse(random.one_of(&["EUR", "USD"])).expect("a currency");
    let per_part = Money::from_micros(i64::try_from(random.below(90_000)).expect("less than a tenth"));
    let basis = random.one_of(&[CostBasis::Submit, CostBasis::Delivered]);
    Some(BelievedCost { terms: CostTerms { per_part, currency, basis, entry: CostId::new(7) }, whole })
}

fn find_key(world: &mut World) -> Option<AnyCommand> {
    let account = account(world);
    Some(FindKey { key: key(world, account) }.into())
}

fn find_velocity_refusal(world: &mut World) -> Option<AnyCommand> {
    let (account, to) = (account(world), recipient(world));
    Some(FindVelocityRefusal { limits: velocity(account, to), now: world.now }.into())
}

/// Returns a limit of [`VELOCITY_MOST`] that is never full again.
fn velocity(account: AccountId, to: Msisdn) -> Vec<VelocityLimit> {
    let rule = TrafficRule::PerRecipient { most: VELOCITY_MOST, per_ms: 1 << 50 };
    velocity_limits(account, &[Control::new("one-recipient", Mode::Enforce, rule)], to)
}

fn read_queues(_: &mut World) -> Option<AnyCommand> {
    Some(ReadQueues.into())
}

fn read_waiting_parts(world: &mut World) -> Option<AnyCommand> {
    Some(ReadWaitingParts { accounts: vec![account(world), account(world)] }.into())
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
    Some(OptOut::by_keyword(account, number, world.now).into())
}

fn opt_in(world: &mut World) -> Option<AnyCommand> {
    let count = world.model.opted_out.len();
    let place = if count == 0 { 0 } else { world.random.index(count) };
    let opted_out = world.model.opted_out.keys().nth(place).copied();
    let (account, number) =
        opted_out.filter(|_| !world.random.once_in(8)).unwrap_or_else(|| (account(world), recipient(world)));
    Some(OptIn { account, number }.into())
}

fn cancel(world: &mut World) -> Option<AnyCommand> {
    let (message, account) = pick_message(world)?;
    let alias = world.model.messages[&message].alias.filter(|_| world.random.once_in(2));
    let name = alias.map_or(MessageName::Id(message), MessageName::Alias);
    Some(Cancel { account, name, expected: ExpectedParties::default(), now: world.now }.into())
}

fn lapse(world: &mut World) -> Option<AnyCommand> {
    let lapsed = world.model.lapsed(world.now, &world.model.setup().catalogue);
    if lapsed.is_empty() {
        return None;
    }
    let key = |message: MessageId| world.model.messages[&message].key(message);
    let parts = lapsed.iter().take(LAPSED_MAX).map(|(message, part, _)| (key(*message), *part)).collect();
    perhaps_later(world, ExpireParts { parts, now: world.now }.into())
}

fn set_late(world: &mut World) -> Option<AnyCommand> {
    let places: Vec<_> =
        world.model.open().take(LATE_MAX).map(|(message, entry)| entry.key(message)).collect();
    perhaps_later(world, SetLate { keys: places, now: world.now }.into())
}
