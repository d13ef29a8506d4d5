//! Leaving an account.

use super::State;
use super::extract::{NoFields, Path, PersonForm};
use super::member::{Member, Person};
use super::profile::{require_confirmed, shell, with_notice};
use super::reply::{NoPage, Reply, page, redirect};
use crate::layout::encode_segment;
use crate::pages::confirm::ConfirmPage;
use hermod_operator::user::invitations::OwnMembership;
use hermod_operator::user::{UserRefusal, invitations};

fn find(portal: &super::Portal, member: &Member, name: &str) -> Result<(OwnMembership, bool), NoPage> {
    let own = invitations::list_memberships(&portal.gateway, member.session.user);
    let is_only = own.len() == 1;
    let found = own.into_iter().find(|one| one.account_name == name);
    found.map(|one| (one, is_only)).ok_or(NoPage::NotFound)
}

/// `GET /profile/accounts/{account}/leave`.
pub(super) async fn ask_leave(
    axum::extract::State(portal): State,
    Path(name): Path<String>,
    Person(member): Person,
) -> Reply {
    let (_, is_only) = find(&portal, &member, &name)?;
    let only = "This is your only account: your user is removed, and you are signed out.".to_owned();
    Ok(page(&ConfirmPage {
        shell: shell(&member),
        title: format!("Leave {name}?"),
        text: format!("You can no longer open {name}. An owner of the account can invite you again."),
        consequences: is_only.then_some(only).into_iter().collect(),
        action: format!("/profile/accounts/{}/leave", encode_segment(&name)),
        button: "Leave the account".to_owned(),
        is_danger: true,
        cancel: "/profile".to_owned(),
        ..ConfirmPage::default()
    }))
}

/// `POST /profile/accounts/{account}/leave`.
pub(super) async fn leave(
    axum::extract::State(portal): State,
    Path(name): Path<String>,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    require_confirmed(&member)?;
    let (own, is_only) = find(&portal, &member, &name)?;
    match invitations::leave_account(&member.acting(&portal), &member.session, own.account).await {
        Ok(()) if is_only => Ok(redirect("/")),
        Ok(()) => Ok(super::profile::done("left")),
        Err(UserRefusal::LastOwner) => with_notice(&portal, &member, &UserRefusal::LastOwner).await,
        Err(refusal) => Err(refusal.into()),
    }
}
