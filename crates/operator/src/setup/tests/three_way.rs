//! Tests of applying a file again: absent fields and fields changed by a command keep their values.

use super::*;
use crate::entry::export::shown_one;
use crate::rotation::{Replacement, rotate_connection_password, rotate_key_secret};
use crate::setup::file_entries::Removal;
use crate::setup::json::merged;
use hermod_gateway::secrets::{Secret, passwords};
use serde_json::{Value, json};

const SHOP: &str = "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nverified = false\nsenders = [\"Shop\"]\n\
                    [[connection]]\nname = \"c\"\naccount = \"shop\"\nrate = 10\nallow = [\"192.0.2.0/24\"]\n\
                    system_id = \"shop\"\npassword = \"first-08\"\n\
                    [[key]]\nkey = \"k\"\nconnection = \"c\"\nsecret = \"the-long-secret-of-the-file\"\n\
                    [[carrier]]\nname = \"acme\"\naddress = \"h:1\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n\
                    [[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n";

/// Changes fields of an entry as a command or the operator API does.
pub(super) async fn commanded(store: &Store, kind: Kind, name: &str, patch: Value) {
    let rows = store.setup().rows().await.unwrap();
    let before = shown_one(&rows, kind, name).unwrap().expect("it is there");
    let (_, wanted) = wanted_entry(kind, name, merged(before, patch.as_object().unwrap().clone())).unwrap();
    let plan = prepare_over(rows, Vec::new(), &pepper(), &wanted, NOW).unwrap();
    carry_out(store, &plan, NOW).await.unwrap();
}

async fn removed_by_command(store: &Store, kind: Kind, name: &str) {
    let wanted = WantedSetup::removing(Removal { kind, name: name.to_owned() });
    let plan =
        prepare_over(store.setup().rows().await.unwrap(), Vec::new(), &pepper(), &wanted, NOW).unwrap();
    carry_out(store, &plan, NOW).await.unwrap();
}

pub(super) async fn field(store: &Store, kind: Kind, name: &str, field: &str) -> Value {
    let rows = store.setup().rows().await.unwrap();
    let entry = shown_one(&rows, kind, name).unwrap().expect("it is there");
    entry.get(field).cloned().unwrap_or_default()
}

async fn forced(store: &Store, text: &str) -> String {
    actual(apply(store, &pepper(), &wanted(text).forced(true), NOW).await)
}

#[tokio::test]
async fn fields_that_a_file_does_not_mention_keep_their_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, &SHOP.replace("verified = false", "verified = true\ncountries = [\"DE\"]")).await;
    let snippet =
        "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\ndlr_webhook = \"https://shop.example/dlr\"\n";
    assert!(
        applied(&store, snippet)
            .await
            .starts_with("~account shop (dlr_webhook null -> \"https://shop.example/dlr\") (webhook_secret ")
    );
    assert_eq!(field(&store, Kind::Account, "shop", "verified").await, json!(true));
    assert_eq!(field(&store, Kind::Account, "shop", "countries").await, json!(["DE"]));
    // An existing entry may omit required fields.
    let partial = "[[account]]\nname = \"shop\"\nminimum = \"5\"\n[[route]]\nprefix = \"49\"\nfail_over_refusals = true\n";
    assert_eq!(
        applied(&store, partial).await,
        "~route 49 (fail_over_refusals false -> true), ~account shop (minimum \"0\" -> \"5\")"
    );
    let refused = applied(&store, "[[account]]\nname = \"new\"\nverified = true\n").await;
    assert_eq!(refused, "refused: account \"new\": missing field `currency`");
    // An explicit value resets a field, and an empty text removes it.
    let reset = "[[account]]\nname = \"shop\"\nverified = false\ncountries = []\ndlr_webhook = \"\"\n";
    assert_eq!(
        applied(&store, reset).await,
        "~account shop (countries [\"DE\"] -> []) (dlr_webhook \"https://shop.example/dlr\" -> null) \
         (verified true -> false)"
    );
    store.close().await.unwrap();
}

#[tokio::test]
async fn file_applied_again_keeps_later_changes_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    let same = applied(&store, SHOP).await;
    assert!(same.split(", ").all(|change| change.starts_with('=') && !change.contains('[')), "{same}");
    commanded(&store, Kind::Account, "shop", json!({"verified": true})).await;
    commanded(&store, Kind::Connection, "c", json!({"allow": ["198.51.100.7"], "rate": 50})).await;
    commanded(&store, Kind::Sender, "shop/Shop", json!({"state": "pending"})).await;
    let left = "=carrier acme, =route 49, =account shop [verified true, not false], \
                =sender shop/Shop [state \"pending\", not \"approved\"], \
                =connection c [allow [\"198.51.100.7\"], not [\"192.0.2.0/24\"]] [rate 50, not 10], =key k";
    for _ in 0..2 {
        assert_eq!(applied(&store, SHOP).await, left);
    }
    // A changed field is applied; the others of the same entry stay.
    let other = SHOP.replace("rate = 10", "rate = 20");
    let actual = applied(&store, &other).await;
    assert!(actual.contains("~connection c (rate 50 -> 20) [allow [\"198.51.100.7\"], not "), "{actual}");
    let actual = forced(&store, &other).await;
    assert!(actual.contains("~account shop (verified true -> false), "), "{actual}");
    assert!(actual.contains("~connection c (allow [\"198.51.100.7\"] -> [\"192.0.2.0/24\"])"), "{actual}");
    assert!(actual.contains("~sender shop/Shop (state \"pending\" -> \"approved\")"), "{actual}");
    assert!(!applied(&store, &other).await.contains("not"), "the file and the store agree");
    store.close().await.unwrap();
}

#[tokio::test]
async fn secrets_changed_by_command_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    commanded(&store, Kind::Key, "k", json!({"secret": "a-rotated-secret-of-26-chars"})).await;
    commanded(&store, Kind::Connection, "c", json!({"password": "second08"})).await;
    commanded(&store, Kind::Carrier, "acme", json!({"password": "q"})).await;
    let actual = applied(&store, SHOP).await;
    for expect in ["=key k [secret ", "=connection c [password ", "=carrier acme [password "] {
        assert!(actual.contains(expect), "{actual}");
    }
    let digest = |catalogue: &Catalogue| catalogue.key("k").unwrap().secret_digest.clone();
    assert!(
        pepper().matches("a-rotated-secret-of-26-chars", &digest(&load_catalogue(&store).await.unwrap()))
    );
    let actual =
        applied(&store, &SHOP.replace("the-long-secret-of-the-file", "another-long-one-in-the-file")).await;
    assert!(actual.contains("~key k (secret \"(hidden)\" -> \"(hidden)\")"), "{actual}");
    assert!(
        pepper().matches("another-long-one-in-the-file", &digest(&load_catalogue(&store).await.unwrap()))
    );
    forced(&store, SHOP).await;
    assert!(pepper().matches("the-long-secret-of-the-file", &digest(&load_catalogue(&store).await.unwrap())));
    let remembered = store.setup().provisioned().await.unwrap();
    assert!(remembered.iter().any(|row| row.body.contains("argon2")), "a password only as its hash");
    for secret in ["the-long-secret-of-the-file", "another-long-one-in-the-file", "first-08"] {
        assert!(remembered.iter().all(|row| !row.body.contains(secret)), "{secret}");
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn entry_removed_by_command_is_not_created_again_by_an_unchanged_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    removed_by_command(&store, Kind::Key, "k").await;
    removed_by_command(&store, Kind::Sender, "shop/Shop").await;
    let actual = applied(&store, SHOP).await;
    assert!(actual.contains("!sender shop/Shop") && actual.ends_with("!key k"), "{actual}");
    assert!(load_catalogue(&store).await.unwrap().key("k").is_none());
    let expires = SHOP.replace("[[carrier]]", "expires_at = 2099-01-01\n[[carrier]]");
    assert!(applied(&store, &expires).await.ends_with("+key k"), "the file changed it");
    removed_by_command(&store, Kind::Key, "k").await;
    assert!(forced(&store, &expires).await.ends_with("+key k"));
    store.close().await.unwrap();
}

#[tokio::test]
async fn entry_created_again_after_a_file_removed_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    let remove = "[[remove]]\nkind = \"key\"\nname = \"k\"\n";
    assert_eq!(applied(&store, remove).await, "-key k");
    assert_eq!(applied(&store, remove).await, "?key k");
    let key = "[[key]]\nkey = \"k\"\nconnection = \"c\"\nsecret = \"made-by-a-command-and-long\"\n";
    let (_, made) = wanted_entry(
        Kind::Key,
        "k",
        json!({"connection": "c", "secret": "made-by-a-command-and-long"}).as_object().unwrap().clone(),
    )
    .unwrap();
    let plan = prepare_over(store.setup().rows().await.unwrap(), Vec::new(), &pepper(), &made, NOW).unwrap();
    carry_out(&store, &plan, NOW).await.unwrap();
    assert_eq!(applied(&store, remove).await, "!key k");
    assert_eq!(forced(&store, remove).await, "-key k");
    assert_eq!(applied(&store, key).await, "+key k", "a file with the entry creates it");
    store.close().await.unwrap();
}

#[tokio::test]
async fn dry_run_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    prepare(&store, &pepper(), &wanted(SHOP), NOW).await.unwrap();
    assert_eq!(store.setup().provisioned().await.unwrap(), []);
    applied(&store, SHOP).await;
    assert_eq!(store.setup().provisioned().await.unwrap().len(), 6, "five entries and the sender of one");
    store.close().await.unwrap();
}

#[tokio::test]
async fn file_applied_again_keeps_a_rotation_and_its_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    let (secret, password) = (Secret::new("a-rotated-secret-of-26-chars"), Secret::new("second08"));
    let overlap = Duration::from_secs(86_400);
    let replacement = |secret| Replacement { secret, overlap };
    let rows = store.setup().rows().await.unwrap();
    let plan = rotate_key_secret(rows, &pepper(), "k", &replacement(&secret), NOW).unwrap();
    carry_out(&store, &plan, NOW).await.unwrap();
    let rows = store.setup().rows().await.unwrap();
    let plan = rotate_connection_password(rows, &pepper(), "c", &replacement(&password), NOW).unwrap();
    carry_out(&store, &plan, NOW).await.unwrap();
    let valid_secrets = async |now| {
        let catalogue = load_catalogue(&store).await.unwrap();
        let is_secret = |secret: &str| {
            catalogue.key("k").unwrap().digests_at(now).any(|digest| pepper().matches(secret, digest))
        };
        let connection = catalogue.connection_by_system_id("shop").unwrap();
        let access = catalogue.connection(connection).unwrap().smpp.clone().unwrap();
        let hashes: Vec<String> = access.password_hashes_at(now).map(str::to_owned).collect();
        let is_password =
            |password: &str| passwords::matching(&pepper(), password.as_bytes(), &hashes).is_some();
        (
            [is_secret("the-long-secret-of-the-file"), is_secret("a-rotated-secret-of-26-chars")],
            [is_password("first-08"), is_password("second08")],
        )
    };
    assert_eq!(valid_secrets(NOW).await, ([true, true], [true, true]));
    let again = applied(&store, SHOP).await;
    assert!(again.contains("=key k [secret ") && again.contains("=connection c [password "), "{again}");
    commanded(&store, Kind::Key, "k", json!({"label": "shop backend"})).await;
    commanded(&store, Kind::Connection, "c", json!({"rate": 50})).await;
    assert_eq!(valid_secrets(NOW).await, ([true, true], [true, true]), "other fields do not end a rotation");
    assert_eq!(valid_secrets(NOW.plus(overlap)).await, ([false, true], [false, true]));
    commanded(&store, Kind::Key, "k", json!({"secret": "the-third-secret-of-26-chars"})).await;
    commanded(&store, Kind::Connection, "c", json!({"password": "third-08"})).await;
    assert_eq!(valid_secrets(NOW).await, ([false, false], [false, false]), "a given secret ends it");
    let rows = store.setup().rows().await.unwrap();
    assert!(rotate_connection_password(rows, &pepper(), "none", &replacement(&password), NOW).is_err());
    store.close().await.unwrap();
}

#[tokio::test]
async fn empty_text_clears_the_expiry_of_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    let key = |expires_at: &str| format!("[[key]]\nkey = \"k\"\nexpires_at = \"{expires_at}\"\n");
    applied(&store, &key("2027-12-31")).await;
    assert_ne!(field(&store, Kind::Key, "k", "expires_at").await, Value::Null);
    applied(&store, &key("")).await;
    assert_eq!(field(&store, Kind::Key, "k", "expires_at").await, Value::Null);
}

#[tokio::test]
async fn removed_account_and_connection_are_not_created_again_by_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let file = "[[account]]\nname = \"a\"\ncurrency = \"EUR\"\nsenders = [\"Me\"]\ndlr_webhook = \"https://a.example/dlr\"\n\
                webhook_secret = \"a-secret-of-26-characters-x\"\n\
                [[connection]]\nname = \"c\"\naccount = \"a\"\nsystem_id = \"shop\"\npassword = \"first-08\"\n";
    assert_eq!(applied(&store, file).await, "+account a, +sender a/Me, +connection c");
    let remove = ["sender", "connection", "account"].map(|kind| {
        let name = match kind {
            "sender" => "a/Me",
            "connection" => "c",
            _ => "a",
        };
        format!("[[remove]]\nkind = \"{kind}\"\nname = \"{name}\"\n")
    });
    let wanted = WantedSetup { mentions: None, ..wanted(&remove.concat()) };
    apply(&store, &pepper(), &wanted, NOW).await.unwrap();
    assert_eq!(store.setup().rows().await.unwrap(), []);
    assert_eq!(applied(&store, file).await, "!account a, !connection c");
    let renamed = "[[connection]]\nname = \"c\"\naccount = \"a\"\nrate = 5\n";
    assert_eq!(
        applied(&store, renamed).await,
        "refused: connection \"c\" refers to account \"a\", which does not exist here or in the store"
    );
    assert_eq!(forced(&store, file).await, "+account a, +sender a/Me, +connection c");
    let rows = store.setup().rows().await.unwrap();
    let ids = rows.iter().filter(|row| row.kind != "sender").map(|row| row.id);
    assert_eq!(ids.collect::<Vec<_>>(), [2, 2], "no number is used again");
    store.close().await.unwrap();
}

#[tokio::test]
async fn new_entry_of_an_account_that_stays_removed_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, SHOP).await;
    for (kind, name) in
        [(Kind::Key, "k"), (Kind::Connection, "c"), (Kind::Sender, "shop/Shop"), (Kind::Account, "shop")]
    {
        removed_by_command(&store, kind, name).await;
    }
    let no_shop = "refers to account \"shop\", which does not exist here or in the store";
    for (entry, name) in [
        ("[[price]]\nprefix = \"49\"\naccount = \"shop\"\nper_part = \"0.05\"\n", "price \"shop/49\""),
        ("[[route]]\nprefix = \"43\"\naccount = \"shop\"\ncarriers = [\"acme\"]\n", "route \"shop/43\""),
        ("[[block]]\nprefix = \"4915112345678\"\naccount = \"shop\"\n", "block \"shop/4915112345678\""),
    ] {
        let refused = applied(&store, &format!("{SHOP}{entry}")).await;
        assert_eq!(refused, format!("refused: {name} {no_shop}"), "{entry}");
    }
    store.close().await.unwrap();
}
