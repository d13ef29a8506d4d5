//! Ledger entries by the operator: top-ups, invoices and payments, repeated references, statements.

use crate::fixture::{ApiFixture, Reply, SETUP};
use hermod_domain::money::Money;
use serde_json::{Value, json};

/// Parses an amount of a response.
fn amount(value: &Value) -> Money {
    Money::parse(&value.to_string()).unwrap()
}

/// Returns the figures after checking available = balance + credit_limit - credit_used.
#[track_caller]
fn figures(balance: &Value) -> String {
    let [have, limit, used, available] =
        ["balance", "credit_limit", "credit_used", "available"].map(|field| amount(&balance[field]));
    assert_eq!(have.checked_add(limit).unwrap().checked_sub(used), Some(available), "{balance}");
    format!("{have} {used} {available}")
}

async fn post(fixture: &ApiFixture, body: Value) -> Reply {
    fixture.post("/accounts/shop/ledger", body).await
}

/// Returns a fixture with a postpaid account, balance 0 and credit limit 100.
async fn postpaid() -> ApiFixture {
    let text = SETUP.replace("opening_balance = \"10\"", "credit_limit = \"100\"");
    ApiFixture::open_with(&text).await
}

#[tokio::test]
async fn balance_credit_used_and_available_add_up_after_every_entry() {
    let fixture = postpaid().await;
    let start = fixture.get("/accounts/shop/balance").await;
    assert_eq!(figures(&start.body), "0 0 100");
    assert_eq!((&start.body["payment_terms"], &start.body["postpaid"]), (&json!("postpaid"), &json!(true)));

    // Stands for messages that cost 40.
    let spent = post(&fixture, json!({"kind": "adjustment", "amount": "-40", "note": "sent"})).await;
    assert_eq!((spent.status, figures(&spent.body["balance"]).as_str()), (201, "-40 0 60"));
    // An invoice moves the debt from the balance into credit used; available stays the same.
    let invoiced = post(&fixture, json!({"kind": "invoice", "reference": "2026-06"})).await;
    assert_eq!((invoiced.status, figures(&invoiced.body["balance"]).as_str()), (201, "0 40 60"));
    assert_eq!(invoiced.body["amount"].to_string(), "40");
    let paid = post(&fixture, json!({"kind": "payment", "amount": 15.5, "reference": "bank-1"})).await;
    assert_eq!(figures(&paid.body["balance"]), "0 24.5 75.5");
    // A payment beyond the invoiced amount goes to the balance.
    let paid = post(&fixture, json!({"kind": "payment", "amount": "30", "reference": "bank-2"})).await;
    assert_eq!(figures(&paid.body["balance"]), "5.5 0 105.5");
    let topped = post(&fixture, json!({"kind": "top-up", "amount": "0.000001"})).await;
    assert_eq!(figures(&topped.body["balance"]), "5.500001 0 105.500001");
    assert_eq!(figures(&fixture.get("/accounts/shop/balance").await.body), "5.500001 0 105.500001");
}

#[tokio::test]
async fn repeated_reference_posts_once() {
    let fixture = ApiFixture::open().await;
    let body = json!({"kind": "top-up", "amount": "5", "reference": "bank-7", "note": "thank you"});
    let first = post(&fixture, body.clone()).await;
    let again = post(&fixture, body).await;
    assert_eq!((first.status, again.status), (201, 200));
    assert_eq!((&first.body["entry"], &again.body["repeated"]), (&again.body["entry"], &json!(true)));
    assert_eq!(figures(&again.body["balance"]), "15 0 15");
    let other = post(&fixture, json!({"kind": "top-up", "amount": "6", "reference": "bank-7"})).await;
    assert_eq!(
        other.status_and_error(),
        "409 REFERENCE_TAKEN: the reference was used before for another kind of entry or another amount"
    );
    assert_eq!(figures(&fixture.get("/accounts/shop/balance").await.body), "15 0 15");
}

#[tokio::test]
async fn invoice_without_an_amount_can_be_repeated_with_its_reference() {
    let fixture = postpaid().await;
    post(&fixture, json!({"kind": "adjustment", "amount": "-3"})).await;
    let invoice = json!({"kind": "invoice", "reference": "june"});
    let (one, other) = tokio::join!(post(&fixture, invoice.clone()), post(&fixture, invoice.clone()));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    post(&fixture, json!({"kind": "adjustment", "amount": "-1"})).await;
    let late = post(&fixture, invoice).await;
    assert_eq!((late.status, late.body["amount"].to_string().as_str()), (200, "3"));
    assert_eq!(figures(&late.body["balance"]), "-1 3 96");
    let taken = post(&fixture, json!({"kind": "top-up", "amount": "1", "reference": "t"})).await;
    assert_eq!(taken.status, 201);
    assert_eq!(post(&fixture, json!({"kind": "invoice", "reference": "t"})).await.status, 409);
}

#[tokio::test]
async fn invalid_ledger_entry_is_rejected() {
    let fixture = ApiFixture::open().await;
    for (body, expect) in [
        (json!({"kind": "invoice"}), "422 NOTHING_OWED: account \"shop\" owes nothing: its balance is 10"),
        (
            json!({"kind": "refund", "amount": "1"}),
            "400 INVALID_FIELD: kind: \"refund\" is none of top-up, adjustment, invoice and payment",
        ),
        (
            json!({"kind": "top-up"}),
            "400 INVALID_FIELD: amount: is missing; only an invoice can go without, and is then for all that is owed",
        ),
        (json!({"kind": "top-up", "amount": "-1"}), "422 REFUSED: the amount must be more than zero"),
        (json!({"kind": "payment", "amount": 0}), "422 REFUSED: the amount must be more than zero"),
        (json!({"kind": "adjustment", "amount": "0"}), "422 REFUSED: an adjustment must not be zero"),
        (
            json!({"kind": "top-up", "amount": "0.0000001"}),
            "400 INVALID_FIELD: amount: \"0.0000001\": an amount must have at most 6 decimals",
        ),
        (
            json!({"kind": "top-up", "amount": true}),
            "400 INVALID_FIELD: amount: true: an amount must be digits with an optional decimal point, such as 12 or 0.035",
        ),
        (
            json!({"kind": "top-up", "amount": "9223372036854"}),
            "422 REFUSED: the balance would exceed the largest amount",
        ),
        (
            json!({"kind": "top-up", "amount": "1", "reference": ""}),
            "400 INVALID_FIELD: reference: must have 1 to 128 characters, none of them a control character",
        ),
        (
            json!({"kind": "top-up", "amount": "1", "note": "a\nb"}),
            "400 INVALID_FIELD: note: must have 0 to 500 characters, none of them a control character",
        ),
    ] {
        assert_eq!(post(&fixture, body.clone()).await.status_and_error(), expect, "{body}");
    }
    let unknown =
        post(&fixture, json!({"kind": "top-up", "amount": "1", "sum": "2"})).await.status_and_error();
    assert!(unknown.starts_with("400 INVALID_JSON: the body is not valid: unknown field `sum`"), "{unknown}");
    let nobody = fixture.post("/accounts/nobody/ledger", json!({"kind": "top-up", "amount": "1"})).await;
    assert_eq!(nobody.status_and_error(), "404 NOT_FOUND: there is no account \"nobody\"");
    assert_eq!(figures(&fixture.get("/accounts/shop/balance").await.body), "10 0 10");
}

#[tokio::test]
async fn ledger_is_paged_and_statement_adds_up() {
    let fixture = ApiFixture::open().await;
    for n in 1..=4 {
        post(&fixture, json!({"kind": "top-up", "amount": n, "reference": format!("r{n}"), "note": "n"}))
            .await;
    }
    let first = fixture.get("/accounts/shop/ledger?limit=3").await.body;
    let page: Vec<&Value> = first["items"].as_array().unwrap().iter().map(|row| &row["balance"]).collect();
    assert_eq!(page, [4, 3, 2]);
    let rest = fixture.get(&format!("/accounts/shop/ledger?limit=3&before={}", first["next"])).await.body;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (2, &Value::Null));
    let opening = &rest["items"][1];
    assert_eq!(
        (&opening["kind"], &opening["note"], &opening["at"]),
        (&json!("top-up"), &json!("opening balance"), &json!("2026-06-15T12:00:00Z"))
    );

    let statement = fixture.get("/accounts/shop/statement?from=2026-06-01&to=2026-06-30").await.body;
    assert_eq!((&statement["currency"], &statement["opening"]["balance"]), (&json!("EUR"), &json!(0)));
    let lines = statement["lines"].as_array().unwrap();
    let sum = lines.iter().fold(Money::ZERO, |sum, line| sum.checked_add(amount(&line["balance"])).unwrap());
    assert_eq!((sum, lines.len()), (amount(&statement["closing"]["balance"]), 5));
    assert_eq!(
        fixture.get("/accounts/shop/days?from=2026-06-01&to=2026-06-30").await.body,
        json!({"items": []})
    );
    for (query, expect) in [
        ("from=2026-06-01", "missing field `to`"),
        ("from=2026-06-31&to=2026-06-01", "from: \"2026-06-31\" is not a day such as 2026-01-31"),
        ("from=2026-06-02&to=2026-06-01", "to: 2026-06-01 is before 2026-06-02"),
        ("from=2020-01-01&to=2026-06-01", "to: 2020-01-01 to 2026-06-01 is more than 366 days"),
    ] {
        let told = fixture.get(&format!("/accounts/shop/statement?{query}")).await.status_and_error();
        assert_eq!(told, format!("400 INVALID_FIELD: {expect}"));
    }
}
