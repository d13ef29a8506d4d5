//! `cargo xtask numbers`: builds the data files with the country, operator and network of a phone number, from
//! packages of pinned versions. `docs/number-data.md` names them and explains how their tables are joined.

mod join;
mod shape;
mod sources;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use clap::Args;

use crate::shell::{self, Failure, Outcome};
use join::{Join, Joined};
use shape::{Holder, Holders, longest};
use sources::Sources;
use tables::Tables;

#[derive(Args)]
pub(crate) struct NumbersOptions {
    /// Also list the operators whose network is not known, with the networks of their country
    #[arg(long)]
    unknown: bool,
}

pub(crate) fn run(options: &NumbersOptions) -> Outcome {
    let sources = Sources::fetch()?;
    let extracted = sources.extract()?;
    let tables = Tables::read(&extracted, &shell::root().join("crates/xtask/numbers"))?;
    let join = Join::new(&tables.networks, &tables.countries, &tables.aliases);

    let mut holders = combine(&tables);
    let operators = operators(&holders);
    join.check_aliases(&operators)?;
    let networks: Networks<'_> =
        operators.iter().map(|operator| (operator, join.network_of(&operator.0, &operator.1))).collect();
    report(&tables, &networks, options.unknown);
    for holder in holders.values_mut() {
        let operator = (holder.country.clone(), holder.operator.clone());
        holder.network = networks.get(&operator).map_or("", |(network, _)| network).to_owned();
    }
    let before = holders.len();
    shape::simplify(&mut holders);
    println!("prefixes: {before}, of which {} remain when none repeats the one around it", holders.len());

    let data = shell::root().join("crates/domain/data");
    let numbers = data.join("numbers.tsv");
    write(&numbers, "Country, network, operator, prefixes", &shape::write(&holders))?;
    write(
        &data.join("countries.tsv"),
        "Code, name, mobile country codes (in brackets: used here, assigned elsewhere)",
        &countries(&tables),
    )?;
    write(&data.join("networks.tsv"), "Mobile country code, network codes", &networks_by_mcc(&tables))?;
    sources.verify(&numbers)
}

/// A country's code and an operator's name.
type Operator = (String, String);
type Networks<'a> = BTreeMap<&'a Operator, (&'a str, Joined)>;

fn operators(holders: &Holders) -> BTreeSet<Operator> {
    let named = holders.values().filter(|holder| !holder.operator.is_empty());
    named.map(|holder| (holder.country.clone(), holder.operator.clone())).collect()
}

/// Returns every prefix of both tables, with its country and operator.
fn combine(tables: &Tables) -> Holders {
    let prefixes: BTreeSet<&String> = tables.regions.keys().chain(tables.carriers.keys()).collect();
    let holder = |prefix: &String| Holder {
        country: longest(&tables.regions, prefix).cloned().unwrap_or_default(),
        network: String::new(),
        operator: longest(&tables.carriers, prefix).cloned().unwrap_or_default(),
    };
    prefixes.into_iter().map(|prefix| (prefix.clone(), holder(prefix))).collect()
}

/// Returns the lines of the file of countries, without its head.
fn countries(tables: &Tables) -> String {
    let mut mccs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (mcc, countries) in countries_of_mccs(tables) {
        for (place, country) in countries.into_iter().enumerate() {
            mccs.entry(country).or_default().push(if place == 0 {
                mcc.to_owned()
            } else {
                format!("({mcc})")
            });
        }
    }
    let mut text = String::new();
    for (code, name) in &tables.countries {
        let mccs = mccs.get(&**code).map(|mccs| mccs.join(" ")).unwrap_or_default();
        writeln!(text, "{code}\t{name}\t{mccs}").expect("a String takes any text");
    }
    text
}

/// Returns the lines of the file of networks, without its head. Closed networks are listed too: the prices of carriers name them.
fn networks_by_mcc(tables: &Tables) -> String {
    let mut mncs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (mcc, mnc) in tables.networks.iter().filter_map(|network| network.code.split_once('-')) {
        mncs.entry(mcc).or_default().insert(mnc);
    }
    let mut text = String::new();
    for (mcc, mncs) in mncs {
        let mncs: Vec<&str> = mncs.into_iter().collect();
        writeln!(text, "{mcc}\t{}", mncs.join(" ")).expect("a String takes any text");
    }
    text
}

/// The countries that use each mobile country code. It was assigned to the first: the one with most of its networks,
/// unless the curated table says otherwise.
fn countries_of_mccs(tables: &Tables) -> BTreeMap<&str, Vec<&str>> {
    let mut uses: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for network in &tables.networks {
        let mcc = network.code.split_once('-').map_or("", |(mcc, _)| mcc);
        for country in network.countries.iter().filter(|country| tables.countries.contains_key(*country)) {
            *uses.entry(mcc).or_default().entry(country).or_default() += 1;
        }
    }
    let mut countries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (mcc, networks) in uses {
        let mut users: Vec<(&str, usize)> = networks.into_iter().collect();
        users.sort_by_key(|(_, networks)| std::cmp::Reverse(*networks));
        countries.insert(mcc, users.into_iter().map(|(country, _)| country).collect());
    }
    for (mcc, curated) in &tables.mccs {
        countries.insert(mcc, curated.split(' ').collect());
    }
    countries
}

/// Returns how the operators were joined, and on request those that were not.
fn report(tables: &Tables, networks: &Networks<'_>, unknown: bool) {
    let mut ranges: BTreeMap<Operator, usize> = BTreeMap::new();
    for (prefix, name) in &tables.carriers {
        let country = longest(&tables.regions, prefix).cloned().unwrap_or_default();
        *ranges.entry((country, name.clone())).or_default() += 1;
    }
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut last_country = "";
    for (operator, (_, joined)) in networks {
        let ranges = ranges.get(*operator).copied().unwrap_or(0);
        let how = match joined {
            Joined::Alias => "by alias",
            Joined::NoneByAlias => "none by alias",
            Joined::Name => "by name",
            Joined::None => "unknown",
        };
        let count = counts.entry(how).or_default();
        *count = (count.0 + 1, count.1 + ranges);
        if unknown && *joined == Joined::None {
            let (country, name) = operator;
            if last_country != country {
                last_country = country;
                show_networks(tables, country);
            }
            println!("  {country}\t{name}\t{ranges} ranges");
        }
    }
    println!("operators: {}", networks.len());
    for (how, (operators, ranges)) in counts {
        println!("  network {how}: {operators} operators with {ranges} ranges");
    }
}

fn show_networks(tables: &Tables, country: &str) {
    println!("{country}");
    for network in tables.networks.iter().filter(|network| network.countries.iter().any(|one| one == country))
    {
        println!("    {} {:?} {} | {}", network.code, network.status, network.brand, network.operator);
    }
}

fn write(path: &Path, fields: &str, lines: &str) -> Outcome {
    let text = format!("# Built by `cargo xtask numbers`, see docs/number-data.md. {fields}.\n{lines}");
    std::fs::write(path, &text)
        .map_err(|cause| Failure(format!("cannot write {}: {cause}", path.display())))?;
    println!("{}: {} bytes", path.display(), text.len());
    Ok(())
}
