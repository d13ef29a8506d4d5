//! The paths there are, and which methods each of them answers.

use axum::http::Method;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Sms,
    SmsById,
    Inbound,
    Balance,
    /// What somebody sees who types the address into a browser.
    Home,
    Document,
    DocumentPage,
    Healthz,
    Readyz,
    Metrics,
    /// Any path that is none of the above.
    Unknown,
}

/// What stands before the id in the path of [`Route::SmsById`].
const SMS_PREFIX: &str = "/api/v1/sms/";

const READ: &str = "GET, HEAD";

impl Route {
    pub(super) const COUNT: usize = 11;

    /// The path with its parameters named: what routes, logs and metrics call it.
    pub(super) const fn template(self) -> &'static str {
        match self {
            Route::Sms => "/api/v1/sms",
            Route::SmsById => "/api/v1/sms/{id}",
            Route::Inbound => "/api/v1/inbound",
            Route::Balance => "/api/v1/balance",
            Route::Home => "/",
            Route::Document => "/openapi.json",
            Route::DocumentPage => "/docs",
            Route::Healthz => "/healthz",
            Route::Readyz => "/readyz",
            Route::Metrics => "/metrics",
            Route::Unknown => "unknown",
        }
    }

    /// Is it for customers? Paths that are none are theirs as well: whoever tries them meets the API's manners.
    pub(super) const fn is_api(self) -> bool {
        match self {
            Route::Sms | Route::SmsById | Route::Inbound | Route::Balance | Route::Unknown => true,
            Route::Home
            | Route::Document
            | Route::DocumentPage
            | Route::Healthz
            | Route::Readyz
            | Route::Metrics => false,
        }
    }

    /// The methods it answers, as the header `Allow` lists them; `None` where no method would help.
    pub(super) const fn allow(self) -> Option<&'static str> {
        match self {
            Route::Sms => Some("POST"),
            Route::SmsById
            | Route::Inbound
            | Route::Balance
            | Route::Home
            | Route::Document
            | Route::DocumentPage
            | Route::Healthz
            | Route::Readyz
            | Route::Metrics => Some(READ),
            Route::Unknown => None,
        }
    }

    pub(super) fn answers(self, method: &Method) -> bool {
        match self {
            Route::Sms => method == Method::POST,
            // RFC 9110 section 9.1: whoever answers GET answers HEAD.
            Route::SmsById
            | Route::Inbound
            | Route::Balance
            | Route::Home
            | Route::Document
            | Route::DocumentPage
            | Route::Healthz
            | Route::Readyz
            | Route::Metrics => method == Method::GET || method == Method::HEAD,
            Route::Unknown => true,
        }
    }
}

/// The id in the path of [`Route::SmsById`], as it was sent. Ids are digits, so one that would need decoding is not
/// one of ours.
pub(super) fn message_id_in(path: &str) -> &str {
    path.strip_prefix(SMS_PREFIX).unwrap_or("")
}
