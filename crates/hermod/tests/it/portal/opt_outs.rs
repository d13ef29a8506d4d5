//! Opt-outs in the portal: add, search, import, export, lift, own keywords, and what the API then accepts.

use super::{check_roles, member};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::{MoText, Script};

const PAGE: &str = "/accounts/alice/opt-outs";

#[tokio::test]
async fn opted_out_number_is_refused_by_the_api_until_it_is_lifted() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let hostile = "<script>alert(1)</script>";
    let added = browser.change("opt-outs", &[("number", "+49 151 12345678"), ("note", hostile)]).await;
    assert!(added.location().ends_with("done=opt-out-added"), "{}", added.text);
    let again = browser.change("opt-outs", &[("number", "+4915112345678"), ("note", "")]).await;
    assert!(again.location().ends_with("done=opt-out-known"));
    let list = browser.get(PAGE).await;
    assert!(list.text.contains("+4915112345678") && list.text.contains("added by ann@example.com"));
    assert!(!list.text.contains(hostile) && list.text.contains("&#60;script&#62;"), "{}", list.text);
    let refused = s.alice.send("+4915112345678", "not wanted").await;
    assert_eq!((refused.status, refused.headers["x-error-code"].as_str()), (403, "RECIPIENT_OPTED_OUT"));
    s.bob.send("+4915112345678", "bob's own list").await.accepted();

    let found = browser.get(&format!("{PAGE}?number=%2B4915112345678")).await;
    assert!(found.text.contains("/opt-outs/%2B4915112345678/lift"), "{}", found.text);
    let none = browser.get(&format!("{PAGE}?number=%2B4915199999999")).await;
    assert!(none.text.contains("This number has not opted out"));
    let wrong = browser.get(&format!("{PAGE}?number=0151")).await;
    assert!(
        wrong.text.contains("search-error") && wrong.text.contains("must begin with +"),
        "{}",
        wrong.text
    );

    let confirm = browser.get(&format!("{PAGE}/%2B4915112345678/lift")).await;
    assert!(confirm.text.contains("accepted and charged again"), "{}", confirm.text);
    let lifted = browser.change("opt-outs/%2B4915112345678/lift", &[]).await;
    assert!(lifted.location().ends_with("done=opt-out-lifted"));
    s.alice.send("+4915112345678", "wanted again").await.accepted();
    for path in ["%2B4915112345678", "x"] {
        assert_eq!(browser.get(&format!("{PAGE}/{path}/lift")).await.status, 404);
        assert_eq!(browser.change(&format!("opt-outs/{path}/lift"), &[]).await.status, 404);
    }
    let audit = browser.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("Created opt-out") && audit.text.contains("Removed opt-out"));
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn import_tells_about_every_line_and_export_is_safe_in_a_spreadsheet() {
    let s = Scenario::with(Script::new()).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let lines =
        "number,since\r\n+4915112345678\r\n\r\n4915112345679;x\r\n0151\r\n<img src=x>\r\n+4915112345678\r\n";
    let imported =
        browser.change("opt-outs/import", &[("numbers", lines), ("import_note", "=cmd|' /C calc'!A0")]).await;
    assert_eq!(imported.status, 200, "{}", imported.text);
    assert!(imported.text.contains("2 added, 1 on the list before, 2 not added."), "{}", imported.text);
    assert!(imported.text.contains("&#60;img src=x&#62;") && !imported.text.contains("<img"));
    assert_eq!(s.alice.send("+4915112345679", "no").await.status, 403);
    let file = browser.get("/accounts/alice/opt-outs.csv").await;
    assert!(file.headers["content-disposition"].contains("opt-outs-2026-11-15.csv"));
    assert!(file.headers["content-type"].starts_with("text/csv"));
    assert!(file.text.contains("4915112345678,2026-11-15T"), "{}", file.text);
    assert_eq!(file.text.matches(",import,").count(), 2, "{}", file.text);
    assert!(file.text.contains("'=cmd|") && !file.text.contains(",=cmd"), "{}", file.text);
    let many = "+4915112345678\n".repeat(1_001);
    for (numbers, count) in [(many.as_str(), "1001"), (" \n", "0")] {
        let page = browser.change("opt-outs/import", &[("numbers", numbers)]).await;
        assert!(page.status == 400 && page.text.contains(&format!("There are {count}.")), "{}", page.status);
    }
    s.end().await;
}

#[tokio::test]
async fn own_keyword_opts_a_handset_out() {
    let s = Scenario::with(Script::new()).await;
    s.provision("[[number]]\nnumber = \"+4915799999999\"\naccount = \"alice\"\n").await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Owner).await;
    let saved = browser.change("opt-outs/keywords", &[("words", "Basta\r\nno more\r\n")]).await;
    assert!(saved.location().ends_with("done=keywords-saved"), "{}", saved.text);
    let wrong = browser.change("opt-outs/keywords", &[("words", "START")]).await;
    assert!(wrong.status == 400 && wrong.text.contains("words-error"), "{}", wrong.text);
    s.carrier().send_mo_parts(MoText::new("4915112345678", "4915799999999", "basta!").parts());
    s.alice.wait_for_inbound(1).await;
    assert_eq!(s.alice.send("+4915112345678", "no").await.status, 403);
    let list = browser.get(PAGE).await;
    assert!(list.text.contains("+4915112345678") && list.text.contains("no more"), "{}", list.text);
    s.end().await;
}

#[tokio::test]
async fn roles_read_and_change_opt_outs_as_the_table_says() {
    let s = Scenario::with(Script::new()).await;
    let pages = [("opt-outs", [200, 200, 403, 200]), ("opt-outs.csv", [200, 200, 403, 200])];
    let forms = ["opt-outs", "opt-outs/import", "opt-outs/keywords", "opt-outs/%2B4915112345678/lift"];
    check_roles(&s, &pages, &forms).await;
    s.end().await;
}
