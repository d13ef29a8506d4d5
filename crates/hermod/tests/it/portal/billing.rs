//! Money of an account: balance, ledger, statements, low-balance warnings.

use super::mail_server::MailServer;
use super::{Browser, member};
use crate::scenario::{GatewaySetup, Page, Scenario};
use hermod_domain::catalogue::Role;
use hermod_operator::author::{Acting, Author};
use hermod_operator::money::use_cases::post_entry;
use hermod_operator::money::views::PostRequest;
use hermod_operator::views::amount::AmountInput;
use hermod_simulator::carrier::Script;
use std::collections::HashSet;
use std::time::Duration;

impl Browser {
    async fn save_warnings(&mut self, warn: &str, urgent: &str) -> Page {
        let csrf = self.get("/accounts/alice/billing").await.csrf();
        let form = format!("csrf={csrf}&warn_at={warn}&urgent_at={urgent}");
        self.post("/accounts/alice/billing/warnings", &form).await
    }
}

async fn post(s: &Scenario, kind: &str, amount: &str, note: &str) {
    let acting = Acting { gateway: s.gateway().clone(), author: Author::operator(None) };
    let request = PostRequest {
        kind: kind.to_owned(),
        amount: Some(AmountInput::from_text(amount)),
        note: note.to_owned(),
        reference: None,
    };
    post_entry(&acting, "alice", request).await.expect("the entry is posted");
}

#[tokio::test]
async fn billing_shows_balance_ledger_and_statements_also_as_csv() {
    let s = Scenario::with(Script::new()).await;
    let id = s.alice.send("+4915112345678", "hello").await.accepted();
    s.alice.status_of(&id).becomes("delivered").await;
    post(&s, "top-up", "25.5", "=HYPERLINK(\"x\") <b>").await;
    for number in 0..50 {
        post(&s, "adjustment", "0.01", &format!("note {number}")).await;
    }
    for role in [Role::Owner, Role::Billing, Role::Viewer, Role::Developer] {
        let browser = member(&s, &format!("{role}@example.com"), "alice", role).await;
        let page = browser.get("/accounts/alice/billing").await;
        assert_eq!(page.status, 200, "{role}");
        assert!(page.text.contains("note 49") && page.text.contains("November 2026"), "{}", page.text);
        let may_change = matches!(role, Role::Owner | Role::Billing);
        assert_eq!(page.text.contains("Low-balance warnings"), may_change, "{role}");
        assert_eq!(browser.get("/accounts/bob/billing").await.status, 404);
        assert_eq!(browser.get("/accounts/bob/billing/statements/2026-11").await.status, 404);
    }
    let mut viewer = Browser::new(&s);
    viewer.sign_in("viewer@example.com", super::PASSWORD).await;
    assert_eq!(viewer.save_warnings("10", "5").await.status, 403);
    let first = viewer.get("/accounts/alice/billing").await.text;
    let (_, next) = first.split_once("/accounts/alice/billing?before=").expect("a second page");
    let next = format!("/accounts/alice/billing?before={}", next.split('"').next().unwrap_or_default());
    let second = viewer.get(&next).await.text;
    assert!(second.contains("opening balance") && second.contains("&#60;b&#62;"), "{second}");
    let statement = viewer.get("/accounts/alice/billing/statements/2026-11").await.text;
    assert!(statement.contains("1 message") && statement.contains("+25.50"), "{statement}");
    let csv = viewer.get("/accounts/alice/billing/statements/2026-11.csv").await;
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8; header=present");
    let lines: Vec<&str> = csv.text.lines().collect();
    assert!(lines[0].starts_with("day,line,balance"), "{}", csv.text);
    assert!(lines[1].starts_with("2026-11-01,opening,0,"), "{}", csv.text);
    assert!(lines.last().is_some_and(|line| line.starts_with("2026-11-30,closing,")), "{}", csv.text);
    assert!(csv.text.contains("\"'=HYPERLINK(\"\"x\"\") <b>\""), "{}", csv.text);
    assert!(csv.text.contains(",charges,-0.05,0,1,"), "{}", csv.text);
    assert_eq!(lines.len(), 3 + 1 + 1 + 51, "{}", csv.text);
    // Ids of entries count those of all accounts.
    let entries = lines.iter().filter_map(|line| line.split(',').nth(5)?.parse::<u64>().ok());
    let entries: HashSet<u64> = entries.filter(|entry| *entry > 1_000).collect();
    assert_eq!(entries.len(), 1 + 1 + 50, "{}", csv.text);
    for wrong in ["2026-13", "2026-1", "nothing", "2026-11.txt"] {
        assert_eq!(viewer.get(&format!("/accounts/alice/billing/statements/{wrong}")).await.status, 404);
    }
    s.end().await;
}

#[tokio::test]
async fn low_balance_is_shown_on_every_page_and_mailed_once() {
    let mails = MailServer::start().await;
    let setup = GatewaySetup { mail: Some(mails.address), ..GatewaySetup::with("") };
    let mut s = Scenario::with_setup(Script::new(), setup).await;
    let mut bill = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let viewer = member(&s, "viewer@example.com", "alice", Role::Viewer).await;
    for (warn, urgent, error) in [
        ("x", "", "Enter an amount"),
        ("-5", "", "Enter an amount"),
        ("10", "10", "Must be less than the first warning, 10.00."),
    ] {
        let page = bill.save_warnings(warn, urgent).await;
        assert!(page.status == 400 && page.text.contains(error), "{}", page.text);
    }
    assert!(!viewer.get("/accounts/alice/messages").await.text.contains("Low balance"));
    let saved = bill.save_warnings("1000", "50").await;
    assert_eq!(saved.location(), "/accounts/alice/billing?done=warnings-saved", "{}", saved.text);
    for page in ["", "/messages", "/billing"] {
        let text = viewer.get(&format!("/accounts/alice{page}")).await.text;
        assert!(
            text.contains("Low balance: 100.00 EUR are available, below the warning at 1,000.00"),
            "{text}"
        );
    }
    s.advance(Duration::from_secs(61)).await;
    let (to, text) = mails.wait_for(1).await;
    assert!(to == "bill@example.com" && text.contains("Subject: Low balance of alice"), "{to} {text}");
    s.advance(Duration::from_secs(4_000)).await;
    s.restart().await;
    let mut bill = Browser::new(&s);
    bill.sign_in("bill@example.com", super::PASSWORD).await;
    assert!(bill.get("/accounts/alice").await.text.contains("Low balance:"), "the warning is kept");
    s.advance(Duration::from_secs(61)).await;
    s.pause_briefly().await;
    assert_eq!(mails.received().len(), 1, "{:?}", mails.received());
    post(&s, "adjustment", "-60", "").await;
    s.advance(Duration::from_secs(61)).await;
    let (_, text) = mails.wait_for(2).await;
    assert!(text.contains("Subject: Urgent: low balance of alice") && text.contains("40 EUR"), "{text}");
    post(&s, "top-up", "2000", "").await;
    assert!(!bill.get("/accounts/alice").await.text.contains("Low balance:"));
    s.advance(Duration::from_secs(4_000)).await;
    s.pause_briefly().await;
    post(&s, "adjustment", "-1900", "").await;
    s.advance(Duration::from_secs(61)).await;
    let (_, text) = mails.wait_for(3).await;
    assert!(text.contains("Subject: Low balance of alice"), "{text}");
    assert_eq!(bill.save_warnings("", "").await.status, 303);
    assert!(!bill.get("/accounts/alice").await.text.contains("Low balance:"));
    s.end().await;
}
