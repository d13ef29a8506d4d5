//! Reads the data file of number ranges and searches it.
//!
//! A line of the file is a destination, with a tab between its fields: country, network, operator, and the prefixes
//! that belong to it. Any of the first three may be empty. `49170-5` stands for the prefixes 49170 to 49175. A line
//! that begins with a space has more prefixes of the line before.

use super::Destination;
use super::country::Country;
use super::network::Network;
use crate::phone::Msisdn;
use crate::prefix::{NumberIntervals, Prefix};

#[derive(Debug)]
pub(super) struct Ranges {
    /// The first is [`Destination::UNKNOWN`].
    destinations: Box<[Destination<'static>]>,
    /// The index in `destinations` for each interval of numbers.
    intervals: NumberIntervals<u16>,
}

const UNKNOWN: u16 = 0;

impl Ranges {
    /// Parses the data file, which is embedded in the program.
    ///
    /// # Panics
    /// When the file is malformed; a test checks that it is not.
    pub(super) fn read(text: &'static str) -> Ranges {
        let mut destinations = vec![Destination::UNKNOWN];
        let mut index = UNKNOWN;
        let mut prefixes: Vec<(Prefix, u16)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let fields = match line.strip_prefix(' ') {
                Some(more) => more,
                None => {
                    let (destination, fields) = destination(line);
                    index = u16::try_from(destinations.len())
                        .expect("the file has fewer than 65536 destinations");
                    destinations.push(destination);
                    fields
                }
            };
            for field in fields.split(' ') {
                prefixes.extend(run(field).map(|prefix| (prefix, index)));
            }
        }
        prefixes.sort_by_cached_key(|(prefix, _)| prefix.sort_key());
        Ranges {
            destinations: destinations.into(),
            intervals: NumberIntervals::flatten(prefixes.into_iter(), UNKNOWN),
        }
    }

    pub(super) fn find(&self, number: Msisdn) -> Destination<'static> {
        self.destinations[usize::from(self.intervals.find(number))]
    }

    /// Returns a number of every destination of the file, sorted by country and operator. A destination whose ranges all
    /// belong to others has none.
    pub(super) fn examples(&self, text: &'static str) -> Vec<(Destination<'static>, Msisdn)> {
        let mut examples: Vec<(Destination<'static>, Msisdn)> = Vec::new();
        let mut current = Destination::UNKNOWN;
        let mut is_found = true;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let fields = match line.strip_prefix(' ') {
                Some(more) => more,
                None => {
                    let (next, fields) = destination(line);
                    (current, is_found) = (next, false);
                    fields
                }
            };
            if is_found {
                continue;
            }
            let numbers = fields.split(' ').flat_map(run).filter_map(example_of);
            let own = numbers.into_iter().find(|number| self.find(*number) == current);
            is_found = own.is_some();
            examples.extend(own.map(|number| (current, number)));
        }
        let key = |(known, _): &(Destination<'static>, Msisdn)| {
            (known.country.map(|country| country.name()), known.operator, known.network)
        };
        examples.sort_by_key(key);
        examples
    }

    pub(super) fn any(&self, fits: impl Fn(&Destination<'static>) -> bool) -> bool {
        self.destinations.iter().any(fits)
    }

    pub(super) fn operator_of(&self, network: Network) -> &'static str {
        let found = self.destinations.iter().find(|known| known.network == Some(network));
        found.map_or("", |known| known.operator)
    }
}

/// Digits of an invented number: as many as most national plans have.
const EXAMPLE_DIGITS: usize = 12;

/// Returns an invented number with this prefix.
pub(super) fn example_of(prefix: Prefix) -> Option<Msisdn> {
    let digits = prefix.to_string();
    Msisdn::parse_digits(&format!("{digits:0<EXAMPLE_DIGITS$}")).ok()
}

/// Parses a line up to its prefixes.
fn destination(line: &'static str) -> (Destination<'static>, &'static str) {
    let mut fields = line.splitn(4, '\t');
    let mut next = || fields.next().expect("the file has four fields a line");
    let (country, network, operator, prefixes) = (next(), next(), next(), next());
    let country = optional(country).map(|code| Country::parse(code).expect("the file has known countries"));
    let network =
        optional(network).map(|codes| Network::parse(codes).expect("the file has networks as 262-01"));
    (Destination { country, operator, network }, prefixes)
}

fn optional(field: &str) -> Option<&str> {
    if field.is_empty() { None } else { Some(field) }
}

/// Returns the prefixes that a field stands for: one, or a run that differs in the last digit.
pub(super) fn run(field: &str) -> impl Iterator<Item = Prefix> {
    let (first, last) = field.split_once('-').unwrap_or((field, &field[field.len() - 1..]));
    let first = Prefix::parse(first).expect("the file has prefixes of digits");
    let last = last.parse().expect("a run ends with a digit");
    first.up_to(last)
}
