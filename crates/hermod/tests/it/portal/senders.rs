//! Senders in the portal: status and reason, and the default sender that the API then uses.

use super::{check_roles, member};
use crate::scenario::Scenario;
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;

#[tokio::test]
async fn default_sender_is_chosen_among_approved_ones_and_used_by_the_api() {
    let s = Scenario::with(Script::new()).await;
    s.provision(
        "[[sender]]\nsender = \"Alice24\"\naccount = \"alice\"\n\
         [[sender]]\nsender = \"AliceBank\"\naccount = \"alice\"\nstate = \"blocked\"\nreason = \"The name of <b>another brand</b>.\"\n\
         note = \"Asked for by the sales team.\"\n\
         [[sender]]\nsender = \"AliceNew\"\naccount = \"alice\"\nstate = \"pending\"\n\
         [[sender]]\nsender = \"BobOnly\"\naccount = \"bob\"\n\
         [[number]]\nnumber = \"+4915799999999\"\naccount = \"alice\"\n",
    )
    .await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let page = browser.get("/accounts/alice/senders").await;
    for shown in [
        "Alice24",
        "Approved",
        "AliceBank",
        "Blocked",
        "&#60;b&#62;another brand",
        "Requested",
        "4915799999999",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("BobOnly") && !page.text.contains("bob-http"));
    assert!(!page.text.contains("sales team"), "the note is for operators: {}", page.text);
    let fields = |connection, sender| [("connection", connection), ("sender", sender)];
    let saved = browser.change("senders/default", &fields("alice-http", "Alice24")).await;
    assert!(saved.location().ends_with("done=default-sender-saved"), "{}", saved.text);
    let sent = s.alice.send("+4915112345678", "from the new default").await;
    assert_eq!((sent.status, &sent.body["from"]), (202, &"Alice24".into()), "{}", sent.body);
    for sender in ["AliceBank", "AliceNew", "BobOnly", "<script>"] {
        let refused = browser.change("senders/default", &fields("alice-http", sender)).await;
        assert!(refused.status == 400 && refused.text.contains("approved for this account"), "{sender}");
    }
    assert_eq!(browser.change("senders/default", &fields("bob-http", "Alice24")).await.status, 404);
    browser.change("senders/default", &fields("alice-http", "")).await;
    let none = s.alice.send("+4915112345678", "without a sender").await;
    assert_eq!((none.status, none.headers["x-error-code"].as_str()), (400, "INVALID_SENDER"));
    let audit = browser.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("Changed connection alice-http") && audit.text.contains("default_sender"));
    assert!(audit.text.contains("Created sender alice/AliceBank") && !audit.text.contains("sales team"));
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn roles_read_and_change_senders_as_the_table_says() {
    let s = Scenario::with(Script::new()).await;
    check_roles(&s, &[("senders", [200, 200, 403, 200])], &["senders/default"]).await;
    s.end().await;
}
