//! The parts of messages that customers have split themselves. A handset joins them, so a rule is matched against the text
//! across the borders of the parts. They may come in any order, and over several connections of the account.

use crate::ids::AccountId;
use crate::phone::Msisdn;
use crate::screen::Piece;
use crate::text::ConcatPart;
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Parts that are kept for one account. Beyond that its messages that got no part for the longest time are dropped, complete
/// ones first. Another account's messages are never dropped.
pub const PARTS_KEPT_MAX: usize = 4_000;
/// How long a part is kept, counted from the last time that this part was submitted with this text. A complete message is kept
/// too, until the next one with its reference is complete: a part of it may be cancelled or fail, and the handset then waits for
/// another part with its number.
pub const PARTS_KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// Characters on each side of a part that are matched together with it, in whole parts. Ten parts of 153 characters that are
/// submitted in order are matched with 5,202 characters in all, instead of 8,415 if each is matched with all before it.
const NEIGHBOUR_CHARS_MAX: usize = 320;
/// Texts that one part is matched in: it is joined with every text that its neighbours were submitted with, because it depends
/// on the handset which of them it shows. 16 texts of seven parts of 153 characters are 17,136 characters.
const JOINS_MAX: usize = 16;

/// A part of a message that a customer has split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPart {
    pub account: AccountId,
    pub to: Msisdn,
    pub place: ConcatPart,
}

/// Neighbouring parts of one message, in order.
pub type Joined = Vec<Piece>;

/// The part and its neighbours have more than [`JOINS_MAX`] combinations of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parts of the message were submitted with too many different texts")]
pub struct TooManyVariants;

/// The parts that were submitted lately.
#[derive(Debug, Default)]
pub struct SplitMessages(HashMap<AccountId, AccountParts>);

/// The messages of an account.
#[derive(Debug, Default)]
struct AccountParts {
    messages: HashMap<Key, Message>,
    /// Their keys in the order in which they are dropped if there are too many.
    by_age: BTreeMap<Age, Key>,
    last_number: u64,
    parts: usize,
}

/// Recipient, reference and number of parts, by which handsets join parts. A reference of 16 bits is folded as it is towards
/// carriers, which have 8.
type Key = (Msisdn, u8, u8);

/// Whether the message is incomplete, and the number of its last part.
type Age = (bool, u64);

#[derive(Debug)]
struct Message {
    age: Age,
    total: u8,
    parts: Parts,
    /// The parts of the message before, which was complete. Customers whose software always uses the same reference send many.
    before: Parts,
}

type Parts = BTreeMap<u8, Vec<Variant>>;

/// A text that a part was submitted with.
#[derive(Debug)]
struct Variant {
    piece: Piece,
    last_at: Timestamp,
    /// Submissions that are not settled yet.
    pending: u32,
    is_accepted: bool,
}

impl SplitPart {
    fn key(&self) -> Key {
        let [high, low] = self.place.reference.to_be_bytes();
        (self.to, high ^ low, self.place.total)
    }
}

impl SplitMessages {
    /// Adds a part that is about to be screened, so that parts that are submitted at the same time see each other. Returns the
    /// texts to screen: the part with its neighbours, in every combination of the texts that these were submitted with. Adds
    /// nothing if there are more than can be screened.
    pub fn add(
        &mut self,
        part: SplitPart,
        piece: &Piece,
        now: Timestamp,
    ) -> Result<Vec<Joined>, TooManyVariants> {
        let account = self.0.entry(part.account).or_default();
        account.drop_expired(now);
        account.add(part, piece, now)
    }

    /// Ends the check of a part. A text that was never accepted is forgotten.
    pub fn settle(&mut self, part: SplitPart, piece: &Piece, is_accepted: bool) {
        let Some(account) = self.0.get_mut(&part.account) else { return };
        account.settle(part, piece, is_accepted);
        if account.messages.is_empty() {
            self.0.remove(&part.account);
        }
    }

    /// Drops what has expired of all accounts.
    pub fn drop_expired(&mut self, now: Timestamp) {
        self.0.retain(|_, account| {
            account.drop_expired(now);
            !account.messages.is_empty()
        });
    }

    /// Forgets the parts to a number, of one account or of all.
    pub fn forget(&mut self, to: Msisdn, account: Option<AccountId>) {
        self.0.retain(|id, parts| {
            if account.is_none_or(|account| account == *id) {
                parts.forget(to);
            }
            !parts.messages.is_empty()
        });
    }
}

impl AccountParts {
    fn add(
        &mut self,
        part: SplitPart,
        piece: &Piece,
        now: Timestamp,
    ) -> Result<Vec<Joined>, TooManyVariants> {
        self.last_number += 1;
        let number = self.last_number;
        let joined = self.change(part.key(), |message| {
            message.drop_expired(now);
            let joined = message.add(part.place.part, piece, now)?;
            message.age.1 = number;
            Ok(joined)
        });
        while self.parts > PARTS_KEPT_MAX {
            self.drop_oldest();
        }
        joined
    }

    fn settle(&mut self, part: SplitPart, piece: &Piece, is_accepted: bool) {
        if self.messages.contains_key(&part.key()) {
            self.change(part.key(), |message| message.settle(part.place.part, piece, is_accepted));
        }
    }

    /// Changes a message, which is new if the key is; drops it if no part is left.
    fn change<T>(&mut self, key: Key, change: impl FnOnce(&mut Message) -> T) -> T {
        let message = self.messages.entry(key).or_insert_with(|| Message::of(key.2));
        self.by_age.remove(&message.age);
        self.parts -= message.variants();
        let result = change(message);
        message.age.0 = !message.is_complete();
        if message.variants() == 0 {
            self.messages.remove(&key);
        } else {
            self.parts += message.variants();
            self.by_age.insert(message.age, key);
        }
        result
    }

    /// Drops the messages whose last part has expired.
    fn drop_expired(&mut self, now: Timestamp) {
        for is_incomplete in [false, true] {
            while let Some((_, key)) =
                self.by_age.range((is_incomplete, 0)..=(is_incomplete, u64::MAX)).next()
            {
                let key = *key;
                if self.messages.get(&key).is_some_and(|message| !message.is_expired(now)) {
                    break;
                }
                self.drop_message(key);
            }
        }
    }

    fn drop_oldest(&mut self) {
        if let Some((_, key)) = self.by_age.first_key_value() {
            self.drop_message(*key);
        }
    }

    fn forget(&mut self, to: Msisdn) {
        let keys: Vec<Key> =
            self.messages.keys().filter(|(recipient, ..)| *recipient == to).copied().collect();
        keys.into_iter().for_each(|key| self.drop_message(key));
    }

    fn drop_message(&mut self, key: Key) {
        if self.messages.contains_key(&key) {
            self.change(key, |message| message.retain(|_| false));
        }
    }
}

impl Message {
    fn of(total: u8) -> Message {
        Message { age: Age::default(), total, parts: Parts::new(), before: Parts::new() }
    }

    fn variants(&self) -> usize {
        self.kept().count()
    }

    fn kept(&self) -> impl Iterator<Item = &Variant> {
        self.parts.values().chain(self.before.values()).flatten()
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        self.kept().all(|variant| variant.is_expired(now))
    }

    fn drop_expired(&mut self, now: Timestamp) {
        self.retain(|variant| !variant.is_expired(now));
    }

    fn retain(&mut self, is_kept: impl Fn(&Variant) -> bool) {
        for parts in [&mut self.parts, &mut self.before] {
            parts.retain(|_, variants| {
                variants.retain(&is_kept);
                !variants.is_empty()
            });
        }
    }

    fn is_complete(&self) -> bool {
        let is_accepted =
            |part| self.parts.get(&part).is_some_and(|kept| kept.iter().any(|variant| variant.is_accepted));
        (1..=self.total).all(is_accepted)
    }

    fn knows(&self, part: u8, piece: &Piece) -> bool {
        self.parts.get(&part).is_some_and(|variants| variants.iter().any(|variant| variant.piece == *piece))
    }

    fn add(&mut self, part: u8, piece: &Piece, now: Timestamp) -> Result<Vec<Joined>, TooManyVariants> {
        if self.is_complete() && !self.knows(part, piece) {
            self.before = std::mem::take(&mut self.parts);
        }
        let mut joined = joined_at(&self.parts, part, self.total, piece)?;
        let with_before = joined_at(&self.before, part, self.total, piece)?;
        joined.extend(with_before.into_iter().filter(|pieces| pieces.len() > 1));
        let variants = self.parts.entry(part).or_default();
        if let Some(known) = variants.iter_mut().find(|variant| variant.piece == *piece) {
            known.last_at = now;
            known.pending += 1;
        } else if variants.len() < JOINS_MAX {
            variants.push(Variant { piece: piece.clone(), last_at: now, pending: 1, is_accepted: false });
        } else {
            return Err(TooManyVariants);
        }
        Ok(joined)
    }

    fn settle(&mut self, part: u8, piece: &Piece, is_accepted: bool) {
        let variants =
            [&mut self.parts, &mut self.before].into_iter().filter_map(|parts| parts.get_mut(&part));
        for variant in variants.flatten().filter(|variant| variant.piece == *piece) {
            variant.pending = variant.pending.saturating_sub(1);
            variant.is_accepted |= is_accepted;
        }
        self.retain(|variant| variant.is_accepted || variant.pending > 0);
    }
}

impl Variant {
    fn is_expired(&self, now: Timestamp) -> bool {
        self.last_at.plus(PARTS_KEPT_FOR) <= now
    }
}

/// Joins a part with its neighbours up to the next missing part, in every combination of their texts.
fn joined_at(parts: &Parts, part: u8, total: u8, piece: &Piece) -> Result<Vec<Joined>, TooManyVariants> {
    let kept = |part| parts.get(&part).map(Vec::as_slice);
    let before = neighbours((1..part).rev().map_while(kept));
    let after = neighbours((part..total).map(|part| part + 1).map_while(kept));
    let counts = before.iter().chain(&after).map(|variants| variants.len());
    if counts.fold(1, usize::saturating_mul) > JOINS_MAX {
        return Err(TooManyVariants);
    }
    let mut joined = vec![Joined::new()];
    for variants in before.into_iter().rev() {
        joined = joined_with(&joined, variants);
    }
    joined.iter_mut().for_each(|pieces| pieces.push(piece.clone()));
    for variants in after {
        joined = joined_with(&joined, variants);
    }
    Ok(joined)
}

/// Returns the nearest parts with their texts. A part counts with its shortest text.
fn neighbours<'a>(parts: impl Iterator<Item = &'a [Variant]>) -> Vec<&'a [Variant]> {
    let mut chars = 0;
    let near = parts.take_while(|variants| {
        let is_near = chars < NEIGHBOUR_CHARS_MAX;
        chars +=
            variants.iter().map(|variant| variant.piece.text.as_str().chars().count()).min().unwrap_or(0);
        is_near
    });
    near.collect()
}

/// Continues each of these texts with each text of the next part.
fn joined_with(joined: &[Joined], variants: &[Variant]) -> Vec<Joined> {
    let continued =
        |pieces: &Joined, variant: &Variant| pieces.iter().cloned().chain([variant.piece.clone()]).collect();
    joined.iter().flat_map(|pieces| variants.iter().map(move |variant| continued(pieces, variant))).collect()
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
