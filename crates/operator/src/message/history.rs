//! Everything about one message, for people: its timeline with names and sentences.

use crate::message::costs::{MessageCostsView, costs_view};
use crate::message::search::message_view;
use crate::message::views::{ComparedCarrierView, HistoryView, MessageDetailView, StepView, status_text};
use crate::record::Names;
use crate::refusal::{OperatorRefusal, Result};
use crate::views::amount::Amount;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::route::{CarrierChoice, ComparedCarrier, Judgement};
use hermod_gateway::gateway::Gateway;
use hermod_store::record::{
    Canceller, CarrierWord, HistoryStep, LateResponse, MessageHistory, NextResend, Scope, StepKind, StepNote,
};

const GAP: &str = "Steps before this one are missing: the gateway was stopped or overloaded before they were recorded, or \
                   the record was rebuilt. The state and the money of the message are complete.";
const MORE: &str = "There were more steps than are kept of one message.";

/// Returns everything about one message of any account.
pub async fn show_message(gateway: &Gateway, id: &str) -> Result<MessageDetailView> {
    show_message_in(gateway, Scope::All, id).await
}

/// Returns everything about one message of an account.
pub async fn show_message_of(gateway: &Gateway, account: AccountId, id: &str) -> Result<MessageDetailView> {
    show_message_in(gateway, Scope::Account(account), id).await
}

async fn show_message_in(gateway: &Gateway, scope: Scope, id: &str) -> Result<MessageDetailView> {
    let missing = || OperatorRefusal::NotFound(format!("there is no message {id}"));
    let id = MessageId::parse(id).ok_or_else(missing)?;
    let history = gateway.store.record().message_history(scope, id).await?.ok_or_else(missing)?;
    let names = Names::of(gateway);
    let costs = match scope {
        Scope::All => costs_view(&names, &history.message),
        // Customers never see costs.
        Scope::Account(_) => None,
    };
    Ok(detail_of(&names, &history, costs))
}

fn detail_of(names: &Names, history: &MessageHistory, costs: Option<MessageCostsView>) -> MessageDetailView {
    let message = message_view(names, &history.message);
    let (route, choice) = history.route.unzip();
    let route = route.map(|route| names.route(route));
    let choice_word = choice.map(|choice| choice_word(choice).to_owned());
    let accepted = StepView {
        step: "accepted".to_owned(),
        cost: Some(message.cost),
        balance: history.balance.map(Amount),
        route: route.clone(),
        choice: choice_word.clone(),
        encoding: Some(message.encoding.clone()),
        parts: Some(message.parts),
        ..StepView::default()
    };
    let steps = history.steps.iter().map(|step| step_view(names, step));
    let history = HistoryView {
        charged_parts: history.charged_parts,
        balance: history.balance.map(Amount),
        request: history.request.clone(),
        route,
        choice: choice_word,
        why: choice.map(|choice| choice_sentence(choice).to_owned()),
        costs,
        carriers: history.compared.iter().map(|one| compared_view(names, one)).collect(),
        timeline: std::iter::once(accepted).chain(steps).collect(),
        record: history.status.into(),
    };
    MessageDetailView { message, history }
}

fn compared_view(
    names: &Names,
    ComparedCarrier { carrier, judgement }: &ComparedCarrier,
) -> ComparedCarrierView {
    let Judgement { cost, margin, exclusion } = judgement;
    ComparedCarrierView {
        carrier: names.carrier(*carrier),
        cost: cost.map(Amount),
        margin: margin.map(Amount),
        excluded: exclusion.map(|exclusion| exclusion.as_str().to_owned()),
    }
}

const fn choice_word(choice: CarrierChoice) -> &'static str {
    match choice {
        CarrierChoice::Only => "only",
        CarrierChoice::FirstUp => "first_up",
        CarrierChoice::FirstAble => "first_able",
        CarrierChoice::FirstDown => "first_down",
        CarrierChoice::First => "first",
        CarrierChoice::LeastLoss => "least_loss",
    }
}

const fn choice_sentence(choice: CarrierChoice) -> &'static str {
    match choice {
        CarrierChoice::Only => "The route has no other carrier.",
        CarrierChoice::FirstUp => "It was the first carrier of the route that was up.",
        CarrierChoice::FirstAble => "No carrier of the route was up, and it was the first that could send.",
        CarrierChoice::FirstDown => {
            "No carrier of the route could send, and it was the first that was expected to come back."
        }
        CarrierChoice::First => "All carriers of the route were switched off, and it was the first.",
        CarrierChoice::LeastLoss => "No carrier left the margin of the route, and it left most.",
    }
}

fn step_view(names: &Names, HistoryStep { at_ms, part, what }: &HistoryStep) -> StepView {
    let view = match what {
        StepNote::Step(kind) => {
            let part = is_of_part(kind).then(|| part.get());
            StepView { part, ..kind_view(names, kind) }
        }
        StepNote::Gap => noted("gap", GAP),
        StepNote::More => noted("more", MORE),
        StepNote::Stored { what, detail } => StepView { part: Some(part.get()), ..noted(what, detail) },
    };
    StepView { at_ms: *at_ms, ..view }
}

/// Returns the view of a step, without its time and part.
pub(crate) fn kind_view(names: &Names, kind: &StepKind) -> StepView {
    match kind {
        StepKind::Accepted { carrier, parts, .. } => {
            StepView { parts: Some(*parts), ..by_carrier(names, "accepted", *carrier) }
        }
        StepKind::Sent { carrier, link } => {
            StepView { link: Some(link.0.into()), ..by_carrier(names, "sent", *carrier) }
        }
        StepKind::Resent { carrier, link, resend } => StepView {
            link: Some(link.0.into()),
            attempt: Some(u32::from(*resend)),
            note: Some(format!("Resend {resend} after no response.")),
            ..by_carrier(names, "resent", *carrier)
        },
        StepKind::NotSent { carrier } => by_carrier(names, "not_sent", *carrier),
        StepKind::CarrierAccepted { carrier, remote } => StepView {
            carrier_id: Some(remote.to_text()),
            status: Some(status_text(0)),
            ..by_carrier(names, "carrier_accepted", *carrier)
        },
        StepKind::NoCarrierId { carrier } => StepView {
            status: Some(status_text(0)),
            note: Some("The carrier accepted the part without a usable message id.".to_owned()),
            ..by_carrier(names, "no_carrier_id", *carrier)
        },
        StepKind::CarrierIdReused { carrier, remote } => StepView {
            carrier_id: Some(remote.to_text()),
            ..by_carrier(names, "carrier_id_reused", *carrier)
        },
        StepKind::Throttled { carrier } => by_carrier(names, "throttled", *carrier),
        StepKind::TemporaryError { carrier, status } => answered(names, "temporary_error", *carrier, *status),
        StepKind::Rejected { carrier, status } => answered(names, "rejected", *carrier, *status),
        StepKind::Refused { carrier, status } => StepView {
            note: Some("The message continues with another carrier.".to_owned()),
            ..answered(names, "refused", *carrier, *status)
        },
        StepKind::InDoubt { carrier, next } => {
            StepView { note: Some(doubt_note(*next)), ..by_carrier(names, "in_doubt", *carrier) }
        }
        StepKind::LateResponse { carrier, response } => StepView {
            note: Some(late_note(*response).to_owned()),
            ..by_carrier(names, "late_response", *carrier)
        },
        StepKind::Moved { to: CarrierId::HELD, .. } => noted("held", "The operator holds the message."),
        StepKind::Moved { from: CarrierId::HELD, to } => by_carrier(names, "released", *to),
        StepKind::Moved { from, to } => between(names, "moved", *from, *to),
        StepKind::FailedOver { from, to } => between(names, "failed_over", *from, *to),
        _ => later_view(names, kind),
    }
}

/// Returns the view of a step after the carrier has the part.
fn later_view(names: &Names, kind: &StepKind) -> StepView {
    match kind {
        StepKind::Receipt { carrier, verdict, err, words } => StepView {
            words: Some(words.to_text()),
            ..receipt(by_carrier(names, "receipt", *carrier), *verdict, *err, None)
        },
        StepKind::LateReceipt { verdict, err, word } => {
            let view = noted("late_receipt", "A late or repeated receipt, which changed nothing.");
            receipt(view, *verdict, *err, word.as_ref())
        }
        StepKind::UnreadableReceipt { verdict, err, word } => {
            let view = noted("unknown_receipt", "A receipt with an unknown word, which changed nothing.");
            receipt(view, *verdict, *err, word.as_ref())
        }
        StepKind::Unknown => noted("unknown", "No receipt came in time: the message was reported UNKNOWN."),
        StepKind::Expired => noted("expired", "The validity of the message ended before it was sent."),
        StepKind::Cancelled { by: Canceller::Customer } => {
            noted("cancelled", "The customer cancelled the message.")
        }
        StepKind::Cancelled { by: Canceller::Operator } => {
            noted("cancelled", "The operator cancelled the message.")
        }
        StepKind::Reported { connection, report, status } => StepView {
            status: Some(status.word().to_owned()),
            ..reported(names, "reported", *connection, report.0)
        },
        StepKind::ReportAnswered { connection, report, status } => StepView {
            status: Some(status_text(*status)),
            ..reported(names, "report_answered", *connection, report.0)
        },
        StepKind::WebhookAttempt { event, attempt, status, took_ms } => StepView {
            event: Some(names.event(*event)),
            attempt: Some(*attempt),
            status: status.map(|status| status.to_string()),
            took_ms: Some(*took_ms),
            note: status.is_none().then(|| "The receiver did not respond.".to_owned()),
            ..named("webhook")
        },
        StepKind::State(state) => StepView { state: Some(state.as_str().to_owned()), ..named("state") },
        StepKind::Ended { state, code, err, refund, billable: _ } => StepView {
            state: Some(state.as_str().to_owned()),
            code: Some(code.as_str().to_owned()),
            err: Some(*err),
            refund: refund.map(Amount),
            ..named("ended")
        },
        _ => named("step"),
    }
}

/// Whether a step concerns one part.
const fn is_of_part(kind: &StepKind) -> bool {
    !matches!(
        kind,
        StepKind::Accepted { .. }
            | StepKind::Moved { .. }
            | StepKind::FailedOver { .. }
            | StepKind::Cancelled { .. }
            | StepKind::Reported { .. }
            | StepKind::ReportAnswered { .. }
            | StepKind::WebhookAttempt { .. }
            | StepKind::State(_)
            | StepKind::Ended { .. }
    )
}

fn named(step: &str) -> StepView {
    StepView { step: step.to_owned(), ..StepView::default() }
}

fn noted(step: &str, note: &str) -> StepView {
    StepView { note: Some(note.to_owned()), ..named(step) }
}

fn by_carrier(names: &Names, step: &str, carrier: CarrierId) -> StepView {
    StepView { carrier: Some(names.carrier(carrier)), ..named(step) }
}

fn answered(names: &Names, step: &str, carrier: CarrierId, status: u32) -> StepView {
    StepView { status: Some(status_text(status)), ..by_carrier(names, step, carrier) }
}

fn between(names: &Names, step: &str, from: CarrierId, to: CarrierId) -> StepView {
    StepView { from_carrier: Some(names.carrier(from)), ..by_carrier(names, step, to) }
}

fn reported(names: &Names, step: &str, connection: ConnectionId, report: u64) -> StepView {
    StepView { connection: Some(names.connection(connection)), report: Some(report), ..named(step) }
}

fn receipt(view: StepView, verdict: DeliveryOutcome, err: u16, word: Option<&CarrierWord>) -> StepView {
    let words = word.map(|CarrierWord(word)| word.to_string());
    StepView {
        state: Some(outcome_word(verdict).to_owned()),
        err: Some(err),
        words: words.or(view.words.clone()),
        ..view
    }
}

const fn outcome_word(outcome: DeliveryOutcome) -> &'static str {
    match outcome {
        DeliveryOutcome::Enroute => "enroute",
        DeliveryOutcome::Accepted => "accepted",
        DeliveryOutcome::Delivered => "delivered",
        DeliveryOutcome::Undeliverable => "undeliverable",
        DeliveryOutcome::Rejected => "rejected",
        DeliveryOutcome::Expired => "expired",
        DeliveryOutcome::NoChange => "no_change",
    }
}

fn doubt_note(next: Option<NextResend>) -> String {
    match next {
        Some(NextResend { number, max }) => format!("No response; resend {number} of {max} follows."),
        None => "No response and no resend left: the part counts as submitted.".to_owned(),
    }
}

const fn late_note(response: LateResponse) -> &'static str {
    match response {
        LateResponse::Accepted => "Accepted by a carrier that no longer has the message.",
        LateResponse::AcceptedWithoutId => {
            "Accepted without an id by a carrier that no longer has the message."
        }
        LateResponse::NotAccepted => "Not accepted by a carrier that no longer has the message.",
        LateResponse::Throttled => "Throttled by a carrier that no longer has the message.",
        LateResponse::TemporaryError => "A temporary error of a carrier that no longer has the message.",
        LateResponse::Refused => "Refused by a carrier that no longer has the message.",
        LateResponse::NoResponse => "No response of a carrier that no longer has the message.",
    }
}
