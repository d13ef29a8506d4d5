//! What the follower has taken from the feed, merged by message: a message is written once per flush, whatever happened to
//! it. Steps are encoded at once.

use crate::record::committed::AcceptedMessage;
use crate::record::feed::Fed;
use crate::record::keys::SearchKey;
use crate::record::{CostChange, HistoryStep, MessageCosts, RecordedMessage, StepNote};
use hermod_domain::ids::{CarrierId, MessageId, PartNo, RouteId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::receipt::DlrCode;
use hermod_domain::route::{CarrierChoice, ComparedCarrier};
use hermod_domain::time::Timestamp;
use hermod_engine::maps::HashMap;
use hermod_engine::steps::{MessageStep, StepKind};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// No step is added to a message whose encoded steps are longer.
pub(crate) const STEP_OCTETS_MAX: usize = 8 * 1024;
/// The first octet of stored steps.
const STEPS_VERSION: u8 = 1;
/// Octets that the steps of most messages fit in.
const STEP_OCTETS_EXPECTED: usize = 96;

/// A message that the record may not have yet.
#[derive(Clone, Debug)]
pub(crate) struct NewMessage {
    pub message: RecordedMessage,
    /// The carrier that it counts for: the first one.
    pub first_carrier: CarrierId,
    pub charged_parts: u8,
    pub balance: Option<Money>,
    pub request: Option<Box<str>>,
    pub route: Option<(RouteId, CarrierChoice)>,
    pub compared: Option<Box<[ComparedCarrier]>>,
    pub key: Option<[u8; 16]>,
}

/// How a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageEnd {
    pub state: MessageState,
    pub code: DlrCode,
    pub err: u16,
    pub refund: Option<Money>,
    pub billable: Billable,
    pub at: Timestamp,
}

/// What happened to one message since the last flush.
#[derive(Clone, Debug)]
pub(crate) struct PendingMessage {
    pub id: MessageId,
    /// The message itself, if it was accepted since the last flush, or was read from the store.
    pub new: Option<NewMessage>,
    /// The carrier that it moved to.
    pub carrier: Option<CarrierId>,
    /// What that carrier asks, and what the earlier ones can bill.
    pub costs: Option<CostChange>,
    /// Its state, unless it has ended.
    pub state: Option<MessageState>,
    pub end: Option<MessageEnd>,
    /// Encoded steps, one after the other.
    pub steps: Vec<u8>,
    /// When the last of them happened, in milliseconds after the acceptance.
    pub last_ms: u64,
    /// Where in `steps` its end is: left out if the record has the end already.
    pub end_step: Option<Range<usize>>,
    pub keys: SmallVec<[SearchKey; 2]>,
    /// The latest step, if someone watches.
    pub latest: Option<StepKind>,
}

impl PendingMessage {
    pub(crate) fn new(id: MessageId) -> PendingMessage {
        PendingMessage {
            id,
            new: None,
            carrier: None,
            costs: None,
            state: None,
            end: None,
            steps: Vec::new(),
            last_ms: 0,
            end_step: None,
            keys: SmallVec::new(),
            latest: None,
        }
    }

    /// Adds a step to the timeline.
    pub(crate) fn note(&mut self, at: Timestamp, part: PartNo, what: StepNote) {
        if self.steps.len() > STEP_OCTETS_MAX {
            return;
        }
        let after = at.since(self.id.accepted_at()).as_millis();
        self.last_ms = u64::try_from(after).unwrap_or(u64::MAX);
        encode(&HistoryStep { at_ms: self.last_ms, part, what }, &mut self.steps);
    }

    /// Notes how it ended.
    pub(crate) fn note_end(&mut self, end: MessageEnd) {
        let MessageEnd { state, code, err, refund, billable, at } = end;
        let before = self.steps.len();
        let ended = StepKind::Ended { state, code, err, refund, billable };
        self.note(at, PartNo::FIRST, StepNote::Step(ended));
        self.end_step = Some(before..self.steps.len());
        (self.end, self.state) = (Some(end), None);
    }

    /// Returns the steps without the end.
    pub(crate) fn steps_without_end(&self) -> Cow<'_, [u8]> {
        let Some(Range { start, end }) = self.end_step.clone() else { return Cow::Borrowed(&self.steps) };
        let (before, after) = (self.steps.get(..start), self.steps.get(end..));
        Cow::Owned([before.unwrap_or_default(), after.unwrap_or_default()].concat())
    }

    fn add(&mut self, MessageStep { id: _, message: _, part, at, kind }: MessageStep, is_watched: bool) {
        if let StepKind::CarrierCost { cost, earlier } = &kind {
            let costs = self.costs.get_or_insert_default();
            costs.believed = *cost;
            costs.earlier.extend(earlier.as_deref());
            return;
        }
        if is_watched {
            self.latest = Some(kind.clone());
        }
        match &kind {
            StepKind::Accepted { .. } => return,
            StepKind::State(state) => {
                if self.end.is_none() {
                    self.state = Some(*state);
                }
                return;
            }
            StepKind::Ended { state, code, err, refund, billable } => {
                let (state, code, err, refund, billable) = (*state, *code, *err, *refund, *billable);
                let end = MessageEnd { state, code, err, refund, billable, at };
                return if self.end.is_none() {
                    self.note_end(end)
                };
            }
            StepKind::Moved { to, .. } | StepKind::FailedOver { to, .. } => self.carrier = Some(*to),
            StepKind::CarrierAccepted { remote, .. } => self.keys.push(SearchKey::of_carrier_id(remote)),
            StepKind::WebhookAttempt { event, .. } => self.keys.push(SearchKey::of_event(*event)),
            _ => {}
        }
        self.note(at, part, StepNote::Step(kind));
    }

    /// Makes the new message have what happened to it since its acceptance.
    fn complete(&mut self) {
        let PendingMessage { new: Some(NewMessage { message, .. }), carrier, costs, state, end, .. } = self
        else {
            return;
        };
        if let Some(costs) = costs {
            message.costs.apply(costs);
        }
        message.carrier = carrier.unwrap_or(message.carrier);
        message.state = state.unwrap_or(message.state);
        if let Some(MessageEnd { state, code, err, refund, billable, at }) = *end {
            message.costs.billable = Some(billable);
            (message.state, message.code, message.err) = (state, Some(code), err);
            (message.refund, message.settled_at) = (refund, Some(at));
        }
    }
}

/// The messages of one flush.
#[derive(Default)]
pub(crate) struct PendingMessages {
    messages: Vec<PendingMessage>,
    places: HashMap<MessageId, usize>,
}

impl PendingMessages {
    /// Merges what the feed had. Empties the accepted messages and the steps of `fed`.
    pub(crate) fn merge(&mut self, fed: &mut Fed, is_watched: bool) {
        for accepted in fed.accepted.drain(..) {
            let new = new_message(&accepted);
            let pending = self.place(accepted.id);
            pending.steps.reserve(STEP_OCTETS_EXPECTED);
            pending.new = Some(new);
        }
        for step in fed.steps.drain(..) {
            self.place(step.message).add(step, is_watched);
        }
        self.messages.iter_mut().for_each(PendingMessage::complete);
    }

    /// Returns the messages in the order of their ids.
    pub(crate) fn sorted(&mut self) -> &[PendingMessage] {
        if !self.messages.is_sorted_by_key(|message| message.id) {
            self.messages.sort_unstable_by_key(|message| message.id);
            self.places =
                self.messages.iter().enumerate().map(|(place, message)| (message.id, place)).collect();
        }
        &self.messages
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Removes the first messages, after they were written.
    pub(crate) fn remove_first(&mut self, count: usize) {
        self.messages.drain(..count.min(self.messages.len()));
        self.places.clear();
        let places = self.messages.iter().enumerate().map(|(place, message)| (message.id, place));
        self.places.extend(places);
    }

    fn place(&mut self, id: MessageId) -> &mut PendingMessage {
        let PendingMessages { messages, places } = self;
        let place = *places.entry(id).or_insert_with(|| {
            messages.push(PendingMessage::new(id));
            messages.len() - 1
        });
        &mut messages[place]
    }
}

fn new_message(AcceptedMessage { id, balance, acceptance }: &AcceptedMessage) -> NewMessage {
    let note = &acceptance.note;
    NewMessage {
        message: RecordedMessage {
            id: *id,
            account: acceptance.account,
            connection: acceptance.connection,
            carrier: acceptance.carrier,
            from: acceptance.from,
            to: Some(acceptance.to),
            encoding: acceptance.encoding,
            parts: acceptance.parts,
            cost: acceptance.cost,
            costs: MessageCosts { believed: acceptance.carrier_cost, ..MessageCosts::default() },
            state: MessageState::Queued,
            code: None,
            err: 0,
            settled_at: None,
            refund: None,
        },
        first_carrier: acceptance.carrier,
        charged_parts: note.charged_parts.unwrap_or(acceptance.parts),
        balance: Some(*balance),
        request: note.request.clone(),
        route: note.route.map(|route| (route, note.choice)),
        compared: note.compared.clone(),
        key: acceptance.key.map(|key| key.digest),
    }
}

/// How far the record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordPosition {
    /// The last batch that it has from the feed.
    pub sequence: u64,
    /// The next message to read from the store, and the last one.
    pub walk_next: Option<i64>,
    pub walk_end: Option<i64>,
    /// The next message to compare with the store, and the last one.
    pub recheck_next: Option<i64>,
    pub recheck_end: Option<i64>,
}

impl RecordPosition {
    /// Whether it has read everything that the feed did not bring.
    pub(crate) fn is_caught_up(&self) -> bool {
        self.walk_next.is_none() && self.recheck_next.is_none()
    }
}

/// Returns the steps of a message as they are stored: what is there already, or the version, and the further ones. After
/// too many follows one that says so.
pub(crate) fn append_steps(stored: &[u8], further: &[u8], last_ms: u64, octets: &mut Vec<u8>) {
    octets.clear();
    octets.extend_from_slice(if stored.is_empty() { &[STEPS_VERSION] } else { stored });
    if octets.len() > STEP_OCTETS_MAX {
        return;
    }
    octets.extend_from_slice(further);
    if octets.len() > STEP_OCTETS_MAX {
        encode(&HistoryStep { at_ms: last_ms, part: PartNo::FIRST, what: StepNote::More }, octets);
    }
}

/// Reads the steps of a message as they are stored. Fails if an octet is missing or unknown.
pub(crate) fn stored_steps(octets: &[u8]) -> Result<Vec<HistoryStep>, postcard::Error> {
    match octets.split_first() {
        Some((&STEPS_VERSION, mut octets)) => {
            let mut steps = Vec::new();
            while !octets.is_empty() {
                let (step, rest) = postcard::take_from_bytes(octets)?;
                steps.push(step);
                octets = rest;
            }
            Ok(steps)
        }
        _ => Err(postcard::Error::DeserializeBadVarint),
    }
}

/// Appends an encoded step.
pub(crate) fn encode(step: &HistoryStep, octets: &mut Vec<u8>) {
    *octets = postcard::to_extend(step, std::mem::take(octets)).expect("a step can be encoded");
}
