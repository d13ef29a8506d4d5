//! Pages of lists: how many rows, where the next page begins.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// Rows of a page where the query has no limit.
const LIMIT_DEFAULT: u32 = 100;
const LIMIT_MAX: u32 = 1_000;

/// A view that is listed in pages.
pub trait Paged: ToSchema {
    /// What names a row as the last one of a page.
    type Cursor: Serialize + DeserializeOwned + ToSchema + fmt::Display;

    fn cursor(&self) -> Self::Cursor;
}

/// Lists a view in pages: the type of its cursor, and the cursor of a row.
macro_rules! paged {
    ($view:ty, $cursor:ty, |$row:ident| $of:expr) => {
        impl $crate::views::paging::Paged for $view {
            type Cursor = $cursor;

            fn cursor(&self) -> $cursor {
                let $row = self;
                $of
            }
        }
    };
}

pub(crate) use paged;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Paged + Serialize", deserialize = "T: Paged + DeserializeOwned"))]
pub struct Page<T: Paged> {
    pub items: Vec<T>,
    /// The cursor of the next page; null on the last page.
    pub next: Option<T::Cursor>,
}

impl<T: Paged> Page<T> {
    /// A page of rows that were read with a limit. A page with as many rows as the limit may have a successor.
    pub fn new(items: Vec<T>, limit: u32) -> Page<T> {
        let is_full = u32::try_from(items.len()).is_ok_and(|count| count >= limit);
        let next = items.last().filter(|_| is_full).map(T::cursor);
        Page { items, next }
    }
}

impl<T: Paged> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        page_schema(Ref::from_schema_name(T::name()), Cursor::<T>::schema())
    }
}

type Cursor<T> = <T as Paged>::Cursor;

impl<T: Paged> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name().trim_end_matches("View")).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

/// The schema of a page of `item` whose cursors are of the schema `cursor`.
pub fn page_schema(item: Ref, cursor: RefOr<Schema>) -> RefOr<Schema> {
    let cursor = match cursor {
        RefOr::T(Schema::Object(object)) => object.schema_type,
        _ => SchemaType::from(Type::String),
    };
    let cursor = match cursor {
        SchemaType::Type(one) => SchemaType::from_iter([one, Type::Null]),
        other => other,
    };
    let next = ObjectBuilder::new()
        .schema_type(cursor)
        .description(Some("The cursor of the next page; null on the last page."));
    ObjectBuilder::new()
        .property("items", ArrayBuilder::new().items(item))
        .required("items")
        .property("next", next)
        .required("next")
        .into()
}

/// Implements parsing and the schema of a number in a query. A text that is no number in `$range` is rejected with `$rule`.
macro_rules! query_number {
    ($name:ident, $number:ty, $range:expr, $rule:expr) => {
        impl From<$name> for $number {
            fn from($name(number): $name) -> $number {
                number
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<$name, String> {
                text.parse()
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                let number = text.parse().ok().filter(|number| $range.contains(number));
                number.map($name).ok_or_else(|| format!("\"{text}\" is not {}", $rule))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let number = ObjectBuilder::new().schema_type(Type::Integer);
                number.minimum(Some(*$range.start())).maximum(Some(*$range.end())).into()
            }
        }

        impl ToSchema for $name {}
    };
}

/// How many rows a page has at most: 1 to 1,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "u32")]
pub struct Limit(u32);

query_number!(Limit, u32, (1..=LIMIT_MAX), format_args!("a number from 1 to {LIMIT_MAX}"));

impl Limit {
    pub const MAX: Limit = Limit(LIMIT_MAX);

    /// Returns the limit of a query, or [`LIMIT_DEFAULT`].
    pub fn of(limit: Option<Limit>) -> u32 {
        limit.map_or(LIMIT_DEFAULT, u32::from)
    }
}

/// The number of a row, as `next` of a page gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "u64")]
pub struct RowNumber(u64);

query_number!(RowNumber, u64, (0..=i64::MAX.unsigned_abs()), "the next of an earlier page");

impl RowNumber {
    /// As a row number of the database.
    pub fn signed(self) -> i64 {
        self.0.try_into().unwrap_or(i64::MAX)
    }
}

impl From<u64> for RowNumber {
    fn from(number: u64) -> RowNumber {
        RowNumber(number)
    }
}

#[cfg(test)]
#[path = "paging_tests.rs"]
mod tests;
