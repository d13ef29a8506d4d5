//! Commands about MO messages: single ones, parts in any order, repeats, and the assignment of those that belong
//! to no account.

use super::commands::{account, recipient};
use super::setup::{FOREIGN, OWNED, SHARED, SHARED_BY_NONE};
use super::world::World;
use crate::memory::MoRow;
use hermod_domain::ids::MessageId;
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::origin::SmppAddress;
use hermod_domain::text::ConcatPart;
use hermod_engine::commands::{
    AnyCommand, AssignInbound, ForgetConversations, ForgetRepeats, ForgetUnassigned,
};
use hermod_engine::ops::{Inbound, InboundRecord, MoRecord, UNASSIGNED_KEPT};
use hermod_engine::tables::ConversationKey;
use std::time::Duration;

const DESTINATIONS: [&str; 4] = [OWNED, SHARED, SHARED_BY_NONE, FOREIGN];
const TEXTS: [&str; 9] =
    ["hello", "STOP", "START", "VOTE yes", "VOTE STOP", "NEWS START", "NEWS STOP", "ONLY STOP", "ONLY you"];
/// The texts of the parts of long messages.
const LONG_TEXTS: [&[&str]; 4] = [&["ST", "OP"], &["hello ", "you"], &["VO", "TE ", "STOP"], &["STA", "RT"]];
/// Concatenation references, which handsets reuse.
const REFERENCES: u64 = 6;
/// Parts that a carrier may send again.
const REMEMBERED_MAX: usize = 50;
/// Rows that one command deletes.
const FORGOTTEN_MAX: usize = 1_000;

/// Returns a new MO part, or one that the carrier sent before.
pub(super) fn receive_mo(world: &mut World) -> MoRecord {
    let again = world.random.once_in(4);
    let part = if again && !world.brought.is_empty() {
        let place = world.random.index(world.brought.len());
        world.brought[place].clone()
    } else {
        let part = if world.random.once_in(2) { long_part(world) } else { short(world) };
        if world.brought.len() >= REMEMBERED_MAX {
            world.brought.remove(0);
        }
        world.brought.push(part.clone());
        part
    };
    MoRecord { sequence: 1, part }
}

fn short(world: &mut World) -> InboundPart {
    let text = world.random.one_of(&TEXTS);
    let reference = world.random.once_in(4).then(|| u16::try_from(world.random.below(500)).expect("a few"));
    InboundPart { reference, ..part(world, text) }
}

fn long_part(world: &mut World) -> InboundPart {
    let texts = world.random.one_of(&LONG_TEXTS);
    let reference = u16::try_from(world.random.below(REFERENCES)).expect("a few");
    let place = world.random.index(texts.len());
    let count = |count: usize| u8::try_from(count).expect("a few");
    let concat = Some(ConcatPart { reference, total: count(texts.len()), part: count(place + 1) });
    InboundPart { concat, ..part(world, texts[place]) }
}

fn part(world: &mut World, text: &str) -> InboundPart {
    let source = recipient(world).digits().to_string();
    let source = if world.random.once_in(3) { format!("+{source}") } else { source };
    let destination = world.random.one_of(&DESTINATIONS);
    InboundPart {
        source: SmppAddress::new(1, 1, source.as_bytes()),
        destination: SmppAddress::new(1, 1, destination.as_bytes()),
        concat: None,
        reference: None,
        segment: MoSegment {
            data_coding: 0,
            alphabet: Alphabet::Latin1,
            header: Box::default(),
            octets: text.as_bytes().into(),
        },
    }
}

pub(super) fn receive(world: &mut World) -> Option<AnyCommand> {
    let account = account(world);
    let from = recipient(world).to_string();
    let (to, text) = (FOREIGN.to_owned(), world.random.one_of(&TEXTS).to_owned());
    Some(Inbound { account, from, to, text, received_at: world.now }.into())
}

pub(super) fn assign(world: &mut World) -> Option<AnyCommand> {
    let message = world.model.mo.first_unassigned()?;
    Some(AssignInbound { message, account: account(world), now: world.now }.into())
}

pub(super) fn forget_repeats(world: &mut World) -> Option<AnyCommand> {
    Some(ForgetRepeats { now: world.now, limit: FORGOTTEN_MAX }.into())
}

pub(super) fn forget_unassigned(world: &mut World) -> Option<AnyCommand> {
    Some(ForgetUnassigned { now: world.now, limit: FORGOTTEN_MAX }.into())
}

/// Deletes some conversations, of which some may continue meanwhile.
pub(super) fn forget_conversations(world: &mut World) -> Option<AnyCommand> {
    let before = world.now.minus(Duration::from_secs(world.random.below(30 * 86_400)));
    let keys = world.model.mo.conversations.keys();
    let keys = keys.map(|(handset, number)| ConversationKey { handset: *handset, number: number.clone() });
    let keys: Vec<_> = keys.collect();
    Some(ForgetConversations { keys, before }.into())
}

impl World {
    pub(super) fn note_receive(&mut self, inbound: &Inbound, outcome: &InboundRecord) {
        let Inbound { account, from, to, text, received_at } = inbound.clone();
        let row = MoRow { from, to, text, missing: 0, received_at };
        let (number, row) = self.model.keep_mo(account, row);
        assert_is(outcome, number, &row);
    }

    pub(super) fn note_assign(&mut self, command: &AssignInbound, outcome: Option<&InboundRecord>) {
        let expected = self.model.assign(command.message, command.account);
        assert_eq!(outcome.is_some(), expected.is_some(), "{} is assigned", command.message);
        if let (Some(record), Some((number, row))) = (outcome, expected) {
            assert_is(record, number, &row);
        }
    }

    pub(super) fn note_forget_unassigned(&mut self, command: &ForgetUnassigned, outcome: usize) {
        let before = MessageId::first_at(command.now.minus(UNASSIGNED_KEPT));
        assert_eq!(outcome, self.model.mo.forget_unassigned(before, command.limit), "unassigned messages");
    }

    pub(super) fn note_forget_conversations(&mut self, command: &ForgetConversations) {
        let conversations = &mut self.model.mo.conversations;
        for ConversationKey { handset, number } in &command.keys {
            let key = (*handset, number.clone());
            if conversations.get(&key).is_some_and(|(_, at)| *at < command.before) {
                conversations.remove(&key);
            }
        }
    }
}

fn assert_is(record: &InboundRecord, number: u64, row: &MoRow) {
    let InboundRecord { id, from, to, text, received_at, .. } = record.clone();
    let told = MoRow { from, to, text, missing: row.missing, received_at };
    assert_eq!((id, &told), (number, row), "an MO message");
}
