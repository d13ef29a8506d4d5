//! Destinations: prices and coverage of every country, countries switched on and off, and the price of one number.

use crate::elements::{Chip, Fact, PageLink, Tone};
use crate::forms::{Field, Select};
use crate::layout::{NavEntry, Shell, url_query};
use crate::numbers::amount;
use crate::request::extract::{MemberForm, Query};
use crate::request::member::Member;
use crate::request::remedies;
use crate::request::reply::{NoPage, Reply, fault, page, page_again, sentence};
use crate::request::shown::time;
use crate::time::Time;
use askama::Template;
use hermod_domain::permission::Permission;
use hermod_operator::csv::{Cell, push_headings, push_row};
use hermod_operator::destination::{DestinationView, list_destinations, switch_country};
use hermod_operator::lookup::use_cases::{HasLinks, look_up_number};
use hermod_operator::lookup::views::{LookupQuery, LookupView};
use hermod_operator::views::amount::Amount;
use serde::Deserialize;

/// `GET /accounts/{account}/destinations?country=…&show=…&after=…&number=…`. Posts to `destinations/switch` (`on` or `off`, a
/// country code).
#[derive(Clone, Debug, Template)]
#[template(path = "destinations.html")]
pub struct DestinationsPage {
    pub shell: Shell,
    pub currency: String,
    /// The number of the question what a message to it costs.
    pub number: Field,
    pub answer: Option<NumberAnswer>,
    /// A part of a country's name, or its code.
    pub country: Field,
    /// All, or only those with a price, switched on, or switched off.
    pub show: Select,
    pub is_filtered: bool,
    /// By name.
    pub rows: Vec<DestinationRow>,
    pub next: Option<String>,
    /// All prices as CSV.
    pub export: String,
    /// Where another country is requested; `None` if the role may not, or where that page does not exist.
    pub request: Option<String>,
    /// Whether the role may switch countries.
    pub can_change: bool,
}

/// What a message to a number would cost, and whether it would be accepted.
#[derive(Clone, Debug)]
pub struct NumberAnswer {
    pub state: Chip,
    /// `A part to +4915112345678 costs 0.05 EUR.`
    pub text: String,
    pub facts: Vec<Fact>,
    /// Why a message would be rejected now, each with the place to do something about it.
    pub rejections: Vec<NumberRejection>,
}

/// A reason for a rejection.
#[derive(Clone, Debug)]
pub struct NumberRejection {
    pub code: String,
    pub text: String,
    pub remedy: PageLink,
}

/// A country.
#[derive(Clone, Debug)]
pub struct DestinationRow {
    pub country: String,
    pub code: String,
    /// Such as `0.05` or `0.045 to 0.08`; `None` without a price.
    pub price: Option<String>,
    /// The next price and when it begins.
    pub next: Option<(String, Time)>,
    /// Whether a route exists: for all its networks, for some, for none.
    pub coverage: Chip,
    /// On, off, or not permitted by the operator.
    pub state: Chip,
    pub switch: Switch,
}

/// What the customer can do about a country.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
    /// Only the operator can permit it.
    Request,
}

impl DestinationRow {
    pub fn can_switch_on(&self) -> bool {
        self.switch == Switch::On
    }

    pub fn can_switch_off(&self) -> bool {
        self.switch == Switch::Off
    }

    pub fn is_request(&self) -> bool {
        self.switch == Switch::Request
    }
}

/// Countries of a page.
const ROWS: usize = 50;

const SHOWN: [(&str, &str); 4] =
    [("", "With a price"), ("on", "Switched on"), ("off", "Off or not permitted"), ("all", "All countries")];

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DestinationFilter {
    country: String,
    show: String,
    after: String,
    number: String,
}

/// `GET /accounts/{account}/destinations`.
pub(crate) async fn list(member: Member, Query(filter): Query<DestinationFilter>) -> Reply {
    member.require(Permission::ReadMoney)?;
    Ok(page(&page_of(&member, filter).await?))
}

async fn page_of(member: &Member, filter: DestinationFilter) -> Result<DestinationsPage, NoPage> {
    let shell = member.shell(NavEntry::Destinations);
    let found = list_destinations(member.gateway(), &member.account_name)?;
    let wanted = filter.country.trim().to_lowercase();
    let fits = |item: &&DestinationView| {
        let is_named = item.country.to_lowercase().contains(&wanted) || item.code.to_lowercase() == wanted;
        is_named && is_shown(item, &filter.show) && item.country.as_str() > filter.after.as_str()
    };
    let mut fitting: Vec<&DestinationView> = found.items.iter().filter(fits).take(ROWS + 1).collect();
    let has_more = fitting.len() > ROWS;
    fitting.truncate(ROWS);
    let next = fitting.last().filter(|_| has_more).map(|last| next_page(&shell, &filter, &last.country));
    let (number, answer) = answer(member, &shell, &filter.number).await?;
    let can_request = member.may(Permission::MakeRequests) && shell.can_open(&NavEntry::Requests);
    Ok(DestinationsPage {
        currency: found.currency,
        number,
        answer,
        country: Field::new(filter.country.clone()),
        show: Select::new(SHOWN, &filter.show),
        is_filtered: !wanted.is_empty() || !filter.show.is_empty(),
        rows: fitting.into_iter().map(row).collect(),
        next,
        export: shell.path("destinations.csv"),
        request: can_request.then(|| format!("{}?kind=country", shell.path("requests"))),
        can_change: member.may(Permission::ChangeSetup),
        shell,
    })
}

fn is_shown(item: &DestinationView, show: &str) -> bool {
    match show {
        "all" => true,
        "on" => item.permitted && !item.switched_off,
        "off" => !item.permitted || item.switched_off,
        _ => item.networks.iter().any(|network| network.per_part.is_some() || network.next.is_some()),
    }
}

fn next_page(shell: &Shell, filter: &DestinationFilter, after: &str) -> String {
    let fields = url_query(&[("country", &filter.country), ("show", &filter.show), ("after", after)]);
    format!("{}?{fields}", shell.path("destinations"))
}

fn row(item: &DestinationView) -> DestinationRow {
    let routed = item.networks.iter().filter(|network| network.has_route).count();
    let coverage = match routed {
        0 => Chip::new(Tone::Neutral, "No route"),
        routed if routed == item.networks.len() => Chip::new(Tone::Good, "All networks"),
        _ => Chip::new(Tone::Warning, "Some networks"),
    };
    let (state, switch) = match (item.permitted, item.switched_off) {
        (true, false) => (Chip::new(Tone::Good, "On"), Switch::Off),
        (true, true) => (Chip::new(Tone::Stopped, "Off"), Switch::On),
        (false, _) => (Chip::new(Tone::Neutral, "Not permitted"), Switch::Request),
    };
    let next = item.next_range().and_then(|(from, prices)| {
        let prices = prices.map_or_else(|| "none".to_owned(), range_words);
        Some((prices, time(from)?))
    });
    DestinationRow {
        country: item.country.clone(),
        code: item.code.clone(),
        price: item.price_range().map(range_words),
        next,
        coverage,
        state,
        switch,
    }
}

fn range_words((least, most): (Amount, Amount)) -> String {
    let (least, most) = (amount(&least.to_string()), amount(&most.to_string()));
    if least == most { least } else { format!("{least} to {most}") }
}

/// Answers what a message to a number costs.
async fn answer(
    member: &Member,
    shell: &Shell,
    number: &str,
) -> Result<(Field, Option<NumberAnswer>), NoPage> {
    let number = number.trim();
    if number.is_empty() {
        return Ok((Field::default(), None));
    }
    let query = LookupQuery { account: Some(member.account_name.clone()), from: None };
    match look_up_number(member.gateway(), number, query, HasLinks(true)).await {
        Ok(view) => Ok((Field::new(view.number.clone()), Some(answer_of(shell, view)))),
        Err(refusal) => Ok((Field::invalid(number, fault(refusal)?), None)),
    }
}

fn answer_of(shell: &Shell, view: LookupView) -> NumberAnswer {
    let currency = view.currency.unwrap_or_default();
    let text = match view.per_part {
        Some(price) => {
            format!("A part to {} costs {} {currency}.", view.number, amount(&price.to_string()))
        }
        None => format!("There is no price for {}.", view.number),
    };
    let or_unknown = |text: &str| if text.is_empty() { "Unknown".to_owned() } else { text.to_owned() };
    let network = match (view.operator.is_empty(), view.mnc.is_empty()) {
        (true, _) => "Unknown".to_owned(),
        (false, true) => view.operator,
        (false, false) => format!("{} ({}-{})", view.operator, view.mcc, view.mnc),
    };
    let yes_or_no = |yes: bool| if yes { "Yes" } else { "No" };
    let rejections: Vec<NumberRejection> = view
        .refusals
        .iter()
        .map(|refusal| {
            let (code, text) = refusal.split_once(": ").unwrap_or(("", refusal));
            let is_code = code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            let (code, text) = if is_code { (code, text) } else { ("", refusal.as_str()) };
            NumberRejection {
                code: code.to_owned(),
                text: sentence(text),
                remedy: remedies::place(shell, code),
            }
        })
        .collect();
    NumberAnswer {
        state: match rejections.is_empty() {
            true => Chip::new(Tone::Good, "Can be sent"),
            false => Chip::new(Tone::Bad, "Rejected now"),
        },
        text,
        facts: vec![
            Fact::new("Country", or_unknown(&view.country)),
            Fact::new("Network", network),
            Fact::new("Route", yes_or_no(view.explanation.route.is_some())),
            Fact::new("Switched on", yes_or_no(view.country_enabled.unwrap_or(false))),
        ],
        rejections,
    }
}

/// `GET /accounts/{account}/destinations.csv`.
pub(crate) async fn export(member: Member) -> Reply {
    member.require(Permission::ReadMoney)?;
    let found = list_destinations(member.gateway(), &member.account_name)?;
    let mut text = String::new();
    let headings = [
        "country",
        "code",
        "operator",
        "mcc",
        "mnc",
        "price_per_part",
        "currency",
        "next_price",
        "next_from",
        "route",
        "sending",
    ];
    push_headings(&mut text, &headings);
    for item in found.items.iter().filter(|item| is_shown(item, "")) {
        let sending = match (item.permitted, item.switched_off) {
            (true, false) => "on",
            (true, true) => "off",
            (false, _) => "not permitted",
        };
        for network in item.networks.iter() {
            let next = network.next.as_ref();
            let cells = [
                Cell::Text(&item.country),
                Cell::Text(&item.code),
                Cell::Text(&network.operator),
                Cell::Text(&network.mcc),
                Cell::Text(&network.mnc),
                Cell::number(network.per_part),
                Cell::Text(&found.currency),
                Cell::number(next.and_then(|next| next.per_part)),
                Cell::text(next.map(|next| &next.from)),
                Cell::Text(if network.has_route { "yes" } else { "no" }),
                Cell::Text(sending),
            ];
            push_row(&mut text, &cells);
        }
    }
    Ok(member.csv_of_today("prices", text))
}

#[derive(Deserialize)]
pub(crate) struct SwitchForm {
    on: Option<String>,
    off: Option<String>,
}

/// `POST /accounts/{account}/destinations/switch`.
pub(crate) async fn switch(MemberForm { member, form }: MemberForm<SwitchForm>) -> Reply {
    member.require(Permission::ChangeSetup)?;
    let (country, is_on) = match form {
        SwitchForm { on: Some(country), off: None } => (country, true),
        SwitchForm { on: None, off: Some(country) } => (country, false),
        SwitchForm { .. } => return Err(NoPage::StaleForm),
    };
    // Expensive countries are where stolen sessions are used.
    if is_on {
        member.require_confirmed("destinations")?;
    }
    let acting = member.acting();
    match switch_country(&acting, &member.account_name, &country, is_on).await {
        Ok(()) if is_on => Ok(member.done("destinations", "country-on")),
        Ok(()) => Ok(member.done("destinations", "country-off")),
        Err(refusal) => {
            let error = fault(refusal)?;
            let mut shown = page_of(&member, DestinationFilter::default()).await?;
            shown.country = Field::invalid(country, error);
            Ok(page_again(&shown))
        }
    }
}
