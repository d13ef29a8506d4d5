//! What a user of the portal could do too often, guess, or conclude: invitations, passwords, keys, numbers, hosts.

use super::identity::VICTIM;
use super::second_factor::code;
use super::team::{id_of, row_of};
use super::{Browser, PASSWORD, member};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::catalogue::Role;
use hermod_domain::ids::AccountId;
use hermod_gateway::secrets::Secret;
use hermod_operator::user::sign_in::Device;
use hermod_operator::user::{UserRefusal, sign_in};
use hermod_simulator::carrier::Script;
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test]
async fn invitations_are_limited_per_recipient_inviter_and_account() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let victim = VICTIM.replace('@', "%40");
    let fields = format!("email={victim}&role=viewer");
    assert_eq!(ann.post_in("alice", "team", &fields).await.status, 200);
    let link = format!("team/{}/link", row_of(&s, "alice", VICTIM));
    for _ in 0..4 {
        assert_eq!(ann.post_in("alice", &link, "").await.status, 200);
    }
    assert_eq!(ann.post_in("alice", &link, "").await.status, 429, "the sixth to one address");
    // An account does not use up the invitations of another one; all of them together have a limit too.
    let mut bob = member(&s, "bob@example.com", "bob", Role::Owner).await;
    assert_eq!(bob.post_in("bob", "team", &fields).await.status, 200);
    for number in 0..14 {
        let account = AccountId::new(1_000 + number);
        s.gateway().admit_invitation(account, &format!("inviter {number}"), VICTIM).expect("one of twenty");
    }
    let refused = bob.post_in("bob", &format!("team/{}/link", row_of(&s, "bob", VICTIM)), "").await;
    assert_eq!(refused.status, 429, "the 21st to one address");
    let mut statuses = Vec::new();
    for number in 0..16 {
        let fields = format!("email=person{number}%40example.com&role=viewer");
        statuses.push(ann.post_in("alice", "team", &fields).await.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 15, "20 an hour: {statuses:?}");
    assert_eq!(statuses.last(), Some(&400));
    // The other owners of the account have 30 of its 50 a day left.
    let catalogue = s.gateway().catalogue();
    let alice = catalogue.accounts().find(|(_, view)| view.name == "alice").expect("an account").0;
    let admit = |number: u32| {
        let recipient = format!("colleague{number}@example.com");
        s.gateway().admit_invitation(alice, &format!("owner {number}"), &recipient)
    };
    assert!((0..30).all(|number| admit(number).is_ok()));
    assert!(admit(30).is_err(), "the 51st of the account");
    s.end().await;
}

#[tokio::test]
async fn password_change_needs_the_code_and_the_factor_ends_other_sessions() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let mut other = Browser::new(&s);
    other.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(other.get("/accounts/alice").await.status, 200);
    let (secret, _) = ann.set_up(&s).await;
    assert!(
        other.get("/accounts/alice").await.location().starts_with("/sign-in"),
        "opened with the password alone"
    );
    assert_eq!(ann.get("/accounts/alice").await.status, 200);
    s.skip(Duration::from_secs(90));
    let form = "password=correct+horse+battery&new_password=another+horse+battery&new_password_again=another+horse+battery";
    let without = ann.post_own("/profile/password", form).await;
    assert!(without.status == 400 && without.text.contains("The code is wrong"), "{}", without.text);
    let with = format!("{form}&code={}", code(&s, &secret));
    assert_eq!(ann.post_own("/profile/password", &with).await.location(), "/profile?done=password-changed");
    s.end().await;
}

#[tokio::test]
async fn common_and_personal_passwords_are_refused() {
    let s = Scenario::with(Script::new()).await;
    let path = super::link(&s, "ann.miller@example.com", "alice", Role::Owner).await;
    for (password, reason) in [
        ("password1234", "among the first that are guessed"),
        ("qwertyuiop123", "among the first that are guessed"),
        ("annmiller2026", "made of your address"),
        ("alice-alice-alice", "made of your address"),
    ] {
        let form = format!("password={password}&password_again={password}");
        let refused = Browser::new(&s).post(&path, &form).await;
        assert!(refused.status == 400 && refused.text.contains(reason), "{password}: {}", refused.text);
    }
    let mut ann = Browser::new(&s);
    let form = format!("password={0}&password_again={0}", PASSWORD.replace(' ', "+"));
    assert_eq!(ann.post(&path, &form).await.location(), "/");
    let form = format!(
        "password={}&new_password=password1234&new_password_again=password1234",
        PASSWORD.replace(' ', "+")
    );
    let refused = ann.post_own("/profile/password", &form).await;
    assert!(refused.status == 400 && refused.text.contains("among the first"), "{}", refused.text);
    s.end().await;
}

#[tokio::test]
async fn guesses_of_many_addresses_are_limited_and_lock_no_known_browser_out() {
    let s = Scenario::with(Script::new()).await;
    member(&s, "ann@example.com", "alice", Role::Owner).await;
    // Each address is below its own limit.
    let guess = Secret::new("an invented horse battery");
    for host in 1..=100 {
        let device = Device { address: Some(IpAddr::from([198, 51, 100, host])), token: None };
        let refused = sign_in::sign_in(s.gateway(), "ann@example.com", &guess, device).await.map(drop);
        assert_eq!(refused, Err(UserRefusal::WrongSignIn), "guess {host}");
    }
    let mut stranger = Browser::new(&s);
    stranger.cookie = "hermod-local-device=00".to_owned();
    // This address has not signed in: the link of the invitation was used without one.
    assert_eq!(stranger.sign_in("ann@example.com", PASSWORD).await.status, 429, "even the right password");
    // The browser that has signed in before is not limited.
    let user = id_of(&s, "ann@example.com");
    let device = sign_in::device_token(s.gateway(), user).expect("a token");
    stranger.cookie = format!("hermod-local-device={}", device.reveal());
    assert_eq!(stranger.sign_in("ann@example.com", PASSWORD).await.status, 303);
    s.end().await;
}

#[tokio::test]
async fn only_the_configured_host_is_answered() {
    let portal_url = Some("https://sms.example.com".to_owned());
    let s = Scenario::with_setup(Script::new(), GatewaySetup { portal_url, ..GatewaySetup::with("") }).await;
    let address = s.alice.address();
    let get = async |host: &str| {
        let mut socket = TcpStream::connect(address).await.expect("a connection");
        let request = format!("GET /sign-in HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.expect("it is sent");
        let mut response = String::new();
        socket.read_to_string(&mut response).await.expect("a response");
        response.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(get("sms.example.com").await, "200");
    assert_eq!(get("evil.example").await, "421");
    assert_eq!(get("127.0.0.1").await, "421");
    s.end().await;
}

#[tokio::test]
async fn numbers_that_customers_see_do_not_count() {
    let s = Scenario::with(Script::new()).await;
    let mut ann = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let first = ann.get("/sign-in").await.headers["x-request-id"].clone();
    let second = ann.get("/sign-in").await.headers["x-request-id"].clone();
    let number = |id: &str| u64::from_str_radix(&id[8..], 16).expect("hex digits");
    assert!(number(&first).abs_diff(number(&second)) > 1_000, "{first} {second}");
    assert_eq!(
        ann.post_in("alice", "requests", "kind=sender&subject=NewShop&connection=&details=").await.status,
        303
    );
    let requests = ann.get("/accounts/alice/requests").await.text;
    assert!(!requests.contains("/requests/1/"), "{requests}");
    let (_, shown) = requests.split_once("/accounts/alice/requests/").expect("a form");
    let shown: String = shown.chars().take_while(char::is_ascii_digit).collect();
    assert_eq!(ann.post_in("alice", "requests/1/withdraw", "").await.status, 404);
    let withdrawn = ann.post_in("alice", &format!("requests/{shown}/withdraw"), "").await;
    assert_eq!(withdrawn.location(), "/accounts/alice/requests?done=request-withdrawn");
    let audit = ann.get("/accounts/alice/audit").await.text;
    assert!(!audit.contains(">No.<"), "rows are not numbered: {audit}");
    s.end().await;
}
