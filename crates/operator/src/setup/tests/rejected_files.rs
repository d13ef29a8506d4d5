//! Tests of rejected files and their error messages.

use crate::setup::tests::{CUSTOMER, applied, open};

const ONE_LIMIT: &str = "control \"x\" has exactly one of spend_per_day, messages_per_day, per_recipient, per_range and per_country";

#[tokio::test]
async fn inconsistent_file_is_rejected_completely() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, CUSTOMER).await;
    let before = store.setup().rows().await.unwrap();
    for (text, expect) in [
        (
            "[[route]]\nprefix = \"*\"\ncarriers = [\"x\"]",
            "route \"*\" refers to carrier \"x\", which does not exist here or in the store",
        ),
        (
            "[[route]]\nprefix = \"49\"\ncarriers = []",
            "the route for prefix \"49\": it must name at least one carrier",
        ),
        (
            "[[price]]\nprefix = \"*\"\nper_part = 1\naccount = \"x\"",
            "price \"x/*\" refers to account \"x\", which does not exist here or in the store",
        ),
        (
            "[[price]]\nprefix = \"1\"\nper_part = 9999999",
            "prices: the price 9999999 for prefix \"1\" is not between 0 and 1000",
        ),
        (
            "[[connection]]\nname = \"d\"\naccount = \"x\"",
            "connection \"d\" refers to account \"x\", which does not exist here or in the store",
        ),
        (
            "[[connection]]\nname = \"d\"\naccount = \"a\"\ndefault_sender = \"You\"",
            "connection \"d\" has the default sender \"You\", which is not among the senders of account \"a\"",
        ),
        (
            "[[key]]\nkey = \"k\"\nsecret = \"0123456789abcdefghijklmnop\"\nconnection = \"x\"",
            "key \"k\" refers to connection \"x\", which does not exist here or in the store",
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
            "account \"b\" is mentioned twice",
        ),
        (
            "[[carrier]]\nname = \"x\"\naddress = \"h:1\"\nsystem_id = \"s\"\nwindow = 1\nrate = 1",
            "carrier \"x\" is new and has no password; write \"\" for an empty one",
        ),
        (
            "[[price]]\nprefix = \"49\"\nper_part = 0",
            "price \"49\" is 0: if messages are to cost nothing, say so with free = true",
        ),
        ("[[price]]\nper_part = 1", "price \"?\" needs exactly one of prefix, network, mcc and country"),
        (
            "[[price]]\nper_part = 1\nmcc = 262\nnetwork = \"262-01\"",
            "price \"?\" needs exactly one of prefix, network, mcc and country",
        ),
        (
            "[[sender]]\nsender = \"Bank\"\nstate = \"approved\"",
            "sender \"*/Bank\" has no account: only a blocked sender can apply to every account",
        ),
        (
            "[[screen]]\nname = \"s\"\npattern = \"(\"",
            "invalid pattern in screening rule \"s\": unclosed group",
        ),
        ("[[control]]\nname = \"x\"", ONE_LIMIT),
        ("[[control]]\nname = \"x\"\nspend_per_day = 1\nmessages_per_day = 1", ONE_LIMIT),
        ("[[block]]\nreason = \"Fraud.\"", "block \"?\" needs exactly one of prefix, range and list"),
        (
            "[[block]]\nprefix = \"49\"\nlist = \"premium-and-satellite\"",
            "block \"?\" needs exactly one of prefix, range and list",
        ),
        (
            "[[block]]\nprefix = \"49\"\naccount = \"x\"",
            "block \"x/49\" refers to account \"x\", which does not exist here or in the store",
        ),
        (
            "[[block]]\nprefix = \"49\"\ndirection = \"sent\"\n[[block]]\nprefix = \"+49\"",
            "block \"49\" is mentioned twice",
        ),
        (
            "[[number]]\nnumber = \"80808\"\naccount = \"x\"",
            "number \"80808\" refers to account \"x\", which does not exist here or in the store",
        ),
        (
            "[[remove]]\nkind = \"account\"\nname = \"a\"",
            "account \"a\" cannot be removed: it is in sender \"a/Me\", connection \"c\"; remove or change what refers to it first",
        ),
        (
            "[[remove]]\nkind = \"sender\"\nname = \"Bank\"",
            "\"Bank\" is not a valid sender name: expected ACCOUNT/SENDER, or */SENDER for every account",
        ),
        (
            "[[sender]]\nsender = \"Me\"\naccount = \"a\"\n[[remove]]\nkind = \"sender\"\nname = \"a/Me\"",
            "sender \"a/Me\" is mentioned twice",
        ),
    ] {
        assert_eq!(applied(&store, text).await, format!("refused: {expect}"));
        assert_eq!(store.setup().rows().await.unwrap(), before, "{text}");
    }
}

#[tokio::test]
async fn sender_that_looks_like_another_accounts_is_rejected_unless_permitted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let two = "[[account]]\nname = \"payer\"\ncurrency = \"EUR\"\nsenders = [\"PayPal\", \"Alike\"]\n\
               [[account]]\nname = \"other\"\ncurrency = \"EUR\"\n";
    assert!(applied(&store, two).await.contains("+sender payer/PayPal"));
    let sender =
        |name: &str, more: &str| format!("[[sender]]\nsender = \"{name}\"\naccount = \"other\"\n{more}");
    for name in ["PayPa1", "Pay-Pal", "PAY.PAI", "PAYPAL", "paypal"] {
        let actual = applied(&store, &sender(name, "")).await;
        let expect = format!("refused: sender \"other/{name}\" looks like sender \"payer/PayPal\"");
        assert!(actual.starts_with(&expect) && actual.contains("look_alike = true"), "{actual}");
    }
    let listed = "[[account]]\nname = \"other\"\ncurrency = \"EUR\"\nsenders = [\"Paypa1\"]\n";
    assert!(applied(&store, listed).await.contains("looks like sender \"payer/PayPal\""));
    // The same name for two accounts, a pending one, and one with look_alike.
    for (name, more) in [
        ("PayPal", ""),
        ("PayPlan", ""),
        ("Pay_Pal", "state = \"pending\"\n"),
        ("PayPaI", "look_alike = true\n"),
    ] {
        let actual = applied(&store, &sender(name, more)).await;
        assert_eq!(actual, format!("+sender other/{name}"));
    }
    assert_eq!(applied(&store, &sender("PayPaI", "")).await, "=sender other/PayPaI", "approved before");
    let own = "[[sender]]\nsender = \"A1ike\"\naccount = \"payer\"\n";
    assert_eq!(applied(&store, own).await, "+sender payer/A1ike", "an account may imitate itself");
}

#[tokio::test]
async fn key_over_the_most_of_an_account_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let accounts = ["one", "two"].map(|name| {
        format!(
            "[[account]]\nname = \"{name}\"\ncurrency = \"EUR\"\n\
             [[connection]]\nname = \"{name}-http\"\naccount = \"{name}\"\n"
        )
    });
    let key = |name: &str, connection: &str| {
        format!(
            "[[key]]\nkey = \"{name}\"\nconnection = \"{connection}\"\nsecret = \"0123456789abcdefghijklmnopqrstuvw\"\n"
        )
    };
    let keys: String = (0..500).map(|number| key(&format!("key-{number}"), "one-http")).collect();
    let actual = applied(&store, &format!("{}{keys}", accounts.concat())).await;
    assert!(!actual.starts_with("refused"), "{actual}");
    let actual = applied(&store, &key("further", "one-http")).await;
    assert!(actual.starts_with("refused: key \"further\" is over the 500 keys"), "{actual}");
    assert_eq!(applied(&store, &key("further", "two-http")).await, "+key further");
    // A key that exists is changed as before.
    let actual = applied(&store, &format!("{}revoked = true\n", key("key-7", "one-http"))).await;
    assert!(actual.starts_with("~key key-7"), "{actual}");
}
