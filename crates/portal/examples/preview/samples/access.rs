//! Samples of the pages outside of accounts.

use super::{DAY, NOW, html};
use hermod_portal::Time;
use hermod_portal::forms::Field;
use hermod_portal::pages::access::{Forgotten, OneTimeLink, PlainMessage, SecondFactor, SignIn};
use hermod_portal::pages::invitations::{Invitation, Invitations};

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let csrf = "f3c1b2a49d".to_owned();
    let sign_in = SignIn { csrf: csrf.clone(), next: "/".to_owned(), ..SignIn::default() };
    let wrong = SignIn {
        email: Field::new("jana.petersen@lindgren.example"),
        error: Some("The e-mail address or the password is wrong.".to_owned()),
        ..sign_in.clone()
    };
    let code = SecondFactor {
        csrf: csrf.clone(),
        code: Field::invalid(
            "",
            "This code is not valid now. Codes change every 30 seconds; check the clock of your phone.",
        ),
    };
    let invitation = OneTimeLink {
        csrf: csrf.clone(),
        action: "/links/q7hd".to_owned(),
        is_invitation: true,
        email: "tomasz@lindgren.example".to_owned(),
        account: "Möbelhaus Lindgren".to_owned(),
        role: "developer".to_owned(),
        invited_by: Some("jana.petersen@lindgren.example".to_owned()),
        password: Field::invalid("", "Use at least 12 characters; this one has 9."),
        password_again: Field::default(),
        expires_at: Time(NOW + 3 * DAY),
        starts_afresh: false,
        sign_in: Some("/sign-in?next=%2Finvitations%3Flink%3Dq7hd".to_owned()),
    };
    let invitations = Invitations {
        email: "tomasz@lindgren.example".to_owned(),
        invitations: vec![Invitation {
            account: "lindgren".to_owned(),
            role: "developer".to_owned(),
            invited_by: Some("jana.petersen@lindgren.example".to_owned()),
            expires: Some(Time(NOW + 3 * DAY)),
        }],
        csrf: csrf.clone(),
        ..Invitations::default()
    };
    let reset =
        OneTimeLink { is_invitation: false, password: Field::default(), sign_in: None, ..invitation.clone() };
    vec![
        ("sign-in", html(&sign_in)),
        ("sign-in-wrong", html(&wrong)),
        ("sign-in-code", html(&code)),
        ("sign-in-forgotten", html(&Forgotten { sends_mail: true, ..Forgotten::default() })),
        ("sign-in-no-mail", html(&Forgotten::default())),
        ("link-invitation", html(&invitation)),
        ("link-reset", html(&reset)),
        ("invitations", html(&invitations)),
        ("invitations-none", html(&Invitations { csrf, ..Invitations::default() })),
        ("signed-out", html(&PlainMessage::signed_out())),
        ("error-404", html(&PlainMessage::not_found())),
        ("error-403", html(&PlainMessage::forbidden("billing"))),
        ("error-stale", html(&PlainMessage::stale_form())),
        ("error-500", html(&PlainMessage::server_error("req_01JD2K7Q8X4M"))),
        ("error-429", html(&PlainMessage::too_many("40 seconds"))),
        ("link-dead", html(&PlainMessage::dead_link())),
    ]
}
