//! `hermod carrier test`: sends one message over a connection of its own, with the carrier's settings, and logs every PDU. It
//! is not charged and writes nothing to the store.
//!
//! A carrier may send receipts of ordinary messages and MO messages over this bind. They are refused temporarily (0x64), so
//! that the carrier delivers them again over an ordinary link.

mod receipt;
mod wire;

use super::connect::connect;
use super::link::session_of;
use super::submit_sm::{PartEncoder, PartToSend};
use crate::gateway::Gateway;
use crate::live_status::{Probe, ProbeReport, ProbeRequest, ProbeStep};
use crate::secrets::Secret;
use crate::secrets::sealed;
use crate::workers::Workers;
use hermod_domain::carrier::LinkBinds;
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::{PartNo, RemoteId};
use hermod_smpp::session::CloseReason;
use hermod_smpp::{BindType, CommandStatus, Frame, Pdu, SessionEvent};
use receipt::ProbeReceipts;
use std::sync::Arc;
use std::time::Duration;
use wire::{ProbeConnection, ProbeLog, Side, Wires};

/// A probe sends one message.
const WINDOW: u32 = 1;
/// Unanswered requests of the carrier.
const INBOUND_MAX: u32 = 100;
/// Added to timeouts, so that the session's own timers fire first.
const MARGIN: Duration = Duration::from_secs(1);

/// The step at which a probe ended, and its outcome.
struct Ended {
    step: ProbeStep,
    outcome: String,
}

impl Ended {
    fn at(step: ProbeStep, outcome: impl Into<String>) -> Ended {
        Ended { step, outcome: outcome.into() }
    }
}

/// Runs the probes requested at [`Gateway::probes`], one after the other, until the workers stop.
pub fn serve_probes(gateway: &Arc<Gateway>, workers: &Workers) {
    let Some(mut requests) = gateway.probes.requests.receiver() else { return };
    let (gateway, stopping) = (gateway.clone(), workers.stopping());
    workers.spawn_named("probes", async move {
        loop {
            let ProbeRequest { carrier, probe, mut answer } = tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => request,
                    None => return,
                },
                () = stopping.cancelled() => return,
            };
            tokio::select! {
                report = run(&gateway, &carrier, &probe) => drop(answer.send(report)),
                () = answer.closed() => {}
                () = stopping.cancelled() => return,
            }
        }
    });
}

/// Runs one probe and returns its report.
async fn run(gateway: &Gateway, name: &str, probe: &Probe) -> ProbeReport {
    let log = ProbeLog::new(gateway.clock.clone());
    let (Ok(Ended { step, outcome }) | Err(Ended { step, outcome })) =
        all_steps(gateway, name, probe, &log).await;
    ProbeReport { lines: log.lines(), step, outcome }
}

async fn all_steps(gateway: &Gateway, name: &str, probe: &Probe, log: &ProbeLog) -> Result<Ended, Ended> {
    let settings = |outcome: String| Ended::at(ProbeStep::Settings, outcome);
    let catalogue = gateway.catalogue();
    let found = catalogue.carriers().iter().find(|(_, known, _)| known == name);
    let (_, _, carrier) = found.ok_or_else(|| settings(format!("carrier {name:?} not found")))?;
    let parts = probe.text.measure().parts;
    if parts > 1 {
        return Err(settings(format!("the text must fit in one part, and has {parts}")));
    }
    let password = sealed::open(&gateway.pepper, name, &carrier.password);
    let password = password.map_err(|unopened| settings(unopened.to_string()))?;
    let dialer = Dialer { gateway, carrier, password: &password, log };
    let mut wires = match carrier.profile.binds {
        LinkBinds::Transceiver => Wires::new(dialer.bind(BindType::Transceiver).await?, None),
        LinkBinds::TransmitterAndReceiver => {
            // The receiver first, so that it does not miss the receipt.
            let receiver = dialer.bind(BindType::Receiver).await?;
            match dialer.bind(BindType::Transmitter).await {
                Ok(transmitter) => Wires::new(transmitter, Some(receiver)),
                Err(ended) => {
                    Wires::new(receiver, None).leave().await;
                    return Err(ended);
                }
            }
        }
    };
    let ended = talk(gateway, name, carrier, probe, &mut wires).await;
    wires.leave().await;
    ended
}

/// Opens and binds connections as a carrier's settings say.
struct Dialer<'a> {
    gateway: &'a Gateway,
    carrier: &'a Carrier,
    password: &'a Secret,
    log: &'a ProbeLog,
}

impl Dialer<'_> {
    async fn bind(&self, kind: BindType) -> Result<ProbeConnection, Ended> {
        let &Dialer { gateway, carrier, password, log } = self;
        let stream = connect(&gateway.clock, carrier).await.map_err(|fault| {
            log.note(format!("could not connect to {}", carrier.address));
            Ended::at(ProbeStep::Connect, fault.to_string())
        })?;
        log.note(format!("connected to {}, {}", carrier.address, stream.described()));
        let windows = (WINDOW, INBOUND_MAX);
        let session = session_of(carrier, kind, password, windows, gateway.clock.moment());
        let session = session.map_err(|fault| {
            Ended::at(
                ProbeStep::Settings,
                format!("invalid carrier settings, no bind can be encoded: {fault}"),
            )
        })?;
        let mut wire =
            ProbeConnection::new(stream, session, super::deliver_sm::dialect(&carrier.profile), log.clone());
        let wait = Duration::from_millis(carrier.profile.bind_wait_ms).saturating_add(MARGIN);
        let until = gateway.clock.moment().plus(wait);
        loop {
            match wire.next(until).await {
                Some(SessionEvent::Bound { .. }) => return Ok(wire),
                Some(SessionEvent::BindRejected(status)) => return Err(bind_refused(status)),
                Some(SessionEvent::Closed(reason)) => return Err(not_bound(reason)),
                Some(_) => {}
                None => return Err(not_bound(CloseReason::BindTimeout)),
            }
        }
    }
}

fn bind_refused(status: CommandStatus) -> Ended {
    let hint = match status {
        CommandStatus::ALYBND => {
            "all binds of this account are in use: configure fewer links, or disable the carrier during the test"
        }
        CommandStatus::INVPASWD => "the password is wrong",
        CommandStatus::INVSYSID => "unknown system_id, or not allowed from this address",
        CommandStatus::INVSYSTYP => "the system_type is wrong",
        CommandStatus::BINDFAIL => {
            "no reason given; often the password, our source address, or the number of binds"
        }
        CommandStatus::INVCMDID => "the carrier does not support this bind type: change binds or version",
        CommandStatus::SYSERR | CommandStatus::X_T_APPN | CommandStatus::THROTTLED => {
            "an error at the carrier, or too many attempts: retry later"
        }
        _ => "ask the carrier what it means",
    };
    Ended::at(ProbeStep::Bind, format!("the carrier rejected the bind with {status}: {hint}"))
}

fn not_bound(reason: CloseReason) -> Ended {
    /// The first two octets of a TLS alert, which a TLS server sends to a plain client.
    const TLS_ALERT: u32 = 0x1503;
    let outcome = match reason {
        CloseReason::BadFrame(length) if length >> 16 == TLS_ALERT => {
            "the carrier uses TLS on this port: add tls to its settings, or use its plain port".to_owned()
        }
        CloseReason::BindTimeout => "the carrier did not answer the bind".to_owned(),
        CloseReason::ConnectionLost => {
            "the carrier closed the connection without answering the bind; perhaps our source address is not allowed, or \
             it uses TLS on this port"
                .to_owned()
        }
        other => other.to_string(),
    };
    Ended::at(ProbeStep::Bind, outcome)
}

/// Submits the message and waits for its receipt.
async fn talk(
    gateway: &Gateway,
    name: &str,
    carrier: &Carrier,
    probe: &Probe,
    wires: &mut Wires,
) -> Result<Ended, Ended> {
    let profile = &carrier.profile;
    let mut draft = PartEncoder::new(profile, name);
    draft.on_bound(wires.sender().session.peer_is_3_4());
    let part = PartToSend {
        number: PartNo::FIRST,
        of: 1,
        whole: false,
        from: probe.from,
        to: probe.to,
        text: &probe.text,
        encoding: probe.text.measure().encoding,
        reference: 0,
        expires_at: gateway.clock.now().plus(gateway.validity),
        tlvs: &[],
        options: None,
    };
    let unwritten = |why: String| {
        Ended::at(ProbeStep::Settings, format!("the message cannot be encoded as submit_sm: {why}"))
    };
    let pdu =
        draft.submit_sm(&part, gateway.clock.now()).ok_or_else(|| unwritten("no such part".to_owned()))?;
    let now = gateway.clock.moment();
    wires.sender().session.request(&pdu, (), now).map_err(|refused| unwritten(refused.to_string()))?;

    let mut receipts = ProbeReceipts::new(profile, super::deliver_sm::dialect(profile));
    let answer = answer_to_submit(gateway, carrier, wires, &mut receipts).await?;
    let remote = accepted(carrier, &answer)?;
    receipts.wait_for(gateway, wires, remote, probe.wait).await
}

/// Waits for the submit_sm_resp. Keeps receipts that come before it.
async fn answer_to_submit(
    gateway: &Gateway,
    carrier: &Carrier,
    wires: &mut Wires,
    receipts: &mut ProbeReceipts,
) -> Result<Frame, Ended> {
    let response_wait = Duration::from_millis(carrier.response_timeout_ms);
    let until = gateway.clock.moment().plus(response_wait.saturating_add(MARGIN));
    let no_answer = || {
        let waited = response_wait.as_secs_f32();
        Ended::at(
            ProbeStep::Submit,
            format!("submit_sm timed out after {waited} s; the carrier may have accepted the message"),
        )
    };
    loop {
        let Some((side, event)) = wires.next(until).await else { return Err(no_answer()) };
        match event {
            SessionEvent::Response { frame, .. } => return Ok(frame),
            SessionEvent::TimedOut { .. } => return Err(no_answer()),
            SessionEvent::Request(frame) => receipts.hold(side, frame, wires),
            SessionEvent::Closed(reason) if side == Side::Sender => {
                return Err(Ended::at(
                    ProbeStep::Submit,
                    format!(
                        "the link ended before the submit_sm_resp: {reason}; the carrier may have accepted the message"
                    ),
                ));
            }
            _ => {}
        }
    }
}

fn accepted(carrier: &Carrier, answer: &Frame) -> Result<RemoteId, Ended> {
    let status = answer.header.status;
    if !status.is_ok() {
        let (class, _) = carrier.profile.class_of(status.0);
        let outcome = format!("the carrier rejected the message with {status} (class {})", class.as_str());
        return Err(Ended::at(ProbeStep::Submit, outcome));
    }
    let id = match answer.decode() {
        Ok(Pdu::SubmitSmResp(answer)) => RemoteId::from_octets(answer.message_id).ok(),
        Ok(_) | Err(_) => None,
    };
    id.ok_or_else(|| {
        Ended::at(
            ProbeStep::Submit,
            "the carrier accepted the message without a message id: no receipt can be matched to it",
        )
    })
}

#[cfg(test)]
mod tests;
