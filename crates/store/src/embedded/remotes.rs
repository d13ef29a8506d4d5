//! Which part a carrier's id belongs to, one table per UTC day. An id is kept as the carrier wrote it, under a key that
//! forgives what carriers do to ids between an answer and its receipt (`hermod_domain::carrier::RemoteKey`).
//!
//! A day's table is dropped whole: its messages were final, or reported UNKNOWN, within validity and the wait for a
//! receipt, and late receipts are matched for 72 h more.

use crate::embedded::recent::Recent;
use crate::embedded::remote_days::RemoteDays;
use crate::fault::StoreFault;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::Asked;
use rusqlite::Connection;

/// The part a carrier's id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartKey {
    pub account: AccountId,
    pub message: MessageId,
    pub part: PartNo,
}

/// What is known of an id that a carrier gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tie {
    pub part: PartKey,
    /// Whom the part went to.
    pub to: Option<Msisdn>,
    /// When the carrier gave it; earlier releases noted only the day.
    pub at: Option<Timestamp>,
    pub day: Day,
}

/// What a receipt's id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Part(Tie),
    Nothing,
    /// Several parts, and nothing says which.
    Ambiguous,
}

/// What came of tying an id to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tied {
    New,
    /// The carrier gave the same id before on this day, for another part. The newer one has it now.
    Reused,
}

/// An id tied lately.
struct AtHand {
    tie: Tie,
    /// What the carrier wrote, unless that is the key.
    raw: Option<Box<[u8]>>,
    /// Another id with the same key was tied lately: what was written has to be compared.
    shared: bool,
}

/// All ids that carriers gave, and those of late at hand: most receipts come soon after the answer.
pub(crate) struct Remotes {
    days: RemoteDays,
    recent: Recent<(CarrierId, RemoteKey), AtHand>,
}

impl Remotes {
    pub(crate) fn load(connection: &Connection) -> Result<Remotes, StoreFault> {
        Ok(Remotes { days: RemoteDays::load(connection)?, recent: Recent::new() })
    }

    /// Whose id this is: the very same id, else one with the same key, else one with the converted key.
    pub(crate) fn find(&self, connection: &Connection, asked: &Asked<'_>) -> Result<Match, StoreFault> {
        match self.at_hand(asked) {
            Some(tie) => Ok(Match::Part(tie)),
            None => self.days.find(connection, asked),
        }
    }

    /// What can be told without a look at the tables. Where an older id could be meant as well, only the recipient can
    /// tell, and if he cannot the tables are asked.
    fn at_hand(&self, asked: &Asked<'_>) -> Option<Tie> {
        let Asked { carrier, ids, remote, source } = *asked;
        let (key, raw) = split_id(remote);
        let place = (carrier, key);
        if let Some(hit) = self.recent.get(&place) {
            let written_so = hit.raw.as_deref().unwrap_or_default() == raw;
            return if written_so { !contradicts(&hit.tie, source) } else { hit.tells_by_number(source) }
                .then_some(hit.tie);
        }
        let hit = self.recent.get(&(carrier, ids.key_in_answer(remote)?))?;
        hit.tells_by_number(source).then_some(hit.tie)
    }

    /// On the usual way this is a single insert.
    pub(crate) fn tie(
        &mut self,
        connection: &Connection,
        carrier: CarrierId,
        remote: &RemoteId,
        tie: Tie,
    ) -> Result<Tied, StoreFault> {
        let (key, raw) = split_id(remote);
        let tied = self.days.tie(connection, carrier, &key, raw, tie)?;
        let raw = (!raw.is_empty()).then(|| raw.into());
        let place = (carrier, key);
        let shared = self.recent.get(&place).is_some_and(|before| before.shared || before.raw != raw);
        self.recent.insert(place, AtHand { tie, raw, shared });
        Ok(tied)
    }

    /// Drops the days nobody can ask for any more.
    pub(crate) fn drop_before(&mut self, connection: &Connection, today: Day) -> Result<(), StoreFault> {
        if self.days.drop_before(connection, today)? {
            self.recent.clear();
        }
        Ok(())
    }
}

impl AtHand {
    fn tells_by_number(&self, source: Option<Msisdn>) -> bool {
        !self.shared && source.is_some() && self.tie.to == source
    }
}

/// An id's key, and what the carrier wrote, empty where that is the key itself: most carriers' ids are stored once.
pub(crate) fn split_id(remote: &RemoteId) -> (RemoteKey, &[u8]) {
    let key = RemoteKey::of(remote);
    let raw = if key.octets() == remote.octets() { &[] } else { remote.octets() };
    (key, raw)
}

/// Does the receipt name another recipient than the part went to? Then an older id that was written the same way may be
/// the one it is about. Carriers add and drop prefixes, so only the end of a number counts.
pub(crate) fn contradicts(tie: &Tie, source: Option<Msisdn>) -> bool {
    const LAST_DIGITS: u64 = 10_000_000;
    match (tie.to, source) {
        (Some(to), Some(source)) => to.number() % LAST_DIGITS != source.number() % LAST_DIGITS,
        (Some(_) | None, _) => false,
    }
}

#[cfg(test)]
#[path = "remotes_tests.rs"]
mod tests;
