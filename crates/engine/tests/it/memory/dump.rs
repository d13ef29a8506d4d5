//! All rows as text, and how two such texts differ.

use std::collections::{BTreeMap, BTreeSet};

/// The rows of every table as text, each with its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    tables: BTreeMap<&'static str, Vec<String>>,
}

impl Dump {
    pub(super) fn add(&mut self, table: &'static str, rows: Vec<String>) {
        self.tables.insert(table, rows);
    }

    /// Returns the rows of one table.
    pub(crate) fn table(&self, table: &str) -> &[String] {
        self.tables.get(table).map_or(&[], Vec::as_slice)
    }

    /// Returns every row, with the name of its table.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.tables.iter().flat_map(|(table, rows)| rows.iter().map(|row| (*table, row.as_str())))
    }

    /// Returns one line for each row that only one of the two has: `-` for the first, `+` for the other.
    pub(crate) fn differences(&self, other: &Dump) -> Vec<String> {
        let names: BTreeSet<&str> = self.tables.keys().chain(other.tables.keys()).copied().collect();
        let mut lines = Vec::new();
        for name in names {
            let (one, two) = (self.table(name), other.table(name));
            let missing = |rows: &[String], from: &[String], sign: char| -> Vec<String> {
                let there: BTreeSet<&String> = from.iter().collect();
                let missing = rows.iter().filter(|row| !there.contains(row));
                missing.map(|row| format!("{sign} {name} {row}")).collect()
            };
            lines.extend(missing(one, two, '-'));
            lines.extend(missing(two, one, '+'));
        }
        lines
    }
}
