//! Setting up, renewing and switching off the second factor. Each needs the password of a short while ago.

use super::extract::{NoFields, PersonForm};
use super::member::{Member, Person};
use super::profile::{done, require_confirmed, shell};
use super::reply::{NoPage, Reply, page, page_with_status, redirect};
use super::{State, qr};
use crate::forms::Field;
use crate::pages::confirm::ConfirmPage;
use crate::pages::profile::{RecoveryCodesPage, SecondFactorSetupPage};
use axum::http::StatusCode;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::second_factor::Setup;
use hermod_operator::user::{UserRefusal, second_factor};
use serde::Deserialize;

/// Letters of a group in secrets and codes that people type.
const GROUP: usize = 4;

/// `POST /profile/second-factor`: makes a secret.
pub(super) async fn begin(
    axum::extract::State(portal): State,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    require_confirmed(&member)?;
    second_factor::begin_setup(&portal.gateway, &member.session).await?;
    Ok(redirect("/profile/second-factor/setup"))
}

/// `GET /profile/second-factor/setup`.
pub(super) async fn show_setup(axum::extract::State(portal): State, Person(member): Person) -> Reply {
    require_confirmed(&member)?;
    match second_factor::pending_setup(&portal.gateway, &member.session).await? {
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
pub(super) struct ConfirmForm {
    code: String,
}

/// `POST /profile/second-factor/confirm`: switches it on, and shows the recovery codes once.
pub(super) async fn confirm(
    axum::extract::State(portal): State,
    PersonForm { member, form: ConfirmForm { code } }: PersonForm<ConfirmForm>,
) -> Reply {
    require_confirmed(&member)?;
    let setup = second_factor::pending_setup(&portal.gateway, &member.session).await?;
    let Some(setup) = setup else { return Ok(redirect("/profile")) };
    match second_factor::finish_setup(&member.acting(&portal), &member.session, &code).await {
        Ok(codes) => Ok(page(&codes_page(&member, &codes))),
        Err(UserRefusal::WrongCode) => {
            let error = "The code is wrong. Enter the 6 digits that the app shows now; the clock of your phone must be right.";
            let form = setup_page(&member, &setup, Field::invalid("", error));
            Ok(page_with_status(StatusCode::BAD_REQUEST, &form))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn codes_page(member: &Member, codes: &[Secret]) -> RecoveryCodesPage {
    let codes = codes.iter().map(|code| grouped(code.reveal(), "-")).collect();
    RecoveryCodesPage { shell: shell(member), codes }
}

/// `GET /profile/second-factor/off`.
pub(super) async fn ask_off(Person(member): Person) -> Reply {
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
pub(super) async fn switch_off(
    axum::extract::State(portal): State,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    require_confirmed(&member)?;
    second_factor::switch_off_second_factor(&member.acting(&portal), &member.session).await?;
    Ok(done("second-factor-off"))
}

/// `GET /profile/second-factor/codes`.
pub(super) async fn ask_codes(Person(member): Person) -> Reply {
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
pub(super) async fn make_codes(
    axum::extract::State(portal): State,
    PersonForm { member, form: NoFields {} }: PersonForm<NoFields>,
) -> Reply {
    require_confirmed(&member)?;
    let catalogue = portal.gateway.catalogue();
    let user = catalogue.users().by_id(member.session.user);
    if user.is_none_or(|(_, user)| user.second_factor.is_none()) {
        return Err(NoPage::NotFound);
    }
    let codes = second_factor::renew_recovery_codes(&member.acting(&portal), &member.session).await?;
    Ok(page(&codes_page(&member, &codes)))
}

fn grouped(text: &str, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn secret_is_shown_in_groups() {
        assert_eq!(grouped("abcdefghij", "-"), "abcd-efgh-ij");
    }
}
