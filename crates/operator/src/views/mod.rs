//! The request and response types of the operator API, one set for the API, the command line and web pages.
//!
//! Names say the role of a type: `*View` is (part of) a response, `*Query` is a query string, `*Request` is a body.
//! Every type is both written and read, so that a field exists in one place only. Times are ISO 8601 texts in UTC.

pub mod amount;
pub mod csv_rows;
pub mod masking;
pub mod paging;

use serde::de::DeserializeOwned;
use utoipa::ToSchema;

/// A type that is the JSON body of a request.
pub trait JsonBody: ToSchema + DeserializeOwned + Send + Sync + 'static {}

/// The stored view of something that was to be created, and whether it is new.
#[derive(Clone, Debug, PartialEq)]
pub struct Created<T> {
    pub view: T,
    pub is_new: bool,
}
