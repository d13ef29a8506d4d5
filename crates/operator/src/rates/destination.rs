//! Resolves the destination of a row against the networks that were assigned. Spreadsheets drop the zeros of network codes; a code
//! that can be two networks is none.

use hermod_domain::area::Area;
use hermod_domain::numbers::{
    Country, Mcc, Mnc, Network, country_of_mcc, is_listed, listed_networks, mccs_of,
};
use hermod_domain::prefix::Prefix;

/// What stands for the networks of a country that have no row of their own.
const REST: [&str; 9] = ["", "*", "0", "00", "000", "all", "flat", "default", "other"];
/// Further words for the same.
const REST_WORDS: [&str; 3] = ["others", "rest", "any"];
/// Networks of one cell.
const NETWORKS_MAX: usize = 200;

/// The cells of a row that say where its price applies; empty without one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DestinationCells<'c> {
    pub(crate) country: &'c str,
    pub(crate) mcc: &'c str,
    pub(crate) mnc: &'c str,
    pub(crate) mccmnc: &'c str,
    pub(crate) prefix: &'c str,
}

/// A destination that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unresolved {
    pub(crate) sentence: String,
    /// Destinations that the row may be about; `None`: any.
    pub(crate) may_be: Option<Vec<Area>>,
}

impl Unresolved {
    fn new(sentence: String) -> Unresolved {
        Unresolved { sentence, may_be: None }
    }

    fn of_networks(sentence: String, networks: Vec<Network>) -> Unresolved {
        Unresolved { sentence, may_be: Some(networks.into_iter().map(Area::Network).collect()) }
    }
}

type Resolved<T> = Result<T, Unresolved>;

/// Returns the areas of a row: one, or one for each network of its cell.
pub(crate) fn resolve(cells: DestinationCells<'_>, six_digits: bool) -> Resolved<Vec<Area>> {
    let DestinationCells { country, mcc, mnc, mccmnc, prefix } = cells;
    if !mccmnc.is_empty() {
        return combined(mccmnc, six_digits);
    }
    if !mcc.is_empty() {
        return of_mcc(&whole(mcc), mnc, six_digits);
    }
    if !prefix.is_empty() {
        return prefix_area(prefix).map(|area| vec![area]);
    }
    match country {
        "" => Err(Unresolved::new("no destination".to_owned())),
        name => named_country(name).map(|country| vec![Area::Country(country)]),
    }
}

/// Returns a code without the zero that a spreadsheet put behind a point.
fn whole(code: &str) -> String {
    code.trim().strip_suffix(".0").unwrap_or(code.trim()).to_owned()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_rest(mnc: &str) -> bool {
    let mnc = mnc.to_lowercase();
    REST.contains(&mnc.as_str()) || REST_WORDS.contains(&mnc.as_str())
}

/// Reads `26201`, `26201.0`, `262-01`, `262 01`, `262001` or `DEFAULT 262`, or several of them.
fn combined(text: &str, six_digits: bool) -> Resolved<Vec<Area>> {
    let mut areas = Vec::new();
    for code in text.split([',', ';', '/']).map(str::trim).filter(|code| !code.is_empty()) {
        let code = whole(code);
        let parts: Vec<&str> = code.split(['-', ' ', '_', '.']).filter(|part| !part.is_empty()).collect();
        areas.extend(match parts.as_slice() {
            [joined] if joined.len() >= 3 && joined.is_char_boundary(3) => {
                let (mcc, mnc) = joined.split_at(3);
                of_mcc(mcc, mnc, six_digits)?
            }
            [word, mcc] if is_rest(word) => of_mcc(mcc, "", six_digits)?,
            [mcc, mnc] => of_mcc(mcc, mnc, six_digits)?,
            _ => return Err(Unresolved::new(format!("\"{code}\" is not an MCC with an MNC"))),
        });
    }
    limited(areas, text)
}

fn of_mcc(mcc: &str, mncs: &str, six_digits: bool) -> Resolved<Vec<Area>> {
    let code = mcc;
    let mcc = Mcc::parse(code).map_err(|refusal| Unresolved::new(format!("\"{code}\": {refusal}")))?;
    if listed_networks(mcc).next().is_none() {
        return Err(Unresolved::new(format!("there is no MCC {mcc}")));
    }
    if is_rest(mncs.trim()) || mncs.trim() == "0.0" {
        return Ok(vec![rest_of(mcc)]);
    }
    let codes = mncs.split([',', ';', '/', ' ', '+']).map(whole).filter(|code| !code.is_empty());
    let areas = codes.map(|code| network(mcc, &code, six_digits).map(Area::Network));
    limited(areas.collect::<Resolved<_>>()?, mncs)
}

fn limited(areas: Vec<Area>, text: &str) -> Resolved<Vec<Area>> {
    if (1..=NETWORKS_MAX).contains(&areas.len()) {
        return Ok(areas);
    }
    let begin: String = text.chars().take(40).collect();
    Err(Unresolved::new(format!("\"{begin}\" is not one to {NETWORKS_MAX} networks")))
}

/// Returns the area of all networks of an MCC: its country, if it has no other.
fn rest_of(mcc: Mcc) -> Area {
    let country = country_of_mcc(mcc).filter(|country| mccs_of(*country) == [mcc]);
    country.map_or(Area::Mcc(mcc), Area::Country)
}

/// Finds the network of a code that may have lost zeros in front, or got some.
fn network(mcc: Mcc, code: &str, six_digits: bool) -> Resolved<Network> {
    if !is_digits(code) || code.len() > 3 {
        return Err(Unresolved::new(format!("\"{code}\" is not an MNC")));
    }
    let named = |mnc: String| Mnc::parse(&mnc).ok().map(|mnc| Network { mcc, mnc });
    let listed = |mnc: String| named(mnc).filter(|network| is_listed(*network));
    let in_front = (code.len() + 1..=3).filter_map(|width| listed(format!("{code:0>width$}")));
    let mut can_be: Vec<Network> = listed(code.to_owned()).into_iter().chain(in_front).collect();
    if can_be.is_empty() && code.len() == 3 && six_digits {
        can_be.extend(code.strip_prefix('0').and_then(|mnc| listed(mnc.to_owned())));
    }
    // In countries with codes of three digits some write 26 for 260.
    let behind =
        if code.len() == 2 && listed(code.to_owned()).is_none() { listed(format!("{code}0")) } else { None };
    match (can_be.as_slice(), behind) {
        ([network], None) => Ok(*network),
        ([], None) => {
            let shorter = code.strip_prefix('0').and_then(|mnc| listed(mnc.to_owned()));
            let advice = match shorter {
                Some(network) => format!(
                    "; if codes are filled up to six digits it is {network}: six_digits in the rate profile"
                ),
                None => String::new(),
            };
            let may_be = named(format!("{code:0>2}")).into_iter().chain(shorter).collect();
            Err(Unresolved::of_networks(format!("there is no network {mcc}-{code}{advice}"), may_be))
        }
        (_, behind) => {
            let all: Vec<Network> = can_be.iter().copied().chain(behind).collect();
            let names = all.iter().map(Network::to_string).collect::<Vec<_>>().join(" or ");
            Err(Unresolved::of_networks(
                format!("{mcc}-{code} can be {names}: write the MNC with all its digits"),
                all,
            ))
        }
    }
}

fn prefix_area(text: &str) -> Resolved<Area> {
    let digits = whole(text);
    let digits = digits.strip_prefix('+').or_else(|| digits.strip_prefix("00")).unwrap_or(&digits);
    match Prefix::parse(digits).ok().filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => Ok(Area::Prefix(prefix)),
        None if text.trim() == "*" => Ok(Area::Prefix(Prefix::ANY)),
        None => Err(Unresolved::new(format!("\"{text}\" is not a prefix"))),
    }
}

/// Finds a country by its code or its English name.
fn named_country(text: &str) -> Resolved<Country> {
    if let Ok(country) = Country::parse(&text.to_ascii_uppercase()) {
        return Ok(country);
    }
    let plain = |name: &str| -> String {
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(text);
    let found = Country::all().iter().find(|country| plain(country.name()) == wanted);
    found
        .copied()
        .ok_or_else(|| Unresolved::new(format!("\"{text}\" is neither a country nor its two-letter code")))
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
