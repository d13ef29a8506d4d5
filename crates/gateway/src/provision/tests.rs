//! What a provision file makes of a store, as tables: what is made, what is updated, what is refused and in which words.

use super::*;
use crate::config::Source;
use hermod_domain::phone::Msisdn;
use hermod_domain::price::Asked;
use hermod_store::OpenOptions;
use std::path::Path;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn open(folder: &Path) -> Store {
    let options = OpenOptions {
        folder: folder.to_owned(),
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(60),
        now: NOW,
    };
    Store::open(&options).unwrap()
}

fn wanted(text: &str) -> Wanted {
    Wanted::parse(&source(text)).unwrap()
}

fn source(text: &str) -> Source {
    Source { path: "seed.toml".into(), text: text.to_owned() }
}

fn pepper() -> Pepper {
    Pepper::new(b"pepper")
}

/// Applies a file and tells each change in a word or two.
async fn applied(store: &Store, text: &str) -> String {
    match apply(store, &pepper(), &wanted(text), NOW).await {
        Ok(plan) => {
            let told = plan.changes.iter().map(|Change { kind, name, effect }| match effect {
                Effect::Made => format!("+{kind} {name}"),
                Effect::Updated => format!("~{kind} {name}"),
                Effect::Same => format!("={kind} {name}"),
            });
            told.collect::<Vec<_>>().join(", ")
        }
        Err(error) => format!("refused: {error}"),
    }
}

#[tokio::test]
async fn the_example_makes_what_it_describes_and_is_the_same_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert_eq!(
        applied(&store, EXAMPLE_TOML).await,
        "+carrier acme, +route *, +price *, +price shop/49, +account shop, +connection shop-http, +key shop-key-1"
    );
    let catalogue = load_catalogue(&store).await.unwrap();
    let key = catalogue.key("shop-key-1").unwrap();
    assert!(pepper().matches("change-me-to-a-long-random-text", &key.secret_digest));
    let connection = catalogue.connection(key.connection).unwrap();
    let account = catalogue.account(connection.account).unwrap();
    assert_eq!(account.name, "shop");
    let to = Msisdn::parse("+4915112345678").unwrap();
    assert_eq!(
        account
            .prices()
            .quote(Asked { to, network: None, mcc: None, now: Timestamp::EPOCH }, 2)
            .unwrap()
            .cost
            .to_string(),
        "0.075"
    );
    assert_eq!(catalogue.carriers()[0].0, catalogue.route(to).unwrap().1.first_choice());
    assert_eq!(store.balance(connection.account).await.unwrap().balance.to_string(), "100");

    assert_eq!(
        applied(&store, EXAMPLE_TOML).await,
        "=carrier acme, =route *, =price *, =price shop/49, =account shop, =connection shop-http, =key shop-key-1"
    );
    assert_eq!(store.balance(connection.account).await.unwrap().balance.to_string(), "100");
}

#[tokio::test]
async fn no_clear_secret_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let rows = store.catalogue().await.unwrap();
    assert!(rows.iter().all(|row| !row.body.contains("change-me")));
    assert!(!wanted(EXAMPLE_TOML).to_toml().contains("change-me"));
    assert!(!wanted(EXAMPLE_TOML).to_toml().contains("secret08"));
}

#[tokio::test]
async fn a_later_file_updates_by_name_and_keeps_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, EXAMPLE_TOML).await;
    let before = store.catalogue().await.unwrap();
    let told = applied(
        &store,
        "[[key]]\nkey = \"shop-key-2\"\nsecret = \"another-random-text\"\nconnection = \"shop-http\"\n\
         [[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nopening_balance = \"999\"\nsenders = [\"Shop\"]\n\
         [[account]]\nname = \"bank\"\ncurrency = \"USD\"\n",
    )
    .await;
    assert_eq!(told, "~account shop, +account bank, +key shop-key-2");
    let after = store.catalogue().await.unwrap();
    for row in &before {
        let same = after.iter().find(|other| other.kind == row.kind && other.name == row.name).unwrap();
        assert_eq!(same.id, row.id, "{} {}", row.kind, row.name);
    }
    let of = |name: &str| after.iter().find(|row| row.kind == "account" && row.name == name).unwrap().id;
    assert_ne!(of("shop"), of("bank"));
    let shop = store.balance(AccountId::new(of("shop"))).await.unwrap();
    assert_eq!(shop.balance.to_string(), "100", "an opening balance is posted once");
}

#[tokio::test]
async fn an_account_is_opened_once_however_often_its_plan_is_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let text = "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\nopening_balance = 30\n";
    let plan = prepare(&store, &pepper(), &wanted(text)).await.unwrap();
    for _ in 0..2 {
        carry_out(&store, &plan, NOW).await.unwrap();
        assert_eq!(store.balance(plan.openings[0].0).await.unwrap().balance.to_string(), "30");
    }
    assert_eq!(applied(&store, text).await, "=account shop");
}

const CUSTOMER: &str = "[[account]]\nname = \"a\"\ncurrency = \"EUR\"\nsenders = [\"Me\"]\n\
                        [[connection]]\nname = \"c\"\naccount = \"a\"\n";

#[tokio::test]
async fn a_file_that_does_not_fit_together_is_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let before = store.catalogue().await.unwrap();
    for (text, expect) in [
        (
            "[[route]]\nprefix = \"*\"\ncarriers = [\"x\"]",
            "route \"*\" names carrier \"x\", which is neither in this file nor in the store",
        ),
        (
            "[[route]]\nprefix = \"49\"\ncarriers = []",
            "the route for prefix \"49\": route 1 names no carrier",
        ),
        (
            "[[price]]\nprefix = \"*\"\nper_part = 1\naccount = \"x\"",
            "price \"x/*\" names account \"x\", which is neither in this file nor in the store",
        ),
        (
            "[[price]]\nprefix = \"1\"\nper_part = 9999999",
            "prices: the price 9999999 for prefix \"1\" is not between 0 and 1000",
        ),
        (
            "[[connection]]\nname = \"d\"\naccount = \"x\"",
            "connection \"d\" names account \"x\", which is neither in this file nor in the store",
        ),
        (
            "[[connection]]\nname = \"d\"\naccount = \"a\"\ndefault_sender = \"You\"",
            "connection \"d\" has the default sender \"You\", which is not among the senders of account \"a\"",
        ),
        (
            "[[key]]\nkey = \"k\"\nsecret = \"0123456789abcdef\"\nconnection = \"x\"",
            "key \"k\" names connection \"x\", which is neither in this file nor in the store",
        ),
        (
            "[[account]]\nname = \"a\"\ncurrency = \"USD\"",
            "account \"a\" has its balance in EUR, and that cannot change; make a new account for USD",
        ),
        (
            "[[account]]\nname = \"b\"\ncurrency = \"EUR\"\n[[connection]]\nname = \"c\"\naccount = \"b\"",
            "connection \"c\" belongs to another account than \"b\", and its messages stay there",
        ),
        (
            "[[account]]\nname = \"b\"\ncurrency = \"EUR\"\n[[account]]\nname = \"b\"\ncurrency = \"EUR\"",
            "account \"b\" stands in the file twice",
        ),
    ] {
        assert_eq!(applied(&store, text).await, format!("refused: {expect}"));
        assert_eq!(store.catalogue().await.unwrap(), before, "{text}");
    }
}

#[test]
fn a_value_that_will_not_do_is_told_with_its_line() {
    let carrier =
        "name = \"acme\"\naddress = \"h:1\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n";
    let good = format!("[[carrier]]\n{carrier}");
    assert!(Wanted::parse(&source(&good)).is_ok());
    for (from, to, expect) in [
        (
            "\"acme\"",
            "\"a b\"",
            "2: carrier 1.name: a name has 1 to 64 letters, digits and - _ . (not \"a b\")",
        ),
        (
            "\"h:1\"",
            "\"h\"",
            "3: carrier 1.address: an address is host:port, such as smsc.example:2775 (not \"h\")",
        ),
        (
            "\"h:1\"",
            "\"h:0\"",
            "3: carrier 1.address: an address is host:port, such as smsc.example:2775 (not \"h:0\")",
        ),
        (
            "\"p\"",
            "\"ninechars\"",
            "5: carrier 1.password: SMPP allows a password of at most 8 ASCII characters",
        ),
        ("window = 1", "window = 0", "6: carrier 1.window: a window is between 1 and 10000, not 0"),
        ("rate = 1", "rate = 0", "7: carrier 1.rate: a rate per second is between 1 and 1000000, not 0"),
        (
            "rate = 1",
            "rate = 1\nresponse_timeout = \"1ms\"",
            "8: carrier 1.response_timeout: 1ms is not between 100ms and 10m",
        ),
    ] {
        let error = Wanted::parse(&source(&good.replace(from, to))).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:{expect}"));
    }
}

#[test]
fn amounts_prefixes_and_secrets_say_how_they_are_written() {
    for (text, expect) in [
        ("[[price]]\nprefix = \"\"\nper_part = 1", "2: price 1.prefix: write \"*\" for every number"),
        (
            "[[price]]\nprefix = \"+49\"\nper_part = 1",
            "2: price 1.prefix: \"+49\": a prefix consists of digits only, without a +",
        ),
        (
            "[[price]]\nprefix = \"1\"\nper_part = 0.05",
            "3: price 1.per_part: invalid type: floating point `0.05`, expected an amount in quotes, such as \"0.035\"",
        ),
        ("[[price]]\nprefix = \"1\"\nper_part = \"-1\"", "3: price 1.per_part: -1 is negative"),
        (
            "[[key]]\nkey = \"a:b\"\nsecret = \"0123456789abcdef\"\nconnection = \"c\"",
            "2: key 1.key: a key has 1 to 64 letters, digits and - _ . (not \"a:b\")",
        ),
        (
            "[[key]]\nkey = \"k\"\nsecret = \"short\"\nconnection = \"c\"",
            "3: key 1.secret: a secret has 8 to 128 ASCII characters without spaces; take random ones",
        ),
    ] {
        let error = Wanted::parse(&source(text)).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:{expect}"), "{text}");
    }
}
