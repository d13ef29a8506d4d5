//! The paths of the API and their methods.

use axum::http::Method;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApiRoute {
    Sms,
    SmsById,
    Inbound,
    Balance,
    /// `/`, for browsers.
    Home,
    Document,
    DocumentPage,
    Healthz,
    Readyz,
    Metrics,
    /// Any other path.
    Unknown,
}

/// The path of [`ApiRoute::SmsById`] before the id.
const SMS_PREFIX: &str = "/api/v1/sms/";

/// GET implies HEAD (RFC 9110 section 9.1).
const READ: &str = "GET, HEAD";

impl ApiRoute {
    pub(super) const COUNT: usize = 11;

    /// Returns the path template, as in logs and metrics.
    pub(super) const fn template(self) -> &'static str {
        match self {
            ApiRoute::Sms => "/api/v1/sms",
            ApiRoute::SmsById => "/api/v1/sms/{id}",
            ApiRoute::Inbound => "/api/v1/inbound",
            ApiRoute::Balance => "/api/v1/balance",
            ApiRoute::Home => "/",
            ApiRoute::Document => "/openapi.json",
            ApiRoute::DocumentPage => "/docs",
            ApiRoute::Healthz => "/healthz",
            ApiRoute::Readyz => "/readyz",
            ApiRoute::Metrics => "/metrics",
            ApiRoute::Unknown => "unknown",
        }
    }

    /// Whether the path belongs to the customer API. Unknown paths do, so that they get its error form.
    pub(super) const fn is_api(self) -> bool {
        match self {
            ApiRoute::Sms | ApiRoute::SmsById | ApiRoute::Inbound | ApiRoute::Balance | ApiRoute::Unknown => {
                true
            }
            ApiRoute::Home
            | ApiRoute::Document
            | ApiRoute::DocumentPage
            | ApiRoute::Healthz
            | ApiRoute::Readyz
            | ApiRoute::Metrics => false,
        }
    }

    /// Returns the value of the `Allow` header; `None` for an unknown path.
    pub(super) const fn allow(self) -> Option<&'static str> {
        match self {
            ApiRoute::Sms => Some("POST"),
            ApiRoute::SmsById
            | ApiRoute::Inbound
            | ApiRoute::Balance
            | ApiRoute::Home
            | ApiRoute::Document
            | ApiRoute::DocumentPage
            | ApiRoute::Healthz
            | ApiRoute::Readyz
            | ApiRoute::Metrics => Some(READ),
            ApiRoute::Unknown => None,
        }
    }

    /// Whether the path accepts the method. An unknown path accepts every method, and answers that it does not exist.
    pub(super) fn answers(self, method: &Method) -> bool {
        self.allow().is_none_or(|allowed| allowed.split(", ").any(|name| name == method.as_str()))
    }
}

/// Returns the id in the path of [`ApiRoute::SmsById`], undecoded: ids are digits, which need no escapes.
pub(super) fn message_id_in(path: &str) -> &str {
    path.strip_prefix(SMS_PREFIX).unwrap_or("")
}
