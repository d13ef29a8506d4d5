//! The second factor and the profile: codes, recovery codes, sessions, password.

use super::{Browser, PASSWORD, member};
use crate::scenario::{Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_gateway::secrets::{Secret, totp};
use hermod_operator::author::{Acting, Author};
use hermod_operator::user::second_factor::remove_second_factor;
use hermod_simulator::carrier::Script;
use std::time::Duration;

/// Longer than a code is valid.
const NEXT_CODE: Duration = Duration::from_secs(90);

impl Browser {
    /// Switches the second factor on. Returns its secret and the recovery codes.
    pub(super) async fn set_up(&mut self, s: &Scenario) -> (Secret, Vec<String>) {
        let begun = self.post_own("/profile/second-factor", "").await;
        assert_eq!(begun.location(), "/profile/second-factor/setup", "{}", begun.text);
        let setup = self.get("/profile/second-factor/setup").await;
        assert!(setup.text.contains("<svg viewBox=") && setup.text.contains("QR code"), "{}", setup.text);
        let (_, rest) = setup.text.split_once("secret=").expect("the address of the secret");
        let secret: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        let secret = Secret::new(secret);
        let wrong = self.post_own("/profile/second-factor/confirm", "code=000000").await;
        assert!(wrong.status == 400 && wrong.text.contains("The code is wrong"), "{}", wrong.text);
        let code = format!("code={}", code(s, &secret));
        let on = self.post_own("/profile/second-factor/confirm", &code).await;
        assert_eq!(on.status, 200, "{}", on.text);
        let (_, list) = on.text.split_once("class=\"recovery\">").expect("the codes");
        let list = list.split("</ul>").next().unwrap_or_default();
        let codes: Vec<String> = list
            .split("<li>")
            .skip(1)
            .filter_map(|one| one.split("</li>").next())
            .map(str::to_owned)
            .collect();
        assert_eq!(codes.len(), 10, "{}", on.text);
        (secret, codes)
    }

    async fn enter(&mut self, code: &str) -> Page {
        self.post("/sign-in/code", &format!("code={code}")).await
    }
}

pub(super) fn code(s: &Scenario, secret: &Secret) -> String {
    totp::code(secret, s.gateway().clock.machine_time()).expect("a secret in Base32")
}

#[tokio::test]
async fn sign_in_needs_the_code_which_works_once_and_a_recovery_code_works_once() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let (secret, recovery) = ann.set_up(&s).await;
    assert!(ann.get("/profile").await.text.contains("10 recovery codes are left"));

    let mut other = Browser::new(&s);
    assert_eq!(other.sign_in("ann@example.com", PASSWORD).await.location(), "/sign-in/code");
    assert!(other.cookie.len() > 20, "{}", other.cookie);
    // The password alone opens nothing.
    assert!(other.get("/accounts/alice").await.location().starts_with("/sign-in?"));
    // The code that switched it on is used up.
    let used = other.enter(&code(&s, &secret)).await;
    assert!(used.status == 401 && used.text.contains("was used before"), "{}", used.text);
    s.skip(NEXT_CODE);
    let fresh = code(&s, &secret);
    assert_eq!(other.enter(&fresh).await.location(), "/");
    assert_eq!(other.get("/accounts/alice").await.status, 200);

    let mut third = Browser::new(&s);
    third.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(third.enter(&fresh).await.status, 401);
    assert_eq!(third.enter(&recovery[0].to_uppercase()).await.location(), "/");
    assert!(third.get("/profile").await.text.contains("9 recovery codes are left"));
    let mut fourth = Browser::new(&s);
    fourth.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(fourth.enter(&recovery[0]).await.status, 401);
    // After five wrong codes the password is needed again.
    for _ in 0..3 {
        assert_eq!(fourth.enter("123456").await.status, 401);
    }
    assert_eq!(fourth.enter("123456").await.location(), "/sign-in");
    assert_eq!(fourth.enter(&recovery[1]).await.location(), "/sign-in");

    let audit = ann.get("/accounts/alice/audit").await.text;
    assert!(audit.contains("second_factor") && !audit.contains(secret.reveal()), "{audit}");
    s.end().await;
}

#[tokio::test]
async fn guessed_codes_are_limited_and_a_recovery_code_still_works() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let (secret, recovery) = ann.set_up(&s).await;
    s.skip(NEXT_CODE);
    let mut eve = Browser::new(&s);
    let mut statuses = Vec::new();
    for attempt in 0..12 {
        if attempt % 4 == 0 {
            eve.sign_in("ann@example.com", PASSWORD).await;
        }
        statuses.push(eve.enter("123456").await.status);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    eve.sign_in("ann@example.com", PASSWORD).await;
    let right = eve.enter(&code(&s, &secret)).await;
    assert!(right.status == 429 && right.text.contains("A recovery code works"), "{}", right.text);
    assert_eq!(eve.enter(&recovery[3]).await.location(), "/");
    s.end().await;
}

#[tokio::test]
async fn reset_link_does_not_replace_the_second_factor_and_the_operator_can_remove_it() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    ann.set_up(&s).await;
    let acting = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let link = hermod_operator::user::links::invite(&acting, "ann@example.com", None).await.unwrap();
    let path = format!("/links/{}", link.token.reveal());
    let form = "password=another+horse+battery&password_again=another+horse+battery";
    let mut other = Browser::new(&s);
    assert_eq!(other.post(&path, form).await.location(), "/sign-in/code");
    assert_eq!(other.get("/accounts/alice").await.status, 303);
    assert!(remove_second_factor(&acting, "ann@example.com").await.unwrap());
    assert!(!remove_second_factor(&acting, "ann@example.com").await.unwrap());
    let mut third = Browser::new(&s);
    assert_eq!(third.sign_in("ann@example.com", "another horse battery").await.location(), "/");
    let audit = third.get("/accounts/alice/audit").await.text;
    assert!(audit.contains("operator") && audit.contains("second_factor"), "{audit}");
    s.end().await;
}

#[tokio::test]
async fn confirmation_asks_for_the_code_and_the_second_factor_is_switched_off() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let (secret, _) = ann.set_up(&s).await;
    s.skip(Duration::from_secs(700));
    let off = ann.post_own("/profile/second-factor/off", "").await;
    assert_eq!(off.location(), "/accounts/alice/re-authenticate?next=%2Fprofile");
    let asked = ann.get(off.location()).await;
    assert!(asked.text.contains("name=\"code\""), "{}", asked.text);
    let password = format!("next=%2Fprofile&password={}", PASSWORD.replace(' ', "+"));
    let without = ann.post_own("/accounts/alice/re-authenticate", &password).await;
    assert_eq!(without.status, 401, "{}", without.text);
    let both = format!("{password}&code={}", code(&s, &secret));
    let confirmed = ann.post_own("/accounts/alice/re-authenticate", &both).await;
    assert_eq!(confirmed.location(), "/profile?done=confirmed", "{}", confirmed.text);
    let codes = ann.post_own("/profile/second-factor/codes", "").await;
    assert!(codes.status == 200 && codes.text.contains("class=\"recovery\""), "{}", codes.text);
    let off = ann.post_own("/profile/second-factor/off", "").await;
    assert_eq!(off.location(), "/profile?done=second-factor-off");
    assert_eq!(Browser::new(&s).sign_in("ann@example.com", PASSWORD).await.location(), "/");
    s.end().await;
}

#[tokio::test]
async fn password_change_ends_other_sessions_and_sessions_can_be_ended() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let (mut second, mut third) = (Browser::new(&s), Browser::new(&s));
    second.sign_in("ann@example.com", PASSWORD).await;
    third.sign_in("ann@example.com", PASSWORD).await;
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    let profile = second.get("/profile").await.text;
    assert_eq!(profile.matches("/end\"").count(), 2, "{profile}");
    // A session of another user looks like one that does not exist.
    let theirs = second.get("/profile").await.text;
    let (_, id) = theirs.split_once("/profile/sessions/end-others").unwrap();
    let (_, id) = id.split_once("/profile/sessions/").unwrap();
    let path = format!("/profile/sessions/{}/end", id.split('/').next().unwrap_or_default());
    assert_eq!(bob.post_own(&path, "").await.status, 404);
    assert_eq!(second.post_own(&path, "").await.location(), "/profile?done=session-ended");
    assert_eq!(second.get("/profile").await.text.matches("/end\"").count(), 1);

    let form = |old: &str, new: &str| format!("password={old}&new_password={new}&new_password_again={new}");
    let wrong =
        second.post_own("/profile/password", &form("wrong+horse+battery", "a+new+long+password")).await;
    assert!(wrong.status == 400 && wrong.text.contains("The password is wrong"), "{}", wrong.text);
    let short = second.post_own("/profile/password", &form("correct+horse+battery", "short")).await;
    assert!(short.status == 400 && short.text.contains("at least 12"), "{}", short.text);
    let done =
        second.post_own("/profile/password", &form("correct+horse+battery", "a+new+long+password")).await;
    assert_eq!(done.location(), "/profile?done=password-changed", "{}", done.text);
    assert_eq!(second.get("/accounts/alice").await.status, 200);
    for ended in [&ann, &third] {
        assert_eq!(ended.get("/accounts/alice").await.status, 303);
    }
    assert_eq!(ann.sign_in("ann@example.com", PASSWORD).await.status, 401);
    assert_eq!(ann.sign_in("ann@example.com", "a new long password").await.location(), "/");
    assert_eq!(second.post("/profile/password", &form("a+new+long+password", "x")).await.status, 403);
    s.end().await;
}
