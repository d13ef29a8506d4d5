//! What each kind of a customer's request means: which values it takes, and which change of the setup or the ledger accepts it.

use crate::entry::export::shown_one;
use crate::entry::names::canonical_name;
use crate::entry::plan::Plan;
use crate::entry::views::Fields;
use crate::find::connection_names;
use crate::input::{invalid, words};
use crate::kind::Kind;
use crate::refusal;
use crate::refusal::{OperatorRefusal, Result};
use crate::setup;
use crate::setup::file_entries::WantedSetup;
use crate::setup::json::wanted_entry;
use crate::setup::use_cases::plan_patch;
use hermod_domain::catalogue::{Account, Countries, SenderStatus, Tier, WINDOW_MAX};
use hermod_domain::customer_request::CustomerRequestKind;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::numbers::Country;
use hermod_domain::sender::Sender;
use hermod_domain::shown_number::NumberKind;
use hermod_gateway::gateway::Gateway;
use hermod_store::{CatalogueRow, CustomerRequest, LedgerEntry, LedgerKind};
use serde_json::{Value, json};

const SUBJECT_CHARS_MAX: usize = 120;
const RATE_MAX: u32 = 1_000_000;
const STANDARD: &str = "standard";
const ENTERPRISE: &str = "enterprise";

/// Checks what is requested or granted. Returns it as it is stored.
pub(crate) fn check_subject(
    gateway: &Gateway,
    account: AccountId,
    kind: CustomerRequestKind,
    text: &str,
    field: &'static str,
) -> Result<String> {
    let text = text.trim();
    match kind {
        CustomerRequestKind::Sender => {
            let sender = Sender::parse(text);
            sender.map_err(|refusal| invalid(field, format!("\"{text}\": {refusal}")))?;
            let owner = crate::find::account_name(gateway, account);
            let name = canonical_name(Kind::Sender, &format!("{owner}/{text}"))?;
            Ok(name.split_once('/').map_or(name.clone(), |(_, sender)| sender.to_owned()))
        }
        CustomerRequestKind::Country => {
            let country = Country::parse(&text.to_ascii_uppercase());
            let rule = format!("\"{text}\" is not a country code of two letters such as DE");
            country.map(|country| country.to_string()).map_err(|_| invalid(field, rule))
        }
        CustomerRequestKind::Number => words(field, text.to_owned(), 1, SUBJECT_CHARS_MAX),
        CustomerRequestKind::Verification => words(field, text.to_owned(), 0, SUBJECT_CHARS_MAX),
        CustomerRequestKind::Rate => number(text, RATE_MAX, field).map(|rate| rate.to_string()),
        CustomerRequestKind::Window => {
            number(text, u32::from(WINDOW_MAX), field).map(|window| window.to_string())
        }
        CustomerRequestKind::Tier => match text {
            STANDARD | ENTERPRISE => Ok(text.to_owned()),
            text => number(text, RATE_MAX, field).map(|rate| rate.to_string()).map_err(|_| {
                let rule = "is neither standard nor enterprise nor a number of parts per second";
                invalid(field, format!("\"{text}\" {rule}"))
            }),
        },
        CustomerRequestKind::TopUp => {
            let amount = Money::parse(text).map_err(|refusal| invalid(field, refusal))?;
            if amount <= Money::ZERO {
                return Err(invalid(field, "the amount must be more than zero"));
            }
            Ok(amount.to_string())
        }
    }
}

fn number(text: &str, most: u32, field: &'static str) -> Result<u32> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| invalid(field, format!("\"{text}\" is not a whole number from 1 to {most}")))
}

/// Returns why a request is not needed, if what it is for is in force already.
pub(crate) fn find_reason_not_needed(
    gateway: &Gateway,
    account: AccountId,
    kind: CustomerRequestKind,
    subject: &str,
) -> Option<&'static str> {
    let catalogue = gateway.catalogue();
    let view = catalogue.account(account)?;
    let is_in_force = match kind {
        CustomerRequestKind::Sender => {
            let sender = Sender::parse(subject).ok()?;
            view.sender_status(&sender) == SenderStatus::Approved
        }
        CustomerRequestKind::Country => view.account.countries.allow(Country::parse(subject).ok()?),
        CustomerRequestKind::Verification => view.account.verified,
        CustomerRequestKind::Tier => {
            let tier = match view.account.tier {
                Tier::Standard => STANDARD,
                Tier::Enterprise => ENTERPRISE,
            };
            view.account.smpp_rate.map_or(tier.to_owned(), |rate| rate.to_string()) == subject
        }
        CustomerRequestKind::Number
        | CustomerRequestKind::Rate
        | CustomerRequestKind::Window
        | CustomerRequestKind::TopUp => false,
    };
    let reason = match kind {
        CustomerRequestKind::Sender => "this sender is approved already",
        CustomerRequestKind::Country => "this country is on already",
        CustomerRequestKind::Verification => "the account is verified already",
        _ => "this is in force already",
    };
    is_in_force.then_some(reason)
}

/// Plans the change that accepts a request: of the setup, and of the ledger. A request that was fulfilled by hand changes
/// nothing.
pub(crate) fn plan_change(
    gateway: &Gateway,
    rows: Vec<CatalogueRow>,
    request: &CustomerRequest,
    granted: Option<&str>,
    done: bool,
) -> Result<(Plan, Vec<LedgerEntry>)> {
    let wanted = &request.request;
    if done {
        return Ok((no_change(gateway, rows)?, Vec::new()));
    }
    let value = match granted {
        Some(granted) => check_subject(gateway, wanted.account, wanted.kind, granted, "value")?,
        None => wanted.subject.clone(),
    };
    if wanted.kind == CustomerRequestKind::TopUp {
        let amount = Money::parse(&value).map_err(|refusal| invalid("value", refusal))?;
        // The customer reads it in the ledger.
        let shown = gateway.numbers.show(NumberKind::CustomerRequest, request.id);
        let entry = LedgerEntry {
            account: wanted.account,
            kind: LedgerKind::TopUp,
            amount,
            note: format!("Request {shown}"),
            reference: Some(format!("request {shown}")),
            now: gateway.clock.now(),
        };
        return Ok((no_change(gateway, rows)?, vec![entry]));
    }
    let plan = plan_setup(gateway, rows, request, &value, granted.is_some())?;
    Ok((plan, Vec::new()))
}

/// Plans the change of the setup for a value.
fn plan_setup(
    gateway: &Gateway,
    rows: Vec<CatalogueRow>,
    request: &CustomerRequest,
    value: &str,
    is_granted: bool,
) -> Result<Plan> {
    let id = request.request.account;
    let account = crate::find::account_name(gateway, id);
    let patch = |kind, name: &str, patch: Value| {
        let patch = patch.as_object().cloned().unwrap_or_default();
        plan_patch(gateway, rows.clone(), kind, name, |_| Ok(patch)).map(|(_, plan)| plan)
    };
    let of_connection = |field: &str| {
        let names = connection_names(gateway, id);
        let wanted = request.request.connection;
        let connection = names.into_iter().find(|(id, _)| Some(*id) == wanted);
        let (_, name) = connection.ok_or_else(|| invalid("value", "its connection does not exist"))?;
        let number: u32 = number(value, RATE_MAX, "value")?;
        patch(Kind::Connection, &name, json!({ field: number }))
    };
    match request.request.kind {
        CustomerRequestKind::Sender => approve_sender(gateway, rows.clone(), id, &account, value),
        CustomerRequestKind::Country => match with_country(gateway, id, value) {
            Some(countries) => patch(Kind::Account, &account, json!({ "countries": countries })),
            None => no_change(gateway, rows.clone()),
        },
        CustomerRequestKind::Number if is_granted => add_number(gateway, rows.clone(), &account, value),
        CustomerRequestKind::Number => {
            Err(invalid("value", "name the number that the account gets, or accept the request as done"))
        }
        CustomerRequestKind::Verification => patch(Kind::Account, &account, json!({ "verified": true })),
        CustomerRequestKind::Rate => of_connection("rate"),
        CustomerRequestKind::Window => of_connection("window"),
        CustomerRequestKind::Tier => match value.parse::<u32>() {
            Ok(rate) => patch(Kind::Account, &account, json!({ "smpp_rate": rate })),
            Err(_) => patch(Kind::Account, &account, json!({ "tier": value, "smpp_rate": null })),
        },
        CustomerRequestKind::TopUp => no_change(gateway, rows.clone()),
    }
}

fn no_change(gateway: &Gateway, rows: Vec<CatalogueRow>) -> Result<Plan> {
    Ok(setup::prepare_over(rows, Vec::new(), &gateway.pepper, &WantedSetup::default(), gateway.clock.now())?)
}

/// Plans an entry as a whole.
fn plan_entry(
    gateway: &Gateway,
    rows: Vec<CatalogueRow>,
    kind: Kind,
    name: &str,
    fields: &Value,
) -> Result<Plan> {
    let fields: Fields = fields.as_object().cloned().unwrap_or_default();
    let (_, wanted) = wanted_entry(kind, name, fields)?;
    let wanted = wanted.judged_by(gateway.webhook_rules.clone());
    Ok(setup::prepare_over(rows, Vec::new(), &gateway.pepper, &wanted, gateway.clock.now())?)
}

fn approve_sender(
    gateway: &Gateway,
    rows: Vec<CatalogueRow>,
    id: AccountId,
    account: &str,
    sender: &str,
) -> Result<Plan> {
    let fields = json!({ "state": "approved" });
    let plan = plan_entry(gateway, rows, Kind::Sender, &format!("{account}/{sender}"), &fields)?;
    let parsed = Sender::parse(sender).map_err(|refusal| invalid("value", refusal))?;
    let status = plan.catalogue.account(id).map(|view| view.sender_status(&parsed));
    if status == Some(SenderStatus::Approved) {
        return Ok(plan);
    }
    Err(invalid("value", format!("sender \"{sender}\" is blocked for every account")))
}

/// Returns the countries of an account with one more; none if all are on.
fn with_country(gateway: &Gateway, account: AccountId, country: &str) -> Option<Vec<String>> {
    let catalogue = gateway.catalogue();
    let Account { countries, .. } = &catalogue.account(account)?.account;
    let Countries::Only(enabled) = countries else { return None };
    let mut all: Vec<String> = enabled.iter().map(Country::to_string).collect();
    if !all.iter().any(|code| code == country) {
        all.push(country.to_owned());
    }
    Some(all)
}

fn add_number(gateway: &Gateway, rows: Vec<CatalogueRow>, account: &str, number: &str) -> Result<Plan> {
    let name = canonical_name(Kind::Number, number)?;
    if shown_one(&rows, Kind::Number, &name).map_err(refusal::ProvisionRefusal::from)?.is_some() {
        return Err(OperatorRefusal::AlreadyExists { kind: Kind::Number.as_str(), name });
    }
    plan_entry(gateway, rows, Kind::Number, &name, &json!({ "account": account }))
}
