//! Journeys of people: a second factor, and an invitation.

use super::tab::Tab;
use super::{EMAIL, PASSWORD, make_user};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_gateway::secrets::{Secret, totp};
use hermod_simulator::carrier::Script;
use std::time::Duration;

/// Longer than a code is valid.
const NEXT_CODE: Duration = Duration::from_secs(90);

fn code(s: &Scenario, secret: &Secret) -> String {
    totp::code(secret, s.gateway().clock.machine_time()).expect("a secret in Base32")
}

#[tokio::test]
async fn second_factor_is_set_up_and_asked_for_at_the_next_sign_in() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/profile").await;
    tab.press("Set up a second factor").await;
    tab.arrives_at("/profile/second-factor/setup").await;
    tab.press("Enter it by hand instead").await;
    let secret = Secret::new(tab.fact("Secret").await.replace(' ', ""));
    tab.fill("code", &code(&s, &secret)).await;
    tab.press("Switch on").await;
    tab.sees("Save your recovery codes").await;
    let recovery = tab.element(".recovery li").await.text().await.expect("a code");
    tab.press("I have saved the codes").await;
    tab.sees("10 recovery codes are left").await;
    tab.sign_out().await;

    tab.sign_in(EMAIL, PASSWORD).await;
    tab.arrives_at("/sign-in/code").await;
    let wrong = if code(&s, &secret) == "000000" { "000001" } else { "000000" };
    tab.fill("code", wrong).await;
    tab.press("Continue").await;
    tab.sees("The code is wrong").await;
    s.skip(NEXT_CODE);
    tab.fill("code", &code(&s, &secret)).await;
    tab.press("Continue").await;
    tab.arrives_at("/accounts/alice").await;
    tab.sign_out().await;

    tab.sign_in(EMAIL, PASSWORD).await;
    tab.arrives_at("/sign-in/code").await;
    tab.fill("code", &recovery).await;
    tab.press("Continue").await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/profile").await;
    tab.sees("9 recovery codes are left").await;
    tab.close().await;
    s.end().await;
}

#[tokio::test]
async fn invited_person_joins_with_a_link_and_has_the_role_of_the_invitation() {
    let s = Scenario::with(Script::new()).await;
    make_user(&s, EMAIL, "alice", Role::Owner).await;
    let tab = Tab::signed_in(&s.origin()).await;
    tab.arrives_at("/accounts/alice").await;
    tab.go("/accounts/alice/team").await;
    tab.fill("email", "money@example.com").await;
    tab.choose("[action$='/team'] [name=role]", "billing").await;
    tab.press("Invite").await;
    tab.sees("Pass this link on to money@example.com").await;
    let link = tab.element(".secret code").await.text().await.expect("a link");
    let (_, path) = link.split_once("/links/").expect("a one-time link");
    tab.sign_out().await;

    tab.go(&format!("/links/{path}")).await;
    tab.sees("Join alice").await;
    tab.fill("password", PASSWORD).await;
    tab.fill("password_again", "another horse battery").await;
    tab.press("Join the account").await;
    tab.sees("The two passwords differ").await;
    tab.fill("password", PASSWORD).await;
    tab.fill("password_again", PASSWORD).await;
    tab.press("Join the account").await;
    tab.arrives_at("/accounts/alice").await;
    tab.press("Billing").await;
    tab.arrives_at("/accounts/alice/billing").await;
    tab.go("/accounts/alice/keys").await;
    tab.sees("billing").await;
    assert!(!tab.text().await.contains("Create a key"), "money has no keys");
    tab.close().await;
    s.end().await;
}
