//! The routes of invitations and lost second factors. Users themselves are entries of the setup.

use crate::author::Acting;
use crate::http::routes::{Routes, doc};
use crate::kind::Kind;
use crate::refusal::OperatorRefusal;
use crate::setup::canonical_name;
use crate::user;
use crate::user::UserRefusal;
use crate::user::views::{InvitationView, InviteRequest, SecondFactorView};
use hermod_domain::catalogue::Role;

pub(crate) fn routes(routes: &mut Routes) {
    routes.section("Invitations", "Links by which users of the portal choose a password.");
    routes.post(
        "/users/{name}/invite",
        invite,
        doc("inviteUser", "Invite a user", "The link, which is returned only here.")
            .details(
                "Invites the person to the account, creates the user if there is none with this address, and makes a link that \
                 works once. The membership is pending until the person accepts it: with the link, or, as a user who has a \
                 password, signed in under Invitations. An invitation works for a week; without an account the link is for \
                 another password and works for an hour. If the user is in other accounts already, `starts_afresh` is true: \
                 using the link ends all sessions, replaces the password and removes the second factor.",
            )
            .errors(&["INVALID_FIELD", "NOT_FOUND", "REFUSED"]),
    );
    routes.post(
        "/users/{name}/reset-second-factor",
        reset_second_factor,
        doc("resetSecondFactor", "Remove a lost second factor", "Whether the user had one.")
            .details(
                "For a user who has lost phone and recovery codes: afterwards the password is enough. Make sure that it is the \
                 user who asks. Sessions stay open.",
            )
            .errors(&["NOT_FOUND", "REFUSED"]),
    );
}

async fn invite(
    acting: &Acting,
    email: &str,
    request: InviteRequest,
) -> Result<InvitationView, OperatorRefusal> {
    let InviteRequest { account, role } = request;
    let role = role.map_or(Ok(Role::Owner), |text| {
        let rule = || format!("\"{text}\" is not owner, developer, billing or viewer");
        Role::parse(&text).ok_or_else(|| OperatorRefusal::InvalidField { field: "role", rule: rule() })
    })?;
    let membership = account.as_deref().map(|account| (account, role));
    let invited = user::invite(acting, email, membership).await.map_err(refusal_of)?;
    Ok(InvitationView {
        link: format!("{}/links/{}", acting.portal_url, invited.token.reveal()),
        email: invited.email,
        expires_at: invited.expires_at.to_iso(),
        is_reset: invited.is_reset,
        starts_afresh: invited.starts_afresh,
    })
}

async fn reset_second_factor(acting: &Acting, email: &str) -> Result<SecondFactorView, OperatorRefusal> {
    let email = canonical_name(Kind::User, email).map_err(|_| OperatorRefusal::no_such("user", email))?;
    let was_on = user::remove_second_factor(acting, &email).await.map_err(refusal_of)?;
    Ok(SecondFactorView { email, was_on })
}

fn refusal_of(refusal: UserRefusal) -> OperatorRefusal {
    match refusal {
        UserRefusal::Refused(refusal) => refusal,
        other => OperatorRefusal::InvalidField { field: "email", rule: other.to_string() },
    }
}
