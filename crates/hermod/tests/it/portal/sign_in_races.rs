//! Requests that checked a password before a link or another request replaced it: they neither replace the new one nor open or
//! keep a session. A stale catalogue stands for a request in flight, and for another node.

use super::mail_server::{MailServer, link_in};
use super::second_factor::code;
use super::team::{ACCEPT, row_of};
use super::{Browser, PASSWORD, member};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::catalogue::{Catalogue, Role};
use hermod_gateway::gateway::load_catalogue;
use hermod_gateway::secrets::Secret;
use hermod_operator::author::{Acting, Author};
use hermod_operator::user::code_sign_in::{enter_code, wait_for_code};
use hermod_operator::user::invitations::{accept_invitation, accept_with_link};
use hermod_operator::user::second_factor::{renew_recovery_codes, switch_off_second_factor};
use hermod_operator::user::sessions::{Client, Session, SignedIn, find_session, open_session};
use hermod_operator::user::sign_in::{Device, change_password};
use hermod_operator::user::{UserRefusal, links, sign_in};
use hermod_simulator::carrier::Script;
use hermod_store::CatalogueChange;
use std::time::Duration;

const ANN: &str = "ann@example.com";
const NEW_PASSWORD: &str = "another horse battery";
const CHOOSE: &str = "password=another+horse+battery&password_again=another+horse+battery";

/// Chooses another password with a link of the operator.
async fn use_link(s: &Scenario) {
    let link = links::invite(&acting(s), ANN, None).await.expect("a link");
    let used =
        links::use_link(s.gateway(), link.token.reveal(), &Secret::new(NEW_PASSWORD), None).await.map(drop);
    assert_eq!(used, Ok(()));
}

fn acting(s: &Scenario) -> Acting {
    Acting { gateway: s.gateway().clone(), author: Author::operator(None) }
}

/// Returns the catalogue that is stored now.
async fn stored_catalogue(s: &Scenario) -> Catalogue {
    load_catalogue(&s.gateway().store).await.expect("a catalogue")
}

async fn session_of(s: &Scenario, browser: &Browser) -> Session {
    let (_, token) = browser.cookie.split_once('=').expect("a cookie");
    find_session(s.gateway(), token).await.expect("it is read").expect("a session")
}

async fn sign_in(s: &Scenario, password: &str) -> SignedIn {
    let signed_in = sign_in::sign_in(s.gateway(), ANN, &Secret::new(password), Device::default()).await;
    signed_in.expect("the password is right")
}

/// Whether a session that is opened now is one.
async fn opens(s: &Scenario, signed_in: SignedIn) -> bool {
    let token = open_session(s.gateway(), signed_in, &Client::default()).await.expect("a token");
    find_session(s.gateway(), token.reveal()).await.expect("it is read").is_some()
}

#[tokio::test]
async fn change_that_was_proved_with_the_old_password_does_not_replace_that_of_a_link() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    let session = session_of(&s, &ann).await;
    let old = stored_catalogue(&s).await;
    use_link(&s).await;
    // The old password is checked before the catalogue changes.
    s.gateway().set_catalogue(old);
    let proof = (&Secret::new(PASSWORD), "");
    let third = Secret::new("a third horse battery");
    let changed = change_password(s.gateway(), &session, proof, &third, None).await;
    assert_eq!(changed, Err(UserRefusal::SignInChanged));
    s.gateway().set_catalogue(stored_catalogue(&s).await);
    assert_eq!(ann.sign_in(ANN, NEW_PASSWORD).await.location(), "/");
    s.end().await;
}

#[tokio::test]
async fn session_that_a_link_has_ended_changes_neither_second_factor_nor_memberships() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    ann.set_up(&s).await;
    s.provision(
        "[[user]]\nemail = \"ann@example.com\"\naccounts = [{ account = \"alice\", role = \"owner\" }, { account = \"bob\", role = \"viewer\" }]\n",
    )
    .await;
    let (session, acting) = (session_of(&s, &ann).await, acting(&s));
    use_link(&s).await;
    let changed = Err(UserRefusal::SignInChanged);
    assert_eq!(switch_off_second_factor(&acting, &session).await, changed);
    assert_eq!(renew_recovery_codes(&acting, &session).await.map(drop), changed);
    let catalogue = s.gateway().catalogue();
    let bob = catalogue.accounts().find(|(_, view)| view.name == "bob").expect("an account").0;
    assert_eq!(accept_invitation(&acting, &session, bob).await, changed);
    let link = links::invite(&acting, ANN, Some(("bob", Role::Viewer))).await.expect("a link");
    assert_eq!(accept_with_link(&acting, &session, link.token.reveal()).await, changed);
    let catalogue = s.gateway().catalogue();
    let (_, user) = catalogue.users().find(ANN).expect("a user");
    assert!(user.second_factor.is_some() && user.role_in(bob).is_none());
    s.end().await;
}

#[tokio::test]
async fn sign_in_with_the_old_password_opens_no_session_after_a_link() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    let early = sign_in(&s, PASSWORD).await;
    use_link(&s).await;
    assert!(!opens(&s, early).await);
    let early = sign_in(&s, NEW_PASSWORD).await;
    assert!(opens(&s, early.clone()).await);

    // A second factor that is switched on meanwhile is needed too.
    assert_eq!(ann.sign_in(ANN, NEW_PASSWORD).await.location(), "/");
    let (secret, _) = ann.set_up(&s).await;
    assert!(!opens(&s, early).await);
    s.skip(Duration::from_secs(90));
    let early = sign_in(&s, NEW_PASSWORD).await;
    use_link(&s).await;
    let token = wait_for_code(s.gateway(), early, "/").await.expect("a token");
    let entered = enter_code(s.gateway(), token.reveal(), &code(&s, &secret), None).await.expect("a code");
    assert!(!opens(&s, entered.signed_in).await);
    s.end().await;
}

#[tokio::test]
async fn own_session_stays_with_a_change_also_where_the_catalogue_is_older() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    let old = stored_catalogue(&s).await;
    let form = format!("password=correct+horse+battery&{}", CHOOSE.replace("password", "new_password"));
    assert_eq!(ann.post_own("/profile/password", &form).await.location(), "/profile?done=password-changed");
    assert_eq!(ann.get("/accounts/alice").await.status, 200);
    s.gateway().set_catalogue(old);
    assert_eq!(ann.get("/accounts/alice").await.status, 200, "the store decides");
    s.gateway().set_catalogue(stored_catalogue(&s).await);
    ann.set_up(&s).await;
    assert_eq!(ann.get("/accounts/alice").await.status, 200);
    s.end().await;
}

#[tokio::test]
async fn browser_that_changes_the_password_stays_known() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    let form = format!("password=correct+horse+battery&{}", CHOOSE.replace("password", "new_password"));
    let changed = ann.post_own("/profile/password", &form).await;
    let device = changed.headers["set-cookie"].split(';').next().unwrap_or_default().to_owned();
    assert!(device.starts_with("hermod-local-device="), "{device}");
    for _ in 0..100 {
        s.gateway().fail_password(ANN);
    }
    let mut other = Browser::new(&s);
    assert_eq!(other.sign_in(ANN, NEW_PASSWORD).await.status, 429);
    other.cookie = device;
    assert_eq!(other.sign_in(ANN, NEW_PASSWORD).await.location(), "/");
    s.end().await;
}

#[tokio::test]
async fn last_owner_stays_where_the_catalogue_of_the_node_is_older() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, ANN, "alice", Role::Owner).await;
    let mut bob = member(&s, "bob@example.com", "alice", Role::Owner).await;
    let two_owners = stored_catalogue(&s).await;
    let role = format!("team/{}/role", row_of(&s, "alice", "bob@example.com"));
    assert_eq!(ann.post_in("alice", &role, "role=viewer").await.status, 303);
    // The other node has not read the change.
    s.gateway().set_catalogue(two_owners);
    let remove = format!("team/{}/remove", row_of(&s, "alice", ANN));
    let removed = bob.post_in("alice", &remove, "").await;
    assert!(removed.status == 400 && removed.text.contains("An account needs an owner"), "{}", removed.text);
    let left = ann.post_own("/profile/accounts/alice/leave", "").await;
    assert!(left.status == 400 && left.text.contains("An account needs an owner"), "{}", left.text);
    s.end().await;
}

#[tokio::test]
async fn mailed_link_and_password_together_prove_a_user_who_keeps_the_second_factor() {
    let mails = MailServer::start().await;
    let setup = GatewaySetup { mail: Some(mails.address), ..GatewaySetup::with("") };
    let s = Scenario::with_setup(Script::new(), setup).await;
    let mut owner = member(&s, "owner@example.com", "alice", Role::Owner).await;
    let mut dev = unproven_member(&s).await;
    let (secret, _) = dev.set_up(&s).await;
    let fields = "email=dev%40example.com&role=viewer";
    assert_eq!(owner.post_in("alice", "team", fields).await.location(), "/accounts/alice/team?done=invited");
    let (_, text) = mails.wait_for(1).await;
    let path = link_in(&text);
    let page = Browser::new(&s).get(&path).await.text;
    assert!(page.contains("removes your second factor") && page.contains("Sign in to accept"), "{page}");
    s.skip(Duration::from_secs(90));
    let link = &path["/links/".len()..];
    let csrf = dev.get(&format!("/invitations?link={link}")).await.csrf();
    let form = format!("csrf={csrf}&link={link}&accept=alice&{ACCEPT}&code={}", code(&s, &secret));
    let accepted = dev.post("/invitations", &form).await;
    assert_eq!(accepted.location(), "/accounts/alice?done=joined", "{}", accepted.text);
    assert_eq!(dev.get("/accounts/bob").await.status, 200, "the account from before stays");
    let catalogue = s.gateway().catalogue();
    let (_, user) = catalogue.users().find("dev@example.com").expect("a user");
    assert!(user.is_proven && user.second_factor.is_some());
    s.end().await;
}

/// Makes dev@example.com a user of the account bob who has no proof of the address.
async fn unproven_member(s: &Scenario) -> Browser {
    let dev = member(s, "dev@example.com", "bob", Role::Owner).await;
    let rows = s.gateway().store.setup().rows().await.expect("rows");
    let mut row = rows.into_iter().find(|row| row.name == "dev@example.com").expect("a user");
    let proven = row.body.replace("\"is_proven\":true", "\"is_proven\":false");
    assert_ne!(proven, row.body);
    row.body = proven;
    let put = CatalogueChange { put: vec![row], ..Default::default() };
    s.gateway().store.setup().change(put).await.expect("it is written");
    s.gateway().set_catalogue(stored_catalogue(s).await);
    dev
}
