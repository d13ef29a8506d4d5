//! Applies the examples of the operator documentation.

use crate::fixture::{ApiFixture, SETUP};
use serde_json::Value;

const PROVISIONING: &str = include_str!("../../../../docs/provisioning.md");
const BILLING: &str = include_str!("../../../../docs/billing.md");
const SECURITY: &str = include_str!("../../../../docs/security.md");

/// Returns the code blocks of a document in one language.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    document.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[tokio::test]
async fn every_provision_file_in_the_documents_can_be_applied() {
    let fixture = ApiFixture::open_with(SETUP).await;
    let mut applied = 0;
    for text in [PROVISIONING, BILLING, SECURITY].into_iter().flat_map(|document| blocks(document, "toml")) {
        let reply = fixture.apply("/apply", text).await;
        assert_eq!(reply.status, 200, "{}\n{text}", reply.text);
        applied += 1;
    }
    assert!(applied >= 5, "{applied} examples");
}

#[tokio::test]
async fn ledger_examples_have_the_documented_figures() {
    let text = SETUP.replace("opening_balance = \"10\"", "credit_limit = \"100\"");
    let fixture = ApiFixture::open_with(&text).await;
    let mut told = 0;
    for block in blocks(BILLING, "json") {
        let example: Value = serde_json::from_str(block).unwrap();
        let reply = fixture.post("/accounts/shop/ledger", example["post"].clone()).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        for (field, figure) in example["then"].as_object().unwrap() {
            assert_eq!(reply.body["balance"][field], *figure, "{field} after {block}");
        }
        told += 1;
    }
    assert!(told >= 4, "{told} examples");
}
