//! Confirmation of a change that cannot be undone, and the password again before a sensitive one.

use crate::forms::Field;
use crate::layout::Shell;
use askama::Template;

/// A page that names the consequences of a change before it is made. Works for every destructive action.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "confirm.html")]
pub struct ConfirmPage {
    pub shell: Shell,
    /// The question: `Revoke key lk_live_1?`
    pub title: String,
    /// What happens, in one sentence.
    pub text: String,
    /// Further consequences: `It was used 2 minutes ago from 203.0.113.9.`
    pub consequences: Vec<String>,
    /// Where the form posts.
    pub action: String,
    /// Hidden fields of the form, name and value.
    pub hidden: Vec<(String, String)>,
    /// The words of the button: `Revoke the key`.
    pub button: String,
    /// Whether the change destroys something.
    pub is_danger: bool,
    /// Where "Cancel" leads.
    pub cancel: String,
}

/// `GET /accounts/{account}/re-authenticate?next=…`: the password again. Posts `password` and `next` to the same address.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "reauthenticate.html")]
pub struct ReauthenticatePage {
    pub shell: Shell,
    /// Why the person is asked: a sentence.
    pub purpose: String,
    /// Where to go on: a path of ours.
    pub next: String,
    /// Only the error is shown.
    pub password: Field,
    /// Whether the code of the second factor is asked for too.
    pub needs_code: bool,
    pub code: Field,
    pub cancel: String,
}
