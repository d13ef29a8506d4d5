//! Tests of carrier and route entries with all their fields.

use crate::entry::export::{shown, shown_one};
use crate::entry::plan::Effect;
use crate::kind::Kind;
use crate::setup::file_entries::WantedSetup;
use crate::setup::json::wanted_entry;
use crate::setup::prepare_over;
use crate::setup::tests::{NOW, applied, open, pepper, source, wanted};
use hermod_domain::carrier::{
    Addressing, DefaultAlphabet, ErrorClass, IdConversion, LinkBinds, LongMessages, Profile, ReceiptSyntax,
    RetryOverride, SenderRewrite, SmppVersion, TonNpi, ValidityFormat, VendorTlv,
};
use hermod_domain::catalogue::CarrierTls;
use hermod_domain::lifecycle::DoubtPolicy;
use hermod_domain::money::Money;
use hermod_domain::route::{ChooseBy, CostRules, Margin, OnLoss, UnknownCost};
use hermod_gateway::gateway::load_catalogue;
use serde_json::{Value, json};

const PLAIN: &str = "[[carrier]]\nname = \"acme\"\naddress = \"smsc.example:2775\"\nsystem_id = \"hermod\"\n\
                     password = \"secret08\"\nwindow = 10\nrate = 100\n";

const EVERYTHING: &str = r#"
tls = { name = "smsc.acme.example", ca = "/etc/hermod/acme.pem", fingerprint = "AB:CD:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:01" }
links = 3
link_rate = 40
binds = "transmitter-and-receiver"
version = "3.4"
bind_wait = "5s"
enquire_wait = "7s"
ids = "hex-to-decimal"
receipts = "commas"
receipt_wait = "48h"
alphabet = "latin1"
long_messages = "sar"
source = { alphanumeric = "5/1", short_code = "6/0" }
destination = "0/1"
plus = true
service_type = "CMT"
validity = "absolute"
registered_delivery = 0x11
pass_tlvs = [0x1403, "0x1404"]
in_doubt = "never-resend"

[[carrier.retry]]
status = 0x45
class = "temporary"
wait = "90s"
[[carrier.retry]]
status = "0x400"
class = "throttled"

[[carrier.senders]]
country = "US"
from = "Shop"
to = "12345"
[[carrier.senders]]
to = "Other"

[[carrier.tlvs]]
tag = 0x1400
text = "promo"
[[carrier.tlvs]]
tag = 0x1401
hex = "70726f6d6f"
[[carrier.tlvs]]
tag = 0x1402
hex = "00FF"
"#;

fn everything() -> Profile {
    let rewrite = |country: Option<&str>, from: Option<&str>, to: &str| SenderRewrite {
        country: country.map(|code| code.parse().unwrap()),
        from: from.map(|sender| sender.parse().unwrap()),
        to: to.parse().unwrap(),
    };
    Profile {
        version: SmppVersion::V34,
        binds: LinkBinds::TransmitterAndReceiver,
        links: 3,
        link_rate: Some(40),
        bind_wait_ms: 5_000,
        enquire_wait_ms: 7_000,
        ids: IdConversion::HexToDecimal,
        receipts: ReceiptSyntax::Commas,
        receipt_wait_s: 48 * 3600,
        alphabet: DefaultAlphabet::Latin1,
        long_messages: LongMessages::Sar,
        source: Addressing {
            alphanumeric: TonNpi { ton: 5, npi: 1 },
            international: TonNpi { ton: 1, npi: 1 },
            short_code: TonNpi { ton: 6, npi: 0 },
        },
        destination: TonNpi { ton: 0, npi: 1 },
        plus: true,
        service_type: "CMT".into(),
        validity: ValidityFormat::Absolute,
        registered_delivery: 0x11,
        retry: vec![
            RetryOverride { status: 0x45, class: ErrorClass::Temporary, wait_ms: Some(90_000) },
            RetryOverride { status: 0x400, class: ErrorClass::Throttled, wait_ms: None },
        ],
        senders: vec![rewrite(Some("US"), Some("Shop"), "12345"), rewrite(None, None, "Other")],
        tlvs: vec![
            VendorTlv { tag: 0x1400, value: b"promo".to_vec() },
            VendorTlv { tag: 0x1401, value: b"promo".to_vec() },
            VendorTlv { tag: 0x1402, value: vec![0, 0xFF] },
        ],
        pass_tlvs: vec![0x1403, 0x1404],
        in_doubt: Some(DoubtPolicy::NeverResend),
    }
}

#[tokio::test]
async fn carrier_with_every_field_is_stored_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let text = format!("{PLAIN}{EVERYTHING}");
    assert_eq!(applied(&store, &text).await, "+carrier acme");
    let catalogue = load_catalogue(&store).await.unwrap();
    let (_, _, stored) = &catalogue.carriers()[0];
    assert_eq!(stored.profile, everything());
    let fingerprint = format!("abcd{}01", "0".repeat(58));
    let tls = CarrierTls {
        name: Some("smsc.acme.example".into()),
        ca: Some("/etc/hermod/acme.pem".into()),
        fingerprint: Some(fingerprint),
    };
    assert_eq!(stored.tls, Some(tls));
    assert_eq!(applied(&store, &text).await, "=carrier acme");

    let rows = store.setup().rows().await.unwrap();
    let entry = shown_one(&rows, Kind::Carrier, "acme").unwrap().unwrap();
    for (field, expect) in [
        ("receipt_wait", json!("2d")),
        ("source", json!({"alphanumeric": "5/1", "short_code": "6/0"})),
        ("pass_tlvs", json!(["0x1403", "0x1404"])),
        (
            "tlvs",
            json!([{"tag": "0x1400", "text": "promo"}, {"tag": "0x1401", "text": "promo"}, {"tag": "0x1402", "hex": "00ff"}]),
        ),
        (
            "retry",
            json!([{"status": "0x45", "class": "temporary", "wait": "90s"}, {"status": "0x400", "class": "throttled"}]),
        ),
        ("version", Value::Null),
    ] {
        assert_eq!(entry.get(field).unwrap_or(&Value::Null), &expect, "{field}");
    }
    let (_, again) = wanted_entry(Kind::Carrier, "acme", entry).unwrap();
    let plan = prepare_over(rows, Vec::new(), &pepper(), &again, NOW).unwrap();
    assert_eq!(plan.changes[0].effect, Effect::Same);
    assert_eq!(applied(&store, &again.to_toml().replace("(hidden)", "x")).await, "=carrier acme");
}

#[tokio::test]
async fn default_values_are_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, &format!("{PLAIN}tls = true\nlinks = 4\n")).await;
    let explicit =
        format!("{PLAIN}tls = false\nlinks = 1\nversion = \"3.4\"\nsource = {{}}\nids = \"none\"\n");
    assert_eq!(applied(&store, &explicit).await, "~carrier acme (links 4 -> null) (tls true -> null)");
    assert_eq!(applied(&store, PLAIN).await, "=carrier acme");
    let rows = store.setup().rows().await.unwrap();
    let entry = shown_one(&rows, Kind::Carrier, "acme").unwrap().unwrap();
    let fields: Vec<&str> = entry.keys().map(String::as_str).collect();
    let expect =
        ["address", "disabled", "enquire_link", "name", "rate", "response_timeout", "system_id", "window"];
    assert_eq!(fields, expect);
}

#[test]
fn invalid_carrier_value_is_rejected_with_its_line() {
    for (line, expect) in [
        ("links = 17", "links: a number of links is between 1 and 16, not 17"),
        ("version = 3.4", "version: a version of SMPP is \"3.4\" or \"3.3\", in quotes"),
        (
            "binds = \"both\"",
            "binds: unknown variant `both`, expected `transceiver` or `transmitter-and-receiver`",
        ),
        (
            "destination = \"1-1\"",
            "destination: \"1-1\" is not type of number and numbering plan, such as \"1/1\"",
        ),
        (
            "source = { names = \"5/0\" }",
            "source.names: unknown field `names`, expected one of `alphanumeric`, `international`, `short_code`",
        ),
        ("receipt_wait = \"3d\"", "receipt_wait: 3d is not between 0ms and 2d"),
        ("receipt_wait = \"1500ms\"", "receipt_wait: 1500ms is not in whole seconds"),
        (
            "tls = \"yes\"",
            "tls: invalid type: string \"yes\", expected true, false, or a table with name, ca or fingerprint",
        ),
        (
            "tls = { name = \"a b\" }",
            "tls.name: a name in a certificate looks like smsc.example (not \"a b\")",
        ),
        (
            "tls = { fingerprint = \"ab\" }",
            "tls.fingerprint: a fingerprint is the SHA-256 of a certificate, 64 hexadecimal digits: openssl x509 -in cert.pem -noout -fingerprint -sha256",
        ),
        (
            "retry = [{ status = \"45\", class = \"temporary\" }]",
            "retry 1.status: \"45\" is not a number such as 0x45, at most 0xFFFFFFFF",
        ),
        (
            "retry = [{ status = -1, class = \"temporary\" }]",
            "retry 1.status: -1 is no number from 0 to 0xFFFFFFFF",
        ),
        ("pass_tlvs = [0x10000]", "pass_tlvs: 65536 is no number from 0 to 0xFFFF"),
        (
            "tlvs = [{ tag = 0x1400, hex = \"0\" }]",
            "tlvs 1.hex: a parameter's hex has two hexadecimal digits an octet, and at most 256 octets",
        ),
        (
            "tlvs = [{ tag = 0x1400, text = \"gr\u{fc}n\" }]",
            "tlvs 1.text: a parameter's text has 1 to 256 printable ASCII characters; use hex for others",
        ),
        (
            "registered_delivery = 256",
            "registered_delivery: registered_delivery is between 1 and 255, not 256",
        ),
        ("service_type = \"TOOLONG\"", "service_type: a service_type has 0 to 5 ASCII characters"),
    ] {
        let error = WantedSetup::parse(&source(&format!("{PLAIN}{line}\n"))).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:8: carrier 1.{expect}"), "{line}");
    }
}

#[tokio::test]
async fn contradictory_carrier_settings_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (lines, expect) in [
        ("version = \"3.3\"", "SMPP 3.3 has no transceiver: set binds to \"transmitter-and-receiver\""),
        (
            "registered_delivery = 0x10",
            "registered_delivery must ask for receipts: its lowest two bits are 1, 2 or 3",
        ),
        ("tlvs = [{ tag = 0x424, hex = \"00\" }]", "the TLV 0x0424 is written by Hermod itself"),
        (
            "retry = [{ status = 1, class = \"unknown\" }, { status = 1, class = \"temporary\" }]",
            "retry must have at most 256 entries, one per status",
        ),
    ] {
        let actual = applied(&store, &format!("{PLAIN}{lines}\n")).await;
        assert_eq!(actual, format!("refused: carrier \"acme\": {expect}"));
    }
    let actual = applied(&store, &format!("{PLAIN}tlvs = [{{ tag = 0x1400 }}]\n")).await;
    assert_eq!(
        actual,
        "refused: carrier \"acme\" has a parameter 0x1400 that needs exactly one of text and hex"
    );
}

const ROUTED: &str = "[[account]]\nname = \"shop\"\ncurrency = \"EUR\"\n[[route]]\nprefix = \"*\"\ncarriers = [\"acme\"]\n\
    [[route]]\nnetwork = \"262-01\"\naccount = \"shop\"\nsender = \"4915112345678\"\nfail_over_refusals = true\n\
    carriers = [{ carrier = \"acme\", priority = 1, weight = 70 }, { carrier = \"beta\", priority = 1, weight = 30 }, \"gamma\"]\n\
    [[route]]\nmcc = 262\nsender = \"Shop\"\ncarriers = [\"beta\", { carrier = \"acme\" }]\nin_doubt = \"never-resend\"\n";

fn three_carriers() -> String {
    let named = |name: &str| PLAIN.replace("acme", name);
    format!("{}{}{}", named("acme"), named("beta"), named("gamma"))
}

#[tokio::test]
async fn routes_have_account_area_sender_priorities_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let text = three_carriers() + ROUTED;
    let actual = applied(&store, &text).await;
    assert_eq!(
        actual,
        "+carrier acme, +carrier beta, +carrier gamma, +route *, +route shop/262-01@+4915112345678, \
         +route mcc262@Shop, +account shop"
    );
    let catalogue = load_catalogue(&store).await.unwrap();
    let placed: Vec<Vec<(u32, u8, u16)>> = (catalogue.routes().entries().iter())
        .map(|(_, route)| {
            route.candidates().iter().map(|one| (one.carrier.get(), one.priority, one.weight)).collect()
        })
        .collect();
    assert!(placed.contains(&vec![(1, 1, 70), (2, 1, 30), (3, 3, 1)]), "{placed:?}");
    assert!(placed.contains(&vec![(2, 1, 1), (1, 2, 1)]), "{placed:?}");
    let rows = store.setup().rows().await.unwrap();
    let routes = shown(&rows, Kind::Route).unwrap();
    assert_eq!(
        Value::Object(routes["shop/262-01@+4915112345678"].clone()),
        json!({"account": "shop", "sender": "4915112345678", "network": "262-01", "fail_over_refusals": true, "carriers": [
            {"carrier": "acme", "priority": 1, "weight": 70}, {"carrier": "beta", "priority": 1, "weight": 30}, "gamma"]})
    );
    for (name, entry) in routes {
        let (same, wanted) = wanted_entry(Kind::Route, &name, entry).unwrap();
        assert_eq!(same, name);
        let plan = prepare_over(rows.clone(), Vec::new(), &pepper(), &wanted, NOW).unwrap();
        assert_eq!(plan.changes[0].effect, Effect::Same, "{name}");
    }
    assert!(applied(&store, &text).await.split(", ").all(|change| change.starts_with('=')));
    let gone = "[[remove]]\nkind = \"route\"\nname = \"shop/262-01@4915112345678\"\n";
    assert_eq!(applied(&store, gone).await, "-route shop/262-01@+4915112345678");
}

#[tokio::test]
async fn routes_have_rules_about_costs() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let route = |rules: &str| format!("[[route]]\nprefix = \"49\"\ncarriers = [\"acme\"]\n{rules}\n");
    let rules = "choose = \"quality\"\nmin_margin = \"5 %\"\nfailover_margin = \"-0.002\"\non_loss = \"allow\"\n\
        unknown_cost = \"last\"";
    applied(&store, &(three_carriers() + &route(rules))).await;
    let costs = async || {
        let catalogue = load_catalogue(&store).await.unwrap();
        catalogue.routes().entries()[0].1.rules().costs
    };
    let expect = CostRules {
        choose: ChooseBy::Quality,
        min_margin: Some(Margin::Share(5_000_000)),
        failover_margin: Some(Margin::PerPart(Money::from_micros(-2_000))),
        on_loss: OnLoss::Allow,
        unknown_cost: Some(UnknownCost::Last),
    };
    assert_eq!(costs().await, expect);
    let rows = store.setup().rows().await.unwrap();
    assert_eq!(
        Value::Object(shown(&rows, Kind::Route).unwrap()["49"].clone()),
        json!({"prefix": "49", "carriers": ["acme"], "fail_over_refusals": false, "choose": "quality", "min_margin": "5%",
            "failover_margin": "-0.002", "on_loss": "allow", "unknown_cost": "last"})
    );
    let back = "choose = \"priority\"\nmin_margin = \"\"\nfailover_margin = \"\"\non_loss = \"reject\"\nunknown_cost = \"\"";
    assert!(applied(&store, &route(back)).await.starts_with("~route 49 ("));
    assert_eq!(costs().await, CostRules::default());
}

#[tokio::test]
async fn invalid_routes_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    applied(&store, &three_carriers()).await;
    for (route, expect) in [
        ("carriers = [\"acme\"]", "route \"?\" needs exactly one of prefix, network, mcc and country"),
        (
            "prefix = \"49\"\nmcc = 262\ncarriers = [\"acme\"]",
            "route \"?\" needs exactly one of prefix, network, mcc and country",
        ),
        (
            "prefix = \"49\"\naccount = \"x\"\ncarriers = [\"acme\"]",
            "route \"x/49\" refers to account \"x\", which does not exist here or in the store",
        ),
        (
            "prefix = \"49\"\ncarriers = [{ carrier = \"x\" }]",
            "route \"49\" refers to carrier \"x\", which does not exist here or in the store",
        ),
        (
            "prefix = \"49\"\ncarriers = [\"acme\", \"acme\"]",
            "the route for prefix \"49\" names carrier \"acme\" twice",
        ),
    ] {
        assert_eq!(applied(&store, &format!("[[route]]\n{route}\n")).await, format!("refused: {expect}"));
    }
    for (route, expect) in [
        (
            "carriers = [7]",
            "3: route 1.carriers: invalid type: integer `7`, expected a carrier's name, or a table with carrier, priority and weight",
        ),
        (
            "carriers = [{ carrier = \"a\", weight = 0 }]",
            "3: route 1.carriers 1.weight: a weight is between 1 and 10000, not 0",
        ),
        (
            "carriers = [{ carrier = \"a\", priority = 256 }]",
            "3: route 1.carriers 1.priority: a priority is between 1 and 255, not 256",
        ),
        (
            "min_margin = \"a lot\"",
            "3: route 1.min_margin: a margin is a share of the price such as \"5%\", from -1000% to 100%, or an amount per part \
             such as \"0.002\", from -1000 to 1000; with at most 6 decimals",
        ),
        (
            "choose = \"cheap\"",
            "3: route 1.choose: unknown variant `cheap`, expected one of `priority`, `cost`, `quality`",
        ),
        ("on_loss = \"wait\"", "3: route 1.on_loss: unknown variant `wait`, expected `reject` or `allow`"),
    ] {
        let error =
            WantedSetup::parse(&source(&format!("[[route]]\nprefix = \"*\"\n{route}\n"))).unwrap_err();
        assert_eq!(error.to_string(), format!("seed.toml:{expect}"));
    }
}

#[test]
fn null_in_an_inner_table_means_absent() {
    let read = |body: Value| {
        let Value::Object(fields) = body else { panic!("an object") };
        wanted_entry(Kind::Carrier, "acme", fields).map(drop).map_err(|refusal| refusal.to_string())
    };
    let carrier = |field: &str, value: Value| {
        let mut entry = json!({"address": "h:1", "system_id": "s", "window": 1, "rate": 1, "password": "p"});
        entry[field] = value;
        entry
    };
    assert_eq!(read(carrier("tls", json!({"name": "a.example", "ca": null}))), Ok(()));
    assert_eq!(read(carrier("retry", json!([{"status": 1, "class": "unknown", "wait": null}]))), Ok(()));
    let unknown = read(carrier("tls", json!({"nme": null}))).unwrap_err();
    assert!(unknown.contains("unknown field `nme`"), "{unknown}");
    let unknown =
        read(carrier("retry", json!([{"status": 1, "class": "unknown", "wiat": null}]))).unwrap_err();
    assert!(unknown.contains("unknown field `wiat`"), "{unknown}");
    assert_eq!(wanted(PLAIN).carriers[0].tls, None);
}
