//! Responses: pages, redirects, files, and why there is no page.

use crate::Template;
use crate::layout::encode_segment;
use crate::plain_message::PlainMessagePage;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use hermod_domain::catalogue::Role;
use hermod_operator::refusal::OperatorRefusal;
use hermod_operator::user::UserRefusal;

/// The response of a handler.
pub(crate) type Reply = Result<Response, NoPage>;

/// Why a request is not answered with its page.
#[derive(Debug)]
pub(crate) enum NoPage {
    /// The request has no session; after signing in, the browser comes back to this path.
    SignIn {
        next: String,
    },
    /// The user is in no account: the browser goes to the invitations.
    NoAccount,
    /// There is no such page, or it belongs to an account of others: both look the same.
    NotFound,
    Forbidden(Role),
    /// The password must be typed again; afterwards the browser comes back to this path.
    Confirm {
        account: String,
        next: String,
    },
    /// The form is too old, or was not sent by our own page.
    StaleForm,
    TooMany {
        wait_s: u32,
    },
    Failed,
}

impl IntoResponse for NoPage {
    fn into_response(self) -> Response {
        let (status, page) = match self {
            NoPage::SignIn { next } => {
                return redirect(&format!("/sign-in?next={}", encode_segment(&next)));
            }
            NoPage::NoAccount => return redirect("/invitations"),
            NoPage::Confirm { account, next } => {
                let (account, next) = (encode_segment(&account), encode_segment(&next));
                return redirect(&format!("/accounts/{account}/re-authenticate?next={next}"));
            }
            NoPage::NotFound => (StatusCode::NOT_FOUND, PlainMessagePage::not_found()),
            NoPage::Forbidden(role) => (StatusCode::FORBIDDEN, PlainMessagePage::forbidden(role.as_str())),
            NoPage::StaleForm => (StatusCode::FORBIDDEN, PlainMessagePage::stale_form()),
            NoPage::TooMany { wait_s } => {
                (StatusCode::TOO_MANY_REQUESTS, PlainMessagePage::too_many(&format!("{wait_s} seconds")))
            }
            NoPage::Failed => (StatusCode::INTERNAL_SERVER_ERROR, PlainMessagePage::server_error("")),
        };
        page_with_status(status, &page)
    }
}

impl From<OperatorRefusal> for NoPage {
    fn from(refusal: OperatorRefusal) -> NoPage {
        if matches!(refusal, OperatorRefusal::NotFound(_)) {
            return NoPage::NotFound;
        }
        tracing::warn!(%refusal, "A page of the portal failed");
        NoPage::Failed
    }
}

impl From<UserRefusal> for NoPage {
    fn from(refusal: UserRefusal) -> NoPage {
        match refusal {
            UserRefusal::TooManyAttempts { wait_s } | UserRefusal::TooManyInvitations { wait_s } => {
                NoPage::TooMany { wait_s }
            }
            UserRefusal::Refused(refusal) => refusal.into(),
            UserRefusal::SignInChanged => NoPage::SignIn { next: "/".to_owned() },
            UserRefusal::WrongSignIn
            | UserRefusal::WrongCode
            | UserRefusal::Busy
            | UserRefusal::WeakPassword(_)
            | UserRefusal::LastOwner
            | UserRefusal::AlreadyMember
            | UserRefusal::HasPassword
            | UserRefusal::NoMail
            | UserRefusal::MailQueueFull(_)
            | UserRefusal::LinkSpent => NoPage::StaleForm,
        }
    }
}

/// Returns what is wrong with a form, as a sentence for its field. Anything else has its own page.
pub(crate) fn fault(refusal: OperatorRefusal) -> Result<String, NoPage> {
    match refusal {
        OperatorRefusal::InvalidField { rule, .. } => Ok(sentence(&rule)),
        OperatorRefusal::Unfit(_)
        | OperatorRefusal::AlreadyExists { .. }
        | OperatorRefusal::Posting(_)
        | OperatorRefusal::InvalidJson(_)
        | OperatorRefusal::TooMuch(_) => Ok(sentence(&refusal.to_string())),
        other => Err(other.into()),
    }
}

/// Begins with a capital letter and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Returns a page with status 200.
pub(crate) fn page(page: &impl Template) -> Response {
    page_with_status(StatusCode::OK, page)
}

/// Shows the page of a form again, with what is wrong: status 400.
pub(crate) fn page_again(page: &impl Template) -> Response {
    page_with_status(StatusCode::BAD_REQUEST, page)
}

pub(crate) fn page_with_status(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "A page could not be rendered");
            (StatusCode::INTERNAL_SERVER_ERROR, "The page could not be made.\n").into_response()
        }
    }
}

/// Leads the browser to another page of ours, with GET.
pub(crate) fn redirect(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned())]).into_response()
}

/// Returns a file that the browser saves under a name: plain letters, digits and dashes.
pub(crate) fn csv(name: &str, content: impl Into<Body>) -> Response {
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (headers, content.into()).into_response()
}
