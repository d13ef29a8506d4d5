//! Requests that get no answer: it is not known whether their message was accepted, and every answer would say that.

use axum::response::{IntoResponse as _, Response};

/// Marks a response that must not be sent: the connection is closed instead.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("it is not known what became of the request")]
pub(crate) struct NoAnswer;

/// Returns the response that stands for no answer.
pub(crate) fn no_answer() -> Response {
    let mut response = axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
    response.extensions_mut().insert(NoAnswer);
    response
}

/// Fails if the response must not be sent.
pub(super) fn checked(response: Response) -> Result<Response, NoAnswer> {
    if response.extensions().get::<NoAnswer>().is_some() { Err(NoAnswer) } else { Ok(response) }
}
