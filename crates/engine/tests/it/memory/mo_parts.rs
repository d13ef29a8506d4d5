//! Parts of concatenated MO messages, and what was received before.

use super::columns::NoRow;
use super::{MemoryTables, Rows};
use hermod_domain::ids::CarrierId;
use hermod_domain::inbound::{Alphabet, MoSegment};
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MoPartChange, MoPartRows, SeenKey, TableError, Unfinished, UnfinishedFound, UnfinishedId, UnfinishedKey,
    UnfinishedSize,
};
use std::collections::BTreeMap;

/// The row of an unfinished MO message.
#[derive(Clone, Debug)]
pub(super) struct Group {
    carrier: u32,
    source: String,
    destination: String,
    reference: u16,
    total: u8,
    ends: (SmppAddress, SmppAddress),
    parts: u32,
    octets: usize,
    since: Timestamp,
}

impl Group {
    fn has_key(&self, key: &UnfinishedKey) -> bool {
        let UnfinishedKey { carrier, source, destination, reference, total } = key;
        self.carrier == carrier.get()
            && self.source == *source
            && self.destination == *destination
            && (self.reference, self.total) == (*reference, *total)
    }
}

/// The row of a part.
#[derive(Clone, Debug)]
pub(super) struct Part {
    data_coding: u8,
    alphabet: Alphabet,
    header: Box<[u8]>,
    octets: Box<[u8]>,
}

impl Rows {
    #[track_caller]
    fn add_unfinished(&mut self, id: UnfinishedId, unfinished: &Unfinished, key: &UnfinishedKey) {
        let there = self.inbound_group.values().find(|group| group.has_key(key));
        assert!(there.is_none(), "an unfinished message is added and one has its key: {there:?}");
        let group = Group {
            carrier: key.carrier.get(),
            source: key.source.clone(),
            destination: key.destination.clone(),
            reference: key.reference,
            total: key.total,
            ends: (unfinished.source.clone(), unfinished.destination.clone()),
            parts: 0,
            octets: 0,
            since: unfinished.since,
        };
        self.inbound_group.add(id.0, group);
    }

    /// Returns the unfinished messages that match, the oldest first.
    fn unfinished(&self, matches: impl Fn(&Group) -> bool) -> Vec<UnfinishedId> {
        let groups = self.inbound_group.iter().filter(|(_, group)| matches(group));
        let mut found: Vec<_> = groups.map(|(id, group)| (group.since, *id)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| UnfinishedId(id)).collect()
    }
}

impl MoPartRows for MemoryTables {
    fn change_mo_parts(&self, change: &MoPartChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            MoPartChange::Seen { key, until } => {
                rows.inbound_seen.put((key.carrier.get(), key.digest), until.as_millis());
            }
            MoPartChange::DeleteSeen(key) => {
                rows.inbound_seen.delete(&(key.carrier.get(), key.digest));
            }
            MoPartChange::AddUnfinished { id, unfinished, key } => rows.add_unfinished(*id, unfinished, key),
            MoPartChange::UnfinishedSince { id, since } => {
                rows.inbound_group.update(&id.0, |group| group.since = *since);
            }
            MoPartChange::UnfinishedSize { id, size } => rows.inbound_group.update(&id.0, |group| {
                group.parts = size.parts;
                group.octets = size.octets;
            }),
            MoPartChange::DeleteUnfinished(id) => drop(rows.inbound_group.delete(&id.0)),
            MoPartChange::AddPart { id, no, segment } => {
                let MoSegment { data_coding, alphabet, header, octets } = segment.clone();
                rows.inbound_part.add((id.0, *no), Part { data_coding, alphabet, header, octets });
            }
            MoPartChange::DeleteParts(id) => {
                rows.inbound_part.delete_where(|(group, _), _| *group == id.0);
            }
        }
        Ok(())
    }

    fn seen_until(&self, key: &SeenKey) -> Result<Option<Timestamp>, TableError> {
        let rows = self.read();
        Ok(rows.inbound_seen.get(&(key.carrier.get(), key.digest)).copied().map(Timestamp::from_millis))
    }

    fn seen_no_longer_than(&self, until: Timestamp, limit: usize) -> Result<Vec<SeenKey>, TableError> {
        let rows = self.read();
        let found = rows.inbound_seen.iter().filter(|(_, known)| **known <= until.as_millis());
        let mut found: Vec<_> = found.map(|(key, known)| (*known, *key)).collect();
        found.sort_unstable();
        Ok(found.into_iter().take(limit).map(|(_, key)| seen_key(key)).collect())
    }

    fn seen_longer_than(&self, until: Timestamp) -> Result<Vec<SeenKey>, TableError> {
        let rows = self.read();
        let found = rows.inbound_seen.iter().filter(|(_, known)| **known > until.as_millis());
        Ok(found.map(|(key, _)| seen_key(*key)).collect())
    }

    fn unfinished_parts(&self) -> Result<Vec<(CarrierId, u64)>, TableError> {
        let mut parts: BTreeMap<u32, u64> = BTreeMap::new();
        for group in self.read().inbound_group.values() {
            *parts.entry(group.carrier).or_default() += u64::from(group.parts);
        }
        Ok(parts.into_iter().map(|(carrier, parts)| (CarrierId::new(carrier), parts)).collect())
    }

    fn oldest_unfinished_since(&self) -> Result<Option<Timestamp>, TableError> {
        Ok(self.read().inbound_group.values().map(|group| group.since).min())
    }

    fn find_unfinished(&self, key: &UnfinishedKey, no: u8) -> Result<Option<UnfinishedFound>, TableError> {
        let rows = self.read();
        let found = rows.inbound_group.iter().find(|(_, group)| group.has_key(key));
        Ok(found.map(|(id, group)| UnfinishedFound {
            id: UnfinishedId(*id),
            size: UnfinishedSize { parts: group.parts, octets: group.octets },
            has_part: rows.inbound_part.contains_key(&(*id, no)),
        }))
    }

    fn last_unfinished(&self) -> Result<Option<UnfinishedId>, TableError> {
        Ok(self.read().inbound_group.keys().next_back().copied().map(UnfinishedId))
    }

    fn oldest_unfinished(&self, carrier: CarrierId) -> Result<Option<UnfinishedId>, TableError> {
        let oldest = self.read().unfinished(|group| group.carrier == carrier.get());
        Ok(oldest.first().copied())
    }

    fn unfinished_since(&self, since: Timestamp, limit: u32) -> Result<Vec<UnfinishedId>, TableError> {
        let mut found = self.read().unfinished(|group| group.since <= since);
        found.truncate(usize::try_from(limit)?);
        Ok(found)
    }

    fn unfinished_after(&self, since: Timestamp) -> Result<Vec<UnfinishedId>, TableError> {
        let rows = self.read();
        let found = rows.inbound_group.iter().filter(|(_, group)| group.since > since);
        Ok(found.map(|(id, _)| UnfinishedId(*id)).collect())
    }

    fn unfinished(&self, id: UnfinishedId) -> Result<Unfinished, TableError> {
        let rows = self.read();
        let group = rows.inbound_group.get(&id.0).ok_or(NoRow)?;
        let (source, destination) = group.ends.clone();
        let (carrier, total, since) = (CarrierId::new(group.carrier), group.total, group.since);
        Ok(Unfinished { carrier, source, destination, total, since })
    }

    fn mo_parts(&self, id: UnfinishedId) -> Result<Vec<(u8, MoSegment)>, TableError> {
        let rows = self.read();
        let parts = rows.inbound_part.range((id.0, 0)..=(id.0, u8::MAX));
        let parts = parts.map(|((_, no), part)| {
            let Part { data_coding, alphabet, header, octets } = part.clone();
            (*no, MoSegment { data_coding, alphabet, header, octets })
        });
        Ok(parts.collect())
    }
}

fn seen_key((carrier, digest): (u32, [u8; 16])) -> SeenKey {
    SeenKey { carrier: CarrierId::new(carrier), digest }
}
