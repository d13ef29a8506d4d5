//! Values on their way to and from PostgreSQL. The tables have three types of columns: `bigint`, `text` and `bytea`; some
//! expressions have others.

use bytes::BytesMut;
use rusqlite::types::{FromSqlError, ToSqlOutput, Type as SqliteType, Value, ValueRef};
use std::borrow::Cow;
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// Decimal digits of one group of PostgreSQL's `numeric`.
const NUMERIC_BASE: i64 = 10_000;

/// A value for a parameter.
#[derive(Debug)]
pub(super) struct ParameterValue(pub(super) Value);

impl ParameterValue {
    pub(super) fn of(value: &dyn rusqlite::ToSql) -> rusqlite::Result<ParameterValue> {
        Ok(ParameterValue(match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => value.try_into()?,
            ToSqlOutput::Owned(value) => value,
            _ => return Err(rusqlite::Error::InvalidQuery),
        }))
    }
}

impl ToSql for ParameterValue {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match &self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Integer(number) => match *of {
                Type::INT4 => out.extend_from_slice(&i32::try_from(*number)?.to_be_bytes()),
                Type::INT2 => out.extend_from_slice(&i16::try_from(*number)?.to_be_bytes()),
                Type::BOOL => out.extend_from_slice(&[u8::from(*number != 0)]),
                Type::INT8 => out.extend_from_slice(&number.to_be_bytes()),
                Type::TEXT => out.extend_from_slice(number.to_string().as_bytes()),
                _ => return Err(format!("a number for a parameter of type {of}").into()),
            },
            Value::Text(text) if *of == Type::BYTEA => out.extend_from_slice(text.as_bytes()),
            Value::Text(text) => out.extend_from_slice(without_nul(text).as_bytes()),
            Value::Blob(octets) => out.extend_from_slice(octets),
            Value::Real(_) => return Err("a fraction as a parameter".into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

pub(super) fn parameters(values: &[&dyn rusqlite::ToSql]) -> Result<Vec<ParameterValue>, rusqlite::Error> {
    values.iter().map(|value| ParameterValue::of(*value)).collect()
}

/// The values of one parameter for many rows.
#[derive(Debug)]
pub(super) enum ColumnValues {
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Octets(Vec<Option<Vec<u8>>>),
}

impl ColumnValues {
    /// Returns an empty column for a parameter of this type.
    pub(super) fn new(of: &Type) -> Option<ColumnValues> {
        match *of {
            Type::INT8 => Some(ColumnValues::Numbers(Vec::new())),
            Type::TEXT => Some(ColumnValues::Texts(Vec::new())),
            Type::BYTEA => Some(ColumnValues::Octets(Vec::new())),
            _ => None,
        }
    }

    /// Adds a value. Returns false if it has another type.
    pub(super) fn push(&mut self, value: Value) -> bool {
        match (self, value) {
            (ColumnValues::Numbers(numbers), Value::Integer(number)) => numbers.push(Some(number)),
            (ColumnValues::Numbers(numbers), Value::Null) => numbers.push(None),
            (ColumnValues::Texts(texts), Value::Text(text)) => {
                texts.push(Some(without_nul(&text).into_owned()))
            }
            (ColumnValues::Texts(texts), Value::Null) => texts.push(None),
            (ColumnValues::Octets(octets), Value::Blob(blob)) => octets.push(Some(blob)),
            (ColumnValues::Octets(octets), Value::Text(text)) => octets.push(Some(text.into_bytes())),
            (ColumnValues::Octets(octets), Value::Null) => octets.push(None),
            _ => return false,
        }
        true
    }

    pub(super) fn as_parameter(&self) -> &(dyn ToSql + Sync) {
        match self {
            ColumnValues::Numbers(numbers) => numbers,
            ColumnValues::Texts(texts) => texts,
            ColumnValues::Octets(octets) => octets,
        }
    }
}

/// Replaces U+0000, which PostgreSQL's texts cannot contain. Texts of messages, where it has a meaning, are octets.
pub(super) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A column of a row as the server sent it.
struct Raw<'a>(Option<(Type, &'a [u8])>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(of: &Type, octets: &'a [u8]) -> Result<Raw<'a>, Box<dyn Error + Sync + Send>> {
        Ok(Raw(Some((of.clone(), octets))))
    }

    fn from_sql_null(_: &Type) -> Result<Raw<'a>, Box<dyn Error + Sync + Send>> {
        Ok(Raw(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns the value of a column.
pub(crate) fn get_ref(row: &tokio_postgres::Row, column: usize) -> rusqlite::Result<ValueRef<'_>> {
    let Ok(Raw(raw)) = row.try_get::<_, Raw<'_>>(column) else {
        return Err(rusqlite::Error::InvalidColumnIndex(column));
    };
    let Some((of, octets)) = raw else { return Ok(ValueRef::Null) };
    let number = match of {
        Type::BYTEA => return Ok(ValueRef::Blob(octets)),
        Type::INT8 => octets.try_into().map(i64::from_be_bytes).ok(),
        Type::INT4 => octets.try_into().map(i32::from_be_bytes).ok().map(i64::from),
        Type::INT2 => octets.try_into().map(i16::from_be_bytes).ok().map(i64::from),
        Type::BOOL => octets.first().map(|octet| i64::from(*octet)),
        Type::NUMERIC => whole_number(octets),
        _ => return Ok(ValueRef::Text(octets)),
    };
    let name = || row.columns().get(column).map_or_else(String::new, |column| column.name().to_owned());
    number
        .map(ValueRef::Integer)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, name(), SqliteType::Integer))
}

/// Returns the value of a column as a type. A text that may contain U+0000 is stored as octets, because PostgreSQL's texts
/// cannot.
pub(crate) fn get<T: rusqlite::types::FromSql>(
    row: &tokio_postgres::Row,
    column: usize,
) -> rusqlite::Result<T> {
    let value = get_ref(row, column)?;
    let read = T::column_result(value).or_else(|error| match value {
        ValueRef::Blob(octets) if matches!(error, FromSqlError::InvalidType) => {
            T::column_result(ValueRef::Text(octets))
        }
        _ => Err(error),
    });
    let name = || row.columns().get(column).map_or_else(String::new, |column| column.name().to_owned());
    read.map_err(|error| match error {
        FromSqlError::InvalidType => rusqlite::Error::InvalidColumnType(column, name(), value.data_type()),
        FromSqlError::OutOfRange(number) => rusqlite::Error::IntegralValueOutOfRange(column, number),
        error => rusqlite::Error::FromSqlConversionFailure(column, value.data_type(), Box::new(error)),
    })
}

/// Reads a `numeric` without a fraction, which the sum of numbers is.
fn whole_number(octets: &[u8]) -> Option<i64> {
    let field =
        |index: usize| Some(i16::from_be_bytes(octets.get(index * 2..index * 2 + 2)?.try_into().ok()?));
    let (groups, weight, sign) = (field(0)?, field(1)?, field(2)?);
    let mut number = 0_i64;
    for index in 0..=usize::try_from(weight).ok().filter(|_| groups > 0).unwrap_or(0) {
        let digits = if index < usize::try_from(groups).ok()? { field(4 + index)? } else { 0 };
        number = number.checked_mul(NUMERIC_BASE)?.checked_add(if sign == 0 {
            digits.into()
        } else {
            -i64::from(digits)
        })?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(weight: i16, sign: u16, digits: &[i16]) -> Vec<u8> {
        let groups = i16::try_from(digits.len()).unwrap();
        let mut octets = [groups.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), [0, 0]].concat();
        octets.extend(digits.iter().flat_map(|digits| digits.to_be_bytes()));
        octets
    }

    #[test]
    fn whole_numeric_is_read() {
        assert_eq!(whole_number(&numeric(0, 0, &[])), Some(0));
        assert_eq!(whole_number(&numeric(0, 0, &[7])), Some(7));
        assert_eq!(whole_number(&numeric(1, 0, &[12, 3_456])), Some(123_456));
        assert_eq!(whole_number(&numeric(2, 0, &[5])), Some(500_000_000));
        assert_eq!(whole_number(&numeric(0, 0x4000, &[65])), Some(-65));
        assert_eq!(whole_number(&numeric(4, 0x4000, &[922, 3_372, 368, 5_477, 5_808])), Some(i64::MIN));
        assert_eq!(whole_number(&numeric(4, 0, &[922, 3_372, 368, 5_477, 5_808])), None, "too large");
    }
}
