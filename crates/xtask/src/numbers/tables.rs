//! The tables the data is made from, as they were extracted from the packages or curated beside the code.

use std::collections::BTreeMap;
use std::path::Path;

use crate::shell::Failure;

/// A network as the list of networks has it.
#[derive(Debug, Clone)]
pub(crate) struct ListedNetwork {
    /// MCC and MNC, as in `262-01`.
    pub(crate) code: String,
    /// Several for the few that serve a group of islands.
    pub(crate) countries: Vec<String>,
    pub(crate) brand: String,
    pub(crate) operator: String,
    pub(crate) status: Status,
}

/// Better ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Operational,
    /// Assigned; whether it is in operation is not said.
    Unclear,
    /// No longer, or not yet, a network one can send to.
    Closed,
}

/// A person's word on which network an operator of ranges has.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) country: String,
    pub(crate) operator: String,
    /// Empty when there is certainly no single one.
    pub(crate) network: String,
    /// The brand or operator the list of networks gives it, or the reason why there is none.
    pub(crate) listed_as: String,
}

/// All of it.
pub(crate) struct Tables {
    /// Prefix to country code, empty for prefixes of no country.
    pub(crate) regions: BTreeMap<String, String>,
    /// Prefix to the operator's name.
    pub(crate) carriers: BTreeMap<String, String>,
    /// Code to English name.
    pub(crate) countries: BTreeMap<String, String>,
    pub(crate) networks: Vec<ListedNetwork>,
    /// Mobile country code to its countries, for the few that the list of networks has wrong.
    pub(crate) mccs: BTreeMap<String, String>,
    pub(crate) aliases: Vec<Alias>,
}

impl Tables {
    /// From the folder the packages were extracted to and the folder of curated tables.
    pub(crate) fn read(extracted: &Path, curated: &Path) -> Result<Tables, Failure> {
        let mut countries = pairs(&extracted.join("countries.tsv"))?;
        countries.extend(pairs(&curated.join("names.tsv"))?);
        // A curated empty name takes a country off the list.
        countries.retain(|_, name| !name.is_empty());
        let networks = rows::<6>(&extracted.join("networks.tsv"))?.into_iter().filter_map(network).collect();
        let aliases = rows::<4>(&curated.join("aliases.tsv"))?.into_iter().map(alias).collect();
        Ok(Tables {
            regions: pairs(&extracted.join("regions.tsv"))?,
            carriers: pairs(&extracted.join("carriers.tsv"))?,
            countries,
            networks,
            mccs: pairs(&curated.join("mccs.tsv"))?,
            aliases,
        })
    }
}

/// A row whose codes are codes: the list also has ranges of them, and question marks.
fn network([mcc, mnc, countries, brand, operator, status]: [String; 6]) -> Option<ListedNetwork> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if mcc.len() != 3 || !(2..=3).contains(&mnc.len()) || !digits(&mcc) || !digits(&mnc) {
        return None;
    }
    let status = match &*status {
        "Operational" => Status::Operational,
        "Unknown" | "Allocated" => Status::Unclear,
        _ => Status::Closed,
    };
    let countries = countries.split('/').map(str::to_owned).collect();
    Some(ListedNetwork { code: format!("{mcc}-{mnc}"), countries, brand, operator, status })
}

fn alias([country, operator, network, listed_as]: [String; 4]) -> Alias {
    Alias { country, operator, network, listed_as }
}

fn pairs(path: &Path) -> Result<BTreeMap<String, String>, Failure> {
    Ok(rows::<2>(path)?.into_iter().map(|[key, value]| (key, value)).collect())
}

fn rows<const FIELDS: usize>(path: &Path) -> Result<Vec<[String; FIELDS]>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Failure(format!("cannot read {}: {cause}", path.display())))?;
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let fields = fields.try_into().map_err(|_| {
            Failure(format!(
                "{}, line {number}: it must have {FIELDS} fields, with a tab between",
                path.display()
            ))
        })?;
        rows.push(fields);
    }
    Ok(rows)
}
