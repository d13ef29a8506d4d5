//! Reads and writes of the erasure of a phone number.

use super::MemoryTables;
use super::columns::{StoredOrigin, stored_number};
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_engine::ops::ParkedReceipt;
use hermod_engine::tables::{
    AttemptKey, ConversationRow, ErasableKind, ErasableMessage, ErasureChange, ErasureRows, InboundKey,
    OriginRow, TableError, UnassignedRow,
};

impl MemoryTables {
    fn put_erased_message(
        &self,
        message: MessageId,
        to: u64,
        origin: Option<&OriginRow>,
    ) -> Result<(), TableError> {
        self.write().message.update(&message.as_i64(), |row| {
            row.to = to;
            row.text = None;
            row.tlvs = None;
            row.options = None;
            row.origin = origin.cloned().map(StoredOrigin);
        });
        Ok(())
    }

    fn erase_unnamed_parts(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        message: MessageId,
    ) -> Result<(), TableError> {
        let erased = (carrier, to, message);
        self.write().unnamed.delete_where(|(carrier, to, part), _| (*carrier, *to, part.message) == erased);
        Ok(())
    }

    fn put_erased_inbound(&self, key: InboundKey, from: u64) -> Result<(), TableError> {
        let (rows, key) = (&mut *self.write(), (key.account, key.id));
        // It may have been purged since it was found.
        if rows.inbound.contains_key(&key) {
            rows.inbound.update(&key, |row| {
                row.from = format!("+{from}");
                row.text = String::new();
                row.wire = None;
            });
        }
        Ok(())
    }

    fn erase_others(&self, kind: ErasableKind, scope: &ErasureScope) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match kind {
            ErasableKind::Review => {
                rows.review.delete_where(|_, row| {
                    row.to == scope.number && scope.covers(row.account, row.opened_at)
                });
            }
            ErasableKind::Conversation => {
                rows.conversation.delete_where(|_, row| is_with(row, scope));
            }
            ErasableKind::ParkedReceipt => {
                let named = rows.parked.iter().filter(|(_, row)| is_about(&row.receipt, scope));
                let keys: Vec<_> = named.map(|(key, _)| key.clone()).collect();
                keys.iter().for_each(|key| rows.parked.update(key, |row| row.receipt.source = None));
            }
            ErasableKind::UnassignedInbound => {
                rows.unassigned_inbound.delete_where(|_, row| is_from(row, scope));
            }
        }
        Ok(())
    }
}

impl ErasureRows for MemoryTables {
    fn change_erasure(&self, change: &ErasureChange) -> Result<(), TableError> {
        match change {
            ErasureChange::Message { message, to, origin } => {
                self.put_erased_message(*message, *to, origin.as_ref())
            }
            ErasureChange::UnnamedParts { carrier, to, message } => {
                self.erase_unnamed_parts(*carrier, *to, *message)
            }
            ErasureChange::Inbound { key, from } => self.put_erased_inbound(*key, *from),
            ErasureChange::Others { kind, scope } => self.erase_others(*kind, scope),
            ErasureChange::CarrierId(id) => self.erase_carrier_id(id),
            ErasureChange::Response(AttemptKey { event, no }) => {
                self.write().webhook_attempt.update(&(*event, *no), |row| row.response.clear());
                Ok(())
            }
            ErasureChange::Keep { erasure, delete_before } => {
                let rows = &mut *self.write();
                let account = erasure.account.map_or(0, AccountId::get);
                let key = (erasure.digest, account);
                let at = rows
                    .erasure
                    .get(&key)
                    .map_or(erasure.at.as_millis(), |at| erasure.at.as_millis().max(*at));
                rows.erasure.put(key, at);
                rows.erasure.delete_where(|_, at| *at < delete_before.as_millis());
                Ok(())
            }
        }
    }

    fn count_erasable(&self, kind: ErasableKind, scope: &ErasureScope) -> Result<u64, TableError> {
        let rows = self.read();
        let count = match kind {
            ErasableKind::Review => {
                let reviews = rows.review.values();
                reviews
                    .filter(|row| row.to == scope.number && scope.covers(row.account, row.opened_at))
                    .count()
            }
            ErasableKind::Conversation => {
                rows.conversation.values().filter(|row| is_with(row, scope)).count()
            }
            ErasableKind::ParkedReceipt => {
                rows.parked.values().filter(|row| is_about(&row.receipt, scope)).count()
            }
            ErasableKind::UnassignedInbound => {
                rows.unassigned_inbound.values().filter(|row| is_from(row, scope)).count()
            }
        };
        Ok(u64::try_from(count)?)
    }

    fn erasable_message(&self, message: MessageId) -> Result<Option<ErasableMessage>, TableError> {
        let rows = self.read();
        let Some(row) = rows.message.get(&message.as_i64()) else { return Ok(None) };
        Ok(Some(ErasableMessage {
            carrier: row.carrier,
            to: stored_number(row.to)?,
            origin: row.origin.clone().map(|StoredOrigin(origin)| origin),
            has_ended: row.settled_at.is_some(),
        }))
    }
}

fn is_with(row: &ConversationRow, scope: &ErasureScope) -> bool {
    row.key.handset == scope.number && scope.covers(row.last.account, row.last.at)
}

fn is_about(receipt: &ParkedReceipt, scope: &ErasureScope) -> bool {
    receipt.source == Some(scope.number) && receipt.at <= scope.until
}

fn is_from(row: &UnassignedRow, scope: &ErasureScope) -> bool {
    row.from.trim_start_matches('+') == scope.number.digits() && row.received_at <= scope.until
}
