//! The route of invitations. Users themselves are entries of the setup.

use super::extract::{FromBody, FromPath};
use super::response::Reply;
use super::routes::{Routes, doc};
use crate::app::operator::OperatorRefusal;
use crate::app::users::{self, UserRefusal};
use crate::author::Acting;
use crate::views::users::{InvitationView, InviteRequest};
use axum::Json;
use hermod_domain::catalogue::Role;

pub(super) fn routes(routes: &mut Routes) {
    routes.section("Invitations", "Links by which users of the portal choose a password.");
    routes.post(
        "/users/{name}/invite",
        invite,
        doc("inviteUser", "Invite a user", "The link, which is returned only here.")
            .details(
                "Gives the user a role in the account, creates the user if there is none with this address, and makes a \
                 link that works once: for a week, or for an hour if the user has a password already.",
            )
            .errors(&["INVALID_FIELD", "NOT_FOUND", "REFUSED"]),
    );
}

async fn invite(
    acting: Acting,
    FromPath(email): FromPath<String>,
    FromBody(request): FromBody<InviteRequest>,
) -> Reply<InvitationView> {
    let InviteRequest { account, role } = request;
    let role = role.map_or(Ok(Role::Owner), |text| {
        let rule = || format!("\"{text}\" is not owner, developer, billing or viewer");
        Role::parse(&text).ok_or_else(|| OperatorRefusal::InvalidField { field: "role", rule: rule() })
    })?;
    let membership = account.as_deref().map(|account| (account, role));
    let invited = users::invite(&acting, &email, membership).await.map_err(|refusal| match refusal {
        UserRefusal::Refused(refusal) => refusal,
        other => OperatorRefusal::InvalidField { field: "email", rule: other.to_string() },
    })?;
    Ok(Json(InvitationView {
        link: format!("{}/links/{}", acting.portal_url, invited.token.reveal()),
        email: invited.email,
        expires_at: invited.expires_at.to_iso(),
        is_reset: invited.is_reset,
    }))
}
