//! Plays traffic of the past into an opened store, for `hermod demo`. Messages pass the checks of new ones, are charged, claimed by
//! a link without a carrier, answered and reported, each step at its own time. Nothing is sent. Also
//! plays requests to the operator and their answers.

mod requests;

pub(crate) use requests::{DemoAnswer, DemoRequest, play_requests};

use futures_util::future::join_all;
use hermod_domain::carrier::{Health, IdConversion};
use hermod_domain::ids::{CarrierId, MessageId, RemoteId};
use hermod_domain::inbound::{Alphabet, InboundPart, MoSegment};
use hermod_domain::lifecycle::{DeliveryOutcome, RejectionCause};
use hermod_domain::origin::SmppAddress;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::sender::Sender;
use hermod_domain::submission::Submission;
use hermod_domain::text::MessageText;
use hermod_gateway::app::{Caller, Submitted, submit_message};
use hermod_gateway::clock::{Clock, within};
use hermod_gateway::gateway::{Gateway, LoadCatalogueError, load_catalogue};
use hermod_gateway::running::Opened;
use hermod_store::{
    Job, LinkKind, LinkNumber, LinkPort, MoRecord, ReceiptRecord, ResponseRecord, StoreError, SubmitResponse,
};
use std::collections::HashMap;
use std::time::Duration;

pub(crate) use hermod_domain::time::Timestamp;

/// The default validity of messages.
const VALIDITY: Duration = Duration::from_secs(72 * 3600);
/// Traffic is committed in pieces of this length.
const SLICE: Duration = Duration::from_secs(30 * 60);
/// Parts that the link can take at once: more than a slice has.
const SLOTS: u32 = 10_000;
/// Messages that are submitted together. Each has a clock of its own: a clock that moves on would end the wait of the others.
const TOGETHER: usize = 64;
/// Time until the carrier's response to a part.
const RESPONSE_AFTER: Duration = Duration::from_millis(70);
/// Time for the store to commit a slice.
const COMMIT_WAIT: Duration = Duration::from_secs(30);
/// International number, ISDN numbering plan (SMPP v3.4 section 5.2.5).
const INTERNATIONAL: (u8, u8) = (1, 1);
/// UCS-2 (SMPP v3.4 section 5.2.19).
const UCS2: u8 = 8;

/// Messages and replies, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct DemoTraffic {
    pub(crate) messages: Vec<DemoMessage>,
    pub(crate) replies: Vec<DemoReply>,
}

/// A message that a customer sent.
#[derive(Clone, Debug)]
pub(crate) struct DemoMessage {
    pub(crate) at: Timestamp,
    /// The API key it was sent with.
    pub(crate) key: String,
    /// The default sender of the key's connection if none.
    pub(crate) from: Option<String>,
    pub(crate) to: String,
    pub(crate) text: String,
    pub(crate) outcome: DemoOutcome,
}

/// What the carrier made of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DemoOutcome {
    Delivered {
        after: Duration,
    },
    /// A receipt with this error.
    Undeliverable {
        after: Duration,
        err: u16,
    },
    Expired {
        after: Duration,
        err: u16,
    },
    /// Rejected with this `command_status`.
    Rejected {
        status: u32,
    },
}

/// A message of a handset.
#[derive(Clone, Debug)]
pub(crate) struct DemoReply {
    pub(crate) at: Timestamp,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) text: String,
}

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) accepted: u32,
    /// Messages that were rejected or held, as they would be today.
    pub(crate) rejected: u32,
}

/// Why traffic could not be played.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Catalogue(#[from] LoadCatalogueError),
    #[error("invalid traffic: {0}")]
    Invalid(String),
    #[error("there is no carrier {0}")]
    NoCarrier(String),
    #[error("the store did not commit within {COMMIT_WAIT:?}")]
    TimedOut,
}

/// Makes a submission of a plain text. Fails with the rule that the sender, the number or the text breaks.
pub(crate) fn plain_submission(from: Option<&str>, to: &str, text: &str) -> Result<Submission, String> {
    let from = from.map(Sender::parse).transpose().map_err(|refusal| refusal.to_string())?;
    let to = Msisdn::parse(to).map_err(|refusal| refusal.to_string())?;
    let text = MessageText::parse(text).map_err(|refusal| refusal.to_string())?;
    Ok(Submission::plain(to, from, text))
}

/// Plays traffic through this carrier. Its times must not be before those of earlier traffic.
pub(crate) async fn play(opened: &Opened, carrier: &str, traffic: DemoTraffic) -> Result<Played, DemoError> {
    let DemoTraffic { mut messages, mut replies } = traffic;
    messages.sort_by_key(|message| message.at);
    replies.sort_by_key(|reply| reply.at);
    let first = messages.iter().map(|message| message.at).chain(replies.iter().map(|reply| reply.at)).min();
    let Some(mut start) = first else { return Ok(Played::default()) };
    let mut player = Player::start(opened, carrier, start).await?;
    let (mut messages, mut replies) = (messages.as_slice(), replies.as_slice());
    let mut played = Played::default();
    while !messages.is_empty() || !replies.is_empty() {
        start = start.plus(SLICE);
        let (sent, later) = messages.split_at(messages.partition_point(|message| message.at < start));
        let (replied, others) = replies.split_at(replies.partition_point(|reply| reply.at < start));
        (messages, replies) = (later, others);
        let accepted = player.play_slice(sent, replied).await?;
        played.accepted += accepted;
        played.rejected += u32::try_from(sent.len()).unwrap_or(u32::MAX).saturating_sub(accepted);
    }
    player.port.close().await?;
    opened.store.record().flush().await?;
    Ok(played)
}

struct Player {
    gateways: Vec<Gateway>,
    port: LinkPort,
    /// The last id that the carrier gave.
    remote: u64,
    sequence: u32,
}

/// What the link reports, and when.
enum Event {
    Response(ResponseRecord),
    Receipt(ReceiptRecord),
    Reply(MoRecord),
}

impl Player {
    async fn start(opened: &Opened, carrier: &str, start: Timestamp) -> Result<Player, DemoError> {
        let catalogue = load_catalogue(&opened.store).await?;
        let id = carrier_id(&catalogue, carrier).ok_or_else(|| DemoError::NoCarrier(carrier.to_owned()))?;
        let mut gateways = Vec::with_capacity(TOGETHER);
        for _ in 0..TOGETHER {
            let catalogue = load_catalogue(&opened.store).await?;
            let (clock, store, pepper) = (Clock::manual(start), opened.store.clone(), opened.pepper.clone());
            let gateway = Gateway::new(clock, store, pepper, catalogue, VALIDITY);
            gateway.carriers.set_health(id, Health::Up);
            gateways.push(gateway);
        }
        let port = opened.store.open_link(id, LinkNumber(1), LinkKind::Sends, IdConversion::None).await?;
        port.record(Vec::new(), Vec::new(), Vec::new(), SLOTS, start).await?;
        Ok(Player { gateways, port, remote: 0, sequence: 0 })
    }

    /// Plays a part of the traffic to its end. Returns how many messages were accepted.
    async fn play_slice(&mut self, sent: &[DemoMessage], replied: &[DemoReply]) -> Result<u32, DemoError> {
        let mut planned = HashMap::new();
        let mut parts = 0;
        for together in sent.chunks(TOGETHER) {
            // The writer commits them together.
            let submissions =
                together.iter().zip(&self.gateways).map(|(message, gateway)| submit(gateway, message));
            for (message, outcome) in together.iter().zip(join_all(submissions).await) {
                if let Some((id, count)) = outcome? {
                    parts += usize::from(count);
                    planned.insert(id, message);
                }
            }
        }
        let jobs = self.claimed(parts).await?;
        let mut events = Vec::new();
        for job in jobs {
            let message = planned.get(&job.message).ok_or_else(|| unplanned(job.message))?;
            self.answer(&job, message, &mut events);
        }
        for reply in replied {
            let record = MoRecord { sequence: self.next_sequence(), part: inbound_part(reply) };
            events.push((reply.at, Event::Reply(record)));
        }
        self.report(events).await?;
        Ok(u32::try_from(planned.len()).unwrap_or(u32::MAX))
    }

    /// Waits until the link has claimed this many parts.
    async fn claimed(&self, parts: usize) -> Result<Vec<Job>, DemoError> {
        let mut jobs = Vec::with_capacity(parts);
        while jobs.len() < parts {
            let handout = within(COMMIT_WAIT, self.port.handout()).await.map_err(|_| DemoError::TimedOut)?;
            jobs.extend(handout.jobs);
        }
        Ok(jobs)
    }

    /// Adds the response to a part, and its receipt.
    fn answer(&mut self, job: &Job, message: &DemoMessage, events: &mut Vec<(Timestamp, Event)>) {
        self.remote += 1;
        let remote = RemoteId::from_octets(format!("{:08x}", 0x5a00_0000 + self.remote).as_bytes())
            .expect("eight octets are an id");
        let answered_at = message.at.plus(RESPONSE_AFTER * u32::from(job.part.get()));
        let response = match message.outcome {
            DemoOutcome::Rejected { status } => {
                SubmitResponse::Refused { about: RejectionCause::Destination, status }
            }
            _ => SubmitResponse::Accepted(remote.clone()),
        };
        let Job { message: id, part, account, to, .. } = *job;
        let response = ResponseRecord { message: id, part, account, to, response, failover_to: None };
        events.push((answered_at, Event::Response(response)));
        let (after, verdict, stat, err) = match message.outcome {
            DemoOutcome::Delivered { after } => (after, DeliveryOutcome::Delivered, "DELIVRD", 0),
            DemoOutcome::Undeliverable { after, err } => {
                (after, DeliveryOutcome::Undeliverable, "UNDELIV", err)
            }
            DemoOutcome::Expired { after, err } => (after, DeliveryOutcome::Expired, "EXPIRED", err),
            DemoOutcome::Rejected { .. } => return,
        };
        let receipt = ReceiptRecord {
            sequence: self.next_sequence(),
            remote: Some(remote),
            verdict,
            err,
            word: None,
            words: ReceiptWords::new(Some(stat.as_bytes()), Some(format!("{err:03}").as_bytes())),
            source: Some(to),
            sender: Some(job.from),
        };
        events.push((answered_at.plus(after), Event::Receipt(receipt)));
    }

    /// Records what the link received in the order of time, and waits until it is durable.
    async fn report(&self, mut events: Vec<(Timestamp, Event)>) -> Result<(), DemoError> {
        events.sort_by_key(|(at, _)| *at);
        let mut unanswered = 0;
        for (at, event) in events {
            let (mut responses, mut receipts, mut inbound) = (Vec::new(), Vec::new(), Vec::new());
            let mut slots = 0;
            match event {
                Event::Response(response) => {
                    responses.push(response);
                    slots = 1;
                }
                Event::Receipt(receipt) => {
                    receipts.push(receipt);
                    unanswered += 1;
                }
                Event::Reply(reply) => {
                    inbound.push(reply);
                    unanswered += 1;
                }
            }
            self.port.record(responses, receipts, inbound, slots, at).await?;
        }
        while unanswered > 0 {
            let handout = within(COMMIT_WAIT, self.port.handout()).await.map_err(|_| DemoError::TimedOut)?;
            unanswered -= (handout.recorded.len() + handout.received.len()).min(unanswered);
        }
        Ok(())
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }
}

/// Submits a message at its time. Returns its id and parts; none if it was rejected or held.
async fn submit(gateway: &Gateway, message: &DemoMessage) -> Result<Option<(MessageId, u8)>, DemoError> {
    let DemoMessage { at, key, from, to, text, .. } = message;
    let invalid = |what: &dyn std::fmt::Display| DemoError::Invalid(format!("{to} {text:?}: {what}"));
    gateway.clock.advance(at.since(gateway.clock.now()));
    let catalogue = gateway.catalogue();
    let caller = Caller::with_key(&catalogue, key).ok_or_else(|| invalid(&"unknown key"))?;
    let submission = plain_submission(from.as_deref(), to, text).map_err(|error| invalid(&error))?;
    match submit_message(gateway, &caller, &submission).await {
        Ok(Submitted::Accepted(accepted)) => Ok(Some((accepted.message, accepted.parts))),
        Ok(Submitted::Replayed(_) | Submitted::Unknown) | Err(_) => Ok(None),
    }
}

fn carrier_id(catalogue: &hermod_domain::catalogue::Catalogue, name: &str) -> Option<CarrierId> {
    catalogue.carriers().iter().find(|(_, known, _)| known == name).map(|(id, ..)| *id)
}

fn unplanned(message: MessageId) -> DemoError {
    DemoError::Invalid(format!("the store has another message in its queue: {message}"))
}

fn inbound_part(reply: &DemoReply) -> InboundPart {
    let address = |number: &str| {
        let (ton, npi) = INTERNATIONAL;
        SmppAddress::new(ton, npi, number.trim_start_matches('+').as_bytes())
    };
    let octets: Vec<u8> = reply.text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    InboundPart {
        source: address(&reply.from),
        destination: address(&reply.to),
        concat: None,
        reference: None,
        segment: MoSegment {
            data_coding: UCS2,
            alphabet: Alphabet::Ucs2,
            header: Box::default(),
            octets: octets.into(),
        },
    }
}
