//! Samples of the pages outside of accounts.

use super::{DAY, NOW, html};
use hermod_domain::catalogue::Role;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_operator::user::invitations::OwnInvitation;
use hermod_portal::Time;
use hermod_portal::forms::Field;
use hermod_portal::pages::access::{ForgottenPage, OneTimeLinkPage, SecondFactorPage, SignInPage};
use hermod_portal::pages::team::InvitationsPage;
use hermod_portal::plain_message::PlainMessagePage;

pub(crate) fn all() -> Vec<(&'static str, String)> {
    let csrf = "f3c1b2a49d".to_owned();
    let sign_in = SignInPage { csrf: csrf.clone(), next: "/".to_owned(), ..SignInPage::default() };
    let wrong = SignInPage {
        email: Field::new("jana.petersen@lindgren.example"),
        error: Some("The e-mail address or the password is wrong.".to_owned()),
        ..sign_in.clone()
    };
    let code = SecondFactorPage {
        csrf: csrf.clone(),
        code: Field::invalid(
            "",
            "This code is not valid now. Codes change every 30 seconds; check the clock of your phone.",
        ),
    };
    let invitation = OneTimeLinkPage {
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
    let invitations = InvitationsPage {
        email: "tomasz@lindgren.example".to_owned(),
        invitations: vec![OwnInvitation {
            account: AccountId::new(1),
            account_name: "lindgren".to_owned(),
            role: Role::Developer,
            invited_by: Some("jana.petersen@lindgren.example".to_owned()),
            expires_at: Some(Timestamp::from_millis(NOW + 3 * DAY)),
        }],
        csrf: csrf.clone(),
        ..InvitationsPage::default()
    };
    let reset = OneTimeLinkPage {
        is_invitation: false,
        password: Field::default(),
        sign_in: None,
        ..invitation.clone()
    };
    vec![
        ("sign-in", html(&sign_in)),
        ("sign-in-wrong", html(&wrong)),
        ("sign-in-code", html(&code)),
        ("sign-in-forgotten", html(&ForgottenPage { sends_mail: true, ..ForgottenPage::default() })),
        ("sign-in-no-mail", html(&ForgottenPage::default())),
        ("link-invitation", html(&invitation)),
        ("link-reset", html(&reset)),
        ("invitations", html(&invitations)),
        ("invitations-none", html(&InvitationsPage { csrf, ..InvitationsPage::default() })),
        ("signed-out", html(&PlainMessagePage::signed_out())),
        ("error-404", html(&PlainMessagePage::not_found())),
        ("error-403", html(&PlainMessagePage::forbidden("billing"))),
        ("error-stale", html(&PlainMessagePage::stale_form())),
        ("error-500", html(&PlainMessagePage::server_error("req_01JD2K7Q8X4M"))),
        ("error-429", html(&PlainMessagePage::too_many("40 seconds"))),
        ("link-dead", html(&PlainMessagePage::dead_link())),
    ]
}
