//! Tests of webhooks in provision files: permitted URLs, secrets and their rotation.

use super::*;
use crate::account::PREVIOUS_SECRET_KEPT;
use crate::account::Rotation;
use crate::account::rotate;
use hermod_domain::catalogue::Webhooks;
use hermod_domain::webhook::DlrForm;
use hermod_domain::webhook::url::AddressRules;
use hermod_gateway::secrets::webhook_secret;

const ACCOUNT: &str = "[[account]]\nname = \"a\"\ncurrency = \"EUR\"\nsenders = [\"Me\"]\n";

fn file(lines: &str) -> String {
    format!("{ACCOUNT}{lines}")
}

async fn webhooks(store: &Store) -> Option<Webhooks> {
    let catalogue = load_catalogue(store).await.unwrap();
    let (_, view) = catalogue.accounts().next().unwrap();
    view.account.webhooks.clone()
}

fn opened(stored: &str) -> String {
    webhook_secret::open(&pepper(), AccountId::new(1), stored).unwrap().reveal().to_owned()
}

#[tokio::test]
async fn given_secret_is_encrypted_and_kept_and_a_missing_one_is_generated_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let given = file("dlr_webhook = \"https://a.example/dlr\"\nwebhook_secret = \"a-secret-of-their-own\"\n");
    assert_eq!(applied(&store, &given).await, "+account a, +sender a/Me");
    assert_eq!(applied(&store, &given).await, "=account a, =sender a/Me", "the second time it is the same");
    let stored = webhooks(&store).await.unwrap();
    assert!(stored.secret.starts_with("sealed:") && opened(&stored.secret) == "a-secret-of-their-own");
    let without = file("dlr_webhook = \"https://a.example/dlr\"\n");
    assert_eq!(applied(&store, &without).await, "=account a, =sender a/Me", "it is kept");
    let actual = applied(&store, &file("inbound_webhook = \"https://a.example/in\"\n")).await;
    assert_eq!(actual, "~account a (inbound_webhook null -> \"https://a.example/in\"), =sender a/Me");
    assert_eq!(webhooks(&store).await.unwrap().secret, stored.secret);
    let actual = applied(&store, &given.replace("their-own", "the-others")).await;
    assert!(actual.contains("(webhook_secret \"(hidden)\" -> \"(hidden)\")"), "{actual}");
    store.close().await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let plan = apply(&store, &pepper(), &wanted(&without), NOW).await.unwrap();
    let [Made { key, secret }] = plan.secrets.as_slice() else { panic!("{:?}", plan.secrets) };
    assert_eq!(key, "webhooks of a");
    assert_eq!(opened(&webhooks(&store).await.unwrap().secret), secret.reveal());
    let again = apply(&store, &pepper(), &wanted(&without), NOW).await.unwrap();
    assert!(again.secrets.is_empty());
    store.close().await.unwrap();
}

#[tokio::test]
async fn forbidden_webhook_url_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (url, expect) in [
        ("https://127.0.0.1/", "127.0.0.1 must not be called: it is a loopback address"),
        ("https://169.254.169.254/", "169.254.169.254 must not be called: it is a cloud metadata service"),
        ("http://a.example/", "plain http is not allowed here"),
        ("https://u:p@a.example/", "a user name and password are not allowed"),
        ("a.example", "it must begin with https:// (or http://, where that is allowed)"),
    ] {
        let actual = applied(&store, &file(&format!("dlr_webhook = \"{url}\"\n"))).await;
        assert_eq!(actual, format!("refused: account \"a\" cannot have this dlr_webhook: {expect}"), "{url}");
    }
    let here = file("dlr_webhook = \"http://127.0.0.1:9000/\"\n");
    let rules = AddressRules { allow_http: true, allow: vec!["127.0.0.0/8".parse().unwrap()] };
    let allowed = wanted(&here).judged_by(rules);
    assert!(apply(&store, &pepper(), &allowed, NOW).await.is_ok());
    // Stricter rules apply when connecting; other changes of the account are still possible.
    let actual = applied(&store, &format!("{here}verified = true\n")).await;
    assert_eq!(actual, "~account a (verified false -> true), =sender a/Me");
    store.close().await.unwrap();
}

#[tokio::test]
async fn connection_selects_the_form_of_its_reports() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let connection = "[[connection]]\nname = \"c\"\naccount = \"a\"\ndefault_sender = \"Me\"\n";
    applied(&store, &file(connection)).await;
    let actual =
        applied(&store, &file(&format!("{connection}dlr_form = \"short\"\nwebhooks_too = true\n"))).await;
    assert_eq!(
        actual,
        "=account a, =sender a/Me, ~connection c (dlr_form null -> \"short\") (webhooks_too null -> true)"
    );
    let catalogue = load_catalogue(&store).await.unwrap();
    let connection = catalogue.connection(hermod_domain::ids::ConnectionId::new(1)).unwrap();
    assert_eq!((connection.dlr_form, connection.webhooks_too), (DlrForm::Short, true));
    store.close().await.unwrap();
}

#[tokio::test]
async fn secret_is_staged_switched_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let step = async |step: Rotation| {
        let rows = store.setup().rows().await.unwrap();
        let plan = rotate(rows, &pepper(), "a", &step, NOW).map_err(|refusal| refusal.to_string())?;
        carry_out(&store, &plan, NOW).await.unwrap();
        Ok::<_, String>(())
    };
    applied(&store, ACCOUNT).await;
    let staged = || Rotation::Stage(hermod_gateway::secrets::Secret::new("the-new-secret-of-a"));
    assert_eq!(step(staged()).await, Err("account \"a\" has no webhooks".to_owned()));
    applied(
        &store,
        &file("dlr_webhook = \"https://a.example/\"\nwebhook_secret = \"the-old-secret-of-a\"\n"),
    )
    .await;
    assert!(step(Rotation::Switch).await.is_err_and(|actual| actual.contains("stage one first")));
    step(staged()).await.unwrap();
    let webhooks_now = webhooks(&store).await.unwrap();
    assert_eq!(opened(webhooks_now.next.as_ref().unwrap()), "the-new-secret-of-a");
    step(Rotation::Switch).await.unwrap();
    let webhooks_now = webhooks(&store).await.unwrap();
    assert_eq!(opened(&webhooks_now.secret), "the-new-secret-of-a");
    let previous = webhooks_now.previous.unwrap();
    assert_eq!(
        (opened(&previous.secret).as_str(), previous.until),
        ("the-old-secret-of-a", NOW.plus(PREVIOUS_SECRET_KEPT))
    );
    step(Rotation::Drop).await.unwrap();
    assert_eq!(webhooks(&store).await.unwrap().previous, None);
    assert!(step(Rotation::Drop).await.is_err());
    store.close().await.unwrap();
}

#[tokio::test]
async fn file_applied_again_does_not_undo_a_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let given =
        |secret| file(&format!("dlr_webhook = \"https://a.example/\"\nwebhook_secret = \"{secret}\"\n"));
    let step = async |step: Rotation| {
        let plan = rotate(store.setup().rows().await.unwrap(), &pepper(), "a", &step, NOW).unwrap();
        carry_out(&store, &plan, NOW).await.unwrap();
    };
    let old = given("the-old-secret-of-a");
    applied(&store, &old).await;
    step(Rotation::Stage(hermod_gateway::secrets::Secret::new("the-new-secret-of-a"))).await;
    assert_eq!(applied(&store, &old).await, "=account a, =sender a/Me", "the staged secret stays");
    step(Rotation::Switch).await;
    let switched = webhooks(&store).await;
    let left = "=account a [webhook_secret \"(hidden)\", not \"(hidden)\"], =sender a/Me";
    assert_eq!(applied(&store, &old).await, left, "the new secret stays");
    assert_eq!(applied(&store, &given("the-new-secret-of-a")).await, "=account a, =sender a/Me");
    assert_eq!(webhooks(&store).await, switched);

    // A new secret in the file is a switch too: webhooks are still signed with the old one for a while.
    step(Rotation::Stage(hermod_gateway::secrets::Secret::new("a-third-secret-of-a"))).await;
    let actual = applied(&store, &given("a-third-secret-of-a")).await;
    assert!(actual.contains("webhook_secret"), "{actual}");
    let third = webhooks(&store).await.unwrap();
    let previous = third.previous.unwrap();
    assert_eq!((opened(&third.secret).as_str(), third.next), ("a-third-secret-of-a", None));
    assert_eq!(
        (opened(&previous.secret).as_str(), previous.until),
        ("the-new-secret-of-a", NOW.plus(PREVIOUS_SECRET_KEPT))
    );
    store.close().await.unwrap();
}
