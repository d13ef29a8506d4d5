//! Every kind of entry: created, read, changed and, where allowed, removed.

use crate::fixture::ApiFixture;
use serde_json::{Value, json};

#[tokio::test]
async fn note_of_a_sender_is_shown_to_operators_and_not_in_the_audit_log_of_its_account() {
    let fixture = ApiFixture::open().await;
    let body = json!({"note": "Asked for in ticket 4711.", "reason": "The name of a brand."});
    let saved = fixture.put("/senders/shop/Brand", body).await;
    assert_eq!(saved.body["entry"]["note"], "Asked for in ticket 4711.", "{}", saved.text);
    let changed = fixture.patch("/senders/shop/Brand", json!({"note": "Confirmed by phone."})).await;
    assert_eq!(changed.body["entry"]["note"], "Confirmed by phone.", "{}", changed.text);
    let of_account = fixture.get("/audit-log?account=shop&action=sender").await.text;
    assert!(of_account.contains("The name of a brand.") && !of_account.contains("note"), "{of_account}");
    let of_all = fixture.get("/audit-log?action=sender").await.text;
    for note in ["Asked for in ticket 4711.", "Confirmed by phone."] {
        assert!(of_all.contains(note), "{of_all}");
    }
    let long = fixture.patch("/senders/shop/Brand", json!({"note": "x".repeat(501)})).await;
    assert_eq!(long.status, 422, "{}", long.text);
    assert!(long.text.contains("note: a note has at most 500 characters in one line"), "{}", long.text);
}

#[tokio::test]
async fn carriers_and_margin_of_an_accounts_route_are_not_in_the_audit_log_of_the_account() {
    let fixture = ApiFixture::open().await;
    let saved = fixture.put("/routes/shop/49", json!({"carriers": ["acme"], "min_margin": "5%"})).await;
    assert_eq!(saved.body["entry"]["min_margin"], "5%", "{}", saved.text);
    let carriers = json!([{"carrier": "acme", "priority": 1, "weight": 2}]);
    let patch = json!({"min_margin": "7%", "choose": "cost", "carriers": carriers});
    let changed = fixture.patch("/routes/shop/49", patch).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let of_account = fixture.get("/audit-log?account=shop&action=route").await.text;
    assert!(["margin", "choose", "acme"].iter().all(|word| !of_account.contains(word)), "{of_account}");
    let of_all = fixture.get("/audit-log?action=route").await.text;
    assert!(["5%", "7%", "cost"].iter().all(|value| of_all.contains(value)), "{of_all}");
}

/// (kind, name in the path, body, patch, field and its value after the patch)
type Thing = (&'static str, &'static str, Value, Value, (&'static str, Value));

fn things() -> Vec<Thing> {
    [of_routing(), of_customers()].concat()
}

fn of_routing() -> Vec<Thing> {
    vec![
        (
            "carriers",
            "beta",
            json!({"address": "h:1", "system_id": "s", "password": "p", "window": 5, "rate": 7}),
            json!({"disabled": true, "tls": {"name": "smsc.example", "ca": null}, "links": 2}),
            ("tls", json!({"name": "smsc.example"})),
        ),
        (
            "routes",
            "33",
            json!({"carriers": ["acme"]}),
            json!({"in_doubt": "never-resend"}),
            ("in_doubt", json!("never-resend")),
        ),
        (
            "prices",
            "shop/262-01@2026-07-01",
            json!({"per_part": "0.06"}),
            json!({"per_part": "0.07"}),
            ("per_part", json!("0.07")),
        ),
    ]
}

fn of_customers() -> Vec<Thing> {
    vec![
        (
            "accounts",
            "bank",
            json!({"currency": "USD"}),
            json!({"verified": true}),
            ("verified", json!(true)),
        ),
        ("connections", "shop-2", json!({"account": "shop"}), json!({"rate": 20}), ("rate", json!(20))),
        (
            "keys",
            "second",
            json!({"connection": "shop-http"}),
            json!({"revoked": true}),
            ("revoked", json!(true)),
        ),
        (
            "senders",
            "shop/Bank",
            json!({"state": "pending"}),
            json!({"state": "blocked"}),
            ("state", json!("blocked")),
        ),
        (
            "numbers",
            "80808/WORD",
            json!({"account": "shop"}),
            json!({"account": "shop"}),
            ("keyword", json!("WORD")),
        ),
        (
            "screens",
            "links",
            json!({"pattern": "http"}),
            json!({"field": "sender"}),
            ("field", json!("sender")),
        ),
        (
            "controls",
            "day",
            json!({"spend_per_day": "5"}),
            json!({"spend_per_day": null, "per_range": {"most": 3, "per": "10m"}, "mode": "watch"}),
            ("per_range", json!({"most": 3, "per": "10m"})),
        ),
        (
            "blocks",
            "shop/4990000-4990099",
            json!({"reason": "Fraud in ticket 4711."}),
            json!({"direction": "sent", "reason": null, "until": "2027-01-01"}),
            ("until", json!("2027-01-01")),
        ),
    ]
}

#[tokio::test]
async fn every_entry_kind_is_created_read_changed_and_listed() {
    let fixture = ApiFixture::open().await;
    for (kind, name, body, patch, (field, after)) in things() {
        let path = format!("/{kind}/{name}");
        assert_eq!(fixture.get(&path).await.status, 404, "{path}");
        let made = fixture.put(&path, body.clone()).await;
        assert_eq!(made.status, 201, "{path}: {}", made.text);
        assert_eq!(made.body["name"], name);
        assert!(made.changes().starts_with("created "), "{}", made.text);
        let again = fixture.put(&path, body).await;
        assert_eq!(again.status, 200, "{path}: {}", again.text);
        assert!(again.changes().starts_with("same "), "{path}: {}", again.text);

        let patched = fixture.patch(&path, patch).await;
        assert_eq!(patched.status, 200, "{path}: {}", patched.text);
        assert_eq!(patched.body["entry"][field], after, "{path}");
        let shown = fixture.get(&path).await;
        assert_eq!((shown.status, &shown.body["entry"]), (200, &patched.body["entry"]), "{path}");
        let back = fixture.put(&path, shown.body["entry"].clone()).await;
        assert!(back.changes().starts_with("same "), "the response body can be put again: {}", back.text);

        let listed = fixture.get(&format!("/{kind}")).await;
        let items = listed.body["items"].as_array().unwrap();
        assert!(items.contains(&shown.body), "{path} is not in {}", listed.text);
        assert_eq!(listed.body["next"], Value::Null);
    }
}

#[tokio::test]
async fn second_of_two_concurrent_creations_gets_412() {
    let fixture = ApiFixture::open().await;
    let make = |currency: &str| fixture.put_new("/accounts/bank", "*", json!({"currency": currency}));
    let (one, other) = tokio::join!(make("EUR"), make("USD"));
    let (made, late) = if one.status == 201 { (one, other) } else { (other, one) };
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(late.status_and_error(), "412 ALREADY_EXISTS: account \"bank\" already exists");
    assert_eq!(fixture.get("/accounts/bank").await.body["entry"], made.body["entry"]);
    let tagged = fixture.put_new("/accounts/bank", "\"7\"", json!({"currency": "EUR"})).await;
    assert_eq!(tagged.status_and_error(), "400 INVALID_FIELD: If-None-Match: can only be *, once");
}

/// The response to a change has the entry as that change left it, also when another request removes it meanwhile.
#[tokio::test]
async fn successful_change_is_never_answered_with_an_error() {
    let fixture = ApiFixture::open().await;
    for round in 0..20 {
        let price = format!("0.{round:02}1");
        let (put, removed) =
            tokio::join!(fixture.put("/prices/44", json!({"per_part": price})), fixture.delete("/prices/44"));
        assert!(matches!(put.status, 200 | 201), "{}", put.text);
        assert_eq!(put.body["entry"]["per_part"], price);
        assert!(matches!(removed.status, 200 | 404), "{}", removed.text);
    }
}

#[tokio::test]
async fn entry_of_any_kind_is_removed_if_it_was_never_used() {
    let fixture = ApiFixture::open().await;
    for (kind, name, body, ..) in things() {
        let path = format!("/{kind}/{name}");
        fixture.put(&path, body).await;
        let removed = fixture.delete(&path).await;
        assert_eq!(removed.status, 200, "{path}: {}", removed.text);
        assert!(removed.changes().starts_with("removed "), "{}", removed.text);
        assert_eq!(fixture.get(&path).await.status, 404, "{path}");
        assert_eq!(fixture.delete(&path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn used_account_connection_and_carrier_are_not_removed() {
    let fixture = ApiFixture::open().await;
    let (status, body) = fixture.submit("+4915112345678", "hello", &[]).await;
    assert_eq!(status, 202, "{body}");
    for (path, first, word) in [
        // Its opening balance came before its first message.
        ("/accounts/shop", "for a ledger entry; ", "closed"),
        ("/connections/shop-http", "for a message; ", "closed"),
        ("/carriers/acme", "for a message; ", "disabled"),
    ] {
        let refused = fixture.delete(path).await;
        assert_eq!((refused.status, refused.header("x-error-code")), (422, Some("NOT_REMOVABLE")), "{path}");
        let text = refused.error();
        assert!(text.contains("cannot be removed: it was first used at 20"), "{text}");
        assert!(text.ends_with(&format!("{first}set {word} = true instead")), "{text}");
        assert_eq!(fixture.get(path).await.status, 200);
    }
}

#[tokio::test]
async fn entry_that_others_refer_to_is_removed_after_them_and_its_number_is_not_used_again() {
    let fixture = ApiFixture::open().await;
    let row = async |name: &str| {
        let rows = fixture.gateway.store.setup().rows().await.unwrap().into_iter();
        rows.filter(|row| row.kind == "account").find(|row| row.name == name).map(|row| row.id)
    };
    fixture.put("/accounts/bank", json!({"currency": "USD", "senders": ["Bank"]})).await;
    fixture.put("/connections/bank-http", json!({"account": "bank"})).await;
    let number = row("bank").await.expect("an account");
    let refused = fixture.delete("/accounts/bank").await;
    assert_eq!(
        refused.status_and_error(),
        "422 REFUSED: account \"bank\" cannot be removed: it is in sender \"bank/Bank\", connection \"bank-http\"; remove or \
         change what refers to it first"
    );
    let file = |list: &[[&str; 2]]| {
        let entry = |[kind, name]: &[&str; 2]| format!("[[remove]]\nkind = \"{kind}\"\nname = \"{name}\"\n");
        list.iter().map(entry).collect::<String>()
    };
    let all = file(&[["account", "bank"], ["sender", "bank/Bank"], ["connection", "bank-http"]]);
    let shown = fixture.apply("/apply?dry_run=true", &all).await;
    assert_eq!(
        shown.changes(),
        "removed account bank, removed sender bank/Bank, removed connection bank-http"
    );
    assert_eq!(row("bank").await, Some(number), "a dry run changes nothing");
    assert_eq!(fixture.apply("/apply", &all).await.changes(), shown.changes());
    assert_eq!(row("bank").await, None);

    let used = fixture.apply("/apply?dry_run=true", &file(&[["account", "shop"]])).await;
    assert!(used.status_and_error().starts_with("422 NOT_REMOVABLE: account \"shop\""), "{}", used.text);
    fixture.put("/accounts/bank", json!({"currency": "USD"})).await;
    assert!(row("bank").await.expect("an account") > number);
    let audit = fixture.get("/audit-log").await.text;
    assert!(audit.contains("account.remove") && audit.contains("connection.remove"), "{audit}");
}

#[tokio::test]
async fn secrets_are_returned_once() {
    let fixture = ApiFixture::open().await;
    let made = fixture.put("/keys/k2", json!({"connection": "shop-http"})).await;
    let secret = made.body["secrets"][0]["secret"].as_str().unwrap().to_owned();
    assert_eq!(made.body["secrets"][0]["key"], "k2");
    let digest = |key: &str| fixture.gateway.catalogue().key(key).unwrap().secret_digest.clone();
    assert!(fixture.gateway.pepper.matches(&secret, &digest("k2")));

    let rotated = fixture.call("POST", "/keys/k2/rotate", "", "").await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    let next = rotated.body["secrets"][0]["secret"].as_str().unwrap().to_owned();
    assert!(fixture.gateway.pepper.matches(&next, &digest("k2")));
    assert!(!fixture.gateway.pepper.matches(&secret, &digest("k2")));
    let changed = &rotated.body["changes"][0]["fields"];
    assert_eq!(*changed, json!([{"field": "secret", "before": "(hidden)", "after": "(hidden)"}]));
    assert_eq!(fixture.call("POST", "/keys/nobody/rotate", "", "").await.status, 404);

    let given = |secret: &str| json!({"connection": "shop-http", "secret": secret});
    let short = fixture.put("/keys/k3", given("25-characters-are-too-few")).await;
    assert!(
        short.status_and_error().starts_with("422 REFUSED: key \"k3\": secret: a secret has 26 to 128"),
        "{}",
        short.text
    );
    assert_eq!(fixture.put("/keys/k3", given("given-by-the-operator-himself")).await.status, 201);
    for path in ["/keys", "/keys/k2", "/keys/k3", "/keys/shop-key", "/carriers", "/carriers/acme"] {
        let shown = fixture.get(path).await.text;
        let given = ["given-by-the-operator-himself", "shop-secret-text-of-many-characters", "carr-pw"];
        for hidden in given.into_iter().chain([secret.as_str(), &next, &digest("k2")]) {
            assert!(!shown.contains(hidden), "{path} shows {hidden}");
        }
    }
}

#[tokio::test]
async fn change_is_effective_when_it_is_answered() {
    let fixture = ApiFixture::open().await;
    let verified = |fixture: &ApiFixture| {
        let catalogue = fixture.gateway.catalogue();
        catalogue.account(fixture.account("shop")).unwrap().account.verified
    };
    assert!(verified(&fixture));
    fixture.patch("/accounts/shop", json!({"verified": false})).await;
    assert!(!verified(&fixture));
}

#[tokio::test]
async fn change_is_completed_after_the_caller_disconnects() {
    let fixture = ApiFixture::open().await;
    let mut changes = fixture.gateway.catalogue_changes();
    changes.mark_unchanged();
    let mut call = Box::pin(fixture.put("/accounts/late", json!({"currency": "EUR"})));
    // The request has begun, and the caller stops waiting.
    std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context).is_ready())).await;
    drop(call);
    changes.changed().await.unwrap();
    assert_eq!(fixture.get("/accounts/late").await.status, 200);
    assert!(fixture.gateway.catalogue().account(fixture.account("late")).is_some());
}

#[tokio::test]
async fn two_concurrent_changes_are_both_applied() {
    let fixture = ApiFixture::open().await;
    let name = |n: usize| format!("/accounts/a{n}");
    let paths: Vec<String> = (0..8).map(name).collect();
    let body = json!({"currency": "EUR"});
    let (a, b, c, d) = tokio::join!(
        fixture.put(&paths[0], body.clone()),
        fixture.put(&paths[1], body.clone()),
        fixture.patch("/accounts/shop", json!({"minimum": "1"})),
        fixture.patch("/accounts/shop", json!({"credit_limit": "2"})),
    );
    assert_eq!([a.status, b.status, c.status, d.status], [201, 201, 200, 200]);
    let shop = fixture.get("/accounts/shop").await.body;
    assert_eq!((&shop["entry"]["minimum"], &shop["entry"]["credit_limit"]), (&json!("1"), &json!("2")));
    assert_ne!(fixture.account("a0"), fixture.account("a1"), "each has its own id");
}

#[tokio::test]
async fn lists_are_paged_and_filtered_by_account() {
    let fixture = ApiFixture::open().await;
    for n in 0..5 {
        fixture.put(&format!("/screens/s{n}"), json!({"pattern": "x"})).await;
    }
    fixture.put("/screens/own", json!({"pattern": "y", "account": "shop"})).await;
    let names = |reply: &Value| -> Vec<String> {
        let items = reply["items"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    let first = fixture.get("/screens?limit=4").await.body;
    assert_eq!((names(&first).join(" ").as_str(), &first["next"]), ("own s0 s1 s2", &json!("s2")));
    let rest = fixture.get("/screens?limit=4&after=s2").await.body;
    assert_eq!((names(&rest).join(" ").as_str(), &rest["next"]), ("s3 s4", &Value::Null));
    assert_eq!(names(&fixture.get("/screens?account=shop").await.body), ["own"]);
    assert_eq!(names(&fixture.get("/keys?account=shop").await.body), ["shop-key"]);
    assert_eq!(names(&fixture.get("/keys?account=nobody").await.body), Vec::<String>::new());
    assert_eq!(
        fixture.get("/carriers?account=shop").await.status_and_error(),
        "400 INVALID_FIELD: account: carriers belong to no account"
    );
    assert_eq!(
        fixture.get("/screens?limit=0").await.status_and_error(),
        "400 INVALID_FIELD: limit: \"0\" is not a number from 1 to 1000"
    );
    assert_eq!(fixture.get("/screens?colour=red").await.status, 400);
}

#[tokio::test]
async fn invalid_entry_is_rejected_with_its_reason_and_changes_nothing() {
    let fixture = ApiFixture::open().await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    for (path, body, expect) in [
        ("/accounts/x", json!({}), "422 REFUSED: account \"x\": missing field `currency`"),
        (
            "/accounts/shop",
            json!({"currency": "USD"}),
            "422 REFUSED: account \"shop\" has its balance in EUR, and that cannot change; make a new account for USD",
        ),
        (
            "/connections/x",
            json!({"account": "nobody"}),
            "422 REFUSED: connection \"x\" refers to account \"nobody\", which does not exist here or in the store",
        ),
        (
            "/connections/x",
            json!({"account": "shop", "name": "y"}),
            "422 REFUSED: connection \"x\" does not match the body, which describes \"y\"",
        ),
        (
            "/prices/nonsense",
            json!({"per_part": "1"}),
            "422 REFUSED: \"nonsense\" is not a valid price name: expected 49, 262-01, mcc262, DE or *, with ACCOUNT/ before it \
             for one account or list:LIST/ for a price list, and @DAY after it for its first day",
        ),
        (
            "/prices/49",
            json!({"per_part": "1001"}),
            "422 REFUSED: prices: the price 1001 for prefix \"49\" is not between 0 and 1000",
        ),
        (
            "/screens/x",
            json!({"pattern": "["}),
            "422 REFUSED: invalid pattern in screening rule \"x\": unclosed character class",
        ),
        (
            "/senders/shop/Shop",
            json!({"state": "loved"}),
            "422 REFUSED: sender \"shop/Shop\": state: unknown variant `loved`, expected one of `approved`, `pending`, `blocked`",
        ),
        (
            "/carriers/x",
            json!({"address": "h:1", "system_id": "s", "window": 1, "rate": 1}),
            "422 REFUSED: carrier \"x\" is new and has no password; write \"\" for an empty one",
        ),
    ] {
        let reply = fixture.put(path, body).await;
        assert_eq!(reply.status_and_error(), expect, "{path}");
        assert_eq!(reply.header("x-error-code"), Some("REFUSED"));
    }
    assert_eq!(
        fixture.patch("/accounts/shop", json!({"name": "other"})).await.status_and_error(),
        "422 REFUSED: account \"shop\" does not match the body, which describes \"other\""
    );
    assert_eq!(
        fixture.patch("/carriers/acme", json!({"tls": {"nme": null}})).await.status_and_error(),
        "422 REFUSED: carrier: tls: unknown field `nme`"
    );
    assert_eq!(
        fixture.patch("/accounts/nobody", json!({})).await.status_and_error(),
        "404 NOT_FOUND: there is no account \"nobody\""
    );
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
}
