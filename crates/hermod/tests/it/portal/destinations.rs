//! Destinations in the portal: prices and coverage, the price of a number, countries switched off and on.

use super::{check_roles, member};
use crate::scenario::{GatewaySetup, Scenario};
use hermod_domain::catalogue::Role;
use hermod_simulator::carrier::Script;
use std::time::Duration;

const PAGE: &str = "/accounts/alice/destinations";

#[tokio::test]
async fn prices_coverage_and_the_next_price_are_listed_and_downloaded() {
    let s = Scenario::with(Script::new()).await;
    s.provision(
        "[[price]]\nprefix = \"49\"\nper_part = \"0.07\"\nfrom = 2026-12-01\n\
         [[price]]\nnetwork = \"262-01\"\nper_part = \"0.09\"\n\
         [[price]]\ncountry = \"SE\"\naccount = \"alice\"\nper_part = \"0.04\"\n",
    )
    .await;
    let browser = member(&s, "bill@example.com", "alice", Role::Billing).await;
    let page = browser.get(PAGE).await;
    assert!(page.text.contains("Germany") && page.text.contains("0.05 to 0.09"), "{}", page.text);
    assert!(page.text.contains("0.07 to 0.09") && page.text.contains("2026-12-01T00:00:00"), "{}", page.text);
    assert!(page.text.contains("Sweden") && page.text.contains("No route"), "{}", page.text);
    assert!(!page.text.contains("France"), "it has no price");
    assert!(browser.get(&format!("{PAGE}?show=all&country=franc")).await.text.contains("France"));
    let all = browser.get(&format!("{PAGE}?show=all")).await;
    assert!(all.text.contains("after=") && !all.text.contains("Sweden"), "50 countries of a page");
    let file = browser.get(&format!("{PAGE}.csv")).await;
    assert!(file.text.starts_with("country,code,operator,mcc,mnc,price_per_part,"), "{}", file.text);
    assert!(file.text.contains("Germany,DE,T-Mobile,262,01,0.09,EUR,,,yes,on"), "{}", file.text);
    assert!(file.text.contains(",0.05,EUR,0.07,2026-12-01T00:00:00"), "{}", file.text);
    let other = member(&s, "bob@example.com", "bob", Role::Owner).await;
    assert!(!other.get("/accounts/bob/destinations").await.text.contains("Sweden"), "alice's own price");
    s.end().await;
}

#[tokio::test]
async fn question_for_a_number_is_answered_with_price_network_and_rejections() {
    let s = Scenario::with(Script::new()).await;
    let browser = member(&s, "ann@example.com", "alice", Role::Viewer).await;
    let known = browser.get(&format!("{PAGE}?number=%2B4915112345678")).await;
    for shown in ["A part to +4915112345678 costs 0.05 EUR.", "T-Mobile (262-01)", "Can be sent"] {
        assert!(known.text.contains(shown), "{shown}: {}", known.text);
    }
    assert!(!known.text.contains("acme"), "carriers are the operator's");
    let unknown = browser.get(&format!("{PAGE}?number=%2B33612345678")).await;
    for shown in ["There is no price for +33612345678.", "NO_PRICE", "NO_ROUTE", "Rejected now"] {
        assert!(unknown.text.contains(shown), "{shown}: {}", unknown.text);
    }
    let wrong = browser.get(&format!("{PAGE}?number=%3Cscript%3E1")).await;
    assert!(wrong.text.contains("number-error") && !wrong.text.contains("<script>1"), "{}", wrong.text);
    s.end().await;
}

#[tokio::test]
async fn country_switched_off_rejects_messages_until_it_is_switched_on_again() {
    let setup = GatewaySetup::with("");
    let setup = GatewaySetup {
        customers: setup.customers.replace("countries = \"*\"", "countries = [\"DE\", \"AT\"]"),
        ..setup
    };
    let s = Scenario::with_setup(Script::new(), setup).await;
    let mut browser = member(&s, "ann@example.com", "alice", Role::Developer).await;
    let off = browser.change("destinations/switch", &[("off", "DE")]).await;
    assert!(off.location().ends_with("done=country-off"), "{}", off.text);
    let refused = s.alice.send("+4915112345678", "blocked").await;
    assert_eq!((refused.status, refused.headers["x-error-code"].as_str()), (403, "COUNTRY_BLOCKED"));
    s.bob.send("+4915112345678", "bob decides for himself").await.accepted();
    let asked = browser.get(&format!("{PAGE}?number=%2B4915112345678")).await;
    assert!(asked.text.contains("COUNTRY_BLOCKED") && asked.text.contains("Switch on"), "{}", asked.text);

    // A country that the operator does not permit stays off.
    let refused = browser.change("destinations/switch", &[("on", "FR")]).await;
    assert!(refused.status == 400 && refused.text.contains("France needs the operator"), "{}", refused.text);
    for fields in [&[("on", "<b>")][..], &[("off", "")]] {
        assert_eq!(browser.change("destinations/switch", fields).await.status, 400);
    }
    assert_eq!(browser.change("destinations/switch", &[]).await.status, 403);
    let on = browser.change("destinations/switch", &[("on", "DE")]).await;
    assert!(on.location().ends_with("done=country-on"), "{}", on.text);
    s.alice.send("+4915112345678", "allowed again").await.accepted();
    let audit = browser.get("/accounts/alice/audit").await;
    assert!(audit.text.contains("countries_off") && audit.text.contains("ann@example.com"));

    // Switching on needs the password again after ten minutes; switching off does not.
    s.skip(Duration::from_secs(11 * 60));
    assert!(browser.change("destinations/switch", &[("off", "AT")]).await.location().contains("country-off"));
    let on = browser.change("destinations/switch", &[("on", "AT")]).await;
    assert!(on.location().contains("/re-authenticate"), "{}", on.status);
    s.wait_until_no_open_parts().await;
    s.end().await;
}

#[tokio::test]
async fn roles_read_and_change_destinations_as_the_table_says() {
    let s = Scenario::with(Script::new()).await;
    let pages = [("destinations", [200; 4]), ("destinations.csv", [200; 4])];
    check_roles(&s, &pages, &["destinations/switch"]).await;
    s.end().await;
}
