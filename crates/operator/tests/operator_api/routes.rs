//! Routes over the operator API, and the explanation of routing decisions.

use crate::fixture::{ApiFixture, SETUP};
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use serde_json::{Value, json};

fn setup() -> String {
    let more = "[[carrier]]\nname = \"beta\"\naddress = \"127.0.0.1:2\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n\
        in_doubt = \"never-resend\"\n\
        [[route]]\nprefix = \"49\"\ncarriers = [\"acme\", \"beta\"]\n\
        [[route]]\nprefix = \"*\"\nsender = \"Shop\"\ncarriers = [\"beta\"]\n\
        [[route]]\nmcc = \"262\"\naccount = \"shop\"\ncarriers = [\"beta\", \"acme\"]\nfail_over_refusals = true\n";
    format!("{SETUP}{more}")
}

fn carrier(fixture: &ApiFixture, name: &str) -> CarrierId {
    let catalogue = fixture.gateway.catalogue();
    catalogue.carriers().iter().find(|(_, known, _)| known == name).unwrap().0
}

/// Returns the route, the carrier, and the decision about each route in order.
fn explanation_of(body: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let decisions = body["routes"].as_array().unwrap().iter();
    let decisions = decisions.map(|one| format!("{}={}", text(&one["route"]), text(&one["decision"])));
    (text(&body["route"]), text(&body["carrier"]), decisions.collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn route_explanation_depends_on_account_sender_and_recipient() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let all = "49=chosen *=broader-entry shop/mcc262=other-account *@Shop=other-sender";
    for (query, expect) in [
        ("to=%2B4915112345678", ("49", "acme", all)),
        ("to=+4915112345678", ("49", "acme", all)),
        (
            "to=%2B4915112345678&account=shop",
            (
                "shop/mcc262",
                "beta",
                "shop/mcc262=chosen 49=broader-entry *=broader-entry *@Shop=other-sender",
            ),
        ),
        ("to=%2B33612345678&from=Shop", ("*@Shop", "beta", "*@Shop=chosen *=broader-entry")),
    ] {
        let reply = fixture.get(&format!("/routes/explain?{query}")).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text);
        let (route, carrier, decisions) = explanation_of(&reply.body);
        assert_eq!((route.as_str(), carrier.as_str(), decisions.as_str()), expect, "{query}");
    }
    let own = fixture.get("/routes/explain?to=%2B4915112345678&account=shop").await.body;
    assert_eq!(
        own["routes"][0]["why"],
        "for messages of account shop to networks of MCC 262: the most specific route"
    );
    assert_eq!((&own["in_doubt"], &own["fail_over_refusals"]), (&json!("never-resend"), &json!(true)));
    assert_eq!(own["sentence"], "A message to +4915112345678 goes by route shop/mcc262 to carrier beta.");
    assert_eq!(own["carriers"][0]["health"], Value::Null, "no gateway runs here");
}

#[tokio::test]
async fn route_explanation_depends_on_carrier_health() {
    let fixture = ApiFixture::open_with(&setup()).await.running();
    let (acme, beta) = (carrier(&fixture, "acme"), carrier(&fixture, "beta"));
    let ask = "/routes/explain?to=%2B4915112345678";
    for (first, second, sentence, decisions) in [
        (
            Health::Up,
            Health::Up,
            "to carrier acme.",
            "acme up chosen: is used; beta up in-reserve: is used if the carriers before it cannot send",
        ),
        (
            Health::Down,
            Health::Up,
            "to carrier beta.",
            "acme down skipped: cannot send: no transmitting link is bound; beta up chosen: is used",
        ),
        (
            Health::Poor,
            Health::Up,
            "to carrier beta.",
            "acme poor skipped: skipped: many rejects or timeouts, and a later carrier is better; beta up chosen: is used",
        ),
        (
            Health::Down,
            Health::Down,
            "to carrier acme, and waits there until a link is bound.",
            "acme down chosen: queues the message until a link is bound: no other carrier can send now; beta down in-reserve: cannot send: no transmitting link is bound",
        ),
        (
            Health::Stopped,
            Health::Stopped,
            "to carrier acme, and waits there until the operator resumes it.",
            "acme stopped chosen: queues the message until it is resumed: no other carrier can send; beta stopped in-reserve: cannot send: stopped",
        ),
    ] {
        fixture.gateway.carriers.set_health(acme, first);
        fixture.gateway.carriers.set_health(beta, second);
        let body = fixture.get(ask).await.body;
        let all = format!("A message to +4915112345678 goes by route 49 {sentence}");
        assert_eq!(body["sentence"], all);
        let told = body["carriers"].as_array().unwrap().iter().map(|one| {
            let text = |field: &str| one[field].as_str().unwrap_or("?").to_owned();
            format!("{} {} {}: {}", text("carrier"), text("health"), text("decision"), text("why"))
        });
        assert_eq!(told.collect::<Vec<_>>().join("; "), decisions);
    }
    fixture.patch("/carriers/acme", json!({"disabled": true})).await;
    let body = fixture.get(ask).await.body;
    assert_eq!(body["carriers"][0]["health"], "disabled");
}

#[tokio::test]
async fn route_explanation_has_costs_and_why_carriers_are_left_out() {
    let cost = |carrier: &str, terms: &str| {
        format!("[[cost]]\ncarrier = \"{carrier}\"\nprefix = \"49\"\ncurrency = \"EUR\"\n{terms}\n")
    };
    let carriers = ["gamma", "delta", "eps"].map(|name| {
        format!("[[carrier]]\nname = \"{name}\"\naddress = \"127.0.0.1:3\"\nsystem_id = \"s\"\npassword = \"p\"\nwindow = 1\nrate = 1\n")
    });
    let route = "[[route]]\ncountry = \"DE\"\naccount = \"shop\"\nchoose = \"cost\"\nmin_margin = \"10%\"\n\
        carriers = [\"acme\", \"beta\", \"gamma\", \"delta\", \"eps\"]\n[[remove]]\nkind = \"route\"\nname = \"shop/mcc262\"\n";
    let fixture = ApiFixture::open_with(&setup()).await;
    let costs = [
        cost("acme", "per_part = \"0.04\""),
        cost("beta", "per_part = \"0.03\""),
        cost("gamma", "per_part = \"0.046\""),
        cost("delta", "closed = true"),
    ];
    let applied = fixture.apply("/apply", &(carriers.concat() + &costs.concat() + route)).await;
    assert_eq!(applied.status, 200, "{}", applied.text);
    let ask = "/routes/explain?to=%2B4915112345678&account=shop";
    let body = fixture.get(ask).await.body;
    assert_eq!(body["sentence"], "A message to +4915112345678 goes by route shop/DE to carrier beta.");
    let told = body["carriers"].as_array().unwrap().iter().map(|one| {
        let text = |field: &str| one[field].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", text("carrier"), one["cost"], one["margin"], text("decision"))
    });
    assert_eq!(
        told.collect::<Vec<_>>().join(", "),
        "beta 0.03 0.02 chosen, acme 0.04 0.01 in-reserve, gamma 0.046 0.004 loss, delta null null closed, \
         eps null null unknown-cost"
    );
    assert_eq!(body["carriers"][2]["why"], "is skipped: it leaves less than the margin of the route");

    fixture.patch("/routes/shop/DE", json!({"min_margin": "90%"})).await;
    let body = fixture.get(ask).await.body;
    assert_eq!(
        (&body["sentence"], &body["route"], &body["carrier"]),
        (
            &json!(
                "No carrier of route shop/DE may have a message to +4915112345678: it is rejected with NO_ROUTE."
            ),
            &json!("shop/DE"),
            &Value::Null
        )
    );
    let refusals = fixture.get("/lookup/+4915112345678?account=shop").await.body["refusals"].to_string();
    assert!(refusals.contains("NO_ROUTE: "), "{refusals}");

    fixture.patch("/routes/shop/DE", json!({"on_loss": "allow"})).await;
    let body = fixture.get(ask).await.body;
    assert_eq!((&body["carrier"], &body["carriers"][0]["decision"]), (&json!("beta"), &json!("chosen")));
    assert!(
        body["carriers"][0]["why"].as_str().unwrap().starts_with("leaves less than the margin"),
        "{body}"
    );

    fixture.patch("/routes/49", json!({"choose": "cost"})).await;
    let body = fixture.get("/routes/explain?to=%2B4915112345678").await.body;
    assert_eq!(
        body["sentence"],
        "A message to +4915112345678 goes by route 49 to carrier acme. The route compares costs: name an account that has a price."
    );
}

#[tokio::test]
async fn route_explanation_without_a_route_or_with_an_invalid_query_is_an_error() {
    let fixture = ApiFixture::open().await;
    fixture.delete("/routes/*").await;
    let nowhere = fixture.get("/routes/explain?to=%2B4915112345678").await.body;
    assert_eq!(
        nowhere["sentence"],
        "No route matches +4915112345678: the message is rejected with NO_ROUTE."
    );
    assert_eq!((&nowhere["route"], &nowhere["carriers"]), (&Value::Null, &json!([])));
    for (query, status) in [
        ("", 400),
        ("to=0151", 400),
        ("to=%2B4915112345678&account=x", 404),
        ("to=%2B4915112345678&from=%21", 400),
    ] {
        assert_eq!(fixture.get(&format!("/routes/explain?{query}")).await.status, status, "{query}");
    }
}

#[tokio::test]
async fn routes_are_found_by_full_name_and_listed_by_account() {
    let fixture = ApiFixture::open_with(&setup()).await;
    let made = fixture
        .put("/routes/shop/262-01@4915112345678", json!({"carriers": [{"carrier": "beta", "weight": 5}]}))
        .await;
    assert_eq!(
        (made.status, &made.body["name"]),
        (201, &json!("shop/262-01@+4915112345678")),
        "{}",
        made.text
    );
    assert_eq!(made.body["entry"]["carriers"], json!([{"carrier": "beta", "priority": 1, "weight": 5}]));
    let shown = fixture.get("/routes/shop%2F262-01%40%2B4915112345678").await;
    assert_eq!(shown.body["entry"], made.body["entry"]);
    let listed = fixture.get("/routes?account=shop").await.body;
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["shop/262-01@+4915112345678", "shop/mcc262"]);
    let moved =
        fixture.patch("/routes/shop/mcc262", json!({"carriers": ["acme"], "in_doubt": "resend-once"})).await;
    assert_eq!(moved.body["entry"]["carriers"], json!(["acme"]));
    assert_eq!(fixture.delete("/routes/shop/mcc262").await.status, 200);
}
