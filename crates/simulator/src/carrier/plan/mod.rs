//! What to do with the next submit or bind. The script is the law, the plan counts who came before; given the same
//! script, seed and submits it decides the same, without a clock or a socket.

use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::chance::{Chance, Turns};
use super::ids::IdFormat;
use super::manner::Manner;
use super::outcome::{Outcome, Receipts};
use super::pace::Pace;
use super::roster::Company;
use super::script::{Act, MoReply, Script};
use super::when::Content;
use super::wording::Wording;

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
    /// How the reply is written.
    pub manner: Manner,
    /// The receipts the message gets; none unless it was taken and asked for some.
    pub receipts: Receipts,
    /// How they are written.
    pub wording: Arc<Wording>,
    /// What the handset sends back; none unless the message was taken.
    pub mo_reply: Option<Arc<MoReply>>,
    /// More came than the carrier said it takes.
    pub excess: Option<Excess>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Taken under this number; afterwards `then`.
    Accept {
        id: u64,
        then: Then,
    },
    Refuse(CommandStatus),
    Nack(CommandStatus),
    Silence,
    /// Never answered and forgotten, and the connection is cut.
    Crash,
    /// Taken under this number, and `then` instead of the answer.
    Withhold {
        id: u64,
        then: Then,
    },
}

/// What follows an answer, or stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    GoOn,
    Cut,
    Unbind,
    Garbage,
    BadLength(u32),
    Stall(Duration),
    Mute,
}

/// A limit that a gateway did not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    Window,
    Rate,
}

/// A script and how far it has been played.
#[derive(Debug)]
pub struct Plan {
    script: Arc<Script>,
    /// When it began to play.
    since: Duration,
    ids: Arc<IdFormat>,
    answers: Turns,
    delays: Turns,
    manners: Turns,
    receipts: Turns,
    wordings: Turns,
    replies: Turns,
    binds: u64,
    cut_by_bytes: bool,
    chance: Chance,
    next_id: u64,
    pace: Pace,
}

/// Ids that no submit is ever given: far beyond where counting starts.
const UNKNOWN_IDS_FROM: u64 = 9_000_000_000_000_000_000;

impl Plan {
    pub fn new(script: Script, seed: u64, first_id: u64) -> Plan {
        let mut plan = Plan {
            ids: Arc::new(script.ids.clone()),
            script: Arc::new(Script::new()),
            since: Duration::ZERO,
            answers: Turns::default(),
            delays: Turns::default(),
            manners: Turns::default(),
            receipts: Turns::default(),
            wordings: Turns::default(),
            replies: Turns::default(),
            binds: 0,
            cut_by_bytes: false,
            chance: Chance(seed),
            next_id: first_id,
            pace: Pace::default(),
        };
        plan.set_script(script, Duration::ZERO);
        plan
    }

    /// Plays another script from its beginning. Ids go on counting: they are unique for the carrier's life.
    pub fn set_script(&mut self, script: Script, at: Duration) {
        self.ids = Arc::new(script.ids.clone());
        self.script = Arc::new(script);
        self.since = at;
        self.answers = Turns::of(&self.script.answers);
        self.delays = Turns::of(&self.script.delays);
        self.manners = Turns::of(&self.script.manners);
        self.receipts = Turns::of(&self.script.receipts);
        self.wordings = Turns::of(&self.script.wordings);
        self.replies = Turns::of(&self.script.replies);
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
        let content = Content {
            destination: seen.destination,
            data_coding: seen.data_coding,
            alphabet: script.alphabet,
            text: seen.text,
            played: seen.at.saturating_sub(self.since),
        };
        let mut delay = *self.delays.pick(&script.delays, &content, &mut self.chance);
        if !script.scatter.is_zero() {
            delay += self.chance.between(Duration::ZERO, script.scatter);
        }
        let overload = self.overload(seen);
        let reply = match (self.crash(seen), overload) {
            (Some(crash), _) => crash,
            (None, Some((status, _))) => Reply::Refuse(status),
            (None, None) => {
                let act = *self.answers.pick(&script.answers, &content, &mut self.chance);
                self.reply(act)
            }
        };
        let manner = *self.manners.pick(&script.manners, &content, &mut self.chance);
        let wording = Arc::clone(self.wordings.pick(&script.wordings, &content, &mut self.chance));
        let (receipts, mo_reply) = match reply {
            Reply::Accept { .. } | Reply::Withhold { .. } => {
                let receipts = self.receipts.pick(&script.receipts, &content, &mut self.chance);
                let mo_reply = self.replies.pick(&script.replies, &content, &mut self.chance);
                (asked_for(*receipts, seen.registered_delivery), mo_reply.clone())
            }
            Reply::Refuse(_) | Reply::Nack(_) | Reply::Silence | Reply::Crash => (Receipts::never(), None),
        };
        let excess = overload.and_then(|(_, excess)| excess);
        Behaviour { reply, delay, manner, receipts, wording, mo_reply, excess }
    }

    fn reply(&mut self, act: Act) -> Reply {
        match act {
            Act::Refuse(status) => Reply::Refuse(status),
            Act::Nack(status) => Reply::Nack(status),
            Act::Silence => Reply::Silence,
            Act::Accept => self.accept(Then::GoOn),
            Act::CutAfterAnswer => self.accept(Then::Cut),
            Act::Unbind => self.accept(Then::Unbind),
            Act::Garbage => self.accept(Then::Garbage),
            Act::BadLength(length) => self.accept(Then::BadLength(length)),
            Act::Stall(time) => self.accept(Then::Stall(time)),
            Act::Mute => self.accept(Then::Mute),
            Act::LoseAnswer => self.withhold(Then::GoOn),
            Act::CutBeforeAnswer => self.withhold(Then::Cut),
            Act::UnbindBeforeAnswer => self.withhold(Then::Unbind),
            Act::MuteBeforeAnswer => self.withhold(Then::Mute),
        }
    }

    fn accept(&mut self, then: Then) -> Reply {
        Reply::Accept { id: self.take_id(), then }
    }

    fn withhold(&mut self, then: Then) -> Reply {
        Reply::Withhold { id: self.take_id(), then }
    }

    /// What a link that is to crash does with a submit.
    fn crash(&self, seen: &SubmitSeen<'_>) -> Option<Reply> {
        let (_, submits) = self.script.crash_loop.filter(|(binds, _)| self.binds <= *binds)?;
        Some(if seen.unanswered >= submits { Reply::Crash } else { Reply::Silence })
    }

    /// Whether there is more traffic than the carrier tolerates.
    fn overload(&mut self, seen: &SubmitSeen<'_>) -> Option<(CommandStatus, Option<Excess>)> {
        let Script { window_max, per_second_max, .. } = &*self.script;
        if window_max.is_some_and(|max| seen.unanswered > max) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Window)));
        }
        if per_second_max.is_some_and(|max| !self.pace.admits(seen.at, max)) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Rate)));
        }
        let wants_receipt = seen.registered_delivery & ANY_RECEIPT != 0;
        (seen.receipts_full && wants_receipt).then_some((CommandStatus::MSGQFUL, None))
    }

    /// The next id; no submit is given it.
    pub(super) fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// An id no submit was or will be given.
    pub fn unknown_id(&mut self) -> u64 {
        UNKNOWN_IDS_FROM + self.chance.next() % 1_000_000_000_000_000
    }

    /// How long a link that is lost without an unbind is still taken for bound.
    pub(super) fn linger(&self) -> Duration {
        self.script.already_bound_for.unwrap_or_default()
    }

    /// Decides about a bind; `company` are the links that its system_id has already.
    pub fn bind(&mut self, system_id: &[u8], password: &[u8], company: Company) -> Result<(), CommandStatus> {
        self.binds += 1;
        let Script { refuse_binds, credentials, binds_max, .. } = &*self.script;
        if let Some((count, status)) = refuse_binds
            && self.binds <= *count
        {
            return Err(*status);
        }
        if let Some((id, word)) = credentials
            && (id.as_bytes() != system_id || word.as_bytes() != password)
        {
            return Err(CommandStatus::INVPASWD);
        }
        match binds_max {
            Some((max, status)) if company.bound + company.ghosts >= *max => Err(*status),
            None if company.ghosts > 0 => Err(CommandStatus::ALYBND),
            _ => Ok(()),
        }
    }

    /// How long a link that binds now may last.
    pub(super) fn lifetime(&mut self) -> Option<Duration> {
        let (least, most) = self.script.cut_links?;
        Some(self.chance.between(least, most))
    }

    /// Whether the door is closed, and when that changes.
    pub(super) fn down(&self, at: Duration) -> (bool, Option<Duration>) {
        let Some((from, to)) = self.script.down else { return (false, None) };
        let [from, to] = [from, to].map(|time| self.since + time);
        let next = [from, to].into_iter().find(|time| *time > at);
        ((from..to).contains(&at), next)
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

#[cfg(test)]
mod tests;
