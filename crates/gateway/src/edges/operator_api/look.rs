//! Looking: at a number, at what an account sent today, at the error codes customers can meet.

use super::answer::{Amount, Answer, fine};
use super::asked::{Asked, Named, number as number_of, sender as sender_of};
use super::desk::Desk;
use super::explain::ExplainedShape;
use crate::app::operator::{self, ControlToday, Looked, Question, Traffic};
use crate::config::Period;
use crate::provision::{Most, MostAbroad};
use axum::extract::State;
use hermod_domain::refusal::Class;
use hermod_domain::refusal::published::{PUBLISHED, PublishedError};
use hermod_domain::traffic::{Control, Mode, TrafficRule};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberAsked {
    account: Option<String>,
    from: Option<String>,
}

/// What is not known is empty, as in the customers' own answers.
#[derive(Serialize, ToSchema)]
#[schema(as = LookUp)]
pub(super) struct NumberShape {
    number: String,
    country: &'static str,
    country_code: String,
    operator: &'static str,
    mcc: String,
    mnc: String,
    /// What a part costs the account, in its currency.
    per_part: Option<Amount>,
    currency: Option<String>,
    /// The price that decides: `shop/49@2027-01-01`, `US`.
    price: Option<String>,
    country_enabled: Option<bool>,
    /// Each reason why a message of one part would be refused now. Without an account nobody can be refused.
    refusals: Vec<String>,
    #[serde(flatten)]
    explained: ExplainedShape,
}

pub(super) async fn number(
    State(desk): State<Arc<Desk>>,
    Named(text): Named<String>,
    Asked(NumberAsked { account, from }): Asked<NumberAsked>,
) -> Answer {
    let from = from.as_deref().map(sender_of).transpose()?;
    let question = Question { to: number_of(&text)?, account, from };
    let Looked { number, destination, explained, account } =
        operator::look_up_number(&desk.world, &question, desk.running).await?;
    let price = account.as_ref().and_then(|account| account.price.as_ref());
    fine(&NumberShape {
        number: number.to_string(),
        country: destination.country_name(),
        country_code: destination.country.map(|country| country.to_string()).unwrap_or_default(),
        operator: destination.operator,
        mcc: destination.mcc().map(|mcc| mcc.to_string()).unwrap_or_default(),
        mnc: destination.network.map(|network| network.mnc.to_string()).unwrap_or_default(),
        per_part: price.map(|price| Amount(price.per_part)),
        currency: account.as_ref().map(|account| account.currency.to_string()),
        price: price.map(|price| price.name.clone()),
        country_enabled: account.as_ref().map(|account| account.country_enabled),
        refusals: account.as_ref().map(|account| account.refusals.clone()).unwrap_or_default(),
        explained: ExplainedShape::of(explained),
    })
}

#[derive(Serialize, ToSchema)]
#[schema(as = Traffic)]
pub(super) struct TrafficShape {
    day: String,
    messages: u64,
    spend: Amount,
    controls: Vec<ControlShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ControlToday)]
struct ControlShape {
    name: String,
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spend_per_day: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_per_day: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_recipient: Option<Most>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_range: Option<Most>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_country: Option<MostAbroad>,
    /// Messages it would have refused if it did more than watch, since the gateway started.
    would_have_refused: u64,
}

pub(super) async fn traffic(State(desk): State<Arc<Desk>>, Named(account): Named<String>) -> Answer {
    let Traffic { today, controls } = operator::traffic_today(&desk.world, &account).await?;
    fine(&TrafficShape {
        day: today.day.to_string(),
        messages: today.messages,
        spend: Amount(today.spend),
        controls: controls.into_iter().map(control_shape).collect(),
    })
}

fn control_shape(ControlToday { control, would_have_refused }: ControlToday) -> ControlShape {
    let Control { name, mode, rule, .. } = control;
    let mode = match mode {
        Mode::Enforce => "enforce",
        Mode::Watch => "watch",
    };
    let mut shape = ControlShape {
        name: name.to_string(),
        mode,
        spend_per_day: None,
        messages_per_day: None,
        per_recipient: None,
        per_range: None,
        per_country: None,
        would_have_refused,
    };
    let limit = |most, per_ms| Some(Most { most, per: Period(Duration::from_millis(per_ms)) });
    match rule {
        TrafficRule::SpendPerDay { most } => shape.spend_per_day = Some(Amount(most)),
        TrafficRule::MessagesPerDay { most } => shape.messages_per_day = Some(most),
        TrafficRule::PerRecipient { most, per_ms } => shape.per_recipient = limit(most, per_ms),
        TrafficRule::PerRange { most, per_ms } => shape.per_range = limit(most, per_ms),
        TrafficRule::PerCountry { most, per_ms, except } => {
            shape.per_country = Some(MostAbroad::of(most, per_ms, except));
        }
    }
    shape
}

#[derive(Serialize, ToSchema)]
#[schema(as = Errors)]
pub(super) struct ErrorsShape {
    items: Vec<ErrorShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ErrorRow)]
struct ErrorShape {
    code: &'static str,
    http: u16,
    smpp: String,
    permanent: bool,
    charged: bool,
    meaning: &'static str,
    what_to_do: &'static str,
}

pub(super) async fn errors() -> Answer {
    let items = PUBLISHED.iter().map(|row| {
        let PublishedError { code, http, smpp, smpp_extended: _, class, charged, meaning, what_to_do } = *row;
        let (smpp, permanent) = (format!("0x{smpp:08X}"), class == Class::Permanent);
        ErrorShape { code, http, smpp, permanent, charged, meaning, what_to_do }
    });
    fine(&ErrorsShape { items: items.collect() })
}
