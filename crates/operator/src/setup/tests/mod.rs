//! Tests of applying provision files: created, updated and removed entries.

mod bind_access;
mod blocks;
mod carriers;
mod documentation;
mod files;
mod invalid_values;
mod json;
mod price_lists;
mod prices;
mod rejected_files;
mod three_way;
mod values;
mod webhooks;

use super::*;
use crate::entry::export::shown;
use crate::entry::plan::{Change, Effect, FieldChange, FieldLeft, Made};
use crate::setup::file_entries::EXAMPLE_TOML;
use crate::setup::json::wanted_entry;
use hermod_domain::catalogue::{Catalogue, Countries};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::numbers::Destination;
use hermod_domain::phone::Msisdn;
use hermod_domain::route::RouteQuery;
use hermod_gateway::config::Source;
use hermod_gateway::gateway::load_catalogue;
use hermod_store::OpenOptions;
use std::path::Path;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn open(folder: &Path) -> Store {
    let options = OpenOptions {
        folder: folder.to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(60),
        record: false,
        now: NOW,
    };
    Store::open(&options).unwrap()
}

/// Returns the carrier of the general route to this number.
fn everyones_route(catalogue: &Catalogue, to: Msisdn) -> Option<CarrierId> {
    let from = hermod_domain::sender::Sender::parse("Anyone").unwrap();
    let destination = hermod_domain::numbers::Numbers::embedded().find(to);
    let sending = RouteQuery { account: AccountId::new(u32::MAX), from: &from, to, destination };
    catalogue.routes().find(&sending).map(|(_, route)| route.candidates()[0].carrier)
}

fn wanted(text: &str) -> WantedSetup {
    WantedSetup::parse(&source(text)).unwrap()
}

fn source(text: &str) -> Source {
    Source { path: "seed.toml".into(), text: text.to_owned() }
}

fn pepper() -> Pepper {
    Pepper::new(b"pepper")
}

fn told_fields(fields: &[FieldChange]) -> String {
    let actual =
        fields.iter().map(|FieldChange { field, before, after }| format!(" ({field} {before} -> {after})"));
    actual.collect()
}

/// Applies a file as the operator.
async fn apply(
    store: &Store,
    pepper: &Pepper,
    wanted: &WantedSetup,
    now: Timestamp,
) -> Result<Plan, ProvisionError> {
    crate::setup::apply(store, pepper, wanted, &Author::operator(None), now).await
}

/// Carries a plan out as the operator.
async fn carry_out(store: &Store, plan: &Plan, now: Timestamp) -> Result<(), ProvisionError> {
    crate::entry::carry_out::carry_out(store, plan, &Author::operator(None), now).await
}

/// Applies a file and describes each change briefly.
async fn applied(store: &Store, text: &str) -> String {
    actual(apply(store, &pepper(), &wanted(text), NOW).await)
}

fn actual(applied: Result<Plan, ProvisionError>) -> String {
    let plan = match applied {
        Ok(plan) => plan,
        Err(error) => return format!("refused: {error}"),
    };
    let actual = plan.changes.iter().map(|Change { kind, name, effect, fields, left }| {
        let left =
            left.iter().map(|FieldLeft { field, stored, file }| format!(" [{field} {stored}, not {file}]"));
        let left = left.collect::<String>();
        match effect {
            Effect::Created => format!("+{kind} {name}{left}"),
            Effect::Updated => format!("~{kind} {name}{}{left}", told_fields(fields)),
            Effect::Same => format!("={kind} {name}{left}"),
            Effect::Removed => format!("-{kind} {name}"),
            Effect::Absent => format!("?{kind} {name}"),
            Effect::Left => format!("!{kind} {name}"),
        }
    });
    actual.collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn example_file_creates_its_entries_and_applies_again_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let actual = applied(&store, EXAMPLE_TOML).await;
    assert_eq!(
        actual,
        "+carrier acme, +carrier beta, +cost acme/*, +cost beta/262-01:alphanumeric, +exchange_rate USD-EUR, +rate_profile acme, +route *, \
         +route shop/mcc262, +price_list standard, +price *, +price 262-01, +price FR, +price shop/49, \
         +price shop/49@2027-01-01, +price 8816, +price list:standard/*, +account shop, +sender shop/Shop24, +sender */Bank, +sender shop/Shop, +sender shop/+4915112345678, \
         +number +4915799999999, +number 80808/SHOP, +connection shop-http, +key shop-key-1, +screen short-links, \
         +control shop-day, +control everyone-day, +control one-recipient, +control one-range, \
         +control abroad, +block 49900, +block shop/4470012300-4470012399, +block premium-and-satellite, \
         +user ann@example.com, ?key shop-key-0"
    );
    let catalogue = load_catalogue(&store).await.unwrap();
    let key = catalogue.key("shop-key-1").unwrap();
    assert!(pepper().matches("change-me-to-a-long-random-text", &key.secret_digest));
    let connection = catalogue.connection(key.connection).unwrap();
    let account = catalogue.account(connection.account).unwrap();
    assert_eq!(account.name, "shop");
    let to = Msisdn::parse("+4915112345678").unwrap();
    assert_eq!(
        account.prices().cost(to, &Destination::UNKNOWN, Timestamp::EPOCH, 2).unwrap().to_string(),
        "0.075"
    );
    assert_eq!(catalogue.carriers()[0].0, everyones_route(&catalogue, to).unwrap());
    assert_eq!(store.money().balance(connection.account).await.unwrap().balance.to_string(), "100");

    let again = applied(&store, EXAMPLE_TOML).await;
    assert!(again.split(", ").all(|change| change.starts_with(['=', '?'])), "{again}");
    assert_eq!(store.money().balance(connection.account).await.unwrap().balance.to_string(), "100");
}

#[tokio::test]
async fn no_clear_secret_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let rows = store.setup().rows().await.unwrap();
    assert!(rows.iter().all(|row| !row.body.contains("change-me")));
    assert!(!wanted(EXAMPLE_TOML).to_toml().contains("change-me"));
    assert!(!wanted(EXAMPLE_TOML).to_toml().contains("secret08"));
}

#[tokio::test]
async fn later_file_updates_by_name_and_keeps_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let before = store.setup().rows().await.unwrap();
    let actual = applied(
        &store,
        "[[key]]\nkey = \"shop-key-2\"\nsecret = \"another-random-text-of-theirs\"\nconnection = \"shop-http\"\n\
         [[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nopening_balance = \"999\"\ncountries = \"*\"\n\
         senders = [\"Shop\"]\n\
         [[account]]\nname = \"bank\"\ncurrency = \"USD\"\n",
    )
    .await;
    assert_eq!(
        actual,
        "~account shop (countries [\"AT\",\"CH\",\"DE\",\"FR\"] -> \"*\"), +account bank, \
         =sender shop/Shop, +key shop-key-2"
    );
    let after = store.setup().rows().await.unwrap();
    for row in &before {
        let same = after.iter().find(|other| other.kind == row.kind && other.name == row.name).unwrap();
        assert_eq!(same.id, row.id, "{} {}", row.kind, row.name);
    }
    let of = |name: &str| after.iter().find(|row| row.kind == "account" && row.name == name).unwrap().id;
    assert_ne!(of("shop"), of("bank"));
    let shop = store.money().balance(AccountId::new(of("shop"))).await.unwrap();
    assert_eq!(shop.balance.to_string(), "100", "an opening balance is posted once");
}

#[tokio::test]
async fn opening_balance_is_posted_once_if_a_plan_is_applied_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let text = "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nopening_balance = 30\n";
    let plan = prepare(&store, &pepper(), &wanted(text), NOW).await.unwrap();
    for _ in 0..2 {
        carry_out(&store, &plan, NOW).await.unwrap();
        assert_eq!(store.money().balance(plan.openings[0].0).await.unwrap().balance.to_string(), "30");
    }
    assert_eq!(applied(&store, text).await, "=account shop");
}

const CUSTOMER: &str = "[[account]]\nname = \"a\"\ncurrency = \"EUR\"\nsenders = [\"Me\"]\n\
                        [[connection]]\nname = \"c\"\naccount = \"a\"\n";

#[tokio::test]
async fn secret_of_a_new_key_is_generated_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let key = wanted("[[key]]\nkey = \"k\"\nconnection = \"c\"\n");
    let made = apply(&store, &pepper(), &key, NOW).await.unwrap().secrets;
    let [Made { key: of, secret }] = made.as_slice() else { panic!("{made:?}") };
    assert_eq!((of.as_str(), secret.reveal().len()), ("k", 32));
    let again = apply(&store, &pepper(), &key, NOW).await.unwrap();
    assert_eq!(again.secrets, []);
    assert!(pepper().matches(secret.reveal(), &again.catalogue.key("k").unwrap().secret_digest));
    let given = "[[key]]\nkey = \"k\"\nconnection = \"c\"\nsecret = \"another-random-text-of-theirs\"\n";
    assert_eq!(applied(&store, given).await, "~key k (secret \"(hidden)\" -> \"(hidden)\")");
}

#[tokio::test]
async fn new_account_is_unverified_and_has_no_countries() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let catalogue = load_catalogue(&store).await.unwrap();
    let (_, view) = catalogue.accounts().next().unwrap();
    assert!(!view.account.verified);
    assert_eq!(view.account.countries, Countries::Only(Default::default()), "no country by default");
}

#[tokio::test]
async fn blocked_sender_stays_blocked_if_an_account_lists_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let block = "[[sender]]\naccount = \"a\"\nsender = \"Me\"\nstate = \"blocked\"\n";
    assert_eq!(applied(&store, block).await, "~sender a/Me (state \"approved\" -> \"blocked\")");
    assert_eq!(
        applied(&store, CUSTOMER).await,
        "=account a, =sender a/Me [state \"blocked\", not \"approved\"], =connection c"
    );
    let pending = block.replace("blocked", "pending");
    applied(&store, &pending).await;
    assert_eq!(
        applied(&store, CUSTOMER).await,
        "=account a, ~sender a/Me (state \"pending\" -> \"approved\"), =connection c"
    );
    assert!(applied(&store, &format!("{CUSTOMER}{block}")).await.contains("-> \"blocked\""));
}

#[tokio::test]
async fn removal_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let mut text = String::new();
    for (kind, name) in [
        ("key", "shop-key-1"),
        ("price", "shop/49@2027-01-01"),
        ("route", "*"),
        ("sender", "shop/4915112345678"),
        ("number", "80808/shop"),
        ("screen", "short-links"),
        ("control", "shop-day"),
        ("block", "+49900"),
    ] {
        text.push_str(&format!("[[remove]]\nkind = \"{kind}\"\nname = \"{name}\"\n"));
    }
    assert_eq!(
        applied(&store, &text).await,
        "-key shop-key-1, -price shop/49@2027-01-01, -route *, -sender shop/+4915112345678, -number 80808/SHOP, \
         -screen short-links, -control shop-day, -block 49900"
    );
    let again = applied(&store, &text).await;
    assert!(again.split(", ").all(|change| change.starts_with('?')), "{again}");
    let catalogue = load_catalogue(&store).await.unwrap();
    assert!(catalogue.key("shop-key-1").is_none());
    assert_eq!(everyones_route(&catalogue, Msisdn::parse("+4915112345678").unwrap()), None);
}

#[tokio::test]
async fn exported_entries_apply_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let rows = store.setup().rows().await.unwrap();
    let mut shown_things = 0;
    for kind in Kind::ALL {
        for (name, fields) in shown(&rows, kind).unwrap() {
            let (same, wanted) = wanted_entry(kind, &name, fields).unwrap();
            assert_eq!(same, name);
            let plan = prepare_over(rows.clone(), Vec::new(), &pepper(), &wanted, NOW).unwrap();
            assert!(plan.changes.iter().all(|change| change.effect == Effect::Same), "{:?}", plan.changes);
            shown_things += 1;
        }
    }
    assert_eq!(shown_things, rows.len());
}

#[tokio::test]
async fn database_contains_no_clear_secret() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let secrets = ["canary08", "canary-of-a-customers-api-secret"];
    let text = format!(
        "[[carrier]]\nname = \"acme\"\naddress = \"smsc.example:2775\"\nsystem_id = \"hermod\"\npassword = \"{}\"\n\
         window = 10\nrate = 10\n[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\n\
         [[connection]]\nname = \"shop\"\naccount = \"shop\"\n\
         [[key]]\nkey = \"shop\"\nconnection = \"shop\"\nsecret = \"{}\"\n",
        secrets[0], secrets[1]
    );
    apply(&store, &pepper(), &wanted(&text), NOW).await.unwrap();
    let carriers = load_catalogue(&store).await.unwrap();
    let stored = &carriers.carriers()[0].2.password;
    assert_eq!(
        hermod_gateway::secrets::sealed::open(&pepper(), "acme", stored).unwrap().reveal(),
        secrets[0]
    );
    store.close().await.unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for secret in secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} has {secret}", path.display());
        }
    }
}
