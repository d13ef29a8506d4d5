//! Rate sheets over the operator API: plans, losses, applying, and taking back.

use crate::fixture::{ApiFixture, Reply, SETUP};
use serde_json::{Value, json};

const PATH: &str = "/carriers/acme/rate-sheets";

/// Two customers in euros and dollars, and a carrier whose sheets are in euros.
fn setup() -> String {
    let more = "[[rate_profile]]\ncarrier = \"acme\"\ncurrency = \"EUR\"\nnotice_days = 7\n\
        [[account]]\nname = \"bank\"\ncurrency = \"USD\"\n\
        [[price]]\ncountry = \"DE\"\nper_part = \"0.04\"\naccount = \"bank\"\n\
        [[exchange_rate]]\nbase = \"EUR\"\nquote = \"USD\"\nrate = \"1.1\"\n\
        [[cost]]\ncarrier = \"acme\"\ncountry = \"DE\"\nper_part = \"0.03\"\ncurrency = \"EUR\"\n\
        [[cost]]\ncarrier = \"acme\"\nnetwork = \"262-02\"\nper_part = \"0.03\"\ncurrency = \"EUR\"\n";
    format!("{SETUP}{more}")
}

/// The clock of the fixture is at 2026-06-15.
const SHEET: &str = "Prices of Acme;;;\nCountry;MCC;MNC;Price;Valid from\nGermany;262;1;0,065;01.07.2026\n\
                     Germany;262;*;0,03;\nGermany;262;99;0,05;\nAustria;232;*;0,02;01.07.2026\n";

impl ApiFixture {
    async fn sheet(&self, query: &str, sheet: &str) -> Reply {
        self.call("POST", &format!("{PATH}?{query}"), "text/csv", sheet.to_owned()).await
    }

    /// Returns the names of the costs of the carrier.
    async fn costs(&self) -> Vec<String> {
        let page = self.get("/costs").await.body;
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Returns each change in one line.
fn changes(body: &Value) -> Vec<String> {
    let text =
        |value: &Value| if value.is_null() { "-".to_owned() } else { value.to_string().replace('"', "") };
    let line = |change: &Value| {
        let fields = ["change", "destination", "before", "per_part", "from"];
        fields.map(|field| text(&change[field])).join(" ")
    };
    body["changes"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn sheet_is_planned_with_losses_and_changes_nothing() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    let plan = fixture.sheet("", SHEET).await;
    assert_eq!(plan.status, 200, "{}", plan.text);
    assert_eq!(
        changes(&plan.body),
        ["new 262-01 - 0.065 2026-07-01T00:00:00Z", "new AT - 0.02 2026-07-01T00:00:00Z"]
    );
    assert_eq!(plan.body["counts"]["unchanged"], 1);
    assert_eq!(plan.body["problems"], json!([{ "line": 5, "problem": "there is no network 262-99" }]));
    assert_eq!((&plan.body["applied"], &plan.body["mode"]), (&json!(false), &json!("partial")));
    let losses = plan.body["losses"].as_array().unwrap();
    let told = losses.iter().map(|loss| {
        let fields = ["account", "destination", "price", "cost", "currency", "from"];
        fields.map(|field| loss[field].to_string().replace('"', "")).join(" ")
    });
    let told: Vec<String> = told.collect();
    assert_eq!(
        told,
        [
            "shop 262-01 0.05 0.065 EUR 2026-07-01T00:00:00Z",
            "bank 262-01 0.04 0.0715 USD 2026-07-01T00:00:00Z"
        ]
    );
    assert_eq!((&plan.body["losses_found"], &plan.body["losses_complete"]), (&json!(2), &json!(true)));
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
    assert_eq!(fixture.get(PATH).await.body["items"], json!([]));
}

#[tokio::test]
async fn applied_sheet_is_kept_changes_nothing_again_and_is_taken_back() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    let plan = fixture.sheet("", SHEET).await.body["plan"].as_str().unwrap().to_owned();
    let applied = fixture.sheet(&format!("apply=true&plan={plan}&file=june.csv"), SHEET).await;
    assert_eq!((applied.status, &applied.body["applied"]), (200, &json!(true)), "{}", applied.text);
    assert_eq!(
        fixture.costs().await,
        ["acme/262-01@2026-07-01", "acme/262-02", "acme/AT@2026-07-01", "acme/DE"]
    );
    let sheets = fixture.get(PATH).await.body;
    let sheet = &sheets["items"][0];
    assert_eq!(
        (&sheet["number"], &sheet["file"], &sheet["by"]),
        (&json!(1), &json!("june.csv"), &json!("operator"))
    );
    assert_eq!(sheet["counts"]["new"], 2);
    let audited = fixture.get("/audit-log?action=rates").await.body;
    assert_eq!(audited["items"][0]["action"], "rates.import");
    assert_eq!(audited["items"][0]["detail"]["file"], "june.csv");
    let again = fixture.sheet("apply=true", SHEET).await;
    assert_eq!((&again.body["applied"], changes(&again.body).len()), (&json!(false), 0));

    let other_plan = fixture.sheet(&format!("apply=true&plan={plan}"), SHEET).await.status_and_error();
    assert!(other_plan.starts_with("422 REFUSED: the sheet has another plan now"), "{other_plan}");

    let undo = format!("{PATH}/undo");
    let dry = fixture.call("POST", &format!("{undo}?dry_run=true"), "application/json", "").await;
    assert_eq!((&dry.body["taken_back"], &dry.body["in_force"]), (&json!(2), &json!(0)), "{}", dry.text);
    let undone = fixture.call("POST", &undo, "application/json", "").await;
    assert_eq!((&undone.body["taken_back"], &undone.body["file"]), (&json!(2), &json!("june.csv")));
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
    assert!(fixture.get(PATH).await.body["items"][0]["undone_at"].is_string());
    let nothing = fixture.call("POST", &undo, "application/json", "").await.status_and_error();
    assert!(nothing.starts_with("422 REFUSED: carrier \"acme\" has no sheet to take back"), "{nothing}");
}

#[tokio::test]
async fn costs_in_force_stay_and_replaced_ones_come_back_when_a_sheet_is_taken_back() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let first = "MCC,MNC,Price,From\n262,01,0.035,2026-08-01\n";
    assert_eq!(fixture.sheet("apply=true", first).await.status, 200);
    let second = "MCC,MNC,Price,From\n262,01,0.036,2026-08-01\n262,02,0.031,\n";
    let plan = fixture.sheet("apply=true", second).await;
    assert_eq!(
        changes(&plan.body),
        ["raised 262-01 0.035 0.036 2026-08-01T00:00:00Z", "raised 262-02 0.03 0.031 2026-06-15T12:00:00Z"]
    );
    let undone = fixture.call("POST", &format!("{PATH}/undo"), "application/json", "").await.body;
    assert_eq!(
        (&undone["number"], &undone["taken_back"], &undone["in_force"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(fixture.get("/costs/acme/262-01@2026-08-01").await.body["entry"]["per_part"], "0.035");
    assert_eq!(
        fixture.get("/costs/acme/262-02@2026-06-15T12:00:00Z").await.body["entry"]["per_part"],
        "0.031"
    );
}

#[tokio::test]
async fn full_sheet_closes_what_it_does_not_list() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let sheet = "MCC,MNC,Price,From\n262,*,0.03,2026-07-01\n";
    let plan = fixture.sheet("mode=full&apply=true", sheet).await;
    assert_eq!(changes(&plan.body), ["closed 262-02 0.03 - 2026-07-01T00:00:00Z"], "{}", plan.text);
    let costs = fixture.get("/costs.csv").await.text;
    assert!(costs.contains("\r\nacme,,262-02,,,,,true,EUR,submit,2026-07-01,\r\n"), "{costs}");
}

#[tokio::test]
async fn invalid_sheets_and_requests_are_rejected() {
    let fixture = ApiFixture::open_with(&setup()).await;
    for (query, sheet, expect) in [
        (
            "",
            "MCC,MNC,Price\n262,01,0.065\n262,01,0.070\n",
            "422 REFUSED: the sheet has two prices for network 262-01",
        ),
        ("", "a,b\n1,2\n", "422 REFUSED: the sheet has no line with headers"),
        ("", "", "422 REFUSED: the sheet has no line with headers"),
        ("mode=half", SHEET, "400 INVALID_FIELD: mode: must be full or partial"),
        ("listed=250001", SHEET, "400 INVALID_FIELD: listed: must be at most 250000"),
        ("all=true", SHEET, "400 INVALID_FIELD"),
    ] {
        let told = fixture.sheet(query, sheet).await.status_and_error();
        assert!(told.starts_with(expect), "{told}");
    }
    let told = fixture.call("POST", PATH, "application/json", "{}").await.status_and_error();
    assert!(told.starts_with("400 INVALID_CONTENT_TYPE"), "{told}");
    let huge = "x".repeat((16 << 20) + 1);
    let told = fixture.call("POST", PATH, "application/octet-stream", huge).await.status_and_error();
    assert!(told.starts_with("413 BODY_TOO_LARGE"), "{told}");
    let told = fixture.call("POST", "/carriers/nobody/rate-sheets", "text/csv", SHEET).await;
    assert_eq!(told.status, 404);
}
