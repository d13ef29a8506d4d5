//! The user's own profile: password and sessions. It belongs to no account.

use super::extract::{NoFields, Path, PersonForm};
use super::member::{Member, Person};
use super::reply::{NoPage, Reply, page, page_with_status, redirect, sentence};
use super::sign_in_code::WRONG_CODE;
use super::{Portal, State, cookie};
use crate::elements::{Notice, Tone};
use crate::forms::Field;
use crate::layout::{Shell, encode_segment};
use crate::pages::profile::{AccountRow, ProfilePage, SessionRow};
use crate::time::Time;
use axum::http::StatusCode;
use axum::response::Response;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::invitations::OwnMembership;
use hermod_operator::user::sessions::SessionView;
use hermod_operator::user::{UserRefusal, invitations, sessions, sign_in};
use serde::Deserialize;

/// Characters of a session's id in addresses: enough to tell the sessions of one user apart.
const ID_CHARS: usize = 16;

/// `GET /profile`.
pub(super) async fn show(axum::extract::State(portal): State, Person(member): Person) -> Reply {
    Ok(page(&profile(&portal, &member).await?))
}

async fn profile(portal: &Portal, member: &Member) -> Result<ProfilePage, NoPage> {
    let sessions = sessions::list_sessions(&portal.gateway, member.session.user).await?;
    let row = |view: &SessionView| SessionRow {
        id: id_of(view),
        device: device(&view.agent),
        address: view.address.clone(),
        since: Time(view.made_at.as_millis()),
        last_seen: Time(view.seen_at.as_millis()),
        is_current: view.digest == member.session.digest,
    };
    let catalogue = portal.gateway.catalogue();
    let user = catalogue.users().by_id(member.session.user);
    let factor = user.and_then(|(_, user)| user.second_factor.as_ref());
    Ok(ProfilePage {
        shell: shell(member),
        password: Field::default(),
        code: Field::default(),
        new_password: Field::default(),
        new_password_again: Field::default(),
        second_factor_since: factor.map(|factor| Time(factor.since.as_millis())),
        codes_left: factor.map_or(0, |factor| factor.recovery.len()),
        sessions: sessions.iter().map(row).collect(),
        accounts: accounts(portal, member),
    })
}

/// Returns the accounts of the user for the page Profile.
fn accounts(portal: &Portal, member: &Member) -> Vec<AccountRow> {
    let own = invitations::list_memberships(&portal.gateway, member.session.user).into_iter();
    let row = |one: OwnMembership| AccountRow {
        leave: (!one.is_last_owner)
            .then(|| format!("/profile/accounts/{}/leave", encode_segment(&one.account_name))),
        name: one.account_name,
        role: one.role.to_string(),
    };
    own.map(row).collect()
}

/// The profile with the reason why a change was refused.
pub(super) async fn with_notice(portal: &Portal, member: &Member, refusal: &UserRefusal) -> Reply {
    let mut page = profile(portal, member).await?;
    let reason = Notice::new(Tone::Bad, sentence(&refusal.to_string()));
    page.shell.notices.push(reason);
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

/// Returns what surrounds a page of the profile.
pub(super) fn shell(member: &Member) -> Shell {
    Shell { current: None, ..member.shell(crate::layout::NavEntry::Home) }
}

/// Fails with the page that asks for the password if it was not typed a short while ago.
pub(super) fn require_confirmed(member: &Member) -> Result<(), NoPage> {
    if member.session.is_confirmed {
        return Ok(());
    }
    Err(NoPage::Confirm { account: member.account_name.clone(), next: "/profile".to_owned() })
}

/// Leads to the profile, which says what was done.
pub(super) fn done(code: &str) -> Response {
    redirect(&format!("/profile?done={code}"))
}

#[derive(Deserialize)]
pub(super) struct PasswordForm {
    password: String,
    #[serde(default)]
    code: String,
    new_password: String,
    new_password_again: String,
}

/// `POST /profile/password`. The present password is the proof, with a code if there is a second factor.
pub(super) async fn change_password(
    axum::extract::State(portal): State,
    PersonForm { member, form }: PersonForm<PasswordForm>,
) -> Reply {
    let PasswordForm { password, code, new_password, new_password_again } = form;
    let mut page = profile(&portal, &member).await?;
    if new_password != new_password_again {
        page.new_password_again = Field::invalid("", "The two passwords differ. Type the same one twice.");
        return Ok(page_with_status(StatusCode::BAD_REQUEST, &page));
    }
    let (password, new_password) = (Secret::new(password), Secret::new(new_password));
    let (gateway, source) = (&portal.gateway, member.source.address);
    let proof = (&password, code.as_str());
    match sign_in::change_password(gateway, &member.session, proof, &new_password, source).await {
        Ok(()) => {
            let mut response = done("password-changed");
            // The token from before ended with the password.
            cookie::remember_device(&portal, &member.source, member.session.user, &mut response);
            return Ok(response);
        }
        Err(weak @ UserRefusal::WeakPassword(_)) => {
            page.new_password = Field::invalid("", sentence(&weak.to_string()));
        }
        Err(UserRefusal::WrongCode) => page.code = Field::invalid("", WRONG_CODE),
        Err(UserRefusal::WrongSignIn) => {
            page.password = Field::invalid("", "The password is wrong. Type it again.");
        }
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(page_with_status(StatusCode::BAD_REQUEST, &page))
}

/// `POST /profile/sessions/{id}/end`.
pub(super) async fn end_session(
    axum::extract::State(portal): State,
    Path(id): Path<String>,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    let sessions = sessions::list_sessions(&portal.gateway, member.session.user).await?;
    let session = sessions.iter().find(|view| id_of(view) == id).ok_or(NoPage::NotFound)?;
    sessions::end_session(&portal.gateway, member.session.user, session.digest).await?;
    Ok(done("session-ended"))
}

/// `POST /profile/sessions/end-others`.
pub(super) async fn end_others(
    axum::extract::State(portal): State,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    sessions::end_other_sessions(&portal.gateway, &member.session).await?;
    Ok(done("session-ended"))
}

fn id_of(view: &SessionView) -> String {
    let hex: String = view.digest.0.iter().map(|octet| format!("{octet:02x}")).collect();
    hex.chars().take(ID_CHARS).collect()
}

/// Returns what a `User-Agent` header names, such as `Firefox on Linux`. Its beginning if it names nothing that is known.
fn device(agent: &str) -> String {
    let named = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    // In this order: most browsers claim to be others too.
    let browser = named(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = named(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) if agent.is_empty() => "Unknown device".to_owned(),
        (None, None) => agent.chars().take(40).collect(),
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
