//! What to do with the next submit or bind. The script is the law, the plan counts who came before; given the same
//! script, seed and submits it decides the same, without a clock or a socket.

use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::ids::IdFormat;
use super::outcome::{Outcome, Receipts};
use super::script::{Act, Rules, Script};
use super::when::{Content, Turn};

/// A submit as the plan sees it.
#[derive(Debug, Clone, Copy)]
pub struct SubmitSeen<'a> {
    /// Digits as they came.
    pub destination: &'a [u8],
    pub data_coding: u8,
    /// The text without its user data header.
    pub text: &'a [u8],
    pub registered_delivery: u8,
    /// Submits of this link without an answer, this one included.
    pub unanswered: u32,
    /// Time since the carrier started.
    pub at: Duration,
    /// No receipt more can be kept for later.
    pub receipts_full: bool,
}

/// What the carrier does with one submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    pub reply: Reply,
    /// How late the reply is.
    pub delay: Duration,
    /// The receipts the message gets; none unless it was taken and asked for some.
    pub receipts: Receipts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Taken under this number; afterwards `then`.
    Accept {
        id: u64,
        then: Then,
    },
    Refuse(CommandStatus),
    Silence,
    /// Taken under this number, and the connection cut before the answer.
    CutBeforeAnswer {
        id: u64,
    },
}

/// What follows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    GoOn,
    Cut,
    Unbind,
    Garbage,
}

/// A script and how far it has been played.
#[derive(Debug)]
pub struct Plan {
    script: Arc<Script>,
    ids: Arc<IdFormat>,
    answers: Turns,
    delays: Turns,
    receipts: Turns,
    binds: u64,
    cut_by_bytes: bool,
    chance: Chance,
    next_id: u64,
    second: u64,
    in_second: u32,
}

/// Ids that no submit is ever given: far beyond where counting starts.
const UNKNOWN_IDS_FROM: u64 = 9_000_000_000_000_000_000;

impl Plan {
    pub fn new(script: Script, seed: u64, first_id: u64) -> Plan {
        let mut plan = Plan {
            ids: Arc::new(script.ids.clone()),
            script: Arc::new(script),
            answers: Turns::default(),
            delays: Turns::default(),
            receipts: Turns::default(),
            binds: 0,
            cut_by_bytes: false,
            chance: Chance(seed),
            next_id: first_id,
            second: 0,
            in_second: 0,
        };
        plan.start_over();
        plan
    }

    /// Plays another script from its beginning. Ids go on counting: they are unique for the carrier's life.
    pub fn set_script(&mut self, script: Script) {
        self.ids = Arc::new(script.ids.clone());
        self.script = Arc::new(script);
        self.start_over();
    }

    fn start_over(&mut self) {
        self.answers = Turns::of(&self.script.answers);
        self.delays = Turns::of(&self.script.delays);
        self.receipts = Turns::of(&self.script.receipts);
        self.binds = 0;
        self.cut_by_bytes = false;
    }

    pub(super) fn script(&self) -> &Arc<Script> {
        &self.script
    }

    pub(super) fn ids(&self) -> &Arc<IdFormat> {
        &self.ids
    }

    /// Decides about the next submit.
    pub fn next(&mut self, seen: &SubmitSeen<'_>) -> Behaviour {
        let script = Arc::clone(&self.script);
        let content =
            Content { destination: seen.destination, data_coding: seen.data_coding, text: seen.text };
        let delay = *self.delays.pick(&script.delays, &content, &mut self.chance);
        if let Some(status) = self.overload(seen) {
            return Behaviour { reply: Reply::Refuse(status), delay, receipts: Receipts::never() };
        }
        let act = *self.answers.pick(&script.answers, &content, &mut self.chance);
        let reply = match act {
            Act::Refuse(status) => Reply::Refuse(status),
            Act::Silence => Reply::Silence,
            Act::Accept => Reply::Accept { id: self.take_id(), then: Then::GoOn },
            Act::CutAfterAnswer => Reply::Accept { id: self.take_id(), then: Then::Cut },
            Act::Unbind => Reply::Accept { id: self.take_id(), then: Then::Unbind },
            Act::Garbage => Reply::Accept { id: self.take_id(), then: Then::Garbage },
            Act::CutBeforeAnswer => Reply::CutBeforeAnswer { id: self.take_id() },
        };
        let receipts = match reply {
            Reply::Accept { .. } | Reply::CutBeforeAnswer { .. } => {
                let receipts = self.receipts.pick(&script.receipts, &content, &mut self.chance);
                asked_for(*receipts, seen.registered_delivery)
            }
            Reply::Refuse(_) | Reply::Silence => Receipts::never(),
        };
        Behaviour { reply, delay, receipts }
    }

    /// Whether there is more traffic than the carrier tolerates.
    fn overload(&mut self, seen: &SubmitSeen<'_>) -> Option<CommandStatus> {
        let second = seen.at.as_secs();
        if second != self.second {
            (self.second, self.in_second) = (second, 0);
        }
        self.in_second += 1;
        let Script { window_max, per_second_max, .. } = &*self.script;
        if window_max.is_some_and(|max| seen.unanswered > max)
            || per_second_max.is_some_and(|max| self.in_second > max)
        {
            return Some(CommandStatus::THROTTLED);
        }
        let wants_receipt = seen.registered_delivery & ANY_RECEIPT != 0;
        (seen.receipts_full && wants_receipt).then_some(CommandStatus::MSGQFUL)
    }

    fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// An id no submit was or will be given.
    pub fn unknown_id(&mut self) -> u64 {
        UNKNOWN_IDS_FROM + self.chance.next() % 1_000_000_000_000_000
    }

    /// Decides about a bind.
    pub fn bind(&mut self, system_id: &[u8], password: &[u8]) -> Result<(), CommandStatus> {
        self.binds += 1;
        if let Some((count, status)) = self.script.refuse_binds
            && self.binds <= count
        {
            return Err(status);
        }
        match &self.script.credentials {
            Some((id, word)) if id.as_bytes() != system_id || word.as_bytes() != password => {
                Err(CommandStatus::INVPASWD)
            }
            _ => Ok(()),
        }
    }

    /// How many more octets a link that has been sent `bytes_out` may be sent before it is cut; none: no limit.
    pub(super) fn bytes_before_cut(&self, bytes_out: u64) -> Option<u64> {
        let limit = self.script.cut_after_bytes.filter(|_| !self.cut_by_bytes)?;
        Some(limit.saturating_sub(bytes_out))
    }

    /// A link was cut for its octets; it happens once.
    pub(super) fn note_cut_by_bytes(&mut self) {
        self.cut_by_bytes = true;
    }
}

/// Bits of registered_delivery: 1 and 0 choose among final receipts, 4 asks for intermediate ones.
const FINAL_RECEIPTS: u8 = 0x03;
const ANY_RECEIPT: u8 = 0x13;

/// What of `receipts` a registered_delivery asks for. Intermediate ones go to all who asked for any, as with many
/// real carriers.
fn asked_for(receipts: Receipts, registered_delivery: u8) -> Receipts {
    if registered_delivery & ANY_RECEIPT == 0 {
        return Receipts::never();
    }
    let outcome = receipts.outcome.filter(|(_, outcome)| {
        let delivered = *outcome == Outcome::Delivered;
        match registered_delivery & FINAL_RECEIPTS {
            0 => !outcome.is_final(),
            1 => true,
            2 => !delivered,
            _ => delivered,
        }
    });
    Receipts { outcome, ..receipts }
}

/// For each rule of a list, how many submits have reached it.
#[derive(Debug, Default)]
struct Turns(Vec<u64>);

impl Turns {
    fn of<T>(rules: &Rules<T>) -> Turns {
        Turns(vec![0; rules.list.len()])
    }

    /// The first rule that applies, or what is otherwise done.
    fn pick<'r, T>(&mut self, rules: &'r Rules<T>, content: &Content<'_>, chance: &mut Chance) -> &'r T {
        for ((when, value), reached) in rules.list.iter().zip(&mut self.0) {
            if !when.is_about(content) {
                continue;
            }
            *reached += 1;
            let its_turn = match when.turn {
                Turn::Each => true,
                Turn::First(count) => *reached <= count,
                Turn::Nth(number) => *reached == number,
                Turn::Every(k) => reached.is_multiple_of(k),
                Turn::PerMille(chances) => chance.next() % 1000 < u64::from(chances),
            };
            if its_turn {
                return value;
            }
        }
        &rules.otherwise
    }
}

/// Seeded chance (SplitMix64): small, and the same everywhere.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests;
