//! Reads and writes of the erasure of a phone number.

use super::MemoryTables;
use super::columns::{StoredOrigin, stored_number};
use super::webhook_events::stored_key;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_engine::tables::{
    AttemptKey, ErasableInbound, ErasableKind, ErasableMessage, ErasureChange, ErasureRows, EventContent,
    InboundKey, OriginRow, TableError,
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
        self.write().inbound.update(&(key.account.get(), key.id), |row| {
            row.from = format!("+{from}");
            row.text = String::new();
            row.wire = None;
        });
        Ok(())
    }

    fn erase_reviews(&self, number: Msisdn, account: Option<AccountId>) -> Result<(), TableError> {
        self.write().review.delete_where(|_, row| {
            row.to == number.number() && account.is_none_or(|account| row.account == account)
        });
        Ok(())
    }

    fn erase_conversations(&self, handset: Msisdn, account: Option<AccountId>) -> Result<(), TableError> {
        self.write().conversation.delete_where(|(with, _), row| {
            *with == handset.number() && account.is_none_or(|account| row.account == account)
        });
        Ok(())
    }

    fn erase_parked_receipts(&self, number: Msisdn) -> Result<(), TableError> {
        let rows = &mut *self.write();
        let parked = rows.parked.iter().filter(|(_, row)| row.source == Some(number.number()));
        let keys: Vec<_> = parked.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| rows.parked.update(key, |row| row.source = None));
        Ok(())
    }

    fn erase_unassigned_inbound(&self, handset: Msisdn) -> Result<(), TableError> {
        let digits = handset.digits();
        let rows = &mut *self.write();
        rows.unassigned_inbound.delete_where(|_, row| row.from.trim_start_matches('+') == digits);
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
            ErasureChange::Reviews { number, account } => self.erase_reviews(*number, *account),
            ErasureChange::Conversations { handset, account } => self.erase_conversations(*handset, *account),
            ErasureChange::ParkedReceipts(number) => self.erase_parked_receipts(*number),
            ErasureChange::UnassignedInbound(handset) => self.erase_unassigned_inbound(*handset),
            ErasureChange::CarrierId(id) => self.erase_carrier_id(id),
            ErasureChange::Response(AttemptKey { event, no }) => {
                let (account, kind, event) = stored_key(*event);
                self.write().webhook_attempt.update(&(account, kind, event, *no), |row| row.answer.clear());
                Ok(())
            }
            ErasureChange::Keep { erasure, delete_before } => {
                let rows = &mut *self.write();
                let account = erasure.account.map_or(0, AccountId::get);
                rows.erasure.put((erasure.digest, account), erasure.at.as_millis());
                rows.erasure.delete_where(|_, at| *at < delete_before.as_millis());
                Ok(())
            }
        }
    }

    fn count_erasable(
        &self,
        kind: ErasableKind,
        number: Msisdn,
        account: Option<AccountId>,
    ) -> Result<u64, TableError> {
        let rows = self.read();
        let is_of = |of: AccountId| account.is_none_or(|account| of == account);
        let count = match kind {
            ErasableKind::Review => {
                rows.review.values().filter(|row| row.to == number.number() && is_of(row.account)).count()
            }
            ErasableKind::Conversation => {
                let mut with = rows.conversation.iter();
                with.by_ref()
                    .filter(|((with, _), row)| *with == number.number() && is_of(row.account))
                    .count()
            }
            ErasableKind::ParkedReceipt => {
                rows.parked.values().filter(|row| row.source == Some(number.number())).count()
            }
            ErasableKind::UnassignedInbound => {
                let digits = number.digits();
                rows.unassigned_inbound
                    .values()
                    .filter(|row| row.from.trim_start_matches('+') == digits)
                    .count()
            }
        };
        Ok(u64::try_from(count)?)
    }

    fn erasable_message(&self, message: MessageId) -> Result<Option<ErasableMessage>, TableError> {
        let rows = self.read();
        let Some(row) = rows.message.get(&message.as_i64()) else { return Ok(None) };
        let (account, connection) = (row.account.get(), row.connection.get());
        Ok(Some(ErasableMessage {
            carrier: row.carrier,
            to: stored_number(row.to)?,
            origin: row.origin.clone().map(|StoredOrigin(origin)| origin),
            has_ended: row.settled_at.is_some(),
            has_report: rows.report.iter().any(|((to, _), row)| *to == connection && row.message == message),
            has_webhook_event: rows
                .webhook
                .iter()
                .any(|((of, ..), row)| *of == account && row.told.message == message),
        }))
    }

    fn erasable_inbound(&self, key: InboundKey) -> Result<Option<ErasableInbound>, TableError> {
        let InboundKey { account, id } = key;
        let rows = self.read();
        if !rows.inbound.contains_key(&(account.get(), id)) {
            return Ok(None);
        }
        let mut reports = rows.report.values();
        let mut events = rows.webhook.iter();
        Ok(Some(ErasableInbound {
            has_report: reports.any(|row| row.account == Some(account) && row.inbound == Some(id)),
            has_webhook_event: events.any(|((of, ..), row)| {
                *of == account.get()
                    && matches!(row.told.about, EventContent::Inbound(number) if number == id)
            }),
        }))
    }
}
