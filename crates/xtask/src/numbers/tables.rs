//! The source tables of the number data: extracted from the packages, or curated beside the code.

use std::collections::BTreeMap;
use std::path::Path;

use crate::shell::Failure;

/// A row of the list of networks.
#[derive(Debug, Clone)]
pub(crate) struct ListedNetwork {
    /// MCC and MNC, as in `262-01`.
    pub(crate) code: String,
    /// Its countries; several for networks that serve a group of islands.
    pub(crate) countries: Vec<String>,
    pub(crate) brand: String,
    pub(crate) operator: String,
    pub(crate) status: Status,
}

/// Whether a network is in operation, the most useful state first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Operational,
    /// Assigned; unknown whether in operation.
    Unclear,
    /// Not in operation: closed or planned.
    Closed,
}

/// A curated alias: the network of an operator of number ranges.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) country: String,
    pub(crate) operator: String,
    /// Empty if the operator has no single network.
    pub(crate) network: String,
    /// The brand or operator in the list of networks, or the reason why there is no network.
    pub(crate) listed_as: String,
}

/// All source tables.
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
    /// Reads the tables from the folder of extracted ones and the folder of curated ones.
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

/// Parses a row; none if MCC and MNC are not numbers: the list also has ranges and question marks.
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
