//! The columns of stored values: which ones a value has, and how it is written to them and read from them.

use crate::tables::TableError;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};
use std::any::type_name;
use std::borrow::Cow;

/// Separates the texts of a list in one column. The names in such lists are printable, so none contains it.
const LIST_SEPARATOR: &str = "\u{1f}";

/// What a column contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Number,
    Text,
    /// A text of a message, which may contain U+0000.
    MessageText,
    Octets,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    pub is_optional: bool,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnValue<'v> {
    Null,
    Number(i64),
    Text(Cow<'v, str>),
    Octets(Cow<'v, [u8]>),
}

/// Reads the values of a row one after the other.
pub struct ColumnReader<'r> {
    column: usize,
    read: &'r dyn Fn(usize) -> Result<ColumnValue<'r>, TableError>,
}

impl<'r> ColumnReader<'r> {
    /// Returns a reader of a row whose columns `read` returns by their numbers, from 0.
    pub fn new(read: &'r dyn Fn(usize) -> Result<ColumnValue<'r>, TableError>) -> ColumnReader<'r> {
        ColumnReader { column: 0, read }
    }

    /// Reads one column. `convert` returns none if a `T` cannot have this value.
    pub(super) fn next<T>(
        &mut self,
        convert: impl FnOnce(ColumnValue<'r>) -> Option<T>,
    ) -> Result<T, TableError> {
        let value = (self.read)(self.column)?;
        self.column += 1;
        let invalid = || format!("column {} has no valid {}", self.column, type_name::<T>());
        convert(value).ok_or_else(|| TableError::unreadable(invalid()))
    }
}

/// A value that is stored in one or more columns.
pub trait Stored: Sized {
    /// Adds the columns. A value with one column has it under the name that the description of the table gives.
    fn add_columns(name: &'static str, columns: &mut Vec<Column>);

    /// Returns the number of columns.
    fn width() -> usize {
        let mut columns = Vec::new();
        Self::add_columns("", &mut columns);
        columns.len()
    }

    /// Adds the values of the columns.
    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>);

    /// Reads the columns. The error is [`Unreadable`](crate::tables::Unreadable) if a value is invalid.
    fn read(row: &mut ColumnReader<'_>) -> Result<Self, TableError>;

    /// Returns the values of the columns.
    fn values(&self) -> Vec<ColumnValue<'_>> {
        let mut values = Vec::new();
        self.add_values(&mut values);
        values
    }
}

/// Names each type with one column: what the column contains, the value for it, and what is read from it.
macro_rules! one_column {
    ($($type:ty: $kind:ident, |$value:ident| $write:expr, |$column:ident| $read:expr;)*) => {$(
        impl $crate::tables::columns::Stored for $type {
            fn add_columns(name: &'static str, columns: &mut Vec<$crate::tables::columns::Column>) {
                use $crate::tables::columns::{Column, ColumnKind};
                columns.push(Column { name, kind: ColumnKind::$kind, is_optional: false });
            }

            fn width() -> usize {
                1
            }

            fn add_values<'v>(&'v self, values: &mut Vec<$crate::tables::columns::ColumnValue<'v>>) {
                let $value = self;
                values.push($crate::tables::columns::ColumnValue::$kind($write));
            }

            fn read(
                row: &mut $crate::tables::columns::ColumnReader<'_>,
            ) -> Result<$type, $crate::tables::TableError> {
                row.next(|value| match value {
                    $crate::tables::columns::ColumnValue::$kind($column) => $read,
                    _ => None,
                })
            }
        }
    )*};
}

pub(super) use one_column;

one_column! {
    AccountId: Number, |id| id.get().into(), |number| number.try_into().ok().map(AccountId::new);
    CarrierId: Number, |id| id.get().into(), |number| number.try_into().ok().map(CarrierId::new);
    ConnectionId: Number, |id| id.get().into(), |number| number.try_into().ok().map(ConnectionId::new);
    Day: Number, |day| day.get(), |number| Some(Day::new(number));
    MessageId: Number, |id| id.as_i64(), |number| MessageId::from_i64(number);
    Money: Number, |money| money.as_micros(), |micros| Some(Money::from_micros(micros));
    Msisdn: Number, |to| to.number().cast_signed(), |number| Msisdn::from_number(number.cast_unsigned());
    PartNo: Number, |part| part.get().into(), |number| number.try_into().ok().and_then(PartNo::new);
    OnlyRow: Number, |_row| 1, |number| (number == 1).then_some(OnlyRow);
    Sender: Text, |sender| sender.as_str().into(), |text| Sender::parse(&text).ok();
    Box<str>: Text, |text| (&**text).into(), |text| Some(text.into());
    String: Text, |text| text.as_str().into(), |text| Some(text.into_owned());
    Timestamp: Number, |at| at.as_millis(), |millis| Some(Timestamp::from_millis(millis));
    Vec<u8>: Octets, |octets| octets.as_slice().into(), |octets| Some(octets.into_owned());
    Vec<String>: Text, |texts| texts.join(LIST_SEPARATOR).into(), |list| Some(split(&list));
    [u8; 16]: Octets, |octets| octets.into(), |octets| (*octets).try_into().ok();
    bool: Number, |is_true| i64::from(*is_true), |number| Some(number != 0);
    i64: Number, |number| *number, |number| Some(number);
    u8: Number, |number| i64::from(*number), |number| number.try_into().ok();
    u16: Number, |number| i64::from(*number), |number| number.try_into().ok();
    u32: Number, |number| i64::from(*number), |number| number.try_into().ok();
    u64: Number, |number| number.cast_signed(), |number| Some(number.cast_unsigned());
}

/// Returns the texts of a list in one column.
fn split(list: &str) -> Vec<String> {
    list.split(LIST_SEPARATOR).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// The key of a table that has one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OnlyRow;

/// Without a value all of its columns are null.
impl<T: Stored> Stored for Option<T> {
    fn add_columns(name: &'static str, columns: &mut Vec<Column>) {
        let first = columns.len();
        T::add_columns(name, columns);
        columns[first..].iter_mut().for_each(|column| column.is_optional = true);
    }

    fn width() -> usize {
        T::width()
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        match self {
            Some(value) => value.add_values(values),
            None => values.extend((0..T::width()).map(|_| ColumnValue::Null)),
        }
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<Option<T>, TableError> {
        if (row.read)(row.column)? == ColumnValue::Null {
            row.column += T::width();
            return Ok(None);
        }
        T::read(row).map(Some)
    }
}

macro_rules! keys {
    ($(($($part:ident $index:tt),+))*) => {$(
        /// The columns of a key.
        impl<$($part: Stored),+> Stored for ($($part,)+) {
            fn add_columns(name: &'static str, columns: &mut Vec<Column>) {
                $($part::add_columns(name, columns);)+
            }

            fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
                $(self.$index.add_values(values);)+
            }

            fn read(row: &mut ColumnReader<'_>) -> Result<Self, TableError> {
                Ok(($($part::read(row)?,)+))
            }
        }
    )*};
}

keys! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

/// Lets `postcard` write behind the bytes that are there.
pub(super) struct End<'a>(pub(super) &'a mut Vec<u8>);

impl Flavor for End<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        // Most numbers have one byte, which needs no call to copy it.
        match data {
            [only] => self.0.push(*only),
            _ => self.0.extend_from_slice(data),
        }
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}
