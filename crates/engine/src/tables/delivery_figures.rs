//! The table of delivery figures per day, carrier and network.

use crate::ops::{DeliveryFigures, DeliveryRow};
use crate::tables::TableError;
use crate::tables::columns::{Column, ColumnKind, ColumnReader, ColumnValue, Stored, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::{Country, Network};
use hermod_domain::time::Day;

/// The columns of delivered parts by their time, in the order of [`DeliveryFigures::times`].
const TIMES: [&str; 6] = ["within_5s", "within_15s", "within_1m", "within_5m", "within_1h", "longer"];

/// The key of a row: what is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryCell {
    pub day: Day,
    pub carrier: CarrierId,
    /// Unknown for numbers of no country.
    pub country: Option<Country>,
    /// Unknown where it does not follow from the number.
    pub network: Option<Network>,
}

impl DeliveryCell {
    /// Returns the row with these figures.
    pub fn with(self, figures: DeliveryFigures) -> DeliveryRow {
        let DeliveryCell { day, carrier, country, network } = self;
        DeliveryRow { day, carrier, country, network, figures }
    }
}

// None is an empty text, because the columns belong to the key. An unknown name is read as none, so that the figures are still
// listed.
one_column! {
    Option<Country>: Text, |country| country.map(|country| country.as_str().to_owned()).unwrap_or_default().into(),
        |name| Some(Country::parse(&name).ok());
    Option<Network>: Text, |network| network.map(|network| network.to_string()).unwrap_or_default().into(),
        |name| Some(Network::parse(&name).ok());
}

impl Stored for [u64; TIMES.len()] {
    fn add_columns(_: &'static str, columns: &mut Vec<Column>) {
        columns.extend(TIMES.map(|name| Column { name, kind: ColumnKind::Number, is_optional: false }));
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        self.iter().for_each(|count| count.add_values(values));
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<Self, TableError> {
        let mut times = [0; TIMES.len()];
        for count in &mut times {
            *count = u64::read(row)?;
        }
        Ok(times)
    }
}

stored_fields! { DeliveryFigures { sent, delivered, failed, expired, rejected, times, time_ms } }

stored_table! {
    delivery: DeliveryRow { day, carrier, country, network, figures },
    key (day: Day, carrier: CarrierId, country: Option<Country>, network: Option<Network>)
}

/// Reads delivery figures per day, carrier and network.
pub trait DeliveryFigureRows {
    /// Returns the figures in a row.
    fn delivery_figures(&self, cell: &DeliveryCell) -> Result<Option<DeliveryFigures>, TableError>;
}
