//! Finds the network of an operator. One package names the operators of number ranges, the other the operators of networks,
//! and their spellings differ. Names match if they are equal without case, accents, legal forms and words like "mobile", and
//! only if exactly one network matches. Other names need a curated alias or stay unknown: a wrong network is worse than none.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{Alias, ListedNetwork, Status};
use crate::shell::Failure;

/// Legal forms. They distinguish companies, not operators.
const LEGAL_FORMS: &str = "ab ad ag aps as asa berhad bhd bv cjsc co company corp corporation dd doo dooel eood gmbh inc \
    jsc kg kk limitada limited llc llp lp ltd ltda nv oao ohg ojsc oo ooo ou oy oyj pao pjsc plc private prjsc pt pte pty \
    public pvt rt sa sab sae sal saoc saog sarl sas sasu sau sdn se sia sl slu sp spa spol sro srl uab z zao zoo zrt";

/// Words that do not distinguish operators.
const GENERIC_WORDS: &str = "and cellular celular comunicaciones communication communications gsm group holding holdings \
    international mobil mobile mobiles movil network networks of operator phone service services solutions tel telecom \
    telecommunication telecommunications telecomunicacoes telecomunicaciones telecoms telekom the wireless";

/// How an operator's name was joined.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Joined {
    /// By a curated alias.
    Alias,
    /// By equal names.
    Name,
    /// A curated alias states that there is no single network.
    NoneByAlias,
    /// No network, or several candidates.
    None,
}

pub(crate) struct Join<'a> {
    by_country: BTreeMap<&'a str, Vec<Candidate<'a>>>,
    country_names: &'a BTreeMap<String, String>,
    aliases: BTreeMap<(&'a str, &'a str), &'a Alias>,
}

/// A network of a country, with all variants of its names.
struct Candidate<'a> {
    network: &'a ListedNetwork,
    names: BTreeSet<(Reading, Vec<String>)>,
}

impl<'a> Join<'a> {
    pub(crate) fn new(
        networks: &'a [ListedNetwork],
        country_names: &'a BTreeMap<String, String>,
        aliases: &'a [Alias],
    ) -> Join<'a> {
        let aliases = aliases.iter().map(|alias| ((&*alias.country, &*alias.operator), alias)).collect();
        let mut join = Join { by_country: BTreeMap::new(), country_names, aliases };
        for network in networks {
            for country in &network.countries {
                let readings =
                    |name: String| READINGS.map(|reading| (reading, join.read(&name, country, reading)));
                let candidate = Candidate { network, names: network.names().flat_map(readings).collect() };
                join.by_country.entry(country).or_default().push(candidate);
            }
        }
        join
    }

    /// Returns the code of the operator's network, such as `262-01`; empty if it is unknown.
    pub(crate) fn network_of(&self, country: &str, operator: &str) -> (&'a str, Joined) {
        if let Some(alias) = self.aliases.get(&(country, operator)) {
            let joined = if alias.network.is_empty() { Joined::NoneByAlias } else { Joined::Alias };
            return (&alias.network, joined);
        }
        let listed = self.by_country.get(country).map_or(&[][..], Vec::as_slice);
        for reading in READINGS {
            let wanted = (reading, self.read(operator, country, reading));
            if wanted.1.is_empty() {
                continue;
            }
            let found: Vec<&ListedNetwork> = listed
                .iter()
                .filter(|candidate| candidate.names.contains(&wanted))
                .map(|candidate| candidate.network)
                .collect();
            if !found.is_empty() {
                return only_choice(&found)
                    .map_or(("", Joined::None), |network| (&network.code, Joined::Name));
            }
        }
        ("", Joined::None)
    }

    /// The distinguishing words of a name.
    fn read(&self, name: &str, country: &str, reading: Reading) -> Vec<String> {
        let mut words = words(name);
        words.retain(|word| !contains(LEGAL_FORMS, word));
        if reading == Reading::Loose {
            let own_name = self.country_names.get(country).map(|name| self::words(name)).unwrap_or_default();
            words.retain(|word| !contains(GENERIC_WORDS, word) && !own_name.contains(word));
        }
        if reading != Reading::Strict {
            words = vec![words.concat()];
            words.retain(|word| !word.is_empty());
        }
        words
    }

    /// Fails unless every alias names an operator with ranges and a network that is listed under the given name, so that
    /// renames in a new release of a package are noticed.
    pub(crate) fn check_aliases(&self, operators: &BTreeSet<(String, String)>) -> Result<(), Failure> {
        let mut stale = Vec::new();
        for ((country, operator), alias) in &self.aliases {
            if !operators.contains(&((*country).to_owned(), (*operator).to_owned())) {
                stale.push(format!("{country} {operator}: no range belongs to it"));
            }
            let mut listed = self.by_country.values().flatten().map(|candidate| candidate.network);
            let names_match = |network: &&ListedNetwork| {
                network.code == alias.network
                    && (network.brand == alias.listed_as || network.operator == alias.listed_as)
            };
            if !alias.network.is_empty() && listed.find(names_match).is_none() {
                stale.push(format!(
                    "{country} {operator}: {} is not listed as {}",
                    alias.network, alias.listed_as
                ));
            }
        }
        if stale.is_empty() { Ok(()) } else { Err(Failure(format!("stale aliases:\n{}", stale.join("\n")))) }
    }
}

/// Strict names first: where "Orange" is listed, "Orange Business" is another operator.
const READINGS: [Reading; 3] = [Reading::Strict, Reading::Together, Reading::Loose];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// Word by word, without legal forms.
    Strict,
    /// The same written together: "Digi Mobil" is "DigiMobil".
    Together,
    /// Also without generic words and the country's name.
    Loose,
}

fn contains(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Of networks with the same name: the first that is in operation, provided one company runs all that are. A brand
/// whose networks are run by several companies, or in several parts of a country, leaves nothing to choose by.
fn only_choice<'a>(found: &[&'a ListedNetwork]) -> Option<&'a ListedNetwork> {
    let best = found.iter().map(|network| network.status).min()?;
    if best == Status::Closed {
        return None;
    }
    let mut alive = found.iter().filter(|network| network.status == best);
    let first = alive.clone().min_by_key(|network| &network.code)?;
    alive.all(|network| network.has_same_owner(first)).then_some(first)
}

impl ListedNetwork {
    /// The names it goes by: a field may list several.
    fn names(&self) -> impl Iterator<Item = String> {
        [&self.brand, &self.operator].into_iter().flat_map(|field| {
            let whole = std::iter::once(field.clone());
            whole.chain(field.split(['/', '(', ')', ',', ';']).map(|part| part.trim().to_owned()))
        })
    }

    fn has_same_owner(&self, other: &ListedNetwork) -> bool {
        let owner = |network: &ListedNetwork| {
            let mut words = words(&network.operator);
            words.retain(|word| !contains(LEGAL_FORMS, word));
            words
        };
        owner(self) == owner(other) || self.operator.is_empty() || other.operator.is_empty()
    }
}

/// Lower case, without accents and punctuation.
fn words(name: &str) -> Vec<String> {
    // Legal forms that are written with a slash would fall apart.
    let name = name.to_lowercase().replace("a/s", "as").replace("s/a", "sa");
    let mut words = vec![String::new()];
    for letter in name.chars() {
        let current = words.last_mut().expect("there is always a last word");
        match letter {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => current.push('a'),
            'ç' | 'ć' | 'č' => current.push('c'),
            'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' => current.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => current.push('i'),
            'ñ' | 'ń' | 'ň' => current.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' => current.push('o'),
            'š' | 'ş' | 'ș' | 'ś' => current.push('s'),
            'ţ' | 'ț' => current.push('t'),
            'ù' | 'ú' | 'û' | 'ü' | 'ū' | 'ů' => current.push('u'),
            'ž' | 'ź' | 'ż' => current.push('z'),
            // The first is what is left of a Turkish capital I in lower case.
            '\u{307}' | '\'' | '’' | '.' | '"' | '*' | '!' => {}
            letter if letter.is_alphanumeric() || letter == '+' => current.push(letter),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
