//! The user's own profile, which belongs to no account: password, sessions, second factor, and leaving an account. Changes of the second
//! factor need the password of a short while ago.

use crate::elements::{Chip, Notice, Tone};
use crate::forms::Field;
use crate::layout::{Shell, encode_segment};
use crate::pages::confirm::{ConfirmPage, proof_fields};
use crate::request::extract::{MemberForm, NoFields, Path};
use crate::request::member::Member;
use crate::request::reply::{NoPage, Reply, page, page_again, redirect, sentence};
use crate::request::{cookie, qr};
use crate::svg::Svg;
use crate::time::Time;
use askama::Template;
use axum::response::Response;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::invitations::OwnMembership;
use hermod_operator::user::second_factor::Setup;
use hermod_operator::user::sessions::SessionView;
use hermod_operator::user::{UserRefusal, invitations, second_factor, sessions, sign_in};
use serde::Deserialize;

/// `GET /profile`.
///
/// Posts to `/profile/password` (`password`, `new_password`, `new_password_again`), `/profile/second-factor` (starts the
/// setup) and `/profile/sessions/{id}/end`, `/profile/sessions/end-others`. Switching the second factor off and making new
/// recovery codes are the pages `/profile/second-factor/off` and `/profile/second-factor/codes`.
#[derive(Clone, Debug, Template)]
#[template(path = "profile.html")]
pub struct ProfilePage {
    pub shell: Shell,
    /// Only errors are shown.
    pub password: Field,
    /// The code of the second factor, if there is one.
    pub code: Field,
    pub new_password: Field,
    pub new_password_again: Field,
    /// When the second factor was switched on.
    pub second_factor_since: Option<Time>,
    /// Recovery codes that were not used.
    pub codes_left: usize,
    pub sessions: Vec<SessionRow>,
    pub accounts: Vec<AccountRow>,
}

/// An account of the user.
#[derive(Clone, Debug)]
pub struct AccountRow {
    pub name: String,
    pub role: String,
    /// The page that leaves the account; `None` for its only owner.
    pub leave: Option<String>,
}

/// A session of the user.
#[derive(Clone, Debug)]
pub struct SessionRow {
    pub id: String,
    /// Such as `Firefox on Linux`.
    pub device: String,
    pub address: String,
    pub since: Time,
    pub last_seen: Time,
    pub is_current: bool,
}

/// The setup of a second factor. Posts `code` to `/profile/second-factor/confirm`.
#[derive(Clone, Debug, Template)]
#[template(path = "second_factor_setup.html")]
pub struct SecondFactorSetupPage {
    pub shell: Shell,
    /// `otpauth://totp/…`
    pub uri: String,
    /// The secret in groups of four letters, to type.
    pub secret: String,
    /// The URI as a QR code, with the class-free colours black and white.
    pub qr: Svg,
    pub code: Field,
}

/// The recovery codes, shown once.
#[derive(Clone, Debug, Template)]
#[template(path = "recovery_codes.html")]
pub struct RecoveryCodesPage {
    pub shell: Shell,
    pub codes: Vec<String>,
}

/// The mark of the session that shows the page.
pub(crate) fn this_device() -> Chip {
    Chip::new(crate::elements::Tone::Good, "This device")
}

/// Characters of a session's id in addresses: enough to tell the sessions of one user apart.
const ID_CHARS: usize = 16;

/// `GET /profile`.
pub(crate) async fn show(member: Member) -> Reply {
    Ok(page(&profile(&member).await?))
}

async fn profile(member: &Member) -> Result<ProfilePage, NoPage> {
    let sessions = sessions::list_sessions(member.gateway(), member.session.user).await?;
    let row = |view: &SessionView| SessionRow {
        id: id_of(view),
        device: device(&view.agent),
        address: view.address.clone(),
        since: Time::from(view.made_at),
        last_seen: Time::from(view.seen_at),
        is_current: view.digest == member.session.digest,
    };
    let catalogue = member.gateway().catalogue();
    let user = catalogue.users().by_id(member.session.user);
    let factor = user.and_then(|(_, user)| user.second_factor.as_ref());
    Ok(ProfilePage {
        shell: shell(member),
        password: Field::default(),
        code: Field::default(),
        new_password: Field::default(),
        new_password_again: Field::default(),
        second_factor_since: factor.map(|factor| Time::from(factor.since)),
        codes_left: factor.map_or(0, |factor| factor.recovery.len()),
        sessions: sessions.iter().map(row).collect(),
        accounts: accounts(member),
    })
}

/// Returns the accounts of the user for the page Profile.
fn accounts(member: &Member) -> Vec<AccountRow> {
    let own = invitations::list_memberships(member.gateway(), member.session.user).into_iter();
    let row = |one: OwnMembership| AccountRow {
        leave: (!one.is_last_owner)
            .then(|| format!("/profile/accounts/{}/leave", encode_segment(&one.account_name))),
        name: one.account_name,
        role: one.role.to_string(),
    };
    own.map(row).collect()
}

/// The profile with the reason why a change was refused.
pub(crate) async fn with_notice(member: &Member, refusal: &UserRefusal) -> Reply {
    let mut page = profile(member).await?;
    let reason = Notice::new(Tone::Bad, sentence(&refusal.to_string()));
    page.shell.notices.push(reason);
    Ok(page_again(&page))
}

/// Returns what surrounds a page of the profile.
pub(crate) fn shell(member: &Member) -> Shell {
    Shell { current: None, ..member.shell(crate::layout::NavEntry::Home) }
}

/// Fails with the page that asks for the password if it was not typed a short while ago.
pub(crate) fn require_confirmed(member: &Member) -> Result<(), NoPage> {
    if member.session.is_confirmed {
        return Ok(());
    }
    Err(NoPage::Confirm { account: member.account_name.clone(), next: "/profile".to_owned() })
}

/// Leads to the profile, which says what was done.
pub(crate) fn done(code: &str) -> Response {
    redirect(&format!("/profile?done={code}"))
}

#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    password: String,
    #[serde(default)]
    code: String,
    new_password: String,
    new_password_again: String,
}

/// `POST /profile/password`. The present password is the proof, with a code if there is a second factor.
pub(crate) async fn change_password(MemberForm { member, form }: MemberForm<PasswordForm>) -> Reply {
    let PasswordForm { password, code, new_password, new_password_again } = form;
    let mut page = profile(&member).await?;
    if new_password != new_password_again {
        page.new_password_again = Field::invalid("", "The two passwords differ. Type the same one twice.");
        return Ok(page_again(&page));
    }
    let (password, new_password) = (Secret::new(password), Secret::new(new_password));
    let (gateway, source) = (member.gateway(), member.source.address);
    let proof = (&password, code.as_str());
    match sign_in::change_password(gateway, &member.session, proof, &new_password, source).await {
        Ok(()) => {
            let mut response = done("password-changed");
            // The token from before ended with the password.
            cookie::remember_device(&member.portal, &member.source, member.session.user, &mut response);
            return Ok(response);
        }
        Err(weak @ UserRefusal::WeakPassword(_)) => {
            page.new_password = Field::invalid("", sentence(&weak.to_string()));
        }
        Err(refusal) => (page.password, page.code) = proof_fields(refusal)?,
    }
    Ok(page_again(&page))
}

/// `POST /profile/sessions/{id}/end`.
pub(crate) async fn end_session(
    Path(id): Path<String>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    let sessions = sessions::list_sessions(member.gateway(), member.session.user).await?;
    let session = sessions.iter().find(|view| id_of(view) == id).ok_or(NoPage::NotFound)?;
    sessions::end_session(member.gateway(), member.session.user, session.digest).await?;
    Ok(done("session-ended"))
}

/// `POST /profile/sessions/end-others`.
pub(crate) async fn end_others(MemberForm { member, form: NoFields {} }: MemberForm<NoFields>) -> Reply {
    sessions::end_other_sessions(member.gateway(), &member.session).await?;
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

/// Letters of a group in secrets and codes that people type.
const GROUP: usize = 4;

/// `POST /profile/second-factor`: makes a secret.
pub(crate) async fn begin(MemberForm { member, form: NoFields {} }: MemberForm<NoFields>) -> Reply {
    require_confirmed(&member)?;
    second_factor::begin_setup(member.gateway(), &member.session).await?;
    Ok(redirect("/profile/second-factor/setup"))
}

/// `GET /profile/second-factor/setup`.
pub(crate) async fn show_setup(member: Member) -> Reply {
    require_confirmed(&member)?;
    match second_factor::pending_setup(member.gateway(), &member.session).await? {
        Some(setup) => Ok(page(&setup_page(&member, &setup, Field::default()))),
        None => Ok(redirect("/profile")),
    }
}

fn setup_page(member: &Member, Setup { secret, uri }: &Setup, code: Field) -> SecondFactorSetupPage {
    SecondFactorSetupPage {
        shell: shell(member),
        secret: grouped(secret.reveal(), " "),
        qr: qr::draw(uri.reveal(), "QR code for your authenticator app"),
        uri: uri.reveal().to_owned(),
        code,
    }
}

#[derive(Deserialize)]
pub(crate) struct ConfirmForm {
    code: String,
}

/// `POST /profile/second-factor/confirm`: switches it on, and shows the recovery codes once.
pub(crate) async fn confirm(
    MemberForm { member, form: ConfirmForm { code } }: MemberForm<ConfirmForm>,
) -> Reply {
    require_confirmed(&member)?;
    let setup = second_factor::pending_setup(member.gateway(), &member.session).await?;
    let Some(setup) = setup else { return Ok(redirect("/profile")) };
    match second_factor::finish_setup(&member.acting(), &member.session, &code).await {
        Ok(codes) => Ok(page(&codes_page(&member, &codes))),
        Err(UserRefusal::WrongCode) => {
            let error = "The code is wrong. Enter the 6 digits that the app shows now; the clock of your phone must be right.";
            let form = setup_page(&member, &setup, Field::invalid("", error));
            Ok(page_again(&form))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn codes_page(member: &Member, codes: &[Secret]) -> RecoveryCodesPage {
    let codes = codes.iter().map(|code| grouped(code.reveal(), "-")).collect();
    RecoveryCodesPage { shell: shell(member), codes }
}

/// `GET /profile/second-factor/off`.
pub(crate) async fn ask_off(member: Member) -> Reply {
    Ok(page(&ConfirmPage {
        shell: shell(&member),
        title: "Switch the second factor off?".to_owned(),
        text: "Your password alone opens your accounts then. The recovery codes no longer work.".to_owned(),
        action: "/profile/second-factor/off".to_owned(),
        button: "Switch it off".to_owned(),
        is_danger: true,
        cancel: "/profile".to_owned(),
        ..ConfirmPage::default()
    }))
}

/// `POST /profile/second-factor/off`.
pub(crate) async fn switch_off(MemberForm { member, form: NoFields {} }: MemberForm<NoFields>) -> Reply {
    require_confirmed(&member)?;
    second_factor::switch_off_second_factor(&member.acting(), &member.session).await?;
    Ok(done("second-factor-off"))
}

/// `GET /profile/second-factor/codes`.
pub(crate) async fn ask_codes(member: Member) -> Reply {
    Ok(page(&ConfirmPage {
        shell: shell(&member),
        title: "Make new recovery codes?".to_owned(),
        text: "You get ten new codes. The codes from before no longer work.".to_owned(),
        action: "/profile/second-factor/codes".to_owned(),
        button: "Make new codes".to_owned(),
        cancel: "/profile".to_owned(),
        ..ConfirmPage::default()
    }))
}

/// `POST /profile/second-factor/codes`: shows them once.
pub(crate) async fn make_codes(MemberForm { member, form: NoFields {} }: MemberForm<NoFields>) -> Reply {
    require_confirmed(&member)?;
    let catalogue = member.gateway().catalogue();
    let user = catalogue.users().by_id(member.session.user);
    if user.is_none_or(|(_, user)| user.second_factor.is_none()) {
        return Err(NoPage::NotFound);
    }
    let codes = second_factor::renew_recovery_codes(&member.acting(), &member.session).await?;
    Ok(page(&codes_page(&member, &codes)))
}

fn grouped(text: &str, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(between)
}

fn find_membership(member: &Member, name: &str) -> Result<(OwnMembership, bool), NoPage> {
    let own = invitations::list_memberships(member.gateway(), member.session.user);
    let is_only = own.len() == 1;
    let found = own.into_iter().find(|one| one.account_name == name);
    found.map(|one| (one, is_only)).ok_or(NoPage::NotFound)
}

/// `GET /profile/accounts/{account}/leave`.
pub(crate) async fn ask_leave(Path(name): Path<String>, member: Member) -> Reply {
    let (_, is_only) = find_membership(&member, &name)?;
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
    }))
}

/// `POST /profile/accounts/{account}/leave`.
pub(crate) async fn leave(
    Path(name): Path<String>,
    MemberForm { member, form: NoFields {} }: MemberForm<NoFields>,
) -> Reply {
    require_confirmed(&member)?;
    let (own, is_only) = find_membership(&member, &name)?;
    match invitations::leave_account(&member.acting(), &member.session, own.account).await {
        Ok(()) if is_only => Ok(redirect("/")),
        Ok(()) => Ok(done("left")),
        Err(UserRefusal::LastOwner) => with_notice(&member, &UserRefusal::LastOwner).await,
        Err(refusal) => Err(refusal.into()),
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
