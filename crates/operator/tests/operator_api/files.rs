//! Files: the setup as a provision file, entries and opt-outs as CSV.

use crate::fixture::{ApiFixture, Reply};
use hermod_domain::time::Timestamp;
use hermod_store::OptOutSource;
use serde_json::json;

impl ApiFixture {
    async fn import(&self, path: &str, csv: impl Into<axum::body::Body>) -> Reply {
        self.call("POST", path, "text/csv", csv).await
    }
}

#[tokio::test]
async fn exported_setup_applies_without_changes() {
    let fixture = ApiFixture::open().await;
    let file = fixture.get("/export").await;
    assert_eq!(file.status, 200, "{}", file.text);
    assert_eq!(file.header("content-type"), Some("application/toml"));
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"provision-2026-06-15.toml\"")
    );
    let told = fixture.apply("/apply", &file.text).await;
    assert!(told.changes().split(", ").all(|change| change.starts_with("same ")), "{}", told.text);
    let full = fixture.get("/export?full=true").await;
    assert!(full.text.contains("closed = false") && !file.text.contains("closed = false"), "{}", full.text);
}

#[tokio::test]
async fn export_is_limited_to_kinds_and_an_account() {
    let fixture = ApiFixture::open().await;
    let more = "[[account]]\nname = \"bank\"\ncurrency = \"USD\"\n[[price]]\naccount = \"bank\"\nprefix = \"1\"\nper_part = 1\n";
    assert_eq!(fixture.apply("/apply", more).await.status, 200);
    let tables = async |path: &str| {
        let file = fixture.get(path).await;
        assert_eq!(file.status, 200, "{}", file.text);
        file.text
            .lines()
            .filter(|line| line.starts_with("[["))
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(tables("/export?kinds=price").await, "[[price]] [[price]]");
    assert_eq!(tables("/export?account=shop").await, "[[account]] [[sender]] [[connection]] [[key]]");
    assert_eq!(tables("/export?account=bank&kinds=price,carrier").await, "[[price]]");
    let told = fixture.get("/export?kinds=price,prize").await.status_and_error();
    assert!(told.starts_with("400 INVALID_FIELD: kinds: \"prize\" is none of carrier, cost, "), "{told}");
    assert!(fixture.get("/export?account=shoop").await.status_and_error().starts_with("404 NOT_FOUND"));
}

#[tokio::test]
async fn csv_file_of_a_kind_is_exported_and_imported() {
    let fixture = ApiFixture::open().await;
    let file = fixture.get("/prices.csv").await;
    assert_eq!(
        file.text,
        "prefix,network,mcc,country,per_part,free,closed,account,price_list,from,until\r\n*,,,,0.05,,,,,,\r\n"
    );
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    let again = fixture.import("/prices.csv", file.text).await;
    assert_eq!(again.changes(), "same price *");
    let csv = "prefix,per_part,account\n*,0.06,\n49,0.05,shop\n";
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    let told = fixture.import("/prices.csv?dry_run=true", csv).await;
    assert_eq!(
        (told.changes().as_str(), &told.body["dry_run"]),
        ("updated price *, created price shop/49", &json!(true))
    );
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
    assert_eq!(fixture.import("/prices.csv", csv).await.changes(), "updated price *, created price shop/49");
    assert_eq!(fixture.get("/prices/shop/49").await.body["entry"]["per_part"], "0.05");
    let shop = fixture.get("/prices.csv?account=shop").await;
    assert!(
        shop.text.ends_with("\r\n49,,,,0.05,,,shop,,,\r\n") && shop.text.lines().count() == 2,
        "{}",
        shop.text
    );
    let audited = fixture.get("/audit-log").await;
    assert_eq!(audited.body["items"][0]["subject"], "shop/49");
}

#[tokio::test]
async fn import_makes_secrets_of_new_keys() {
    let fixture = ApiFixture::open().await;
    let told = fixture.import("/keys.csv", "key,connection\nnew,shop-http\n").await;
    assert_eq!(told.body["secrets"][0]["key"], "new");
    assert_eq!(told.body["secrets"][0]["secret"].as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn invalid_csv_file_is_rejected_and_changes_nothing() {
    let fixture = ApiFixture::open().await;
    let before = fixture.gateway.store.setup().rows().await.unwrap();
    for (csv, expect) in [
        ("", "400 INVALID_CSV: line 1: the file is empty"),
        ("prefix,per_part\n48,0.05\n49,-1\n", "400 INVALID_CSV: line 3, column per_part: "),
        (
            "prefix,per_part,account\n48,1,\n49,1,nobody\n",
            "422 REFUSED: line 3: price \"nobody/49\" refers to account",
        ),
    ] {
        let told = fixture.import("/prices.csv", csv).await.status_and_error();
        assert!(told.starts_with(expect), "{told}");
    }
    let told = fixture.call("POST", "/prices.csv", "application/json", "{}").await.status_and_error();
    assert!(told.starts_with("400 INVALID_CONTENT_TYPE: send Content-Type: text/csv"), "{told}");
    assert!(
        fixture.get("/carriers.csv?account=shop").await.status_and_error().starts_with("400 INVALID_FIELD")
    );
    assert_eq!(fixture.gateway.store.setup().rows().await.unwrap(), before);
}

#[tokio::test]
async fn files_may_have_sixteen_mebibytes_and_other_bodies_four() {
    let fixture = ApiFixture::open().await;
    let comment = |mebibytes: usize| "# \n".repeat((mebibytes << 20) / 3);
    assert_eq!(fixture.apply("/apply", &comment(15)).await.status, 200);
    for path in ["/apply", "/prices.csv", "/opt-outs.csv"] {
        let kind = if path == "/apply" { "application/toml" } else { "text/csv" };
        let told = fixture.call("POST", path, kind, comment(17)).await.status_and_error();
        assert!(told.starts_with("413 BODY_TOO_LARGE: the body has more than 16777216 bytes"), "{told}");
    }
    let told = fixture.call("POST", "/accounts/shop/ledger", "application/json", comment(5)).await;
    assert!(told.status_and_error().starts_with("413 BODY_TOO_LARGE: the body has more than 4194304 bytes"));
}

#[tokio::test]
async fn opt_outs_are_imported_once_and_exported() {
    let fixture = ApiFixture::open().await;
    fixture.put("/accounts/shop/opt-outs/+4915111111111", json!({"how": "by phone"})).await;
    let csv = "number,since,how\n4915112345678,2026-01-31,list of 2025\n+4915111111111,,\n4915112345678,,\n";
    let path = "/opt-outs.csv?account=shop";
    let told = fixture.import(&format!("{path}&dry_run=true"), csv).await;
    assert_eq!(told.body, json!({"dry_run": true, "rows": 3, "created": 1, "same": 2}), "{}", told.text);
    assert_eq!(fixture.get("/accounts/shop/opt-outs").await.body["items"].as_array().unwrap().len(), 1);
    let told = fixture.import(path, csv).await;
    assert_eq!(told.body, json!({"dry_run": false, "rows": 3, "created": 1, "same": 2}), "{}", told.text);
    let again = fixture.import(path, csv).await;
    assert_eq!(again.body, json!({"dry_run": false, "rows": 3, "created": 0, "same": 3}), "{}", again.text);
    let file = fixture.get("/opt-outs.csv").await.text;
    assert_eq!(
        file,
        "account,number,since,source,how\r\n\
         shop,4915111111111,2026-06-15T12:00:00Z,operator,by phone\r\n\
         shop,4915112345678,2026-01-31T00:00:00Z,import,list of 2025\r\n"
    );
    let again = fixture.import("/opt-outs.csv", file).await;
    assert_eq!(again.body["same"], 2, "{}", again.text);
    let account = fixture.account("shop");
    let number = hermod_domain::phone::Msisdn::parse("+4915112345678").unwrap();
    let stored = fixture.gateway.store.opt_outs().find(account, number).await.unwrap().unwrap();
    assert_eq!(stored.source, OptOutSource::Import);
    assert_eq!(Some(stored.now), Timestamp::parse("2026-01-31"));
    let audited = fixture.get("/audit-log?account=shop&action=opt_out").await;
    assert_eq!(audited.body["items"].as_array().unwrap().len(), 2, "{}", audited.text);
}

#[tokio::test]
async fn invalid_opt_outs_are_rejected_with_their_place_and_none_is_stored() {
    let fixture = ApiFixture::open().await;
    for (query, csv, expect) in [
        ("", "number\n4915112345678\n", "line 2, column account: the row names no account"),
        (
            "",
            "account,number\nshop,4915112345678\nshoop,4915112345679\n",
            "line 3, column account: there is no account \"shoop\"",
        ),
        ("?account=shop", "account\nshop\n", "line 1, column number: the column is missing"),
        (
            "?account=shop",
            "nmber\n1\n",
            "line 1, column nmber: there is no such column; there are account, number",
        ),
        ("?account=shop", "number\n4915112345678\n4.9E+12\n", "line 3, column number: \"4.9E+12\": "),
        ("?account=shop&lines_before=5000", "number\nx\n", "line 5002, column number: \"x\": "),
        (
            "?account=shop",
            "number,since\n4915112345678,2099-01-01\n",
            "line 2, column since: \"2099-01-01\" is in the future",
        ),
        (
            "?account=shop",
            "number,since\n4915112345678,soon\n",
            "line 2, column since: \"soon\" is not a day",
        ),
    ] {
        let told = fixture.import(&format!("/opt-outs.csv{query}"), csv).await.status_and_error();
        assert!(told.starts_with(&format!("400 INVALID_CSV: {expect}")), "{told}");
    }
    let many: String = (0..5001).map(|number| format!("49151{number:08}\n")).collect();
    let told =
        fixture.import("/opt-outs.csv?account=shop", format!("number\n{many}")).await.status_and_error();
    assert!(told.starts_with("400 INVALID_CSV: line 5002: a request has at most 5000 opt-outs"), "{told}");
    assert_eq!(fixture.get("/opt-outs.csv").await.text.lines().count(), 1);
    assert!(
        fixture
            .import("/opt-outs.csv?account=no", "number\n")
            .await
            .status_and_error()
            .starts_with("404 NOT_FOUND")
    );
}

#[tokio::test]
async fn five_thousand_opt_outs_are_imported_and_exported_in_pages() {
    let fixture = ApiFixture::open().await;
    let rows: String = (0..5000).map(|number| format!("49151{number:08},import\r\n")).collect();
    let told = fixture.import("/opt-outs.csv?account=shop", format!("number,how\r\n{rows}")).await;
    assert_eq!(told.body["created"], 5000, "{}", told.text);
    let file = fixture.get("/opt-outs.csv?account=shop").await.text;
    assert_eq!(file.lines().count(), 5001);
}
