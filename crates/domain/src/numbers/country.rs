//! Countries by their ISO 3166-1 codes, with English names and mobile country codes. Three codes that ISO only
//! reserves have phone numbers of their own and are known too: Ascension Island (AC), Tristan da Cunha (TA) and
//! Kosovo (XK).

use std::fmt;
use std::sync::LazyLock;

use super::network::Mcc;

/// A country or territory by its two-letter code. Only listed countries can be constructed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// The text is not a country code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a country's two-letter code in capitals, as in DE")]
pub struct CountryRefusal;

impl Country {
    pub fn parse(text: &str) -> Result<Country, CountryRefusal> {
        let code = Country(text.as_bytes().try_into().map_err(|_| CountryRefusal)?);
        LISTED.position(code).map(|_| code).ok_or(CountryRefusal)
    }

    /// Returns all countries, by code.
    pub fn all() -> &'static [Country] {
        &LISTED.codes
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("two ASCII letters")
    }

    /// Returns the English name.
    pub fn name(self) -> &'static str {
        LISTED.details(self).name
    }
}

/// Returns the mobile country codes of a country, ascending; empty for countries without their own network.
pub fn mccs_of(country: Country) -> &'static [Mcc] {
    &LISTED.details(country).mccs
}

/// Returns the country of a mobile country code: the largest one where several share it; `None` for codes of no
/// country, such as satellite networks.
pub fn country_of_mcc(mcc: Mcc) -> Option<Country> {
    let found = LISTED.homes.binary_search_by_key(&mcc, |(listed, _)| *listed).ok()?;
    Some(LISTED.homes[found].1)
}

static LISTED: LazyLock<Listed> = LazyLock::new(|| Listed::read(include_str!("../../data/countries.tsv")));

struct Listed {
    /// Ascending.
    codes: Box<[Country]>,
    /// Of the country at the same index in `codes`.
    details: Box<[Details]>,
    /// Ascending.
    homes: Box<[(Mcc, Country)]>,
}

struct Details {
    name: &'static str,
    mccs: Box<[Mcc]>,
}

impl Listed {
    /// Parses lines of country code, name and MCCs; an MCC in brackets is shared and belongs to another country.
    fn read(text: &'static str) -> Listed {
        let mut codes = Vec::new();
        let mut details = Vec::new();
        let mut homes = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let mut next = || fields.next().expect("the file has three fields a line");
            let code = Country(next().as_bytes().try_into().expect("the file has codes of two letters"));
            let name = next();
            let mut mccs = Vec::new();
            for field in next().split_whitespace() {
                let borrowed = field.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                let mcc = Mcc::parse(borrowed.unwrap_or(field)).expect("the file has codes of three digits");
                mccs.push(mcc);
                if borrowed.is_none() {
                    homes.push((mcc, code));
                }
            }
            codes.push(code);
            details.push(Details { name, mccs: mccs.into() });
        }
        homes.sort();
        Listed { codes: codes.into(), details: details.into(), homes: homes.into() }
    }

    fn position(&self, code: Country) -> Option<usize> {
        self.codes.binary_search(&code).ok()
    }

    fn details(&self, country: Country) -> &Details {
        &self.details[self.position(country).expect("only listed countries can be made")]
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

text_form!(Country: CountryRefusal, by as_str);
debug_as_text!(Country);
