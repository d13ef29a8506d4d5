//! Erasure of a phone number: ended messages are erased, unfinished ones and balances are not.

use super::commands::recipient;
use super::model::Model;
use super::receipts::TiedPart;
use super::world::World;
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::MessageId;
use hermod_domain::phone::Msisdn;
use hermod_engine::commands::{AnyCommand, EraseCarrierIds, EraseInbound, EraseMessages, EraseOthers};
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::tables::{DayCarrierId, InboundKey};

/// Tables that may contain an erased number: opt-outs protect the person, and parts that wait for others are not delivered yet.
const TABLES_LEFT: [&str; 2] = ["opt_out", "inbound_group"];

/// Returns the first of the commands that erase a number.
pub(super) fn erase(world: &mut World) -> Option<AnyCommand> {
    let number = recipient(world);
    let commands = erase_number(world, number);
    world.next_commands.extend(commands);
    world.next_commands.pop_front()
}

fn erase_number(world: &World, number: Msisdn) -> [AnyCommand; 4] {
    let messages = world.model.messages.iter().filter(|(_, entry)| entry.to == number && !entry.is_erased);
    let ids = messages.map(|(message, _)| *message).collect();
    let from = number.to_string();
    let received = world.model.mo.received.iter().filter(|(_, row)| row.from == from);
    let keys = received.map(|((account, id), _)| InboundKey { account: *account, id: *id }).collect();
    let carrier_ids = world.tables.carrier_ids_to(number);
    [
        EraseMessages { ids }.into(),
        EraseInbound { keys }.into(),
        EraseCarrierIds { ids: carrier_ids }.into(),
        EraseOthers(ErasureScope { number, account: None, until: world.now }).into(),
    ]
}

impl World {
    /// Erases a number and asserts that only allowed rows contain it.
    pub(super) fn check_erasure_leaves_no_trace(&mut self) {
        let number = recipient(self);
        let before = self.model.balances.clone();
        let commands = erase_number(self, number);
        self.run(&commands, super::world::End::Commit);
        assert_eq!(self.model.balances, before, "money stays");
        let digits = number.digits().to_string();
        let octets = format!("{:?}", digits.as_bytes());
        let octets = octets.trim_matches(['[', ']']);
        let dump = self.tables.dump();
        for (table, row) in dump.rows() {
            if !TABLES_LEFT.contains(&table) && (row.contains(&digits) || row.contains(octets)) {
                let is_left = self.model.is_left(number, table, row)
                    || table == "carrier_id" && self.tables.is_retired_carrier_id(row);
                assert!(is_left, "{digits} is still in {table}: {row}");
            }
        }
    }
}

impl Model {
    /// Returns whether a row may name an erased number, because its message has not ended.
    fn is_left(&self, number: Msisdn, table: &str, row: &str) -> bool {
        matches!(table, "message" | "unnamed" | "carrier_id")
            && self.messages.iter().any(|(message, entry)| {
                entry.to == number && !entry.has_ended() && row.contains(&message.as_i64().to_string())
            })
    }

    /// Erases messages that have ended. Returns how many, and those that are left.
    pub(super) fn erase_messages(&mut self, ids: &[MessageId]) -> (u64, Vec<MessageId>) {
        let (mut done, mut left) = (0, Vec::new());
        for message in ids {
            let Some(entry) = self.messages.get_mut(message) else { continue };
            if !entry.has_ended() {
                left.push(*message);
                continue;
            }
            (entry.is_erased, entry.has_text) = (true, false);
            self.unnamed.retain(|part| part.message != *message);
            done += 1;
        }
        (done, left)
    }

    /// Erases the recipient of carrier ids whose messages have ended.
    pub(super) fn erase_carrier_ids(&mut self, ids: &[DayCarrierId]) {
        for DayCarrierId { day, remote, part, .. } in ids {
            let is_open = self.messages.get(&part.message).is_some_and(|entry| !entry.has_ended());
            let mut tied = self.tied.get_mut(remote).into_iter().flatten();
            let row = |tied: &&mut TiedPart| {
                (tied.at.day(), tied.message, tied.part) == (*day, part.message, part.part)
            };
            if let Some(tied) = tied.find(row)
                && !is_open
            {
                tied.to = None;
            }
        }
    }

    /// Erases MO messages.
    pub(super) fn erase_inbound(&mut self, keys: &[InboundKey]) {
        for InboundKey { account, id } in keys {
            let Some(row) = self.mo.received.get_mut(&(*account, *id)) else { continue };
            row.from = format!("+{ERASED_NUMBER}");
            row.text.clear();
        }
    }

    /// Erases a number in conversations, parked receipts and unassigned messages. Returns in how many.
    pub(super) fn erase_others(&mut self, number: Msisdn) -> u64 {
        let before = self.mo.conversations.len();
        self.mo.conversations.retain(|(handset, _), _| *handset != number);
        let conversations = before - self.mo.conversations.len();
        let named = self.early.values_mut().filter(|early| early.source == Some(number));
        let receipts = named.map(|early| early.source = None).count();
        let erased = conversations + receipts + self.mo.erase_unassigned(number);
        u64::try_from(erased).expect("a few")
    }
}
