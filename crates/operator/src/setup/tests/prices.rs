//! Tests of prices: of 0, and of those that another one keeps from being in force.

use super::three_way::{commanded, field};
use super::{NOW, applied, apply, open, pepper, wanted};
use crate::kind::Kind;
use serde_json::{Value, json};

#[tokio::test]
async fn price_of_0_needs_free_and_another_price_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let priced =
        |per_part: &str, more: &str| format!("[[price]]\nprefix = \"49\"\nper_part = \"{per_part}\"\n{more}");
    let refused = "refused: price \"49\" is 0: if messages are to cost nothing, say so with free = true";
    assert_eq!(applied(&store, &priced("0", "")).await, refused);
    assert_eq!(applied(&store, &priced("0.000", "free = false")).await, refused);
    assert_eq!(applied(&store, &priced("0", "free = true")).await, "+price 49");
    assert_eq!(applied(&store, &priced("0", "free = true")).await, "=price 49");
    assert_eq!(field(&store, Kind::Price, "49", "free").await, json!(true), "an export can be applied");
    commanded(&store, Kind::Price, "49", json!({ "per_part": "0.05" })).await;
    assert_eq!(field(&store, Kind::Price, "49", "free").await, Value::Null);
}

#[tokio::test]
async fn price_that_is_not_in_force_is_stored_with_a_warning_that_names_the_one_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let warnings = async |text: &str| apply(&store, &pepper(), &wanted(text), NOW).await.unwrap().warnings;
    let priced = |from: &str| format!("[[price]]\nprefix = \"49\"\nper_part = \"0.05\"\n{from}");
    let none: [&str; 0] = [];
    assert_eq!(warnings(&priced("from = 2026-01-01")).await, none, "it has begun");
    assert_eq!(
        warnings(&priced("")).await,
        ["price \"49\" has no effect now: price \"49@2026-01-01\" begins later and stays in force"]
    );
    assert_eq!(warnings(&priced("")).await, none, "it was not changed");
    assert_eq!(warnings(&priced("from = 2099-01-01")).await, none, "it says itself when it begins");
    assert_eq!(warnings(&priced("from = 2026-02-01")).await, none);
    assert_eq!(
        warnings(&priced("from = 2025-01-01")).await,
        [
            "price \"49@2025-01-01\" has no effect now: price \"49@2026-02-01\" begins later and stays in force"
        ]
    );
    let others = "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\n\
                  [[price]]\nprefix = \"49\"\nper_part = 1\naccount = \"shop\"\n[[price]]\ncountry = \"DE\"\nper_part = 1\n";
    assert_eq!(warnings(others).await, none, "of another account, and for another area");
}
