//! The columns of a sheet: those that the rate profile names, and those with well-known headers below the preamble.

use crate::rates::sheet::{COLUMNS_MAX, SheetLine, SheetLines, refused};
use crate::rates::text_file::{self, SEPARATORS};
use crate::refusal::{ProvisionRefusal, ProvisionResult};
use hermod_domain::rate_profile::SheetColumns;

/// Lines in which the headers are looked for.
pub(crate) const HEADER_LINES_MAX: usize = 50;
/// Headers without a meaning that a plan lists.
const IGNORED_MAX: usize = 20;

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Country,
    Mcc,
    Mnc,
    MccMnc,
    Prefix,
    Price,
    Currency,
    From,
    Until,
    Change,
    SenderKind,
}

/// Each column with its name in the rate profile, and its headers in lower case without blanks and punctuation.
const COLUMNS: [(Column, &str, &[&str]); 11] = [
    (Column::Country, "country", &["country", "countryname", "land", "iso", "countryiso", "isocode"]),
    (Column::Mcc, "mcc", &["mcc", "mobilecountrycode"]),
    (Column::Mnc, "mnc", &["mnc", "mobilenetworkcode"]),
    (Column::MccMnc, "mccmnc", &["mccmnc", "mwx", "plmn", "imsi", "imsiprefix", "networkcode"]),
    (
        Column::Prefix,
        "prefix",
        &["prefix", "dialprefix", "dialcode", "dialingcode", "countrycodeprefix", "cc"],
    ),
    (
        Column::Price,
        "price",
        &[
            "price",
            "newprice",
            "rate",
            "newrate",
            "cost",
            "preis",
            "pricepersms",
            "pricepermessage",
            "priceperpart",
            "pricepersegment",
            "ratepersms",
            "unitprice",
            "pricesubmit",
            "pricedelivered",
            "smsout",
            "smsrate",
        ],
    ),
    (Column::Currency, "currency", &["currency", "currencycode", "cur", "ccy", "wahrung", "währung"]),
    (
        Column::From,
        "from",
        &[
            "from",
            "effective",
            "effectivedate",
            "effectivefrom",
            "effectivesince",
            "validfrom",
            "startdate",
            "start",
            "date",
            "datefrom",
            "gultigab",
            "gültigab",
        ],
    ),
    (
        Column::Until,
        "until",
        &[
            "until",
            "validto",
            "validuntil",
            "effectiveto",
            "effectiveuntil",
            "enddate",
            "end",
            "dateto",
            "expires",
        ],
    ),
    (Column::Change, "change", &["change", "changetype", "pricechange", "status", "action"]),
    (Column::SenderKind, "sender_kind", &["senderkind", "sendertype", "sendersupport", "sender", "senderid"]),
];

/// Where the columns of a sheet are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnMap {
    at: [Option<usize>; COLUMNS.len()],
    /// How many lines precede the first row.
    pub(crate) lines_before: usize,
    /// Headers without a meaning.
    pub(crate) ignored: Vec<String>,
}

impl ColumnMap {
    pub(crate) fn at(&self, column: Column) -> Option<usize> {
        let number = COLUMNS.iter().position(|(known, ..)| *known == column)?;
        self.at[number]
    }

    fn has_destination(&self) -> bool {
        let destinations = [Column::Country, Column::Mcc, Column::MccMnc, Column::Prefix];
        destinations.into_iter().any(|column| self.at(column).is_some())
    }

    fn is_complete(&self) -> bool {
        self.at(Column::Price).is_some() && self.has_destination()
    }

    fn known(&self) -> usize {
        self.at.iter().flatten().count()
    }
}

/// What the rate profile says of each column.
struct Named<'p>([Option<&'p str>; COLUMNS.len()]);

impl Named<'_> {
    fn of(columns: &SheetColumns) -> Named<'_> {
        let SheetColumns {
            country,
            mcc,
            mnc,
            mccmnc,
            prefix,
            price,
            currency,
            from,
            until,
            change,
            sender_kind,
        } = columns;
        let all = [country, mcc, mnc, mccmnc, prefix, price, currency, from, until, change, sender_kind];
        Named(all.map(Option::as_deref))
    }

    /// Returns the columns that are named by their position.
    fn positions(&self) -> ProvisionResult<ColumnMap> {
        let mut map = ColumnMap::default();
        for (number, named) in self.0.iter().enumerate() {
            let Some(position) = named.and_then(|named| named.parse::<usize>().ok()) else { continue };
            let index = position.checked_sub(1).filter(|index| *index < COLUMNS_MAX);
            let wrong = || {
                let name = COLUMNS[number].1;
                refused(format!("has no column {position}, which the rate profile names ({name}_column)"))
            };
            map.at[number] = Some(index.ok_or_else(wrong)?);
        }
        Ok(map)
    }

    /// Returns the column that a header names.
    fn meaning(&self, header: &str) -> Option<usize> {
        let plain = plain(header);
        let by_profile = |named: &Option<&str>| {
            named.is_some_and(|named| named.parse::<usize>().is_err() && self::plain(named) == plain)
        };
        self.0.iter().position(by_profile).or_else(|| {
            let mut known = COLUMNS.iter().zip(&self.0);
            // A column that the profile names has no other header.
            known.position(|((.., headers), named)| named.is_none() && headers.contains(&plain.as_str()))
        })
    }
}

/// Finds the columns of a workbook's sheet.
pub(crate) fn find(lines: &[SheetLine], columns: &SheetColumns) -> ProvisionResult<ColumnMap> {
    try_find(lines, columns)?.ok_or_else(without_headers)
}

fn without_headers() -> ProvisionRefusal {
    refused(
        "has no line with headers for the price and the destination (MCC and MNC, MCCMNC, prefix or country): name its columns in \
         the rate profile",
    )
}

/// Finds the columns in the first lines of a sheet; none without headers, unless the profile names them by position.
fn try_find(lines: &[SheetLine], columns: &SheetColumns) -> ProvisionResult<Option<ColumnMap>> {
    let named = Named::of(columns);
    let positions = named.positions()?;
    for (index, line) in lines.iter().take(HEADER_LINES_MAX).enumerate() {
        if let Some(map) = read_header(line, &named, &positions)? {
            return Ok(Some(ColumnMap { lines_before: index + 1, ..map }));
        }
    }
    if !positions.is_complete() {
        return Ok(None);
    }
    let price = positions.at(Column::Price).unwrap_or_default();
    let has_price =
        |line: &SheetLine| line.cell(price).text.contains(|character: char| character.is_ascii_digit());
    let lines_before = lines.iter().take(HEADER_LINES_MAX).position(has_price).unwrap_or_default();
    Ok(Some(ColumnMap { lines_before, ..positions }))
}

/// Reads a line as headers; none if it is none.
fn read_header(
    line: &SheetLine,
    named: &Named<'_>,
    positions: &ColumnMap,
) -> ProvisionResult<Option<ColumnMap>> {
    let mut map = positions.clone();
    let mut twice = None;
    for (index, cell) in line.cells.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
        match named.meaning(&cell.text) {
            None if map.ignored.len() < IGNORED_MAX => map.ignored.push(cell.text.clone()),
            None => {}
            Some(number) => match map.at[number] {
                None => map.at[number] = Some(index),
                // The country's name and its code mean the same.
                Some(_) if COLUMNS[number].0 == Column::Country => {}
                Some(first) => twice = Some((number, first, index)),
            },
        }
    }
    let by_header = |named: &Option<&str>| named.is_some_and(|named| named.parse::<usize>().is_err());
    let has_named = named.0.iter().zip(&map.at).all(|(named, at)| !by_header(named) || at.is_some());
    if !map.is_complete() || !has_named || map.known() == positions.known() {
        return Ok(None);
    }
    match twice {
        None => Ok(Some(map)),
        Some((number, first, second)) => {
            let name = COLUMNS[number].1;
            let [first, second] = [first, second].map(|index| &line.cell(index).text);
            Err(refused(format!(
                "has two columns that can be the {name}, \"{first}\" and \"{second}\": name one in the rate profile \
                 ({name}_column)"
            )))
        }
    }
}

/// Returns the letters and digits of a header in lower case.
fn plain(header: &str) -> String {
    header.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Cuts a text at the separator with which most columns are found, and finds its columns.
pub(crate) fn of_text(text: &str, columns: &SheetColumns) -> ProvisionResult<(SheetLines, ColumnMap)> {
    let (mut best, mut refusal): (Option<(u8, usize)>, _) = (None, None);
    for separator in SEPARATORS {
        let lines = match text_file::lines(text, separator, HEADER_LINES_MAX) {
            Ok(lines) => lines,
            // A text can have too many columns for a separator that is none.
            Err(error) => {
                refusal = Some(error);
                continue;
            }
        };
        let Some(map) = try_find(&lines.lines, columns)? else { continue };
        // Any line has positions; it must have enough cells for all of them.
        let cells = lines.lines.iter().skip(map.lines_before).map(|line| line.cells.len()).max();
        let fits = map.known().min(cells.unwrap_or(map.known()));
        if best.is_none_or(|(_, most)| fits > most) {
            best = Some((separator, fits));
        }
    }
    let (separator, _) = best.ok_or_else(|| refusal.unwrap_or_else(without_headers))?;
    let lines = text_file::lines(text, separator, usize::MAX)?;
    let map = find(&lines.lines, columns)?;
    Ok((lines, map))
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
