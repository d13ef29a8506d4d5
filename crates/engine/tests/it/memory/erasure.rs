//! Reads and writes of the erasure of a phone number.

use super::MemoryTables;
use super::columns::{StoredOrigin, stored_number};
use super::webhook_events::stored_key;
use hermod_domain::erasure::ErasureScope;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_engine::tables::{
    AttemptKey, ErasableKind, ErasableMessage, ErasureChange, ErasureRows, InboundKey, OriginRow, TableError,
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
        let erased = (carrier.get(), to.number(), message.as_i64());
        self.write().unnamed.delete_where(|(carrier, to, message, _), _| (*carrier, *to, *message) == erased);
        Ok(())
    }

    fn put_erased_inbound(&self, key: InboundKey, from: u64) -> Result<(), TableError> {
        let (rows, key) = (&mut *self.write(), (key.account.get(), key.id));
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
        let number = scope.number.number();
        match kind {
            ErasableKind::Review => {
                rows.review
                    .delete_where(|_, row| row.to == number && scope.covers(row.account, row.opened_at));
            }
            ErasableKind::Conversation => {
                rows.conversation
                    .delete_where(|(with, _), row| *with == number && scope.covers(row.account, row.at));
            }
            ErasableKind::ParkedReceipt => {
                let parked = rows.parked.iter();
                let named = parked.filter(|(_, row)| row.source == Some(number) && row.at <= scope.until);
                let keys: Vec<_> = named.map(|(key, _)| key.clone()).collect();
                keys.iter().for_each(|key| rows.parked.update(key, |row| row.source = None));
            }
            ErasableKind::UnassignedInbound => {
                rows.unassigned_inbound.delete_where(|_, row| row.is_covered(scope));
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
                let (account, kind, event) = stored_key(*event);
                self.write().webhook_attempt.update(&(account, kind, event, *no), |row| row.answer.clear());
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
        let number = scope.number.number();
        let count = match kind {
            ErasableKind::Review => {
                let reviews = rows.review.values();
                reviews.filter(|row| row.to == number && scope.covers(row.account, row.opened_at)).count()
            }
            ErasableKind::Conversation => {
                let with = rows.conversation.iter();
                with.filter(|((with, _), row)| *with == number && scope.covers(row.account, row.at)).count()
            }
            ErasableKind::ParkedReceipt => {
                let parked = rows.parked.values();
                parked.filter(|row| row.source == Some(number) && row.at <= scope.until).count()
            }
            ErasableKind::UnassignedInbound => {
                rows.unassigned_inbound.values().filter(|row| row.is_covered(scope)).count()
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
