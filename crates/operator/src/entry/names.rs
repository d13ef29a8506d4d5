//! The names of entries. Most have a `name` field; routes, prices, senders, numbers and blocks are named by their key fields,
//! in a form for files, log lines and URL paths.

use crate::entry::values;
use crate::kind::Kind;
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::area::Area;
use hermod_domain::block::{BlockedNumbers, NumberList, NumberRange};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::cost::{FoundCost, SenderClass};
use hermod_domain::exchange::CurrencyPair;
use hermod_domain::money::Currency;
use hermod_domain::numbers::{Country, Mcc, Network};
use hermod_domain::price::{FoundPrice, PriceOwner};
use hermod_domain::sender::{Sender, SenderKind};
use hermod_domain::time::Timestamp;
use serde_json::{Map, Value};

/// The prefix of a mobile country code, which would otherwise look like a number prefix.
const MCC: &str = "mcc";
/// The error for a price or a route without exactly one area.
pub(crate) const ONE_AREA: &str = "needs exactly one of prefix, network, mcc and country";
/// Stands for every account.
const EVERYONE: &str = "*";
/// Before the name of the price list in the name of one of its prices. No account's name has a colon.
const OF_LIST: &str = "list:";

/// `ACCOUNT/SENDER`. An international number always has a plus.
pub(crate) fn of_sender(account: Option<&str>, sender: &Sender) -> String {
    format!("{}/{}", account.unwrap_or(EVERYONE), plainly(sender))
}

/// `NUMBER` or `NUMBER/KEYWORD`.
pub(crate) fn of_number(number: &Sender, keyword: Option<&str>) -> String {
    let keyword = keyword.map(|keyword| format!("/{keyword}")).unwrap_or_default();
    format!("{}{keyword}", plainly(number))
}

/// `[ACCOUNT/]AREA[@SENDER]`.
pub(crate) fn of_route(account: Option<&str>, area: Option<Area>, sender: Option<&Sender>) -> String {
    let owner = account.map(|account| format!("{account}/")).unwrap_or_default();
    let sender = sender.map(|sender| format!("@{}", plainly(sender))).unwrap_or_default();
    format!("{owner}{}{sender}", of_some_area(area))
}

/// `[ACCOUNT/]AREA[@FROM]`, `list:LIST/AREA[@FROM]`.
pub(crate) fn of_price(
    account: Option<&str>,
    list: Option<&str>,
    area: Option<Area>,
    from: Option<Timestamp>,
) -> String {
    let owner = match (account, list) {
        (_, Some(list)) => format!("{OF_LIST}{list}/"),
        (Some(account), None) => format!("{account}/"),
        (None, None) => String::new(),
    };
    format!("{owner}{}{}", of_some_area(area), since(from))
}

/// `CARRIER/AREA[:KIND][@FROM]`.
pub(crate) fn of_cost(
    carrier: &str,
    area: Option<Area>,
    sender_kind: Option<SenderClass>,
    from: Option<Timestamp>,
) -> String {
    let sender_kind = sender_kind.map(|kind| format!(":{}", kind.as_str())).unwrap_or_default();
    format!("{carrier}/{}{sender_kind}{}", of_some_area(area), since(from))
}

/// `USD-EUR[@FROM]`.
pub(crate) fn of_exchange_rate(pair: CurrencyPair, from: Option<Timestamp>) -> String {
    format!("{pair}{}", since(from))
}

fn since(from: Option<Timestamp>) -> String {
    from.map(|from| format!("@{}", values::when_shown(from))).unwrap_or_default()
}

/// `[ACCOUNT/]NUMBERS`, with a question mark for none.
pub(crate) fn of_block(account: Option<&str>, numbers: Option<BlockedNumbers>) -> String {
    let owner = account.map(|account| format!("{account}/")).unwrap_or_default();
    let numbers = match numbers {
        Some(BlockedNumbers::Prefix(prefix)) => values::of_prefix(prefix),
        Some(BlockedNumbers::Range(range)) => range.to_string(),
        Some(BlockedNumbers::List(list)) => list.as_str().to_owned(),
        None => "?".to_owned(),
    };
    format!("{owner}{numbers}")
}

/// Returns a question mark without an area.
fn of_some_area(area: Option<Area>) -> String {
    area.map_or_else(|| "?".to_owned(), Area::name)
}

fn plainly(sender: &Sender) -> String {
    match sender.kind() {
        SenderKind::International => format!("+{}", sender.address()),
        SenderKind::Alphanumeric | SenderKind::ShortCode => sender.as_str().to_owned(),
    }
}

/// The form of the names of a kind.
#[derive(Clone, Copy)]
pub(crate) struct NameForm {
    /// For a documentation.
    pub(crate) form: &'static str,
    pub(crate) example: &'static str,
    /// For the error about an invalid name.
    pub(crate) expected: &'static str,
}

impl NameForm {
    /// The form of a name without parts.
    pub(crate) const fn of_word(form: &'static str, example: &'static str) -> NameForm {
        NameForm { form, example, expected: "expected its name" }
    }
}

/// The canonical form of a name, and the fields that follow from it.
pub(crate) type ReadName = (String, Vec<(&'static str, String)>);

/// Parses a name. Returns its canonical form and the fields that follow from it.
pub(crate) fn read(kind: Kind, name: &str) -> ProvisionResult<(String, Map<String, Value>)> {
    let (name, fields) = (kind.description().read_name)(name).ok_or_else(|| {
        let sentence = format!("is not a valid {kind} name: {}", kind.description().name_form.expected);
        ProvisionRefusal::about(&format!("\"{name}\""), sentence)
    })?;
    let fields = fields.into_iter().map(|(field, value)| (field.to_owned(), Value::String(value)));
    Ok((name, fields.collect()))
}

pub(crate) fn read_price(name: &str) -> Option<ReadName> {
    read_since(name, |rest| match rest.strip_prefix(OF_LIST) {
        // A list is named, with a slash after it.
        Some(owned) => {
            let (area, fields) = read_owned_area(owned, "price_list").filter(|_| owned.contains('/'))?;
            Some((format!("{OF_LIST}{area}"), fields))
        }
        None => read_owned_area(rest, "account"),
    })
}

pub(crate) fn read_cost(name: &str) -> Option<ReadName> {
    read_since(name, |rest| {
        let (owned, kind) = match rest.split_once(':') {
            Some((owned, kind)) => (owned, Some(SenderClass::named(kind)?.as_str())),
            None => (rest, None),
        };
        let (area, mut fields) = read_owned_area(owned, "carrier").filter(|_| owned.contains('/'))?;
        fields.extend(kind.map(|kind| ("sender_kind", kind.to_owned())));
        Some((format!("{area}{}", kind.map(|kind| format!(":{kind}")).unwrap_or_default()), fields))
    })
}

pub(crate) fn read_exchange_rate(name: &str) -> Option<ReadName> {
    read_since(name, |rest| {
        let (base, quote) = rest.split_once('-')?;
        let pair = CurrencyPair { base: Currency::parse(base).ok()?, quote: Currency::parse(quote).ok()? };
        let fields = vec![("base", pair.base.to_string()), ("quote", pair.quote.to_string())];
        Some((pair.to_string(), fields))
    })
}

/// Reads a name and the time after its `@`, if it has one.
fn read_since(name: &str, read: impl FnOnce(&str) -> Option<ReadName>) -> Option<ReadName> {
    let (rest, from) = match name.split_once('@') {
        Some((rest, from)) => (rest, Some(values::when_of(from)?)),
        None => (name, None),
    };
    let (text, mut fields) = read(rest)?;
    fields.extend(from.map(|from| ("from", values::when_shown(from))));
    Some((format!("{text}{}", since(from)), fields))
}

pub(crate) fn read_route(name: &str) -> Option<ReadName> {
    let (rest, sender) = match name.split_once('@') {
        Some((rest, sender)) => (rest, Some(plainly(&Sender::parse(sender).ok()?))),
        None => (name, None),
    };
    let (text, mut fields) = read_owned_area(rest, "account")?;
    let whose = sender.as_ref().map(|sender| format!("@{sender}")).unwrap_or_default();
    fields.extend(sender.map(|sender| ("sender", sender)));
    Some((format!("{text}{whose}"), fields))
}

/// `[OWNER/]AREA`, where the owner is the value of this field.
fn read_owned_area(text: &str, owner_field: &'static str) -> Option<ReadName> {
    let (owner, what) = match text.split_once('/') {
        Some((owner, what)) => (Some(owner.to_owned()), what),
        None => (None, text),
    };
    let (area, field) = if let Some(mcc) = what.strip_prefix(MCC) {
        let mcc = Mcc::parse(mcc).ok()?.to_string();
        (format!("{MCC}{mcc}"), ("mcc", mcc))
    } else if what.contains('-') {
        let network = Network::parse(what).ok()?.to_string();
        (network.clone(), ("network", network))
    } else if what.len() == 2 && what.bytes().all(|letter| letter.is_ascii_alphabetic()) {
        let country = Country::parse(&what.to_ascii_uppercase()).ok()?.to_string();
        (country.clone(), ("country", country))
    } else {
        let prefix = values::of_prefix(values::prefix_of(what).ok()?);
        (prefix.clone(), ("prefix", prefix))
    };
    let before = owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
    let mut fields = vec![field];
    fields.extend(owner.map(|owner| (owner_field, owner)));
    Some((format!("{before}{area}"), fields))
}

pub(crate) fn read_block(name: &str) -> Option<ReadName> {
    let (account, what) = match name.split_once('/') {
        Some((account, what)) => (Some(account.to_owned()), what),
        None => (None, name),
    };
    let (field, numbers) = if let Some(list) = NumberList::parse(what) {
        ("list", BlockedNumbers::List(list))
    } else if what.contains('-') {
        ("range", BlockedNumbers::Range(NumberRange::parse(what).ok()?))
    } else {
        ("prefix", BlockedNumbers::Prefix(values::number_prefix_of(what).ok()?))
    };
    let canonical = of_block(account.as_deref(), Some(numbers));
    let mut fields = vec![(field, of_block(None, Some(numbers)))];
    fields.extend(account.map(|account| ("account", account)));
    Some((canonical, fields))
}

pub(crate) fn read_sender(name: &str) -> Option<ReadName> {
    let (account, sender) = name.split_once('/')?;
    let sender = Sender::parse(sender).ok()?;
    let account = (account != EVERYONE).then(|| account.to_owned());
    let mut fields = vec![("sender", plainly(&sender))];
    let canonical = of_sender(account.as_deref(), &sender);
    fields.extend(account.map(|account| ("account", account)));
    Some((canonical, fields))
}

pub(crate) fn read_number(name: &str) -> Option<ReadName> {
    let (number, keyword) = match name.split_once('/') {
        Some((number, keyword)) => (number, Some(keyword.to_ascii_uppercase())),
        None => (name, None),
    };
    let number = Sender::parse(number).ok().filter(|number| number.kind() != SenderKind::Alphanumeric)?;
    let canonical = of_number(&number, keyword.as_deref());
    let mut fields = vec![("number", plainly(&number))];
    fields.extend(keyword.map(|keyword| ("keyword", keyword)));
    Some((canonical, fields))
}

/// Returns the canonical form of an entry's name.
pub fn canonical_name(kind: Kind, name: &str) -> ProvisionResult<String> {
    read(kind, name).map(|(name, _)| name)
}

/// Returns the name of the price that was found for an account, such as `shop/49@2027-01-01` or `US`.
pub(crate) fn price_name(account: &str, found: &FoundPrice<'_>, catalogue: &Catalogue) -> String {
    let (account, list) = match found.owner {
        PriceOwner::General => (None, None),
        PriceOwner::List(list) => (None, catalogue.price_list_name(list)),
        PriceOwner::Account => (Some(account), None),
    };
    of_price(account, list, Some(found.area), started(found.price.from))
}

/// Returns the name of a cost that was found for a carrier, such as `north/49@2027-01-01`.
pub(crate) fn cost_name(carrier: &str, found: &FoundCost<'_>) -> String {
    of_cost(carrier, Some(found.area), found.sender_kind, started(found.terms.from))
}

/// Returns the start that stands in a name; none of what always applied.
fn started(from: Timestamp) -> Option<Timestamp> {
    (from != Timestamp::EPOCH).then_some(from)
}

/// RFC 5321 section 4.5.3.1.3, without the angle brackets.
const EMAIL_CHARS_MAX: usize = 254;

/// Returns an e-mail address in lower case; none if it cannot be one. Only a mail that arrives shows that it is.
pub fn canonical_email(text: &str) -> Option<String> {
    let (local, domain) = text.rsplit_once('@')?;
    let is_plain = |part: &str| part.bytes().all(|b| b.is_ascii_graphic() && !b"<>()[],;:\\\"/".contains(&b));
    let is_valid = !local.is_empty()
        && !local.contains('@')
        && domain.split('.').all(|label| !label.is_empty())
        && is_plain(text)
        && text.len() <= EMAIL_CHARS_MAX;
    is_valid.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
