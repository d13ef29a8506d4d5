//! May this message be sent, by whom, to whom, for how much and which way: everything about a submission that can be
//! judged from the catalogue alone, in the order that decides which refusal a customer sees. What only the store knows
//! (keys used, opt-outs, approvals of reviews, daily totals, the balance) is settled there, in the same order.

use crate::carrier::{DefaultAlphabet, Health, Profile};
use crate::catalogue::{AccountView, Catalogue, Connection, Countries, SenderStanding};
use crate::ids::CarrierId;
use crate::lifecycle::DoubtPolicy;
use crate::money::Money;
use crate::numbers::Numbers;
use crate::price::Asked;
use crate::refusal::Refusal;
use crate::route::Sending;
use crate::sender::{Sender, SenderRefusal};
use crate::submission::Submission;
use crate::text::{Encoding, Measure, MessageText};
use crate::time::Timestamp;
use std::sync::Arc;

/// A message that may be sent as far as the catalogue goes.
#[derive(Clone, Debug)]
pub struct Judged {
    pub from: Sender,
    /// What is sent: as given, or with plain punctuation if the connection asks for that.
    pub text: MessageText,
    /// What the customer is charged for, and told.
    pub encoding: Encoding,
    pub parts: u8,
    /// How it is sent. Differs where the carrier's alphabet lacks a character of a text that is too long for one part of
    /// UCS-2: then all of it is UCS-2, in as many parts as that takes.
    pub sent: Measure,
    pub cost: Money,
    pub carrier: CarrierId,
    /// That carrier takes long messages whole and splits them itself.
    pub whole: bool,
    pub doubt: DoubtPolicy,
}

/// How far a judgement got.
#[derive(Clone, Debug)]
pub enum Judgement {
    Fine(Judged),
    /// These screening rules found something: only with a person's approval.
    Screened {
        rules: Vec<Arc<str>>,
        from: Sender,
        otherwise: Result<Judged, Refusal>,
    },
    Refused(Refusal),
}

pub fn judge(
    catalogue: &Catalogue,
    view: &AccountView,
    connection: &Connection,
    submission: &Submission,
    now: Timestamp,
    health: &dyn Fn(CarrierId) -> Health,
) -> Judgement {
    let text = if connection.smart_encoding && submission.encoding.is_none() {
        submission.text.with_plain_punctuation()
    } else {
        submission.text.clone()
    };
    let measure = submission.measure(&text);
    let from = match sender_of(view, connection, submission, measure) {
        Ok(from) => from,
        Err(refusal) => return Judgement::Refused(refusal),
    };
    let destination = Numbers::embedded().find(submission.to);
    let sending = Sending { account: connection.account, from: &from, to: submission.to, destination };
    if !may_send_to(catalogue, view, &sending) {
        return Judgement::Refused(Refusal::CountryBlocked);
    }
    let rules = view.screened(&from, &text, measure.encoding);
    let judged = rate_and_route(catalogue, view, &sending, measure.parts, now, health).map(|way| {
        let Way { cost, carrier, whole, alphabet, doubt } = way;
        let Measure { encoding, parts } = measure;
        let sent = if whole { measure } else { as_sent(submission, &text, measure, alphabet) };
        Judged { from, text, encoding, parts, sent, cost, carrier, whole, doubt }
    });
    match (rules.is_empty(), judged) {
        (false, otherwise) => Judgement::Screened { rules, from, otherwise },
        (true, Ok(judged)) => Judgement::Fine(judged),
        (true, Err(refusal)) => Judgement::Refused(refusal),
    }
}

/// 400 for the sender and the parts, 403 for verification and the sender.
fn sender_of(
    view: &AccountView,
    connection: &Connection,
    submission: &Submission,
    Measure { parts, .. }: Measure,
) -> Result<Sender, Refusal> {
    let from = submission.from.or(connection.default_sender);
    let from = from.ok_or(Refusal::InvalidSender(SenderRefusal::NoDefault))?;
    if let Some(parts_max) = connection.max_parts.filter(|parts_max| parts > *parts_max) {
        return Err(Refusal::TooManyParts { parts, parts_max });
    }
    if !view.account.verified {
        return Err(Refusal::VerificationRequired);
    }
    match view.standing_of(&from) {
        SenderStanding::Approved => Ok(from),
        SenderStanding::NotApproved => Err(Refusal::SenderNotApproved(from)),
        SenderStanding::Blocked => Err(Refusal::SenderBlocked(from)),
    }
}

/// A number of no country is on nobody's list of countries. Where no route names its digits it is a mistake rather than a
/// country, and that is for the route to say.
fn may_send_to(catalogue: &Catalogue, view: &AccountView, sending: &Sending<'_>) -> bool {
    match (&view.account.countries, sending.destination.country) {
        (Countries::All, _) => true,
        (countries, Some(country)) => countries.allow(country),
        (Countries::Only(_), None) => catalogue.routes().serving(sending).is_none(),
    }
}

/// How a message is sent to a carrier with this alphabet. A part that fits UCS-2 by itself is written so when it is sent;
/// a longer text would have its missing characters replaced, so it is split anew.
fn as_sent(
    submission: &Submission,
    text: &MessageText,
    measure: Measure,
    alphabet: DefaultAlphabet,
) -> Measure {
    let is_cut_by_customer = submission.shape.as_ref().is_some_and(|shape| shape.is_one_part());
    if measure.encoding != Encoding::Gsm7 || is_cut_by_customer || alphabet.has_all_of(text.as_str()) {
        return measure;
    }
    let wide = text.measure_in(Encoding::Ucs2);
    if wide.parts > 1 { wide } else { measure }
}

struct Way {
    cost: Money,
    carrier: CarrierId,
    whole: bool,
    alphabet: DefaultAlphabet,
    doubt: DoubtPolicy,
}

fn rate_and_route(
    catalogue: &Catalogue,
    view: &AccountView,
    sending: &Sending<'_>,
    parts: u8,
    now: Timestamp,
    health: &dyn Fn(CarrierId) -> Health,
) -> Result<Way, Refusal> {
    let Sending { to, destination, .. } = sending;
    let route = catalogue.routes().serving(sending);
    if route.is_none() && destination.country.is_none() {
        return Err(Refusal::NoRoute);
    }
    let asked = Asked {
        to: *to,
        network: destination.network,
        mcc: destination.mcc(),
        country: destination.country,
        now,
    };
    let quote = view.prices().quote(asked, parts).ok_or(Refusal::NoPrice)?;
    let (_, route) = route.ok_or(Refusal::NoRoute)?;
    let carrier = route.choose(*to, health);
    let profile = catalogue.carrier(carrier).map(|carrier| &carrier.profile);
    let doubt = route.doubt().or_else(|| profile.and_then(|profile| profile.in_doubt));
    Ok(Way {
        cost: quote.cost,
        carrier,
        whole: profile.is_some_and(Profile::takes_whole_messages),
        alphabet: profile.map_or(DefaultAlphabet::Gsm, |profile| profile.alphabet),
        doubt: doubt.unwrap_or_default(),
    })
}

/// Opt-outs are known to the store only. A refusal that stands after them in the order of checks gives way to one.
pub const fn gives_way_to_opt_out(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::CountryBlocked
        | Refusal::HeldForReview
        | Refusal::NoPrice
        | Refusal::NoRoute
        | Refusal::TrafficControl { .. }
        | Refusal::InsufficientCredit { .. } => true,
        Refusal::InvalidJson(_)
        | Refusal::InvalidContentType
        | Refusal::BodyTooLarge { .. }
        | Refusal::MissingField(_)
        | Refusal::InvalidField { .. }
        | Refusal::InvalidNumber(_)
        | Refusal::InvalidSender(_)
        | Refusal::TextTooLong { .. }
        | Refusal::TooManyParts { .. }
        | Refusal::InvalidApiKey
        | Refusal::IpNotAllowed(_)
        | Refusal::LocalOnly
        | Refusal::VerificationRequired
        | Refusal::SenderNotApproved(_)
        | Refusal::SenderBlocked(_)
        | Refusal::RecipientOptedOut
        | Refusal::NotFound(_)
        | Refusal::MethodNotAllowed { .. }
        | Refusal::RateLimited { .. }
        | Refusal::SubmitFailed
        | Refusal::GatewayUnavailable { .. } => false,
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
