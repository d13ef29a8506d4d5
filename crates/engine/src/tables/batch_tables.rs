//! The tables as a batch sees them.

use crate::tables::change_log::ChangeLog;
use crate::tables::changes::Change;
use crate::tables::read_ahead::ReadAhead;
use crate::tables::{
    CarrierIdRow, CarrierIds, EventKey, MessageKey, OpenMessage, PartRow, StoredTables, TableError,
    WaitingEvent,
};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::Parts;
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use std::cell::RefCell;

/// The tables as a batch sees them: what is stored, with the batch's own changes.
///
/// Changes are collected in the order in which they were decided, and applied before the next read and at the end of the
/// batch. Applying them cannot conflict: uniqueness was checked before.
pub struct Tables<'a> {
    stored: Box<dyn StoredTables + 'a>,
    pending: RefCell<Vec<Change>>,
    log: Option<&'a RefCell<ChangeLog>>,
    ahead: RefCell<ReadAhead>,
}

impl<'a> Tables<'a> {
    pub fn new(stored: impl StoredTables + 'a) -> Tables<'a> {
        Tables { stored: Box::new(stored), pending: RefCell::default(), log: None, ahead: RefCell::default() }
    }

    /// Returns tables that add each change to a log after it was applied.
    pub fn with_log(stored: impl StoredTables + 'a, log: &'a RefCell<ChangeLog>) -> Tables<'a> {
        Tables { log: Some(log), ..Tables::new(stored) }
    }

    /// Returns the stored tables, with all changes so far applied.
    pub fn read(&self) -> Result<&dyn StoredTables, TableError> {
        self.apply()?;
        Ok(&*self.stored)
    }

    pub fn write(&self, change: impl Into<Change>) {
        let change = change.into();
        self.ahead.borrow_mut().forget(&change);
        self.pending.borrow_mut().push(change);
    }

    /// Applies the collected changes. Nothing can be written after that.
    pub fn finish(self) -> Result<(), TableError> {
        self.apply()
    }

    /// Applies the collected changes.
    pub fn apply(&self) -> Result<(), TableError> {
        let mut log = self.log.map(RefCell::borrow_mut);
        for change in self.pending.borrow_mut().drain(..) {
            change.apply(&*self.stored)?;
            if let Some(log) = &mut log {
                log.add(&change)?;
            }
        }
        Ok(())
    }
}

/// Reads of many rows at once, and reads that find them.
impl Tables<'_> {
    /// Reads messages that have not ended. Their parts and costs are not read again until they change.
    pub fn read_messages(&self, keys: &[MessageKey]) -> Result<Vec<OpenMessage>, TableError> {
        let found = self.read()?.open_messages(keys)?;
        let mut ahead = self.ahead.borrow_mut();
        if found.unreadable.is_empty() {
            // The others have no parts.
            ahead.parts.extend(keys.iter().map(|key| (*key, Vec::new())));
        }
        for message in &found.rows {
            let Some(first) = message.parts.first() else { continue };
            ahead.parts.insert(first.key, message.parts.clone());
            ahead.costs.extend(message.message.as_ref().map(|row| (first.key.message, row.cost)));
        }
        Ok(found.rows)
    }

    /// Reads the ids of a day that have one of these keys. They are not read again until they change.
    pub fn read_ids(
        &self,
        day: Day,
        keys: &[(CarrierId, RemoteKey)],
    ) -> Result<Vec<(CarrierId, CarrierIdRow)>, TableError> {
        let Some(found) = self.read()?.carrier_ids_with_keys(day, keys)? else { return Ok(Vec::new()) };
        let mut ahead = self.ahead.borrow_mut();
        for (carrier, key) in keys {
            ahead.carrier_ids.insert((day, *carrier, key.clone()), CarrierIds::new());
        }
        for (carrier, row) in &found {
            let place = (day, *carrier, RemoteKey::of(&row.remote));
            ahead.carrier_ids.entry(place).or_default().push(row.clone());
        }
        Ok(found)
    }

    /// Reads events that wait. They are not read again until they change.
    pub fn read_events(&self, keys: &[EventKey]) -> Result<(), TableError> {
        let found = self.read()?.waiting_events(keys)?;
        let mut ahead = self.ahead.borrow_mut();
        ahead.events.extend(keys.iter().map(|key| (*key, None)));
        ahead.events.extend(found.into_iter().map(|(key, event)| (key, Some(event))));
        Ok(())
    }

    /// Returns the row of a part.
    pub fn part(&self, key: MessageKey, part: PartNo) -> Result<Option<PartRow>, TableError> {
        if let Some(rows) = self.ahead.borrow().parts.get(&key) {
            return Ok(rows.iter().find(|row| row.part == part).copied());
        }
        self.read()?.part(key, part)
    }

    /// Returns the states of a message's parts, in order.
    pub fn part_states(&self, key: MessageKey) -> Result<Parts, TableError> {
        if let Some(rows) = self.ahead.borrow().parts.get(&key) {
            return Ok(rows.iter().map(|row| row.now).collect());
        }
        self.read()?.part_states(key)
    }

    /// Returns what a message cost.
    pub fn message_cost(&self, message: MessageId) -> Result<Money, TableError> {
        match self.ahead.borrow().costs.get(&message) {
            Some(cost) => Ok(*cost),
            None => self.read()?.message_cost(message),
        }
    }

    /// Adds up to `limit` ids that a carrier gave on a day and that have this key to `found`.
    pub fn carrier_ids(
        &self,
        (day, carrier, key): (Day, CarrierId, &RemoteKey),
        limit: u32,
        found: &mut CarrierIds,
    ) -> Result<(), TableError> {
        if let Some(rows) = self.ahead.borrow().carrier_ids.get(&(day, carrier, key.clone())) {
            found.extend(rows.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned());
            return Ok(());
        }
        self.read()?.read_carrier_ids(day, carrier, key, limit, found)
    }

    /// Returns an event that waits; none if it does not wait.
    pub fn waiting_event(&self, key: EventKey) -> Result<Option<WaitingEvent>, TableError> {
        match self.ahead.borrow().events.get(&key) {
            Some(event) => Ok(*event),
            None => self.read()?.waiting_event(key),
        }
    }
}
