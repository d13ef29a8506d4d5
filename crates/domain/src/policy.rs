//! Checks a submission against the catalogue: sender, number of parts, verification, country, blocks, screening, price
//! and route, in the order that decides which refusal a customer gets. What only the store knows (idempotency keys,
//! opt-outs, approved reviews, daily totals, the balance) is checked there, in the same order.

use crate::believed_cost::BelievedCost;
use crate::carrier::{CarrierStatus, DefaultAlphabet, Profile};
use crate::catalogue::{AccountView, Catalogue, Connection, Countries, SenderStatus};
use crate::ids::{CarrierId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::message_costs::MessageCosts;
use crate::money::Money;
use crate::numbers::Numbers;
use crate::refusal::Refusal;
use crate::route::{CarrierChoice, ComparedCarrier, Occasion, RouteQuery};
use crate::screen::{Joined, Piece};
use crate::sender::{Sender, SenderRefusal};
use crate::submission::Submission;
use crate::text::{Encoding, Measure, MessageText};
use crate::time::Timestamp;
use std::iter::once_with;
use std::sync::Arc;

/// A message that passed the checks of the catalogue.
#[derive(Clone, Debug)]
pub struct AllowedMessage {
    pub from: Sender,
    /// The text to send: the customer's, or with smart encoding if the connection has it enabled.
    pub text: MessageText,
    /// The encoding and the parts that the customer is charged for and gets in the response.
    pub encoding: Encoding,
    pub parts: u8,
    /// The encoding and the parts that are sent. They differ where the carrier's alphabet lacks a character of the text
    /// and the text needs several parts of UCS-2.
    pub sent: Measure,
    pub cost: Money,
    pub carrier: CarrierId,
    /// What the carrier is believed to ask; `None` if that is not known.
    pub carrier_cost: Option<BelievedCost>,
    pub route: RouteId,
    pub choice: CarrierChoice,
    /// The carriers of the route as they were compared; none if it looks at no costs.
    pub compared: Option<Box<[ComparedCarrier]>>,
    /// Whether the message is sent as one submit_sm, which the carrier splits.
    pub whole: bool,
    pub doubt: DoubtPolicy,
}

impl AllowedMessage {
    /// Returns the margin if the message goes to a carrier that leaves less than the route wants.
    pub fn loss(&self) -> Option<Money> {
        let compared = self.compared.as_ref().filter(|_| self.choice == CarrierChoice::LeastLoss)?;
        compared.iter().find(|one| one.carrier == self.carrier)?.judgement.margin
    }
}

/// The result of the checks.
#[derive(Clone, Debug)]
pub enum PolicyDecision {
    Allowed(AllowedMessage),
    /// Screening rules matched: the message needs the operator's approval for each of these texts. `otherwise` is the result
    /// without them.
    Screened {
        matches: Vec<ScreenMatch>,
        from: Sender,
        otherwise: Result<AllowedMessage, Refusal>,
    },
    Refused(Refusal),
}

/// A text that screening rules match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenMatch {
    pub rules: Vec<Arc<str>>,
    /// What the operator reviews: the message, or the part with its neighbours.
    pub text: String,
}

/// Checks a message of an account against its setup: sender, parts, suspension, verification, country, blocks, screening rules,
/// price and route, in this order. Returns the first refusal, or the message as it is to be accepted, with its cost and carrier. A
/// message that matches screening rules is `Screened`, with the outcome that it has once the operator approves it. A part of a
/// message is screened together with its neighbours, `joined`. Opt-outs, traffic controls and credit are checked when the
/// message is accepted.
pub fn check_submission(
    catalogue: &Catalogue,
    view: &AccountView,
    connection: &Connection,
    submission: &Submission,
    joined: &[Joined],
    now: Timestamp,
    status: &dyn CarrierStatus,
) -> PolicyDecision {
    let text = text_to_send(connection, submission);
    let measure = submission.measure(&text);
    let from = match check_sender(view, connection, submission, measure) {
        Ok(from) => from,
        Err(refusal) => return PolicyDecision::Refused(refusal),
    };
    let destination = Numbers::embedded().find(submission.to);
    let query = RouteQuery { account: connection.account, from: &from, to: submission.to, destination };
    if !may_send_to(catalogue, view, &query) {
        return PolicyDecision::Refused(Refusal::CountryBlocked);
    }
    if view.block_to(submission.to, now).is_some() {
        return PolicyDecision::Refused(Refusal::DestinationBlocked);
    }
    let matches = screen(view, &from, submission, (&text, measure), joined);
    let otherwise = allow(catalogue, view, submission, &query, (&text, measure), now, status);
    if !matches.is_empty() {
        return PolicyDecision::Screened { matches, from, otherwise };
    }
    match otherwise {
        Ok(allowed) => PolicyDecision::Allowed(allowed),
        Err(refusal) => PolicyDecision::Refused(refusal),
    }
}

/// Returns the texts that screening rules match: the message, or each text that the part makes with its neighbours.
fn screen(
    view: &AccountView,
    from: &Sender,
    submission: &Submission,
    (text, measure): (&MessageText, Measure),
    joined: &[Joined],
) -> Vec<ScreenMatch> {
    if joined.is_empty() {
        let rules = view.screened(from, &[Piece { text: text.clone(), encoding: measure.encoding }]);
        let text = || submission.text.as_str().to_owned();
        return (!rules.is_empty()).then(|| ScreenMatch { rules, text: text() }).into_iter().collect();
    }
    let found = joined.iter().filter_map(|pieces| {
        let rules = view.screened(from, pieces);
        let text = || pieces.iter().map(|piece| piece.text.as_str()).collect();
        (!rules.is_empty()).then(|| ScreenMatch { rules, text: text() })
    });
    found.collect()
}

/// Returns the sender ID, or the first refusal about sender, parts, suspension and verification.
fn check_sender(
    view: &AccountView,
    connection: &Connection,
    submission: &Submission,
    Measure { parts, .. }: Measure,
) -> Result<Sender, Refusal> {
    let from = submission.from.or(connection.default_sender);
    let from = from.ok_or(Refusal::InvalidSender(SenderRefusal::NoDefault))?;
    match sender_refusals(view, connection, from, parts).next() {
        Some(refusal) => Err(refusal),
        None => Ok(from),
    }
}

/// Returns the refusals about parts, suspension, verification and sender ID, in the order of the checks. Each check runs when
/// its turn comes.
fn sender_refusals(
    view: &AccountView,
    connection: &Connection,
    from: Sender,
    parts: u8,
) -> impl Iterator<Item = Refusal> {
    let too_many = move || {
        let parts_max = connection.max_parts.filter(|parts_max| parts > *parts_max)?;
        Some(Refusal::TooManyParts { parts, parts_max })
    };
    let suspended = || view.account.suspended.is_some().then_some(Refusal::AccountSuspended);
    let unverified = || (!view.account.verified).then_some(Refusal::VerificationRequired);
    let not_allowed = move || match view.sender_status(&from) {
        SenderStatus::Approved => None,
        SenderStatus::NotApproved => Some(Refusal::SenderNotApproved(from)),
        SenderStatus::Blocked => Some(Refusal::SenderBlocked(from)),
    };
    let account = once_with(suspended).chain(once_with(unverified));
    once_with(too_many).chain(account).chain(once_with(not_allowed)).flatten()
}

/// Everything that the catalogue says about a submission, also after the first refusal.
#[derive(Clone, Debug)]
pub struct SubmissionPreview {
    /// The text as it would be sent.
    pub text: MessageText,
    /// The encoding and the parts that would be charged.
    pub measure: Measure,
    /// `None` without a sender in the submission and in the connection.
    pub from: Option<Sender>,
    /// The refusals about sender, parts, suspension and verification, in the order of the checks.
    pub sender_refusals: Vec<Refusal>,
    pub country_blocked: bool,
    /// Whether the operator blocks the number.
    pub destination_blocked: bool,
    /// The screening rules that match.
    pub rules: Vec<Arc<str>>,
    /// The message as it would be accepted, or why it has no price or route; `None` without a sender.
    pub priced: Option<Result<AllowedMessage, Refusal>>,
}

/// Runs the checks of [`check_submission`] without stopping at the first refusal, for people who want to know all of them
/// before they send.
pub fn preview_submission(
    catalogue: &Catalogue,
    view: &AccountView,
    connection: &Connection,
    submission: &Submission,
    now: Timestamp,
    status: &dyn CarrierStatus,
) -> SubmissionPreview {
    let text = text_to_send(connection, submission);
    let measure = submission.measure(&text);
    let Some(from) = submission.from.or(connection.default_sender) else {
        let no_sender = Refusal::InvalidSender(SenderRefusal::NoDefault);
        return SubmissionPreview {
            text,
            measure,
            from: None,
            sender_refusals: vec![no_sender],
            country_blocked: false,
            destination_blocked: false,
            rules: Vec::new(),
            priced: None,
        };
    };
    let destination = Numbers::embedded().find(submission.to);
    let query = RouteQuery { account: connection.account, from: &from, to: submission.to, destination };
    let priced = allow(catalogue, view, submission, &query, (&text, measure), now, status);
    SubmissionPreview {
        measure,
        from: Some(from),
        sender_refusals: sender_refusals(view, connection, from, measure.parts).collect(),
        country_blocked: !may_send_to(catalogue, view, &query),
        destination_blocked: view.block_to(submission.to, now).is_some(),
        rules: view.screened(&from, &[Piece { text: text.clone(), encoding: measure.encoding }]),
        priced: Some(priced),
        text,
    }
}

/// Returns the customer's text, with smart encoding if the connection has it enabled.
fn text_to_send(connection: &Connection, submission: &Submission) -> MessageText {
    if connection.smart_encoding && submission.encoding.is_none() {
        submission.text.with_plain_punctuation()
    } else {
        submission.text.clone()
    }
}

/// Returns the message with its price and route.
fn allow(
    catalogue: &Catalogue,
    view: &AccountView,
    submission: &Submission,
    query: &RouteQuery<'_>,
    (text, measure): (&MessageText, Measure),
    now: Timestamp,
    status: &dyn CarrierStatus,
) -> Result<AllowedMessage, Refusal> {
    let RouteQuery { to, destination, .. } = query;
    let route = catalogue.routes().serving(query);
    if route.is_none() && destination.country.is_none() {
        return Err(Refusal::NoRoute);
    }
    let cost = view.prices().cost(*to, destination, now, measure.parts).ok_or(Refusal::NoPrice)?;
    let (_, route) = route.ok_or(Refusal::NoRoute)?;
    let profile_of = |carrier| catalogue.carrier(carrier).map(|carrier| &carrier.profile);
    let sent_to = |carrier| measure_for_carrier(submission, text, measure, profile_of(carrier));
    let costs = MessageCosts {
        catalogue,
        query,
        price: cost,
        currency: view.account.currency,
        parts: &|carrier| sent_to(carrier).parts,
        status,
        now,
    };
    let ranking = route.rank(*to, Occasion::Submission, Some(&costs));
    let (carrier, choice) = ranking.choose(status).ok_or(Refusal::NoRoute)?;
    let profile = profile_of(carrier);
    let whole = profile.is_some_and(Profile::carrier_splits_messages);
    let doubt = route.rules().doubt.or_else(|| profile.and_then(|profile| profile.in_doubt));
    Ok(AllowedMessage {
        from: *query.from,
        text: text.clone(),
        encoding: measure.encoding,
        parts: measure.parts,
        sent: sent_to(carrier),
        cost,
        carrier,
        carrier_cost: catalogue.believed_cost(carrier, query, whole, now),
        route: route.id(),
        choice,
        compared: ranking.compared(),
        whole,
        doubt: doubt.unwrap_or_default(),
    })
}

/// Whether the account may send to the destination's country. A number that belongs to no country is blocked if a route
/// covers its digits; otherwise the route check refuses it.
fn may_send_to(catalogue: &Catalogue, view: &AccountView, query: &RouteQuery<'_>) -> bool {
    match (&view.account.countries, query.destination.country) {
        (_, Some(country)) => view.account.may_send_to(country),
        (Countries::All, None) => true,
        (Countries::Only(_), None) => catalogue.routes().serving(query).is_none(),
    }
}

/// Returns the encoding and the parts for a carrier. One that splits messages itself gets what the customer is charged for. A
/// single part that fits UCS-2 is converted when it is sent; a longer text would lose characters, so it is split again as UCS-2.
fn measure_for_carrier(
    submission: &Submission,
    text: &MessageText,
    measure: Measure,
    profile: Option<&Profile>,
) -> Measure {
    let alphabet = profile.map_or(DefaultAlphabet::Gsm, |profile| profile.alphabet);
    let is_cut_by_customer = submission.options.as_ref().is_some_and(|options| options.is_one_part());
    if profile.is_some_and(Profile::carrier_splits_messages)
        || measure.encoding != Encoding::Gsm7
        || is_cut_by_customer
        || alphabet.has_all_of(text.as_str())
    {
        return measure;
    }
    let ucs2 = text.measure_in(Encoding::Ucs2);
    if ucs2.parts > 1 { ucs2 } else { measure }
}

/// Whether a refusal comes after the opt-out check in the order of checks. The opt-out, which only the store knows,
/// takes precedence over such a refusal.
pub const fn is_checked_after_opt_out(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::CountryBlocked
        | Refusal::DestinationBlocked
        | Refusal::HeldForReview
        | Refusal::NoPrice
        | Refusal::NoRoute
        | Refusal::TrafficControl { .. }
        | Refusal::InsufficientCredit { .. }
        | Refusal::NoShortId { .. } => true,
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
        | Refusal::AccountSuspended
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
