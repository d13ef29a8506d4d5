//! Generic adapters.

pub(crate) mod body;
pub(crate) mod guard;
pub(crate) mod response;
pub(crate) mod routes;
pub(crate) mod use_case;
