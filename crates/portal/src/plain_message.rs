//! The page with one thing to say: an error, or that the person is signed out.

use crate::elements::PageLink;
use askama::Template;

/// A page with one thing to say: an error, or that the person is signed out.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "message_outside.html")]
pub struct PlainMessagePage {
    /// The HTTP status; shown if it is an error.
    pub status: Option<u16>,
    pub title: String,
    pub text: String,
    /// The next step.
    pub link: Option<PageLink>,
    /// The id to give to support.
    pub request_id: Option<String>,
}

impl PlainMessagePage {
    /// Returns the page after signing out.
    pub fn signed_out() -> PlainMessagePage {
        PlainMessagePage {
            title: "You are signed out".to_owned(),
            text: "Your session on this device has ended.".to_owned(),
            link: Some(PageLink::new("Sign in again", "/sign-in")),
            ..PlainMessagePage::default()
        }
    }

    /// Returns the page for an address that does not exist, or is not for this person: both look the same.
    pub fn not_found() -> PlainMessagePage {
        PlainMessagePage::error(
            404,
            "Page not found",
            "There is nothing at this address, or it belongs to an account that you are not a member of.",
        )
        .leading_home()
    }

    /// Returns the page for an action that the role may not do.
    pub fn forbidden(role: &str) -> PlainMessagePage {
        let text = format!(
            "Your role in this account is {role}, which may not do this. Ask an owner of the account."
        );
        PlainMessagePage::error(403, "Not allowed for your role", &text).leading_home()
    }

    /// Returns the page for a form that is too old, or was not sent by our own page.
    pub fn stale_form() -> PlainMessagePage {
        let text = "The form was open for too long, or you have signed in again since. Nothing was changed. Go back, reload the page and try again.";
        PlainMessagePage::error(403, "This form is no longer valid", text).leading_home()
    }

    /// Returns the page for a form that is too large or was sent too slowly.
    pub fn too_large() -> PlainMessagePage {
        let text = "The form has more than 256 KB, or did not arrive within 30 seconds. Nothing was changed. Go back and send it in smaller pieces.";
        PlainMessagePage::error(413, "This form is too large", text).leading_home()
    }

    /// Returns the page for an error of ours.
    pub fn server_error(request_id: &str) -> PlainMessagePage {
        let text =
            "The gateway could not answer. Messages that were accepted are safe. Try again in a moment.";
        PlainMessagePage {
            request_id: Some(request_id.to_owned()),
            ..PlainMessagePage::error(500, "Something went wrong on our side", text).leading_home()
        }
    }

    /// Returns the page for too many attempts. `wait` is a duration in words.
    pub fn too_many(wait: &str) -> PlainMessagePage {
        let text = format!(
            "There were too many attempts from your network or for this address. Wait {wait}, then try again."
        );
        PlainMessagePage::error(429, "Too many attempts", &text)
    }

    /// Returns the page for a one-time link that was used or has expired.
    pub fn dead_link() -> PlainMessagePage {
        let text = "Links work once and for a limited time. Ask the person who invited you for a new one.";
        PlainMessagePage::error(404, "This link no longer works", text)
    }

    fn error(status: u16, title: &str, text: &str) -> PlainMessagePage {
        let (title, text) = (title.to_owned(), text.to_owned());
        PlainMessagePage { status: Some(status), title, text, link: None, request_id: None }
    }

    fn leading_home(self) -> PlainMessagePage {
        PlainMessagePage { link: Some(PageLink::new("Go to the home page", "/")), ..self }
    }
}
