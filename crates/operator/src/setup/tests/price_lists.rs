//! Tests of price lists, costs and exchange rates: currencies, ends, closed destinations, removal.

use super::three_way::{commanded, field};
use super::{NOW, applied, apply, open, pepper, wanted};
use crate::kind::Kind;
use hermod_domain::cost::SenderClass;
use hermod_domain::ids::AccountId;
use hermod_domain::money::Money;
use hermod_domain::numbers::Numbers;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::load_catalogue;
use hermod_store::Store;
use serde_json::{Value, json};

const LIST: &str = "[[price_list]]\nname = \"standard\"\ncurrency = \"EUR\"\n";
const CARRIER: &str = "[[carrier]]\nname = \"north\"\naddress = \"smsc.example:2775\"\nsystem_id = \"us\"\n\
                       password = \"secret08\"\nwindow = 10\nrate = 100\n";

fn account(name: &str, currency: &str, list: &str) -> String {
    let list = if list.is_empty() { String::new() } else { format!("price_list = \"{list}\"\n") };
    format!("[[account]]\nname = \"{name}\"\ncurrency = \"{currency}\"\n{list}")
}

fn price(prefix: &str, amount: &str, list: &str) -> String {
    let list = if list.is_empty() { String::new() } else { format!("price_list = \"{list}\"\n") };
    format!("[[price]]\nprefix = \"{prefix}\"\n{amount}\n{list}")
}

async fn price_of(store: &Store, account: &str, to: &str, at: Timestamp) -> Option<String> {
    let catalogue = load_catalogue(store).await.unwrap();
    let account = catalogue.accounts().find(|(_, view)| view.name == account).map(|(id, _)| id).unwrap();
    let view = catalogue.account(AccountId::new(account.get())).unwrap();
    let to = Msisdn::parse(to).unwrap();
    let cost = view.prices().cost(to, &Numbers::embedded().find(to), at, 1);
    cost.map(|cost| cost.to_string())
}

#[tokio::test]
async fn account_pays_the_prices_of_its_list_and_its_own_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let setup = [
        LIST.to_owned(),
        account("shop", "EUR", "standard"),
        account("bank", "USD", ""),
        price("*", "per_part = \"0.09\"", ""),
        price("49", "per_part = \"0.05\"", "standard"),
        price("4915", "closed = true", "standard"),
        "[[price]]\nprefix = \"49151\"\nper_part = \"0.04\"\naccount = \"shop\"\n".to_owned(),
    ];
    let created = applied(&store, &setup.concat()).await;
    assert!(created.contains("+price list:standard/4915"), "{created}");
    for (to, expect) in [
        ("+498912345678", Some("0.05")),
        ("+4915212345678", None),
        ("+4915112345678", Some("0.04")),
        // The general prices have no currency, so they are not behind a list.
        ("+33612345678", None),
    ] {
        assert_eq!(price_of(&store, "shop", to, NOW).await.as_deref(), expect, "{to}");
    }
    assert_eq!(price_of(&store, "bank", "+4915212345678", NOW).await.as_deref(), Some("0.09"));
    let again = applied(&store, &setup.concat()).await;
    assert!(again.split(", ").all(|change| change.starts_with('=')), "{again}");
}

#[tokio::test]
async fn list_in_another_currency_than_the_balance_is_refused_in_every_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let refused =
        "account \"shop\" has its balance in USD, and price list \"standard\" is in EUR: name a list in USD";
    let in_one_file = applied(&store, &[account("shop", "USD", "standard"), LIST.to_owned()].concat()).await;
    assert!(in_one_file.contains(refused), "{in_one_file}");
    let both = [LIST, &account("shop", "USD", "")].concat();
    assert_eq!(applied(&store, &both).await, "+price_list standard, +account shop");
    let account_later = applied(&store, &account("shop", "USD", "standard")).await;
    assert!(account_later.contains(refused), "{account_later}");
    let list = |currency: &str| LIST.replace("EUR", currency);
    assert!(applied(&store, &list("USD")).await.starts_with("~price_list standard"));
    assert!(applied(&store, &account("shop", "USD", "standard")).await.starts_with("~account shop"));
    let list_later = applied(&store, &list("EUR")).await;
    assert!(list_later.contains(refused), "{list_later}");
}

#[tokio::test]
async fn list_is_removed_only_without_prices_and_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let setup =
        [LIST.to_owned(), account("shop", "EUR", "standard"), price("49", "per_part = 1", "standard")];
    applied(&store, &setup.concat()).await;
    let remove = |kind: &str, name: &str| format!("[[remove]]\nkind = \"{kind}\"\nname = \"{name}\"\n");
    let refused = applied(&store, &remove("price_list", "standard")).await;
    assert!(refused.contains("it is in price \"list:standard/49\", account \"shop\";"), "{refused}");
    commanded(&store, Kind::Account, "shop", json!({ "price_list": null })).await;
    assert_eq!(field(&store, Kind::Account, "shop", "price_list").await, Value::Null);
    let together = [remove("price", "list:standard/49"), remove("price_list", "standard")].concat();
    assert_eq!(applied(&store, &together).await, "-price list:standard/49, -price_list standard");
    let unknown = applied(&store, &account("other", "EUR", "standard")).await;
    assert!(
        unknown.contains("account \"other\" refers to price_list \"standard\", which does not exist"),
        "{unknown}"
    );
}

#[tokio::test]
async fn price_closes_and_opens_again_and_ends_on_its_day() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let setup = [
        account("shop", "EUR", ""),
        price("49", "per_part = \"0.05\"", ""),
        price("49", "per_part = \"0.03\"\nfrom = 2027-01-01\nuntil = 2027-02-01", ""),
    ];
    applied(&store, &setup.concat()).await;
    let day = |text: &str| crate::entry::values::when_of(text).unwrap();
    for (at, expect) in
        [("2026-12-31", "0.05"), ("2027-01-01", "0.03"), ("2027-01-31", "0.03"), ("2027-02-01", "0.05")]
    {
        assert_eq!(price_of(&store, "shop", "+498912345678", day(at)).await.as_deref(), Some(expect), "{at}");
    }
    commanded(&store, Kind::Price, "49", json!({ "closed": true })).await;
    assert_eq!(field(&store, Kind::Price, "49", "per_part").await, Value::Null);
    assert_eq!(price_of(&store, "shop", "+498912345678", NOW).await, None);
    commanded(&store, Kind::Price, "49", json!({ "closed": false, "per_part": "0.07" })).await;
    assert_eq!(price_of(&store, "shop", "+498912345678", NOW).await.as_deref(), Some("0.07"));
    for (entry, expect) in [
        (price("50", "per_part = 1\nfrom = 2027-01-01\nuntil = 2027-01-01", ""), "ends before it begins"),
        (price("50", "", ""), "missing field `per_part`"),
        (price("50", "per_part = 1\naccount = \"shop\"", "standard"), "not for both"),
    ] {
        let refused = applied(&store, &entry).await;
        assert!(refused.contains(expect), "{refused}");
    }
}

#[tokio::test]
async fn costs_and_rates_are_kept_by_carrier_sender_and_day() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let cost = |more: &str| format!("[[cost]]\ncarrier = \"north\"\nprefix = \"49\"\n{more}\n");
    let rate = "[[exchange_rate]]\nbase = \"USD\"\nquote = \"EUR\"\nrate = \"0.8\"\n";
    let setup = [
        CARRIER.to_owned(),
        cost("per_part = \"0.05\"\ncurrency = \"USD\""),
        cost("per_part = \"0.06\"\ncurrency = \"USD\"\nsender_kind = \"number\"\nbasis = \"delivered\""),
        rate.to_owned(),
    ];
    assert_eq!(
        applied(&store, &setup.concat()).await,
        "+carrier north, +cost north/49, +cost north/49:number, +exchange_rate USD-EUR"
    );
    let catalogue = load_catalogue(&store).await.unwrap();
    let carrier = catalogue.carriers()[0].0;
    let to = Msisdn::parse("+498912345678").unwrap();
    for (sender, expect) in [(SenderClass::Alphanumeric, "0.04"), (SenderClass::Number, "0.048")] {
        let found = catalogue.costs().find(carrier, to, &Numbers::embedded().find(to), sender, NOW).unwrap();
        let terms = found.terms.value.unwrap();
        let euro = "EUR".parse().unwrap();
        let in_euro = catalogue.exchange_rates().convert(terms.per_part, terms.currency, euro, NOW);
        assert_eq!(in_euro.as_ref().map(Money::to_string).as_deref(), Some(expect));
    }
    for (from, expect) in [
        ("2020-01-01", vec![]),
        (
            "2019-01-01",
            vec![
                "cost \"north/49@2019-01-01\" has no effect now: cost \"north/49@2020-01-01\" begins later and stays in force",
            ],
        ),
    ] {
        let setup = wanted(&cost(&format!("per_part = 1\ncurrency = \"USD\"\nfrom = {from}")));
        assert_eq!(apply(&store, &pepper(), &setup, NOW).await.unwrap().warnings, expect);
    }
    let refused = applied(&store, &cost("per_part = 1\ncurrency = \"EUR\"").replace("north", "south")).await;
    assert!(refused.contains("refers to carrier \"south\", which does not exist"), "{refused}");
    let refused = applied(&store, "[[remove]]\nkind = \"carrier\"\nname = \"north\"\n").await;
    assert!(refused.contains("it is in cost \"north/49\""), "{refused}");
    let refused = applied(&store, &rate.replace("USD", "EUR")).await;
    assert!(refused.contains("between a currency and itself"), "{refused}");
}
