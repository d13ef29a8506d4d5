//! The parts of messages that customers have split themselves. A handset joins them, so a rule is matched against the text
//! across the borders of the parts, in whatever order and over whichever binds they come.

use crate::ids::ConnectionId;
use crate::phone::Msisdn;
use crate::screen::Piece;
use crate::text::{ConcatPart, TEXT_CHARS_MAX};
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Parts that are kept for one connection. Beyond that the messages that got no part for the longest time are dropped. Only
/// incomplete messages are kept, of which a customer that sends all parts has a few.
pub const PARTS_KEPT_MAX: usize = 10_000;
/// How long the parts of an incomplete message are kept after the last of them.
pub const PARTS_KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// Characters on each side of a part that are matched together with it, in whole parts.
const NEIGHBOUR_CHARS_MAX: usize = TEXT_CHARS_MAX;
/// Texts that are kept of one part, if its number is submitted repeatedly: the first and the last. Which of them a handset
/// shows depends on the handset.
const VARIANTS_MAX: usize = 2;

/// A part of a message that a customer has split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPart {
    pub connection: ConnectionId,
    pub to: Msisdn,
    pub place: ConcatPart,
}

/// Neighbouring parts of one message, in order.
pub type Joined = Vec<Piece>;

/// The parts of incomplete messages.
#[derive(Debug, Default)]
pub struct SplitMessages(HashMap<ConnectionId, Incomplete>);

/// The incomplete messages of a connection.
#[derive(Debug, Default)]
struct Incomplete {
    messages: HashMap<Key, Message>,
    /// Their keys by the number of their last part.
    by_age: BTreeMap<u64, Key>,
    last_number: u64,
    parts: usize,
}

/// Recipient and reference. A reference of 16 bits is folded as it is towards carriers, which have 8.
type Key = (Msisdn, u8);

#[derive(Debug)]
struct Message {
    number: u64,
    last_at: Timestamp,
    total: u8,
    parts: BTreeMap<u8, Vec<Variant>>,
}

#[derive(Debug)]
struct Variant {
    piece: Piece,
    is_accepted: bool,
}

impl SplitPart {
    fn key(&self) -> Key {
        let [high, low] = self.place.reference.to_be_bytes();
        (self.to, high ^ low)
    }
}

impl SplitMessages {
    /// Adds a part that is about to be screened, so that parts that are submitted at the same time see each other. Returns the
    /// texts to screen: the part with its neighbours as first submitted, and as last submitted if that differs.
    pub fn add(&mut self, part: SplitPart, piece: &Piece, now: Timestamp) -> Vec<Joined> {
        let incomplete = self.0.entry(part.connection).or_default();
        let key = part.key();
        incomplete.drop_expired(now);
        incomplete.touch(key, now);
        let message = incomplete.messages.get_mut(&key).expect("it was just touched");
        message.total = message.total.max(part.place.total);
        incomplete.parts += message.add(part.place.part, piece);
        let joined = message.joined_at(part.place.part, piece);
        while incomplete.parts > PARTS_KEPT_MAX {
            incomplete.drop_oldest();
        }
        joined
    }

    /// Ends the check of a part. One that was not accepted is forgotten; a message whose parts were all accepted is complete,
    /// and its reference is free for the next one.
    pub fn settle(&mut self, part: SplitPart, piece: &Piece, is_accepted: bool) {
        let Some(incomplete) = self.0.get_mut(&part.connection) else { return };
        let key = part.key();
        let Some(message) = incomplete.messages.get_mut(&key) else { return };
        if is_accepted {
            message.accept(part.place.part, piece);
        } else {
            incomplete.parts -= message.remove(part.place.part, piece);
        }
        if message.is_over() {
            incomplete.drop_message(key);
        }
        if incomplete.messages.is_empty() {
            self.0.remove(&part.connection);
        }
    }

    /// Returns how many parts are kept for a connection.
    pub fn parts_of(&self, connection: ConnectionId) -> usize {
        self.0.get(&connection).map_or(0, |incomplete| incomplete.parts)
    }
}

impl Incomplete {
    /// Makes this the message with the latest part.
    fn touch(&mut self, key: Key, now: Timestamp) {
        self.last_number += 1;
        let number = self.last_number;
        let new = || Message { number, last_at: now, total: 0, parts: BTreeMap::new() };
        let message = self.messages.entry(key).or_insert_with(new);
        self.by_age.remove(&message.number);
        self.by_age.insert(number, key);
        (message.number, message.last_at) = (number, now);
    }

    fn drop_expired(&mut self, now: Timestamp) {
        while let Some((_, key)) = self.by_age.first_key_value() {
            let is_old = self.messages.get(key).is_none_or(|kept| kept.last_at.plus(PARTS_KEPT_FOR) <= now);
            if !is_old {
                return;
            }
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some((_, key)) = self.by_age.first_key_value() {
            self.drop_message(*key);
        }
    }

    fn drop_message(&mut self, key: Key) {
        if let Some(Message { number, parts, .. }) = self.messages.remove(&key) {
            self.by_age.remove(&number);
            self.parts -= parts.values().map(Vec::len).sum::<usize>();
        }
    }
}

impl Message {
    /// Returns how many texts are kept more than before.
    fn add(&mut self, part: u8, piece: &Piece) -> usize {
        let variants = self.parts.entry(part).or_default();
        if variants.iter().any(|variant| variant.piece == *piece) {
            return 0;
        }
        let variant = Variant { piece: piece.clone(), is_accepted: false };
        match variants.get_mut(VARIANTS_MAX - 1) {
            Some(last) => {
                *last = variant;
                0
            }
            None => {
                variants.push(variant);
                1
            }
        }
    }

    fn accept(&mut self, part: u8, piece: &Piece) {
        let variants = self.parts.get_mut(&part).into_iter().flatten();
        variants.filter(|variant| variant.piece == *piece).for_each(|variant| variant.is_accepted = true);
    }

    /// Removes a text that was never accepted. Returns how many were removed.
    fn remove(&mut self, part: u8, piece: &Piece) -> usize {
        let Some(variants) = self.parts.get_mut(&part) else { return 0 };
        let before = variants.len();
        variants.retain(|variant| variant.is_accepted || variant.piece != *piece);
        let removed = before - variants.len();
        if variants.is_empty() {
            self.parts.remove(&part);
        }
        removed
    }

    /// Whether every part was accepted, or none is left.
    fn is_over(&self) -> bool {
        let is_accepted =
            |part| self.parts.get(&part).is_some_and(|kept| kept.iter().any(|variant| variant.is_accepted));
        self.parts.is_empty() || (1..=self.total).all(is_accepted)
    }

    fn joined_at(&self, part: u8, piece: &Piece) -> Vec<Joined> {
        let mut joined = vec![self.joined_with(part, piece, <[Variant]>::first)];
        let last = self.joined_with(part, piece, <[Variant]>::last);
        if last != joined[0] {
            joined.push(last);
        }
        joined
    }

    /// Joins a part with its neighbours, up to the next missing part.
    fn joined_with(&self, part: u8, piece: &Piece, pick: fn(&[Variant]) -> Option<&Variant>) -> Joined {
        let kept = |part| self.parts.get(&part).and_then(|variants| pick(variants)).map(|kept| &kept.piece);
        let mut joined = neighbours((1..part).rev().map_while(kept));
        joined.reverse();
        joined.push(piece.clone());
        joined.extend(neighbours((part..self.total).map(|part| part + 1).map_while(kept)));
        joined
    }
}

fn neighbours<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Joined {
    let mut chars = 0;
    let near = pieces.take_while(|piece| {
        let is_near = chars < NEIGHBOUR_CHARS_MAX;
        chars += piece.text.as_str().chars().count();
        is_near
    });
    near.cloned().collect()
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
